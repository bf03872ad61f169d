//===-- LowerGraphMovement.cpp - data movement ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nearly all of these lower to one copy between two views with different strides.

#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/kernel/LowerGraph.h"

#include "dialects/graph/ConstantData.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace atc::kernel {

LogicalResult lowerRelayout(GraphLowering &lowering, graph::RelayoutOp op) {
  // Packed at compile time, where it is read.
  if (isKnown(op.getInput()))
    return success();
  Value result = op.getResult();
  Storage from = lowering.storageOf(op.getInput()), to = lowering.storageOf(result);
  RankedTensorType type = tensorType(op.getInput());
  if (std::optional<Storage> view = relayoutView(from, type, tensorType(result))) {
    lowering.kernel<CopyOp>(result, to, lowering.buffer(*view), lowering.buffer(to));
  } else if (blockOf(type) == 0) {
    lowering.kernel<PackOp>(result, to, lowering.buffer(from), lowering.buffer(to));
  } else if (blockOf(result) == 0) {
    lowering.kernel<UnpackOp>(result, to, lowering.buffer(from), lowering.buffer(to));
  } else {
    Storage plain = lowering.temporary(type.getShape(), from.element);
    lowering.kernel<UnpackOp>(Value(), plain, lowering.buffer(from), lowering.buffer(plain));
    lowering.kernel<PackOp>(result, to, lowering.buffer(plain), lowering.buffer(to));
  }
  return success();
}

LogicalResult lowerReshape(GraphLowering &lowering, graph::ReshapeOp op) {
  Storage from = lowering.storageOf(op.getInput()), to = lowering.storageOf(op.getResult());
  // Either side may have strides that cannot be expressed in the other's shape.
  if (std::optional<Storage> view = to.reshaped(from.shape))
    lowering.copy(from, *view);
  else
    lowering.copy(lowering.reshaped(from, to.shape), to);
  return success();
}

/// Copies channels that are split in two dims directly from their lanes to their destination.
static void transposeLanes(GraphLowering &lowering, graph::TransposeOp op,
                           graph::ReshapeOp reshape) {
  Value image = reshape.getInput().getDefiningOp()->getOperand(0);
  Storage from = lowering.storageOf(image);
  Storage to =
      lowering.storageOf(op.getResult()).permuted(invertPermutationVector(op.getPermutation()));
  int64_t parts = to.shape[1], channels = to.shape[2];
  for (int64_t part = 0; part < parts; ++part) {
    Storage target = to.slice(1, part, 1).permuted({0, 2, 3, 4});
    lowering.copyChannels({from, blockOf(image), part * channels}, {target, 0, 0}, channels);
  }
}

LogicalResult lowerTranspose(GraphLowering &lowering, graph::TransposeOp op) {
  Value result = op.getResult();
  if (auto reshape = op.getInput().getDefiningOp<graph::ReshapeOp>();
      reshape && lowering.getStorage().isSkipped(reshape)) {
    transposeLanes(lowering, op, reshape);
    return success();
  }
  Storage from = lowering.storageOf(op.getInput()), to = lowering.storageOf(result);
  ArrayRef<int64_t> order = op.getPermutation();
  if (blockOf(op.getInput())) {
    Storage channelsFirst = to.permuted(invertPermutationVector(order));
    lowering.kernel<UnpackOp>(result, to, lowering.buffer(from), lowering.buffer(channelsFirst));
  } else if (blockOf(result)) {
    lowering.kernel<PackOp>(result, to, lowering.buffer(from.permuted(order)), lowering.buffer(to));
  } else {
    lowering.kernel<CopyOp>(result, to, lowering.buffer(from.permuted(order)), lowering.buffer(to));
  }
  return success();
}

LogicalResult lowerExpand(GraphLowering &lowering, graph::ExpandOp op) {
  Storage from = lowering.storageOf(op.getInput()), to = lowering.storageOf(op.getResult());
  while (from.rank() < to.rank())
    from = from.withDim(0);
  for (int64_t dim = 0; dim < to.rank(); ++dim)
    if (from.shape[dim] != to.shape[dim]) {
      from.shape[dim] = to.shape[dim];
      from.strides[dim] = 0;
    }
  lowering.kernel<CopyOp>(op.getResult(), to, lowering.buffer(from), lowering.buffer(to));
  return success();
}

LogicalResult lowerTile(GraphLowering &lowering, graph::TileOp op) {
  Storage from = lowering.storageOf(op.getInput()), to = lowering.storageOf(op.getResult());
  ArrayRef<int64_t> sizes = tensorType(op.getInput()).getShape();
  for (int64_t dim = int64_t(sizes.size()) - 1; dim >= 0; --dim)
    if (int64_t repeat = op.getRepeats()[dim]; repeat != 1) {
      from = from.withDim(dim, repeat, 0);
      to = to.split(dim, sizes[dim]);
    }
  lowering.copy(from, to);
  return success();
}

/// Zeroes the lanes past the last channel, which copies of channels do not
/// write: the cube multiplies them by zero, whatever was in the memory before.
static void clearLastLanes(GraphLowering &lowering, Value result) {
  RankedTensorType type = tensorType(result);
  int64_t block = blockOf(type);
  if (block == 0 || type.getDimSize(1) % block == 0 || !type.getElementType().isF16())
    return;
  Storage storage = lowering.storageOf(result);
  int64_t used = type.getDimSize(1) % block;
  lowering.fill(storage.slice(1, storage.shape[1] - 1, 1).slice(4, used, block - used), 0.0);
}

LogicalResult lowerConcat(GraphLowering &lowering, graph::ConcatOp op) {
  Storage result = lowering.storageOf(op.getResult());
  int64_t block = blockOf(op.getResult());
  const SmallVector<int64_t> starts = concatStarts(op);
  if (op.getAxis() == 1 && !concatView(result, op, starts.size() - 1, starts.back()))
    clearLastLanes(lowering, op.getResult());
  // In order, because the lanes past the last channel of an operand belong to the next one.
  for (OpOperand &part : op->getOpOperands()) {
    int64_t size = tensorType(part.get()).getDimSize(op.getAxis());
    if (!lowering.getStorage().isPlaced(part)) {
      Storage from = lowering.storageOf(part.get());
      std::optional<Storage> to =
          concatView(result, op, part.getOperandNumber(), starts[part.getOperandNumber()]);
      if (to && !(*to == from))
        lowering.copy(from, *to);
      else if (!to)
        lowering.copyChannels({from, block, 0}, {result, block, starts[part.getOperandNumber()]},
                              size);
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Slices and pads
//===----------------------------------------------------------------------===//

/// Takes the elements of one dim by constant indices; strides do not run
/// backwards.
static Storage gatherDim(GraphLowering &lowering, const Storage &from, int64_t dim, int64_t start,
                         int64_t size, int64_t step) {
  SmallVector<int64_t> indices;
  for (int64_t i = 0; i < size; ++i)
    indices.push_back(start + i * step);
  auto type = RankedTensorType::get(size, lowering.builder.getI64Type());
  Storage index = lowering.constantStorage(graph::makeConstant(type, ArrayRef<int64_t>(indices)));

  int64_t outer = ShapedType::getNumElements(ArrayRef(from.shape).take_front(dim)),
          inner = ShapedType::getNumElements(ArrayRef(from.shape).drop_front(dim + 1));
  SmallVector<int64_t> shape(from.shape);
  shape[dim] = size;
  Storage to = lowering.temporary(shape, from.element);
  Storage input = lowering.reshaped(from, {outer, from.shape[dim], inner});
  Storage output = *to.reshaped({outer, size, inner});
  lowering.kernel<GatherOp>(Value(), output, lowering.buffer(input), lowering.buffer(index),
                            lowering.buffer(output));
  return to;
}

LogicalResult lowerSlice(GraphLowering &lowering, graph::SliceOp op) {
  Storage from = lowering.storageOf(op.getInput()), to = lowering.storageOf(op.getResult());
  if (std::optional<Storage> view = sliceView(from, op)) {
    lowering.copy(*view, to);
    return success();
  }
  ArrayRef<int64_t> sizes = tensorType(op.getResult()).getShape();
  int64_t block = blockOf(op.getResult());
  for (int64_t dim = 0; dim < int64_t(sizes.size()); ++dim) {
    int64_t start = op.getStarts()[dim], step = op.getSteps()[dim];
    if (block && dim == 1)
      continue;
    if (step > 0)
      from = from.slice(dim, start, sizes[dim], step);
    else
      from = gatherDim(lowering, from, dim, start, sizes[dim], step);
  }
  if (block) {
    clearLastLanes(lowering, op.getResult());
    lowering.copyChannels({from, block, op.getStarts()[1]}, {to, block, 0}, sizes[1]);
  } else {
    lowering.copy(from, to);
  }
  return success();
}

/// Fills the first `before` and the last `after` elements of each dim. Padded planes, of channels
/// that are the first or the last dim, are one kernel.
static void fillBorder(GraphLowering &lowering, const Storage &to, ArrayRef<int64_t> before,
                       ArrayRef<int64_t> after, double value) {
  SmallVector<int64_t> padded;
  for (int64_t dim = 0; dim < to.rank(); ++dim)
    if (before[dim] || after[dim])
      padded.push_back(dim);
  if (padded.empty())
    return;
  // A fill has a border around dims 2 and 3.
  auto areAmong = [&](int64_t first) {
    return padded.front() >= first && padded.back() <= first + 1;
  };
  if (to.rank() >= 4 && areAmong(2))
    return lowering.fill(to, value, Halo{before[2], before[3], after[2], after[3]});
  if (!to.element.isF32())
    return lowering.fill(to, value);
  if (to.rank() == 4 && areAmong(1))
    return lowering.fill(to.withDim(1), value, Halo{before[1], before[2], after[1], after[2]});
  Storage inside = to;
  for (int64_t dim : padded) {
    const int64_t size = inside.shape[dim];
    if (before[dim])
      lowering.fill(inside.slice(dim, 0, before[dim]), value);
    if (after[dim])
      lowering.fill(inside.slice(dim, size - after[dim], after[dim]), value);
    inside = inside.slice(dim, before[dim], size - before[dim] - after[dim]);
  }
}

LogicalResult lowerPad(GraphLowering &lowering, graph::PadOp op) {
  Value result = op.getResult();
  Storage from = lowering.storageOf(op.getInput()), to = lowering.storageOf(result);
  SmallVector<int64_t> low(op.getLow()), high(op.getHigh());
  // Channels in blocks are never padded.
  if (blockOf(result)) {
    low.push_back(0);
    high.push_back(0);
  }
  if (op.getMode() != graph::PadMode::Constant) {
    lowering.kernel<PadOp>(result, to, lowering.buffer(from), lowering.buffer(to), low,
                           op.getMode());
    return success();
  }
  SmallVector<int64_t> before, after;
  for (auto [first, last] : llvm::zip_equal(low, high)) {
    before.push_back(std::max<int64_t>(first, 0));
    after.push_back(std::max<int64_t>(last, 0));
  }
  fillBorder(lowering, to, before, after, op.getValue().convertToDouble());
  if (lowering.getStorage().isPlaced(op->getOpOperand(0)))
    return success();
  for (int64_t dim = 0; dim < to.rank(); ++dim) {
    int64_t cropped = std::max<int64_t>(-low[dim], 0);
    int64_t size = to.shape[dim] - before[dim] - after[dim];
    from = from.slice(dim, cropped, size);
    to = to.slice(dim, before[dim], size);
  }
  lowering.copy(from, to);
  return success();
}

//===----------------------------------------------------------------------===//
// Gather, depth to space, resize
//===----------------------------------------------------------------------===//

/// Negative indices count from the end in kernels, too.
LogicalResult lowerGather(GraphLowering &lowering, graph::GatherOp op) {
  Value result = op.getResult();
  ArrayRef<int64_t> shape = tensorType(op.getInput()).getShape();
  int64_t axis = op.getAxis(), extent = shape[axis];
  int64_t outer = ShapedType::getNumElements(shape.take_front(axis)),
          inner = ShapedType::getNumElements(shape.drop_front(axis + 1));
  Storage indices = lowering.reshaped(lowering.storageOf(op.getIndices()),
                                      tensorType(op.getIndices()).getNumElements());
  Storage input = lowering.reshaped(lowering.storageOf(op.getInput()), {outer, extent, inner});
  Storage output = *lowering.storageOf(result).reshaped({outer, indices.shape.front(), inner});
  lowering.kernel<GatherOp>(result, output, lowering.buffer(input), lowering.buffer(indices),
                            lowering.buffer(output));
  return success();
}

/// Returns a tensor with small planes, [N][C * b * b][H][W], and one with large planes, [N][C][H *
/// b][W * b], both as [N][C][H][b][W][b].
static std::pair<Storage, Storage> pixelBlocks(const Storage &deep, const Storage &wide,
                                               int64_t block, graph::DepthOrder order) {
  Storage pixels = wide.split(3, block).split(2, block);
  if (order == graph::DepthOrder::CRD) {
    Storage channels = deep.split(1, block * block).split(2, block);
    return {channels.permuted({0, 1, 4, 2, 5, 3}), pixels};
  }
  int64_t depth = deep.shape[1] / (block * block);
  Storage channels = deep.split(1, block * depth).split(2, depth);
  return {channels.permuted({0, 3, 4, 1, 5, 2}), pixels};
}

LogicalResult lowerDepthToSpace(GraphLowering &lowering, graph::DepthToSpaceOp op) {
  auto [deep, wide] = pixelBlocks(lowering.storageOf(op.getInput()),
                                  lowering.storageOf(op.getResult()), op.getBlock(), op.getOrder());
  lowering.copy(deep, wide);
  return success();
}

LogicalResult lowerSpaceToDepth(GraphLowering &lowering, graph::SpaceToDepthOp op) {
  auto [deep, wide] =
      pixelBlocks(lowering.storageOf(op.getResult()), lowering.storageOf(op.getInput()),
                  op.getBlock(), graph::DepthOrder::DCR);
  lowering.copy(wide, deep);
  return success();
}

LogicalResult lowerResize(GraphLowering &lowering, graph::ResizeOp op) {
  Value result = op.getResult();
  SmallVector<double> scales(op.getScales());
  if (blockOf(result))
    scales.push_back(1.0);
  lowering.kernel<ResizeOp>(result, lowering.storageOf(result), lowering.buffer(op.getInput()),
                            lowering.buffer(result), scales, op.getMode(), op.getCoordinates(),
                            op.getNearest(), op.getCubicCoefficient());
  return success();
}

} // namespace atc::kernel
