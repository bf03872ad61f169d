//===-- ScalarMath.cpp - formulas of activations as arith and math -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/scalar/ScalarBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;

bool atc::graph::isFloatScalar(Value scalar) {
  return isa<FloatType>(getElementTypeOrSelf(scalar.getType()));
}

bool atc::graph::hasUnsignedElements(Value tensor) {
  Type type = getElementTypeOrSelf(tensor.getType());
  return type.isUnsignedInteger() || type.isInteger(1);
}

namespace atc::graph {

llvm::APInt saturateToInteger(double value, unsigned width, bool isUnsigned) {
  // convertToInteger clamps to the range and makes NaN 0.
  llvm::APSInt integer(width, isUnsigned);
  bool exact;
  llvm::APFloat(value).convertToInteger(integer, llvm::APFloat::rmTowardZero, &exact);
  return integer;
}

Value buildScalarConstant(OpBuilder &builder, Location loc, Type like, double value,
                          bool isUnsigned) {
  Type element = getElementTypeOrSelf(like);
  TypedAttr attr;
  if (auto type = dyn_cast<FloatType>(element)) {
    llvm::APFloat number(value);
    bool losesInfo;
    number.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    attr = FloatAttr::get(type, number);
  } else {
    attr = IntegerAttr::get(element,
                            saturateToInteger(value, element.getIntOrFloatBitWidth(), isUnsigned));
  }
  if (auto vector = dyn_cast<ShapedType>(like))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}

// For x far below 0 e^-x is infinite and the quotient 0, as it should be.
Value ScalarBuilder::sigmoid(Value x) const { return div(constant(x, 1.0), add(exp(neg(x)), 1.0)); }

Value ScalarBuilder::silu(Value x) const { return div(x, add(exp(neg(x)), 1.0)); }

// max(x, 0) + ln(1 + e^-|x|): the exponential cannot overflow.
Value ScalarBuilder::softplus(Value x) const {
  Value tail = op<math::LogOp>(add(exp(neg(abs(x))), 1.0));
  return op<arith::AddFOp>(max(x, 0.0), tail);
}

// With t = e^-|x|: tanh(ln(1 + e^x)) = n / d, where for x >= 0 (both divided by
// e^2x) n = 1 + 2t, d = 1 + 2t(t + 1), and for x < 0 n = t(t + 2), d = n + 2. One
// exponential, one division, nothing overflows; no square of t, which would underflow.
Value ScalarBuilder::mish(Value x) const {
  Value t = exp(neg(abs(x)));
  Value isPositive = compare(arith::CmpFPredicate::OGE, x, 0.0);
  Value product = mul(t, add(t, select(isPositive, constant(x, 1.0), constant(x, 2.0))));
  Value n = select(isPositive, add(add(t, t), 1.0), product);
  Value d = select(isPositive, add(add(product, product), 1.0), add(product, 2.0));
  return mul(x, div(n, d));
}

Value ScalarBuilder::hardSigmoid(Value x, double alpha, double beta) const {
  return clip(add(mul(x, alpha), beta), 0.0, 1.0);
}

Value ScalarBuilder::hardSwish(Value x) const { return mul(x, hardSigmoid(x, 1.0 / 6.0, 0.5)); }

Value ScalarBuilder::gelu(Value x, bool approximate) const {
  Value cdf;
  if (approximate) {
    // 1 + tanh(u) = 2 sigmoid(2u), u = sqrt(2 / pi) (x + 0.044715 x^3).
    Value cubic = add(mul(mul(x, x), 0.044715), 1.0);
    cdf = sigmoid(mul(mul(x, cubic), 2.0 * std::sqrt(M_2_PI)));
  } else {
    cdf = mul(add(op<math::ErfOp>(mul(x, M_SQRT1_2)), 1.0), 0.5);
  }
  return mul(x, cdf);
}

Value ScalarBuilder::clip(Value x, double low, double high) const {
  // An end that is no bound costs nothing.
  if (low > -std::numeric_limits<double>::infinity())
    x = max(x, low);
  if (high < std::numeric_limits<double>::infinity())
    x = min(x, high);
  return x;
}

Value ScalarBuilder::belowZero(Value x, Value below) const {
  return select(compare(arith::CmpFPredicate::OLT, x, 0.0), below, x);
}

Value ScalarBuilder::prelu(Value x, Value slope) const { return belowZero(x, mul(x, slope)); }

Value buildActivation(OpBuilder &builder, Location loc, ActivationAttr activation, Value x,
                      Value slope) {
  ScalarBuilder s{builder, loc};
  double alpha = activation.getAlpha(), beta = activation.getBeta();
  switch (activation.getKind()) {
  case ActivationKind::Relu:
    return s.max(x, 0.0);
  case ActivationKind::Clip:
    return s.clip(x, alpha, beta);
  case ActivationKind::LeakyRelu:
    return s.belowZero(x, s.mul(x, alpha));
  case ActivationKind::PRelu:
    return s.prelu(x, slope);
  case ActivationKind::HardSwish:
    return s.hardSwish(x);
  case ActivationKind::HardSigmoid:
    return s.hardSigmoid(x, alpha, beta);
  case ActivationKind::Sigmoid:
    return s.sigmoid(x);
  case ActivationKind::Silu:
    return s.silu(x);
  case ActivationKind::Mish:
    return s.mish(x);
  case ActivationKind::Tanh:
    return s.op<math::TanhOp>(x);
  case ActivationKind::Gelu:
    return s.gelu(x, alpha != 0.0);
  }
  return x;
}

} // namespace atc::graph
