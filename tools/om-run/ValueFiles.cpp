//===-- ValueFiles.cpp - values of any shape in .npy files ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/ValueFiles.h"

#include "support/ErrorCodes.h"
#include "support/Npy.h"
#include "support/PrintableText.h"
#include "tools/common/TypedValues.h"
#include "tools/om-run/ImageInputs.h"

#include <algorithm>
#include <filesystem>

namespace atc::tools {

namespace {
/// Computes the sizes of a tensor with known dims; returns false where they are too large.
bool measure(om::Tensor &tensor) {
  tensor.elements = 1;
  for (int64_t dim : tensor.dims)
    if (dim < 0 ||
        __builtin_mul_overflow(tensor.elements, static_cast<uint64_t>(dim), &tensor.elements))
      return false;
  uint64_t bits;
  if (__builtin_mul_overflow(tensor.elements, uint64_t(om_dtype_bits(tensor.dtype)), &bits))
    return false;
  tensor.bytes = bits / 8 + (bits % 8 != 0);
  return true;
}

void addTensors(const std::string &name, om::Tensor like, const om::Value &value,
                std::vector<NamedTensor> &list) {
  switch (value.kind()) {
  case OM_KIND_NONE:
    return;
  case OM_KIND_TENSOR:
    like.name = name;
    like.dtype = value.dtype();
    like.dims = value.dims();
    measure(like);
    list.push_back({like, value});
    return;
  case OM_KIND_SEQUENCE:
    for (uint64_t i = 0; i < value.size(); ++i)
      addTensors(name + "." + std::to_string(i), like, value.item(i), list);
    return;
  case OM_KIND_MAP:
    addTensors(name + ".keys", like, value.item(0), list);
    addTensors(name + ".values", like, value.item(1), list);
    return;
  }
}

bool failed(std::string &error, ErrorCode code, const std::string &sentence) {
  error = codedLine(code, sentence);
  return false;
}
} // namespace

std::vector<NamedTensor> tensorsOf(const std::vector<om::Tensor> &outputs,
                                   const std::vector<om::Value> &values) {
  std::vector<NamedTensor> list;
  for (size_t i = 0; i < outputs.size(); ++i)
    addTensors(outputs[i].name, outputs[i], values[i], list);
  return list;
}

/// Makes a value of what was typed in place of a file.
static bool typedValue(const std::string &text, const om::Tensor &input, om::Value &value,
                       std::string &error) {
  const std::optional<TypedTensor> typed = parseTyped(text, input, error);
  if (!typed)
    return false;
  om::Error reason;
  value = input.dtype == OM_STRING
              ? om::Value::strings(typed->dims, typed->texts, reason)
              : om::Value::tensor(input.dtype, typed->dims, typed->bytes.data(), reason);
  return value ||
         failed(error, "E10014", "input '" + printable(input.name) + "': " + reason.message());
}

bool readValue(const std::string &path, const om::Tensor &input, MemoryShare &memory,
               om::Value &value, std::string &error) {
  if (isTyped(path))
    return typedValue(path, input, value, error);
  const std::string what = "input '" + printable(input.name) + "'";
  om::Error problem;
  om::Tensor tensor = input;
  std::vector<int64_t> dims;
  const bool npy = readNpyDims(path, dims);
  if (npy)
    tensor.dims = dims;
  if (input.dtype == OM_STRING) {
    std::vector<std::string> texts;
    if (!readStrings(path, tensor, texts, error))
      return false;
    value = om::Value::strings(tensor.dims, texts, problem);
    return value || failed(error, "E10014", what + ": " + problem.message());
  }
  const bool known =
      std::all_of(tensor.dims.begin(), tensor.dims.end(), [](int64_t dim) { return dim >= 0; });
  if (!known || (!npy && !input.ranked))
    return failed(error, "E10014",
                  what + " has dims that are not known before the run: '" + path +
                      "' must be a .npy file, which says them.");
  if (input.dtype == OM_UNDEFINED || !measure(tensor))
    return failed(error, "E10014", "the file '" + path + "' cannot be read as " + what + ".");
  // A file that is too short for the dims in its header is refused without memory for them.
  std::error_code status;
  const bool isShort = std::filesystem::file_size(path, status) < tensor.bytes;
  if (!isShort && !memory.take({tensor}, error))
    return false;
  om::Buffer buffer(isShort ? 0 : tensor.bytes);
  if (!buffer)
    return failed(error, "E10041", "there is no memory for " + what + ".");
  if (!readTensor(path, tensor, buffer.data(), error))
    return false;
  value = om::Value::tensor(tensor.dtype, tensor.dims, buffer.data(), problem);
  return value || failed(error, "E10014", what + ": " + problem.message());
}

om::Value makeValue(const om::Tensor &input, bool isRandom, uint64_t seed, om::Error &error) {
  om::Buffer random(isRandom && input.dtype != OM_STRING ? input.bytes : 0);
  if (!random || !random.size())
    return om::Value::tensor(input.dtype, input.dims, nullptr, error);
  fillRandom(input, seed, random.data());
  return om::Value::tensor(input.dtype, input.dims, random.data(), error);
}

bool readFirstValue(const om::Model &model, const om::Session &session, size_t input,
                    uint64_t bytes, void *memory) {
  for (const om_state_info &state : model.states())
    if (state.input == input && state.initial != 0)
      return om_session_read_tensor(session.get(), state.initial - 1, memory, bytes, nullptr) ==
             OM_OK;
  return false;
}

om::Value makeFirstValue(const om::Model &model, const om::Session &session, size_t index,
                         const om::Tensor &input, bool isRandom, uint64_t seed, om::Error &error) {
  om::Buffer first(input.dtype == OM_STRING ? 0 : input.bytes);
  if (first && first.size() && readFirstValue(model, session, index, input.bytes, first.data()))
    return om::Value::tensor(input.dtype, input.dims, first.data(), error);
  return makeValue(input, isRandom, seed, error);
}

std::string missingValue(const om::Tensor &input) {
  const std::string name = printable(input.name);
  if (input.dtype == OM_STRING)
    return "input '" + name + "' has strings, and none are made up: give them with --input, as a " +
           "file or as " + name + "=[\"text\"].";
  return "input '" + name + "' has the shape " + typeText("", input.dims, input.dimNames) +
         ", which is not known before the run: give its file with --input, or its shape with "
         "--shape.";
}

bool writeValue(const std::string &path, const NamedTensor &named, std::string &error) {
  if (named.tensor.dtype != OM_STRING)
    return writeNpy(path, named.tensor, named.value.data(), error);
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < named.value.size(); ++i)
    texts.push_back(named.value.string(i));
  return writeStrings(path, named.tensor, texts, error);
}

bool makeFolder(const std::string &folder, std::string &errorText) {
  std::error_code status;
  std::filesystem::create_directories(folder, status);
  if (std::filesystem::is_directory(folder, status))
    return true;
  errorText = "E13004: cannot create the folder '" + folder + "'.";
  return false;
}

bool setStates(const om::Model &model, om::Session &session, std::vector<om::Value> &inputs,
               om::Error &error) {
  const std::vector<om_state_info> states = model.states();
  for (uint32_t i = 0; i < states.size(); ++i) {
    om::Value &given = inputs[states[i].input];
    if (given && !session.writeState(i, given, error))
      return false;
    given = om::Value();
  }
  return true;
}

std::string npyPath(const std::string &folder, const std::string &tensor,
                    std::set<std::string> &taken) {
  const std::string name = fileNameOf(tensor);
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i)
    unique = name + "_" + std::to_string(i);
  return folder + "/" + unique + ".npy";
}

} // namespace atc::tools
