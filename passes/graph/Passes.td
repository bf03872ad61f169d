//===-- Passes.td - passes on the graph dialect -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_PASSES_TD
#define OPENATC_PASSES_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

// Keep alphabetical.

class GraphPass<string name> : Pass<name, "::mlir::func::FuncOp"> {
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def GraphComposeActivations : GraphPass<"graph-compose-activations"> {
  let summary = "Compose activations from the ops that compute them";
  let description = [{
    Recognizes silu, mish, hard_swish, hard_sigmoid, gelu (erf and tanh forms),
    sigmoid, leaky_relu, relu and clip where a model computes them from simpler
    ops, so that they can be fused into a convolution or run as one formula.
    Chains of clips become one clip.

    ```mlir
    %s = graph.sigmoid %x : ...
    %y = graph.mul %x, %s : ...
    // becomes
    %y = graph.silu %x : ...
    ```
  }];
  let statistics = [Statistic<"numComposed", "num-composed", "Number of activations recognised">];
}

def GraphComposeDepthToSpace : GraphPass<"graph-compose-depth-to-space"> {
  let summary = "Compose depth_to_space and space_to_depth from reshapes";
  let description = [{
    Recognizes a reshape to six dims, a transpose and a reshape to four: the
    pixel shuffle of models whose source format has no op for it.
  }];
  let statistics = [Statistic<"numComposed", "num-composed", "Number of shuffles recognised">];
}

def GraphDecomposeConvTranspose : GraphPass<"graph-decompose-conv-transpose"> {
  let summary = "Rewrite transposed convolutions as convolutions";
  let description = [{
    A transposed convolution of stride s computes s outputs per dim from the
    same inputs, each with its own part of the kernel. They become the channels
    of one stride-1 convolution; depth_to_space (or reshape, transpose, reshape)
    interleaves them and a slice crops the pads. The weights must be constant, or
    dequantized constants with zero points of 0, which stay integers.

    ```mlir
    %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, ...} : ...
    // becomes
    %c = graph.conv %x, %phases {strides = array<i64: 1, 1>, ...} : ...
    %y = graph.depth_to_space %c {...} : ...
    ```
  }];
  let options = [
    Option<"onlyQuantized", "only-quantized", "bool", /*default=*/"false",
           "Leave those whose input and weights are not quantized">
  ];
  let statistics = [
    Statistic<"numDecomposed", "num-decomposed", "Number of transposed convolutions rewritten">];
}

def GraphEliminateTransposes : GraphPass<"graph-eliminate-transposes"> {
  let summary = "Cancel, move and simplify transposes";
  let description = [{
    A transpose moves through elementwise ops, concats, slices and pads where
    that removes at least one transpose. A region of such ops between transposes
    is computed in permuted form where that moves fewer elements. A transpose
    that only moves dims of size 1 becomes a reshape; a transposed constant is
    transposed at compile time.
  }];
  let statistics = [
    Statistic<"numHoisted", "num-hoisted", "Number of transposes moved in front of their producers">,
    Statistic<"numSunk", "num-sunk", "Number of ops that transposes were moved behind">];
}

def GraphExpandCumulativeSum : GraphPass<"graph-expand-cumulative-sum"> {
  let summary = "Replace running sums by sums of a tensor and itself, shifted by 1, 2, 4 ...";
  let description = [{
    For targets without code that carries a sum from element to element. A dim
    of n elements takes ceil(log2(n)) additions.
  }];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Number of running sums replaced">];
}

def GraphExpandPow : GraphPass<"graph-expand-pow"> {
  let summary = "Replace powers with simple constant exponents by cheaper ops";
  let description = [{
    Powers with the exponents 1, 2, 3, 0.5, -0.5 and -1 become the operand,
    products, sqrt, rsqrt and reciprocal.
  }];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Number of powers rewritten">];
}

def GraphExpandPreprocessing : GraphPass<"graph-expand-preprocessing"> {
  let summary = "Replace the preprocessing of images by slices, maps and a concat";
  let description = [{
    Each channel of a graph.preprocess becomes one graph.map on planes of the
    image. With `keep-for-conv` those that only convolutions of one group read,
    also through transposes that cancel, casts and padding with zeros, stay for
    targets whose convolutions read pixels.
  }];
  let options = [Option<"keepForConv", "keep-for-conv", "bool", "false",
                        "Keep what only convolutions read">];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Number of preprocessings replaced">];
}

def GraphFoldConstants : GraphPass<"graph-fold-constants"> {
  let summary = "Evaluate ops whose operands are all constant";
  let description = [{
    Uses the reference interpreter. An op whose result is larger than all its
    operands together (expand, tile, ...) is folded only when the result is
    small, so that folding does not increase the size of a model considerably,
    or where a weight of a convolution or product is made of it. All ops that
    a run of the pass folds together take at most `max-work` multiplications,
    and `max-work-per-element` more per element of the constants that are not
    all one number: what takes more is left to each run. An element that is
    computed or read counts as 16 of them, each function such as exp as 16 more.
    A transpose of more than `max-elements` becomes a constant that is transposed
    where it is read for the first time; what packs weights reads its source.
  }];
  let dependentDialects = ["::atc::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let options = [
    Option<"maxElements", "max-elements", "int64_t", /*default=*/"16777216",
           "Largest result that is folded, in elements">,
    Option<"maxGrownElements", "max-grown-elements", "int64_t", /*default=*/"1024",
           "Largest result that is folded when it is larger than the operands">,
    Option<"maxWork", "max-work", "int64_t", /*default=*/"4294967296",
           "Max multiplications of all folded ops; an element is 16, a function 16 more">,
    Option<"maxWorkPerElement", "max-work-per-element", "int64_t", /*default=*/"4096",
           "How many more per element of constants that are not all one number">];
  let statistics = [Statistic<"numFolded", "num-folded", "Number of ops folded">];
}

def GraphFoldPad : GraphPass<"graph-fold-pad"> {
  let summary = "Fold explicit pads into convolutions and pools";
  let description = [{
    A constant pad of the spatial dims becomes pads of the conv (zero),
    average_pool (zero, when padding counts) or max_pool (-infinity, or zero
    where the input is known to be nonnegative) that reads it.

    ```mlir
    %p = graph.pad %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, ...} : ...
    %y = graph.conv %p, %w {pads = array<i64: 0, 0, 0, 0>, ...} : ...
    // becomes
    %y = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>, ...} : ...
    ```
  }];
  let statistics = [Statistic<"numFolded", "num-folded", "Number of pads folded">];
}

def GraphFoldQdqContractions : GraphPass<"graph-fold-qdq-contractions"> {
  let summary = "Fold dequantize, contraction and quantize into int8 contractions";
  let description = [{
    conv, fully_connected and matmul of dequantized operands with constant
    weights become integer contractions whose accumulators are multiplied with
    the product of the scales. A quantize behind them contributes its scale to
    that product. Weights that are still read as real values are dequantized.

    ```mlir
    %x = graph.dequantize %q : (tensor<...x!q>) -> tensor<...xf32>
    %y = graph.conv %x, %w {...} : ...
    // becomes
    %i = graph.storage_cast %q : (tensor<...x!q>) -> tensor<...xui8>
    %s = graph.integer_conv %i, %wi {zero_point = 128, ...} : ... -> tensor<...xi32>
    %f = graph.cast %s : (tensor<...xi32>) -> tensor<...xf32>
    %y = graph.mul %f, %scales : ...
    ```
  }];
  let statistics = [
    Statistic<"numFactors", "num-factors", "Number of quantizes that multiply, not divide">,
    Statistic<"numSums", "num-sums", "Number of products in integers">];
}

def GraphFoldScaleIntoConv : GraphPass<"graph-fold-scale-into-conv"> {
  let summary = "Fold multiplications and additions by channel constants into weights";
  let description = [{
    mul, div, add and sub of a conv, conv_transpose or fully_connected by a
    constant scalar, or by a constant with one value per channel, are folded
    into the weights and the bias.
  }];
  let statistics = [Statistic<"numFolded", "num-folded", "Number of ops folded">];
}

def GraphFuseConvActivation : GraphPass<"graph-fuse-conv-activation"> {
  let summary = "Fuse activations into the conv or fully_connected before them";
  let description = [{
    The activation becomes the `activation` attribute. Activations that follow a
    conv through depth_to_space, slice, reshape or transpose (a decomposed
    conv_transpose) are moved in front of those.
  }];
  let statistics = [Statistic<"numFused", "num-fused", "Number of activations fused">];
}

def GraphFuseConvAdd : GraphPass<"graph-fuse-conv-add"> {
  let summary = "Fuse additions into the convolution before them";
  let description = [{
    A constant with one value per channel is added to the bias; a tensor of the
    result's shape becomes the residual operand: before the activation, or
    behind it (`residual_last`) when the activation is already fused. When two
    convolutions are added, the later one takes the other as residual.

    ```mlir
    %y = graph.conv %x, %w {...} : ...
    %z = graph.add %y, %e : ...
    // becomes
    %z = graph.conv %x, %w residual %e {...} : ...
    ```
  }];
  let statistics = [
    Statistic<"numBiases", "num-biases", "Number of additions fused into the bias">,
    Statistic<"numResiduals", "num-residuals", "Number of additions fused as residual">];
}

def GraphFuseConvBn : GraphPass<"graph-fuse-conv-bn"> {
  let summary = "Fold batch normalization into the weights and bias before it";
  let description = [{
    Applies to conv, conv_transpose and fully_connected with constant weights
    whose only use is the batch_norm.
  }];
  let statistics = [Statistic<"numFused", "num-fused", "Number of batch_norms folded">];
}

def GraphFuseElementwise : GraphPass<"graph-fuse-elementwise"> {
  let summary = "Rewrite elementwise ops as maps and fuse maps";
  let description = [{
    Every elementwise op becomes a graph.map. A map that is used once, or is
    cheap and used by maps only, is fused into the maps that read it. Scalar
    constants become arith.constant in the body.

    ```mlir
    %a = graph.mul %x, %c : ...
    %y = graph.add %a, %b : ...
    // becomes
    %y = graph.map %x, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> {
    ^bb0(%e: f32, %f: f32):
      %k = arith.constant 2.0 : f32
      %p = arith.mulf %e, %k : f32
      %s = arith.addf %p, %f : f32
      graph.yield %s : f32
    }
    ```

    A fused map has at most `max-ops` ops: the time to generate code of a kernel
    grows faster than the kernel. Where all distinct maps together have more
    than `max-code` ops, constants remain operands, so that maps which differ
    only in them share a kernel, and where that does not suffice, nothing is
    fused.
  }];
  let dependentDialects = ["::atc::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let options = [
    Option<"maxCheapOps", "max-cheap-ops", "unsigned", /*default=*/"2",
           "A producer with several users is recomputed in each when its body has no more ops">,
    Option<"maxInputs", "max-inputs", "unsigned", /*default=*/"12",
           "Most inputs that a fused map may have">,
    Option<"maxOps", "max-ops", "unsigned", /*default=*/"64",
           "Most ops that the body of a fused map may have, constants aside">,
    Option<"maxCode", "max-code", "unsigned", /*default=*/"8000",
           "Most ops that all different maps of a function may have, with one more for each">];
  let statistics = [
    Statistic<"numFused", "num-fused", "Number of producer maps fused into consumers">,
    Statistic<"numMaps", "num-maps", "Number of elementwise ops turned into maps">];
}

def GraphFuseIntegerEpilogue : GraphPass<"graph-fuse-integer-epilogue"> {
  let summary = "Fuse maps into the integer contraction before them";
  let description = [{
    The map becomes the body of the integer_conv or integer_fully_connected
    whose accumulators it reads. Its other inputs must have the shape of the
    accumulators or one value per channel.
  }];
  let statistics = [Statistic<"numFused", "num-fused", "Number of maps fused">];
}

def GraphCse : GraphPass<"graph-cse"> {
  let summary = "Merge ops that compute the same";
  let description = [{
    Does the same as mlir's `cse`, but in linear time even where many maps read
    the same values: bodies are part of the hash by which equal ops are found.
  }];
  let statistics = [Statistic<"numMerged", "num-merged", "Number of ops merged into equal ones">];
}

def GraphInferShapes : GraphPass<"graph-infer-shapes"> {
  let summary = "Refine result types from operand types";
  let description = [{
    Visits ops in order, so that a shape known at the arguments reaches the
    results of the function. Encodings are kept.
  }];
  let statistics = [Statistic<"numRefined", "num-refined", "Number of result types refined">];
}

def GraphInsertQuantization : GraphPass<"graph-insert-quantization"> {
  let summary = "Insert quantize and dequantize where attributes request them";
  let description = [{
    `graph.quantization = !quant.uniform<...>` on an op, or on an argument of
    the function, passes its result through quantize and dequantize. On a conv,
    conv_transpose, fully_connected or matmul, `graph.weight_quantization`
    converts the constant weights to integers, and the bias where the input is
    dequantized: its scales are those of the input times those of the weights.

    ```mlir
    %y = graph.relu %x {graph.quantization = !quant.uniform<u8:f32, 0.25>} : ...
    // becomes
    %r = graph.relu %x : ...
    %q = graph.quantize %r : ... -> tensor<...x!quant.uniform<u8:f32, 0.25>>
    %y = graph.dequantize %q : ...
    ```
  }];
  let statistics = [
    Statistic<"numTensors", "num-tensors", "Number of tensors quantized">,
    Statistic<"numWeights", "num-weights", "Number of weights quantized">];
}

def GraphLowerBatchNorm : GraphPass<"graph-lower-batch-norm"> {
  let summary = "Lower batch_norm to mul and add by channel constants";
  let description = [{
    Applies to every batch_norm with constant parameters that was not folded
    into weights.
  }];
  let statistics = [Statistic<"numLowered", "num-lowered", "Number of batch_norms lowered">];
}

def GraphLowerQuantized : GraphPass<"graph-lower-quantized"> {
  let summary = "Lower quantize and dequantize to arithmetic, quantized types to integers";
  let description = [{
    A quantize becomes a division or multiplication, rounding, a zero point, a
    clamp and a cast to i8 or ui8; a dequantize the inverse. No quantized type
    is left afterwards.
  }];
}

def GraphMatMulToFullyConnected : GraphPass<"graph-matmul-to-fully-connected"> {
  let summary = "Rewrite matmul by a constant matrix as fully_connected";
  let description = [{
    The matrix is transposed to [N, K]; an addition of constants becomes the
    bias.

    Weights are most of a model: with `release-constants`, matrices that nothing
    reads any more are freed on the way, as by `graph-release-constants`, so that
    not all weights are in memory twice. The function must be the only one of its
    module.
  }];
  let options = [
    Option<"releaseConstants", "release-constants", "bool", /*default=*/"false",
           "Free matrices that nothing reads any more, in a module with one function">
  ];
  let statistics = [Statistic<"numConverted", "num-converted", "Number of matmuls converted">];
}

def GraphMergeProducts : GraphPass<"graph-merge-products"> {
  let summary = "Merge products of one tensor by several constant matrices";
  let description = [{
    fully_connected ops with the same input and activation become one, whose
    weights are those of all of them, and slices of its result: the queries, keys
    and values of a transformer. Results that leave the function, and weights
    that something else reads, are not merged.

    ```mlir
    %q = graph.fully_connected %x, %wq bias %bq : ... -> tensor<1x128x768xf32>
    %k = graph.fully_connected %x, %wk bias %bk : ... -> tensor<1x128x768xf32>
    // becomes
    %qk = graph.fully_connected %x, %w bias %b : ... -> tensor<1x128x1536xf32>
    %q = graph.slice %qk {starts = array<i64: 0, 0, 0>, ...} : ...
    %k = graph.slice %qk {starts = array<i64: 0, 0, 768>, ...} : ...
    ```
  }];
  let statistics = [Statistic<"numMerged", "num-merged", "Number of products merged into others">];
}

def GraphPropagateQdq : GraphPass<"graph-propagate-qdq"> {
  let summary = "Propagate quantize and dequantize through ops that move elements";
  let description = [{
    dequantize sinks below ops that only move or compare elements, and quantize
    rises above them; where they meet with the same parameters, both are
    removed. The ops then work on integers.

    ```mlir
    %x = graph.dequantize %q : (tensor<4x!q>) -> tensor<4xf32>
    %r = graph.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>
    %y = graph.quantize %r : (tensor<2x2xf32>) -> tensor<2x2x!q>
    // becomes, with %i the integers of %q
    %r = graph.reshape %i : (tensor<4xui8>) -> tensor<2x2xui8>
    %y = graph.storage_cast %r : (tensor<2x2xui8>) -> tensor<2x2x!q>
    ```
  }];
  let statistics = [Statistic<"numMoved", "num-moved", "Number of ops that now move integers">];
}

def GraphRaiseTo2D : GraphPass<"graph-raise-to-2d"> {
  let summary = "Raise 1-D convolutions and pools to 2-D";
  let description = [{
    Rank-3 conv, conv_transpose, max_pool and average_pool become rank-4 ops
    with a height of 1 between two reshapes, so that one lowering handles both.
  }];
  let statistics = [Statistic<"numRaised", "num-raised", "Number of ops raised">];
}

def GraphReleaseConstants : Pass<"graph-release-constants", "::mlir::ModuleOp"> {
  let summary = "Free the data of constants without uses";
  let description = [{
    Folding creates new weights; the old ones would live as long as the context.
    Only for a context that has no other module which shares its resources.
  }];
}

def GraphSimplifySlicesConcats : GraphPass<"graph-simplify-slices-concats"> {
  let summary = "Merge nested slices and concats";
  let description = [{
    A concat of concats is flattened and a slice of a slice merged. A slice of a
    concat reads the operands that it needs, and adjacent slices that a concat
    puts together again become one slice. A gather of one constant index becomes
    a slice.
  }];
  let statistics = [
    Statistic<"numConcats", "num-concats", "Number of concats simplified">,
    Statistic<"numSlices", "num-slices", "Number of slices simplified">];
}

def GraphSplitGroups : GraphPass<"graph-split-groups"> {
  let summary = "Split convolutions whose groups do not fill blocks of channels";
  let description = [{
    13 groups of 8 channels are six and a half blocks of 16, which a kernel could only compute as one
    dense convolution of 104 channels. As many groups as fill blocks become one convolution, the
    rest another one; the parts of the input and of the result are views. For the CPU.

    ```mlir
    %y = graph.conv %x, %w {groups = 13 : i64, ...} : (tensor<1x104x28x28xf32>, tensor<104x8x3x3xf32>) -> ...
    // becomes
    %a = graph.conv %x0, %w0 {groups = 12 : i64, ...} : (tensor<1x96x28x28xf32>, tensor<96x8x3x3xf32>) -> ...
    %b = graph.conv %x1, %w1 {groups = 1 : i64, ...} : (tensor<1x8x28x28xf32>, tensor<8x8x3x3xf32>) -> ...
    %y = graph.concat %a, %b {axis = 1 : i64} : ...
    ```
  }];
  let statistics = [Statistic<"numSplit", "num-split", "Number of convolutions that were split">];
}

def GraphTrimKernels : GraphPass<"graph-trim-kernels"> {
  let summary = "Drop taps of convolutions that read only padding";
  let description = [{
    A dilated kernel may be larger than the image: the outer taps of a 3x3 kernel with dilation 24
    on 16x16 pixels read padding wherever the window lies. Such taps at the begins and ends of a
    constant filter are cut off, with the padding that only they read. The convolution becomes one
    of 1x1 here, on an image without padding.

    ```mlir
    %y = graph.conv %x, %w {dilations = array<i64: 24, 24>, pads = array<i64: 24, 24, 24, 24>, ...}
        : (tensor<1x960x16x16xf32>, tensor<256x960x3x3xf32>) -> tensor<1x256x16x16xf32>
    // becomes
    %k = graph.constant ... : tensor<256x960x1x1xf32>
    %y = graph.conv %x, %k {dilations = array<i64: 24, 24>, pads = array<i64: 0, 0, 0, 0>, ...} : ...
    ```
  }];
  let statistics = [Statistic<"numTrimmed", "num-trimmed", "Number of kernels that became smaller">];
}

def GraphWidenFloats : GraphPass<"graph-widen-floats"> {
  let summary = "Compute contractions of f16 or bf16 in f32";
  let description = [{
    For targets that have instructions for f32 only: in a function with
    contractions of f16 or bf16 every such tensor becomes f32, between casts at
    the inputs and results of the function and around the casts of the model
    itself, which keep their rounding.
  }];
  let statistics = [Statistic<"numWidened", "num-widened", "Number of tensors widened">];
}

#endif // OPENATC_PASSES_GRAPH_PASSES_TD
