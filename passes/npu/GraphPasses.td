//===-- GraphPasses.td - passes on graphs for the NPU -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_GRAPH_PASSES_TD
#define OPENATC_NPU_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

def NpuBytesAsHalves : Pass<"npu-bytes-as-halves", "::mlir::func::FuncOp"> {
  let summary = "Compute on bytes in f16 what the vector unit does with numbers only";
  let description = [{
    f16 holds each byte, so that the result is the same. The positions of the largest and
    smallest bytes, bytes that are repeated along the last dim, and nearest resizes by no
    whole factor (which npu-decompose makes products) have no program on bytes. Nodes that
    compute on the CPU stay, but for positions of unsigned bytes, which it compares in f16, too.

    ```mlir
    %y = graph.arg_max %x {axis = 1 : i64} : (tensor<1x8x16xi8>) -> tensor<1x1x16xi64>
    // becomes
    %h = graph.cast %x : (tensor<1x8x16xi8>) -> tensor<1x8x16xf16>
    %y = graph.arg_max %h {axis = 1 : i64} : (tensor<1x8x16xf16>) -> tensor<1x1x16xi64>
    ```
  }];
  let dependentDialects = ["::atc::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let statistics = [Statistic<"numConverted", "num-converted", "Ops on bytes that are f16 now">];
}

def NpuCheckHalfRange : Pass<"npu-check-half-range", "::mlir::func::FuncOp"> {
  let summary = "Warn of tensors of f16 with numbers that are certainly beyond 65504";
  let description = [{
    An interval analysis that changes nothing. Constants, integers of 8 bits, images, and
    functions with finite ranges (clips, sigmoid, tanh, softmax, ...) bound the elements of
    a tensor; sums, products, norms, reductions, convolutions and matrix products with
    constant weights are bounded by what they read. Besides, the analysis knows how large some
    element must be at least. Where that is beyond 65504, the numbers are infinite in f16
    whatever the inputs are, and one warning (W11016) names the first nodes. What may leave
    f16, by finite bounds, but need not, is a remark (`MayOverflow`).

    ```mlir
    %s = graph.map %x {exp of a number between 12 and 14} : (tensor<4xf16>) -> tensor<4xf16>
    // W11016: node 'exp' makes numbers of 162755 or more, beyond 65504, ...
    ```
  }];
  let statistics = [Statistic<"numBeyond", "num-beyond", "Tensors with numbers beyond f16">];
}

def NpuDecompose : Pass<"npu-decompose", "::mlir::func::FuncOp"> {
  let summary = "Rewrite resizes as matrix products, pools over whole images as means, pads and "
                "gathers as slices";
  let description = [{
    Resampling is linear and separable: along each dim the result is a product
    with a matrix of weights, which the cube computes. A dim that is not the
    last one is transposed there and back. Linear and cubic resizes become
    products in all coordinate modes, and nearest ones where the output is no
    multiple of the input, or the input is no image of several pixels; the others have a
    program of the vector unit. Matrices have 4 M elements at most.

    The logarithm of a sum of exponentials becomes m + log(sum(exp(x - m))), m being the maximum.

    An average pool whose window is the whole image becomes a mean: the rows of
    a large window do not fit into ub.

    Pads that repeat elements (edge, reflect, wrap) and gathers with constant
    indices become concats of slices, if these are 33 at most per dim. Wider
    borders are gathered.

    Nodes that compute in f32 or on the CPU stay, as do functions with int8
    contractions of the cube, whose other kernels compute in f32.

    ```mlir
    %y = graph.resize %x {mode = #graph<resize_mode linear>, scales = [1, 1, 1, 2], ...}
        : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x32xf32>
    // becomes
    %y = graph.fully_connected %x, %weights
        : (tensor<1x8x16x16xf32>, tensor<32x16xf32>) -> tensor<1x8x16x32xf32>
    ```
  }];
  let dependentDialects = ["::atc::graph::GraphDialect"];
  let statistics = [Statistic<"numLogarithms", "num-logarithms",
                              "Logarithms of sums of exponentials that were rewritten">,
                    Statistic<"numResizes", "num-resizes", "Resizes that became products">,
                    Statistic<"numPools", "num-pools", "Pools that became means">,
                    Statistic<"numMoves", "num-moves", "Pads and gathers that became slices">];
}

def NpuTransposeNorms : Pass<"npu-transpose-norms", "::mlir::func::FuncOp"> {
  let summary = "Compute norms over channels on rows of channels";
  let description = [{
    A layer norm or RMS norm over a dim that is not the last one is computed on
    the transposed tensor, so that npu-compose-layer-norm makes one kernel of it.
    Convolutions store channels in blocks: most of its transposes are the moves
    between blocks and rows. The result is transposed back. Nodes that compute in
    f32 or on the CPU stay, as do norms of whose means others read.

    ```mlir
    %m = graph.reduce %x {axes = [1], kind = mean} : (1x96x56x56) -> 1x1x56x56
    // ... maps of %x and %m
    // becomes
    %t = graph.transpose %x {permutation = [0, 2, 3, 1]}
    %m = graph.reduce %t {axes = [3], kind = mean} : (1x56x56x96) -> 1x56x56x1
    // ... maps of %t and %m, and a transpose of their result
    ```
  }];
  let dependentDialects = ["::atc::graph::GraphDialect"];
  let statistics = [Statistic<"numTransposed", "num-transposed", "Norms that became norms of rows">];
}

def NpuScaleQueries : Pass<"npu-scale-queries", "::mlir::func::FuncOp"> {
  let summary = "Move scales of products of two activations into weights";
  let description = [{
    A product of two activations that a map makes smaller by a constant, as
    attention does with its scores, has that factor in the weights and bias of
    the convolution or fully connected layer that makes one of its operands,
    where reshapes, transposes and slices are all that is between them, and
    nothing else reads those channels. Scores leave f16 before they are scaled;
    behind the cube there is one operation less per score.

    ```mlir
    %q = graph.fully_connected %x, %w bias %b
    %s = graph.matmul %q, %k
    %r = graph.map %s {mulf %e, 0.125}
    // becomes
    %q = graph.fully_connected %x, %w * 0.125 bias %b * 0.125
    %r = graph.matmul %q, %k
    ```
  }];
  let dependentDialects = ["::atc::graph::GraphDialect"];
  let statistics = [Statistic<"numScaled", "num-scaled", "Products whose scale joined weights">];
}

def NpuConvertParts : Pass<"npu-convert-parts", "::mlir::func::FuncOp"> {
  let summary = "Convert the parts of a concatenation one by one where the whole leaves L2";
  let description = [{
    A concatenation of f16 that only a conversion to f32 reads, and that does
    not fit into L2 together with its result, joins parts that are f32: each is
    converted behind what makes it, while L2 has it. Parts whose elements are
    runs of less than 512 bytes in the whole stay.

    ```mlir
    %c = graph.concat %a, %b {axis = 1} : (4x19200x85xf16, 4x6000x85xf16) -> 4x25200x85xf16
    %y = graph.cast %c : (4x25200x85xf16) -> 4x25200x85xf32
    // becomes
    %p = graph.cast %a : (4x19200x85xf16) -> 4x19200x85xf32
    %q = graph.cast %b : (4x6000x85xf16) -> 4x6000x85xf32
    %y = graph.concat %p, %q {axis = 1} : (4x19200x85xf32, 4x6000x85xf32) -> 4x25200x85xf32
    ```
  }];
  let dependentDialects = ["::atc::graph::GraphDialect"];
  let statistics = [Statistic<"numConverted", "num-converted",
                              "Concatenations whose parts are converted">];
}

#endif // OPENATC_NPU_GRAPH_PASSES_TD
