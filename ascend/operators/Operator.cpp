//===-- Operator.cpp - operators are found and executed -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/operators/Operator.h"

#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/Library.h"
#include "runtime-lite/abi/SmallFloats.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <shared_mutex>

namespace atc::ascend {
namespace {

using FileJson = nlohmann::json;

struct Operators {
  std::shared_mutex mutex;
  std::vector<std::shared_ptr<OpModel>> all;

  Operators() {
    atFinalize([this] {
      std::unique_lock lock(mutex);
      all.clear();
    });
  }
};

Operators &operators() {
  static auto &only = *new Operators;
  return only;
}

const char *nameOfFormat(aclFormat format) {
  switch (format) {
  case ACL_FORMAT_NCHW:
    return "NCHW";
  case ACL_FORMAT_NHWC:
    return "NHWC";
  case ACL_FORMAT_NC1HWC0:
    return "NC1HWC0";
  case ACL_FORMAT_FRACTAL_Z:
    return "FRACTAL_Z";
  case ACL_FORMAT_HWCN:
    return "HWCN";
  case ACL_FORMAT_NDHWC:
    return "NDHWC";
  case ACL_FORMAT_FRACTAL_NZ:
    return "FRACTAL_NZ";
  case ACL_FORMAT_NCDHW:
    return "NCDHW";
  case ACL_FORMAT_NDC1HWC0:
    return "NDC1HWC0";
  case ACL_FRACTAL_Z_3D:
    return "FRACTAL_Z_3D";
  default:
    return "ND";
  }
}

/// Returns the values of a constant tensor as JSON; null where its type has none here.
nlohmann::ordered_json valuesOf(const TensorDesc &desc) {
  auto list = nlohmann::ordered_json::array();
  auto read = [&]<typename T>(T) {
    for (size_t at = 0; at + sizeof(T) <= desc.constant.size(); at += sizeof(T)) {
      T value;
      memcpy(&value, desc.constant.data() + at, sizeof(T));
      list.push_back(value);
    }
  };
  switch (desc.type) {
  case ACL_FLOAT:
    read(float{});
    break;
  case ACL_DOUBLE:
    read(double{});
    break;
  case ACL_INT8:
    read(int8_t{});
    break;
  case ACL_UINT8:
  case ACL_BOOL:
    read(uint8_t{});
    break;
  case ACL_INT16:
    read(int16_t{});
    break;
  case ACL_INT32:
    read(int32_t{});
    break;
  case ACL_INT64:
    read(int64_t{});
    break;
  case ACL_FLOAT16:
    for (size_t at = 0; at + 2 <= desc.constant.size(); at += 2) {
      aclFloat16 value;
      memcpy(&value, desc.constant.data() + at, 2);
      list.push_back(halfToFloat(value));
    }
    break;
  default:
    return nullptr;
  }
  return list;
}

nlohmann::ordered_json jsonOf(const TensorDesc &desc) {
  nlohmann::ordered_json json{
      {"format", nameOfFormat(desc.format)}, {"shape", desc.dims}, {"type", nameOf(desc.type)}};
  if (desc.isConstant) {
    json["is_const"] = true;
    json["const_value"] = valuesOf(desc);
  }
  return json;
}

bool equal(const FileJson &ours, const FileJson &file) {
  if (ours.is_number() && file.is_number())
    return ours.get<float>() == file.get<float>();
  if (ours.is_array() && file.is_array())
    return ours.size() == file.size() && std::equal(ours.begin(), ours.end(), file.begin(), equal);
  return ours == file;
}

/// Returns whether a tensor is constant where a file says so, and has the values that are part of
/// the file's program: as a constant, or as far as readValues knows.
bool hasItsConstant(const TensorDesc &desc, const FileJson &file) {
  const auto stated = file.find("is_const");
  if (stated == file.end() || *stated != true)
    return !desc.isConstant;
  const auto values = file.find("const_value");
  return !desc.constant.empty() &&
         (values == file.end() || equal(FileJson(valuesOf(desc)), *values));
}

/// Compares a tensor with what a file says of one. ND is any format, and an output of unknown rank
/// has whatever shape the file infers.
bool matches(const TensorDesc &desc, const FileJson &file, bool comparesConstants, bool isOutput) {
  if (!file.is_object() || file.value("type", -1) != int(desc.type))
    return false;
  const int format = file.value("format", int(ACL_FORMAT_ND));
  if (format != int(desc.format) && format != ACL_FORMAT_ND && desc.format != ACL_FORMAT_ND)
    return false;
  if (desc.unknownRank && isOutput)
    return true;
  const FileJson &shape = file.contains("shape") ? file["shape"] : FileJson::array();
  if (!shape.is_array() || shape.size() != desc.dims.size())
    return false;
  for (size_t i = 0; i < desc.dims.size(); ++i)
    if (!shape[i].is_number_integer() ||
        (shape[i].get<int64_t>() != desc.dims[i] && shape[i].get<int64_t>() != -1))
      return false;
  return !comparesConstants || hasItsConstant(desc, file);
}

/// Returns whether a file runs a call: type, tensors, and each attribute that both name.
bool matches(const OpCall &call, const FileJson &file, bool comparesConstants = true) {
  if (file.value("op", "") != call.type)
    return false;
  auto all = [&](const auto &descs, const FileJson &list, bool areOutputs) {
    if (!list.is_array() || list.size() != descs.size())
      return false;
    for (size_t i = 0; i < descs.size(); ++i)
      if (!matches(*descs[i], list[i], comparesConstants, areOutputs))
        return false;
    return true;
  };
  if (!all(call.inputs, file.value("input_desc", FileJson::array()), false) ||
      !all(call.outputs, file.value("output_desc", FileJson::array()), true))
    return false;
  for (const FileJson &attribute : file.value("attr", FileJson::array())) {
    auto own = call.attributes.find(attribute.value("name", ""));
    if (own != call.attributes.end() && !equal(FileJson(own->second["value"]), attribute["value"]))
      return false;
  }
  return true;
}

/// Returns whether a call names the attributes that a file names, and no others: what was compiled
/// for a call without one has its default, whatever another call says.
bool hasSameAttributes(const OpCall &call, const FileJson &file) {
  const FileJson named = file.value("attr", FileJson::array());
  return named.size() == call.attributes.size() &&
         std::all_of(named.begin(), named.end(), [&](const FileJson &attribute) {
           return call.attributes.count(attribute.value("name", ""));
         });
}

/// Returns whether a file states the dims of a call's inputs themselves, not -1 for some of them:
/// only then are its outputs' dims those of the call.
bool hasSameInputDims(const OpCall &call, const FileJson &file) {
  const FileJson inputs = file.value("input_desc", FileJson::array());
  return std::equal(call.inputs.begin(), call.inputs.end(), inputs.begin(), inputs.end(),
                    [](const auto &desc, const FileJson &input) {
                      return input.value("shape", std::vector<int64_t>()) == desc->dims;
                    });
}

/// Returns whether a value is a list of what `fits`; a list that is missing is empty.
template <typename Fits> bool isListOf(const FileJson &object, const char *key, const Fits &fits) {
  auto list = object.find(key);
  return list == object.end() ||
         (list->is_array() && std::all_of(list->begin(), list->end(), fits));
}

/// Returns whether a value is an object whose `key`, where it has one, is an integer of 32 bits.
bool hasInteger(const FileJson &object, const char *key) {
  auto value = object.find(key);
  return value == object.end() ||
         (value->is_number_integer() && value->get<int64_t>() == value->get<int32_t>());
}

bool hasText(const FileJson &object, const char *key) {
  auto value = object.find(key);
  return value != object.end() && value->is_string();
}

/// Reads what a file says of its operator: it may be any text. Returns null where the text is not
/// in the form that `atc --singleop` writes, so that all other code can rely on that form.
FileJson readDescription(const std::string &text) {
  constexpr int maxDepth = 8;
  bool isTooDeep = false;
  auto watch = [&](int depth, FileJson::parse_event_t, FileJson &) {
    isTooDeep |= depth > maxDepth;
    return true;
  };
  FileJson json = FileJson::parse(text, watch, /*allow_exceptions=*/false);
  auto isTensor = [](const FileJson &tensor) {
    return tensor.is_object() && hasInteger(tensor, "type") && hasInteger(tensor, "format") &&
           isListOf(tensor, "shape", [](const FileJson &dim) { return dim.is_number_integer(); });
  };
  auto isAttribute = [](const FileJson &attribute) {
    return attribute.is_object() && hasText(attribute, "name") && attribute.contains("value");
  };
  const bool isOperator = !isTooDeep && json.is_object() && hasText(json, "op") &&
                          isListOf(json, "input_desc", isTensor) &&
                          isListOf(json, "output_desc", isTensor) &&
                          isListOf(json, "attr", isAttribute);
  return isOperator ? json : FileJson();
}

std::string textOf(const std::vector<std::shared_ptr<TensorDesc>> &descs) {
  std::string text;
  for (const auto &desc : descs)
    text += (text.empty() ? "" : ", ") + std::string(nameOf(desc->type)) +
            atc::ascend::textOf(desc->dims);
  return text;
}

aclError readDescs(const char *function, const char *what, int count,
                   const aclTensorDesc *const handles[],
                   std::vector<std::shared_ptr<TensorDesc>> &descs) {
  if (count < 0 || (count > 0 && !handles))
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s is NULL, or its number is %d", what, count);
  for (int i = 0; i < count; ++i) {
    auto desc = tensorDescs().find(handles[i]);
    if (!desc)
      return fail(handles[i] ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM,
                  function, "%s[%d] (%p) was destroyed, or is no tensor description", what, i,
                  static_cast<const void *>(handles[i]));
    descs.push_back(std::make_shared<TensorDesc>(*desc));
  }
  return ACL_SUCCESS;
}

aclError readBuffers(const char *function, const char *what, int count,
                     const aclDataBuffer *const handles[], std::vector<Dataset::Entry> &entries) {
  if (count < 0 || (count > 0 && !handles))
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s is NULL, or its number is %d", what, count);
  for (int i = 0; i < count; ++i) {
    auto buffer = dataBuffers().find(handles[i]);
    if (!buffer)
      return fail(handles[i] ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM,
                  function, "%s[%d] (%p) was destroyed, or is no data buffer", what, i,
                  static_cast<const void *>(handles[i]));
    entries.push_back({const_cast<aclDataBuffer *>(handles[i]), buffer});
  }
  return ACL_SUCCESS;
}

} // namespace

nlohmann::ordered_json OpCall::json() const {
  nlohmann::ordered_json op{{"op", type}, {"name", "operator"}};
  op["input_desc"] = op["output_desc"] = op["attr"] = nlohmann::ordered_json::array();
  for (const auto &desc : inputs)
    op["input_desc"].push_back(jsonOf(*desc));
  for (const auto &desc : outputs)
    op["output_desc"].push_back(jsonOf(*desc));
  for (const auto &[name, attribute] : attributes)
    op["attr"].push_back(attribute);
  return op;
}

std::string OpCall::text() const { return type + "(" + textOf(inputs) + ") -> " + textOf(outputs); }

aclError readCall(const char *function, const char *opType, int numInputs,
                  const aclTensorDesc *const inputDesc[], int numOutputs,
                  const aclTensorDesc *const outputDesc[], const aclopAttr *attr, OpCall &call) {
  if (!opType)
    return fail(ACL_ERROR_INVALID_PARAM, function, "opType is NULL");
  ACL_TRY(requireStarted(function));
  call.type = opType;
  ACL_TRY(readDescs(function, "inputDesc", numInputs, inputDesc, call.inputs));
  ACL_TRY(readDescs(function, "outputDesc", numOutputs, outputDesc, call.outputs));
  if (!attr)
    return ACL_SUCCESS;
  auto attributes = opAttributes().find(attr);
  if (!attributes)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "attr (%p) was destroyed, or is no set of attributes",
                static_cast<const void *>(attr));
  call.attributes = attributes->byName;
  return ACL_SUCCESS;
}

std::shared_ptr<OpModel> lookUpOperator(const OpCall &call) {
  std::shared_lock lock(operators().mutex);
  // Operators that were added later are preferred.
  for (auto each = operators().all.rbegin(); each != operators().all.rend(); ++each)
    if (call.keepsFloat32 == (*each)->keepsFloat32 && matches(call, (*each)->description) &&
        ((*each)->origin != OpOrigin::Compiled ||
         (hasSameAttributes(call, (*each)->description) &&
          call.options.value_or((*each)->options) == (*each)->options)) &&
        (!call.infersOutputs || hasSameInputDims(call, (*each)->description)))
      return *each;
  return nullptr;
}

aclError findOperator(const char *function, const OpCall &call, std::shared_ptr<OpModel> &found) {
  found = lookUpOperator(call);
  if (found)
    return ACL_SUCCESS;
  std::shared_lock lock(operators().mutex);
  std::string others;
  int count = 0;
  for (const auto &op : operators().all)
    if (op->description.value("op", "") == call.type && count++ < 5)
      others += (others.empty() ? "" : "; ") + op->description.dump();
  if (!others.empty())
    return fail(ACL_ERROR_OP_NOT_FOUND, function, "no loaded file runs %s; files of that type: %s",
                call.text().c_str(), others.c_str());
  return fail(ACL_ERROR_OP_NOT_FOUND, function,
              "no loaded file runs %s (%zu operators are loaded); make one with atc --singleop and "
              "name its folder with aclopSetModelDir, or compile it with aclopCompile",
              call.text().c_str(), operators().all.size());
}

aclError readValues(const char *function, OpCall &call, int numInputs,
                    const aclDataBuffer *const inputs[], aclrtStream stream) {
  constexpr size_t maxBytes = 64 << 10;
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI recorded = nullptr;
  ACL_TRY(aclmdlRICaptureGetInfo(stream, &status, &recorded));
  if (status != ACL_MODEL_RI_CAPTURE_STATUS_NONE)
    return ACL_SUCCESS;
  std::vector<Dataset::Entry> buffers;
  ACL_TRY(readBuffers(function, "inputs", numInputs, inputs, buffers));
  ACL_TRY(aclrtSynchronizeStream(stream));
  for (size_t i = 0; i < buffers.size() && i < call.inputs.size(); ++i) {
    TensorDesc &desc = *call.inputs[i];
    const size_t bytes = desc.elements() * bitsOf(desc.type) / 8;
    const auto [data, size] = buffers[i].buffer->get();
    if (!desc.isConstant && data && bytes > 0 && bytes <= std::min(size, maxBytes))
      desc.constant.assign(static_cast<const char *>(data),
                           static_cast<const char *>(data) + bytes);
  }
  return ACL_SUCCESS;
}

aclError addOperator(const char *function, std::shared_ptr<Model> model, OpOrigin origin,
                     bool keepsFloat32, std::string options) {
  FileJson description = readDescription(model->facts->operatorText);
  if (description.is_null())
    return fail(ACL_ERROR_OP_LOAD_FAILED, function,
                "the file was not made by atc --singleop, so it says no operator");
  auto op = std::make_shared<OpModel>(
      OpModel{std::move(description), std::move(model), keepsFloat32, std::move(options), origin});
  std::unique_lock lock(operators().mutex);
  operators().all.push_back(std::move(op));
  return ACL_SUCCESS;
}

aclError executeOperator(const char *function, const OpModel &op, int numInputs,
                         const aclDataBuffer *const inputs[], int numOutputs,
                         aclDataBuffer *const outputs[], aclrtStream stream) {
  auto given = std::make_shared<Dataset>(), wanted = std::make_shared<Dataset>();
  std::vector<Dataset::Entry> all;
  ACL_TRY(readBuffers(function, "inputs", numInputs, inputs, all));
  ACL_TRY(readBuffers(function, "outputs", numOutputs, outputs, wanted->entries));
  // Constants are in the file; its inputs are called x<index> after those of the operator.
  for (const Port &port : op.model->facts->inputs) {
    const size_t index = port.name.size() > 1 ? strtoul(port.name.c_str() + 1, nullptr, 10) : 0;
    if (index >= all.size())
      return fail(ACL_ERROR_OP_INPUT_NOT_MATCH, function,
                  "the operator has an input %zu, %d are given", index, numInputs);
    given->entries.push_back(all[index]);
  }
  auto execution = std::make_shared<Execution>();
  ACL_TRY(Execution::prepare(function, op.model, given, wanted, *execution));
  return enqueue(
      function, stream, [execution] { return execution->run(); },
      describeTask(ACL_MODEL_RI_TASK_KERNEL));
}

} // namespace atc::ascend

using namespace atc::ascend;

aclError aclopSetMaxOpQueueNum(uint64_t maxOpNum) {
  if (maxOpNum == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "maxOpNum is 0; give at least 1");
  return ACL_SUCCESS;
}

aclError aclopSetModelDir(const char *modelDir) {
  ACL_REQUIRE(modelDir);
  ACL_TRY(requireStarted(__func__));
  std::error_code error;
  std::vector<std::string> paths;
  std::filesystem::recursive_directory_iterator entry(modelDir, error), end;
  if (error)
    ACL_FAIL(ACL_ERROR_INVALID_FILE, "%s is no folder that can be read: %s", modelDir,
             error.message().c_str());
  for (; entry != end; entry.increment(error)) {
    if (error)
      ACL_FAIL(ACL_ERROR_INVALID_FILE, "%s cannot be read: %s", modelDir, error.message().c_str());
    if (entry->path().extension() == ".om" && entry->is_regular_file(error))
      paths.push_back(entry->path().string());
  }
  std::sort(paths.begin(), paths.end());
  {
    // Operators of another folder go; those that were compiled or loaded from memory stay.
    std::unique_lock lock(operators().mutex);
    std::erase_if(operators().all, [](const auto &op) { return op->origin == OpOrigin::Folder; });
  }
  for (const std::string &path : paths) {
    std::shared_ptr<Model> model;
    ACL_TRY(Model::load(__func__, path.c_str(), true, model));
    // A folder may hold other models, too.
    if (!model->facts->operatorText.empty())
      ACL_TRY(addOperator(__func__, std::move(model), OpOrigin::Folder));
  }
  return ACL_SUCCESS;
}

aclError aclopLoad(const void *model, size_t modelSize) {
  ACL_TRY(requireStarted(__func__));
  std::shared_ptr<Model> loaded;
  ACL_TRY(Model::load(__func__, model, modelSize, true, loaded));
  return addOperator(__func__, std::move(loaded), OpOrigin::Loaded);
}

/// Returns whether the values of constants alone keep a loaded file from running a call.
static bool dependsOnValues(const OpCall &call) {
  std::shared_lock lock(operators().mutex);
  return std::any_of(operators().all.begin(), operators().all.end(), [&](const auto &op) {
    return call.keepsFloat32 == op->keepsFloat32 &&
           matches(call, op->description, /*comparesConstants=*/false);
  });
}

static aclError execute(const char *function, const char *opType, int numInputs,
                        const aclTensorDesc *const inputDesc[], const aclDataBuffer *const inputs[],
                        int numOutputs, const aclTensorDesc *const outputDesc[],
                        aclDataBuffer *const outputs[], const aclopAttr *attr, aclrtStream stream) {
  OpCall call;
  ACL_TRY(readCall(function, opType, numInputs, inputDesc, numOutputs, outputDesc, attr, call));
  std::shared_ptr<OpModel> op = lookUpOperator(call);
  if (!op) {
    if (dependsOnValues(call))
      ACL_TRY(readValues(function, call, numInputs, inputs, stream));
    ACL_TRY(findOperator(function, call, op));
  }
  return executeOperator(function, *op, numInputs, inputs, numOutputs, outputs, stream);
}

aclError aclopExecute(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
                      const aclDataBuffer *const inputs[], int numOutputs,
                      const aclTensorDesc *const outputDesc[], aclDataBuffer *const outputs[],
                      const aclopAttr *attr, aclrtStream stream) {
  return execute(__func__, opType, numInputs, inputDesc, inputs, numOutputs, outputDesc, outputs,
                 attr, stream);
}

aclError aclopExecuteV2(const char *opType, int numInputs, aclTensorDesc *inputDesc[],
                        aclDataBuffer *inputs[], int numOutputs, aclTensorDesc *outputDesc[],
                        aclDataBuffer *outputs[], aclopAttr *attr, aclrtStream stream) {
  return execute(__func__, opType, numInputs, inputDesc, inputs, numOutputs, outputDesc, outputs,
                 attr, stream);
}

aclError aclopInferShape(const char *opType, int numInputs, aclTensorDesc *inputDesc[],
                         aclDataBuffer *inputs[], int numOutputs, aclTensorDesc *outputDesc[],
                         aclopAttr *attr) {
  OpCall call;
  ACL_TRY(readCall(__func__, opType, numInputs, inputDesc, numOutputs, outputDesc, attr, call));
  call.infersOutputs = true;
  // The call is to infer the outputs, so the shapes that the program states for them are ignored.
  for (auto &output : call.outputs) {
    output->dims = {-2};
    output->unknownRank = true;
  }
  std::shared_ptr<OpModel> op;
  ACL_TRY(findForExecution(__func__, call, inputs ? numInputs : 0, inputs, nullptr, op));
  // The file states the dims that atc has inferred, -1 for those of any size.
  const FileJson outputs = op->description.value("output_desc", FileJson::array());
  for (size_t i = 0; i < size_t(numOutputs) && i < outputs.size(); ++i)
    if (auto desc = tensorDescs().find(outputDesc[i])) {
      desc->dims = outputs[i].value("shape", std::vector<int64_t>());
      desc->statedDims.reset();
      desc->ranges.clear();
      desc->unknownRank = false;
    }
  return ACL_SUCCESS;
}
