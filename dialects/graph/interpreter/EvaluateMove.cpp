//===-- EvaluateMove.cpp - ops that move elements ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/interpreter/Evaluators.h"
#include "dialects/graph/interpreter/IndexTables.h"
#include "dialects/graph/interpreter/Positions.h"
#include "dialects/graph/ops/ShapeOps.h"
#include <cstring>

using namespace mlir;

namespace atc::graph::interpreter {

/// Returns the tensor whose elements are those of the input at sums of position times stride;
/// positions iterate over `walk`, which has as many as the result.
static Tensor moveByStrides(const Evaluation &e, ArrayRef<int64_t> walk, const Strides &strides) {
  Tensor result(e.type);
  int64_t size = getElementBytes(e.type.getElementType());
  const char *from = e.operands[0]->bytes().data();
  char *to = result.mutableBytes().data();
  forEachPosition(walk, ArrayRef<Strides>(strides), [&](ArrayRef<int64_t> offset) {
    std::memcpy(to, from + offset[0] * size, size);
    to += size;
  });
  return result;
}

Tensor moveByTables(const Evaluation &e, ArrayRef<IndexTable> tables, const Tensor *filler) {
  Tensor result(e.type);
  int64_t size = getElementBytes(e.type.getElementType());
  ArrayRef<int64_t> shape = e.type.getShape();
  Strides strides = rowMajorStrides(e.operands[0]->getShape());
  const char *from = e.operands[0]->bytes().data();
  char *to = result.mutableBytes().data();
  SmallVector<int64_t, 6> position(shape.size(), 0);
  for (int64_t i = 0, count = e.type.getNumElements(); i < count; ++i, to += size) {
    int64_t offset = 0;
    bool inside = true;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      int64_t index = tables[dim][position[dim]];
      inside &= index >= 0;
      offset += index * strides[dim];
    }
    if (inside)
      std::memcpy(to, from + offset * size, size);
    else if (filler)
      std::memcpy(to, filler->bytes().data(), size);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++position[dim] < shape[dim])
        break;
      position[dim] = 0;
    }
  }
  return result;
}

Result evaluateTranspose(TransposeOp op, const Evaluation &e) {
  Strides input = rowMajorStrides(e.operands[0]->getShape()), strides;
  for (int64_t dim : op.getPermutation())
    strides.push_back(input[dim]);
  return moveByStrides(e, e.type.getShape(), strides);
}

Result evaluateExpand(ExpandOp, const Evaluation &e) {
  ArrayRef<int64_t> input = e.operands[0]->getShape(), result = e.type.getShape();
  for (size_t dim = 0; dim < input.size(); ++dim) {
    int64_t target = result[result.size() - input.size() + dim];
    if (input[dim] != target && input[dim] != 1)
      return e.fail("cannot repeat " + Twine(input[dim]) + " elements to " + Twine(target));
  }
  return moveByStrides(e, result, broadcastStrides(input, result));
}

Result evaluateTile(TileOp, const Evaluation &e) {
  SmallVector<IndexTable> tables;
  for (auto [input, output] : llvm::zip_equal(e.operands[0]->getShape(), e.type.getShape())) {
    IndexTable &table = tables.emplace_back();
    for (int64_t i = 0; i < output; ++i)
      table.push_back(i % input);
  }
  return moveByTables(e, tables);
}

Result evaluateSlice(SliceOp op, const Evaluation &e) {
  SmallVector<IndexTable> tables;
  for (auto [dim, size] : llvm::enumerate(e.type.getShape())) {
    IndexTable &table = tables.emplace_back();
    for (int64_t i = 0; i < size; ++i) {
      int64_t index = op.getStarts()[dim] + i * op.getSteps()[dim];
      if (index < 0 || index >= e.operands[0]->getShape()[dim])
        return e.fail("element " + Twine(index) + " of dim " + Twine(dim) + " is not in the input");
      table.push_back(index);
    }
  }
  return moveByTables(e, tables);
}

/// Returns the index in [0, size) that is copied to an index outside; -1 where there is none.
static int64_t sourceOfPad(PadMode mode, int64_t index, int64_t size) {
  if (index >= 0 && index < size)
    return index;
  switch (mode) {
  case PadMode::Constant:
    return -1;
  case PadMode::Edge:
    return index < 0 ? 0 : size - 1;
  case PadMode::Reflect:
    return index < 0 ? -index : 2 * (size - 1) - index;
  case PadMode::Wrap:
    return index < 0 ? index + size : index - size;
  }
  return -1;
}

Result evaluatePad(PadOp op, const Evaluation &e) {
  SmallVector<IndexTable> tables;
  for (auto [dim, size] : llvm::enumerate(e.type.getShape())) {
    int64_t low = op.getLow()[dim], high = op.getHigh()[dim];
    int64_t first = std::max<int64_t>(-low, 0);
    int64_t kept = e.operands[0]->getShape()[dim] - first - std::max<int64_t>(-high, 0);
    IndexTable &table = tables.emplace_back();
    for (int64_t i = 0; i < size; ++i) {
      int64_t index = sourceOfPad(op.getMode(), i - std::max<int64_t>(low, 0), kept);
      bool isInside = index >= 0 && index < kept;
      if (op.getMode() != PadMode::Constant && !isInside)
        return e.fail("pads dim " + Twine(dim) + " by more than the input has");
      table.push_back(isInside ? first + index : -1);
    }
  }
  auto scalar = RankedTensorType::get({}, e.type.getElementType());
  Tensor filler = Tensor::fromDoubles(scalar, op.getValue().convertToDouble());
  return moveByTables(e, tables, &filler);
}

Result evaluateConcat(ConcatOp op, const Evaluation &e) {
  Tensor result(e.type);
  int64_t axis = op.getAxis(), size = getElementBytes(e.type.getElementType());
  int64_t outer = product(e.type.getShape().take_front(axis));
  int64_t inner = product(e.type.getShape().drop_front(axis + 1)) * size;
  char *to = result.mutableBytes().data();
  for (int64_t row = 0; row < outer; ++row)
    for (const Tensor *input : e.operands) {
      int64_t bytes = input->getShape()[axis] * inner;
      llvm::copy(input->bytes().slice(row * bytes, bytes), to);
      to += bytes;
    }
  return result;
}

Result evaluateGather(GatherOp op, const Evaluation &e) {
  const Tensor &input = *e.operands[0];
  Tensor result(e.type);
  int64_t axis = op.getAxis(), extent = input.getShape()[axis];
  int64_t outer = product(input.getShape().take_front(axis));
  int64_t inner =
      product(input.getShape().drop_front(axis + 1)) * getElementBytes(e.type.getElementType());
  std::vector<uint64_t> indices = e.operands[1]->toIntegers();
  bool isUnsigned = isUnsignedElement(e.operands[1]->getElementType());
  for (uint64_t &index : indices) {
    auto number = static_cast<int64_t>(index);
    if (number < 0 && !isUnsigned)
      index = number + extent;
    if (index >= static_cast<uint64_t>(extent))
      return e.fail("index " + Twine(number) + " is not in [" + Twine(-extent) + ", " +
                    Twine(extent) + "), the elements of dim " + Twine(axis));
  }
  char *to = result.mutableBytes().data();
  for (int64_t row = 0; row < outer; ++row)
    for (uint64_t index : indices) {
      llvm::copy(input.bytes().slice((row * extent + index) * inner, inner), to);
      to += inner;
    }
  return result;
}

// result[n, c, h * b + i, w * b + j]: the channel is (i, j, c) in dcr order and
// (c, i, j) in crd order.
Result evaluateDepthToSpace(DepthToSpaceOp op, const Evaluation &e) {
  ArrayRef<int64_t> input = e.operands[0]->getShape(), result = e.type.getShape();
  int64_t block = op.getBlock(), channels = result[1];
  int64_t plane = input[2] * input[3], row = input[3];
  bool isDcr = op.getOrder() == DepthOrder::DCR;
  int64_t channelStride = isDcr ? plane : plane * block * block;
  int64_t columnStride = isDcr ? plane * channels : plane;
  return moveByStrides(
      e, {input[0], channels, input[2], block, input[3], block},
      {input[1] * plane, channelStride, row, columnStride * block, 1, columnStride});
}

// The channel of the result is (i, j, c).
Result evaluateSpaceToDepth(SpaceToDepthOp op, const Evaluation &e) {
  ArrayRef<int64_t> input = e.operands[0]->getShape(), result = e.type.getShape();
  int64_t block = op.getBlock(), row = input[3], plane = input[2] * row;
  return moveByStrides(e, {input[0], block, block, input[1], result[2], result[3]},
                       {input[1] * plane, row, 1, plane, row * block, block});
}

} // namespace atc::graph::interpreter
