//===-- GeneratedOps.cpp - for which operators code can be generated ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/GeneratedOps.h"

#include "dialects/graph/HostCalls.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "passes/kernel/LayoutRules.h"
#include "passes/kernel/LowerGraph.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace atc::kernel {

namespace {

/// Returns whether a value is a constant, or will be after constant folding.
bool becomesConstant(Value value) {
  if (!value)
    return false;
  Operation *op = value.getDefiningOp();
  return op && (isa<graph::ConstantOp>(op) ||
                (op->getNumOperands() > 0 && llvm::all_of(op->getOperands(), becomesConstant)));
}

bool isConstantOrNone(Value value) { return !value || becomesConstant(value); }

bool hasElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && graph::isPlainTensor(type) && !llvm::is_contained(tensor.getShape(), 0);
}

/// Returns whether a value is an image with one or two spatial dims, the forms that RaiseTo2D
/// leaves.
bool isImage(Value value) {
  int64_t rank = tensorType(value).getRank();
  return rank == 3 || rank == 4;
}

} // namespace

bool canGenerate(Operation *op, bool widenFloats) {
  if (isa<graph::ConstantOp>(op))
    return true;
  // Interpolated integers are truncated, so that each rounding of the sum before counts: the host
  // kernel adds in the order of the source format's runtimes. Only targets with host kernels do.
  if (auto cast = dyn_cast<graph::CastOp>(op); cast && widenFloats) {
    auto resize = cast.getInput().getDefiningOp<graph::ResizeOp>();
    if (resize && resize.getMode() != graph::ResizeMode::Nearest &&
        isa<IntegerType>(tensorType(cast.getResult()).getElementType()))
      return false;
  }
  if (!llvm::all_of(op->getOperandTypes(), hasElements) ||
      !llvm::all_of(op->getResultTypes(), hasElements))
    return false;
  auto multiplies = [&](Value value) {
    Type element = tensorType(value).getElementType();
    return element.isF32() || element.isF16() || (widenFloats && element.isBF16()) ||
           isa<mlir::quant::QuantizedType>(element);
  };
  if (isElementwise(op))
    return whyUnsupported(op, TargetKernels()).empty();
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<graph::ConvOp, graph::ConvTransposeOp>([&](auto conv) {
        return isImage(conv.getInput()) && multiplies(conv.getInput()) &&
               becomesConstant(conv.getFilter()) && isConstantOrNone(conv.getBias());
      })
      .Case([&](graph::FullyConnectedOp op) {
        return multiplies(op.getInput()) && becomesConstant(op.getFilter()) &&
               isConstantOrNone(op.getBias());
      })
      .Case([&](graph::MatMulOp op) { return multiplies(op.getLhs()); })
      .Case([&](graph::BatchNormOp op) {
        return llvm::all_of(op->getOperands().drop_front(), becomesConstant) ||
               tensorType(op.getInput()).getElementType().isF32();
      })
      .Case<graph::MaxPoolOp, graph::AveragePoolOp>(
          [](auto pool) { return isImage(pool.getInput()); })
      .Case([](graph::ReduceOp reduce) {
        return !tensorType(reduce.getInput()).getElementType().isUnsignedInteger();
      })
      .Case<graph::ArgMaxOp, graph::ArgMinOp>([&](auto arg) {
        Type element = tensorType(arg.getInput()).getElementType();
        return !element.isUnsignedInteger() || (element.isInteger(8) && !widenFloats);
      })
      .Case<graph::PadOp, graph::GatherOp>(
          [](Operation *op) { return whyUnsupported(op, TargetKernels()).empty(); })
      .Default(true);
}

} // namespace atc::kernel
