//===-- Statistics.cpp - aclnn variances, norms of vectors, losses -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

#include <cmath>

using namespace atc::ascend;

namespace atc::ascend {

View lossOf(Plan &plan, const View &losses, int64_t reduction) {
  if (reduction < 0 || reduction > 2)
    plan.reject("reduction is %lld; give 0 (none), 1 (mean) or 2 (sum)", (long long)reduction);
  if (!plan.isGood() || reduction == 0)
    return losses;
  return reduced(plan, reduction == 1 ? "ReduceMeanD" : "ReduceSumD", losses, {}, false,
                 losses.type);
}

} // namespace atc::ascend

namespace {

Dims optionalNumbers(Plan &plan, const aclIntArray *array, const char *name) {
  return array ? plan.numbers(array, name) : Dims();
}

struct Moments {
  View variance, mean;
};

/// Computes variance and mean along axes; sums of squares are float32.
Moments momentsOf(Plan &plan, const View &self, const Dims &given, double correction, bool keep) {
  const Dims axes = plan.axesOf(given, self.dims.size());
  if (!plan.isGood())
    return {};
  // A scalar has an axis 0, as in PyTorch, of one element.
  double count = 1;
  for (int64_t axis : axes)
    count *= self.dims.empty() ? 1 : double(self.dims[size_t(axis)]);
  const View mean = reduced(plan, "ReduceMeanD", self, axes, true, ACL_FLOAT);
  const View centered = combined(plan, "Sub", plan.dense(self, ACL_FLOAT), mean);
  const View squares = combined(plan, "Mul", centered, centered);
  const View total = reduced(plan, "ReduceSumD", squares, axes, keep, ACL_FLOAT);
  // Without a degree of freedom left the variance is no number, as of a division by 0.
  const double degrees = std::max(count - correction, 0.0);
  View variance = withNumber(plan, "RealDiv", total, degrees);
  if (!plan.isGood())
    return {};
  return {variance, plan.reshaped(mean, reducedDims(self.dims, axes, keep))};
}

View norm(Plan &plan, const View &self, double p, const Dims &given, bool keep) {
  if (!plan.isGood())
    return {};
  const View x = computed(plan, "Abs", plan.dense(self, ACL_FLOAT));
  if (std::isinf(p))
    return reduced(plan, p > 0 ? "ReduceMaxD" : "ReduceMinD", x, given, keep, ACL_FLOAT);
  if (p == 0)
    return reduced(plan, "ReduceSumD", comparison(plan, "Ne", x, plan.constant(0, ACL_FLOAT)),
                   given, keep, ACL_FLOAT);
  if (p == 1)
    return reduced(plan, "ReduceSumD", x, given, keep, ACL_FLOAT);
  if (p == 2)
    return computed(plan, "Sqrt",
                    reduced(plan, "ReduceSumD", plan.map("Mul", {x, x}), given, keep, ACL_FLOAT));
  const View powers = withNumber(plan, "Pow", x, p);
  return withNumber(plan, "Pow", reduced(plan, "ReduceSumD", powers, given, keep, ACL_FLOAT),
                    1 / p);
}

View logSumExp(Plan &plan, const View &self, const Dims &given, bool keep) {
  const Dims axes = plan.axesOf(given, self.dims.size());
  if (!plan.isGood())
    return {};
  // The largest element is taken away, so that no power is too large.
  const View x = plan.dense(self, floatOf(self.type));
  const View largest = reduced(plan, "ReduceMaxD", x, axes, true, x.type);
  const View powers = computed(plan, "Exp", plan.map("Sub", {x, largest}));
  const View logs = computed(plan, "Log", reduced(plan, "ReduceSumD", powers, axes, true, x.type));
  const View result = plan.map("Add", {logs, largest});
  return plan.isGood() ? plan.reshaped(result, reducedDims(x.dims, axes, keep)) : result;
}

aclnnStatus extremumPlan(const char *function, const char *reduce, const char *locate,
                         const aclTensor *self, int64_t dim, bool keep, const aclTensor *out,
                         const aclTensor *indices, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(function);
  const View x = plan.input(self, "self"), y = plan.output(out, "out"),
             positions = plan.output(indices, "indices");
  const int64_t axis = plan.axisOf(dim, x.dims.size());
  if (plan.isGood() && x.dims.empty())
    plan.reject("self has no dims");
  plan.write(reduced(plan, reduce, x, {axis}, keep, x.type), y);
  plan.write(positionOf(plan, locate, x, axis, keep), positions);
  return plan.finish(size, executor);
}

/// Returns whether all, or any, of the elements along axes are true.
View truthOf(Plan &plan, const char *op, const View &self, const Dims &axes, bool keep) {
  if (!plan.isGood())
    return {};
  const View truth = plan.dense(plan.dense(self, ACL_BOOL), ACL_INT32);
  return plan.dense(reduced(plan, op, truth, axes, keep, ACL_INT32), ACL_BOOL);
}

View total(Plan &plan, const std::vector<View> &views) {
  if (!plan.isGood())
    return {};
  View result = views[0];
  for (size_t i = 1; i < views.size(); ++i)
    result = sum(plan, "Add", result, views[i]);
  return result;
}

View squareLoss(Plan &plan, const View &self, const View &target) {
  const View difference = combined(plan, "Sub", self, target, true);
  return combined(plan, "Mul", difference, difference);
}

View smoothLoss(Plan &plan, const View &self, const View &target, double beta) {
  View difference = computed(plan, "Abs", combined(plan, "Sub", self, target, true));
  if (beta < 0)
    plan.reject("beta is %g; it is 0 or more", beta);
  if (!plan.isGood() || beta == 0)
    return difference;
  const View square =
      withNumber(plan, "Mul", combined(plan, "Mul", difference, difference), 0.5 / beta);
  return chosen(plan, comparison(plan, "Lt", difference, plan.constant(beta, difference.type)),
                square, withNumber(plan, "Add", difference, -0.5 * beta));
}

} // namespace

static View varianceOf(Plan &plan, const View &self, const aclIntArray *dim, double correction,
                       bool keep) {
  return momentsOf(plan, self, optionalNumbers(plan, dim, "dim"), correction, keep).variance;
}
ACLNN_FUNCTION(Var,
               (const aclTensor *self, const aclIntArray *dim, bool unbiased, bool keepdim,
                aclTensor *out),
               out, varianceOf(plan, IN(self), dim, unbiased, keepdim))
ACLNN_FUNCTION(VarCorrection,
               (const aclTensor *self, const aclIntArray *dim, int64_t correction, bool keepdim,
                aclTensor *out),
               out, varianceOf(plan, IN(self), dim, double(correction), keepdim))
ACLNN_FUNCTION(Std,
               (const aclTensor *self, const aclIntArray *dim, const int64_t correction,
                bool keepdim, aclTensor *out),
               out,
               computed(plan, "Sqrt", varianceOf(plan, IN(self), dim, double(correction), keepdim)))

aclnnStatus aclnnVarMeanGetWorkspaceSize(const aclTensor *self, const aclIntArray *dim,
                                         int64_t correction, bool keepdim, aclTensor *varOut,
                                         aclTensor *meanOut, uint64_t *size,
                                         aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), variance = plan.output(varOut, "varOut"),
             mean = plan.output(meanOut, "meanOut");
  const Moments moments =
      momentsOf(plan, x, optionalNumbers(plan, dim, "dim"), double(correction), keepdim);
  plan.write(moments.variance, variance);
  plan.write(moments.mean, mean);
  return plan.finish(size, executor);
}
ACLNN_RUN(VarMean)

aclnnStatus aclnnStdMeanCorrectionGetWorkspaceSize(const aclTensor *self, const aclIntArray *dim,
                                                   int64_t correction, bool keepdim,
                                                   aclTensor *stdOut, aclTensor *meanOut,
                                                   uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), deviation = plan.output(stdOut, "stdOut"),
             mean = plan.output(meanOut, "meanOut");
  const Moments moments =
      momentsOf(plan, x, optionalNumbers(plan, dim, "dim"), double(correction), keepdim);
  plan.write(computed(plan, "Sqrt", moments.variance), deviation);
  plan.write(moments.mean, mean);
  return plan.finish(size, executor);
}
ACLNN_RUN(StdMeanCorrection)

ACLNN_FUNCTION(Norm,
               (const aclTensor *self, const aclScalar *pScalar, const aclIntArray *dim,
                bool keepdim, aclTensor *out),
               out,
               norm(plan, IN(self), pScalar ? plan.number(pScalar, "pScalar") : 2,
                    optionalNumbers(plan, dim, "dim"), keepdim))
static View vectorNorm(Plan &plan, const View &self, double ord, const Dims &dims, bool keep,
                       aclDataType type) {
  if (!plan.isGood())
    return {};
  return norm(plan, type == ACL_DT_UNDEFINED ? self : plan.dense(self, type), ord, dims, keep);
}
ACLNN_FUNCTION(LinalgVectorNorm,
               (const aclTensor *self, const aclScalar *ord, const aclIntArray *dims, bool keepDims,
                const aclDataType dtype, aclTensor *out),
               out,
               vectorNorm(plan, IN(self), plan.number(ord, "ord"),
                          optionalNumbers(plan, dims, "dims"), keepDims, dtype))
ACLNN_FUNCTION(LogSumExp,
               (const aclTensor *self, const aclIntArray *dim, bool keepDim, aclTensor *out), out,
               logSumExp(plan, IN(self), optionalNumbers(plan, dim, "dim"), keepDim))

#define ACLNN_EXTREMUM_DIM(name, reduce, locate)                                                   \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensor *self, const int64_t dim, const bool keepdim, aclTensor *out,                \
      aclTensor *indices, uint64_t *size, aclOpExecutor **executor) {                              \
    return extremumPlan(__func__, reduce, locate, self, dim, keepdim, out, indices, size,          \
                        executor);                                                                 \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_EXTREMUM_DIM(MaxDim, "ReduceMaxD", "ArgMaxD")
ACLNN_EXTREMUM_DIM(MinDim, "ReduceMinD", "ArgMinD")

static View productAlong(Plan &plan, const View &self, int64_t dim, bool keep, aclDataType type) {
  const int64_t axis = plan.axisOf(dim, self.dims.size());
  return reduced(plan, "ReduceProdD", self, {axis}, keep,
                 type == ACL_DT_UNDEFINED ? self.type : type);
}
ACLNN_FUNCTION(ProdDim,
               (const aclTensor *self, int64_t dim, bool keepDim, const aclDataType dtype,
                aclTensor *out),
               out, productAlong(plan, IN(self), dim, keepDim, dtype))
ACLNN_FUNCTION(All, (const aclTensor *self, const aclIntArray *dim, bool keepdim, aclTensor *out),
               out,
               truthOf(plan, "ReduceMinD", IN(self), optionalNumbers(plan, dim, "dim"), keepdim))
ACLNN_FUNCTION(Any, (const aclTensor *self, const aclIntArray *dim, bool keepdim, aclTensor *out),
               out,
               truthOf(plan, "ReduceMaxD", IN(self), optionalNumbers(plan, dim, "dim"), keepdim))
ACLNN_FUNCTION(Sum, (const aclTensorList *tensors, aclTensor *out), out,
               total(plan, plan.inputs(tensors, "tensors")))

ACLNN_FUNCTION(MseLoss,
               (const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out),
               out, lossOf(plan, squareLoss(plan, IN(self), IN(target)), reduction))
ACLNN_FUNCTION(L1Loss,
               (const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out),
               out, lossOf(plan, smoothLoss(plan, IN(self), IN(target), 0), reduction))
ACLNN_FUNCTION(SmoothL1Loss,
               (const aclTensor *self, const aclTensor *target, int64_t reduction, float beta,
                aclTensor *out),
               out, lossOf(plan, smoothLoss(plan, IN(self), IN(target), beta), reduction))

aclnnStatus aclnnSoftmaxCrossEntropyWithLogitsGetWorkspaceSize(const aclTensor *features,
                                                               const aclTensor *labels,
                                                               aclTensor *loss, aclTensor *backprop,
                                                               uint64_t *size,
                                                               aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(features, "features"), target = plan.input(labels, "labels"),
             losses = plan.output(loss, "loss"), gradient = plan.output(backprop, "backprop");
  if (plan.isGood() && (x.dims.size() != 2 || target.dims != x.dims))
    plan.reject("features and labels must have the same 2 dims");
  const View logs = softmaxOf(plan, "LogSoftmaxV2", x, 1);
  const View parts = combined(plan, "Mul", logs, target);
  plan.write(withNumber(plan, "Mul", reduced(plan, "ReduceSumD", parts, {1}, false, logs.type), -1),
             losses);
  plan.write(combined(plan, "Sub", softmaxOf(plan, "SoftmaxV2", x, 1), target), gradient);
  return plan.finish(size, executor);
}
ACLNN_RUN(SoftmaxCrossEntropyWithLogits)
