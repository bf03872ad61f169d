//===-- Tensor.cpp - values of the reference interpreter -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/interpreter/Tensor.h"
#include "dialects/graph/QuantTypes.h"
#include "dialects/graph/scalar/ScalarMath.h"
#include <cstring>

using namespace mlir;

namespace atc::graph {

/// No layout, and integers for quantized elements: their parameters are the
/// business of the operators.
static RankedTensorType plainType(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), getStoredType(type.getElementType()));
}

Tensor::Tensor(RankedTensorType type)
    : type(plainType(type)), owned(type.getNumElements() * getElementBytes(type.getElementType())) {
}

Tensor::Tensor(RankedTensorType type, std::vector<char> &&bytes)
    : type(plainType(type)), owned(std::move(bytes)) {}

Tensor Tensor::borrow(RankedTensorType type, ArrayRef<char> bytes) {
  Tensor tensor;
  tensor.type = plainType(type);
  tensor.owns = false;
  tensor.borrowed = bytes;
  return tensor;
}

FailureOr<Tensor> Tensor::fromAttribute(Attribute attribute) {
  FailureOr<ConstantBytes> constant = ConstantBytes::get(attribute);
  auto elements = dyn_cast_or_null<ElementsAttr>(attribute);
  auto type = elements ? dyn_cast<RankedTensorType>(elements.getShapedType()) : RankedTensorType();
  if (failed(constant) || !type)
    return failure();
  ArrayRef<char> all = constant->expanded();
  if (constant->ownsBytes())
    return Tensor(type, std::vector<char>(all.begin(), all.end()));
  return borrow(type, all);
}

Tensor Tensor::withType(RankedTensorType newType) && {
  Tensor tensor = std::move(*this);
  tensor.type = plainType(newType);
  return tensor;
}

ElementsAttr Tensor::toAttribute(RankedTensorType resultType, StringRef name) && {
  if (!owns)
    owned.assign(borrowed.begin(), borrowed.end());
  return makeConstant(resultType, std::move(owned), name);
}

//===----------------------------------------------------------------------===//
// Elements as doubles and integers
//===----------------------------------------------------------------------===//

/// The bits of element `index`, zero-extended.
static uint64_t loadBits(const char *data, int64_t elementBytes, int64_t index) {
  uint64_t bits = 0;
  std::memcpy(&bits, data + index * elementBytes, elementBytes);
  return bits;
}

static uint64_t extend(uint64_t bits, unsigned width, bool isUnsigned) {
  unsigned shift = 64 - width;
  bits <<= shift;
  return isUnsigned ? bits >> shift : static_cast<uint64_t>(static_cast<int64_t>(bits) >> shift);
}

std::vector<uint64_t> Tensor::toIntegers() const {
  Type element = getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  bool isUnsigned = isUnsignedElement(element);
  int64_t size = getElementBytes(element);
  std::vector<uint64_t> values(getNumElements());
  for (auto [i, value] : llvm::enumerate(values))
    value = extend(loadBits(bytes().data(), size, i), width, isUnsigned);
  return values;
}

std::vector<double> Tensor::toDoubles() const {
  Type element = getElementType();
  if (element.isF32())
    return {as<float>().begin(), as<float>().end()};
  if (element.isF64())
    return {as<double>().begin(), as<double>().end()};
  std::vector<double> values(getNumElements());
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    int64_t size = getElementBytes(element);
    for (auto [i, value] : llvm::enumerate(values)) {
      APInt bits(type.getWidth(), loadBits(bytes().data(), size, i));
      value = APFloat(semantics, bits).convertToDouble();
    }
    return values;
  }
  std::vector<uint64_t> integers = toIntegers();
  bool isUnsigned = isUnsignedElement(element);
  for (auto [value, integer] : llvm::zip_equal(values, integers))
    value = isUnsigned ? static_cast<double>(integer)
                       : static_cast<double>(static_cast<int64_t>(integer));
  return values;
}

static APFloat convertTo(double value, FloatType type) {
  APFloat number(value);
  bool losesInfo;
  number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return number;
}

double roundToType(double value, FloatType type) {
  if (type.isF32())
    return static_cast<float>(value);
  if (type.isF64())
    return value;
  return convertTo(value, type).convertToDouble();
}

Tensor Tensor::fromDoubles(RankedTensorType type, ArrayRef<double> values) {
  Type element = type.getElementType();
  if (element.isF64())
    return copyOf(type, values);
  Tensor tensor(type);
  char *data = tensor.owned.data();
  if (element.isF32()) {
    auto *floats = reinterpret_cast<float *>(data);
    for (auto [i, value] : llvm::enumerate(values))
      floats[i] = static_cast<float>(value);
    return tensor;
  }
  int64_t size = getElementBytes(element);
  unsigned width = element.getIntOrFloatBitWidth();
  bool isUnsigned = isUnsignedElement(element);
  for (auto [i, value] : llvm::enumerate(values)) {
    uint64_t bits;
    if (auto floatType = dyn_cast<FloatType>(element))
      bits = convertTo(value, floatType).bitcastToAPInt().getZExtValue();
    else if (width == 1)
      bits = value != 0;
    else
      bits = saturateToInteger(value, width, isUnsigned).getZExtValue();
    std::memcpy(data + i * size, &bits, size);
  }
  return tensor;
}

Tensor Tensor::fromIntegers(RankedTensorType type, ArrayRef<uint64_t> values) {
  Tensor tensor(type);
  int64_t size = getElementBytes(type.getElementType());
  unsigned width = type.getElementType().getIntOrFloatBitWidth();
  for (auto [i, value] : llvm::enumerate(values)) {
    uint64_t bits = extend(value, width, /*isUnsigned=*/true);
    std::memcpy(tensor.owned.data() + i * size, &bits, size);
  }
  return tensor;
}

} // namespace atc::graph
