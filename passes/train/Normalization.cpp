//===-- Normalization.cpp - gradients of normalizations -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/Normalization.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace atc::graph;

namespace atc::train {

/// Returns the mean of `input` that `value` is, with the reduced dims kept.
static ReduceOp meanOf(Value value) {
  auto mean = value.getDefiningOp<ReduceOp>();
  return mean && mean.getKind() == ReduceKind::Mean && mean.getKeepdims() ? mean : ReduceOp();
}

/// Returns whether a value is an f32 constant of one element, or of equal ones, that is 2.
static bool isTwo(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant || !typeOf(value).getElementType().isF32())
    return false;
  auto bytes = ConstantBytes::get(constant.getValue());
  return succeeded(bytes) && bytes->as<float>().size() == 1 && bytes->as<float>()[0] == 2.0f;
}

/// Returns whether `value` is the square of `base`.
static bool isSquare(Value value, Value base) {
  if (auto product = value.getDefiningOp<MulOp>())
    return product.getLhs() == base && product.getRhs() == base;
  auto power = value.getDefiningOp<PowOp>();
  return power && power.getLhs() == base && isTwo(power.getRhs());
}

/// Returns the axes of the mean of squares of `centered` that `value` is, plus a constant.
static std::optional<SmallVector<int64_t>> varianceAxes(Value value, Value centered) {
  auto sum = value.getDefiningOp<AddOp>();
  if (!sum)
    return std::nullopt;
  for (auto [part, epsilon] :
       {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
    if (auto mean = meanOf(part);
        mean && isConstant(epsilon) && isSquare(mean.getInput(), centered))
      return SmallVector<int64_t>(mean.getAxes());
  return std::nullopt;
}

/// Returns a normalization where `centered` is x - mean(x), and `scale` of its variance.
static std::optional<Normalization> matchFactors(Operation *op, Value centered, Value scale,
                                                 bool divides) {
  auto difference = centered.getDefiningOp<SubOp>();
  ReduceOp mean = difference ? meanOf(difference.getRhs()) : ReduceOp();
  if (!mean || mean.getInput() != difference.getLhs() ||
      centered.getType() != op->getResult(0).getType())
    return std::nullopt;
  Value variance;
  if (auto root = scale.getDefiningOp<RsqrtOp>(); root && !divides)
    variance = root.getInput();
  if (auto root = scale.getDefiningOp<SqrtOp>(); root && divides)
    variance = root.getInput();
  if (auto inverse = scale.getDefiningOp<ReciprocalOp>(); inverse && !divides)
    if (auto root = inverse.getInput().getDefiningOp<SqrtOp>())
      variance = root.getInput();
  auto axes = variance ? varianceAxes(variance, centered) : std::nullopt;
  if (!axes || *axes != SmallVector<int64_t>(mean.getAxes()))
    return std::nullopt;
  return Normalization{op, mean.getInput(), scale, divides, *axes};
}

std::optional<Normalization> matchNormalization(Operation *op) {
  if (auto quotient = dyn_cast<DivOp>(op))
    return matchFactors(op, quotient.getLhs(), quotient.getRhs(), /*divides=*/true);
  auto product = dyn_cast<MulOp>(op);
  if (!product)
    return std::nullopt;
  if (auto norm = matchFactors(op, product.getLhs(), product.getRhs(), /*divides=*/false))
    return norm;
  return matchFactors(op, product.getRhs(), product.getLhs(), /*divides=*/false);
}

/// Returns whether `value`, which broadcasts to `rank` dims, has one element along each of `axes`.
static bool isFixedAlong(Value value, ArrayRef<int64_t> axes, int64_t rank) {
  return llvm::all_of(axes, [&](int64_t axis) {
    const int64_t own = axis - (rank - rankOf(value));
    return own < 0 || shapeOf(value)[own] == 1;
  });
}

Value normalizationGradient(const GraphMath &g, const Normalization &norm, Value gradient) {
  Value result = norm.op->getResult(0);
  double count = 1;
  for (int64_t axis : norm.axes)
    count *= static_cast<double>(shapeOf(result)[axis]);
  // A factor per row, such as the scale of a batch norm, is multiplied behind the sums: these are
  // then the gradients of scale and bias, too.
  Value core = gradient, factor;
  while (auto product = core.getDefiningOp<MulOp>()) {
    Value inner = product.getLhs(), outer = product.getRhs();
    if (inner.getType() != result.getType())
      std::swap(inner, outer);
    if (inner.getType() != result.getType() || !isFixedAlong(outer, norm.axes, rankOf(result)))
      break;
    factor = factor ? g.mul(factor, outer) : outer;
    core = inner;
  }
  auto meanWith = [&](Value value) {
    Value sum = g.sum(value, norm.axes);
    return g.mul(factor ? g.mul(sum, factor) : sum, 1 / count);
  };
  Value mean = meanWith(core), slope = meanWith(g.mul(core, result));
  Value wide = factor ? g.mul(core, factor) : core;
  Value moved = g.sub(g.sub(wide, mean), g.mul(result, slope));
  return norm.divides ? g.div(moved, norm.scale) : g.mul(moved, norm.scale);
}

} // namespace atc::train
