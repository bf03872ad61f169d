//===-- ExpandMatMul.cpp - npu.matmul becomes a program --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/Passes.h"
#include "passes/npu/contraction/ExpandContraction.h"
#include "passes/npu/contraction/MultiHeadMatMul.h"

namespace atc::npu {
#define GEN_PASS_DEF_NPUEXPANDMATMUL
#include "passes/npu/Passes.h.inc"

namespace {
struct ExpandMatMulPass : impl::NpuExpandMatMulBase<ExpandMatMulPass> {
  void runOnOperation() override {
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<mlir::func::FuncOp>()))
      if (auto product = kernelOpOf<ir::MatMulOp>(function))
        joinProducts(function, product);
    if (failed(expandContractions<ir::MatMulOp>(getOperation())))
      signalPassFailure();
  }

  /// Expands products that are stored side by side to a special program.
  void joinProducts(mlir::func::FuncOp function, ir::MatMulOp op) {
    SocTable soc = socOf(op);
    std::string errorText;
    Contraction contraction = describe(op, soc, errorText);
    if (!errorText.empty())
      return;
    std::optional<JoinedPlan> plan = joinedPlanOf(contraction, soc);
    if (!plan)
      return;
    ProgramWriter writer(function, plan->grid());
    writeJoinedProducts(writer, contraction, *plan);
    writer.finish();
    ++numJoined;
  }
};
} // namespace
} // namespace atc::npu
