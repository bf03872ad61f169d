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
      if (!op.getScales() && hasEpilogue(op) && !whyUnsupportedConv2D(op, soc).empty())
        split(op, op.getSlopeMutable());
    for (auto op : llvm::make_early_inc_range(main.getOps<ir::MatMulOp>()))
      if (hasEpilogue(op) && !whyUnsupportedMatMul(op, soc).empty())
        split(op, std::nullopt);
  }

private:
  template <typename OpT> static bool hasEpilogue(OpT op) {
    return op.getResidual() || op.getActivation();
  }

  /// Lets the contraction write its accumulators to a separate buffer, and a map compute the rest.
  template <typename OpT> void split(OpT op, std::optional<MutableOperandRange> slope) {
    OpBuilder builder(op);
    Location location = op.getLoc();
    Value output = op.getOutput();
    auto type = cast<MemRefType>(output.getType());
    SmallVector<Value> inputs{om::AllocOp::create(
        builder, location, MemRefType::get(type.getShape(), type.getElementType()),
        /*offset=*/IntegerAttr())};
    if (op.getResidual())
      inputs.push_back(op.getResidual());
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
    if (Attribute tensor = op->removeAttr(kernel::kTensorAttr))
      map->setAttr(kernel::kTensorAttr, tensor);
    op.getOutputMutable().assign(inputs.front());
    // First: it was taken before any operand left.
    if (slope)
      slope->clear();
    op.getResidualMutable().clear();
    op.removeActivationAttr();
    op.setResidualLast(false);
    remarkMissed(getArgument(), location, "Split")
        << "activation and residual are a kernel of their own: the cube's results cannot leave it "
           "with them on this SoC";
    ++numSplit;
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
