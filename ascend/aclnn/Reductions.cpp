//===-- Reductions.cpp - aclnn functions along dims ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

using namespace atc::ascend;

namespace atc::ascend {

Dims reducedDims(const Dims &dims, const Dims &axes, bool keep) {
  Dims reduced;
  for (size_t i = 0; i < dims.size(); ++i)
    if (!std::binary_search(axes.begin(), axes.end(), int64_t(i)))
      reduced.push_back(dims[i]);
    else if (keep)
      reduced.push_back(1);
  return reduced;
}

bool areLastDims(const Dims &last, const Dims &dims) {
  return !last.empty() && last.size() <= dims.size() &&
         std::equal(last.rbegin(), last.rend(), dims.rbegin());
}

View reduced(Plan &plan, const char *op, const View &self, const Dims &given, bool keep,
             aclDataType type) {
  const Dims axes = plan.axesOf(given, self.dims.size());
  if (!plan.isGood())
    return {};
  if (axes.empty() || self.dims.empty())
    return plan.dense(self, type);
  return plan.apply(
      op, {plan.dense(self, type)}, {{type, reducedDims(self.dims, axes, keep)}},
      Json::array({attribute("axes", "list_int", axes), attribute("keep_dims", "bool", keep)}))[0];
}

View positionOf(Plan &plan, const char *op, const View &self, int64_t axis, bool keep) {
  if (!plan.isGood())
    return {};
  const View index = plan.apply(op, {plan.dense(self, self.type)},
                                {{ACL_INT32, reducedDims(self.dims, {axis}, false)}},
                                Json::array({attribute("dimension", "int", axis)}))[0];
  return plan.isGood() ? plan.reshaped(index, reducedDims(self.dims, {axis}, keep)) : index;
}

View softmaxOf(Plan &plan, const char *op, const View &self, int64_t axis) {
  if (!plan.isGood())
    return {};
  const aclDataType type = floatOf(self.type);
  return plan.apply(op, {plan.dense(self, type)}, {{type, self.dims}},
                    Json::array({attribute("axes", "list_int", Dims{axis})}))[0];
}

void writeOptional(Plan &plan, const View &view, const View &output) {
  if (plan.isGood() && output.memory)
    plan.write(countOf(view.dims) == countOf(output.dims) ? plan.reshaped(view, output.dims) : view,
               output);
}

} // namespace atc::ascend

namespace {

aclnnStatus reductionPlan(const char *function, const char *op, const aclTensor *self,
                          const aclIntArray *dims, bool keep, aclDataType type,
                          const aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(function);
  const View x = plan.input(self, "self");
  const Dims axes = dims ? plan.numbers(dims, "dims") : Dims();
  const View y = plan.output(out, "out");
  if (plan.isGood())
    plan.write(reduced(plan, op, x, axes, keep, type == ACL_DT_UNDEFINED ? x.type : type), y);
  return plan.finish(size, executor);
}

aclnnStatus softmaxPlan(const char *function, const char *op, const aclTensor *self, int64_t dim,
                        const aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(function);
  const View x = plan.input(self, "self"), y = plan.output(out, "out");
  const int64_t axis = plan.axisOf(dim, x.dims.size());
  plan.write(softmaxOf(plan, op, x, axis), y);
  return plan.finish(size, executor);
}

aclnnStatus argPlan(const char *function, const char *op, const aclTensor *self, int64_t dim,
                    bool keep, const aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(function);
  const View x = plan.input(self, "self"), y = plan.output(out, "out");
  const int64_t axis = plan.axisOf(dim, x.dims.size());
  plan.write(positionOf(plan, op, x, axis, keep), y);
  return plan.finish(size, executor);
}

} // namespace

aclnnStatus aclnnSoftmaxGetWorkspaceSize(const aclTensor *self, int64_t dim, aclTensor *out,
                                         uint64_t *size, aclOpExecutor **executor) {
  return softmaxPlan(__func__, "SoftmaxV2", self, dim, out, size, executor);
}
ACLNN_RUN(Softmax)
aclnnStatus aclnnLogSoftmaxGetWorkspaceSize(const aclTensor *self, int64_t dim, aclTensor *out,
                                            uint64_t *size, aclOpExecutor **executor) {
  return softmaxPlan(__func__, "LogSoftmaxV2", self, dim, out, size, executor);
}
ACLNN_RUN(LogSoftmax)

aclnnStatus aclnnReduceSumGetWorkspaceSize(const aclTensor *self, const aclIntArray *dims,
                                           bool keepDims, aclDataType dtype, aclTensor *out,
                                           uint64_t *size, aclOpExecutor **executor) {
  return reductionPlan(__func__, "ReduceSumD", self, dims, keepDims, dtype, out, size, executor);
}
ACLNN_RUN(ReduceSum)
aclnnStatus aclnnReduceNansumGetWorkspaceSize(const aclTensor *self, const aclIntArray *dim,
                                              bool keepDim, aclDataType dtype, aclTensor *out,
                                              uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), y = plan.output(out, "out");
  const Dims axes = plan.axesOf(dim ? plan.numbers(dim, "dim") : Dims(), x.dims.size());
  if (!plan.isGood())
    return plan.finish(size, executor);
  // Only what is no number differs from itself.
  const View numbers =
      isFloat(x.type) ? chosen(plan, comparison(plan, "Eq", x, x), x, plan.constant(0, x.type)) : x;
  plan.write(reduced(plan, "ReduceSumD", numbers, axes, keepDim, dtype), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(ReduceNansum)
aclnnStatus aclnnMeanGetWorkspaceSize(const aclTensor *self, const aclIntArray *dim, bool keepDim,
                                      aclDataType dtype, aclTensor *out, uint64_t *size,
                                      aclOpExecutor **executor) {
  return reductionPlan(__func__, "ReduceMeanD", self, dim, keepDim, dtype, out, size, executor);
}
ACLNN_RUN(Mean)

#define ACLNN_EXTREMUM(name, op)                                                                   \
  aclnnStatus aclnnA##name##GetWorkspaceSize(const aclTensor *self, const aclIntArray *dim,        \
                                             bool keepDim, aclTensor *out, uint64_t *size,         \
                                             aclOpExecutor **executor) {                           \
    return reductionPlan(__func__, op, self, dim, keepDim, ACL_DT_UNDEFINED, out, size, executor); \
  }                                                                                                \
  ACLNN_RUN(A##name)
#define ACLNN_WHOLE(name, op)                                                                      \
  aclnnStatus aclnn##name##GetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *size, \
                                            aclOpExecutor **executor) {                            \
    return reductionPlan(__func__, op, self, nullptr, false, ACL_DT_UNDEFINED, out, size,          \
                         executor);                                                                \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_EXTREMUM(max, "ReduceMaxD")
ACLNN_EXTREMUM(min, "ReduceMinD")
ACLNN_WHOLE(Max, "ReduceMaxD")
ACLNN_WHOLE(Min, "ReduceMinD")

aclnnStatus aclnnProdGetWorkspaceSize(const aclTensor *self, const aclDataType dtype,
                                      aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  return reductionPlan(__func__, "ReduceProdD", self, nullptr, false, dtype, out, size, executor);
}
ACLNN_RUN(Prod)

aclnnStatus aclnnArgMaxGetWorkspaceSize(const aclTensor *self, const int64_t dim,
                                        const bool keepdim, aclTensor *out, uint64_t *size,
                                        aclOpExecutor **executor) {
  return argPlan(__func__, "ArgMaxD", self, dim, keepdim, out, size, executor);
}
ACLNN_RUN(ArgMax)
aclnnStatus aclnnArgMinGetWorkspaceSize(const aclTensor *self, const int64_t dim,
                                        const bool keepdim, aclTensor *out, uint64_t *size,
                                        aclOpExecutor **executor) {
  return argPlan(__func__, "ArgMinD", self, dim, keepdim, out, size, executor);
}
ACLNN_RUN(ArgMin)

aclnnStatus aclnnCumsumGetWorkspaceSize(const aclTensor *self, int64_t dim, aclDataType dtype,
                                        aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), y = plan.output(out, "out");
  const int64_t axis = plan.axisOf(dim, x.dims.size());
  const aclDataType type = dtype == ACL_DT_UNDEFINED ? x.type : dtype;
  if (plan.isGood())
    plan.write(plan.apply("CumsumD", {plan.dense(x, type)}, {{type, x.dims}},
                          Json::array({attribute("axis", "int", axis)}))[0],
               y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Cumsum)

aclnnStatus aclnnTopkGetWorkspaceSize(const aclTensor *self, int64_t k, int64_t dim, bool largest,
                                      bool sorted, aclTensor *valuesOut, aclTensor *indicesOut,
                                      uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), values = plan.output(valuesOut, "valuesOut"),
             indices = plan.output(indicesOut, "indicesOut");
  const int64_t axis = plan.axisOf(dim, x.dims.size());
  if (plan.isGood() && (x.dims.empty() || k < 1 || k > x.dims[size_t(axis)]))
    plan.reject("k is %lld; it is from 1 to the size of the dim", (long long)k);
  if (plan.isGood()) {
    Dims dims = x.dims;
    dims[size_t(axis)] = k;
    auto results = plan.apply(
        "TopKD", {plan.dense(x, x.type)}, {{x.type, dims}, {ACL_INT32, dims}},
        Json::array({attribute("k", "int", k), attribute("dim", "int", axis),
                     attribute("largest", "bool", largest), attribute("sorted", "bool", sorted)}));
    plan.write(results[0], values);
    plan.write(results[1], indices);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(Topk)
