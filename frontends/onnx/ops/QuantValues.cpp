//===-- QuantValues.cpp - values of quantized operators -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/QuantValues.h"

#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/UnaryOps.h"

using namespace mlir;
using llvm::APFloat;

namespace atc::onnx_import {

Type f32(NodeContext &n) { return Float32Type::get(n.builder().getContext()); }
Type i32(NodeContext &n) { return n.builder().getI32Type(); }

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
  if (axis >= rank) {
    n.failInput(index, "has " + Twine(n.shape(value)[0]) + " elements for a scalar, expected one");
    return {};
  }
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = n.shape(value)[0];
  return n.reshape(value, shape);
}

Type knownType(NodeContext &n, unsigned scaleIndex, unsigned zeroIndex, Type stored, int64_t axis,
               bool perAxis) {
  auto integer = dyn_cast_or_null<IntegerType>(stored);
  Value scale = n.optionalInput(scaleIndex);
  if (n.failed() || !integer || !scale || !n.isConstantInput(scaleIndex) ||
      n.isRuntimeInput(zeroIndex) || !n.elementType(scale).isF32())
    return {};
  unsigned width = integer.getWidth();
  if (width != 8 && !(width == 32 && integer.isSignless()))
    return {};
  int64_t count = cast<RankedTensorType>(scale.getType()).getNumElements();
  if (count != 1 && (!perAxis || n.rank(scale) != 1))
    return {};
  SmallVector<float> scales;
  for (double value : n.constantFloats(scaleIndex).value_or(SmallVector<double>()))
    scales.push_back(static_cast<float>(value));
  SmallVector<int64_t> zeros(count, 0);
  if (n.hasInput(zeroIndex))
    zeros = n.constantInts(zeroIndex).value_or(SmallVector<int64_t>());
  if (n.failed())
    return {};
  if (zeros.size() == 1)
    zeros.resize(count, zeros[0]);
  return graph::getQuantType(integer, scales, zeros, count == 1 ? -1 : axis);
}

Value quantize(NodeContext &n, Value input, Type type) {
  if (n.failed())
    return {};
  SmallVector<int64_t> shape(n.shape(input));
  Value quantized = n.createTyped<graph::QuantizeOp>(shape, type, input);
  return n.createTyped<graph::StorageCastOp>(shape, graph::getStoredType(type), quantized);
}

Value dequantize(NodeContext &n, Value input, Type type) {
  if (n.failed())
    return {};
  SmallVector<int64_t> shape(n.shape(input));
  Value quantized = n.createTyped<graph::StorageCastOp>(shape, type, input);
  return n.createTyped<graph::DequantizeOp>(shape, f32(n), quantized);
}

Value dequantizeBias(NodeContext &n, Value bias, Type input, Type filter) {
  const float scale = graph::getQuantParams(input)->scale();
  SmallVector<float> scales = graph::getQuantParams(filter)->scales;
  for (float &own : scales)
    own *= scale;
  SmallVector<int64_t> zeros(scales.size(), 0);
  auto integer = cast<IntegerType>(i32(n));
  return dequantize(n, bias,
                    graph::getQuantType(integer, scales, zeros, scales.size() == 1 ? -1 : 0));
}

Value saturate(NodeContext &n, Value scaled, Value zeroPoint, Type type) {
  auto integer = dyn_cast_or_null<IntegerType>(type);
  if (!n.failed() && (!integer || integer.getWidth() > 16 || integer.getWidth() < 8))
    n.failNode("gives an element type that is not supported; expected 8 or 16 bit integers");
  if (n.failed())
    return {};
  unsigned width = integer.getWidth();
  double min = integer.isUnsigned() ? 0 : -static_cast<double>(1 << (width - 1));
  double max = min + (1 << width) - 1;
  Value rounded = n.create<graph::RoundOp>(scaled);
  if (zeroPoint)
    rounded = n.add(rounded, n.cast(zeroPoint, f32(n)));
  return n.cast(n.create<graph::ClipOp>(rounded, APFloat(min), APFloat(max)), type);
}

} // namespace atc::onnx_import
