//===-- SplitEpilogues.cpp - moves code that FIX lacks behind contractions ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/scalar/ScalarMath.h"
#include "dialects/npu/Npu.h"
#include "passes/Remarks.h"
#include "passes/kernel/LowerGraph.h"
#include "passes/npu/Passes.h"
#include "passes/npu/contraction/CubeSupport.h"
#include "passes/npu/select/BufferViews.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUSPLITEPILOGUES
#include "passes/npu/Passes.h.inc"

namespace {
struct SplitEpiloguesPass : impl::NpuSplitEpiloguesBase<SplitEpiloguesPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    SocTable soc = socOf(main);
    for (auto op : llvm::make_early_inc_range(main.getOps<ir::Conv2DOp>()))
      if ((hasEpilogue(op) || hasCode(op)) && !whyUnsupportedConv2D(op, soc).empty()) {
        if (!op.getScales())
          split(op, op.getSlopeMutable());
        else if (soc.split && hasCode(op))
          splitStored(op);
      }
    for (auto op : llvm::make_early_inc_range(main.getOps<ir::MatMulOp>()))
      if (hasEpilogue(op) && !whyUnsupportedMatMul(op, soc).empty())
        split(op, std::nullopt);
  }

private:
  template <typename OpT> static bool hasEpilogue(OpT op) {
    return op.getResidual() || op.getActivation();
  }

  /// Returns whether code computes what is stored of an integer convolution.
  static bool hasCode(ir::Conv2DOp op) { return op.getScales() && !op.getBody().empty(); }

  /// Returns a separate buffer for the results of the contraction, and its residual.
  template <typename OpT> static SmallVector<Value> operandsOf(OpT op, OpBuilder &builder) {
    auto type = cast<MemRefType>(op.getOutput().getType());
    SmallVector<Value> inputs{om::AllocOp::create(
        builder, op.getLoc(), MemRefType::get(type.getShape(), type.getElementType()),
        /*offset=*/IntegerAttr())};
    if (op.getResidual())
      inputs.push_back(op.getResidual());
    return inputs;
  }

  /// Lets the contraction write to the first operand of the map, which computes the rest.
  template <typename OpT> void redirect(OpT op, kernel::MapOp map, StringRef what) {
    if (Attribute tensor = op->removeAttr(kernel::kTensorAttr))
      map->setAttr(kernel::kTensorAttr, tensor);
    op.getOutputMutable().assign(map.getInputs().front());
    op.getResidualMutable().clear();
    remarkMissed(getArgument(), op.getLoc(), "Split")
        << (what + " are a kernel of their own: the cube's results cannot leave it with them on "
                   "this SoC")
               .str();
    ++numSplit;
  }

  /// Lets an integer convolution store its first bytes, and a map of them compute the rest.
  void splitStored(ir::Conv2DOp op) {
    OpBuilder builder(op);
    Location location = op.getLoc();
    SmallVector<Value> inputs = operandsOf(op, builder);
    builder.setInsertionPointAfter(op);
    auto map = kernel::MapOp::create(builder, location, inputs, op.getOutput());
    Block *body = builder.createBlock(&map.getBody());
    Block &code = op.getBody().front();
    Type f32 = builder.getF32Type();
    Value byte =
        body->addArgument(cast<MemRefType>(inputs.front().getType()).getElementType(), location);
    Value real = op.getStored()->isUnsignedInteger()
                     ? arith::UIToFPOp::create(builder, location, f32, byte).getResult()
                     : arith::SIToFPOp::create(builder, location, f32, byte).getResult();
    auto number = [&](double value) {
      return graph::buildScalarConstant(builder, location, f32, value);
    };
    if (op.getOffset() != 0)
      real = arith::SubFOp::create(builder, location, real, number(double(op.getOffset())));
    if (double factor = op.getFactor()->convertToDouble(); factor != 1)
      real = arith::MulFOp::create(builder, location, real, number(factor));
    IRMapping mapping;
    mapping.map(code.getArgument(0), real);
    for (BlockArgument argument : llvm::drop_begin(code.getArguments()))
      mapping.map(argument, body->addArgument(argument.getType(), location));
    for (Operation &inner : code.without_terminator())
      builder.clone(inner, mapping);
    kernel::YieldOp::create(builder, location, mapping.lookup(code.getTerminator()->getOperand(0)));
    redirect(op, map, "what follows the first quantization and the residual");
    op.getBody().getBlocks().clear();
    op.removeFactorAttr();
  }

  /// Lets the contraction write its accumulators to a separate buffer, and a map compute the rest.
  template <typename OpT> void split(OpT op, std::optional<MutableOperandRange> slope) {
    OpBuilder builder(op);
    Location location = op.getLoc();
    Value output = op.getOutput();
    SmallVector<Value> inputs = operandsOf(op, builder);
    Value slopes;
    if (slope && !slope->empty()) {
      // [N1 * 16] beside [N][N1][H][W][16].
      kernel::Storage view = storageOf((*slope)[0].get()).split(0, 16);
      view = view.withDim(1).withDim(1).withDim(0);
      inputs.push_back(slopes = bufferOf(builder, location, view));
    }
    builder.setInsertionPointAfter(op);
    auto map = kernel::MapOp::create(builder, location, inputs, output);
    buildBody(map, op.getActivation().value_or(nullptr), bool(op.getResidual()),
              op.getResidualLast(), bool(slopes));
    // First: it was taken before any operand left.
    if (slope)
      slope->clear();
    redirect(op, map, "activation and residual");
    op.removeActivationAttr();
    op.setResidualLast(false);
  }

  static void buildBody(kernel::MapOp map, graph::ActivationAttr activation, bool hasResidual,
                        bool residualLast, bool hasSlope) {
    OpBuilder builder(map.getContext());
    Location location = map.getLoc();
    Block *body = builder.createBlock(&map.getBody());
    Type f32 = builder.getF32Type();
    SmallVector<Value> values;
    for (Value input : map.getInputs()) {
      Type element = cast<MemRefType>(input.getType()).getElementType();
      Value value = body->addArgument(element, location);
      values.push_back(element == f32 ? value
                                      : arith::ExtFOp::create(builder, location, f32, value));
    }
    Value result = values.front(), residual = hasResidual ? values[1] : Value(),
          slope = hasSlope ? values.back() : Value();
    auto add = [&] { result = arith::AddFOp::create(builder, location, result, residual); };
    if (residual && !residualLast)
      add();
    if (activation)
      result = graph::buildActivation(builder, location, activation, result, slope);
    if (residual && residualLast)
      add();
    Type element = cast<MemRefType>(map.getOutput().getType()).getElementType();
    if (element != f32)
      result = arith::TruncFOp::create(builder, location, element, result);
    kernel::YieldOp::create(builder, location, result);
  }
};
} // namespace
} // namespace atc::npu
