//===-- LossGradients.cpp - aclnn gradients of losses and activations -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "aclnnop/aclnn_ops.h"

#include <cmath>

using namespace atc::ascend;

namespace {

/// Returns 1 - x.
View rest(Plan &plan, const View &x) {
  return combined(plan, "Sub", constantLike(plan, 1, x), x, true);
}

/// Clamps to -1 to 1.
View clampedToOne(Plan &plan, const View &x) {
  return combined(plan, "Minimum", combined(plan, "Maximum", x, constantLike(plan, -1, x)),
                  constantLike(plan, 1, x));
}

View absoluteSlope(Plan &plan, const View &self, const View &target, double beta) {
  if (!(beta >= 0))
    plan.reject("beta is %g; it must not be negative", beta);
  const View distance = combined(plan, "Sub", self, target, true);
  return beta > 0 ? clampedToOne(plan, withNumber(plan, "Mul", distance, 1 / beta))
                  : unary(plan, "Sign", distance);
}

/// (x - t) / (x * (1 - x)), whose denominator is 1e-12 at least, as in PyTorch.
View entropySlope(Plan &plan, const View &self, const View &target, const View &weight) {
  const View x = plan.isGood() ? plan.dense(self, ACL_FLOAT) : View();
  const View spread =
      combined(plan, "Maximum", times(plan, x, rest(plan, x)), constantLike(plan, 1e-12, x));
  const View slope = combined(
      plan, "RealDiv",
      combined(plan, "Sub", x, plan.isGood() ? plan.dense(target, ACL_FLOAT) : View()), spread);
  return weight.memory ? times(plan, slope, weight) : slope;
}

/// sigmoid(x) * (1 + (p - 1) * t) - p * t, where p is the weight of what is true.
View logitSlope(Plan &plan, const View &self, const View &target, const View &weight,
                const View &positive) {
  const View x = plan.isGood() ? plan.dense(self, ACL_FLOAT) : View(),
             t = plan.isGood() ? plan.dense(target, ACL_FLOAT) : View();
  const View share = computed(plan, "Sigmoid", x);
  View slope;
  if (positive.memory) {
    const View weighted = times(plan, t, positive);
    slope = combined(plan, "Sub",
                     times(plan, share, combined(plan, "Add", weighted, rest(plan, t))), weighted);
  } else {
    slope = combined(plan, "Sub", share, t);
  }
  return weight.memory ? times(plan, slope, weight) : slope;
}

View withReduction(Plan &plan, const View &gradient, const View &slope, int64_t reduction) {
  if (plan.isGood() && (reduction < 0 || reduction > 2))
    plan.reject("reduction is %lld; give 0 (none), 1 (mean) or 2 (sum)", (long long)reduction);
  if (!plan.isGood())
    return {};
  const View given = times(plan, slope, gradient);
  return reduction == 1 ? withNumber(plan, "Mul", given, 1 / double(countOf(slope.dims))) : given;
}

/// -gradient * weight of the class, at the position of the class in each row.
View classGradient(Plan &plan, const View &gradient, const View &self, const View &target,
                   const View &weight, int64_t reduction, int64_t ignored, const View &total) {
  const size_t rank = self.dims.size();
  const int64_t rows = rank == 2 ? self.dims[0] : 1, width = rank ? self.dims.back() : 0;
  if (plan.isGood() &&
      (rank < 1 || rank > 2 || countOf(target.dims) != rows || isFloat(target.type) ||
       weight.dims != Dims{width} || countOf(total.dims) != 1 || reduction < 0 || reduction > 2 ||
       countOf(gradient.dims) != (reduction == 0 ? rows : 1)))
    plan.reject("self %s must have 1 or 2 dims, target be a class for each row, weight have a "
                "number for each class, totalWeight one element, reduction be 0 to 2, and "
                "gradOutput %s have the elements of the loss",
                textOf(self.dims).c_str(), textOf(gradient.dims).c_str());
  if (!plan.isGood())
    return {};
  const View g = plan.dense(gradient, ACL_DOUBLE), classes = plan.dense(target, ACL_INT64),
             factors = plan.dense(weight, ACL_DOUBLE), whole = plan.dense(total, ACL_DOUBLE),
             result = plan.make(ACL_DOUBLE, self.dims);
  plan.onHost({g, classes, factors, whole, result}, [=](const std::vector<char *> &at) -> aclError {
    auto *from = reinterpret_cast<const double *>(at[0]);
    auto *own = reinterpret_cast<const int64_t *>(at[1]);
    auto *factor = reinterpret_cast<const double *>(at[2]);
    auto *to = reinterpret_cast<double *>(at[4]);
    std::fill(to, to + rows * width, 0);
    for (int64_t row = 0; row < rows; ++row) {
      if (own[row] == ignored)
        continue;
      if (own[row] < 0 || own[row] >= width)
        return fail(ACL_ERROR_INVALID_PARAM, "aclnnNLLLossBackward",
                    "target has %lld; there are %lld classes", (long long)own[row],
                    (long long)width);
      const double share = reduction == 0   ? from[row]
                           : reduction == 1 ? from[0] / *reinterpret_cast<const double *>(at[3])
                                            : from[0];
      to[row * width + own[row]] = -share * factor[own[row]];
    }
    return ACL_SUCCESS;
  });
  return result;
}

/// Returns classGradient() of images, whose classes are dim 1: a row per pixel.
View classGradientOfImages(Plan &plan, const View &gradient, const View &self, const View &target,
                           const View &weight, int64_t reduction, int64_t ignored,
                           const View &total) {
  if (plan.isGood() && self.dims.size() != 4)
    plan.reject("self %s must have 4 dims", textOf(self.dims).c_str());
  if (!plan.isGood())
    return {};
  const View last = permuted(self, {0, 2, 3, 1});
  const int64_t rows = last.dims[0] * last.dims[1] * last.dims[2];
  const View result = classGradient(
      plan, gradient, plan.reshaped(plan.dense(last, self.type), {rows, last.dims[3]}), target,
      weight, reduction, ignored, total);
  return plan.isGood() ? permuted(plan.reshaped(result, last.dims), {0, 3, 1, 2}) : View();
}

/// log(1 - s) - p * log(s) with s = sigmoid(x): the slope of the entropy along its target.
View targetSlope(Plan &plan, const View &self, const View &target, const View &weight,
                 const View &positive) {
  if (plan.isGood() && target.dims != self.dims)
    plan.reject("target %s must have the dims of self %s", textOf(target.dims).c_str(),
                textOf(self.dims).c_str());
  const View x = plan.isGood() ? plan.dense(self, ACL_FLOAT) : View();
  View sure = computed(plan, "LogSigmoid", x);
  if (positive.memory)
    sure = times(plan, sure, positive);
  const View slope =
      combined(plan, "Sub", computed(plan, "LogSigmoid", unary(plan, "Neg", x)), sure);
  return weight.memory ? times(plan, slope, weight) : slope;
}

/// log(t) + 1 - x, and 0 where t is 0; with t a logarithm, exp(t) * (t + 1 - x).
View divergenceSlope(Plan &plan, const View &self, const View &target, bool isLog) {
  if (!plan.isGood())
    return {};
  const View t = plan.dense(target, ACL_FLOAT), x = plan.dense(self, ACL_FLOAT);
  const View slope =
      combined(plan, "Sub", withNumber(plan, "Add", isLog ? t : computed(plan, "Log", t), 1), x);
  if (isLog)
    return times(plan, computed(plan, "Exp", t), slope);
  return chosen(plan, comparison(plan, "Gt", t, constantLike(plan, 0, t)), slope,
                constantLike(plan, 0, t));
}

/// Returns the gradient where |x| > lambda, else 0.
View gradientOutside(Plan &plan, const View &gradient, const View &self, double lambda) {
  if (!(lambda >= 0))
    plan.reject("lambd is %g; it must not be negative", lambda);
  const View size = unary(plan, "Abs", self);
  // NaN lies outside.
  return chosen(plan, comparison(plan, "Le", size, constantLike(plan, lambda, self)),
                constantLike(plan, 0, gradient), gradient);
}

/// With t = tanh(softplus(x)): t + x * sigmoid(x) * (1 - t * t).
View mishSlope(Plan &plan, const View &self) {
  const View x = plan.isGood() ? plan.dense(self, ACL_FLOAT) : View();
  const View t = computed(plan, "Tanh", computed(plan, "Softplus", x));
  return combined(
      plan, "Add", t,
      times(plan, times(plan, x, computed(plan, "Sigmoid", x)), rest(plan, times(plan, t, t))));
}

} // namespace

ACLNN_FUNCTION(L1LossBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
                int64_t reduction, aclTensor *gradInput),
               gradInput,
               withReduction(plan, IN(gradOutput), absoluteSlope(plan, IN(self), IN(target), 0),
                             reduction))
ACLNN_FUNCTION(SmoothL1LossBackward,
               (const aclTensor *gradOut, const aclTensor *self, const aclTensor *target,
                int64_t reduction, float beta, aclTensor *gradInput),
               gradInput,
               withReduction(plan, IN(gradOut),
                             absoluteSlope(plan, IN(self), IN(target), double(beta)), reduction))
ACLNN_FUNCTION(BinaryCrossEntropyBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
                const aclTensor *weightOptional, int64_t reduction, aclTensor *out),
               out,
               withReduction(plan, IN(gradOutput),
                             entropySlope(plan, IN(self), IN(target),
                                          plan.input(weightOptional, "weight", true)),
                             reduction))
ACLNN_FUNCTION(BinaryCrossEntropyWithLogitsBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
                const aclTensor *weightOptional, const aclTensor *posWeightOptional,
                int64_t reduction, aclTensor *out),
               out,
               withReduction(plan, IN(gradOutput),
                             logitSlope(plan, IN(self), IN(target),
                                        plan.input(weightOptional, "weight", true),
                                        plan.input(posWeightOptional, "posWeight", true)),
                             reduction))
ACLNN_FUNCTION(BinaryCrossEntropyWithLogitsTargetBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
                const aclTensor *weightOptional, const aclTensor *posWeightOptional,
                int64_t reduction, aclTensor *gradTarget),
               gradTarget,
               withReduction(plan, IN(gradOutput),
                             targetSlope(plan, IN(self), IN(target),
                                         plan.input(weightOptional, "weight", true),
                                         plan.input(posWeightOptional, "posWeight", true)),
                             reduction))
ACLNN_FUNCTION(KlDivTargetBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
                int64_t reduction, bool logTarget, aclTensor *gradTarget),
               gradTarget,
               withReduction(plan, IN(gradOutput),
                             divergenceSlope(plan, IN(self), IN(target), logTarget), reduction))
ACLNN_FUNCTION(NLLLoss2dBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
                const aclTensor *weight, int64_t reduction, int64_t ignoreIndex,
                const aclTensor *totalWeight, aclTensor *out),
               out,
               classGradientOfImages(plan, IN(gradOutput), IN(self), IN(target), IN(weight),
                                     reduction, ignoreIndex, IN(totalWeight)))
ACLNN_FUNCTION(NLLLossBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
                const aclTensor *weight, int64_t reduction, int64_t ignoreIndex,
                const aclTensor *totalWeight, aclTensor *out),
               out,
               classGradient(plan, IN(gradOutput), IN(self), IN(target), IN(weight), reduction,
                             ignoreIndex, IN(totalWeight)))

// The buffer of the loss is not needed: 1 - sigmoid(x) = sigmoid(-x).
ACLNN_FUNCTION(LogSigmoidBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *,
                aclTensor *gradInput),
               gradInput,
               times(plan, IN(gradOutput), computed(plan, "Sigmoid", unary(plan, "Neg", IN(self)))))
ACLNN_FUNCTION(MishBackward,
               (const aclTensor *gradOutput, const aclTensor *self, aclTensor *gradInput),
               gradInput, times(plan, IN(gradOutput), mishSlope(plan, IN(self))))
#define ACLNN_SHRINK_GRADIENT(name)                                                                \
  ACLNN_FUNCTION(name,                                                                             \
                 (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *lambd,      \
                  aclTensor *gradInput),                                                           \
                 gradInput,                                                                        \
                 gradientOutside(plan, IN(gradOutput), IN(self), plan.number(lambd, "lambd")))
ACLNN_SHRINK_GRADIENT(HardshrinkBackward)
ACLNN_SHRINK_GRADIENT(SoftshrinkBackward)

aclnnStatus aclnnGluBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclTensor *self,
                                             int64_t dim, const aclTensor *out, uint64_t *size,
                                             aclOpExecutor **executor) {
  Plan plan(__func__);
  const View g = plan.input(gradOut, "gradOut"), x = plan.input(self, "self"),
             y = plan.output(out, "out");
  const int64_t at = plan.axisOf(dim, x.dims.size());
  if (plan.isGood() && (x.dims.empty() || x.dims[size_t(at)] % 2 || y.dims != x.dims))
    plan.reject("self %s must be even along dim %lld, and out have its dims",
                textOf(x.dims).c_str(), (long long)dim);
  if (!plan.isGood())
    return plan.finish(size, executor);
  const size_t axis = size_t(at);
  const int64_t half = x.dims[axis] / 2;
  const View value = part(x, axis, 0, half),
             gate = computed(plan, "Sigmoid", plan.dense(part(x, axis, half, half), ACL_FLOAT));
  const View ofValue = times(plan, g, gate);
  plan.write(ofValue, part(y, axis, 0, half));
  plan.write(times(plan, times(plan, ofValue, value), rest(plan, gate)), part(y, axis, half, half));
  return plan.finish(size, executor);
}
ACLNN_RUN(GluBackward)
