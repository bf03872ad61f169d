//===-- Reductions.cpp - aclnn functions along dims ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Plan.h"
#include "ascend/src/Buffers.h"

#include "aclnnop/aclnn_ops.h"

#include <algorithm>

using namespace atc::ascend;

namespace {

using Json = nlohmann::ordered_json;

Json attribute(const char *name, const char *type, Json value) {
  return {{"name", name}, {"type", type}, {"value", std::move(value)}};
}

/// Returns dims without those that are reduced, which are 1 where they are kept.
Dims reducedDims(const Dims &dims, const Dims &axes, bool keep) {
  Dims reduced;
  for (size_t i = 0; i < dims.size(); ++i)
    if (!std::binary_search(axes.begin(), axes.end(), int64_t(i)))
      reduced.push_back(dims[i]);
    else if (keep)
      reduced.push_back(1);
  return reduced;
}

/// Reduces axes of elements that are converted to a type before.
View reduced(Plan &plan, const char *op, const View &self, const Dims &given, bool keep,
             aclDataType type) {
  const Dims axes = plan.axesOf(given, self.dims.size());
  if (!plan.isGood())
    return {};
  if (axes.empty())
    return plan.dense(self, type);
  return plan.apply(
      op, {plan.dense(self, type)}, {{type, reducedDims(self.dims, axes, keep)}},
      Json::array({attribute("axes", "list_int", axes), attribute("keep_dims", "bool", keep)}))[0];
}

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
  if (plan.isGood()) {
    const aclDataType type = floatOf(x.type);
    plan.write(plan.apply(op, {plan.dense(x, type)}, {{type, x.dims}},
                          Json::array({attribute("axes", "list_int", {axis})}))[0],
               y);
  }
  return plan.finish(size, executor);
}

aclnnStatus argPlan(const char *function, const char *op, const aclTensor *self, int64_t dim,
                    bool keep, const aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(function);
  const View x = plan.input(self, "self"), y = plan.output(out, "out");
  const int64_t axis = plan.axisOf(dim, x.dims.size());
  if (plan.isGood()) {
    const Dims dims = reducedDims(x.dims, {axis}, false);
    View index = plan.apply(op, {plan.dense(x, x.type)}, {{ACL_INT32, dims}},
                            Json::array({attribute("dimension", "int", axis)}))[0];
    if (plan.isGood())
      plan.write(plan.reshaped(index, reducedDims(x.dims, {axis}, keep)), y);
  }
  return plan.finish(size, executor);
}

/// Returns 1 / sqrt(mean(x * x) + epsilon) along axes, which are kept.
View inverseDeviation(Plan &plan, const View &x, const Dims &axes, double epsilon) {
  View mean = reduced(plan, "ReduceMeanD", plan.map("Mul", {x, x}), axes, true, x.type);
  mean = plan.map("Add", {mean, plan.constant(epsilon, x.type)});
  return plan.isGood() ? plan.apply("Rsqrt", {mean}, {{x.type, mean.dims}})[0] : mean;
}

Dims lastAxes(const Dims &dims, size_t count) {
  Dims axes;
  for (size_t i = dims.size() - count; i < dims.size(); ++i)
    axes.push_back(int64_t(i));
  return axes;
}

/// Multiplies by a weight of the last dims, where there is one.
View weighted(Plan &plan, const char *op, const View &x, const View &weight) {
  return weight.place && plan.isGood() ? plan.map(op, {x, plan.dense(weight, x.type)}) : x;
}

/// Writes to an output that may be missing, with the dims that the output has.
void writeOptional(Plan &plan, const View &view, const View &output) {
  if (plan.isGood() && output.place)
    plan.write(countOf(view.dims) == countOf(output.dims) ? plan.reshaped(view, output.dims) : view,
               output);
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

aclnnStatus aclnnLayerNormGetWorkspaceSize(
    const aclTensor *input, const aclIntArray *normalizedShape, const aclTensor *weightOptional,
    const aclTensor *biasOptional, double eps, aclTensor *out, aclTensor *meanOutOptional,
    aclTensor *rstdOutOptional, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = plan.input(input, "input"),
             weight = plan.input(weightOptional, "weight", true),
             bias = plan.input(biasOptional, "bias", true), y = plan.output(out, "out"),
             meanOut = plan.output(meanOutOptional, "meanOut", true),
             rstdOut = plan.output(rstdOutOptional, "rstdOut", true);
  const Dims shape = plan.numbers(normalizedShape, "normalizedShape");
  if (plan.isGood() && (shape.empty() || shape.size() > given.dims.size() ||
                        !std::equal(shape.rbegin(), shape.rend(), given.dims.rbegin())))
    plan.reject("normalizedShape %s must be the last dims of the input %s", textOf(shape).c_str(),
                textOf(given.dims).c_str());
  if (plan.isGood()) {
    // Sums of squares do not fit float16.
    const View x = plan.dense(given, ACL_FLOAT);
    const Dims axes = lastAxes(x.dims, shape.size());
    const View mean = reduced(plan, "ReduceMeanD", x, axes, true, ACL_FLOAT);
    const View centered = plan.map("Sub", {x, mean});
    const View rstd = inverseDeviation(plan, centered, axes, eps);
    View result = plan.map("Mul", {centered, rstd});
    result = weighted(plan, "Add", weighted(plan, "Mul", result, weight), bias);
    plan.write(result, y);
    writeOptional(plan, mean, meanOut);
    writeOptional(plan, rstd, rstdOut);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(LayerNorm)

aclnnStatus aclnnRmsNormGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma, double epsilon,
                                         const aclTensor *yOut, const aclTensor *rstdOut,
                                         uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = plan.input(x, "x"), weight = plan.input(gamma, "gamma"),
             y = plan.output(yOut, "yOut"), rstd = plan.output(rstdOut, "rstdOut", true);
  if (plan.isGood() && (weight.dims.empty() || weight.dims.size() > given.dims.size()))
    plan.reject("gamma %s must have the last dims of x %s", textOf(weight.dims).c_str(),
                textOf(given.dims).c_str());
  if (plan.isGood()) {
    const View wide = plan.dense(given, ACL_FLOAT);
    const View by = inverseDeviation(plan, wide, lastAxes(wide.dims, weight.dims.size()), epsilon);
    plan.write(weighted(plan, "Mul", plan.map("Mul", {wide, by}), weight), y);
    writeOptional(plan, by, rstd);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(RmsNorm)
