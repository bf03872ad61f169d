//===-- ImportQuant.cpp - quantized tensors and integer products ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h"
#include "frontends/onnx/ops/QuantValues.h"
#include "frontends/onnx/ops/Window.h"

#include "dialects/graph/ConstantData.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace atc::onnx_import {
namespace {

using graph::ReduceKind;

int64_t quantAxis(NodeContext &n, Value input, unsigned scaleIndex) {
  int64_t axis = n.intAttr("axis", 1);
  Value scale = n.input(scaleIndex);
  // A single value needs no reshape.
  if (n.failed() || cast<RankedTensorType>(scale.getType()).getNumElements() == 1)
    return 0;
  return n.normalizeAxis(axis, n.rank(input));
}

void refuseBlocks(NodeContext &n) {
  if (n.intAttr("block_size", 0) != 0)
    n.failAttribute("block_size", "blocks are not supported");
}

/// Returns the type that the attribute "output_dtype" names; null where there is none. One that is
/// not among `Types` is an error.
template <typename... Types> Type outputType(NodeContext &n) {
  const int64_t wanted = n.intAttr("output_dtype", 0);
  if (n.failed() || wanted == 0)
    return {};
  Type type = convertElementType(wanted, n.builder().getContext());
  if (!isa_and_nonnull<Types...>(type))
    n.failAttribute("output_dtype", nameElementType(wanted) + " is not supported");
  return type;
}

void importQuantizeLinear(NodeContext &n) {
  Value input = n.input(0);
  refuseBlocks(n);
  n.boolAttr("saturate", true); // of 8-bit floats
  const Type wanted = outputType<IntegerType, FloatType>(n);
  if (n.failed())
    return;
  int64_t axis = quantAxis(n, input, 1), rank = n.rank(input);
  Type type = IntegerType::get(n.builder().getContext(), 8, IntegerType::Unsigned);
  if (n.hasInput(2))
    type = n.elementType(n.input(2));
  else if (wanted)
    type = wanted;
  if (Type known = knownType(n, 1, 2, type, axis, /*perAxis=*/false);
      known && n.elementType(input).isF32())
    return n.setOutput(quantize(n, input, known));
  Value scale = parameter(n, 1, axis, rank), zeroPoint = parameter(n, 2, axis, rank);
  if (n.failed())
    return;
  Value scaled = n.div(n.cast(input, f32(n)), n.cast(scale, f32(n)));
  n.setOutput(saturate(n, scaled, zeroPoint, type));
}

void importDequantizeLinear(NodeContext &n) {
  Value input = n.input(0);
  refuseBlocks(n);
  // The scale's type, unless another one is asked for.
  const Type wanted = outputType<Float16Type, BFloat16Type, Float32Type, Float64Type>(n);
  if (n.failed())
    return;
  int64_t axis = quantAxis(n, input, 1), rank = n.rank(input);
  if (Type known = knownType(n, 1, 2, n.elementType(input), axis, n.isConstantInput(0)))
    return n.setOutput(n.cast(dequantize(n, input, known), wanted ? wanted : f32(n)));
  Value scale = parameter(n, 1, axis, rank), zeroPoint = parameter(n, 2, axis, rank);
  Value centered = n.cast(input, i32(n));
  if (zeroPoint)
    centered = n.sub(centered, n.cast(zeroPoint, i32(n)));
  Value value = n.mul(n.cast(centered, f32(n)), n.cast(scale, f32(n)));
  n.setOutput(n.cast(value, wanted ? wanted : n.elementType(scale)));
}

/// uint8 over the range of the elements and 0.
void importDynamicQuantizeLinear(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, n.rank(input)));
  Value zero = n.scalarLike(0, input);
  auto end = [&](ReduceKind kind) { return n.reduce(kind, input, axes, /*keepdims=*/false); };
  Value min = n.create<graph::MinOp>(end(ReduceKind::Min), zero);
  Value max = n.create<graph::MaxOp>(end(ReduceKind::Max), zero);
  Value range = n.div(n.sub(max, min), n.scalarLike(255, input));
  // All elements are 0: any scale will do.
  Value isFlat = n.create<graph::CompareOp>(range, zero, graph::ComparePredicate::Eq);
  Value scale = n.create<graph::WhereOp>(isFlat, n.scalarLike(1, input), range);
  Type u8 = IntegerType::get(n.builder().getContext(), 8, IntegerType::Unsigned);
  Value zeroPoint = saturate(n, n.div(n.create<graph::NegOp>(min), scale), Value(), u8);
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

/// Returns the zero point of an input of an integer product; nothing where it is not a single
/// constant.
std::optional<SmallVector<int64_t>> knownZeros(NodeContext &n, unsigned index) {
  if (!n.hasInput(index))
    return SmallVector<int64_t>{0};
  if (!n.isConstantInput(index))
    return std::nullopt;
  return n.constantInts(index);
}

/// Returns the zero points of a filter: one per output, none where all are 0; nothing where they
/// are not known.
std::optional<SmallVector<int64_t>> filterZeros(NodeContext &n, unsigned index, int64_t outputs) {
  std::optional<SmallVector<int64_t>> zeros = knownZeros(n, index);
  if (!zeros)
    return std::nullopt;
  if (llvm::all_of(*zeros, [](int64_t zero) { return zero == 0; }))
    zeros->clear();
  else if (zeros->size() == 1)
    zeros->resize(outputs, zeros->front());
  return zeros;
}

/// Returns the sum of each column of `matrix` [K, N], 8-bit integers `known`, less the column's
/// zero point (`zeros` as filterZeros returns them), as i32 [N]. Fails the node where there are no
/// bytes.
Value columnSums(NodeContext &n, Value matrix, ElementsAttr known, ArrayRef<int64_t> zeros) {
  const int64_t rows = n.shape(matrix)[0], columns = n.shape(matrix)[1];
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(known);
  if (failed(bytes)) {
    n.failInput(1, "has no data");
    return {};
  }
  // Sums wrap as the products do: uint32 keeps that defined.
  SmallVector<uint32_t> sums(columns, 0);
  const bool isUnsigned = n.elementType(matrix).isUnsignedInteger();
  ArrayRef<uint8_t> elements = bytes->expandedAs<uint8_t>();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      const uint8_t element = elements[row * columns + column];
      sums[column] += isUnsigned ? uint32_t(element) : uint32_t(int32_t(int8_t(element)));
    }
  for (auto [sum, zero] : llvm::zip(sums, zeros))
    sum -= uint32_t(zero) * uint32_t(rows);
  return n.constant(
      graph::makeConstant(n.tensor({columns}, i32(n)), ArrayRef<uint32_t>(sums), "column_sums"));
}

void importMatMulInteger(NodeContext &n) {
  bool is8Bit = true;
  for (unsigned index : {0u, 1u}) {
    Value value = n.input(index);
    is8Bit &= !n.failed() && n.elementType(value).isInteger(8);
  }
  if (n.failed())
    return;
  // A constant matrix is contracted in 8 bits.
  Value input = n.input(0), matrix = n.input(1);
  ElementsAttr known;
  std::optional<SmallVector<int64_t>> zeros;
  if (is8Bit && n.rank(matrix) == 2 && n.rank(input) >= 1 &&
      matchPattern(matrix, m_Constant(&known)))
    zeros = filterZeros(n, 3, n.shape(matrix)[1]);
  if (zeros) {
    SmallVector<int64_t> shape(n.shape(input));
    shape.back() = n.shape(matrix)[1];
    std::optional<SmallVector<int64_t>> zero = knownZeros(n, 2);
    const bool isFolded = zero && zero->size() == 1;
    Value filter = n.transpose(matrix, {1, 0});
    Value sums = n.createTyped<graph::IntegerFullyConnectedOp>(
        shape, i32(n), input, filter, Value(), ValueRange(), isFolded ? zero->front() : 0, *zeros);
    if (n.failed() || isFolded)
      return n.setOutput(sums);
    // (x - z) * w = x * w - z * (sum of w): a zero point that dynamic quantization computes, or one
    // per row, costs one multiplication per result.
    const int64_t rank = n.rank(input);
    Value inputZeros = parameter(n, 2, std::max<int64_t>(rank - 2, 0), rank);
    Value excess = columnSums(n, matrix, known, *zeros);
    if (n.failed())
      return;
    return n.setOutput(n.sub(sums, n.mul(n.cast(inputZeros, i32(n)), excess)));
  }
  Value lhs = centered(n, 0, 2, 2), rhs = centered(n, 1, 3, 1);
  n.setOutput(n.create<graph::MatMulOp>(lhs, rhs));
}

/// The product in integers, then to the scale of the result.
void importQLinearMatMul(NodeContext &n) {
  for (unsigned index : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u})
    n.input(index);
  if (n.failed())
    return;
  // Dequantize, matmul and quantize are equivalent to this operator, and a pass converts products
  // with a constant matrix to integers.
  Value lhs = n.input(0), rhs = n.input(3);
  const bool isMatrix = n.isConstantInput(3) && n.rank(rhs) == 2;
  Type lhsType = knownType(n, 1, 2, n.elementType(lhs), 0, /*perAxis=*/false);
  Type rhsType = knownType(n, 4, 5, n.elementType(rhs), 1, /*perAxis=*/isMatrix);
  Type type = knownType(n, 6, 7, n.elementType(n.input(7)), 0, /*perAxis=*/false);
  if (lhsType && rhsType && type)
    return n.setOutput(quantize(
        n, n.create<graph::MatMulOp>(dequantize(n, lhs, lhsType), dequantize(n, rhs, rhsType)),
        type));
  lhs = centered(n, 0, 2, 2);
  rhs = centered(n, 3, 5, 1);
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

/// Sums of a filter that is known.
void importConvInteger(NodeContext &n) {
  n.requireRank(0, 4, 4);
  n.requireRank(1, 4, 4);
  if (n.failed())
    return;
  Value input = n.input(0), filter = n.input(1);
  int64_t groups = n.intAttr("group", 1);
  std::optional<Window> window = readWindow(n, 2, n.shape(filter).drop_front(2));
  std::optional<SmallVector<int64_t>> zero = knownZeros(n, 2);
  std::optional<SmallVector<int64_t>> zeros = filterZeros(n, 3, n.shape(filter)[0]);
  if (n.failed() || !window)
    return;
  if (!n.isConstantInput(1))
    return n.failInput(1, "must be known at compile time, but depends on the inputs of the model");
  if (!zero || zero->size() != 1 || !zeros)
    return n.failNode("needs zero points that are known at compile time");
  resolveAutoPad(*window, n.shape(input).drop_front(2));
  SmallVector<int64_t> shape{n.shape(input)[0], n.shape(filter)[0]};
  for (unsigned d : {0u, 1u}) {
    int64_t padded = n.shape(input)[2 + d] + window->pads[d] + window->pads[2 + d];
    if (padded < window->extent(d))
      return n.failInput(1, "has a kernel larger than the padded input");
    shape.push_back((padded - window->extent(d)) / window->strides[d] + 1);
  }
  n.setOutput(n.createTyped<graph::IntegerConvOp>(
      shape, i32(n), input, filter, Value(), ValueRange(), zero->front(), *zeros, window->strides,
      window->pads, window->dilations, groups));
}

/// dequantize, conv, quantize: what that means is exactly this operator, and a
/// pass makes integers of it.
void importQLinearConv(NodeContext &n) {
  for (unsigned index : {0u, 3u})
    n.requireRank(index, 3, 5);
  if (n.failed())
    return;
  Value input = n.input(0), filter = n.input(3), bias = n.optionalInput(8);
  for (unsigned index : {1u, 2u, 4u, 5u, 6u, 7u})
    n.input(index);
  int64_t rank = n.rank(input), groups = n.intAttr("group", 1);
  ArrayRef<int64_t> kernel = n.shape(filter).drop_front(2);
  std::optional<Window> window = readWindow(n, rank - 2, kernel);
  if (n.failed() || !window)
    return;
  resolveAutoPad(*window, n.shape(input).drop_front(2));
  Type inputType = knownType(n, 1, 2, n.elementType(input), 0, false);
  Type filterType = knownType(n, 4, 5, n.elementType(filter), 0, true);
  Type outputType = knownType(n, 6, 7, n.elementType(n.input(7)), 0, false);
  if (n.failed())
    return;
  if (!inputType || !filterType || !outputType)
    return n.failNode("needs scales and zero points that are known at compile time, and 8-bit "
                      "integers");
  Value realBias = bias ? dequantizeBias(n, bias, inputType, filterType) : Value();
  Value sum = n.create<graph::ConvOp>(
      dequantize(n, input, inputType), dequantize(n, filter, filterType), realBias,
      /*residual=*/Value(), /*slope=*/Value(), window->strides, window->pads, window->dilations,
      groups, graph::ActivationAttr());
  n.setOutput(quantize(n, sum, outputType));
}

} // namespace

ArrayRef<OpRow> quantRows() {
  static constexpr llvm::StringLiteral noBlocks = "8 and 16 bit integers; no blocks";
  static constexpr llvm::StringLiteral known = "zero points and filter known at compile time";
  static const OpRow rows[] = {
      {"ConvInteger", 10, latestOpset, importConvInteger, known},
      {"DequantizeLinear", 10, latestOpset, importDequantizeLinear, "no blocks"},
      {"DynamicQuantizeLinear", 11, latestOpset, importDynamicQuantizeLinear},
      {"MatMulInteger", 10, latestOpset, importMatMulInteger},
      {"QLinearConv", 10, latestOpset, importQLinearConv, "scales and zero points known"},
      {"QLinearMatMul", 10, latestOpset, importQLinearMatMul},
      {"QuantizeLinear", 10, latestOpset, importQuantizeLinear, noBlocks},
      // ONNX Runtime had 16-bit integers before the standard operators.
      {"com.microsoft.DequantizeLinear", 7, latestOpset, importDequantizeLinear},
      {"com.microsoft.QuantizeLinear", 7, latestOpset, importQuantizeLinear},
  };
  return rows;
}

} // namespace atc::onnx_import
