//===-- ImportQuant.cpp - quantized tensors and integer products ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h"

using namespace mlir;
using llvm::APFloat;

namespace atc::onnx_import {
namespace {

using graph::ReduceKind;

Type f32(NodeContext &n) { return Float32Type::get(n.builder().getContext()); }
Type i32(NodeContext &n) { return n.builder().getI32Type(); }

/// A scale or zero point, shaped so that it broadcasts over a tensor of `rank`
/// dims: one number, or one for each index of `axis`.
Value parameter(NodeContext &n, unsigned index, int64_t axis, int64_t rank) {
  Value value = n.optionalInput(index);
  if (!value || n.failed())
    return {};
  if (cast<RankedTensorType>(value.getType()).getNumElements() == 1)
    return n.reshape(value, {});
  if (n.rank(value) != 1) {
    n.failInput(index, "has rank " + Twine(n.rank(value)) + ", expected one number or a vector");
    return {};
  }
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = n.shape(value)[0];
  return n.reshape(value, shape);
}

int64_t quantAxis(NodeContext &n, Value input, unsigned scaleIndex) {
  int64_t axis = n.intAttr("axis", 1);
  Value scale = n.input(scaleIndex);
  // With one number there is nothing to place.
  if (n.failed() || cast<RankedTensorType>(scale.getType()).getNumElements() == 1)
    return 0;
  return n.normalizeAxis(axis, n.rank(input));
}

void refuseBlocks(NodeContext &n) {
  if (n.intAttr("block_size", 0) != 0)
    n.failAttribute("block_size", "blocks are not supported");
}

/// saturate(round(x) + zeroPoint) as numbers of `type`; x and result are f32.
Value saturate(NodeContext &n, Value scaled, Value zeroPoint, Type type) {
  auto integer = dyn_cast_or_null<IntegerType>(type);
  if (!n.failed() && (!integer || integer.getWidth() > 16 || integer.getWidth() < 8))
    n.failNode("gives an element type that is not supported; expected 8 or 16 bit integers");
  if (n.failed())
    return {};
  unsigned width = integer.getWidth();
  double least = integer.isUnsigned() ? 0 : -static_cast<double>(1 << (width - 1));
  double most = least + (1 << width) - 1;
  Value rounded = n.create<graph::RoundOp>(scaled);
  if (zeroPoint)
    rounded = n.add(rounded, n.cast(zeroPoint, f32(n)));
  return n.cast(n.create<graph::ClipOp>(rounded, APFloat(least), APFloat(most)), type);
}

void importQuantizeLinear(NodeContext &n) {
  Value input = n.input(0);
  refuseBlocks(n);
  n.ignoreAttr("saturate"); // of 8-bit floats
  if (n.failed())
    return;
  int64_t axis = quantAxis(n, input, 1), rank = n.rank(input);
  Value scale = parameter(n, 1, axis, rank), zeroPoint = parameter(n, 2, axis, rank);
  int64_t wanted = n.intAttr("output_dtype", 0);
  if (n.failed())
    return;
  MLIRContext *context = n.builder().getContext();
  Type type = IntegerType::get(context, 8, IntegerType::Unsigned);
  if (zeroPoint)
    type = n.elementType(zeroPoint);
  else if (wanted != 0)
    type = convertElementType(static_cast<int32_t>(wanted), context);
  Value scaled = n.div(n.cast(input, f32(n)), n.cast(scale, f32(n)));
  n.setOutput(saturate(n, scaled, zeroPoint, type));
}

void importDequantizeLinear(NodeContext &n) {
  Value input = n.input(0);
  refuseBlocks(n);
  n.ignoreAttr("output_dtype"); // the scale's type stands for it
  if (n.failed())
    return;
  int64_t axis = quantAxis(n, input, 1), rank = n.rank(input);
  Value scale = parameter(n, 1, axis, rank), zeroPoint = parameter(n, 2, axis, rank);
  Value centered = n.cast(input, i32(n));
  if (zeroPoint)
    centered = n.sub(centered, n.cast(zeroPoint, i32(n)));
  Value value = n.mul(n.cast(centered, f32(n)), n.cast(scale, f32(n)));
  n.setOutput(n.cast(value, n.elementType(scale)));
}

/// uint8 over the range of the elements and 0.
void importDynamicQuantizeLinear(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, n.rank(input)));
  Value zero = n.scalarLike(0, input);
  auto end = [&](ReduceKind kind) { return n.reduce(kind, input, axes, /*keepdims=*/false); };
  Value least = n.create<graph::MinOp>(end(ReduceKind::Min), zero);
  Value most = n.create<graph::MaxOp>(end(ReduceKind::Max), zero);
  Value range = n.div(n.sub(most, least), n.scalarLike(255, input));
  // All elements are 0: any scale will do.
  Value isFlat = n.create<graph::CompareOp>(range, zero, graph::ComparePredicate::Eq);
  Value scale = n.create<graph::WhereOp>(isFlat, n.scalarLike(1, input), range);
  Type u8 = IntegerType::get(n.builder().getContext(), 8, IntegerType::Unsigned);
  Value zeroPoint = saturate(n, n.div(n.create<graph::NegOp>(least), scale), Value(), u8);
  n.setOutput(0, saturate(n, n.div(input, scale), zeroPoint, u8));
  n.setOutput(1, scale);
  n.setOutput(2, zeroPoint);
}

/// An integer operand of a product less its zero point, as int32.
Value centered(NodeContext &n, unsigned index, unsigned zeroIndex, int64_t axisFromEnd) {
  Value value = n.input(index);
  if (n.failed())
    return {};
  int64_t rank = n.rank(value);
  Value zeroPoint = parameter(n, zeroIndex, std::max<int64_t>(rank - axisFromEnd, 0), rank);
  value = n.cast(value, i32(n));
  return zeroPoint ? n.sub(value, n.cast(zeroPoint, i32(n))) : value;
}

void importMatMulInteger(NodeContext &n) {
  Value lhs = centered(n, 0, 2, 2), rhs = centered(n, 1, 3, 1);
  n.setOutput(n.create<graph::MatMulOp>(lhs, rhs));
}

/// The product in integers, then to the scale of the result.
void importQLinearMatMul(NodeContext &n) {
  Value lhs = centered(n, 0, 2, 2), rhs = centered(n, 3, 5, 1);
  if (n.failed())
    return;
  int64_t lhsRank = n.rank(lhs), rhsRank = n.rank(rhs);
  Value product = n.create<graph::MatMulOp>(lhs, rhs);
  if (n.failed())
    return;
  int64_t rank = n.rank(product);
  Value lhsScale = parameter(n, 1, std::max<int64_t>(lhsRank - 2, 0), lhsRank);
  Value rhsScale = parameter(n, 4, std::max<int64_t>(rhsRank - 1, 0), rhsRank);
  Value scale = parameter(n, 6, std::max<int64_t>(rank - 2, 0), rank);
  n.input(7);
  Value zeroPoint = parameter(n, 7, std::max<int64_t>(rank - 2, 0), rank);
  if (n.failed())
    return;
  Value factor =
      n.div(n.mul(n.cast(lhsScale, f32(n)), n.cast(rhsScale, f32(n))), n.cast(scale, f32(n)));
  Value scaled = n.mul(n.cast(product, f32(n)), factor);
  n.setOutput(saturate(n, scaled, zeroPoint, n.elementType(zeroPoint)));
}

} // namespace

ArrayRef<OpRow> quantRows() {
  static constexpr llvm::StringLiteral noBlocks = "8 and 16 bit integers; no blocks";
  static const OpRow rows[] = {
      {"DequantizeLinear", 10, latestOpset, importDequantizeLinear, "no blocks"},
      {"DynamicQuantizeLinear", 11, latestOpset, importDynamicQuantizeLinear},
      {"MatMulInteger", 10, latestOpset, importMatMulInteger},
      {"QLinearMatMul", 10, latestOpset, importQLinearMatMul},
      {"QuantizeLinear", 10, latestOpset, importQuantizeLinear, noBlocks},
  };
  return rows;
}

} // namespace atc::onnx_import
