//===-- Derived.cpp - aclnn functions composed of others -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

#include <cmath>

using namespace atc::ascend;

namespace {

/// Returns 1 - x.
View complement(Plan &plan, const View &x) {
  return withNumber(plan, "Add", withNumber(plan, "Mul", x, -1), 1);
}

View sigmoid(Plan &plan, const View &x) { return computed(plan, "Sigmoid", x); }

View floatsOf(Plan &plan, const View &x) {
  return plan.isGood() ? plan.dense(x, floatOf(x.type)) : View();
}

/// Returns the derivative of x * sigmoid(x): s * (1 + x * (1 - s)).
View siluSlope(Plan &plan, const View &x) {
  const View s = sigmoid(plan, x);
  return times(plan, s, withNumber(plan, "Add", times(plan, x, complement(plan, s)), 1));
}

/// Returns the derivative of x * P(x), where P is the normal distribution: P(x) + x * p(x).
View geluSlope(Plan &plan, const View &self) {
  const View x = floatsOf(plan, self);
  const View erf = computed(plan, "Erf", withNumber(plan, "Mul", x, std::sqrt(0.5)));
  const View share = withNumber(plan, "Mul", withNumber(plan, "Add", erf, 1), 0.5);
  const View density = withNumber(
      plan, "Mul", computed(plan, "Exp", withNumber(plan, "Mul", times(plan, x, x), -0.5)),
      1 / std::sqrt(2 * M_PI));
  return sum(plan, "Add", share, times(plan, x, density));
}

/// Returns the derivative of 0.5 x (1 + tanh(u)), where u = sqrt(2 / pi) (x + 0.044715 x^3).
View tanhGeluSlope(Plan &plan, const View &self) {
  const double c = std::sqrt(2 / M_PI), cubic = 0.044715;
  const View x = floatsOf(plan, self), square = times(plan, x, x);
  const View inner = withNumber(
      plan, "Mul",
      times(plan, x, withNumber(plan, "Add", withNumber(plan, "Mul", square, cubic), 1)), c);
  const View t = computed(plan, "Tanh", inner);
  const View rise = withNumber(
      plan, "Mul", withNumber(plan, "Add", withNumber(plan, "Mul", square, 3 * cubic), 1), c);
  // 0.5 (1 + t) + 0.5 x (1 - t^2) u'
  const View bend = withNumber(plan, "Add", withNumber(plan, "Mul", times(plan, t, t), -1), 1);
  return withNumber(
      plan, "Mul",
      combined(plan, "Add", withNumber(plan, "Add", t, 1), times(plan, x, times(plan, bend, rise))),
      0.5);
}

View gradientAbove(Plan &plan, const View &gradient, const View &self, const View &threshold) {
  if (!plan.isGood())
    return {};
  return chosen(plan, comparison(plan, "Gt", self, threshold), gradient,
                plan.constant(0, gradient.type));
}

View sumAlong(Plan &plan, const View &x, int64_t dim) {
  const int64_t axis = plan.axisOf(dim, x.dims.size());
  return plan.isGood() ? reduced(plan, "ReduceSumD", x, {axis}, true, floatOf(x.type)) : View();
}

View softmaxGradient(Plan &plan, const View &gradient, const View &output, int64_t dim) {
  const View total = sumAlong(plan, times(plan, gradient, output), dim);
  return times(plan, output, sum(plan, "Sub", gradient, total));
}

View logSoftmaxGradient(Plan &plan, const View &gradient, const View &output, int64_t dim) {
  return sum(plan, "Sub", gradient,
             times(plan, computed(plan, "Exp", output), sumAlong(plan, gradient, dim)));
}

/// Returns log(x), and -100 where that is less: so a loss stays finite.
View boundedLog(Plan &plan, const View &x) {
  return withNumber(plan, "Maximum", computed(plan, "Log", x), -100);
}

View timesWeight(Plan &plan, const View &x, const View &weight) {
  return weight.memory ? times(plan, x, weight) : x;
}

/// Returns -(target * positive + (1 - target) * negative), weighted and reduced.
View crossEntropy(Plan &plan, const View &target, const View &positive, const View &negative,
                  const View &weight, int64_t reduction) {
  const View losses = sum(plan, "Add", times(plan, target, positive),
                          times(plan, complement(plan, target), negative));
  return lossOf(plan, timesWeight(plan, withNumber(plan, "Mul", losses, -1), weight), reduction);
}

View crossEntropyOfLogits(Plan &plan, const View &self, const View &target, const View &weight,
                          const View &positiveWeight, int64_t reduction) {
  const View positive = computed(plan, "LogSigmoid", self);
  const View negative = computed(plan, "LogSigmoid", withNumber(plan, "Mul", self, -1));
  return crossEntropy(plan, target, timesWeight(plan, positive, positiveWeight), negative, weight,
                      reduction);
}

View softMargin(Plan &plan, const View &self, const View &target, int64_t reduction) {
  const View sure = computed(plan, "LogSigmoid", times(plan, self, target));
  return lossOf(plan, withNumber(plan, "Mul", sure, -1), reduction);
}

/// Returns |left - right| <= atol + rtol * |right|; equal infinities have no distance.
View isClose(Plan &plan, const View &left, const View &right, double rtol, double atol,
             bool equalNan) {
  if (rtol < 0 || atol < 0)
    plan.reject("rtol %g and atol %g must not be negative", rtol, atol);
  // The difference of two integers may have no place in their type.
  const bool areFloats = isFloat(left.type) || isFloat(right.type);
  const View distance = areFloats ? computed(plan, "Abs", sum(plan, "Sub", left, right))
                                  : combined(plan, "Sub", combined(plan, "Maximum", left, right),
                                             combined(plan, "Minimum", left, right));
  const View limit =
      withNumber(plan, "Add", withNumber(plan, "Mul", computed(plan, "Abs", right), rtol), atol);
  if (!plan.isGood())
    return {};
  View isNear = comparison(plan, "Le", distance, limit);
  // An infinity is close to itself alone, though its distance is within an infinite limit.
  if (areFloats)
    isNear = plan.map("LogicalAnd", {isNear, comparison(plan, "Lt", distance,
                                                        plan.constant(INFINITY, distance.type))});
  View result = plan.map("LogicalOr", {isNear, comparison(plan, "Eq", left, right)});
  if (equalNan)
    result = plan.map("LogicalOr",
                      {result, plan.map("LogicalAnd", {comparison(plan, "Ne", left, left),
                                                       comparison(plan, "Ne", right, right)})});
  return result;
}

/// Returns one bool: whether two tensors are the same.
View allEqual(Plan &plan, const View &left, const View &right) {
  if (!plan.isGood())
    return {};
  if (left.dims != right.dims)
    return plan.constant(0, ACL_BOOL);
  const View same = plan.dense(comparison(plan, "Eq", left, right), ACL_INT32);
  return plan.dense(reduced(plan, "ReduceMinD", same, {}, false, ACL_INT32), ACL_BOOL);
}

/// Returns whether there is a sign. That of a zero shows in its reciprocal.
View hasSign(Plan &plan, const View &x) {
  if (!plan.isGood())
    return {};
  const View zero = plan.constant(0, x.type);
  View isLess = comparison(plan, "Lt", x, zero);
  if (!isFloat(x.type))
    return isLess;
  return plan.map("LogicalOr", {isLess, comparison(plan, "Lt", computed(plan, "Reciprocal", x),
                                                   plan.constant(0, x.type))});
}

View extremumOf(Plan &plan, const char *op, const std::vector<View> &views) {
  View result = views.empty() ? View() : views[0];
  for (size_t i = 1; plan.isGood() && i < views.size(); ++i)
    result = combined(plan, op, result, views[i]);
  return result;
}

View crossProduct(Plan &plan, const View &self, const View &other, int64_t dim) {
  auto dims = plan.isGood() ? broadcastDims(self.dims, other.dims) : std::nullopt;
  if (plan.isGood() && (!dims || self.dims.size() != other.dims.size()))
    plan.reject("self and other have dims that cannot be combined");
  const int64_t axis = plan.axisOf(dim, self.dims.size());
  if (plan.isGood() && dims->empty())
    plan.reject("a scalar is no vector of a cross product");
  if (plan.isGood() && (*dims)[size_t(axis)] != 3)
    plan.reject("dim %lld has %lld elements; vectors of a cross product have 3", (long long)dim,
                (long long)(*dims)[size_t(axis)]);
  if (!plan.isGood())
    return {};
  const View x = plan.broadcast(self, *dims), y = plan.broadcast(other, *dims);
  const View result = plan.make(promoted(x.type, y.type), *dims);
  for (int64_t i = 0; i < 3; ++i) {
    auto at = [&](const View &view, int64_t position) {
      return part(view, size_t(axis), position % 3, 1);
    };
    plan.copy(sum(plan, "Sub", combined(plan, "Mul", at(x, i + 1), at(y, i + 2)),
                  combined(plan, "Mul", at(x, i + 2), at(y, i + 1))),
              at(result, i));
  }
  return result;
}

View runningSum(Plan &plan, const View &self, int64_t dim, bool isExclusive, bool isReverse) {
  const int64_t axis = plan.axisOf(dim, self.dims.size());
  if (!plan.isGood())
    return {};
  return plan.apply(
      "CumsumD", {plan.dense(self, self.type)}, {{self.type, self.dims}},
      Json::array({attribute("axis", "int", axis), attribute("exclusive", "bool", isExclusive),
                   attribute("reverse", "bool", isReverse)}))[0];
}

View takenRowByRow(Plan &plan, const View &self, const View &index) {
  if (!plan.isGood())
    return {};
  return taken(plan, plan.reshaped(plan.dense(self, self.type), {countOf(self.dims)}), 0, index);
}

} // namespace

#define ACLNN_GRADIENT(name, input, ...)                                                           \
  ACLNN_FUNCTION(name##Backward,                                                                   \
                 (const aclTensor *gradOutput, const aclTensor *input, aclTensor *gradInput),      \
                 gradInput, __VA_ARGS__)
static View sigmoidGradient(Plan &plan, const View &gradient, const View &output) {
  return times(plan, gradient, times(plan, output, complement(plan, output)));
}
static View tanhGradient(Plan &plan, const View &gradient, const View &output) {
  return times(plan, gradient, complement(plan, times(plan, output, output)));
}
ACLNN_GRADIENT(Sigmoid, output, sigmoidGradient(plan, IN(gradOutput), IN(output)))
ACLNN_GRADIENT(Tanh, output, tanhGradient(plan, IN(gradOutput), IN(output)))
ACLNN_GRADIENT(Silu, self, times(plan, IN(gradOutput), siluSlope(plan, IN(self))))
ACLNN_GRADIENT(Gelu, self, times(plan, IN(gradOutput), geluSlope(plan, IN(self))))
static View geluGradient(Plan &plan, const View &gradient, const View &self,
                         const char *approximate) {
  const std::string_view kind = approximate ? approximate : "none";
  if (kind != "none" && kind != "tanh")
    plan.reject("approximate must be none or tanh");
  return times(plan, gradient, kind == "tanh" ? tanhGeluSlope(plan, self) : geluSlope(plan, self));
}
/// The gradient of value * gelu(gate), whose halves lie along `dim`.
static aclnnStatus geGluGradient(const char *function, const aclTensor *gradOutput,
                                 const aclTensor *self, const aclTensor *gelu, int64_t dim,
                                 int64_t approximate, bool activateLeft, aclTensor *gradInput,
                                 uint64_t *size, aclOpExecutor **executor) {
  Plan plan(function);
  const View g = plan.input(gradOutput, "gradOutput"), x = plan.input(self, "self"),
             activated = plan.input(gelu, "gelu"), out = plan.output(gradInput, "gradInput");
  if (approximate != 0 && approximate != 1)
    plan.reject("approximate is %lld; give 0 (none) or 1 (tanh)", (long long)approximate);
  const int64_t at = plan.axisOf(dim, x.dims.size());
  Dims half = x.dims;
  if (plan.isGood() && !half.empty())
    half[size_t(at)] /= 2;
  if (plan.isGood() && (x.dims.empty() || x.dims[size_t(at)] % 2 || g.dims != half ||
                        activated.dims != half || out.dims != x.dims))
    plan.reject("self %s must be even along dim %lld, gradOutput and gelu be its halves, and "
                "gradInput have its dims",
                textOf(x.dims).c_str(), (long long)dim);
  if (!plan.isGood())
    return plan.finish(size, executor);
  const size_t axis = size_t(at);
  const int64_t count = half[axis], gateAt = activateLeft ? 0 : count, valueAt = count - gateAt;
  const View gate = part(x, axis, gateAt, count), value = part(x, axis, valueAt, count);
  plan.write(times(plan, g, activated), part(out, axis, valueAt, count));
  plan.write(times(plan, times(plan, g, value),
                   approximate == 1 ? tanhGeluSlope(plan, gate) : geluSlope(plan, gate)),
             part(out, axis, gateAt, count));
  return plan.finish(size, executor);
}
aclnnStatus aclnnGeGluBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,
                                               const aclTensor *gelu, int64_t dim,
                                               int64_t approximate, aclTensor *gradInput,
                                               uint64_t *size, aclOpExecutor **executor) {
  return geGluGradient(__func__, gradOutput, self, gelu, dim, approximate, false, gradInput, size,
                       executor);
}
ACLNN_RUN(GeGluBackward)
aclnnStatus aclnnGeGluV3BackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,
                                                 const aclTensor *gelu, int64_t dim,
                                                 int64_t approximate, bool activateLeft,
                                                 aclTensor *gradInput, uint64_t *size,
                                                 aclOpExecutor **executor) {
  return geGluGradient(__func__, gradOutput, self, gelu, dim, approximate, activateLeft, gradInput,
                       size, executor);
}
ACLNN_RUN(GeGluV3Backward)
ACLNN_FUNCTION(GeluBackwardV2,
               (const aclTensor *gradOutput, const aclTensor *self, char *approximate,
                aclTensor *gradInput),
               gradInput, geluGradient(plan, IN(gradOutput), IN(self), approximate))
static View thresholdGradient(Plan &plan, const View &gradient, const View &self,
                              const aclScalar *threshold) {
  return gradientAbove(plan, gradient, self, scalarLike(plan, threshold, "threshold", self));
}
ACLNN_FUNCTION(ThresholdBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *threshold,
                aclTensor *out),
               out, thresholdGradient(plan, IN(gradOutput), IN(self), threshold))
ACLNN_FUNCTION(SoftmaxBackward,
               (const aclTensor *gradOutput, const aclTensor *output, int64_t dim,
                aclTensor *gradInput),
               gradInput, softmaxGradient(plan, IN(gradOutput), IN(output), dim))
ACLNN_FUNCTION(LogSoftmaxBackward,
               (const aclTensor *gradOutput, const aclTensor *output, int64_t dim, aclTensor *out),
               out, logSoftmaxGradient(plan, IN(gradOutput), IN(output), dim))

static View crossEntropyOfShares(Plan &plan, const View &self, const View &target,
                                 const View &weight, int64_t reduction) {
  return crossEntropy(plan, target, boundedLog(plan, self),
                      boundedLog(plan, complement(plan, self)), weight, reduction);
}
#define OPTIONAL_IN(name) plan.input(name, #name, /*isOptional=*/true)
ACLNN_FUNCTION(BinaryCrossEntropy,
               (const aclTensor *self, const aclTensor *target, const aclTensor *weight,
                int64_t reduction, aclTensor *out),
               out,
               crossEntropyOfShares(plan, IN(self), IN(target), OPTIONAL_IN(weight), reduction))
ACLNN_FUNCTION(BinaryCrossEntropyWithLogits,
               (const aclTensor *self, const aclTensor *target, const aclTensor *weightOptional,
                const aclTensor *posWeightOptional, int64_t reduction, aclTensor *out),
               out,
               crossEntropyOfLogits(plan, IN(self), IN(target), OPTIONAL_IN(weightOptional),
                                    OPTIONAL_IN(posWeightOptional), reduction))
ACLNN_FUNCTION(SoftMarginLoss,
               (const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out),
               out, softMargin(plan, IN(self), IN(target), reduction))

ACLNN_FUNCTION(IsClose,
               (const aclTensor *self, const aclTensor *other, double rtol, double atol,
                bool equal_nan, aclTensor *out),
               out, isClose(plan, IN(self), IN(other), rtol, atol, equal_nan))
aclnnStatus aclnnEqualGetWorkspaceSize(const aclTensor *self, const aclTensor *other,
                                       aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View result = allEqual(plan, IN(self), IN(other)), y = plan.output(out, "out");
  if (plan.isGood() && countOf(y.dims) != 1)
    plan.reject("out %s must have one element", textOf(y.dims).c_str());
  writeOptional(plan, result, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Equal)
ACLNN_FUNCTION(Signbit, (const aclTensor *self, aclTensor *out), out, hasSign(plan, IN(self)))
ACLNN_FUNCTION(ClampMinTensor,
               (const aclTensor *self, const aclTensor *clipValueMin, aclTensor *out), out,
               combined(plan, "Maximum", IN(self), IN(clipValueMin)))
ACLNN_FUNCTION(ClampTensor,
               (const aclTensor *self, const aclTensor *clipValueMin, const aclTensor *clipValueMax,
                aclTensor *out),
               out,
               combined(plan, "Minimum", combined(plan, "Maximum", IN(self), IN(clipValueMin)),
                        IN(clipValueMax)))
ACLNN_FUNCTION(MaxN, (const aclTensorList *tensors, aclTensor *out), out,
               extremumOf(plan, "Maximum", plan.inputs(tensors, "tensors")))
ACLNN_FUNCTION(MinN, (const aclTensorList *tensors, aclTensor *out), out,
               extremumOf(plan, "Minimum", plan.inputs(tensors, "tensors")))

static aclnnStatus extrema(Plan &plan, const aclTensor *self, const Dims &dims, bool keepDim,
                           const aclTensor *minOut, const aclTensor *maxOut, uint64_t *size,
                           aclOpExecutor **executor) {
  const View x = plan.input(self, "self"), low = plan.output(minOut, "minOut"),
             high = plan.output(maxOut, "maxOut");
  const Dims axes = plan.axesOf(dims, x.dims.size());
  if (plan.isGood()) {
    plan.write(reduced(plan, "ReduceMinD", x, axes, keepDim, x.type), low);
    plan.write(reduced(plan, "ReduceMaxD", x, axes, keepDim, x.type), high);
  }
  return plan.finish(size, executor);
}
aclnnStatus aclnnAminmaxGetWorkspaceSize(const aclTensor *self, const aclIntArray *dim,
                                         const bool keepDim, aclTensor *minOut, aclTensor *maxOut,
                                         uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  return extrema(plan, self, dim ? plan.numbers(dim, "dim") : Dims(), keepDim, minOut, maxOut, size,
                 executor);
}
ACLNN_RUN(Aminmax)
aclnnStatus aclnnAminmaxDimGetWorkspaceSize(const aclTensor *self, const int64_t dim, bool keepDim,
                                            aclTensor *minOut, aclTensor *maxOut, uint64_t *size,
                                            aclOpExecutor **executor) {
  Plan plan(__func__);
  return extrema(plan, self, {dim}, keepDim, minOut, maxOut, size, executor);
}
ACLNN_RUN(AminmaxDim)
aclnnStatus aclnnAminmaxAllGetWorkspaceSize(const aclTensor *self, aclTensor *minOut,
                                            aclTensor *maxOut, uint64_t *size,
                                            aclOpExecutor **executor) {
  Plan plan(__func__);
  return extrema(plan, self, {}, false, minOut, maxOut, size, executor);
}
ACLNN_RUN(AminmaxAll)

ACLNN_FUNCTION(LinalgCross,
               (const aclTensor *self, const aclTensor *other, int64_t dim, aclTensor *out), out,
               crossProduct(plan, IN(self), IN(other), dim))
ACLNN_FUNCTION(CumsumV2,
               (const aclTensor *self, int64_t dim, bool exclusive, bool reverse, aclTensor *out),
               out, runningSum(plan, IN(self), dim, exclusive, reverse))
ACLNN_FUNCTION(Take, (const aclTensor *self, const aclTensor *index, aclTensor *out), out,
               takenRowByRow(plan, IN(self), IN(index)))
