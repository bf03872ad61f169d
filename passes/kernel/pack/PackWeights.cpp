//===-- PackWeights.cpp - packs constants for the kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights can be most of a model's bytes, so they are read in place and written
// once, into the buffer that the new constant then owns.

#include "passes/kernel/pack/PackWeights.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/DerivedConstants.h"
#include "mlir/IR/BuiltinDialect.h"             // IWYU pragma: keep
#include "mlir/IR/DialectResourceBlobManager.h" // IWYU pragma: keep
#include "passes/kernel/Layouts.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using atc::graph::ConstantBytes;

namespace atc::kernel {

namespace {

/// A zeroed constant of f32 that is being written.
class Packed {
public:
  explicit Packed(ArrayRef<int64_t> shape, MLIRContext *context)
      : type(RankedTensorType::get(shape, Float32Type::get(context))),
        bytes(type.getNumElements() * sizeof(float)) {}

  float *data() { return reinterpret_cast<float *>(bytes.data()); }
  ElementsAttr take() { return graph::makeConstant(type, std::move(bytes), "packed"); }

private:
  RankedTensorType type;
  std::vector<char> bytes;
};

/// The data of an f32 constant.
struct Floats {
  static FailureOr<Floats> get(ElementsAttr attribute) {
    FailureOr<ConstantBytes> bytes = ConstantBytes::get(attribute);
    if (failed(bytes) || !bytes->getType().getElementType().isF32())
      return failure();
    return Floats{std::move(*bytes)};
  }
  const float *data() { return bytes.expandedAs<float>().data(); }
  ArrayRef<int64_t> shape() const { return bytes.getType().getShape(); }

  ConstantBytes bytes;
};

} // namespace

static FailureOr<ElementsAttr> makeFilter(ElementsAttr filter, const FilterPacking &packing) {
  FailureOr<Floats> source = Floats::get(filter);
  if (failed(source))
    return failure();
  ArrayRef<int64_t> shape = source->shape();
  int64_t outputs = shape[0], groupInputs = shape[1], height = shape[2], width = shape[3];
  int64_t taps = height * width;
  int64_t c = packing.inputBlock, b = packing.outputBlock;
  // In a merged group every output still reads its own group's inputs only.
  int64_t groupOutputs = outputs / packing.groups;
  int64_t merged = packing.groups / packing.mergedGroups;
  int64_t inputBlocks = llvm::divideCeil(groupInputs * merged, c);
  int64_t outputBlocks = llvm::divideCeil(outputs, b);

  Packed packed({outputBlocks, inputBlocks, height, width, c, b}, filter.getContext());
  const float *from = source->data();
  float *to = packed.data();
  for (int64_t output = 0; output < outputs; ++output) {
    int64_t group = output / groupOutputs;
    int64_t firstInput = (group % merged) * groupInputs;
    float *block = to + output / b * inputBlocks * taps * c * b + output % b;
    for (int64_t i = 0; i < groupInputs; ++i) {
      int64_t input = firstInput + i;
      float *lane = block + (input / c * taps * c + input % c) * b;
      for (int64_t tap = 0; tap < taps; ++tap)
        lane[tap * c * b] = *from++;
    }
  }
  return packed.take();
}

FailureOr<ElementsAttr> packFilter(ElementsAttr filter, const FilterPacking &packing) {
  return graph::deriveConstant(filter,
                               graph::recipeOf("filter", {packing.groups, packing.mergedGroups,
                                                          packing.inputBlock, packing.outputBlock}),
                               [&] { return makeFilter(filter, packing); });
}

FailureOr<ElementsAttr> packDepthwiseFilter(ElementsAttr filter, int64_t block) {
  FailureOr<Floats> source = Floats::get(filter);
  if (failed(source))
    return failure();
  ArrayRef<int64_t> shape = source->shape();
  int64_t channels = shape[0], taps = shape[2] * shape[3];
  Packed packed({int64_t(llvm::divideCeil(channels, block)), shape[2], shape[3], block},
                filter.getContext());
  const float *from = source->data();
  float *to = packed.data();
  for (int64_t channel = 0; channel < channels; ++channel)
    for (int64_t tap = 0; tap < taps; ++tap)
      to[(channel / block * taps + tap) * block + channel % block] = *from++;
  return packed.take();
}

static FailureOr<ElementsAttr> makeMatrix(ElementsAttr matrix, bool transposed, int64_t block) {
  FailureOr<Floats> source = Floats::get(matrix);
  if (failed(source))
    return failure();
  ArrayRef<int64_t> shape = source->shape();
  int64_t rows = transposed ? shape[1] : shape[0], columns = transposed ? shape[0] : shape[1];
  int64_t rowStride = transposed ? 1 : columns, columnStride = transposed ? rows : 1;
  int64_t blocks = llvm::divideCeil(columns, block);
  Packed packed({blocks, rows, block}, matrix.getContext());
  const float *from = source->data();
  float *to = packed.data();
  for (int64_t first = 0; first < columns; first += block) {
    int64_t count = std::min(block, columns - first);
    for (int64_t row = 0; row < rows; ++row, to += block)
      for (int64_t i = 0; i < count; ++i)
        to[i] = from[row * rowStride + (first + i) * columnStride];
  }
  return packed.take();
}

FailureOr<ElementsAttr> packMatrix(ElementsAttr matrix, bool transposed, int64_t block) {
  // If the matrix is itself a deferred transpose, its source is packed, with the opposite flag.
  if (ElementsAttr source = graph::deferredSource(matrix, graph::recipeOf("transpose", {1, 0})))
    return packMatrix(source, !transposed, block);
  return graph::deriveConstant(matrix, graph::recipeOf("matrix", {transposed, block}),
                               [&] { return makeMatrix(matrix, transposed, block); });
}

FailureOr<ElementsAttr> padVector(ElementsAttr vector, int64_t size) {
  FailureOr<Floats> source = Floats::get(vector);
  if (failed(source))
    return failure();
  int64_t length = source->shape()[0];
  if (length == size)
    return vector;
  Packed packed(size, vector.getContext());
  std::copy_n(source->data(), length, packed.data());
  return packed.take();
}

FailureOr<ElementsAttr> packTensor(ElementsAttr tensor, RankedTensorType type) {
  FailureOr<ConstantBytes> source = ConstantBytes::get(tensor);
  if (failed(source))
    return failure();
  ArrayRef<int64_t> shape = type.getShape();
  Type element = graph::getScalarType(type.getElementType());
  int64_t size = graph::getElementBytes(element);
  int64_t block = blockOf(type), height = shape[2], width = shape[3];
  Halo halo = haloOf(type);
  SmallVector<int64_t> stored = storedShape(type);
  int64_t rows = stored[2] += halo[0] + halo[2];
  int64_t columns = stored[3] += halo[1] + halo[3];
  auto packedType = RankedTensorType::get(stored, element);

  // The halo of integers of a byte may be filled with a zero point.
  std::vector<char> bytes(packedType.getNumElements() * size, static_cast<char>(haloFillOf(type)));
  const char *from = source->expanded().data();
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t channel = 0; channel < shape[1]; ++channel)
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x, from += size) {
          int64_t plane = n * stored[1] + channel / block;
          int64_t pixel = (plane * rows + y + halo[0]) * columns + x + halo[1];
          std::memcpy(bytes.data() + (pixel * block + channel % block) * size, from, size);
        }
  return graph::makeConstant(packedType, std::move(bytes), "packed");
}

FailureOr<ElementsAttr> reinterpret(ElementsAttr tensor, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getShapedType());
  Type element = graph::getScalarType(type.getElementType());
  auto wanted = RankedTensorType::get(shape, element);
  if (type == wanted)
    return tensor;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(tensor))
    return ElementsAttr(DenseResourceElementsAttr::get(wanted, resource.getRawHandle()));
  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(tensor)) {
    DenseElementsAttr same = dense;
    if (element != type.getElementType())
      same = dense.bitcast(element);
    return ElementsAttr(same.reshape(wanted));
  }
  FailureOr<ConstantBytes> bytes = ConstantBytes::get(tensor);
  if (failed(bytes))
    return failure();
  ArrayRef<char> all = bytes->expanded();
  return graph::makeConstant(wanted, std::vector<char>(all.begin(), all.end()));
}

} // namespace atc::kernel
