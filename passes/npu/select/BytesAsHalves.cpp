//===-- BytesAsHalves.cpp - computes on bytes in f16 ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/Graph.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/Remarks.h"
#include "passes/ValueTypes.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/kernel/LayoutRules.h"
#include "passes/npu/GraphPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUBYTESASHALVES
#include "passes/npu/GraphPasses.h.inc"

namespace {

/// Returns whether elements are bytes or bools: f16 holds each of their values.
bool isByte(Type element) { return element.isInteger(8) || element.isInteger(1); }

/// Returns whether an op is the position of the largest or smallest unsigned byte. Neither side has
/// a kernel that compares such bytes.
bool comparesUnsigned(Operation &op) {
  return isa<graph::ArgMaxOp, graph::ArgMinOp>(op) &&
         tensorTypeOf(op.getOperand(0)).getElementType().isUnsignedInteger(8);
}

/// Returns whether an expand repeats elements along the last dim: vector instructions repeat
/// numbers, which bytes are not.
bool repeatsElements(graph::ExpandOp op) {
  RankedTensorType from = tensorTypeOf(op.getInput()), to = op.getResult().getType();
  return to.getRank() > 0 && to.getShape().back() != 1 &&
         (from.getRank() == 0 || from.getShape().back() == 1);
}

/// Returns whether a resize picks elements at positions that are no multiples, which is a product
/// with zeros and ones in f16.
bool picksElements(graph::ResizeOp op) {
  if (op.getMode() != graph::ResizeMode::Nearest)
    return false;
  for (auto [from, to] :
       llvm::zip_equal(tensorTypeOf(op.getInput()).getShape(), op.getType().getShape()))
    if (from > 0 && to % from != 0)
      return true;
  return false;
}

/// Returns the bytes that the whole numbers in `value` are, with the code that the vector unit
/// stores bytes by.
Value bytesOf(OpBuilder &builder, Location loc, Value value, RankedTensorType type) {
  Type element = type.getElementType();
  if (element.isInteger(1))
    return graph::CastOp::create(builder, loc, type, value);
  const bool isUnsigned = element.isUnsignedInteger();
  auto map = graph::MapOp::create(builder, loc, type, ValueRange(value));
  Block &body = map.getBody().emplaceBlock();
  Value number = body.addArgument(tensorTypeOf(value).getElementType(), loc);
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  auto constant = [&](double bound) {
    return arith::ConstantOp::create(inside, loc, inside.getFloatAttr(number.getType(), bound));
  };
  number = math::RoundEvenOp::create(inside, loc, number);
  number = arith::MaximumFOp::create(inside, loc, number, constant(isUnsigned ? 0 : -128));
  number = arith::MinimumFOp::create(inside, loc, number, constant(isUnsigned ? 255 : 127));
  Type byte = inside.getI8Type();
  number = isUnsigned ? Value(arith::FPToUIOp::create(inside, loc, byte, number))
                      : Value(arith::FPToSIOp::create(inside, loc, byte, number));
  graph::YieldOp::create(inside, loc, number);
  return map.getResult();
}

struct BytesAsHalvesPass : impl::NpuBytesAsHalvesBase<BytesAsHalvesPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    const graph::HostNodes hostNodes(function);
    // npu-decompose makes products of resizes only where nothing is computed in integers.
    const bool hasProducts = llvm::none_of(
        function.getOps(), [](Operation &op) { return op.hasAttr(kernel::kCubeSumsAttr); });
    SmallVector<Operation *> ops;
    for (Operation &op : function.getOps()) {
      auto expand = dyn_cast<graph::ExpandOp>(op);
      auto resize = dyn_cast<graph::ResizeOp>(op);
      if ((isa<graph::ArgMaxOp, graph::ArgMinOp>(op) || (expand && repeatsElements(expand)) ||
           (resize && hasProducts && picksElements(resize))) &&
          isByte(tensorTypeOf(op.getOperand(0)).getElementType()) &&
          (comparesUnsigned(op) || !hostNodes.contains(&op)))
        ops.push_back(&op);
    }
    for (Operation *op : ops)
      convert(op);
  }

private:
  void convert(Operation *op) {
    OpBuilder builder(op);
    Type half = builder.getF16Type();
    auto withElement = [](Value value, Type element) {
      return RankedTensorType::get(tensorTypeOf(value).getShape(), element);
    };
    Value input = op->getOperand(0), result = op->getResult(0);
    op->setOperand(0,
                   graph::CastOp::create(builder, op->getLoc(), withElement(input, half), input));
    if (const RankedTensorType type = tensorTypeOf(result);
        type.getElementType() == tensorTypeOf(input).getElementType()) {
      result.setType(withElement(result, half));
      builder.setInsertionPointAfter(op);
      Value bytes = bytesOf(builder, op->getLoc(), result, type);
      result.replaceAllUsesExcept(bytes, bytes.getDefiningOp());
    }
    ++numConverted;
    remarkPassed(getArgument(), op->getLoc(), "Converted")
        << "bytes are f16 here, which holds each of them";
  }
};

} // namespace
} // namespace atc::npu
