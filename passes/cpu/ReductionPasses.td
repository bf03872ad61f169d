//===-- ReductionPasses.td - passes on sums of computed values *- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_REDUCTIONPASSES_TD
#define OPENATC_PASSES_CPU_REDUCTIONPASSES_TD

include "mlir/Pass/PassBase.td"

def CpuExpandMapReduce : Pass<"cpu-expand-map-reduce", "::mlir::func::FuncOp"> {
  let summary = "Expand cpu.map_reduce into loops on vectors";
  let description = [{
    Works like the other expansions: the op becomes a loop over tasks.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def CpuFuseReductions : Pass<"cpu-fuse-reductions", "::mlir::ModuleOp"> {
  let summary = "Compute maps inside of the sums that read them, and sums of one tensor at once";
  let description = [{
    Works on the kernels of `@main`: a map whose result only a sum or mean reads
    becomes the body of a `cpu.map_reduce`. Sums over the same positions and axes
    that read a common tensor become one kernel, which reads it once: the two
    sums of a normalization's gradient, or those of a depthwise filter's.
  }];
  let statistics = [Statistic<"numFused", "fused", "Number of maps computed inside of sums">,
                    Statistic<"numMerged", "merged", "Number of sums joined with another one">];
  let dependentDialects = ["::atc::cpu::CpuDialect", "::atc::om::OmDialect"];
}

#endif // OPENATC_PASSES_CPU_REDUCTIONPASSES_TD
