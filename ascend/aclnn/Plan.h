//===-- Plan.h - what an aclnn function does, step by step -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_ACLNN_PLAN_H
#define ASCEND_ACLNN_PLAN_H

#include "ascend/aclnn/Tensors.h"
#include "ascend/operators/Operator.h"

#include "aclnn/acl_meta.h"

#include <functional>
#include <optional>
#include <set>
#include <string>

namespace atc::ascend {

/// Device memory that a step reads or writes: that of a tensor of the program, at the address it
/// has when the step is queued, or memory of the executor.
class DeviceMemory {
public:
  explicit DeviceMemory(std::shared_ptr<Tensor> tensor) : tensor(std::move(tensor)) {}
  /// Allocates memory; data() is null where there is none left.
  explicit DeviceMemory(size_t bytes);
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  ~DeviceMemory();

  void *data() const { return tensor ? tensor->data : own; }

  /// Sets the dims of a tensor of the program, which aclGetViewShape then returns.
  void setDims(const Dims &dims) const;

private:
  std::shared_ptr<Tensor> tensor;
  void *own = nullptr;
};

/// Elements in device memory.
struct View {
  aclDataType type = ACL_DT_UNDEFINED;
  Dims dims, strides;
  int64_t offset = 0;
  std::shared_ptr<DeviceMemory> memory;
  aclFormat format = ACL_FORMAT_ND; ///< that operators are told

  bool isDense() const { return strides == denseStrides(dims); }
};

/// The object behind an aclOpExecutor handle.
struct OpExecutor {
  using Step = std::function<aclError(aclrtStream)>;
  const char *function = nullptr; ///< that has made it
  std::vector<Step> steps;
  std::vector<std::shared_ptr<Tensor>> inputs, outputs;
  bool isRepeatable = false;
  const char *valueRead = nullptr; ///< the input whose elements its steps depend on
};

/// Collects the steps of one call. The first error is kept, and what follows it does nothing.
/// Elements are copied and converted by the runtime; everything else is an operator that atc
/// compiles for the NPU.
class Plan {
public:
  explicit Plan(const char *function);

  /// Records an error of the arguments.
  void reject(const char *format, ...) __attribute__((format(printf, 2, 3)));
  bool isGood() const { return status == 0; }

  /// Return what a handle is of; an empty value, with an error unless it is optional, for NULL.
  View input(const aclTensor *handle, const char *name, bool isOptional = false);
  View output(const aclTensor *handle, const char *name, bool isOptional = false);
  std::vector<View> inputs(const aclTensorList *handle, const char *name);
  std::vector<View> outputs(const aclTensorList *handle, const char *name);
  double number(const aclScalar *handle, const char *name);
  /// Returns the scalar itself; null after an error.
  std::shared_ptr<Scalar> scalar(const aclScalar *handle, const char *name);
  std::vector<std::shared_ptr<Scalar>> scalars(const aclScalarList *handle, const char *name);
  Dims numbers(const aclIntArray *handle, const char *name);
  std::vector<float> numbers(const aclFloatArray *handle, const char *name);
  std::vector<bool> truths(const aclBoolArray *handle, const char *name);
  /// Returns the one element of a tensor: it is read when the executor is made.
  double elementOf(const View &view, const char *name);
  /// Reads dense elements when the executor is made, which then is for one call.
  bool read(const View &view, const char *name, void *target);

  /// Rejects a number of elements of a dim that nothing holds.
  void checkCount(int64_t count, const char *name);

  /// Returns `axis` counted from the front; an error where a tensor of `rank` has none.
  int64_t axisOf(int64_t axis, size_t rank);
  /// Returns axes sorted and counted from the front; all of them where none is given.
  Dims axesOf(const Dims &axes, size_t rank);

  /// Allocates dense elements.
  View make(aclDataType type, const Dims &dims);
  /// Returns a view with the same elements, dense and of a type: itself, or a copy.
  View dense(const View &view, aclDataType type);
  /// Returns the same dense elements with other dims.
  View reshaped(View view, const Dims &dims);
  /// Returns the view repeated along dims of size 1 and missing dims in front.
  View broadcast(const View &view, const Dims &dims);
  /// Returns one element.
  View constant(double value, aclDataType type);
  /// Returns one element of a scalar's value: integers keep all of their digits, and wrap where the
  /// type does not hold them.
  View constant(const Scalar &scalar, aclDataType type);

  /// Applies an operator to dense inputs of one type; returns its outputs.
  std::vector<View> apply(const char *op, const std::vector<View> &inputs,
                          const std::vector<std::pair<aclDataType, Dims>> &outputs,
                          const nlohmann::ordered_json &attributes = {});
  /// Applies an elementwise operator with broadcasting, in the type of the first input.
  View map(const char *op, const std::vector<View> &inputs);

  /// Copies elements, converted to the type of the target.
  void copy(const View &from, const View &to);
  /// Copies elements to an output of the same dims when all else is computed: the output may be an
  /// input, too.
  void write(const View &from, const View &output);
  /// Runs a function of this machine when the stream comes to it, with the addresses of the first
  /// elements of views: for what moves elements by their values, and random numbers.
  using HostStep = std::function<aclError(const std::vector<char *> &)>;
  void onHost(const std::vector<View> &views, HostStep step);

  /// Makes the executor and the size of its workspace.
  aclnnStatus finish(uint64_t *workspaceSize, aclOpExecutor **executor);

private:
  /// Returns elements of 4 bits as int8.
  View unpacked(const View &view);
  std::vector<View> listed(const aclTensorList *handle, const char *name,
                           std::vector<std::shared_ptr<Tensor>> &tensors);

  const char *function;
  aclnnStatus status = 0;
  std::shared_ptr<OpExecutor> executor;
  std::set<std::string> named;                ///< the inputs
  std::vector<std::pair<View, View>> written; ///< results and their outputs
};

/// Returns the type in which two tensors are combined.
aclDataType promoted(aclDataType left, aclDataType right);
bool isFloat(aclDataType type);
/// Returns the type in which mathematical functions of a type are computed.
aclDataType floatOf(aclDataType type);
/// Returns the dims of two tensors that are combined; nothing where they do not fit.
std::optional<Dims> broadcastDims(const Dims &left, const Dims &right);

/// Queues the steps of an executor; the second function of each pair calls it.
aclnnStatus runExecutor(const char *function, aclOpExecutor *executor, aclrtStream stream);

} // namespace atc::ascend

/// Defines the second function of a pair.
#define ACLNN_RUN(name)                                                                            \
  aclnnStatus aclnn##name(void *, uint64_t, aclOpExecutor *executor, aclrtStream stream) {         \
    return ::atc::ascend::runExecutor("aclnn" #name, executor, stream);                            \
  }

#endif
