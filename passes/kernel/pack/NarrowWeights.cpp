//===-- NarrowWeights.cpp - weights of f32 stored in 16 bits --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/pack/NarrowWeights.h"

#include "dialects/graph/ConstantData.h"
#include "mlir/IR/BuiltinTypes.h"
#include "runtime-lite/abi/SmallFloats.h"

#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace atc::kernel {

namespace {

/// Returns whether every float is one of 16 bits.
template <typename To, typename From>
bool areExact(ArrayRef<float> weights, To toNarrow, From toFloat) {
  return llvm::all_of(weights, [&](float weight) {
    return llvm::bit_cast<uint32_t>(toFloat(toNarrow(weight))) == llvm::bit_cast<uint32_t>(weight);
  });
}

} // namespace

std::optional<WeightStorage> WeightStorage::parse(StringRef name, bool convertsHalfs) {
  const auto kind = llvm::StringSwitch<std::optional<Kind>>(name)
                        .Case("f32", Float32)
                        .Case("exact", Exact)
                        .Case("f16", Half)
                        .Case("bf16", BFloat)
                        .Default(std::nullopt);
  if (!kind)
    return std::nullopt;
  return WeightStorage{*kind, convertsHalfs};
}

ElementsAttr WeightStorage::narrow(ElementsAttr weights) const {
  auto type = dyn_cast<RankedTensorType>(weights.getShapedType());
  auto data = graph::ConstantBytes::get(weights);
  if (kind == Float32 || failed(data) || !type || !type.getElementType().isF32())
    return {};
  // For a splat, this is one element, which is enough.
  const ArrayRef<float> some = data->as<float>();
  bool toBFloat = kind == BFloat;
  if (kind == Exact) {
    // A shift makes a float of bf16.
    toBFloat = areExact(some, floatToBf16, bf16ToFloat);
    if (!toBFloat && !(convertsHalfs && areExact(some, floatToHalf, halfToFloat)))
      return {};
  }
  const ArrayRef<float> from = data->expandedAs<float>();
  std::vector<char> bytes(from.size() * sizeof(uint16_t));
  MutableArrayRef<uint16_t> to(reinterpret_cast<uint16_t *>(bytes.data()), from.size());
  for (auto [bits, weight] : llvm::zip_equal(to, from)) {
    bits = toBFloat ? floatToBf16(weight) : floatToHalf(weight);
    if (std::isfinite(weight) && !std::isfinite(toBFloat ? bf16ToFloat(bits) : halfToFloat(bits)))
      return {};
  }
  MLIRContext *context = type.getContext();
  const Type element =
      toBFloat ? Type(BFloat16Type::get(context)) : Type(Float16Type::get(context));
  return graph::makeConstant(type.clone(element), std::move(bytes), "narrow");
}

ElementsAttr packPairs(ElementsAttr weights, int64_t channels, ArrayRef<int64_t> shape) {
  auto data = graph::ConstantBytes::get(weights);
  if (failed(data) || !data->getType().getElementType().isF32())
    return {};
  const ArrayRef<float> from = data->expandedAs<float>();
  const int64_t pairs = shape[shape.size() - 2], width = shape.back() / 2;
  const int64_t parts = int64_t(from.size()) / (channels * width);
  std::vector<char> bytes(parts * pairs * 2 * width * sizeof(uint16_t));
  auto *to = reinterpret_cast<uint16_t *>(bytes.data());
  for (int64_t part = 0; part < parts; ++part)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t j = 0; j < width; ++j) {
        const uint16_t half = floatToHalf(from[(part * channels + c) * width + j]);
        if (!std::isfinite(halfToFloat(half)))
          return {};
        to[((part * pairs + c / 2) * width + j) * 2 + c % 2] = half;
      }
  auto type = RankedTensorType::get(shape, Float16Type::get(weights.getContext()));
  return graph::makeConstant(type, std::move(bytes), "half");
}

} // namespace atc::kernel
