//===-- BatchParts.cpp - divides kernels along the batch -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/schedule/BatchParts.h"

#include "dialects/npu/Npu.h"
#include "passes/ValueTypes.h"
#include "passes/kernel/LowerGraph.h"
#include "passes/kernel/Storage.h"
#include "passes/npu/vector/TileNest.h"
#include "passes/om/Schedule.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace atc::npu {

namespace {

/// Returns the dim along which `value` is divided if only its outermost dim varies.
int outerDim(Value value) {
  ArrayRef<int64_t> shape = bufferTypeOf(value).getShape();
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size > 1)
      return dim;
  return -1;
}

/// Returns `dim` for all operands except those of size 1 there.
std::optional<OperandDims> alongDim(Operation *op, int dim) {
  if (dim < 0)
    return std::nullopt;
  OperandDims dims;
  for (Value operand : op->getOperands())
    dims.push_back(bufferTypeOf(operand).getDimSize(dim) == 1 ? -1 : dim);
  return dims;
}

/// Returns the type of a view of the first part of a memref.
MemRefType partOf(MemRefType type, int dim, int64_t parts) {
  kernel::Storage storage;
  storage.element = type.getElementType();
  storage.shape.assign(type.getShape().begin(), type.getShape().end());
  storage.shape[dim] /= parts;
  storage.strides = type.getStridesAndOffset().first;
  return storage.type();
}

/// Returns 0 for the result and operands of the shape [images]...; the others are weights.
OperandDims alongImages(Operation *op, ArrayRef<Value> activations) {
  OperandDims dims;
  for (Value operand : op->getOperands())
    dims.push_back(llvm::is_contained(activations, operand) ? 0 : -1);
  return dims;
}

std::optional<OperandDims> matmulDims(ir::MatMulOp op) {
  int outer = outerDim(op.getOutput());
  if (outer < 0 || outer == 3)
    return std::nullopt;
  OperandDims dims;
  for (OpOperand &use : op->getOpOperands()) {
    const Value operand = use.get();
    // A tensor that is multiplied with itself is cut as the first factor only.
    const bool isRhs = operand == op.getRhs() && use.getOperandNumber() != 0;
    const bool isBias = operand == op.getBias();
    if (isBias || (isRhs && op.getPacked()))
      dims.push_back(-1);
    else if (isRhs)
      dims.push_back(outer < 2 && bufferTypeOf(operand).getDimSize(outer) > 1 ? outer : -1);
    else
      dims.push_back(outer);
  }
  return dims;
}

std::optional<OperandDims> independentDims(Operation *op) {
  using Result = std::optional<OperandDims>;
  Value output = op->getOperands().back();
  int outer = outerDim(output);
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](ir::Conv2DOp op) {
        return alongImages(op, {op.getInput(), op.getResidual(), op.getOutput()});
      })
      .Case([&](ir::MatMulOp op) { return matmulDims(op); })
      .Case<kernel::PoolOp, kernel::PackOp, kernel::UnpackOp>(
          [&](auto op) { return alongImages(op, {op.getInput(), op.getOutput()}); })
      .Case([&](ir::LayerNormOp op) -> Result {
        return outer == 0 ? alongImages(op, {op.getInput(), output}) : Result();
      })
      .Case<kernel::MapOp, kernel::CopyOp>([&](auto op) { return alongDim(op, outer); })
      .Case([&](kernel::FillOp op) -> Result {
        bool inBorder = op.getBorder() && outer > 1;
        return inBorder ? Result() : alongDim(op, outer);
      })
      .Case([&](kernel::ReduceOp op) -> Result {
        return llvm::is_contained(op.getAxes(), outer) ? Result() : alongDim(op, outer);
      })
      .Case<kernel::SoftmaxOp, kernel::ArgReduceOp>([&](auto op) -> Result {
        return int64_t(op.getAxis()) == outer ? Result() : alongDim(op, outer);
      })
      .Case([&](kernel::PadOp op) -> Result {
        bool inside = outer >= 0 && bufferTypeOf(op.getInput()).getDimSize(outer) ==
                                        bufferTypeOf(output).getDimSize(outer);
        return inside ? alongDim(op, outer) : Result();
      })
      .Case([&](kernel::ResizeOp op) -> Result {
        return outer >= 0 && op.getScales()[outer] == 1.0 ? alongDim(op, outer) : Result();
      })
      .Default([](Operation *) { return Result(); });
}

/// Returns whether part p of the operand is in part p of its buffer, for all p.
bool liesInParts(Value operand, int dim, int64_t parts) {
  MemRefType type = bufferTypeOf(operand);
  int64_t size = type.getDimSize(dim);
  om::BufferPart origin = om::resolveViews(operand);
  int64_t whole = bytesOf(origin.root);
  if (size % parts || whole % parts)
    return false;
  int64_t step = size / parts * type.getStridesAndOffset().first[dim] * elementBytes(operand);
  int64_t room = whole / parts, bytes = om::spanInBytes(partOf(type, dim, parts));
  return step == room && origin.offset >= 0 && origin.offset + bytes <= room;
}

} // namespace

int64_t bytesOf(Value root) { return om::spanInBytes(bufferTypeOf(root)); }

std::optional<OperandDims> batchDimsOf(kernel::KernelOpInterface op, int64_t parts) {
  std::optional<OperandDims> dims = independentDims(op);
  if (!dims || dims->back() < 0)
    return std::nullopt;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), *dims))
    if (dim >= 0 && !liesInParts(operand, dim, parts))
      return std::nullopt;
  return dims;
}

void PartWriter::write(kernel::KernelOpInterface op, const OperandDims &dims, int64_t part) {
  SmallVector<Value> operands;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), dims))
    operands.push_back(dim < 0 ? operand : slice(operand, dim, part));
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  if (auto conv = dyn_cast<ir::Conv2DOp>(copy))
    conv.setMacs(conv.getMacs() / parts);
  // The copy writes only a part of the tensor.
  if (auto attribute = copy->getAttrOfType<TypeAttr>(kernel::kTensorAttr)) {
    auto tensor = cast<RankedTensorType>(attribute.getValue());
    SmallVector<int64_t> shape(tensor.getShape());
    auto batch = llvm::find_if(shape, [](int64_t size) { return size > 1; });
    if (batch != shape.end() && *batch % parts == 0) {
      *batch /= parts;
      copy->setAttr(kernel::kTensorAttr, TypeAttr::get(tensor.clone(shape)));
    } else {
      copy->removeAttr(kernel::kTensorAttr);
    }
  }
}

Value PartWriter::slice(Value operand, int dim, int64_t part) {
  MemRefType type = bufferTypeOf(operand);
  om::BufferPart origin = om::resolveViews(operand);
  Memory target = memory.lookup(origin.root);
  int64_t from = target.onlyPart ? 0 : part * (bytesOf(origin.root) / parts);
  MemRefType wanted = partOf(type, dim, parts);
  if (from + origin.offset == 0 && target.buffer.getType() == wanted)
    return target.buffer;
  return om::ViewOp::create(b, operand.getLoc(), wanted, target.buffer, from + origin.offset);
}

} // namespace atc::npu
