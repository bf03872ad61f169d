//===-- AngleFunctions.cpp - inverse and hyperbolic functions of a plan -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formulas of VectorPlan for functions without an instruction. All are computed in f32: their
// results are as accurate as f32 is next to the largest one, and small ones of atan, asin, sinh and
// those of operands near 1 of acos lose nothing.
//
//===----------------------------------------------------------------------===//

#include "passes/npu/vector/VectorPlan.h"

#include <cmath>

namespace atc::npu {

/// Where the square of an operand leaves the range of f32 its logarithm is that of twice itself.
static constexpr double kLarge = 1e9;

int VectorPlan::copySign(int a, int b) {
  double magnitude;
  int x = isConstant(a, &magnitude) ? constant(std::abs(magnitude)) : unary(VectorOp::Abs, a);
  int minus = isConstant(x, &magnitude) ? constant(-magnitude) : unary(VectorOp::Neg, x);
  return select(binary(VectorOp::Less, b, constant(0)), minus, x);
}

/// Computes the polynomial with these factors, that of the highest power first.
int VectorPlan::polynomial(int x, llvm::ArrayRef<double> factors) {
  int sum = constant(factors.front());
  for (double factor : factors.drop_front())
    sum = add(mul(sum, x), constant(factor));
  return sum;
}

/// Computes a polynomial of the square for operands up to 1, the rest of a quarter of a turn for
/// the reciprocals of others.
int VectorPlan::arcTangent(int a) {
  constexpr double factors[] = {0.0028662257,  -0.0161657367, 0.0429096138,
                                -0.0752896400, 0.1065626393,  -0.1420889944,
                                0.1999355085,  -0.3333314528, 1};
  int x = unary(VectorOp::Abs, a);
  int isLarge = binary(VectorOp::Less, constant(1), x);
  int part = select(isLarge, unary(VectorOp::Reciprocal, x), x);
  int angle = mul(part, polynomial(mul(part, part), factors));
  angle = select(isLarge, sub(constant(M_PI_2), angle), angle);
  return inFloat(copySign(angle, a));
}

int VectorPlan::arcSine(int a) {
  int rest = mul(sub(constant(1), a), add(a, constant(1)));
  return arcTangent(div(a, unary(VectorOp::Sqrt, rest)));
}

int VectorPlan::arcCosine(int a) {
  int ratio = div(sub(constant(1), a), add(a, constant(1)));
  return inFloat(mul(arcTangent(unary(VectorOp::Sqrt, ratio)), constant(2)));
}

/// Computes half of the difference (the sum, for a cosine) of e^x and its reciprocal; by its series
/// where little would be left of a difference.
int VectorPlan::hyperbolic(int a, bool isCosine) {
  int power = unary(VectorOp::Exp, a);
  int other = unary(VectorOp::Reciprocal, power);
  int result = mul(isCosine ? add(power, other) : sub(power, other), constant(0.5));
  if (!isCosine) {
    constexpr double factors[] = {1. / 362880, 1. / 5040, 1. / 120, 1. / 6, 1};
    int series = mul(a, polynomial(mul(a, a), factors));
    int isSmall = binary(VectorOp::Less, unary(VectorOp::Abs, a), constant(1));
    result = select(isSmall, series, result);
  }
  return inFloat(result);
}

/// Computes ln(x + sqrt(x^2 + 1)) with the sign of the operand (ln(x + sqrt(x^2 - 1)) for a
/// cosine).
int VectorPlan::arcHyperbolic(int a, bool isCosine) {
  auto root = [&](int x) { return unary(VectorOp::Sqrt, x); };
  auto sumWith = [&](int x, int other) { return unary(VectorOp::Ln, add(x, other)); };
  // The product of the roots is a number for each operand that has a result, and for no other.
  if (isCosine)
    return inFloat(sumWith(a, mul(root(sub(a, constant(1))), root(add(a, constant(1))))));
  int x = unary(VectorOp::Abs, a);
  int value = sumWith(x, root(add(mul(x, x), constant(1))));
  int large = add(unary(VectorOp::Ln, x), constant(M_LN2));
  value = select(binary(VectorOp::Less, constant(kLarge), x), large, value);
  return inFloat(copySign(value, a));
}

int VectorPlan::arcHyperbolicTangent(int a) {
  int ratio = div(add(a, constant(1)), sub(constant(1), a));
  return inFloat(mul(unary(VectorOp::Ln, ratio), constant(0.5)));
}

} // namespace atc::npu
