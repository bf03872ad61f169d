//===-- Reference.cpp - the right values of a model's tensors -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/Reference.h"

#include "support/InputJson.h"
#include "support/InputText.h"
#include "support/Npy.h"
#include "support/TensorNames.h"
#include "tools/common/Print.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace atc::tools {

namespace fs = std::filesystem;

namespace {
/// "name:1,3,8,8;other:4": the .om file knows what shapes it was compiled for.
std::string shapesOf(const std::vector<om::Tensor> &inputs) {
  std::string text;
  for (const om::Tensor &input : inputs) {
    if (input.dims.empty())
      continue;
    text += (text.empty() ? "" : ";") + input.name + ":";
    for (size_t i = 0; i < input.dims.size(); ++i)
      text += (i ? "," : "") + std::to_string(input.dims[i]);
  }
  return text;
}

size_t countFiles(const std::string &folder) {
  std::error_code status;
  size_t count = 0;
  for (fs::directory_iterator at(folder, status), end; !status && at != end; at.increment(status))
    ++count;
  return count;
}

/// Runs a program to its end and reports progress from time to time: the number of files in
/// `folder`.
bool runProgram(const std::vector<std::string> &command, const std::string &folder, int &state) {
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  // A signal that ends this program ends the child before its folder is removed.
  auto started = std::make_shared<pid_t>(0);
  CleanupOnSignal end([started] {
    if (*started > 0 && kill(*started, SIGKILL) == 0)
      waitpid(*started, nullptr, 0);
  });
  posix_spawnattr_t attributes;
  const sigset_t mask = maskForPrograms();
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  int status;
  {
    SignalsPutOff putOff;
    status = posix_spawn(&child, arguments[0], nullptr, &attributes, arguments.data(), environ);
    *started = status == 0 ? child : 0;
  }
  posix_spawnattr_destroy(&attributes);
  if (status != 0) {
    errno = status;
    return false;
  }

  using namespace std::chrono;
  const auto begin = steady_clock::now();
  auto nextWord = begin + seconds(5);
  for (pid_t done = 0; (done = waitpid(child, &state, WNOHANG)) != child;) {
    if (done < 0 && errno != EINTR)
      return false;
    std::this_thread::sleep_for(milliseconds(5));
    if (steady_clock::now() < nextWord)
      continue;
    print(stderr, "the reference interpreter has made %zu tensors in %lld s\n", countFiles(folder),
          static_cast<long long>(duration_cast<seconds>(nextWord - begin).count()));
    nextWord += seconds(10);
  }
  return true;
}

std::vector<int64_t> withoutOnes(std::vector<int64_t> dims) {
  dims.erase(std::remove(dims.begin(), dims.end(), 1), dims.end());
  return dims;
}
} // namespace

/// Removes a folder with its contents, as far as possible.
static void removeFolder(const std::string &folder) {
  std::error_code status;
  fs::remove_all(folder, status);
}

Reference::~Reference() {
  if (!temporary)
    return;
  // A signal meanwhile would end the program between two files: of two threads that remove the same
  // folder, one gives up where the other was faster.
  SignalsPutOff putOff;
  removeFolder(folder);
}

bool Reference::open(const std::string &path, const std::string &input, bool isRandom,
                     const std::vector<om::Tensor> &inputs, std::string &error) {
  std::error_code status;
  if (!fs::exists(path, status)) {
    error = "E10410: the reference '" + path + "' does not exist.";
    return false;
  }
  if (fs::is_directory(path, status)) {
    folder = path;
  } else if (isRandom) {
    error = "E10057: the reference model '" + path +
            "' is computed on zeros or on the files of --input, not on the values of --random: "
            "give the inputs as files.";
    return false;
  }
  if (folder.empty() && !interpret(path, input, inputs, error))
    return false;
  readManifest();
  hasBytes = findBytes(inputs);
  return true;
}

bool Reference::findBytes(const std::vector<om::Tensor> &inputs) const {
  std::error_code status;
  std::set<fs::path> known;
  for (const om::Tensor &input : inputs)
    known.insert(fs::path(fileOf(input.name)).filename());
  for (fs::directory_iterator entry(folder, status), end; !status && entry != end;
       entry.increment(status)) {
    const fs::path &path = entry->path();
    if (path.extension() == ".npy" && !known.count(path.filename()) &&
        (npyHasType(path, OM_I8) || npyHasType(path, OM_U8)))
      return true;
  }
  return false;
}

bool Reference::interpret(const std::string &model, const std::string &input,
                          const std::vector<om::Tensor> &inputs, std::string &error) {
  std::error_code status;
  const fs::path tool = fs::read_symlink("/proc/self/exe", status).parent_path() / "atc-translate";
  if (!fs::exists(tool, status)) {
    error = "E10410: '" + tool.string() + "', which interprets the reference model '" + model +
            "', does not exist: give a folder of .npy files instead.";
    return false;
  }
  folder = (fs::temp_directory_path(status) / "om-run-XXXXXX").string();
  auto made = std::make_shared<std::string>();
  temporary = std::make_unique<CleanupOnSignal>([made] {
    if (!made->empty())
      removeFolder(*made);
  });
  {
    SignalsPutOff putOff;
    if (!status && mkdtemp(folder.data()))
      *made = folder;
  }
  if (made->empty()) {
    temporary.reset();
    error = "E13004: cannot create a temporary folder '" + folder + "'.";
    return false;
  }

  std::vector<std::string> command = {tool.string(), "--interpret", model, "--dump", folder};
  if (!input.empty())
    command.insert(command.end(), {"--input", input});
  // A module of graph ops has its own shapes.
  if (std::string shapes = shapesOf(inputs);
      !shapes.empty() && fs::path(model).extension() == ".onnx")
    command.insert(command.end(), {"--input_shape", shapes});
  int state = 0;
  if (!runProgram(command, folder, state)) {
    error = "E19999: cannot run '" + tool.string() + "': " + std::strerror(errno) + ".";
    return false;
  }
  if (WIFSIGNALED(state))
    error = "E19999: '" + tool.string() + "' ended with signal " + std::to_string(WTERMSIG(state)) +
            " on '" + model + "'.";
  return state == 0;
}

/// The interpreter's list of names and files; other folders have none.
void Reference::readManifest() {
  std::string text;
  nlohmann::json json;
  if (!readInputText(folder + "/manifest.json", text).empty() ||
      !parseInputJson(text, json).empty() || !json.is_object())
    return;
  for (const auto &[tensor, name] : json.items())
    if (name.is_string())
      files[tensor] = name.get<std::string>();
}

std::string Reference::fileOf(const std::string &tensor) const {
  std::error_code status;
  auto known = files.find(asUtf8(tensor));
  std::string path =
      folder + "/" + (known == files.end() ? fileNameOf(tensor) + ".npy" : known->second);
  return fs::exists(path, status) ? path : "";
}

std::optional<std::vector<int64_t>> Reference::dimsOf(const std::string &tensor) const {
  const std::string path = fileOf(tensor);
  std::vector<int64_t> dims;
  return !path.empty() && readNpyDims(path, dims) ? std::optional(dims) : std::nullopt;
}

om::Buffer Reference::read(om::Tensor &tensor, std::string &error) const {
  std::string path = fileOf(tensor.name);
  if (path.empty())
    path = fileOf(withoutNumber(tensor.name));
  om::Tensor stored = tensor;
  std::vector<int64_t> dims;
  if (path.empty())
    return {};
  if (readNpyDims(path, dims)) {
    if (withoutOnes(dims) != withoutOnes(tensor.dims))
      return {};
    stored.dims = dims;
    const bool isShort = tensor.dtype == OM_F16 || tensor.dtype == OM_BF16;
    const bool isQuantized = tensor.dtype == OM_I8 || tensor.dtype == OM_U8;
    if (isShort && npyHasType(path, OM_F32)) {
      stored.dtype = tensor.dtype = OM_F32;
      stored.bytes = tensor.bytes = 4 * tensor.elements;
    } else if (isQuantized && !npyHasType(path, tensor.dtype)) {
      return {}; // the reference has the tensor before it was quantized
    }
  }
  om::Buffer buffer(tensor.bytes);
  if (!buffer) {
    error = "E19999: there is no memory for the reference of '" + tensor.name + "'.";
    return {};
  }
  return readTensor(path, stored, buffer.data(), error) ? std::move(buffer) : om::Buffer();
}

} // namespace atc::tools
