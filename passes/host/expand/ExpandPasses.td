//===-- ExpandPasses.td - passes that replace host calls ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_EXPAND_EXPANDPASSES_TD
#define OPENATC_PASSES_HOST_EXPAND_EXPANDPASSES_TD

include "mlir/Pass/PassBase.td"

def HostExpandAttention : Pass<"host-expand-attention", "::mlir::func::FuncOp"> {
  let summary = "Replaces attention and rotary embeddings by products, a softmax and maps";
  let description = [{
    Attention of ONNX, MultiHeadAttention and Attention of com.microsoft, and rotary
    embeddings, where all shapes are static: the scores are a tensor then. Heads that
    share keys are rows of one matrix. A query that a mask of bools hides all keys from
    has the result 0, as in the host kernel.

    GroupQueryAttention counts positions by data: its new rows enter the cache behind the
    valid ones by selections, those of several new positions by a gather, and tables of
    angles are read by positions. Lengths beyond the cache, an error of the host kernel,
    are those of a full cache. The length of all positions has to be a constant; quantized
    caches, and those of windows, stay calls.

    Other calls with lengths of sequences, windows, padding or packed projections stay, as do
    nodes that a user placed on the CPU. Only where no host kernels can be called: for
    targets without them, and in tiles of a dynamic batch. In other models of dynamic dims
    the kernel, which visits keys in tiles, needs less memory.

    ```mlir
    %y = graph.host_call "Attention"(%q, %k, %v) {is_causal = array<i64: 1>} : (tensor<1x4x8x16xf32>, ...) -> tensor<1x4x8x16xf32>
    ```
    becomes
    ```mlir
    %t = graph.transpose %k {permutation = array<i64: 0, 1, 3, 2>}
    %raw = graph.matmul %q, %t
    %scores = graph.mul %raw, %scale
    %masked = graph.add %scores, %later
    %weights = graph.softmax %masked {axis = 3 : i64}
    %y = graph.matmul %weights, %v
    ```
  }];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Operators that were replaced">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostExpandFused : Pass<"host-expand-fused", "::mlir::func::FuncOp"> {
  let summary = "Replaces fused operators of com.microsoft by those that they consist of";
  let description = [{
    ONNX Runtime's optimizer and model builder write BiasSplitGelu,
    SimplifiedLayerNormalization, SkipLayerNormalization, SkipSimplifiedLayerNormalization,
    FusedMatMul, FusedGemm and FusedConv. Where all shapes are static, the operators that
    they stand for have code of the target.

    With `only-products` FusedConv, FusedGemm, FusedMatMul and TransposeMatMul are replaced: the
    CPU has host kernels for the others, and better code for products of known sizes. Calls whose statistics are
    read stay, as do activations other than Relu, Sigmoid and Tanh, and nodes that a user
    placed on the CPU.

    ```mlir
    %y = graph.host_call "FusedGemm"(%x, %w, %b) {activation = "Relu"} : ...
    ```
    becomes
    ```mlir
    %product = graph.matmul %x, %w
    %sum = graph.add %product, %b
    %y = graph.relu %sum
    ```
  }];
  let options = [Option<"onlyProducts", "only-products", "bool", "false",
                        "Replace convolutions and products of matrices only">];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Operators that were replaced">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostExpandGridSample : Pass<"host-expand-grid-sample", "::mlir::func::FuncOp"> {
  let summary = "Replaces GridSample by a gather of pixels and a weighted sum";
  let description = [{
    Deformable attention samples feature maps at points that it computes. The pixels of all
    images become rows of channels. One map computes which rows a sample consists of, four of
    a linear one, and another one their weights, which are 0 outside of the image without a border.

    Cubic samples, reflected points, volumes and images of unknown shapes or of more than 2^24
    pixels stay calls, as do nodes that a user placed on the CPU. Only for targets without host
    kernels.

    ```mlir
    %y = graph.host_call "GridSample"(%x, %grid) {} : (tensor<1x8x20x20xf32>, tensor<1x50x4x2xf32>) -> tensor<1x8x50x4xf32>
    ```
    becomes
    ```mlir
    %pixels = graph.reshape %transposed : (tensor<1x20x20x8xf32>) -> tensor<400x8xf32>
    %indices = graph.map %gx, %gy, ... : (...) -> tensor<1x4x200xi64>
    %weights = graph.map %gx, %gy, ... : (...) -> tensor<1x4x200xf32>
    %rows = graph.gather %pixels, %indices {axis = 0}
    // ... the sum of four products of rows and weights, transposed
    ```
  }];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Operators that were replaced">];
  let dependentDialects = ["::atc::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def HostExpandRecurrent : Pass<"host-expand-recurrent", "::mlir::func::FuncOp"> {
  let summary = "Unrolls the steps of RNN, GRU and LSTM into graph ops";
  let description = [{
    Replaces calls of recurrent operators of static shapes and constant weights by one
    product of all data with W, and per step a product of the state with R and the
    functions of the gates. Directions, both layouts, peepholes, clipping, all activations
    and initial states are taken over; sequences that may end early stay a call, as does
    an operator of more than `max-steps` steps.

    Only for targets that multiply faster than the CPU: there the host kernel is better
    than steps.

    ```mlir
    %y, %h = graph.host_call "RNN"(%x, %w, %r) {} : (tensor<2x1x8xf32>, ...) -> ...
    ```
    becomes
    ```mlir
    %d = graph.fully_connected %x, %w
    %h0 = graph.tanh %d0
    %p = graph.fully_connected %h0, %r
    %s = graph.add %p, %d1
    %h1 = graph.tanh %s
    %y = graph.concat %h0, %h1
    ```
  }];
  let options = [Option<"maxSteps", "max-steps", "int64_t", "2048",
                        "How many steps of all directions an operator may have">];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Operators that were unrolled">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostExpandScatter : Pass<"host-expand-scatter", "::mlir::func::FuncOp"> {
  let summary = "Replaces scatters to known positions by slices and concatenations";
  let description = [{
    Exporters write `x[:, 2:5] = y` as ScatterND with constant indices of all
    positions. Where these are the points of a grid in their order, the result is
    put together from slices of the data and of the updates, at most 33 of them.

    ScatterND and ScatterElements with other indices, with a reduction, or of
    unknown shapes stay calls, as do nodes that a user placed on the CPU.

    ```mlir
    %y = graph.host_call "ScatterND"(%x, %indices, %updates) {} : (tensor<4x8xf32>, tensor<4x3x2xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
    ```
    becomes
    ```mlir
    %left = graph.slice %x {starts = [0, 0], sizes = [4, 2], ...}
    %right = graph.slice %x {starts = [0, 5], sizes = [4, 3], ...}
    %y = graph.concat %left, %updates, %right {axis = 1 : i64}
    ```
  }];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Operators that were replaced">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostExpandTopK : Pass<"host-expand-top-k", "::mlir::func::FuncOp"> {
  let summary = "Replaces TopK by comparisons and reductions";
  let description = [{
    The rank of an element is the number of elements that come before it: the larger
    ones, and equal ones with a lower position. For each location of the result a
    reduction picks the element of that rank, and its position as numbers that f16
    holds. Rows of many elements are divided into blocks of about 2 k, whose first k elements
    remain, until one block is left. With k = 1 it is a reduction and an arg_max.

    TopK of integers, of unknown k or shape, of k above 1024, of rows above 262144 elements or of more
    than `max-comparisons` comparisons stays a call, as do nodes that a user placed on the CPU.
    Only for targets that cannot sort: a host kernel is faster on the CPU.

    ```mlir
    %v, %i = graph.host_call "TopK"(%x, %k) {} : (tensor<1x100xf32>, tensor<1xi64>) -> ...
    ```
    becomes
    ```mlir
    %before = graph.compare %others, %x {predicate = #graph<compare_predicate gt>}
    ...
    %rank = graph.reduce %ones {kind = #graph<reduce_kind sum>}
    %there = graph.compare %rank, %locations {predicate = #graph<compare_predicate eq>}
    %picked = graph.where %there, %x_and_positions, %none
    %best = graph.reduce %picked {kind = #graph<reduce_kind max>}
    ```
  }];
  let options = [Option<"maxComparisons", "max-comparisons", "int64_t", "1 << 24",
                        "How many pairs of elements may be compared">];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Operators that were replaced">];
  let dependentDialects = ["::atc::graph::GraphDialect", "::mlir::arith::ArithDialect"];
}

def HostExpandVolumes : Pass<"host-expand-volumes", "::mlir::func::FuncOp"> {
  let summary = "Replaces convolutions and pools over three dims by those over two";
  let description = [{
    The planes that a window covers become channels of an image: a convolution with a
    kernel of [d, h, w] is one of [h, w] over d times as many channels, for each position in
    depth; where each channel is a group of its own, there is a convolution per plane, and they are
    added. A transposed convolution becomes one per phase of its stride in depth. A pool over volumes
    pools each plane, and then along depth.

    Convolutions whose filter is not constant, pools whose indices are read, other types than
    f32 and f16 and unknown shapes stay calls, as do nodes that a user placed on the CPU. Between two
    convolutions depth stays in front of the channels: their transposes cancel.

    ```mlir
    %y = graph.host_call "Conv"(%x, %w) {kernel_shape = array<i64: 3, 3, 3>, ...}
        : (tensor<1x8x6x12x12xf32>, tensor<16x8x3x3x3xf32>) -> tensor<1x16x4x10x10xf32>
    ```
    becomes
    ```mlir
    %0 = graph.transpose %x ...                       // depth in front of channels
    %1 = graph.slice %0 ...                           // 4 planes from 0, 1 and 2 on
    %4 = graph.concat %1, %2, %3 ...
    %5 = graph.reshape %4 : ... -> tensor<4x24x12x12xf32>
    %6 = graph.conv %5, %planes : ... -> tensor<4x16x10x10xf32>
    %y = graph.transpose ...
    ```
  }];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Calls that were replaced">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostExpandWeights : Pass<"host-expand-weights", "::mlir::func::FuncOp"> {
  let summary = "Expands constant weights of few bits to floats";
  let description = [{
    MatMulNBits with constant weights of 4 or 8 bits becomes a product with a matrix of
    floats, and DequantizeLinear of constants a constant: for targets without
    instructions for such weights, which would otherwise leave the product to the CPU.

    ```mlir
    %y = graph.host_call "MatMulNBits"(%x, %w, %scales) {K = array<i64: 512>, ...} : ...
    ```
    becomes
    ```mlir
    %y = graph.fully_connected %x, %weights : (tensor<1x512xf32>, tensor<384x512xf32>) -> ...
    ```
  }];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Matrices that were expanded">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

#endif // OPENATC_PASSES_HOST_EXPAND_EXPANDPASSES_TD
