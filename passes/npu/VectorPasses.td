//===-- VectorPasses.td - further expansions to the vector queue -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_VECTOR_PASSES_TD
#define OPENATC_NPU_VECTOR_PASSES_TD

include "mlir/Pass/PassBase.td"

def NpuExpandArgReduce : Pass<"npu-expand-arg-reduce", "::mlir::ModuleOp"> {
  let summary = "Expand kernel.arg_reduce to programs of the vector queue";
  let description = [{
    Rows are reduced twice: to their extremum, and to the number of the first (or
    last) element that equals it. Along another dim, runs of elements are compared
    with the best ones so far. Indices leave ub as integers of 64 bits.
  }];
  let dependentDialects = ["::atc::npu::ir::NpuDialect"];
}

#endif // OPENATC_NPU_VECTOR_PASSES_TD
