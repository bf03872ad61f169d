//===-- ConstantUtils.cpp - constants as the passes see them --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/ConstantUtils.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/DerivedConstants.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/RewriteUtils.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include <cstring>

using namespace mlir;
using namespace atc::graph;

ElementsAttr atc::graph::getConstant(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? constant.getValue() : ElementsAttr();
}

std::pair<ElementsAttr, QuantParams> atc::graph::getQuantizedConstant(Value value) {
  auto dequantize = value.getDefiningOp<DequantizeOp>();
  auto cast = dequantize ? dequantize.getInput().getDefiningOp<StorageCastOp>() : nullptr;
  ElementsAttr integers = cast ? getConstant(cast.getInput()) : nullptr;
  if (!integers)
    return {};
  return {integers, *getQuantParams(getTensorType(dequantize.getInput()).getElementType())};
}

//===----------------------------------------------------------------------===//
// Elements as doubles
//===----------------------------------------------------------------------===//

/// Calls `function` with a null pointer of the C++ type of f32 and f64 elements;
/// false for other types. These two are worth a loop without conversions.
template <typename Function> static bool withNativeFloat(Type type, Function &&function) {
  if (type.isF32())
    function(static_cast<float *>(nullptr));
  else if (type.isF64())
    function(static_cast<double *>(nullptr));
  else
    return false;
  return true;
}

static double readElement(FloatType type, const char *bytes) {
  llvm::APInt bits(type.getWidth(), 0);
  std::memcpy(const_cast<uint64_t *>(bits.getRawData()), bytes, getElementBytes(type));
  llvm::APFloat value(type.getFloatSemantics(), bits);
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

static void writeElement(FloatType type, double number, char *bytes) {
  llvm::APFloat value(number);
  bool losesInfo;
  value.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  llvm::APInt bits = value.bitcastToAPInt();
  std::memcpy(bytes, bits.getRawData(), getElementBytes(type));
}

static std::vector<char> writeElements(FloatType type, ArrayRef<double> values) {
  int64_t width = getElementBytes(type);
  std::vector<char> bytes(values.size() * width);
  for (auto [i, value] : llvm::enumerate(values))
    writeElement(type, value, bytes.data() + i * width);
  return bytes;
}

std::optional<double> atc::graph::getScalarConstant(Value value) {
  ElementsAttr constant = getConstant(value);
  if (!constant || constant.getNumElements() == 0)
    return std::nullopt;
  auto data = ConstantBytes::get(constant);
  if (failed(data) || (!data->isSplat() && constant.getNumElements() != 1))
    return std::nullopt;
  Type type = constant.getElementType();
  if (auto floatType = dyn_cast<FloatType>(type))
    return readElement(floatType, data->bytes().data());
  if (type.isInteger(1))
    return data->bytes()[0] != 0;
  llvm::APInt bits(64, 0);
  std::memcpy(const_cast<uint64_t *>(bits.getRawData()), data->bytes().data(),
              getElementBytes(type));
  unsigned width = type.getIntOrFloatBitWidth();
  bits = bits.trunc(width);
  return type.isUnsignedInteger() ? bits.roundToDouble(false) : bits.roundToDouble(true);
}

std::optional<SmallVector<double>> atc::graph::getVectorConstant(Value value) {
  ElementsAttr constant = getConstant(value);
  auto type = constant ? dyn_cast<FloatType>(constant.getElementType()) : FloatType();
  if (!type)
    return std::nullopt;
  auto data = ConstantBytes::get(constant);
  if (failed(data))
    return std::nullopt;
  int64_t width = getElementBytes(type);
  SmallVector<double> values;
  values.reserve(constant.getNumElements());
  for (int64_t i = 0; i < constant.getNumElements(); ++i)
    values.push_back(readElement(type, data->bytes().data() + (data->isSplat() ? 0 : i * width)));
  return values;
}

std::optional<SmallVector<double>>
atc::graph::getChannelConstant(Value value, RankedTensorType type, int64_t channelDim) {
  ElementsAttr constant = getConstant(value);
  if (!constant || !isa<FloatType>(constant.getElementType()) ||
      constant.getShapedType().getRank() > type.getRank() || type.isDynamicDim(channelDim))
    return std::nullopt;
  int64_t channels = type.getDimSize(channelDim);
  if (auto scalar = getScalarConstant(value))
    return SmallVector<double>(channels, *scalar);
  ArrayRef<int64_t> shape = constant.getShapedType().getShape();
  int64_t lead = type.getRank() - shape.size();
  for (auto [i, dim] : llvm::enumerate(shape))
    if (dim != 1 && (lead + static_cast<int64_t>(i) != channelDim || dim != channels))
      return std::nullopt;
  return getVectorConstant(value);
}

Value atc::graph::createConstant(OpBuilder &builder, Location loc, RankedTensorType type,
                                 ArrayRef<double> values) {
  auto bytes = writeElements(cast<FloatType>(type.getElementType()), values);
  return ConstantOp::create(builder, loc, makeConstant(type, std::move(bytes)));
}

ElementsAttr atc::graph::scaleRows(ElementsAttr source, ArrayRef<double> rowScales) {
  auto type = cast<RankedTensorType>(source.getShapedType());
  auto elementType = cast<FloatType>(type.getElementType());
  auto data = ConstantBytes::get(source);
  if (failed(data) || rowScales.empty())
    return {};
  ArrayRef<char> from = data->expanded();
  std::vector<char> bytes(from.size());
  int64_t columns = type.getNumElements() / rowScales.size();
  bool isNative = withNativeFloat(elementType, [&](auto *null) {
    using T = std::remove_pointer_t<decltype(null)>;
    auto *in = reinterpret_cast<const T *>(from.data());
    auto *out = reinterpret_cast<T *>(bytes.data());
    for (double scale : rowScales)
      for (int64_t i = 0; i < columns; ++i)
        *out++ = static_cast<T>(*in++ * scale);
  });
  if (!isNative) {
    int64_t width = getElementBytes(elementType);
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      writeElement(elementType,
                   readElement(elementType, from.data() + i * width) * rowScales[i / columns],
                   bytes.data() + i * width);
  }
  return makeConstant(type, std::move(bytes), "weight");
}

//===----------------------------------------------------------------------===//
// Moving elements
//===----------------------------------------------------------------------===//

/// Copies a box of elements of T between strided locations.
template <typename T>
static void copyBox(const T *source, T *target, ArrayRef<int64_t> sizes,
                    ArrayRef<int64_t> sourceStrides, ArrayRef<int64_t> targetStrides) {
  if (sizes.empty()) {
    *target = *source;
    return;
  }
  if (sizes.size() == 1) {
    for (int64_t i = 0; i < sizes[0]; ++i)
      target[i * targetStrides[0]] = source[i * sourceStrides[0]];
    return;
  }
  if (sizes.size() == 2) {
    // Tiles keep both sides of a transposed matrix in the cache.
    constexpr int64_t tile = 32;
    for (int64_t i0 = 0; i0 < sizes[0]; i0 += tile)
      for (int64_t j0 = 0; j0 < sizes[1]; j0 += tile)
        for (int64_t i = i0; i < std::min(i0 + tile, sizes[0]); ++i)
          for (int64_t j = j0; j < std::min(j0 + tile, sizes[1]); ++j)
            target[i * targetStrides[0] + j * targetStrides[1]] =
                source[i * sourceStrides[0] + j * sourceStrides[1]];
    return;
  }
  for (int64_t i = 0; i < sizes[0]; ++i)
    copyBox(source + i * sourceStrides[0], target + i * targetStrides[0], sizes.drop_front(),
            sourceStrides.drop_front(), targetStrides.drop_front());
}

static void copyElements(const char *source, char *target, int64_t elementBytes,
                         const ElementCopy &copy) {
  // An empty box would make the offsets below meaningless.
  if (llvm::is_contained(copy.sizes, 0))
    return;
  auto run = [&](auto *null) {
    using T = std::remove_pointer_t<decltype(null)>;
    copyBox(reinterpret_cast<const T *>(source) + copy.sourceOffset,
            reinterpret_cast<T *>(target) + copy.targetOffset, copy.sizes, copy.sourceStrides,
            copy.targetStrides);
  };
  switch (elementBytes) {
  case 1:
    return run(static_cast<uint8_t *>(nullptr));
  case 2:
    return run(static_cast<uint16_t *>(nullptr));
  case 4:
    return run(static_cast<uint32_t *>(nullptr));
  default:
    return run(static_cast<uint64_t *>(nullptr));
  }
}

/// Returns the bytes of the constant that scatterElements makes.
static FailureOr<std::vector<char>> scatterBytes(ElementsAttr source, RankedTensorType type,
                                                 ArrayRef<ElementCopy> copies) {
  auto data = ConstantBytes::get(source);
  if (failed(data))
    return failure();
  int64_t width = getElementBytes(type.getElementType());
  ArrayRef<char> from = data->expanded();
  std::vector<char> bytes(type.getNumElements() * width);
  for (const ElementCopy &copy : copies)
    copyElements(from.data(), bytes.data(), width, copy);
  return bytes;
}

ElementsAttr atc::graph::scatterElements(ElementsAttr source, RankedTensorType type,
                                         ArrayRef<ElementCopy> copies) {
  FailureOr<std::vector<char>> bytes = scatterBytes(source, type, copies);
  return succeeded(bytes) ? makeConstant(type, std::move(*bytes), "weight") : ElementsAttr();
}

ElementsAttr atc::graph::transposeConstant(ElementsAttr source, ArrayRef<int64_t> permutation,
                                           bool later) {
  auto sourceType = cast<RankedTensorType>(source.getShapedType());
  auto type = RankedTensorType::get(applyPermutation(sourceType.getShape(), permutation),
                                    sourceType.getElementType());
  if (auto dense = dyn_cast<DenseElementsAttr>(source); dense && dense.isSplat())
    return dense.resizeSplat(type);
  ElementCopy copy;
  copy.sizes.assign(type.getShape().begin(), type.getShape().end());
  copy.sourceStrides = applyPermutation(computeStrides(sourceType.getShape()), permutation);
  copy.targetStrides = computeStrides(type.getShape());
  if (later) {
    auto compute = [type, copy](ElementsAttr read) {
      FailureOr<std::vector<char>> bytes = scatterBytes(read, type, copy);
      return succeeded(bytes) ? std::move(*bytes) : std::vector<char>();
    };
    if (ElementsAttr deferred =
            deferConstant(source, type, recipeOf("transpose", permutation), std::move(compute)))
      return deferred;
  }
  return scatterElements(source, type, copy);
}
