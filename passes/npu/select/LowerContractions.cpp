//===-- LowerContractions.cpp - the NPU's kernels for graph ops -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/select/LowerContractions.h"

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ImageOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "dialects/npu/Npu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/kernel/LayoutRules.h"
#include "passes/kernel/pack/PackWeights.h"
#include "passes/npu/Passes.h"
#include "passes/npu/contraction/PackNpuWeights.h"
#include "passes/npu/select/Int8Contractions.h"
#include "passes/npu/select/PixelLoads.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using atc::kernel::GraphLowering;
using atc::kernel::Storage;
using atc::kernel::tensorType;

namespace atc::npu {
#define GEN_PASS_DEF_NPULOWERGRAPH
#include "passes/npu/Passes.h.inc"

namespace {

/// Returns a bias (f32) or slope (f16) with one value per column of fractals; null when there is
/// none.
FailureOr<Value> perChannel(GraphLowering &lowering, Value vector, int64_t channels, Type element) {
  if (!vector)
    return Value();
  FailureOr<ElementsAttr> value = lowering.constantOf(vector);
  if (succeeded(value))
    value = padChannels(*value, llvm::alignTo(channels, kFractal), element);
  if (failed(value))
    return failure();
  return lowering.weight(*value);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Returns whether a map only converts its operand.
bool onlyConverts(graph::MapOp map) {
  Block &body = map.getBody().front();
  if (map.getInputs().size() != 1 || std::distance(body.begin(), body.end()) != 2 ||
      tensorType(map.getInputs()[0]).getShape() != tensorType(map.getResult()).getShape())
    return false;
  Operation &op = body.front();
  return isa<arith::TruncFOp, arith::ExtFOp, arith::UIToFPOp>(op) &&
         op.getOperand(0) == body.getArgument(0) &&
         body.getTerminator()->getOperand(0) == op.getResult(0);
}

/// Returns whether an op makes [N][C][H][W] of [N][H][W][C]. With one channel it is a reshape.
bool separatesChannels(Operation *op) {
  if (auto reshape = dyn_cast<graph::ReshapeOp>(op)) {
    ArrayRef<int64_t> from = tensorType(reshape.getInput()).getShape(),
                      to = tensorType(reshape.getResult()).getShape();
    return from.size() == 4 && to.size() == 4 && from[3] == 1 && to[1] == 1 && from[0] == to[0] &&
           from[1] == to[2] && from[2] == to[3];
  }
  auto transpose = dyn_cast<graph::TransposeOp>(op);
  return transpose && transpose.getPermutation() == ArrayRef<int64_t>{0, 3, 1, 2};
}

/// Returns the tensor that an image was converted from, if the NPU can read that, too.
ImageSource imageSource(Value image) {
  auto isReadable = [](Value value) {
    Type element = tensorType(value).getElementType();
    return kernel::blockOf(value) == 0 &&
           (element.isF32() || element.isF16() || element.isUnsignedInteger(8));
  };
  bool isInterleaved = false;
  while (Operation *op = image.getDefiningOp()) {
    auto map = dyn_cast<graph::MapOp>(op);
    const bool converts = isa<graph::CastOp>(op) || (map && onlyConverts(map));
    const bool separates = !isInterleaved && separatesChannels(op);
    if (!(converts || separates) || !isReadable(op->getOperand(0)))
      break;
    isInterleaved |= separates;
    image = op->getOperand(0);
  }
  return {image, isInterleaved};
}

/// Returns blocks of channels with contiguous pixels in each row; copied where a slice with steps
/// has left gaps.
Value denseBlocks(GraphLowering &lowering, Value value) {
  Storage source = lowering.storageOf(value);
  bool dense = source.shape[3] == 1 || source.strides[3] == kFractal;
  return lowering.buffer(dense ? source : lowering.contiguous(source));
}

/// Returns whether a convolution can load [N][C][H][W] as it lies in memory: rows without gaps, or
/// pixels without gaps whose channels are interleaved. A slice of the channels has left some.
bool isReadableImage(const Storage &image, bool isInterleaved) {
  const int64_t channels = image.shape[1], step = image.strides[3];
  return image.shape[3] == 1 || step == 1 ||
         (isInterleaved && step == channels && (channels == 1 || image.strides[1] == 1));
}

/// Lowers a convolution. `from` is the memory of an unblocked image, without a value for blocks.
LogicalResult lowerCubeConv(GraphLowering &lowering, graph::ConvOp op, const ImageSource &from) {
  const Value image = from.value;
  Value result = op.getResult();
  OpBuilder &builder = lowering.builder;
  ArrayRef<int64_t> filterShape = tensorType(op.getFilter()).getShape();
  int64_t outputs = filterShape[0];
  FailureOr<Value> bias = perChannel(lowering, op.getBias(), outputs, builder.getF32Type()),
                   slope = perChannel(lowering, op.getSlope(), outputs, builder.getF16Type());
  FailureOr<ElementsAttr> filter = lowering.constantOf(op.getFilter());
  if (failed(bias) || failed(slope) || failed(filter))
    return failure();

  Value input;
  int64_t blockGroups = 1;
  ir::PixelsAttr pixels;
  if (auto preprocess = image ? image.getDefiningOp<graph::PreprocessOp>() : nullptr) {
    const PixelLoad load = *findPixelLoad(preprocess);
    pixels = load.attributes(builder);
    Storage window = load.window(lowering.storageOf(preprocess.getImage()));
    window.element = tensorType(preprocess.getImage()).getElementType();
    input = lowering.buffer(window);
    filter = packImageFilter(*filter, load.order);
  } else if (image) {
    // The rows of a plane are read as one run each, or pixels with all their channels. Storage is
    // signless, the pixels that are loaded are not.
    Storage source = lowering.storageOf(image);
    if (from.isInterleaved)
      source = source.permuted({0, 3, 1, 2});
    if (!isReadableImage(source, from.isInterleaved))
      source = lowering.contiguous(source);
    source.element = tensorType(image).getElementType();
    input = lowering.buffer(source);
    filter = packImageFilter(*filter);
  } else {
    ChannelGroups channels{int64_t(op.getGroups()), tensorType(op.getInput()).getDimSize(1),
                           outputs};
    blockGroups = channels.blockGroups();
    input = denseBlocks(lowering, op.getInput());
    filter = packConvFilter(*filter, channels, blockGroups);
  }
  if (failed(filter))
    return failure();
  Value residual = op.getResidual() ? denseBlocks(lowering, op.getResidual()) : Value();
  int64_t macs =
      tensorType(result).getNumElements() * ShapedType::getNumElements(filterShape.drop_front());
  lowering.kernel<ir::Conv2DOp>(
      result, lowering.storageOf(result), input, lowering.weight(*filter), *bias, residual, *slope,
      /*scales=*/Value(), /*identity=*/Value(), lowering.buffer(result), filterShape.drop_front(2),
      op.getStrides(), op.getDilations(), op.getPads(), blockGroups, bool(image), macs,
      op.getActivation().value_or(nullptr), op.getResidualLast(), /*stored=*/TypeAttr(),
      /*stored_relu=*/false, /*offset=*/int64_t(0),
      /*factor=*/FloatAttr(), /*unsigned_input=*/false, /*pad_value=*/int64_t(0),
      /*image_scale=*/FloatAttr(), pixels, ir::TileAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

bool hasDenseRows(const Storage &storage) {
  return storage.shape.back() == 1 || storage.strides.back() == 1;
}

/// Returns all rows of a tensor as [1][1][rows][columns]; copied where strides cannot express that.
Storage oneMatrix(GraphLowering &lowering, const Storage &storage, int64_t columns) {
  SmallVector<int64_t> shape{1, 1, ShapedType::getNumElements(storage.shape) / columns, columns};
  std::optional<Storage> view = storage.reshaped(shape);
  if (view && hasDenseRows(*view))
    return *view;
  return *lowering.contiguous(storage).reshaped(shape);
}

LogicalResult lowerPacked(GraphLowering &lowering, Value result, Value lhs, Value matrix,
                          bool transposed, Value bias, graph::ActivationAttr activation) {
  FailureOr<ElementsAttr> packed = lowering.constantOf(matrix);
  if (failed(packed))
    return failure();
  // A matrix may have batch dims of size 1.
  ArrayRef<int64_t> shape = tensorType(matrix).getShape();
  SmallVector<int64_t> last(shape.take_back(2));
  if (shape.size() == 1)
    last.push_back(1);
  packed = kernel::reinterpret(*packed, last);
  if (succeeded(packed))
    packed = packCubeMatrix(*packed, transposed);
  if (failed(packed))
    return failure();
  int64_t depth = last[transposed ? 1 : 0], columns = last[transposed ? 0 : 1];
  FailureOr<Value> biasBuffer = perChannel(lowering, bias, columns, lowering.builder.getF32Type());
  if (failed(biasBuffer))
    return failure();
  Storage input = oneMatrix(lowering, lowering.storageOf(lhs), depth);
  Storage output = *lowering.storageOf(result).reshaped({1, 1, input.shape[2], columns});
  lowering.kernel<ir::MatMulOp>(result, output, lowering.buffer(input), lowering.weight(*packed),
                                *biasBuffer, Value(), lowering.buffer(output), /*packed=*/true,
                                /*transpose_rhs=*/false, APFloat(1.0), activation,
                                /*residual_last=*/false, ir::TileAttr());
  return success();
}

/// Returns a tensor as [B0][B1][rows][columns], with the dims `own` in front of its matrices (a
/// vector is a row or a column) broadcast to `batch` where `expand` is set.
Storage products(GraphLowering &lowering, const Storage &storage, ArrayRef<int64_t> own,
                 ArrayRef<int64_t> batch, int64_t rows, int64_t columns, bool expand) {
  SmallVector<int64_t> shape(batch.size() - own.size(), 1);
  llvm::append_range(shape, own);
  bool broadcasts = shape != SmallVector<int64_t>(batch);
  shape.append({rows, columns});
  // Dims of size 1 never hinder a view.
  Storage view = *storage.reshaped(shape);
  if (batch.size() > 2) {
    // More than two dims become one, written out where they broadcast.
    Storage all = view;
    for (auto [dim, size] : llvm::enumerate(batch))
      if (all.shape[dim] != size) {
        all.shape[dim] = size;
        all.strides[dim] = 0;
      }
    SmallVector<int64_t> flat{1, ShapedType::getNumElements(batch), rows, columns};
    if (std::optional<Storage> merged = (broadcasts ? all : view).reshaped(flat))
      return *merged;
    Storage written = lowering.temporary(all.shape, all.element);
    lowering.copy(all, written);
    return *written.reshaped(flat);
  }
  while (view.rank() < 4)
    view = view.withDim(0);
  for (unsigned i = 0, missing = 2 - batch.size(); expand && i < batch.size(); ++i)
    if (view.shape[missing + i] != batch[i]) {
      view.shape[missing + i] = batch[i];
      view.strides[missing + i] = 0;
    }
  return view;
}

LogicalResult lowerProduct(GraphLowering &lowering, graph::MatMulOp op) {
  Value lhs = op.getLhs(), rhs = op.getRhs(), result = op.getResult();
  auto [leftBatch, rightBatch, rows, depth, columns] = kernel::sizesOf(op);
  bool isMatrix = ShapedType::getNumElements(rightBatch) == 1;
  if (isMatrix && kernel::isKnown(rhs))
    return lowerPacked(lowering, result, lhs, rhs, /*transposed=*/false, Value(), nullptr);

  Storage a = lowering.storageOf(lhs), b = lowering.storageOf(rhs),
          output = lowering.storageOf(result);
  SmallVector<int64_t> batch = *graph::broadcastShapes(leftBatch, rightBatch);
  // Against one matrix all rows of all batches are one batch.
  std::optional<Storage> merged =
      isMatrix ? output.reshaped({1, 1, rows * ShapedType::getNumElements(leftBatch), columns})
               : std::nullopt;
  if (merged) {
    output = *merged;
    a = oneMatrix(lowering, a, depth);
    b = *b.reshaped({1, 1, depth, columns});
  } else {
    a = products(lowering, a, leftBatch, batch, rows, depth, /*expand=*/true);
    b = products(lowering, b, rightBatch, batch, depth, columns, /*expand=*/false);
    output = products(lowering, output, batch, batch, rows, columns, /*expand=*/false);
  }
  if (!hasDenseRows(a))
    a = lowering.contiguous(a);
  bool transposed = !hasDenseRows(b) && (b.shape[2] == 1 || b.strides[2] == 1);
  if (transposed)
    b = b.permuted({0, 1, 3, 2});
  else if (!hasDenseRows(b))
    b = lowering.contiguous(b);
  lowering.kernel<ir::MatMulOp>(result, output, lowering.buffer(a), lowering.buffer(b), Value(),
                                Value(), lowering.buffer(output), /*packed=*/false, transposed,
                                APFloat(1.0), graph::ActivationAttr(), /*residual_last=*/false,
                                ir::TileAttr());
  return success();
}

bool isKnownOrNone(Value value) { return !value || kernel::isKnown(value); }

} // namespace

NpuKernels::NpuKernels(ModuleOp module) {
  module.walk([&](graph::ConvOp conv) {
    if (kernel::readsImage(conv))
      images[conv] = imageSource(conv.getInput());
  });
}

bool NpuKernels::has(Operation *op) const {
  // A preprocess op that is still there is part of the convolutions that read it.
  if (isa<graph::PreprocessOp>(op))
    return true;
  if (op->hasAttr(kernel::kCubeSumsAttr))
    return true;
  if (!kernel::isCubeContraction(op) || !tensorType(op->getResult(0)).getElementType().isF16())
    return false;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([](graph::ConvOp op) {
        bool blocks = kernel::readsImage(op) || kernel::blockOf(op.getInput()) == kFractal;
        return tensorType(op.getInput()).getRank() == 4 && blocks &&
               kernel::blockOf(op.getResult()) == kFractal && kernel::isKnown(op.getFilter()) &&
               isKnownOrNone(op.getBias()) && isKnownOrNone(op.getSlope());
      })
      .Case([](graph::FullyConnectedOp op) {
        return kernel::isKnown(op.getFilter()) && isKnownOrNone(op.getBias());
      })
      .Default([](Operation *) { return true; });
}

LogicalResult NpuKernels::lower(GraphLowering &lowering, Operation *op) const {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<graph::IntegerConvOp, graph::IntegerFullyConnectedOp>(
          [&](Operation *op) { return lowerCubeSums(lowering, op); })
      .Case([&](graph::ConvOp op) { return lowerCubeConv(lowering, op, images.lookup(op)); })
      .Case([&](graph::FullyConnectedOp op) {
        return lowerPacked(lowering, op.getResult(), op.getInput(), op.getFilter(),
                           /*transposed=*/true, op.getBias(), op.getActivation().value_or(nullptr));
      })
      .Case([&](graph::MatMulOp op) { return lowerProduct(lowering, op); })
      .Case([](graph::PreprocessOp) { return success(); })
      .Default([](Operation *) { return failure(); });
}

namespace {
struct LowerGraphPass : impl::NpuLowerGraphBase<LowerGraphPass> {
  void runOnOperation() override {
    if (failed(kernel::lowerGraph(getOperation(), NpuKernels(getOperation()))))
      signalPassFailure();
  }
};
} // namespace

} // namespace atc::npu
