//===-- TensorDump.cpp --------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/observe/TensorDump.h"

#include "ascend/src/Errors.h"
#include "ascend/src/Integer.h"

#include "support/Npy.h"
#include "support/TensorNames.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <set>
#include <unistd.h>

namespace atc::ascend {

struct DumpSettings {
  std::string folder; ///< with the time of the start
  bool inputs = false, outputs = true;
  /// Models by name, with the operators to write; no operator: all. No model: all models.
  std::map<std::string, std::set<std::string>> models;
  std::vector<std::pair<uint64_t, uint64_t>> steps; ///< from, to; empty: all
};

namespace {

struct Current {
  std::mutex mutex;
  std::shared_ptr<const DumpSettings> settings;
};

Current &current() {
  static auto &only = *new Current;
  return only;
}

/// Reads an object and remembers the first thing that is wrong.
class DumpReader {
public:
  DumpReader(const char *function, const nlohmann::json &dump) : function(function), dump(dump) {}

  aclError run(std::shared_ptr<DumpSettings> &settings) {
    if (!dump.is_object())
      return bad("\"dump\" must be an object");
    auto made = std::make_shared<DumpSettings>();
    ACL_TRY(readModels(*made));
    const std::string mode = text("dump_mode", "output"), level = text("dump_level", "op");
    if (mode != "output" && mode != "input" && mode != "all")
      return bad("\"dump_mode\" must be \"output\", \"input\" or \"all\"");
    if (level != "op" && level != "kernel" && level != "all")
      return bad("\"dump_level\" must be \"op\", \"kernel\" or \"all\"");
    if (const std::string debug = text("dump_debug", "off"); debug != "on" && debug != "off")
      return bad("\"dump_debug\" must be \"on\" or \"off\"");
    if (text("dump_data", "tensor") != "tensor")
      return bad("\"dump_data\" must be \"tensor\"");
    warnWithoutEffect();
    made->inputs = mode != "output";
    made->outputs = mode != "input";
    ACL_TRY(readSteps(*made));
    if (!isOn)
      return ACL_SUCCESS;
    const std::string path = text("dump_path", "");
    if (path.empty())
      return bad("\"dump_path\" must name a folder");
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error || access(path.c_str(), W_OK) != 0)
      return bad("the folder of \"dump_path\" cannot be written");
    made->folder = path + "/" + timeStamp() + "/0";
    settings = std::move(made);
    return ACL_SUCCESS;
  }

private:
  aclError bad(const char *what) {
    return fail(ACL_ERROR_INVALID_DUMP_CONFIG, function, "%s", what);
  }

  std::string text(const char *key, const char *otherwise) const {
    const nlohmann::json value = dump.value(key, nlohmann::json(otherwise));
    return value.is_string() ? value.get<std::string>() : "?";
  }

  /// Says what asks for files of events that do not happen here: nobody may wait for them.
  void warnWithoutEffect() const {
    if (text("dump_debug", "off") == "on")
      aclAppLog(ACL_ERROR, function, "acl.json", 0,
                "\"dump_debug\" writes nothing: overflows of operators are not looked for; "
                "\"dump_list\" writes tensors, in which they can be found");
    if (dump.contains("dump_scene"))
      aclAppLog(ACL_ERROR, function, "acl.json", 0,
                "\"dump_scene\" writes nothing: it is about operators that fail on the device");
  }

  static std::string timeStamp() {
    const time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    tm parts = {};
    localtime_r(&now, &parts);
    char stamp[32];
    strftime(stamp, sizeof stamp, "%Y%m%d%H%M%S", &parts);
    return stamp;
  }

  /// `dump_list` names models; without it only `dump_op_switch` starts a dump, of operators.
  aclError readModels(DumpSettings &settings) {
    const std::string all = text("dump_op_switch", "off");
    if (all != "on" && all != "off")
      return bad("\"dump_op_switch\" must be \"on\" or \"off\"");
    isOn = all == "on";
    if (!dump.contains("dump_list"))
      return ACL_SUCCESS;
    const nlohmann::json &list = dump["dump_list"];
    if (!list.is_array())
      return bad("\"dump_list\" must be a list of models");
    for (const nlohmann::json &item : list) {
      if (!item.is_object())
        return bad("an item of \"dump_list\" must be an object");
      isOn = true;
      if (item.empty()) // {} stands for every model
        continue;
      const nlohmann::json name = item.value("model_name", nlohmann::json());
      if (!name.is_string())
        return bad("\"model_name\" in \"dump_list\" must be a name");
      std::set<std::string> &layers = settings.models[name.get<std::string>()];
      for (const nlohmann::json &layer : item.value("layer", nlohmann::json::array())) {
        if (!layer.is_string())
          return bad("\"layer\" in \"dump_list\" must be a list of names");
        layers.insert(layer.get<std::string>());
      }
    }
    return ACL_SUCCESS;
  }

  /// "0|3-5|10"
  aclError readSteps(DumpSettings &settings) {
    const std::string all = text("dump_step", "");
    for (size_t begin = 0; begin < all.size();) {
      const size_t end = std::min(all.find('|', begin), all.size());
      const std::string part = all.substr(begin, end - begin);
      const size_t dash = std::min(part.find('-'), part.size());
      const auto from = integerOf<uint64_t>(part.substr(0, dash));
      const auto to = dash == part.size() ? from : integerOf<uint64_t>(part.substr(dash + 1));
      if (!from || !to)
        return bad("\"dump_step\" must be steps such as \"0|3-5|10\"");
      settings.steps.emplace_back(*from, *to);
      begin = end + 1;
    }
    return ACL_SUCCESS;
  }

  const char *function;
  const nlohmann::json &dump;
  bool isOn = false;
};

/// Returns a name as a part of a file name between dots.
std::string partOf(const std::string &name) {
  std::string part = fileNameOf(name).substr(0, 120);
  std::replace(part.begin(), part.end(), '.', '_');
  return part;
}

std::string plainName(const char *name) { return withoutNumber(name ? name : ""); }

/// Says once per model which layers of a dump have no launch of their own, and which there are:
/// a layer that was fused is computed by the launch of the last of those it was fused with.
void reportMissing(Model &model, const std::set<std::string> &layers) {
  std::set<std::string> missing = layers;
  std::string known;
  om_launch_info launch = OM_LAUNCH_INFO_INIT;
  for (uint32_t i = 0; om_model_get_launch(model.model.get(), i, &launch) == OM_OK; ++i) {
    const std::string name = launch.name ? launch.name : "";
    missing.erase(name);
    std::string tensors;
    auto addTensor = [&](const char *tensor) {
      missing.erase(plainName(tensor));
      tensors += (tensors.empty() ? "" : ", ") + plainName(tensor);
    };
    if (launch.host)
      addTensor(launch.tensor);
    for (uint32_t k = 0; k < launch.writes_count; ++k) {
      om_tensor_info info = OM_TENSOR_INFO_INIT;
      if (om_model_get_tensor(model.model.get(), launch.writes[k], &info) == OM_OK)
        addTensor(info.name);
    }
    known += (known.empty() ? "" : "; ") + name + " (writes " + tensors + ")";
    launch = OM_LAUNCH_INFO_INIT;
  }
  for (const std::string &layer : missing)
    aclAppLog(ACL_ERROR, "dump", "acl.json", 0,
              "the layer '%s' of the model '%s' is not written: it was fused into another launch, "
              "or is not in the model; name one of its launches or their tensors: %s",
              layer.c_str(), model.facts->name.c_str(), known.c_str());
}

/// Returns the name by which settings ask for a model: that of its file or of its graph.
std::string askedName(const DumpSettings &settings, const Model &model) {
  return settings.models.count(model.fileName) ? model.fileName : model.facts->name;
}

bool isAsked(const DumpSettings &settings, const std::string &model, uint64_t step) {
  if (!settings.models.empty() && !settings.models.count(model))
    return false;
  return settings.steps.empty() ||
         std::any_of(settings.steps.begin(), settings.steps.end(), [&](const auto &range) {
           return step >= range.first && step <= range.second;
         });
}

} // namespace

aclError configureDump(const char *function, const nlohmann::json &dump) {
  std::shared_ptr<DumpSettings> settings;
  ACL_TRY(DumpReader(function, dump).run(settings));
  std::lock_guard lock(current().mutex);
  current().settings = std::move(settings);
  return ACL_SUCCESS;
}

void endDump() {
  std::lock_guard lock(current().mutex);
  current().settings = nullptr;
}

TensorDump::TensorDump(Model &model) : model(model) {
  {
    std::lock_guard lock(current().mutex);
    settings = current().settings;
  }
  const uint64_t step = model.steps++;
  if (settings)
    name = askedName(*settings, model);
  if (!settings || !isAsked(*settings, name, step)) {
    settings = nullptr;
    return;
  }
  const auto layers = settings->models.find(name);
  if (layers != settings->models.end() && model.dumpReported != settings) {
    model.dumpReported = settings;
    reportMissing(model, layers->second);
  }
  folder = settings->folder + "/" + partOf(name) + "/" + std::to_string(model.id) + "/" +
           std::to_string(step);
}

om_status TensorDump::run(const void *const *inputs, void *const *outputs, om_error &error) {
  if (!settings)
    return om_session_run(model.session.get(), inputs, outputs, &error);
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  const om_status status =
      om_session_run_observed(model.session.get(), inputs, outputs, afterLaunch, this, &error);
  if (!problem.empty())
    snprintf(error.message, sizeof error.message, "%s", problem.c_str());
  return status;
}

int TensorDump::afterLaunch(void *user, uint32_t launch) {
  return static_cast<TensorDump *>(user)->write(launch) ? 0 : 1;
}

/// Keeps a tensor for the launches that read it: its memory is used again.
bool TensorDump::keep(uint32_t index) {
  om_tensor_info info = OM_TENSOR_INFO_INIT;
  om_error error = {};
  if (om_model_get_tensor(model.model.get(), index, &info) != OM_OK)
    return true;
  ::om::Buffer copy(info.bytes);
  if (!copy || om_session_read_tensor(model.session.get(), index, copy.data(), info.bytes,
                                      &error) != OM_OK) {
    problem = "a tensor could not be read for the dump";
    return false;
  }
  written[index] = std::move(copy);
  return true;
}

bool TensorDump::writeTensor(uint32_t index, const std::string &path) {
  om_tensor_info info = OM_TENSOR_INFO_INIT;
  if (om_model_get_tensor(model.model.get(), index, &info) != OM_OK)
    return true;
  if (!written.count(index) && !keep(index))
    return false;
  ::om::Tensor tensor;
  tensor.name = info.name ? info.name : "";
  tensor.dtype = info.dtype;
  tensor.dims.assign(info.dims, info.dims + info.rank);
  tensor.bytes = info.bytes;
  return writeNpy(path, tensor, written[index].data(), problem);
}

/// Writes what the call of a host kernel returned: values, which are no tensors of the model.
/// Sequences, maps and text have no form in a .npy file.
bool TensorDump::writeCall(uint32_t launch, const std::string &stem) {
  for (uint32_t i = 0; const om_value *value = om_session_result(model.session.get(), launch, i);
       ++i) {
    ::om::Tensor tensor;
    uint32_t rank = 0;
    const int64_t *dims = nullptr;
    const void *data = nullptr;
    if (om_value_get_tensor(value, &tensor.dtype, &rank, &dims, &data) != OM_OK ||
        om_dtype_bits(tensor.dtype) == 0)
      continue;
    tensor.dims.assign(dims, dims + rank);
    tensor.elements = om_value_size(value);
    tensor.bytes = (tensor.elements * om_dtype_bits(tensor.dtype) + 7) / 8;
    if (!writeNpy(stem + ".output." + std::to_string(i) + ".npy", tensor, data, problem))
      return false;
  }
  return true;
}

/// Writes `<type>.<name>.<task>.<stream>.<time>.output.0.npy` and the like.
bool TensorDump::write(uint32_t launch) {
  om_launch_info info = OM_LAUNCH_INFO_INIT;
  if (om_model_get_launch(model.model.get(), launch, &info) != OM_OK)
    return true;
  for (uint32_t i = 0; i < info.writes_count; ++i)
    if (!keep(info.writes[i]))
      return false;
  const std::string launchName = info.name ? info.name : "";
  // A layer is the name of a launch, or of a tensor: a launch may compute several layers.
  const auto found = settings->models.find(name);
  const std::set<std::string> none;
  const std::set<std::string> &layers = found == settings->models.end() ? none : found->second;
  const bool isWhole = layers.empty() || layers.count(launchName);
  auto isAskedFor = [&](uint32_t index) {
    om_tensor_info tensor = OM_TENSOR_INFO_INIT;
    return isWhole || (om_model_get_tensor(model.model.get(), index, &tensor) == OM_OK &&
                       layers.count(plainName(tensor.name)));
  };
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string stem =
      folder + "/" + partOf(info.kernel ? info.kernel : "") + "." + partOf(launchName) + "." +
      std::to_string(launch + 1) + ".0." +
      std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  if (info.host)
    return !settings->outputs || !(isWhole || layers.count(plainName(info.tensor))) ||
           writeCall(launch, stem);
  if (std::none_of(info.writes, info.writes + info.writes_count, isAskedFor))
    return true;
  bool isFine = true;
  auto writeAll = [&](const uint32_t *list, uint32_t count, const char *side) {
    for (uint32_t i = 0; isFine && i < count; ++i)
      if (list == info.reads || isAskedFor(list[i]))
        isFine = writeTensor(list[i], stem + "." + side + "." + std::to_string(i) + ".npy");
  };
  if (settings->outputs)
    writeAll(info.writes, info.writes_count, "output");
  if (settings->inputs)
    writeAll(info.reads, info.reads_count, "input");
  if (!settings->inputs)
    written.clear();
  return isFine;
}

} // namespace atc::ascend
