//===-- LowerGraphConv.cpp - convolutions, pools, matmuls -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ConvOps.h"
#include "passes/kernel/LowerGraph.h"

#include "passes/kernel/pack/PackWeights.h"

using namespace mlir;

namespace atc::kernel {

namespace {

/// Output channels of a block of packed matrices.
constexpr int64_t kMatrixBlock = 16;

/// Returns a bias or slope with one value per lane of the output; null when there is none.
FailureOr<Value> perChannel(GraphLowering &lowering, Value vector, int64_t size) {
  if (!vector)
    return Value();
  FailureOr<ElementsAttr> value = lowering.constantOf(vector);
  if (succeeded(value))
    value = padVector(*value, size);
  if (failed(value))
    return failure();
  return lowering.weight(*value);
}

struct Epilogue {
  Value bias, residual, slope;
};

FailureOr<Epilogue> epilogueOf(GraphLowering &lowering, graph::ConvOp op, int64_t channels) {
  FailureOr<Value> bias = perChannel(lowering, op.getBias(), channels),
                   slope = perChannel(lowering, op.getSlope(), channels);
  if (failed(bias) || failed(slope))
    return failure();
  Value residual = op.getResidual() ? lowering.buffer(op.getResidual()) : Value();
  return Epilogue{*bias, residual, *slope};
}

/// Returns the maximum number of groups that a kernel can run: adjacent ones are merged until each
/// group has whole blocks of channels.
int64_t mergedGroups(int64_t groups, int64_t inputs, int64_t outputs, int64_t inputBlock,
                     int64_t outputBlock) {
  for (int64_t merged = groups; merged > 1; --merged)
    if (groups % merged == 0 && inputs / merged % inputBlock == 0 &&
        outputs / merged % outputBlock == 0)
      return merged;
  return 1;
}

/// Returns which part of the padded input is the image; null where there are no pads, and where
/// windows read nothing else. The input ends where the last window does.
DenseI64ArrayAttr imageOf(graph::ConvOp op, Value input) {
  ArrayRef<int64_t> pads = op.getPads(), image = tensorType(op.getInput()).getShape(),
                    padded = cast<MemRefType>(input.getType()).getShape();
  const int64_t height = std::min(image[2], padded[2] - pads[0]),
                width = std::min(image[3], padded[3] - pads[1]);
  if (llvm::all_of(pads, [](int64_t size) { return size == 0; }) || height < 1 || width < 1)
    return {};
  return DenseI64ArrayAttr::get(op.getContext(), {pads[0], pads[1], height, width});
}

} // namespace

LogicalResult lowerConv(GraphLowering &lowering, graph::ConvOp op) {
  Value result = op.getResult();
  Storage output = lowering.storageOf(result);
  int64_t groups = op.getGroups(), inputBlock = blockOf(op.getInput()),
          outputBlock = blockOf(result);
  int64_t inputs = tensorType(op.getInput()).getDimSize(1),
          outputs = tensorType(result).getDimSize(1);

  FailureOr<ElementsAttr> filter = lowering.constantOf(op.getFilter());
  FailureOr<Epilogue> epilogue = epilogueOf(lowering, op, output.shape[1] * outputBlock);
  if (failed(filter) || failed(epilogue))
    return failure();
  Value input = lowering.buffer(windowInput(lowering, op));
  auto activation = op.getActivation().value_or(nullptr);

  if (groups > 1 && groups == inputs && groups == outputs && inputBlock == outputBlock) {
    FailureOr<ElementsAttr> packed = packDepthwiseFilter(*filter, outputBlock);
    if (failed(packed))
      return failure();
    lowering.kernel<cpu::DepthwiseConv2DOp>(
        result, output, input, lowering.weight(*packed), epilogue->bias, epilogue->residual,
        epilogue->slope, lowering.buffer(output), op.getStrides(), op.getDilations(), activation,
        op.getResidualLast(), cpu::TileAttr());
    return success();
  }

  int64_t merged = mergedGroups(groups, inputs, outputs, inputBlock, outputBlock);
  FailureOr<ElementsAttr> packed = packFilter(*filter, {groups, merged, inputBlock, outputBlock});
  if (failed(packed))
    return failure();
  lowering.kernel<cpu::Conv2DOp>(
      result, output, input, lowering.weight(*packed), epilogue->bias, epilogue->residual,
      epilogue->slope, lowering.buffer(output), op.getStrides(), op.getDilations(), merged,
      inputs / merged, activation, op.getResidualLast(), cpu::TileAttr(), imageOf(op, input));
  return success();
}

LogicalResult lowerMaxPool(GraphLowering &lowering, graph::MaxPoolOp op) {
  Value result = op.getResult();
  lowering.kernel<PoolOp>(result, lowering.storageOf(result), lowering.buffer(op.getInput()),
                          lowering.buffer(result), PoolKind::Max, op.getKernel(), op.getStrides(),
                          op.getPads(), op.getDilations(), /*count_include_pad=*/false,
                          tensorType(result).getElementType().isUnsignedInteger());
  return success();
}

LogicalResult lowerAveragePool(GraphLowering &lowering, graph::AveragePoolOp op) {
  Value result = op.getResult();
  lowering.kernel<PoolOp>(result, lowering.storageOf(result), lowering.buffer(op.getInput()),
                          lowering.buffer(result), PoolKind::Average, op.getKernel(),
                          op.getStrides(), op.getPads(), op.getDilations(),
                          op.getCountIncludePad());
  return success();
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// All rows of lhs by one packed matrix.
static LogicalResult lowerPacked(GraphLowering &lowering, Value result, Value lhs, Value matrix,
                                 bool transposed, Value bias, graph::ActivationAttr activation) {
  FailureOr<ElementsAttr> packed = lowering.constantOf(matrix);
  if (succeeded(packed)) {
    // A matrix may have batch dims of size 1.
    ArrayRef<int64_t> shape = tensorType(matrix).getShape();
    SmallVector<int64_t> last(shape.take_back(2));
    if (shape.size() == 1)
      last.push_back(1);
    packed = reinterpret(*packed, last);
  }
  if (succeeded(packed))
    packed = packMatrix(*packed, transposed, kMatrixBlock);
  if (failed(packed))
    return failure();
  ArrayRef<int64_t> shape = packed->getShapedType().getShape();
  FailureOr<Value> biasBuffer = perChannel(lowering, bias, shape[0] * shape[2]);
  if (failed(biasBuffer))
    return failure();

  int64_t depth = shape[1], rows = tensorType(lhs).getNumElements() / depth;
  int64_t columns = tensorType(result).getNumElements() / rows;
  // Rows may be padded, but are dense.
  std::optional<Storage> padded = lowering.storageOf(lhs).reshaped({1, rows, depth});
  Storage input = padded && padded->strides.back() == 1
                      ? *padded
                      : lowering.reshaped(lowering.storageOf(lhs), {1, rows, depth});
  Storage output = *lowering.storageOf(result).reshaped({1, rows, columns});
  lowering.kernel<cpu::MatMulOp>(result, output, lowering.buffer(input), lowering.weight(*packed),
                                 *biasBuffer, /*residual=*/Value(), lowering.buffer(output),
                                 /*packed=*/true, activation, cpu::TileAttr());
  return success();
}

LogicalResult lowerFullyConnected(GraphLowering &lowering, graph::FullyConnectedOp op) {
  return lowerPacked(lowering, op.getResult(), op.getInput(), op.getFilter(), /*transposed=*/true,
                     op.getBias(), op.getActivation().value_or(nullptr));
}

/// Returns a storage as [B][rows][columns]: a view where its strides can express that, and with
/// `dense` its rows are dense.
static Storage asMatrices(GraphLowering &lowering, const Storage &storage, ArrayRef<int64_t> shape,
                          bool dense) {
  std::optional<Storage> view = storage.reshaped(shape);
  if (view && (!dense || view->strides.back() == 1 || view->shape.back() == 1))
    return *view;
  return lowering.reshaped(storage, shape);
}

/// Returns one operand of a batched product as [B][rows][columns].
static Storage matrices(GraphLowering &lowering, Value value, ArrayRef<int64_t> batch, int64_t rows,
                        int64_t columns, bool broadcast, bool dense) {
  Storage storage = lowering.storageOf(value);
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  ArrayRef<int64_t> own = shape.drop_back(std::min<size_t>(shape.size(), 2));
  if (!broadcast || own == batch)
    return asMatrices(lowering, storage, {ShapedType::getNumElements(own), rows, columns}, dense);
  // A batch that broadcasts in some dims only is materialized.
  SmallVector<int64_t> full(batch.size() - own.size(), 1);
  llvm::append_range(full, own);
  full.append({rows, columns});
  Storage view = lowering.reshaped(storage, full);
  for (auto [dim, size] : llvm::enumerate(batch))
    if (view.shape[dim] != size) {
      view.shape[dim] = size;
      view.strides[dim] = 0;
    }
  Storage expanded = lowering.temporary(view.shape, view.element);
  lowering.copy(view, expanded);
  return *expanded.reshaped({ShapedType::getNumElements(batch), rows, columns});
}

ProductSizes sizesOf(graph::MatMulOp op) {
  ArrayRef<int64_t> left = tensorType(op.getLhs()).getShape(),
                    right = tensorType(op.getRhs()).getShape();
  return {left.drop_back(std::min<size_t>(left.size(), 2)),
          right.drop_back(std::min<size_t>(right.size(), 2)),
          left.size() == 1 ? 1 : left[left.size() - 2], left.back(),
          right.size() == 1 ? 1 : right.back()};
}

/// Returns into how many blocks the rows of a product with one computed matrix are divided: what a
/// block reads and writes stays in L2 while the columns go by, and blocks are tasks of their own.
static int64_t rowBlocks(int64_t rows, int64_t depth, int64_t columns) {
  constexpr int64_t kMinRows = 256, kElements = 1 << 16;
  const int64_t wanted = std::max(kMinRows, kElements / std::max<int64_t>(1, depth + columns));
  for (int64_t size = wanted; size >= wanted / 2; --size)
    if (rows % size == 0)
      return rows / size;
  return 1;
}

LogicalResult lowerMatMul(GraphLowering &lowering, graph::MatMulOp op) {
  Value lhs = op.getLhs(), rhs = op.getRhs(), result = op.getResult();
  auto [leftBatch, rightBatch, rows, depth, columns] = sizesOf(op);

  // Against one matrix all rows of all batches are one batch.
  bool oneMatrix = ShapedType::getNumElements(rightBatch) == 1;
  if (oneMatrix && isKnown(rhs))
    return lowerPacked(lowering, result, lhs, rhs, /*transposed=*/false, Value(), nullptr);
  SmallVector<int64_t> batch = *graph::broadcastShapes(leftBatch, rightBatch);
  int64_t count = ShapedType::getNumElements(batch);
  if (oneMatrix) {
    rows *= ShapedType::getNumElements(leftBatch);
    count = rowBlocks(rows, depth, columns);
    rows /= count;
  }
  bool broadcastLeft = !oneMatrix && ShapedType::getNumElements(leftBatch) != 1;
  Storage a = oneMatrix ? asMatrices(lowering, lowering.storageOf(lhs), {count, rows, depth},
                                     /*dense=*/false)
                        : matrices(lowering, lhs, batch, rows, depth, broadcastLeft,
                                   /*dense=*/false);
  Storage b = matrices(lowering, rhs, batch, depth, columns, !oneMatrix, /*dense=*/true);
  Storage output = *lowering.storageOf(result).reshaped({count, rows, columns});
  lowering.kernel<cpu::MatMulOp>(result, output, lowering.buffer(a), lowering.buffer(b),
                                 /*bias=*/Value(), /*residual=*/Value(), lowering.buffer(output),
                                 /*packed=*/false, graph::ActivationAttr(), cpu::TileAttr());
  return success();
}

} // namespace atc::kernel
