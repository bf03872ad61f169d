//===-- Tensors.cpp - limits, shapes and elements of imported tensors -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/Tensors.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/scalar/ScalarMath.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using llvm::createStringError;
using llvm::Expected;

namespace atc {

std::string printDims(ArrayRef<int64_t> dims) {
  std::string text = "[";
  for (auto [index, dim] : llvm::enumerate(dims))
    text += (index ? ", " : "") + std::to_string(dim);
  return text + "]";
}

Expected<int64_t> countElements(ArrayRef<int64_t> dims) {
  if (static_cast<int64_t>(dims.size()) > maxRank)
    return createStringError("has " + Twine(dims.size()) + " dims, more than the " +
                             Twine(maxRank) + " that are supported");
  int64_t count = 1;
  bool isEmpty = llvm::is_contained(dims, 0);
  for (int64_t dim : dims) {
    if (dim < 0)
      return createStringError("has the negative dim " + Twine(dim));
    if (dim > maxDim)
      return createStringError("has the dim " + Twine(dim) +
                               ", more than the largest supported one, 2^31");
    const int64_t factor = std::max<int64_t>(dim, 1);
    if (count > (isEmpty ? maxDim : maxElements) / factor)
      return createStringError(isEmpty ? "has no elements, but other dims whose product is more "
                                         "than the supported 2^31"
                                       : "has more than 2^40 elements");
    count *= factor;
  }
  return isEmpty ? 0 : count;
}

int64_t toInteger(double value) {
  return graph::saturateToInteger(value, 64, /*isUnsigned=*/false).getSExtValue();
}

template <typename Out, typename T> static Out convert(T value) {
  if constexpr (std::is_integral_v<Out> && std::is_floating_point_v<T>)
    return toInteger(value);
  return Out(value);
}

template <typename Out, typename T> static SmallVector<Out> convertAll(ArrayRef<T> elements) {
  return SmallVector<Out>(llvm::map_range(elements, convert<Out, T>));
}

template <typename Out> static SmallVector<Out> readElements(ElementsAttr value) {
  auto bytes = graph::ConstantBytes::get(value);
  if (failed(bytes))
    return {};
  Type element = value.getElementType();
  if (element.isF32())
    return convertAll<Out>(bytes->expandedAs<float>());
  if (element.isF64())
    return convertAll<Out>(bytes->expandedAs<double>());
  if (auto floatType = dyn_cast<FloatType>(element)) {
    SmallVector<Out> result;
    for (uint16_t bits : bytes->expandedAs<uint16_t>())
      result.push_back(convert<Out>(
          llvm::APFloat(floatType.getFloatSemantics(), llvm::APInt(16, bits)).convertToDouble()));
    return result;
  }
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  switch (graph::getElementBytes(element)) {
  case 1:
    return isUnsigned ? convertAll<Out>(bytes->expandedAs<uint8_t>())
                      : convertAll<Out>(bytes->expandedAs<int8_t>());
  case 2:
    return isUnsigned ? convertAll<Out>(bytes->expandedAs<uint16_t>())
                      : convertAll<Out>(bytes->expandedAs<int16_t>());
  case 4:
    return isUnsigned ? convertAll<Out>(bytes->expandedAs<uint32_t>())
                      : convertAll<Out>(bytes->expandedAs<int32_t>());
  default:
    return isUnsigned ? convertAll<Out>(bytes->expandedAs<uint64_t>())
                      : convertAll<Out>(bytes->expandedAs<int64_t>());
  }
}

SmallVector<int64_t> readInts(ElementsAttr value) { return readElements<int64_t>(value); }
SmallVector<double> readFloats(ElementsAttr value) { return readElements<double>(value); }

} // namespace atc
