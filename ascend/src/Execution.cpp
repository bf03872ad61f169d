//===-- Execution.cpp ---------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Execution.h"

#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/Library.h"
#include "ascend/src/observe/Profile.h"
#include "ascend/src/observe/TensorDump.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace atc::ascend {
namespace {

struct ValueDeleter {
  void operator()(om_value *value) const { om_value_release(value); }
};
using Value = std::unique_ptr<om_value, ValueDeleter>;

struct FreeDeleter {
  void operator()(void *data) const { free(data); }
};
using Scratch = std::unique_ptr<void, FreeDeleter>;

bool isAligned(const void *data) { return reinterpret_cast<uintptr_t>(data) % OM_ALIGNMENT == 0; }

bool overlap(const void *a, size_t aBytes, const void *b, size_t bBytes) {
  const auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return x < y + bBytes && y < x + aBytes;
}

/// Returns aligned memory; null when there is none.
Scratch scratchOf(size_t bytes) {
  const size_t rounded = (std::max<size_t>(bytes, 1) + OM_ALIGNMENT - 1) / OM_ALIGNMENT;
  return Scratch(aligned_alloc(OM_ALIGNMENT, rounded * OM_ALIGNMENT));
}

/// Copies `bytes` into memory that has `missing` more, which become 0.
void copyPadded(void *to, const void *from, size_t bytes, size_t missing) {
  if (bytes > 0)
    memcpy(to, from, bytes);
  memset(static_cast<char *>(to) + bytes, 0, missing);
}

aclError failedRun(const char *function, const om_error &error) {
  return fail(codeOf(error.code), function, "%s: %s", om_status_name(error.code), error.message);
}

} // namespace

aclError Execution::prepareGear() {
  const ModelFacts &facts = *model->facts;
  if (facts.gears == OM_GEARS_NONE || facts.gears == OM_GEARS_RANGE)
    return ACL_SUCCESS;
  // The values are in the device memory of the input that chooses the gear.
  const size_t index = facts.shapeInput.value_or(facts.inputs.size());
  auto buffers = input->buffers();
  if (index >= buffers.size())
    return fail(ACL_ERROR_GE_PARAM_INVALID, function, "the dataset has no buffer for '%s'",
                OM_GEAR_INPUT_NAME);
  auto [data, bytes] = buffers[index]->get();
  const size_t count = facts.gearValues.empty() ? 0 : facts.gearValues[0].size();
  std::shared_ptr<Block> block;
  ACL_TRY(requireDevice(function, OM_GEAR_INPUT_NAME, data, count * sizeof(int64_t), block));
  Dims values(count);
  memcpy(values.data(), data, count * sizeof(int64_t));
  gear = facts.gearOf(values);
  if (!gear)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "no profile is set (aclmdlSetDynamicBatchSize, aclmdlSetDynamicHWSize, "
                "aclmdlSetInputDynamicDims); the model has: %s",
                facts.listOfGears().c_str());
  return ACL_SUCCESS;
}

/// Returns the dims that an input has: those of the program's description, of the gear, or
/// of the model, where a single dim of any size follows from the size of the buffer.
static aclError dimsOf(const char *function, const Port &port, const TensorDesc *desc, size_t bytes,
                       Dims &dims) {
  dims = port.dims;
  if (desc) {
    const Dims &given = desc->dims;
    bool fits = !port.ranked || given.size() == dims.size();
    for (size_t i = 0; fits && i < given.size(); ++i)
      fits = given[i] >= 0 && (!port.ranked || dims[i] < 0 || dims[i] == given[i]);
    if (!fits)
      return fail(ACL_ERROR_GE_PARAM_INVALID, function,
                  "input '%s' has dims %s, which %s of aclmdlSetDatasetTensorDesc do not match",
                  port.name.c_str(), textOf(port.dims).c_str(), textOf(given).c_str());
    dims = given;
    return ACL_SUCCESS;
  }
  if (!port.ranked)
    return fail(ACL_ERROR_GE_PARAM_INVALID, function,
                "input '%s' may have any shape; set it with aclmdlSetDatasetTensorDesc",
                port.name.c_str());
  const auto unknown = std::count(dims.begin(), dims.end(), int64_t{-1});
  if (unknown == 0)
    return ACL_SUCCESS;
  Dims rest = dims;
  std::replace(rest.begin(), rest.end(), int64_t{-1}, int64_t{1});
  const size_t slice = denseBytes(port.element, rest);
  if (unknown > 1 || slice == 0 || bytes % slice != 0)
    return fail(ACL_ERROR_GE_PARAM_INVALID, function,
                "input '%s' has dims %s; set its shape with aclmdlSetDatasetTensorDesc",
                port.name.c_str(), textOf(dims).c_str());
  *std::find(dims.begin(), dims.end(), int64_t{-1}) = static_cast<int64_t>(bytes / slice);
  return ACL_SUCCESS;
}

aclError Execution::prepareInputs() {
  const auto &ports = model->facts->inputs;
  auto buffers = input->buffers();
  if (buffers.size() != ports.size())
    return fail(ACL_ERROR_GE_PARAM_INVALID, function,
                "the dataset has %zu buffers, the model has %zu inputs", buffers.size(),
                ports.size());
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port &port = ports[i];
    if (port.kind != OM_KIND_TENSOR || port.element == OM_STRING)
      return fail(ACL_ERROR_FEATURE_UNSUPPORTED, function,
                  "input '%s' is no tensor of numbers; run the model with om-run or openatc",
                  port.name.c_str());
    Tensor tensor;
    std::tie(tensor.data, tensor.bytes) = buffers[i]->get();
    if (gear)
      tensor.dims = port.ofGear[*gear];
    else
      ACL_TRY(dimsOf(function, port, input->desc(i).get(), tensor.bytes, tensor.dims));
    const size_t needed = denseBytes(port.element, tensor.dims);
    // How large an image with dynamic AIPP is, its parameters say when the model runs.
    if (tensor.bytes > 0 && tensor.bytes < needed && model->facts->imageParameters[i])
      tensor.missing = needed - tensor.bytes;
    else if (tensor.bytes < needed)
      return fail(ACL_ERROR_GE_PARAM_INVALID, function,
                  "the buffer of input %zu '%s' has %zu bytes, %s needs %zu", i, port.name.c_str(),
                  tensor.bytes, textOf(tensor.dims).c_str(), needed);
    tensor.bytes = needed - tensor.missing;
    if (needed > 0)
      ACL_TRY(requireDevice(function, ("input '" + port.name + "'").c_str(), tensor.data,
                            tensor.bytes, tensor.block));
    inputs.push_back(std::move(tensor));
  }
  return ACL_SUCCESS;
}

aclError Execution::prepareOutputs() {
  const auto &ports = model->facts->outputs;
  auto buffers = output->buffers();
  if (buffers.size() != ports.size())
    return fail(ACL_ERROR_GE_PARAM_INVALID, function,
                "the dataset has %zu buffers, the model has %zu outputs", buffers.size(),
                ports.size());
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port &port = ports[i];
    if (port.kind != OM_KIND_TENSOR || port.element == OM_STRING)
      return fail(ACL_ERROR_FEATURE_UNSUPPORTED, function,
                  "output '%s' is no tensor of numbers; run the model with om-run or openatc",
                  port.name.c_str());
    Tensor tensor;
    std::tie(tensor.data, tensor.bytes) = buffers[i]->get();
    tensor.dims = gear ? port.ofGear[*gear] : port.dims;
    const bool known = !model->facts->needsShapes();
    const size_t needed = known ? denseBytes(port.element, tensor.dims) : tensor.bytes;
    if (tensor.bytes < needed)
      return fail(ACL_ERROR_GE_PARAM_INVALID, function,
                  "the buffer of output %zu '%s' has %zu bytes, %s needs %zu", i, port.name.c_str(),
                  tensor.bytes, textOf(tensor.dims).c_str(), needed);
    tensor.bytes = needed;
    if (needed > 0 && (known || tensor.data))
      ACL_TRY(requireDevice(function, ("output '" + port.name + "'").c_str(), tensor.data, needed,
                            tensor.block));
    outputs.push_back(std::move(tensor));
  }
  return ACL_SUCCESS;
}

aclError Execution::prepare(const char *function, std::shared_ptr<Model> model,
                            std::shared_ptr<Dataset> input, std::shared_ptr<Dataset> output,
                            Execution &execution) {
  execution.function = function;
  execution.model = std::move(model);
  execution.input = std::move(input);
  execution.output = std::move(output);
  if (!execution.model->session)
    return fail(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, function, "the model cannot be executed");
  ACL_TRY(execution.prepareGear());
  ACL_TRY(execution.prepareInputs());
  return execution.prepareOutputs();
}

aclError Execution::run() {
  std::lock_guard lock(model->mutex);
  ACL_TRY(checkImages());
  MeasuredExecution measured(*model);
  const aclError result = model->facts->needsShapes() ? runOnValues() : runStatic();
  if (result == ACL_SUCCESS)
    measured.finish();
  return result;
}

aclError Execution::checkImages() const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].missing == 0)
      continue;
    const Tensor &parameters = inputs[*model->facts->imageParameters[i]];
    const size_t needed = bytesOfImages(parameters.data, parameters.bytes);
    if (inputs[i].bytes < needed)
      return fail(ACL_ERROR_GE_PARAM_INVALID, function,
                  "the buffer of input %zu '%s' has %zu bytes, the images of aclmdlSetInputAIPP "
                  "need %zu",
                  i, model->facts->inputs[i].name.c_str(), inputs[i].bytes, needed);
  }
  return ACL_SUCCESS;
}

aclError Execution::runStatic() {
  // The runtime uses memory in place, where it is aligned and nothing overlaps.
  std::vector<Scratch> scratch;
  std::vector<const void *> from;
  std::vector<void *> to;
  auto stage = [&](size_t bytes) {
    scratch.push_back(scratchOf(bytes));
    return scratch.back().get();
  };
  for (const Tensor &tensor : inputs) {
    void *data = tensor.data;
    if (!data || !isAligned(data) || tensor.missing > 0) {
      if (!(data = stage(tensor.bytes + tensor.missing)))
        return fail(ACL_ERROR_BAD_ALLOC, function, "%zu bytes could not be allocated",
                    tensor.bytes + tensor.missing);
      copyPadded(data, tensor.data, tensor.bytes, tensor.missing);
    }
    from.push_back(data);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor &tensor = outputs[i];
    auto meets = [&](const Tensor &other) {
      return overlap(tensor.data, tensor.bytes, other.data, other.bytes);
    };
    void *data = tensor.data;
    if (!data || !isAligned(data) || std::any_of(inputs.begin(), inputs.end(), meets) ||
        std::any_of(outputs.begin(), outputs.begin() + i, meets))
      if (!(data = stage(tensor.bytes)))
        return fail(ACL_ERROR_BAD_ALLOC, function, "%zu bytes could not be allocated",
                    tensor.bytes);
    to.push_back(data);
  }
  om_error error = {};
  if (gear) {
    const Dims &values = model->facts->gearValues[*gear];
    if (om_session_set_gear(model->session.get(), values.data(), uint32_t(values.size()), &error) !=
        OM_OK)
      return failedRun(function, error);
  }
  if (TensorDump(*model).run(from.data(), to.data(), error) != OM_OK)
    return failedRun(function, error);
  std::vector<Dims> dims;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (to[i] != outputs[i].data && outputs[i].bytes > 0)
      memcpy(outputs[i].data, to[i], outputs[i].bytes);
    dims.push_back(outputs[i].dims);
  }
  std::lock_guard dimsLock(model->dimsMutex);
  model->currentDims = std::move(dims);
  return ACL_SUCCESS;
}

aclError Execution::runOnValues() {
  const auto &ports = model->facts->inputs;
  om_error error = {};
  std::vector<Value> values;
  std::vector<Scratch> scratch;
  std::vector<const om_value *> from;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor &tensor = inputs[i];
    void *data = tensor.data;
    if (tensor.missing > 0) {
      scratch.push_back(scratchOf(tensor.bytes + tensor.missing));
      if (!(data = scratch.back().get()))
        return fail(ACL_ERROR_BAD_ALLOC, function, "%zu bytes could not be allocated",
                    tensor.bytes + tensor.missing);
      copyPadded(data, tensor.data, tensor.bytes, tensor.missing);
    }
    om_value *value = nullptr;
    auto create = data && isAligned(data) ? om_value_borrow_tensor : om_value_create_tensor;
    if (create(ports[i].element, uint32_t(tensor.dims.size()), tensor.dims.data(), data, &value,
               &error) != OM_OK)
      return failedRun(function, error);
    values.emplace_back(value);
    from.push_back(value);
  }
  std::vector<om_value *> results(outputs.size(), nullptr);
  if (om_session_run_values(model->session.get(), from.data(), results.data(), &error) != OM_OK)
    return failedRun(function, error);
  std::vector<Value> owned;
  for (om_value *value : results)
    owned.emplace_back(value);
  for (size_t i = 0; i < outputs.size(); ++i)
    ACL_TRY(storeOutput(i, results[i]));
  std::lock_guard dimsLock(model->dimsMutex);
  model->currentDims.clear();
  for (const Tensor &tensor : outputs)
    model->currentDims.push_back(tensor.dims);
  return ACL_SUCCESS;
}

aclError Execution::storeOutput(size_t index, const om_value *value) {
  const Port &port = model->facts->outputs[index];
  Tensor &tensor = outputs[index];
  om_dtype element = OM_UNDEFINED;
  uint32_t rank = 0;
  const int64_t *dims = nullptr;
  const void *data = nullptr;
  if (om_value_get_tensor(value, &element, &rank, &dims, &data) != OM_OK)
    return fail(ACL_ERROR_FEATURE_UNSUPPORTED, function, "output '%s' is no tensor",
                port.name.c_str());
  tensor.dims.assign(dims, dims + rank);
  const size_t bytes = denseBytes(element, tensor.dims);
  if (!tensor.data && bytes > 0) {
    ACL_TRY(allocate(function, &tensor.data, bytes, /*onDevice=*/true));
    output->buffers()[index]->set(tensor.data, bytes);
  } else if (bytes > tensor.bytes) {
    return fail(ACL_ERROR_GE_PARAM_INVALID, function,
                "the buffer of output %zu '%s' has %zu bytes, its dims %s need %zu", index,
                port.name.c_str(), tensor.bytes, textOf(tensor.dims).c_str(), bytes);
  }
  if (bytes > 0)
    memcpy(tensor.data, data, bytes);
  TensorDesc desc;
  desc.type = typeOf(element);
  desc.format = port.format;
  desc.dims = tensor.dims;
  desc.name = port.name;
  output->setDesc(index, desc);
  return ACL_SUCCESS;
}

} // namespace atc::ascend

using namespace atc::ascend;

/// Checks the arguments of an execution.
static aclError prepareCall(const char *function, uint32_t modelId, const aclmdlDataset *input,
                            aclmdlDataset *output, Execution &execution) {
  ACL_TRY(requireStarted(function));
  std::shared_ptr<Context> context;
  ACL_TRY(currentContext(function, context));
  std::shared_ptr<Dataset> found[2];
  const aclmdlDataset *handles[2] = {input, output};
  for (int i = 0; i < 2; ++i) {
    const char *name = i == 0 ? "input" : "output";
    if (!handles[i])
      return fail(ACL_ERROR_INVALID_PARAM, function, "%s is NULL", name);
    if (!(found[i] = datasets().find(handles[i])))
      return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                  "%s (%p) was destroyed, or is no dataset", name,
                  static_cast<const void *>(handles[i]));
  }
  std::shared_ptr<Model> model;
  ACL_TRY(findModel(function, modelId, model));
  return Execution::prepare(function, model, found[0], found[1], execution);
}

aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output) {
  Execution execution;
  ACL_TRY(prepareCall(__func__, modelId, input, output, execution));
  return execution.run();
}

aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output,
                            aclrtStream stream) {
  auto execution = std::make_shared<Execution>();
  ACL_TRY(prepareCall(__func__, modelId, input, output, *execution));
  return enqueue(
      __func__, stream, [execution] { return execution->run(); },
      describeTask(ACL_MODEL_RI_TASK_KERNEL));
}

namespace {

/// Holds the options of aclmdlSetExecConfigOpt: how long a synchronous execution may wait.
struct ExecConfig {
  int32_t streamTimeout = -1, eventTimeout = -1;
};

HandleTable<ExecConfig> &execConfigs() {
  static auto &table = *new HandleTable<ExecConfig>(HandleKind::ExecConfig);
  return table;
}

} // namespace

aclError aclmdlExecuteV2(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output,
                         aclrtStream stream, const aclmdlExecConfigHandle *handle) {
  ACL_FIND(config, execConfigs(), handle);
  auto execution = std::make_shared<Execution>();
  ACL_TRY(prepareCall(__func__, modelId, input, output, *execution));
  std::shared_ptr<Stream> queue;
  ACL_TRY(findStream(__func__, stream, queue));
  ACL_TRY(queue->enqueue(__func__, [execution] { return execution->run(); }));
  return queue->synchronize(__func__, config->streamTimeout);
}

aclError aclmdlExecuteAsyncV2(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output,
                              aclrtStream stream, const aclmdlExecConfigHandle *handle) {
  ACL_FIND(config, execConfigs(), handle);
  return aclmdlExecuteAsync(modelId, input, output, stream);
}

aclmdlExecConfigHandle *aclmdlCreateExecConfigHandle() {
  return static_cast<aclmdlExecConfigHandle *>(execConfigs().add(std::make_shared<ExecConfig>()));
}

aclError aclmdlDestroyExecConfigHandle(const aclmdlExecConfigHandle *handle) {
  ACL_FIND(found, execConfigs(), handle);
  execConfigs().remove(handle);
  return ACL_SUCCESS;
}

aclError aclmdlSetExecConfigOpt(aclmdlExecConfigHandle *handle, aclmdlExecConfigAttr attr,
                                const void *attrValue, size_t valueSize) {
  ACL_FIND(found, execConfigs(), handle);
  ACL_REQUIRE(attrValue);
  const bool isTime = attr == ACL_MDL_STREAM_SYNC_TIMEOUT || attr == ACL_MDL_EVENT_SYNC_TIMEOUT;
  const size_t size = isTime ? sizeof(int32_t) : sizeof(size_t);
  if (!isTime && attr != ACL_MDL_WORK_ADDR_PTR && attr != ACL_MDL_WORK_SIZET)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "attr is %d, which is none of aclmdlExecConfigAttr",
             int(attr));
  if (valueSize != size)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "valueSize is %zu, the option takes %zu", valueSize, size);
  if (isTime)
    memcpy(attr == ACL_MDL_STREAM_SYNC_TIMEOUT ? &found->streamTimeout : &found->eventTimeout,
           attrValue, size);
  return ACL_SUCCESS;
}
