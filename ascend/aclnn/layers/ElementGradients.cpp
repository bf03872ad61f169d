//===-- ElementGradients.cpp - aclnn gradients of activations and losses -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

using namespace atc::ascend;

namespace {

View wide(Plan &plan, const View &x) { return plan.isGood() ? plan.dense(x, ACL_FLOAT) : View(); }

/// Returns the gradient of selu by its result: g * scale, or g * (result + scale * alpha) below 0.
View seluGradient(Plan &plan, const View &gradient, const View &result) {
  constexpr double scale = 1.0507009873554805, alpha = 1.6732632423543772;
  if (!plan.isGood())
    return {};
  const View y = wide(plan, result);
  return times(plan, gradient,
               chosen(plan, comparison(plan, "Gt", y, plan.constant(0, ACL_FLOAT)),
                      plan.constant(scale, ACL_FLOAT), withNumber(plan, "Add", y, scale * alpha)));
}

/// Scales the gradient of a loss that is reduced: 0 none, 1 mean, 2 sum, 3 mean of the batch.
View perLoss(Plan &plan, const View &gradient, const View &self, int64_t reduction,
             int64_t largest) {
  if (reduction < 0 || reduction > largest)
    plan.reject("reduction is %lld; give 0 to %lld", (long long)reduction, (long long)largest);
  if (!plan.isGood())
    return {};
  double count = 1;
  if (reduction == 1)
    count = double(countOf(self.dims));
  if (reduction == 3 && !self.dims.empty())
    count = double(self.dims[0]);
  return withNumber(plan, "Mul", wide(plan, gradient), 1 / std::max(count, 1.0));
}

View divergenceGradient(Plan &plan, const View &gradient, const View &self, const View &target,
                        int64_t reduction, bool isLog) {
  const View share = perLoss(plan, gradient, self, reduction, 3);
  if (!plan.isGood())
    return {};
  const View t = wide(plan, target);
  const View weight = isLog ? computed(plan, "Exp", t)
                            : chosen(plan, comparison(plan, "Gt", t, plan.constant(0, ACL_FLOAT)),
                                     t, plan.constant(0, ACL_FLOAT));
  return withNumber(plan, "Mul", times(plan, plan.broadcast(share, self.dims), weight), -1);
}

View softMarginGradient(Plan &plan, const View &gradient, const View &self, const View &target,
                        int64_t reduction) {
  const View share = perLoss(plan, gradient, self, reduction, 2);
  const View doubt =
      computed(plan, "Sigmoid", withNumber(plan, "Mul", times(plan, self, target), -1));
  return withNumber(plan, "Mul", times(plan, share, times(plan, wide(plan, target), doubt)), -1);
}

View maskedSoftmaxGradient(Plan &plan, const View &gradient, const View &output, const View &mask,
                           double scale, bool isTriangle) {
  if (isTriangle)
    plan.reject("fixTriuMask must be false: give the mask");
  if (plan.isGood() && (output.dims.empty() || gradient.dims != output.dims))
    plan.reject("gradOutput %s and y %s must have the same dims", textOf(gradient.dims).c_str(),
                textOf(output.dims).c_str());
  if (!plan.isGood())
    return {};
  const View y = wide(plan, output), g = wide(plan, gradient);
  const View total =
      reduced(plan, "ReduceSumD", times(plan, g, y), {int64_t(y.dims.size()) - 1}, true, ACL_FLOAT);
  const View through =
      withNumber(plan, "Mul", times(plan, y, combined(plan, "Sub", g, total)), scale);
  return chosen(plan, plan.broadcast(mask, y.dims), plan.constant(0, ACL_FLOAT), through);
}

} // namespace

ACLNN_FUNCTION(SeluBackward,
               (const aclTensor *gradOutput, const aclTensor *output, aclTensor *gradInput),
               gradInput, seluGradient(plan, IN(gradOutput), IN(output)))

aclnnStatus aclnnPreluBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,
                                               const aclTensor *weight, aclTensor *gradInput,
                                               aclTensor *gradWeight, uint64_t *size,
                                               aclOpExecutor **executor) {
  Plan plan(__func__);
  const View gradient = IN(gradOutput), given = IN(self), factors = IN(weight),
             ofInput = plan.output(gradInput, "gradInput"),
             ofWeight = plan.output(gradWeight, "gradWeight");
  const int64_t count = plan.isGood() ? countOf(factors.dims) : 0;
  if (plan.isGood() && (gradient.dims != given.dims ||
                        (count != 1 && (given.dims.size() < 2 || count != given.dims[1]))))
    plan.reject("gradOutput %s must be %s, and weight have 1 element or one per channel",
                textOf(gradient.dims).c_str(), textOf(given.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  Dims dims(given.dims.size(), 1), axes;
  for (size_t i = 0; i < dims.size(); ++i)
    if (count == 1 || i != 1)
      axes.push_back(int64_t(i));
    else
      dims[i] = count;
  const View x = wide(plan, given), g = wide(plan, gradient),
             factor = plan.reshaped(wide(plan, factors), dims), zero = plan.constant(0, ACL_FLOAT);
  const View isAbove = comparison(plan, "Gt", x, zero);
  plan.write(chosen(plan, isAbove, g, times(plan, g, factor)), ofInput);
  writeOptional(plan,
                reduced(plan, "ReduceSumD", chosen(plan, isAbove, zero, times(plan, g, x)), axes,
                        true, ACL_FLOAT),
                ofWeight);
  return plan.finish(size, executor);
}
ACLNN_RUN(PreluBackward)

ACLNN_FUNCTION(KlDivBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
                int64_t reduction, bool logTarget, aclTensor *gradInput),
               gradInput,
               divergenceGradient(plan, IN(gradOutput), IN(self), IN(target), reduction, logTarget))
ACLNN_FUNCTION(SoftMarginLossBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
                int64_t reduction, aclTensor *out),
               out, softMarginGradient(plan, IN(gradOutput), IN(self), IN(target), reduction))
ACLNN_FUNCTION(ScaledMaskedSoftmaxBackward,
               (const aclTensor *gradOutput, const aclTensor *y, const aclTensor *mask,
                double scale, bool fixTriuMask, aclTensor *out),
               out,
               maskedSoftmaxGradient(plan, IN(gradOutput), IN(y), IN(mask), scale, fixTriuMask))

/// The slope of x * sigmoid(beta * x).
static View swishGradient(Plan &plan, const View &gradient, const View &self, double beta) {
  const View inner = withNumber(plan, "Mul", self, beta);
  const View share = computed(plan, "Sigmoid", inner);
  const View rest = withNumber(plan, "Add", withNumber(plan, "Mul", share, -1), 1);
  return times(plan, gradient,
               times(plan, share, withNumber(plan, "Add", times(plan, inner, rest), 1)));
}
ACLNN_FUNCTION(SwishBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *betaOptional,
                aclTensor *gradInput),
               gradInput,
               swishGradient(plan, IN(gradOutput), IN(self),
                             betaOptional ? plan.number(betaOptional, "betaOptional") : 1))
ACLNN_FUNCTION(FastGeluBackward,
               (const aclTensor *gradOutput, const aclTensor *self, aclTensor *gradInput),
               gradInput, swishGradient(plan, IN(gradOutput), IN(self), 1.702))
