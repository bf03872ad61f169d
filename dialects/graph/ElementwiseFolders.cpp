//===-- ElementwiseFolders.cpp - folds of elementwise ops ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/Graph.h"

using namespace mlir;
using namespace atc::graph;

/// True for a constant whose elements are all `expected`.
static bool isSplatOf(Attribute attribute, double expected) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().isExactlyValue(expected);
  if (auto type = dyn_cast<IntegerType>(dense.getElementType()); type && type.getWidth() > 1)
    return dense.getSplatValue<APInt>() == static_cast<uint64_t>(expected);
  return false;
}

/// `value` when `attribute` is the constant that changes nothing and the result
/// has the very type of `value` (no broadcast, no other layout).
static OpFoldResult foldNeutral(Value value, Attribute attribute, double neutral, Type result) {
  return value.getType() == result && isSplatOf(attribute, neutral) ? value : OpFoldResult();
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (auto folded = foldNeutral(getLhs(), adaptor.getRhs(), 0.0, getType()))
    return folded;
  return foldNeutral(getRhs(), adaptor.getLhs(), 0.0, getType());
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  return foldNeutral(getLhs(), adaptor.getRhs(), 0.0, getType());
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (auto folded = foldNeutral(getLhs(), adaptor.getRhs(), 1.0, getType()))
    return folded;
  return foldNeutral(getRhs(), adaptor.getLhs(), 1.0, getType());
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return foldNeutral(getLhs(), adaptor.getRhs(), 1.0, getType());
}

/// f(f(x)) = x
template <typename Op> static OpFoldResult foldInvolution(Op op) {
  auto inner = op.getInput().template getDefiningOp<Op>();
  return inner && inner.getInput().getType() == op.getType() ? inner.getInput() : OpFoldResult();
}

/// f(f(x)) = f(x)
template <typename Op> static OpFoldResult foldIdempotent(Op op) {
  auto inner = op.getInput().template getDefiningOp<Op>();
  return inner && inner.getType() == op.getType() ? inner.getResult() : OpFoldResult();
}

OpFoldResult NegOp::fold(FoldAdaptor) { return foldInvolution(*this); }
OpFoldResult NotOp::fold(FoldAdaptor) { return foldInvolution(*this); }
OpFoldResult AbsOp::fold(FoldAdaptor) { return foldIdempotent(*this); }
OpFoldResult ReluOp::fold(FoldAdaptor) { return foldIdempotent(*this); }

/// True when every value of type `from` is a value of type `to`.
static bool isLossless(Type from, Type to) {
  if (auto fromFloat = dyn_cast<FloatType>(from)) {
    auto toFloat = dyn_cast<FloatType>(to);
    return toFloat && llvm::APFloat::isRepresentableBy(fromFloat.getFloatSemantics(),
                                                       toFloat.getFloatSemantics());
  }
  auto fromInteger = cast<IntegerType>(from);
  unsigned width = fromInteger.getWidth();
  bool isUnsigned = fromInteger.isUnsigned() || width == 1;
  if (auto toFloat = dyn_cast<FloatType>(to))
    return toFloat.getFPMantissaWidth() >= width && toFloat.getWidth() >= 16;
  auto toInteger = cast<IntegerType>(to);
  if (toInteger.getWidth() == 1)
    return width == 1;
  if (isUnsigned)
    return toInteger.getWidth() > width ||
           (toInteger.getWidth() == width && toInteger.isUnsigned());
  return toInteger.getWidth() >= width && !toInteger.isUnsigned();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  // There and back again, through a type that loses nothing.
  auto inner = getInput().getDefiningOp<CastOp>();
  if (inner && inner.getInput().getType() == getType() &&
      isLossless(getType().getElementType(), inner.getType().getElementType()))
    return inner.getInput();
  return {};
}
