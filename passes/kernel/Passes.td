//===-- Passes.td - passes that all targets share ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_PASSES_TD
#define OPENATC_PASSES_KERNEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def KernelAssignHalo : Pass<"kernel-assign-halo", "::mlir::func::FuncOp"> {
  let summary = "Puts zero borders around tensors that padded convolutions read";
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def KernelAssignLayout : Pass<"kernel-assign-layout", "::mlir::func::FuncOp"> {
  let summary = "Chooses NCHWc or plain storage for every tensor";
  let description = [{
    Convolutions and pools want blocked tensors, reshapes and matmuls plain
    ones, elementwise ops what their operands have. graph.relayout ops stand
    where the two meet; pairs cancel.
  }];
  let options = [Option<"block", "block", "int64_t", "16", "Channels of a block">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
  let statistics = [Statistic<"numRelayouts", "num-relayouts", "graph.relayout ops left">];
}

def KernelOutline : Pass<"kernel-outline", "::mlir::ModuleOp"> {
  let summary = "Moves every kernel op into a function and launches it";
  let description = [{
    Kernels that differ in nothing are shared. The op's place in `@main` is
    taken by om.launch. Kernels marked `npu.device` go to functions that take
    buffers only (`npu.kernel`, with the module's `npu.soc`); the others are the
    CPU's.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::atc::om::OmDialect"];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "Kernels made">,
    Statistic<"numLaunches", "num-launches", "Launches made">
  ];
}

#endif // OPENATC_PASSES_KERNEL_PASSES_TD
