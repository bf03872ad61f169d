//===-- Activations.cpp - aclnn activations and gated units -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace atc::ascend;

namespace {

/// x * sigmoid(beta * x)
View swish(Plan &plan, const View &x, double beta) {
  return computed(plan, "Swish", x, Json::array({floatAttribute("scale", beta)}));
}

/// Computes gelu, or its form with tanh.
View gelu(Plan &plan, const View &x, bool isTanh) {
  return isTanh ? computed(plan, "Gelu", x) : unary(plan, "Gelu", x);
}

View geluV2(Plan &plan, const View &x, int64_t approximate) {
  if (approximate != 0 && approximate != 1)
    plan.reject("approximate is %lld; give 0 or 1", (long long)approximate);
  return gelu(plan, x, approximate == 1);
}

View truncated(Plan &plan, const View &x) {
  if (plan.isGood() && !isFloat(x.type))
    return x;
  return computed(plan, "Trunc", x);
}

View isBelowInfinity(Plan &plan, const View &x) {
  const View magnitude = computed(plan, "Abs", x);
  return comparison(plan, "Lt", magnitude,
                    plan.constant(std::numeric_limits<double>::infinity(), floatOf(x.type)));
}

/// Returns whether elements are infinite with one sign: 1 or -1.
View isInfinity(Plan &plan, const View &x, int sign) {
  return comparison(plan, "Eq", x,
                    plan.constant(sign * std::numeric_limits<double>::infinity(), floatOf(x.type)));
}

/// Replaces what is no number, and the two infinities.
View withoutNan(Plan &plan, const View &x, double nan, double posinf, double neginf) {
  if (!plan.isGood() || !isFloat(x.type))
    return x;
  auto number = [&](double value) { return plan.constant(value, x.type); };
  const View finite = chosen(plan, isInfinity(plan, x, 1), number(posinf),
                             chosen(plan, isInfinity(plan, x, -1), number(neginf), x));
  return chosen(plan, comparison(plan, "Eq", x, x), finite, number(nan));
}

/// Computes sin(pi x) / (pi x), 1 at 0.
View sinc(Plan &plan, const View &x) {
  const View angle = withNumber(plan, "Mul", x, std::numbers::pi);
  const View zero = plan.constant(0, floatOf(x.type)), one = plan.constant(1, floatOf(x.type));
  const View quotient = combined(plan, "RealDiv", computed(plan, "Sin", angle), angle);
  return chosen(plan, comparison(plan, "Eq", angle, zero), one, quotient);
}

/// Computes log(x / (1 - x)) of x clamped to eps .. 1 - eps; a negative eps clamps nothing.
View logit(Plan &plan, const View &x, double eps) {
  View inside = x;
  if (eps >= 0)
    inside = withNumber(plan, "Minimum", withNumber(plan, "Maximum", x, eps), 1 - eps);
  const View other = withNumber(plan, "Add", unary(plan, "Neg", inside), 1);
  return computed(plan, "Log", combined(plan, "RealDiv", inside, other, true));
}

View bitwiseNot(Plan &plan, const View &x) {
  if (!plan.isGood())
    return {};
  if (isFloat(x.type))
    plan.reject("self must be of integers or bool");
  if (x.type == ACL_BOOL)
    return unary(plan, "LogicalNot", x);
  // -x - 1
  return combined(plan, "Sub", plan.map("Neg", {plan.dense(x, x.type)}), plan.constant(1, x.type));
}

View celu(Plan &plan, const View &x, double alpha) {
  if (alpha == 0)
    plan.reject("alpha must not be 0");
  const View elu = computed(plan, "Elu", withNumber(plan, "RealDiv", x, alpha),
                            Json::array({floatAttribute("alpha", 1)}));
  return withNumber(plan, "Mul", elu, alpha);
}

View prelu(Plan &plan, const View &x, const View &weight) {
  if (!plan.isGood())
    return {};
  const aclDataType type = floatOf(x.type);
  return plan.apply("PRelu", {plan.dense(x, type), plan.dense(weight, type)}, {{type, x.dims}})[0];
}

/// Returns x where it is above a bound, else another value.
View aboveOr(Plan &plan, const View &x, const View &compared, double bound, const View &other) {
  if (!plan.isGood())
    return {};
  return chosen(plan,
                comparison(plan, "Gt", compared, plan.constant(bound, floatOf(compared.type))), x,
                other);
}

View hardshrink(Plan &plan, const View &x, double bound) {
  return aboveOr(plan, x, unary(plan, "Abs", x), bound, plan.constant(0, x.type));
}

View softshrink(Plan &plan, const View &x, double bound) {
  const View low = withNumber(plan, "Maximum", x, -bound);
  return combined(plan, "Sub", x, withNumber(plan, "Minimum", low, bound));
}

View softplus(Plan &plan, const View &x, double beta, double threshold) {
  if (beta == 0)
    plan.reject("beta must not be 0");
  const View scaled = withNumber(plan, "Mul", x, beta);
  return aboveOr(plan, x, scaled, threshold,
                 withNumber(plan, "RealDiv", computed(plan, "Softplus", scaled), beta));
}

View thresholded(Plan &plan, const View &x, double threshold, const aclScalar *value) {
  return aboveOr(plan, x, x, threshold, scalarOf(plan, value, "value", x.type));
}

/// scale * (x above 0, else alpha * (exp(inputScale * x) - 1))
View scaledElu(Plan &plan, const View &x, const aclScalar *alpha, const aclScalar *scale,
               const aclScalar *inputScale) {
  const double by = alpha ? plan.number(alpha, "alpha") : 1;
  const double all = scale ? plan.number(scale, "scale") : 1;
  const double inner = inputScale ? plan.number(inputScale, "inputScale") : 1;
  View result;
  if (inner == 1) {
    result = computed(plan, "Elu", x, Json::array({floatAttribute("alpha", by)}));
  } else {
    const View low = withNumber(plan, "Minimum", withNumber(plan, "Mul", x, inner), 0);
    const View curve = withNumber(plan, "Mul", computed(plan, "Expm1", low), by);
    result = aboveOr(plan, x, x, 0, curve);
  }
  return all == 1 ? result : withNumber(plan, "Mul", result, all);
}

/// Returns both halves of a dim.
std::pair<View, View> halves(Plan &plan, const View &x, int64_t dim) {
  const int64_t axis = plan.axisOf(dim, x.dims.size());
  if (plan.isGood() && (x.dims.empty() || x.dims[size_t(axis)] % 2))
    plan.reject("dim %lld of %s has no halves", (long long)dim, textOf(x.dims).c_str());
  if (!plan.isGood())
    return {};
  const int64_t half = x.dims[size_t(axis)] / 2;
  return {part(x, size_t(axis), 0, half), part(x, size_t(axis), half, half)};
}

View glu(Plan &plan, const View &x, int64_t dim) {
  const auto [left, right] = halves(plan, x, dim);
  return combined(plan, "Mul", left, computed(plan, "Sigmoid", right));
}

View swiGlu(Plan &plan, const View &x, int64_t dim) {
  const auto [left, right] = halves(plan, x, dim);
  return combined(plan, "Mul", swish(plan, left, 1), right);
}

View geluTimes(Plan &plan, const View &x, const char *approximate) {
  const std::string_view kind = approximate ? approximate : "none";
  if (kind != "none" && kind != "tanh")
    plan.reject("approximate must be none or tanh");
  const auto [left, right] = halves(plan, x, -1);
  return combined(plan, "Mul", gelu(plan, left, kind == "tanh"), right);
}

View fatreluTimes(Plan &plan, const View &x, const View &threshold) {
  const auto [left, right] = halves(plan, x, -1);
  if (plan.isGood() && countOf(threshold.dims) != 1)
    plan.reject("threshold %s must have one element", textOf(threshold.dims).c_str());
  if (!plan.isGood())
    return {};
  const View bound = plan.reshaped(plan.dense(threshold, x.type), {1});
  return combined(plan, "Mul",
                  chosen(plan, comparison(plan, "Lt", left, bound), plan.constant(0, x.type), left),
                  right);
}

aclnnStatus geGluPlan(const char *function, const aclTensor *self, int64_t dim, int64_t approximate,
                      bool activateLeft, const aclTensor *out, const aclTensor *outGelu,
                      uint64_t *size, aclOpExecutor **executor) {
  Plan plan(function);
  const View x = plan.input(self, "self"), y = plan.output(out, "out"),
             activated = plan.output(outGelu, "outGelu");
  if (approximate != 0 && approximate != 1)
    plan.reject("approximate is %lld; give 0 (tanh) or 1", (long long)approximate);
  auto [left, right] = halves(plan, x, dim);
  if (activateLeft)
    std::swap(left, right);
  const View result = gelu(plan, right, approximate == 0);
  plan.write(combined(plan, "Mul", left, result), y);
  plan.write(result, activated);
  return plan.finish(size, executor);
}

} // namespace

ACLNN_FUNCTION(GeluV2, (const aclTensor *x, int64_t approximate, aclTensor *y), y,
               geluV2(plan, IN(x), approximate))

#define ACLNN_ACTIVATION(name, ...)                                                                \
  ACLNN_FUNCTION(name, (const aclTensor *self, aclTensor *out), out, __VA_ARGS__)
// Also defines the in-place form, for the activations that have one.
#define ACLNN_ACTIVATIONS(name, ...)                                                               \
  ACLNN_ACTIVATION(name, __VA_ARGS__)                                                              \
  ACLNN_FUNCTION(Inplace##name, (aclTensor * self), self, __VA_ARGS__)
ACLNN_ACTIVATION(FastGelu, swish(plan, IN(self), 1.702))
ACLNN_ACTIVATIONS(Erfc, computed(plan, "Erfc", IN(self)))
ACLNN_ACTIVATIONS(Exp2, computed(plan, "Exp", withNumber(plan, "Mul", IN(self), std::log(2.0))))
ACLNN_ACTIVATIONS(Trunc, truncated(plan, IN(self)))
static View fraction(Plan &plan, const View &x) {
  return combined(plan, "Sub", x, truncated(plan, x));
}
ACLNN_ACTIVATIONS(Frac, fraction(plan, IN(self)))
ACLNN_ACTIVATION(IsFinite, isBelowInfinity(plan, IN(self)))
ACLNN_ACTIVATION(IsInf, isInfinity(plan, computed(plan, "Abs", IN(self)), 1))
ACLNN_ACTIVATION(IsPosInf, isInfinity(plan, IN(self), 1))
ACLNN_ACTIVATION(IsNegInf, isInfinity(plan, IN(self), -1))
ACLNN_ACTIVATIONS(Sinc, sinc(plan, IN(self)))
ACLNN_FUNCTION(Logit, (const aclTensor *self, double eps, aclTensor *out), out,
               logit(plan, IN(self), eps))
ACLNN_FUNCTION(InplaceLogit, (aclTensor * selfRef, double eps), selfRef,
               logit(plan, IN(selfRef), eps))
ACLNN_FUNCTION(NanToNum,
               (const aclTensor *self, float nan, float posinf, float neginf, aclTensor *out), out,
               withoutNan(plan, IN(self), nan, posinf, neginf))
ACLNN_FUNCTION(InplaceNanToNum, (aclTensor * selfRef, float nan, float posinf, float neginf),
               selfRef, withoutNan(plan, IN(selfRef), nan, posinf, neginf))
ACLNN_ACTIVATION(BitwiseNot, bitwiseNot(plan, IN(self)))
ACLNN_ACTIVATION(LogSigmoid, computed(plan, "LogSigmoid", IN(self)))
ACLNN_ACTIVATIONS(Selu, computed(plan, "Selu", IN(self)))

ACLNN_FUNCTION(Celu, (const aclTensor *self, const aclScalar *alpha, aclTensor *out), out,
               celu(plan, IN(self), plan.number(alpha, "alpha")))
ACLNN_FUNCTION(InplaceCelu, (aclTensor * selfRef, const aclScalar *alpha), selfRef,
               celu(plan, IN(selfRef), plan.number(alpha, "alpha")))
ACLNN_FUNCTION(Prelu, (const aclTensor *self, const aclTensor *weight, aclTensor *out), out,
               prelu(plan, IN(self), IN(weight)))
ACLNN_FUNCTION(Swish, (const aclTensor *self, const aclScalar *betaOptional, aclTensor *out), out,
               swish(plan, IN(self), betaOptional ? plan.number(betaOptional, "betaOptional") : 1))
static View between(Plan &plan, const View &x, const aclScalar *low, const aclScalar *high) {
  return combined(plan, "Minimum",
                  combined(plan, "Maximum", x, scalarLike(plan, low, "clipValueMin", x)),
                  scalarLike(plan, high, "clipValueMax", x));
}
ACLNN_FUNCTION(Hardtanh,
               (const aclTensor *self, const aclScalar *clipValueMin, const aclScalar *clipValueMax,
                aclTensor *out),
               out, between(plan, IN(self), clipValueMin, clipValueMax))
ACLNN_FUNCTION(InplaceHardtanh,
               (aclTensor * selfRef, const aclScalar *clipValueMin, const aclScalar *clipValueMax),
               selfRef, between(plan, IN(selfRef), clipValueMin, clipValueMax))
ACLNN_FUNCTION(Hardshrink, (const aclTensor *self, const aclScalar *lambd, aclTensor *out), out,
               hardshrink(plan, IN(self), plan.number(lambd, "lambd")))
ACLNN_FUNCTION(Softshrink, (const aclTensor *self, const aclScalar *lambd, aclTensor *out), out,
               softshrink(plan, IN(self), plan.number(lambd, "lambd")))
ACLNN_FUNCTION(
    Softplus,
    (const aclTensor *self, const aclScalar *beta, const aclScalar *threshold, aclTensor *out), out,
    softplus(plan, IN(self), plan.number(beta, "beta"), plan.number(threshold, "threshold")))
ACLNN_FUNCTION(Threshold,
               (const aclTensor *self, const aclScalar *threshold, const aclScalar *value,
                aclTensor *out),
               out, thresholded(plan, IN(self), plan.number(threshold, "threshold"), value))
ACLNN_FUNCTION(InplaceThreshold,
               (aclTensor * selfRef, const aclScalar *threshold, const aclScalar *value), selfRef,
               thresholded(plan, IN(selfRef), plan.number(threshold, "threshold"), value))
static View atMost(Plan &plan, const View &x, const aclScalar *high) {
  return combined(plan, "Minimum", x, scalarLike(plan, high, "clipValueMax", x));
}
ACLNN_FUNCTION(InplaceClampMax, (aclTensor * selfRef, const aclScalar *clipValueMax), selfRef,
               atMost(plan, IN(selfRef), clipValueMax))
ACLNN_FUNCTION(InplaceLeakyRelu, (aclTensor * selfRef, const aclScalar *negativeSlope), selfRef,
               computed(plan, "LeakyRelu", IN(selfRef),
                        Json::array({floatAttribute("negative_slope",
                                                    plan.number(negativeSlope, "negativeSlope"))})))
ACLNN_FUNCTION(Elu,
               (const aclTensor *self, const aclScalar *alpha, const aclScalar *scale,
                const aclScalar *inputScale, aclTensor *out),
               out, scaledElu(plan, IN(self), alpha, scale, inputScale))
ACLNN_FUNCTION(InplaceElu,
               (aclTensor * selfRef, const aclScalar *alpha, const aclScalar *scale,
                const aclScalar *inputScale),
               selfRef, scaledElu(plan, IN(selfRef), alpha, scale, inputScale))
ACLNN_FUNCTION(Glu, (const aclTensor *self, int64_t dim, aclTensor *out), out,
               glu(plan, IN(self), dim))
ACLNN_FUNCTION(GeluMul, (const aclTensor *input, const char *approximate, const aclTensor *out),
               out, geluTimes(plan, IN(input), approximate))
ACLNN_FUNCTION(FatreluMul,
               (const aclTensor *input, const aclTensor *threshold, const aclTensor *out), out,
               fatreluTimes(plan, IN(input), IN(threshold)))
ACLNN_FUNCTION(SwiGlu, (const aclTensor *x, int64_t dim, const aclTensor *out), out,
               swiGlu(plan, IN(x), dim))

aclnnStatus aclnnGeGluGetWorkspaceSize(const aclTensor *self, int64_t dim, int64_t approximate,
                                       aclTensor *out, aclTensor *outGelu, uint64_t *size,
                                       aclOpExecutor **executor) {
  return geGluPlan(__func__, self, dim, approximate, false, out, outGelu, size, executor);
}
ACLNN_RUN(GeGlu)
aclnnStatus aclnnGeGluV3GetWorkspaceSize(const aclTensor *self, int64_t dim, int64_t approximate,
                                         bool activateLeft, aclTensor *out, aclTensor *outGelu,
                                         uint64_t *size, aclOpExecutor **executor) {
  return geGluPlan(__func__, self, dim, approximate, activateLeft, out, outGelu, size, executor);
}
ACLNN_RUN(GeGluV3)
