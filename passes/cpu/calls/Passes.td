//===-- Passes.td - generated code of host calls ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_CALLS_PASSES_TD
#define OPENATC_PASSES_CPU_CALLS_PASSES_TD

include "mlir/Pass/PassBase.td"

def CpuFuseElementCalls : Pass<"cpu-fuse-element-calls", "::mlir::ModuleOp"> {
  let summary = "Generates code for elementwise host calls of any shapes";
  let description = [{
    Elementwise host calls on floats, and those around them whose results only they
    read, become one call of the kernel "Map". It broadcasts its operands, whatever
    their shapes, and calls a kernel function for each chunk of 512 elements.

    Two calls stay apart where fusing could compute an expensive function again for each
    index of a dim that the other operand has and its own do not. Calls on integers alone
    compute shapes; they stay as they are.

    ```mlir
    %a = graph.host_call "Add"(%x, %y) {} : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<*xf32>
    %b = graph.host_call "Relu"(%a) {} : (tensor<*xf32>) -> tensor<*xf32>
    ```
    becomes
    ```mlir
    %b = graph.host_call "Map"(%x, %y) {to = array<i64: 1>} {om.body = @map_0}
        : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<*xf32>
    func.func private @map_0(%x: memref<512xf32>, %y: memref<512xf32>, %r: memref<512xf32>,
                             %begin: index, %end: index) attributes {cpu.kernel, om.called} {
      kernel.map %x, %y outs %r {...}
      return
    }
    ```
  }];
  let statistics = [Statistic<"numMaps", "num-maps", "Calls of Map made">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::LLVM::LLVMDialect", "::atc::kernel::KernelDialect"];
}

def CpuGenerateCalls : Pass<"cpu-generate-calls", "::mlir::ModuleOp"> {
  let summary = "Generates code for host calls whose ranks are known";
  let description = [{
    A call of a host kernel on floats gets a kernel function with loops over its dims, which
    are operands, for the ranks, element types, attributes and constants of the call:
    reductions, softmax, norms, losses, resizes, samples, quantization, products, convolutions
    and movement of elements. The host kernel still checks the inputs and makes the outputs,
    whose dims it infers; it computes large products and convolutions itself. RNN, GRU and LSTM
    of any ranks get code that computes cells from their gates, which the host kernel
    multiplies.

    ```mlir
    %y = graph.host_call "Softmax"(%x) {axis = array<i64: -1>} : (tensor<?x?xf32>) -> tensor<*xf32>
    ```
    gets the attribute `om.body = @softmax_0`, where
    ```mlir
    func.func private @softmax_0(%dims: memref<35xi64>, %x: memref<1xf32>, %y: memref<1xf32>,
                                 %begin: index, %end: index)
        attributes {cpu.kernel, cpu.tasks = 0, om.called} {
      scf.for %row = %begin to %end step %c1 {...}
      return
    }
    ```
  }];
  let statistics = [Statistic<"numGenerated", "num-generated", "Calls with generated code">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect",
                           "::atc::kernel::KernelDialect"];
}

#endif // OPENATC_PASSES_CPU_CALLS_PASSES_TD
