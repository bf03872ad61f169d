//===-- Arithmetic.cpp - aclnn functions of divisions and bits ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

#include <cmath>

using namespace atc::ascend;

namespace atc::ascend {

View power(Plan &plan, const View &base, const View &exponent) {
  if (!plan.isGood())
    return {};
  // The operator takes logarithms of the base: signs, and 0 to the 0, are here.
  const aclDataType type = promoted(base.type, exponent.type);
  if (!isFloat(type))
    return combined(plan, "Pow", base, exponent);
  const View x = plan.dense(base, type), y = plan.dense(exponent, type);
  const View zero = plan.constant(0, type), one = plan.constant(1, type);
  const View magnitude = plan.map("Pow", {computed(plan, "Abs", x), y});
  const View half = withNumber(plan, "Mul", y, 0.5);
  const View isOdd = comparison(plan, "Ne", computed(plan, "Floor", half), half);
  const View isPart = comparison(plan, "Ne", computed(plan, "Floor", y), y);
  const View negative = chosen(plan, isPart, plan.constant(std::nan(""), type),
                               chosen(plan, isOdd, computed(plan, "Neg", magnitude), magnitude));
  const View result = chosen(plan, comparison(plan, "Lt", x, zero), negative, magnitude);
  return chosen(plan, comparison(plan, "Eq", y, zero), one, result);
}

} // namespace atc::ascend

namespace {

/// Returns what is left of a division whose quotient is rounded down, or to 0 where `isFmod`.
View remainder(Plan &plan, const View &left, const View &right, bool isFmod) {
  if (!plan.isGood())
    return {};
  const aclDataType type = promoted(left.type, right.type);
  auto dims = broadcastDims(left.dims, right.dims);
  if (!dims)
    plan.reject("self and other have dims that cannot be combined");
  if (!plan.isGood())
    return {};
  const View x = plan.dense(left, type), y = plan.dense(right, type);
  if (!isFloat(type))
    return plan.apply(isFmod ? "Mod" : "FloorMod", {x, y}, {{type, *dims}})[0];
  View quotient = plan.map("RealDiv", {x, y});
  if (isFmod)
    quotient = plan.map("Mul", {computed(plan, "Sign", quotient),
                                computed(plan, "Floor", computed(plan, "Abs", quotient))});
  else
    quotient = computed(plan, "Floor", quotient);
  return plan.map("Sub", {x, plan.map("Mul", {quotient, y})});
}

View floorQuotient(Plan &plan, const View &left, const View &right) {
  if (!plan.isGood())
    return {};
  const aclDataType type = promoted(left.type, right.type);
  if (isFloat(type))
    return computed(plan, "Floor", combined(plan, "RealDiv", left, right));
  // Subtracts the remainder first, so that the quotient of integers is exact.
  return combined(plan, "RealDiv", combined(plan, "Sub", left, remainder(plan, left, right, false)),
                  right);
}

/// Combines the bits of integers, or the truth of bools.
View bits(Plan &plan, const char *op, const char *logical, const View &left, const View &right) {
  if (!plan.isGood())
    return {};
  const aclDataType type = promoted(left.type, right.type);
  if (isFloat(type)) {
    plan.reject("self and other must be of integers or bool");
    return {};
  }
  return plan.map(type == ACL_BOOL ? logical : op,
                  {plan.dense(left, type), plan.dense(right, type)});
}

/// Computes log(exp(a) + exp(b)) from the larger one and the distance, without overflow; `scale` is
/// the logarithm of the base. Equal infinities have no distance.
View logOfSum(Plan &plan, const View &a, const View &b, double scale) {
  if (!plan.isGood())
    return {};
  const aclDataType type = floatOf(promoted(a.type, b.type));
  const View zero = plan.constant(0, type);
  const View distance = chosen(plan, comparison(plan, "Eq", a, b), zero,
                               unary(plan, "Abs", combined(plan, "Sub", a, b, true)));
  const View share = computed(plan, "Exp", withNumber(plan, "Mul", distance, -scale));
  const View rest = computed(plan, "Log", withNumber(plan, "Add", share, 1));
  return combined(plan, "Add", combined(plan, "Maximum", a, b, true),
                  withNumber(plan, "Mul", rest, 1 / scale));
}

View step(Plan &plan, const View &self, const View &values) {
  if (!plan.isGood())
    return {};
  const View zero = plan.constant(0, self.type), one = plan.constant(1, self.type);
  const View sides = chosen(plan, comparison(plan, "Lt", self, zero), zero, one);
  return chosen(plan, comparison(plan, "Eq", self, zero), values, sides);
}

/// Computes a power whose exponent is known: whole ones are products.
View powerOfNumber(Plan &plan, const View &base, const aclScalar *exponent) {
  const double number = plan.number(exponent, "exponent");
  if (!plan.isGood())
    return {};
  if (!isFloat(base.type) || number != std::trunc(number) || number < 1 || number > 64)
    return power(plan, base, scalarLike(plan, exponent, "exponent", base));
  View square = plan.dense(base, base.type), result;
  for (int left = int(number); left > 0; left /= 2) {
    if (left % 2)
      result = result.memory ? plan.map("Mul", {result, square}) : square;
    if (left > 1)
      square = plan.map("Mul", {square, square});
  }
  return result;
}

View lerp(Plan &plan, const View &self, const View &end, const View &weight) {
  return sum(plan, "Add", self, combined(plan, "Mul", weight, sum(plan, "Sub", end, self)));
}

View subtractedFrom(Plan &plan, const View &self, const aclScalar *other, const aclScalar *alpha) {
  return sum(plan, "Sub", scalarLike(plan, other, "other", self), self,
             plan.number(alpha, "alpha"));
}

View remainderOfNumber(Plan &plan, const View &self, const aclScalar *other, bool isFmod) {
  return remainder(plan, self, scalarLike(plan, other, "other", self), isFmod);
}

} // namespace

ACLNN_FUNCTION(Rsub,
               (const aclTensor *self, const aclTensor *other, const aclScalar *alpha,
                aclTensor *out),
               out, sum(plan, "Sub", IN(other), IN(self), plan.number(alpha, "alpha")))
ACLNN_FUNCTION(Rsubs,
               (const aclTensor *self, const aclScalar *other, const aclScalar *alpha,
                aclTensor *out),
               out, subtractedFrom(plan, IN(self), other, alpha))
ACLNN_FUNCTION(Lerp,
               (const aclTensor *self, const aclTensor *end, const aclTensor *weight,
                aclTensor *out),
               out, lerp(plan, IN(self), IN(end), IN(weight)))

ACLNN_FUNCTION(InplaceLerp, (aclTensor * selfRef, const aclTensor *end, const aclTensor *weight),
               selfRef, lerp(plan, IN(selfRef), IN(end), IN(weight)))

#define ACLNN_MODULO(name, isFmod)                                                                 \
  ACLNN_FUNCTION(name##Tensor, (const aclTensor *self, const aclTensor *other, aclTensor *out),    \
                 out, remainder(plan, IN(self), IN(other), isFmod))                                \
  ACLNN_FUNCTION(name##Scalar, (const aclTensor *self, const aclScalar *other, aclTensor *out),    \
                 out, remainderOfNumber(plan, IN(self), other, isFmod))                            \
  ACLNN_FUNCTION(Inplace##name##Tensor, (aclTensor * selfRef, const aclTensor *other), selfRef,    \
                 remainder(plan, IN(selfRef), IN(other), isFmod))                                  \
  ACLNN_FUNCTION(Inplace##name##Scalar, (aclTensor * selfRef, const aclScalar *other), selfRef,    \
                 remainderOfNumber(plan, IN(selfRef), other, isFmod))
ACLNN_MODULO(Fmod, true)
ACLNN_MODULO(RemainderTensor, false)
static View numberModulo(Plan &plan, const aclScalar *self, const View &other) {
  return remainder(plan, scalarLike(plan, self, "self", other), other, false);
}
ACLNN_FUNCTION(RemainderScalarTensor,
               (const aclScalar *self, const aclTensor *other, aclTensor *out), out,
               numberModulo(plan, self, IN(other)))

ACLNN_FUNCTION(FloorDivide, (const aclTensor *self, const aclTensor *other, aclTensor *out), out,
               floorQuotient(plan, IN(self), IN(other)))
static View floorQuotientOfNumber(Plan &plan, const View &self, const aclScalar *other) {
  return floorQuotient(plan, self, scalarLike(plan, other, "other", self));
}
ACLNN_FUNCTION(FloorDivides, (const aclTensor *self, const aclScalar *other, aclTensor *out), out,
               floorQuotientOfNumber(plan, IN(self), other))

ACLNN_FUNCTION(InplaceFloorDivide, (aclTensor * selfRef, const aclTensor *other), selfRef,
               floorQuotient(plan, IN(selfRef), IN(other)))
ACLNN_FUNCTION(InplaceFloorDivides, (aclTensor * selfRef, const aclScalar *other), selfRef,
               floorQuotientOfNumber(plan, IN(selfRef), other))

/// Divides as `mode` says: 0 not rounded, 1 rounded to 0, 2 rounded down.
static View quotient(Plan &plan, const View &left, const View &right, int mode) {
  if (mode < 0 || mode > 2)
    plan.reject("mode is %d; give 0, 1 (rounded to 0) or 2 (rounded down)", mode);
  if (!plan.isGood())
    return {};
  if (mode == 2)
    return floorQuotient(plan, left, right);
  if (mode == 0)
    return combined(plan, "RealDiv", left, right, true);
  const aclDataType type = promoted(left.type, right.type);
  if (isFloat(type))
    return computed(plan, "Trunc", combined(plan, "RealDiv", left, right));
  return combined(plan, "RealDiv",
                  combined(plan, "Sub", left, remainder(plan, left, right, /*isFmod=*/true)),
                  right);
}
static View quotientOfNumber(Plan &plan, const View &self, const aclScalar *other, int mode) {
  return quotient(plan, self, scalarLike(plan, other, "other", self), mode);
}
ACLNN_FUNCTION(DivMod, (const aclTensor *self, const aclTensor *other, int mode, aclTensor *out),
               out, quotient(plan, IN(self), IN(other), mode))
ACLNN_FUNCTION(DivMods, (const aclTensor *self, const aclScalar *other, int mode, aclTensor *out),
               out, quotientOfNumber(plan, IN(self), other, mode))
ACLNN_FUNCTION(InplaceDivMod, (aclTensor * selfRef, const aclTensor *other, int mode), selfRef,
               quotient(plan, IN(selfRef), IN(other), mode))
ACLNN_FUNCTION(InplaceDivMods, (aclTensor * selfRef, const aclScalar *other, int mode), selfRef,
               quotientOfNumber(plan, IN(selfRef), other, mode))

static View bitsOfNumber(Plan &plan, const char *op, const char *logical, const View &self,
                         const aclScalar *other) {
  return bits(plan, op, logical, self, scalarLike(plan, other, "other", self));
}
#define ACLNN_BITS(name, logical)                                                                  \
  ACLNN_FUNCTION(name##Tensor, (const aclTensor *self, const aclTensor *other, aclTensor *out),    \
                 out, bits(plan, #name, logical, IN(self), IN(other)))                             \
  ACLNN_FUNCTION(name##Scalar, (const aclTensor *self, const aclScalar *other, aclTensor *out),    \
                 out, bitsOfNumber(plan, #name, logical, IN(self), other))                         \
  ACLNN_FUNCTION(Inplace##name##Tensor, (aclTensor * selfRef, const aclTensor *other), selfRef,    \
                 bits(plan, #name, logical, IN(selfRef), IN(other)))                               \
  ACLNN_FUNCTION(Inplace##name##Scalar, (aclTensor * selfRef, const aclScalar *other), selfRef,    \
                 bitsOfNumber(plan, #name, logical, IN(selfRef), other))
ACLNN_BITS(BitwiseAnd, "LogicalAnd")
ACLNN_BITS(BitwiseOr, "LogicalOr")
ACLNN_BITS(BitwiseXor, "Xor")

static View logicalXor(Plan &plan, const View &left, const View &right) {
  return combined(plan, "Xor", plan.dense(left, ACL_BOOL), plan.dense(right, ACL_BOOL));
}
ACLNN_FUNCTION(LogicalXor, (const aclTensor *self, const aclTensor *other, aclTensor *out), out,
               logicalXor(plan, IN(self), IN(other)))
ACLNN_FUNCTION(Atan2, (const aclTensor *self, const aclTensor *other, aclTensor *out), out,
               combined(plan, "Atan2", IN(self), IN(other), true))
ACLNN_FUNCTION(InplaceAtan2, (aclTensor * selfRef, const aclTensor *other), selfRef,
               combined(plan, "Atan2", IN(selfRef), IN(other), true))

ACLNN_FUNCTION(LogAddExp, (const aclTensor *self, const aclTensor *other, aclTensor *out), out,
               logOfSum(plan, IN(self), IN(other), 1))
ACLNN_FUNCTION(LogAddExp2, (const aclTensor *self, const aclTensor *other, aclTensor *out), out,
               logOfSum(plan, IN(self), IN(other), std::log(2.0)))
ACLNN_FUNCTION(XLogYTensor, (const aclTensor *self, const aclTensor *other, aclTensor *out), out,
               combined(plan, "Xlogy", IN(self), IN(other), true))
ACLNN_FUNCTION(InplaceXLogYTensor, (aclTensor * selfRef, const aclTensor *other), selfRef,
               combined(plan, "Xlogy", IN(selfRef), IN(other), true))
ACLNN_FUNCTION(Heaviside, (const aclTensor *self, const aclTensor *values, aclTensor *out), out,
               step(plan, IN(self), IN(values)))
ACLNN_FUNCTION(PowTensorTensor, (const aclTensor *self, const aclTensor *exponent, aclTensor *out),
               out, power(plan, IN(self), IN(exponent)))
ACLNN_FUNCTION(PowTensorScalar, (const aclTensor *self, const aclScalar *exponent, aclTensor *out),
               out, powerOfNumber(plan, IN(self), exponent))
static View numberToPower(Plan &plan, const aclScalar *self, const View &exponent) {
  return power(plan, scalarLike(plan, self, "self", exponent), exponent);
}
ACLNN_FUNCTION(PowScalarTensor, (const aclScalar *self, const aclTensor *exponent, aclTensor *out),
               out, numberToPower(plan, self, IN(exponent)))
ACLNN_FUNCTION(InplacePowTensorTensor, (aclTensor * selfRef, const aclTensor *exponent), selfRef,
               power(plan, IN(selfRef), IN(exponent)))
ACLNN_FUNCTION(InplacePowTensorScalar, (aclTensor * selfRef, const aclScalar *exponent), selfRef,
               powerOfNumber(plan, IN(selfRef), exponent))
ACLNN_FUNCTION(InplaceAddcmul,
               (aclTensor * selfRef, const aclTensor *tensor1, const aclTensor *tensor2,
                const aclScalar *value),
               selfRef,
               added(plan, "Mul", IN(selfRef), IN(tensor1), IN(tensor2),
                     plan.number(value, "value")))
ACLNN_FUNCTION(InplaceAddcdiv,
               (aclTensor * selfRef, const aclTensor *tensor1, const aclTensor *tensor2,
                const aclScalar *value),
               selfRef,
               added(plan, "RealDiv", IN(selfRef), IN(tensor1), IN(tensor2),
                     plan.number(value, "value")))
