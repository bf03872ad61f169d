//===-- Passes.td - passes that all targets share ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_PASSES_TD
#define OPENATC_PASSES_KERNEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def KernelAssignHalo : Pass<"kernel-assign-halo", "::mlir::func::FuncOp"> {
  let summary = "Assign halos to tensors that padded convolutions read";
  let description = [{
    Stores such a tensor with rows and columns of padding around every plane, so
    that the kernel of the convolution needs no bounds checks. The halo becomes
    part of the `#graph.layout` encoding; views keep it in the tensor that they
    are views of.
  }];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def KernelAssignLayout : Pass<"kernel-assign-layout", "::mlir::func::FuncOp"> {
  let summary = "Assign a blocked (NCHWc) or plain layout to every tensor";
  let description = [{
    Convolutions and pools need blocked tensors, reshapes and matmuls plain
    ones, elementwise ops accept either. The assignment minimizes the bytes that
    graph.relayout ops move between both; pairs of relayouts cancel.
  }];
  let options = [Option<"block", "block", "int64_t", "16", "Channels of a block">];
  let dependentDialects = ["::atc::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let statistics = [Statistic<"numRelayouts", "num-relayouts", "graph.relayout ops left">];
}

def KernelOutline : Pass<"kernel-outline", "::mlir::ModuleOp"> {
  let summary = "Outline every kernel op into a function and launch it";
  let description = [{
    Equal kernels share a function. An om.launch replaces the op in `@main`.
    Kernels marked `npu.device` become functions that take buffers only
    (`npu.kernel`, with the module's `npu.soc`); the others are the CPU's.

    ```mlir
    kernel.copy %a, %b : memref<4xf32>, memref<4xf32>
    // becomes
    om.launch @copy(%a, %b) {cost = ... : i64} : memref<4xf32>, memref<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::atc::om::OmDialect"];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "Kernels made">,
    Statistic<"numLaunches", "num-launches", "Launches made">
  ];
}

#endif // OPENATC_PASSES_KERNEL_PASSES_TD
