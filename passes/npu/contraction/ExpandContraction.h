//===-- ExpandContraction.h - shared by npu-expand-conv2d and -matmul ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_CONTRACTION_EXPANDCONTRACTION_H
#define OPENATC_PASSES_NPU_CONTRACTION_EXPANDCONTRACTION_H

#include "passes/npu/contraction/CubeSupport.h"
#include "passes/npu/contraction/TileCosts.h"

namespace atc::npu {

/// Replaces each kernel function of an OpT by a program; fails after an error at the op.
template <typename OpT> mlir::LogicalResult expandContractions(mlir::ModuleOp module) {
  for (auto function : llvm::make_early_inc_range(module.getOps<mlir::func::FuncOp>())) {
    OpT op = kernelOpOf<OpT>(function);
    if (!op)
      continue;
    SocTable soc = socOf(op);
    std::string errorText;
    Contraction contraction = describe(op, soc, errorText);
    Plan plan;
    if (errorText.empty() && !op.getTile())
      errorText = "it has no tile: npu-select-tiles has not run";
    if (errorText.empty()) {
      plan = planOf(contraction, tileOf(*op.getTile()), soc);
      errorText = plan.errorText;
    }
    if (!errorText.empty())
      return op.emitOpError("cannot become a program for ") << soc.name << ": " << errorText;
    ProgramWriter writer(function, {plan.coresOuter, plan.coresRow, plan.tile.coresN});
    writeContraction(writer, contraction, plan);
    writer.finish();
  }
  return mlir::success();
}

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_CONTRACTION_EXPANDCONTRACTION_H
