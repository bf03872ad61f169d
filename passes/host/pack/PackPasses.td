//===-- PackPasses.td - what host calls read of constants --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_PACK_PACKPASSES_TD
#define OPENATC_PASSES_HOST_PACK_PACKPASSES_TD

include "mlir/Pass/PassBase.td"

def HostPackGates : Pass<"host-pack-gates", "::mlir::func::FuncOp"> {
  let summary = "Packs constant weights of recurrent cells";
  let description = [{
    Puts the constant f32 weights W and R of an RNN, GRU or LSTM in the order in which
    the host kernel reads them (kernels/nn/gates/GateLayout.h), and adds the parameter
    `packed`. The dims stay. Without it the kernel packs the weights in each run.

    ```mlir
    %y = graph.host_call "RNN"(%x, %w, %r) {} : ...
    ```
    becomes
    ```mlir
    %y = graph.host_call "RNN"(%x, %w_packed, %r_packed) {packed = array<i64: 1>} : ...
    ```
  }];
  let statistics = [Statistic<"numPacked", "num-packed", "Calls whose weights were packed">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostPackAttributes : Pass<"host-pack-attributes", "::mlir::func::FuncOp"> {
  let summary = "Packs decision trees and support vectors when the model is compiled";
  let description = [{
    TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor describe their trees by up to
    twelve lists, which each call would convert to one array of nodes. This pass calls that
    conversion (PackTrees) and replaces the lists by its results, the attributes `packed_...`.
    In the same way PackVectors makes columns of the support vectors of SVMClassifier and
    SVMRegressor.

    Left alone are calls whose lists are missing or contradict each other; these fail with the reason.
  }];
  let statistics = [Statistic<"numPacked", "num-packed", "Calls whose lists were packed">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostPackWeights : Pass<"host-pack-weights", "::mlir::func::FuncOp"> {
  let summary = "Packs constant weights of MatMul and Gemm for their kernel";
  let description = [{
    MatMul and Gemm whose second factor is a constant matrix of f32, f16 or bf16 become
    PackedMatMul: the k x n weights are stored as panels of 16 columns, [ceil(n / 16), k, 16].
    A product with few rows then reads memory in order, and none packs weights when it runs.
    Weights of 16 bits stay so; PackedMatMul makes them floats in registers.

    With `storage=exact`, weights of f32 that all are numbers of 16 bits are stored so, as
    those of models that were trained in bf16; `f16` and `bf16` round them, unless one is too
    large. Only weights of 16 bits are packed with `only-narrow`.

    Left alone are weights of less than 4096 elements, and a Gemm with a first factor that is
    transposed or scaled, or with a bias that is not one number per column.
  }];
  let options = [
    Option<"storage", "storage", "std::string", "\"exact\"",
           "Element type of packed weights of f32: f32, exact, f16 or bf16">,
    Option<"convertsHalfs", "converts-halfs", "bool", "true",
           "Whether all CPU levels have an instruction that makes floats of f16">,
    Option<"onlyNarrow", "only-narrow", "bool", "false", "Packs weights of f16 and bf16 only">
  ];
  let statistics = [Statistic<"numPacked", "num-packed", "Calls with packed weights">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostPackBytes : Pass<"host-pack-bytes", "::mlir::func::FuncOp"> {
  let summary = "Packs constant 8-bit weights of products and convolutions for their kernel";
  let description = [{
    Puts the constant k x n weights of MatMulInteger, MatMulIntegerToFloat,
    DynamicQuantizeMatMul, QLinearMatMul and QGemm in the order in which the kernels multiply them
    (kernels/core/BytePanels.h), and adds the parameter `packed`: the sum of each column, by which
    the zero point of the other factor is taken out. The dims stay, with QGemm's `transB` too.
    Without it the kernels pack the weights in each run.

    ```mlir
    %y = graph.host_call "MatMulInteger"(%x, %w) {} : ...
    ```
    becomes
    ```mlir
    %y = graph.host_call "MatMulInteger"(%x, %w_packed) {packed = array<i64: ...>} : ...
    ```

    The same is done for the filters of QLinearConv and ConvInteger, four input channels side by
    side, with the sum of each output channel.

    Left alone are weights that would take more bytes than before: a matrix whose k is no multiple
    of 4 or n none of 16, and filters whose input channels are no multiple of 4. So are filters of
    groups with one or two output channels, which no product computes.
  }];
  let statistics = [Statistic<"numPacked", "num-packed", "Calls with packed weights">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

#endif // OPENATC_PASSES_HOST_PACK_PACKPASSES_TD
