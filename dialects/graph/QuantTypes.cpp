//===-- QuantTypes.cpp - the element types of quantized tensors -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/QuantTypes.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include <cmath>

using namespace mlir;

namespace atc::graph {

static IntegerType storedIntegers(quant::QuantizedType type) {
  return IntegerType::get(type.getContext(), type.getStorageTypeIntegralWidth(),
                          type.isSigned() ? IntegerType::Signless : IntegerType::Unsigned);
}

std::optional<QuantParams> getQuantParams(Type elementType) {
  QuantParams params;
  if (auto type = dyn_cast<quant::UniformQuantizedType>(elementType)) {
    params.scales = {static_cast<float>(type.getScale())};
    params.zeroPoints = {type.getZeroPoint()};
  } else if (auto type = dyn_cast<quant::UniformQuantizedPerAxisType>(elementType)) {
    for (double scale : type.getScales())
      params.scales.push_back(static_cast<float>(scale));
    params.zeroPoints.assign(type.getZeroPoints().begin(), type.getZeroPoints().end());
    params.axis = type.getQuantizedDimension();
  } else {
    return std::nullopt;
  }
  auto type = cast<quant::QuantizedType>(elementType);
  params.stored = storedIntegers(type);
  params.min = type.getStorageTypeMin();
  params.max = type.getStorageTypeMax();
  return params;
}

Type getQuantType(IntegerType stored, ArrayRef<float> scales, ArrayRef<int64_t> zeroPoints,
                  int64_t axis) {
  unsigned width = stored.getWidth();
  if (width > 32 || width < 2 || scales.empty() || scales.size() != zeroPoints.size() ||
      (axis < 0 && scales.size() != 1))
    return {};
  int64_t min = stored.isUnsigned() ? 0 : -(int64_t(1) << (width - 1));
  int64_t max = min + (int64_t(1) << width) - 1;
  if (llvm::any_of(scales, [](float scale) { return !(std::isfinite(scale) && scale > 0); }) ||
      llvm::any_of(zeroPoints, [&](int64_t zero) { return zero < min || zero > max; }))
    return {};
  MLIRContext *context = stored.getContext();
  unsigned flags = stored.isUnsigned() ? 0 : quant::QuantizationFlags::Signed;
  Type storage = IntegerType::get(context, width), expressed = Float32Type::get(context);
  if (axis < 0)
    return quant::UniformQuantizedType::get(flags, storage, expressed, scales[0], zeroPoints[0],
                                            min, max);
  SmallVector<double> wide(scales.begin(), scales.end());
  return quant::UniformQuantizedPerAxisType::get(flags, storage, expressed, wide, zeroPoints, axis,
                                                 min, max);
}

Type getStoredType(Type elementType) {
  auto type = dyn_cast<quant::QuantizedType>(elementType);
  return type ? storedIntegers(type) : elementType;
}

RankedTensorType getStoredType(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), getStoredType(type.getElementType()),
                               type.getEncoding());
}

} // namespace atc::graph
