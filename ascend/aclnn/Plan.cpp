//===-- Plan.cpp --------------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Plan.h"

#include "ascend/operators/Cast.h"
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/Library.h"
#include "ascend/src/memory/Memory.h"

#include "acl/acl_rt.h"

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <numeric>
#include <string_view>
#include <tuple>

namespace atc::ascend {
namespace {

HandleTable<OpExecutor> &executors() {
  static auto &table = *new HandleTable<OpExecutor>(HandleKind::OpExecutor);
  return table;
}

/// Returns the elements between the first and the last one of a view, with both.
size_t reachOf(const View &view) {
  int64_t last = 0;
  for (size_t i = 0; i < view.dims.size(); ++i) {
    if (view.dims[i] == 0)
      return 0;
    last += (view.dims[i] - 1) * view.strides[i];
  }
  return size_t(last) + 1;
}

/// Checks that a view is device memory; returns the address of its first element.
aclError resolve(const char *function, const View &view, char *&address,
                 std::shared_ptr<Block> &block) {
  const size_t needed = (reachOf(view) * bitsOf(view.type) + 7) / 8;
  address = static_cast<char *>(view.memory->data()) + view.offset * int64_t(bitsOf(view.type)) / 8;
  if (needed == 0)
    return ACL_SUCCESS;
  return requireDevice(function, "the data of a tensor", address, needed, block);
}

/// Copies elements of two views of the same dims.
struct StridedCopy {
  Dims dims, fromStrides, toStrides;
  aclDataType fromType, toType;

  void run(const char *from, char *to) const {
    if (countOf(dims) == 0)
      return;
    if (fromType == ACL_INT4)
      copyHalfBytes(0, reinterpret_cast<const uint8_t *>(from), 0, to);
    else
      copyDim(0, from, to);
  }

private:
  /// Copies integers of 4 bits, of which the low ones of a byte are first.
  void copyHalfBytes(size_t dim, const uint8_t *from, int64_t index, char *to) const {
    if (dim == dims.size()) {
      const int half = from[index / 2] >> (index % 2 * 4) & 15;
      const int8_t value = int8_t(half < 8 ? half : half - 16);
      return CastPlan{ACL_INT8, toType, 1}.run(&value, to);
    }
    for (int64_t i = 0; i < dims[dim]; ++i)
      copyHalfBytes(dim + 1, from, index + i * fromStrides[dim],
                    to + i * toStrides[dim] * int64_t(bitsOf(toType) / 8));
  }

  void copyDim(size_t dim, const char *from, char *to) const {
    const int64_t fromBytes = int64_t(bitsOf(fromType) / 8), toBytes = int64_t(bitsOf(toType) / 8);
    if (dim == dims.size())
      return copyRow(1, from, to);
    // Rows whose elements lie side by side on both sides are converted at once.
    if (dim + 1 == dims.size() && fromStrides[dim] == 1 && toStrides[dim] == 1)
      return copyRow(size_t(dims[dim]), from, to);
    for (int64_t i = 0; i < dims[dim]; ++i)
      copyDim(dim + 1, from + i * fromStrides[dim] * fromBytes, to + i * toStrides[dim] * toBytes);
  }

  void copyRow(size_t count, const char *from, char *to) const {
    if (fromType == toType)
      memmove(to, from, count * (bitsOf(toType) / 8));
    else
      CastPlan{fromType, toType, count}.run(from, to);
  }
};

} // namespace

DeviceMemory::DeviceMemory(size_t bytes) {
  allocate("aclnn", &own, std::max<size_t>(bytes, 1), true);
}

DeviceMemory::~DeviceMemory() {
  if (own)
    release("aclnn", own, true);
}

//===--- Arguments ----------------------------------------------------------===//

Plan::Plan(const char *function) : function(function), executor(std::make_shared<OpExecutor>()) {
  executor->function = function;
  if (requireStarted(function) != ACL_SUCCESS)
    status = aclnnRuntimeError;
}

void Plan::reject(const char *format, ...) {
  if (status)
    return;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  status = fail(aclnnIsInvalid, function, "%s", text);
}

namespace {

View viewOf(std::shared_ptr<Tensor> tensor) {
  View view{tensor->type, tensor->dims, tensor->strides, tensor->offset, nullptr, ACL_FORMAT_ND};
  view.memory = std::make_shared<DeviceMemory>(std::move(tensor));
  return view;
}

/// Finds what a handle is of; null, with an error, where it is none.
template <typename T, typename Handle>
std::shared_ptr<T> take(const char *function, const HandleTable<T> &table, const Handle *handle,
                        const char *name, bool isOptional, aclnnStatus &status) {
  if (status || (!handle && isOptional))
    return nullptr;
  auto found = handle ? table.find(handle) : nullptr;
  if (!handle)
    status = fail(aclnnIsNull, function, "%s is NULL", name);
  else if (!found)
    status = fail(aclnnIsInvalid, function, "%s (%p) was destroyed, or is of another kind", name,
                  static_cast<const void *>(handle));
  return found;
}

} // namespace

View Plan::unpacked(const View &view) {
  return view.type == ACL_INT4 ? dense(view, ACL_INT8) : view;
}

View Plan::input(const aclTensor *handle, const char *name, bool isOptional) {
  auto tensor = take(function, tensors(), handle, name, isOptional, status);
  if (!tensor)
    return {};
  // Functions ask more than once for an input, which has one number.
  if (named.insert(name).second)
    executor->inputs.push_back(tensor);
  return unpacked(viewOf(std::move(tensor)));
}

View Plan::output(const aclTensor *handle, const char *name, bool isOptional) {
  auto tensor = take(function, tensors(), handle, name, isOptional, status);
  if (!tensor)
    return {};
  executor->outputs.push_back(tensor);
  if (tensor->type == ACL_INT4)
    reject("%s is of int4, which only inputs can be", name);
  return viewOf(std::move(tensor));
}

std::vector<View> Plan::listed(const aclTensorList *handle, const char *name,
                               std::vector<std::shared_ptr<Tensor>> &tensors) {
  std::vector<View> views;
  auto list = take(function, tensorLists(), handle, name, false, status);
  if (!list)
    return views;
  for (const auto &tensor : list->items) {
    tensors.push_back(tensor);
    views.push_back(viewOf(tensor));
  }
  if (views.empty())
    reject("%s has no tensors", name);
  return views;
}

std::vector<View> Plan::inputs(const aclTensorList *handle, const char *name) {
  std::vector<View> views = listed(handle, name, executor->inputs);
  for (View &view : views)
    view = unpacked(view);
  return views;
}

std::vector<View> Plan::outputs(const aclTensorList *handle, const char *name) {
  return listed(handle, name, executor->outputs);
}

std::shared_ptr<Scalar> Plan::scalar(const aclScalar *handle, const char *name) {
  return take(function, atc::ascend::scalars(), handle, name, false, status);
}

double Plan::number(const aclScalar *handle, const char *name) {
  const auto found = scalar(handle, name);
  return found ? found->value() : 0;
}

Dims Plan::numbers(const aclIntArray *handle, const char *name) {
  auto array = take(function, intArrays(), handle, name, false, status);
  return array ? array->values : Dims();
}

std::vector<std::shared_ptr<Scalar>> Plan::scalars(const aclScalarList *handle, const char *name) {
  auto list = take(function, scalarLists(), handle, name, false, status);
  return list ? list->items : std::vector<std::shared_ptr<Scalar>>();
}

std::vector<float> Plan::numbers(const aclFloatArray *handle, const char *name) {
  auto array = take(function, floatArrays(), handle, name, false, status);
  return array ? array->values : std::vector<float>();
}

std::vector<bool> Plan::truths(const aclBoolArray *handle, const char *name) {
  auto array = take(function, boolArrays(), handle, name, false, status);
  return array ? array->values : std::vector<bool>();
}

bool Plan::read(const View &view, const char *name, void *target) {
  if (!isGood())
    return false;
  char *address = nullptr;
  std::shared_ptr<Block> block;
  const size_t bytes = size_t(countOf(view.dims)) * (bitsOf(view.type) / 8);
  // Another operator may still be making the elements.
  if (resolve(function, view, address, block) != ACL_SUCCESS ||
      aclrtSynchronizeDevice() != ACL_SUCCESS ||
      (bytes &&
       aclrtMemcpy(target, bytes, address, bytes, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS)) {
    status = aclnnRuntimeError;
    return false;
  }
  executor->valueRead = name;
  return true;
}

double Plan::elementOf(const View &view, const char *name) {
  if (isGood() && countOf(view.dims) != 1)
    reject("%s must have one element", name);
  if (isGood() && view.type == ACL_COMPLEX64)
    reject("%s must not be complex", name);
  char bytes[8] = {};
  double value = 0;
  if (read(view, name, bytes))
    CastPlan{view.type, ACL_DOUBLE, 1}.run(bytes, &value);
  return value;
}

void Plan::checkCount(int64_t count, const char *name) {
  constexpr int64_t max = 1 << 28;
  if (count > max)
    reject("%s is %lld; %lld is the most", name, (long long)count, (long long)max);
}

int64_t Plan::axisOf(int64_t axis, size_t rank) {
  const int64_t count = std::max<int64_t>(int64_t(rank), 1);
  if (axis < -count || axis >= count) {
    reject("dim %lld is given; it is from %lld to %lld", (long long)axis, (long long)-count,
           (long long)count - 1);
    return 0;
  }
  return axis < 0 ? axis + count : axis;
}

Dims Plan::axesOf(const Dims &axes, size_t rank) {
  Dims found;
  for (int64_t axis : axes)
    found.push_back(axisOf(axis, rank));
  if (axes.empty()) {
    found.resize(rank);
    std::iota(found.begin(), found.end(), 0);
  }
  std::sort(found.begin(), found.end());
  if (std::adjacent_find(found.begin(), found.end()) != found.end())
    reject("a dim is given twice");
  return found;
}

//===--- Views --------------------------------------------------------------===//

View Plan::make(aclDataType type, const Dims &dims) {
  View view{type, dims, denseStrides(dims), 0, nullptr, ACL_FORMAT_ND};
  if (status)
    return view;
  view.memory = std::make_shared<DeviceMemory>(size_t(countOf(dims)) * (bitsOf(type) / 8));
  if (!view.memory->data())
    status = aclnnRuntimeError;
  return view;
}

View Plan::dense(const View &view, aclDataType type) {
  if (status || (view.type == type && view.isDense()))
    return view;
  View copied = make(type, view.dims);
  copy(view, copied);
  return copied;
}

View Plan::reshaped(View view, const Dims &dims) {
  view.dims = dims;
  view.strides = denseStrides(dims);
  return view;
}

View Plan::broadcast(const View &view, const Dims &dims) {
  View wide = view;
  wide.dims = dims;
  wide.strides.assign(dims.size(), 0);
  for (size_t i = 0; i < view.dims.size() && i < dims.size(); ++i) {
    const size_t from = view.dims.size() - 1 - i, to = dims.size() - 1 - i;
    if (view.dims[from] == dims[to])
      wide.strides[to] = view.strides[from];
    else if (view.dims[from] != 1)
      reject("%s cannot be broadcast to %s", textOf(view.dims).c_str(), textOf(dims).c_str());
  }
  if (view.dims.size() > dims.size())
    reject("%s cannot be broadcast to %s", textOf(view.dims).c_str(), textOf(dims).c_str());
  return wide;
}

View Plan::constant(double value, aclDataType type) {
  Scalar scalar{ACL_DOUBLE};
  memcpy(scalar.bytes, &value, sizeof(value));
  return constant(scalar, type);
}

View Plan::constant(const Scalar &scalar, aclDataType type) {
  if (!status && !CastPlan{scalar.type, type, 1}.isKnown())
    reject(type == ACL_COMPLEX64
               ? "complex numbers have no constants here; make them of their parts"
               : "this type has no constants here");
  View view = make(type, {}); // it takes the dims of what it is combined with
  if (!status)
    CastPlan{scalar.type, type, 1}.run(scalar.bytes, view.memory->data());
  return view;
}

//===--- Steps --------------------------------------------------------------===//

void DeviceMemory::setDims(const Dims &dims) const {
  if (!tensor)
    return;
  tensor->dims = dims;
  tensor->strides = denseStrides(dims);
}

/// Returns the code of a step. Most steps fail for one reason alone, and leave its message to this.
static aclError withMessage(const char *name, aclError code) {
  if (code == ACL_SUCCESS)
    return code;
  if (const std::string message = takeMessage(); !message.empty()) {
    setMessage(message, code);
    return code;
  }
  return fail(code, name,
              "an input holds an index, a label, an offset or a number of rows that is out of "
              "range; check what was written into the tensors of whole numbers");
}

void Plan::onHost(const std::vector<View> &views, HostStep step) {
  if (status)
    return;
  executor->steps.push_back([=, name = function](aclrtStream stream) -> aclError {
    std::vector<char *> addresses(views.size());
    std::vector<std::shared_ptr<Block>> blocks(views.size());
    for (size_t i = 0; i < views.size(); ++i)
      ACL_TRY(resolve(name, views[i], addresses[i], blocks[i]));
    return enqueue(
        name, stream,
        [=, keep = std::tuple(views, blocks)] { return withMessage(name, step(addresses)); },
        describeTask(ACL_MODEL_RI_TASK_KERNEL));
  });
}

void Plan::copy(const View &from, const View &to) {
  if (status || !from.memory || !to.memory)
    return;
  if (from.type != to.type && (from.type == ACL_COMPLEX64 || to.type == ACL_COMPLEX64))
    return reject("complex numbers and others do not become each other; take the parts");
  StridedCopy plan{from.dims, from.strides, to.strides, from.type, to.type};
  executor->steps.push_back([=, name = function](aclrtStream stream) -> aclError {
    char *source = nullptr, *target = nullptr;
    std::shared_ptr<Block> read, written;
    ACL_TRY(resolve(name, from, source, read));
    ACL_TRY(resolve(name, to, target, written));
    return enqueue(
        name, stream,
        [=, keep = std::tuple(from.memory, to.memory, read, written)] {
          plan.run(source, target);
          return ACL_SUCCESS;
        },
        describeTask(ACL_MODEL_RI_TASK_KERNEL));
  });
}

std::vector<View> Plan::apply(const char *op, const std::vector<View> &inputs,
                              const std::vector<std::pair<aclDataType, Dims>> &outputs,
                              const nlohmann::ordered_json &attributes) {
  std::vector<View> results;
  for (const auto &[type, dims] : outputs)
    results.push_back(make(type, dims));
  const bool isEmpty = std::any_of(results.begin(), results.end(),
                                   [](const View &view) { return countOf(view.dims) == 0; });
  if (status || isEmpty)
    return results;
  OpCall call;
  call.type = op;
  call.keepsFloat32 = true;
  auto describe = [](const View &view) {
    auto desc = std::make_shared<TensorDesc>();
    desc->type = view.type;
    desc->format = view.format;
    desc->dims = view.dims;
    return desc;
  };
  for (const View &view : inputs)
    call.inputs.push_back(describe(view));
  for (const View &view : results)
    call.outputs.push_back(describe(view));
  for (const auto &attribute : attributes)
    call.attributes[attribute["name"]] = attribute;
  std::shared_ptr<OpModel> model;
  if (findOrCompileOperator(function, std::move(call), model) != ACL_SUCCESS) {
    status = aclnnIsInvalid; // what atc refuses is a matter of types and dims
    return results;
  }
  executor->steps.push_back([=, name = function](aclrtStream stream) -> aclError {
    std::vector<aclDataBuffer *> buffers;
    for (const auto *side : {&inputs, &results})
      for (const View &view : *side) {
        const size_t bytes = bitsOf(view.type) / 8;
        char *data = static_cast<char *>(view.memory->data()) + view.offset * int64_t(bytes);
        buffers.push_back(aclCreateDataBuffer(data, size_t(countOf(view.dims)) * bytes));
      }
    const aclError code =
        executeOperator(name, *model, int(inputs.size()), buffers.data(), int(results.size()),
                        buffers.data() + inputs.size(), stream);
    for (aclDataBuffer *buffer : buffers)
      aclDestroyDataBuffer(buffer);
    return code;
  });
  return results;
}

View Plan::map(const char *op, const std::vector<View> &inputs) {
  Dims dims;
  std::vector<View> given;
  for (const View &view : inputs) {
    auto wider = broadcastDims(dims, view.dims);
    if (!wider && isGood())
      reject("%s and %s cannot be combined", textOf(dims).c_str(), textOf(view.dims).c_str());
    dims = wider.value_or(Dims());
    given.push_back(dense(view, inputs[0].type));
  }
  if (status)
    return {};
  return apply(op, given, {{inputs[0].type, dims}})[0];
}

//===--- Executors ----------------------------------------------------------===//

aclnnStatus Plan::finish(uint64_t *workspaceSize, aclOpExecutor **result) {
  if (!status && (!workspaceSize || !result))
    status = fail(aclnnIsNull, function, "%s is NULL", result ? "workspaceSize" : "executor");
  for (const auto &[from, output] : written)
    copy(from, output);
  if (status)
    return status;
  *workspaceSize = 0; // executors have memory of their own
  *result = static_cast<aclOpExecutor *>(executors().add(executor));
  return 0;
}

aclnnStatus runExecutor(const char *function, aclOpExecutor *handle, aclrtStream stream) {
  if (!handle)
    return fail(aclnnIsNull, function, "executor is NULL");
  auto executor = executors().find(handle);
  // Its name, of the first function of a pair, begins with that of the second.
  const std::string_view maker = executor ? executor->function : "";
  if (!executor || maker != std::string(function) + "GetWorkspaceSize")
    return fail(aclnnIsInvalid, function,
                "executor (%p) was executed, or is none of %sGetWorkspaceSize",
                static_cast<void *>(handle), function);
  if (!executor->isRepeatable)
    executors().remove(handle);
  for (const OpExecutor::Step &step : executor->steps)
    if (step(stream) != ACL_SUCCESS)
      return aclnnRuntimeError;
  return 0;
}

} // namespace atc::ascend

using namespace atc::ascend;

namespace {

/// Sets the address of an input or output tensor of an executor.
aclnnStatus setAddress(const char *function, aclOpExecutor *handle, size_t index,
                       const std::shared_ptr<Tensor> &own, void *address, bool inputs,
                       bool outputs) {
  auto executor = executors().find(handle);
  if (!executor)
    return fail(aclnnIsInvalid, function, "executor (%p) was executed, or is none",
                static_cast<void *>(handle));
  std::vector<std::shared_ptr<Tensor>> all;
  if (inputs)
    all = executor->inputs;
  if (outputs)
    all.insert(all.end(), executor->outputs.begin(), executor->outputs.end());
  if (index >= all.size())
    return fail(aclnnIsInvalid, function, "index is %zu, there are %zu tensors", index, all.size());
  // The handle tells which tensor it is; functions ask for theirs in an order of their own.
  if (!own || std::find(all.begin(), all.end(), own) == all.end())
    return fail(aclnnIsInvalid, function, "tensor %zu of the executor is another one", index);
  own->data = address;
  return 0;
}

aclnnStatus setAddressOf(const char *function, aclOpExecutor *handle, size_t index,
                         const aclTensor *tensor, void *address, bool inputs, bool outputs) {
  if (!handle || !tensor)
    return fail(aclnnIsNull, function, "%s is NULL", handle ? "tensor" : "executor");
  return setAddress(function, handle, index, tensors().find(tensor), address, inputs, outputs);
}

aclnnStatus setAddressInList(const char *function, aclOpExecutor *handle, size_t index,
                             size_t position, const aclTensorList *list, void *address, bool inputs,
                             bool outputs) {
  if (!handle || !list)
    return fail(aclnnIsNull, function, "%s is NULL", handle ? "tensors" : "executor");
  const auto found = tensorLists().find(list);
  if (!found || position >= found->items.size())
    return fail(aclnnIsInvalid, function, "tensors (%p) is no list with a tensor %zu",
                static_cast<const void *>(list), position);
  return setAddress(function, handle, index, found->items[position], address, inputs, outputs);
}

} // namespace

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor) {
  auto found = executor ? executors().find(executor) : nullptr;
  if (!found)
    return fail(executor ? aclnnIsInvalid : aclnnIsNull, __func__,
                "executor (%p) was executed, or is none", static_cast<void *>(executor));
  if (found->valueRead)
    return fail(aclnnIsInvalid, __func__,
                "%s reads the elements of %s, which may be others at the next call; call it for "
                "each",
                found->function, found->valueRead);
  found->isRepeatable = true;
  return 0;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor) {
  if (!executor || !executors().remove(executor))
    return fail(executor ? aclnnIsInvalid : aclnnIsNull, __func__,
                "executor (%p) was executed, or is none", static_cast<void *>(executor));
  return 0;
}

#define ACLNN_ADDRESS(name, inputs, outputs)                                                       \
  aclnnStatus name(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr) {   \
    return setAddressOf(#name, executor, index, tensor, addr, inputs, outputs);                    \
  }
ACLNN_ADDRESS(aclSetInputTensorAddr, true, false)
ACLNN_ADDRESS(aclSetOutputTensorAddr, false, true)
ACLNN_ADDRESS(aclSetTensorAddr, true, true)
ACLNN_ADDRESS(AclSetInputTensorAddr, true, false)
ACLNN_ADDRESS(AclSetOutputTensorAddr, false, true)
ACLNN_ADDRESS(AclSetTensorAddr, true, true)

#define ACLNN_ADDRESS_IN_LIST(name, inputs, outputs)                                               \
  aclnnStatus name(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,            \
                   aclTensorList *tensors, void *addr) {                                           \
    return setAddressInList(#name, executor, irIndex, relativeIndex, tensors, addr, inputs,        \
                            outputs);                                                              \
  }
ACLNN_ADDRESS_IN_LIST(aclSetDynamicInputTensorAddr, true, false)
ACLNN_ADDRESS_IN_LIST(aclSetDynamicOutputTensorAddr, false, true)
ACLNN_ADDRESS_IN_LIST(aclSetDynamicTensorAddr, true, true)
