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
  let summary = "Recognise activations that are spelled out as several ops";
  let description = [{
    silu, mish, hard_swish, hard_sigmoid, gelu (erf and tanh forms), sigmoid,
    leaky_relu, relu and clip are found where a model computes them from
    simpler ops, so that they can be fused into a convolution or run as one
    formula. Chains of clips become one clip.
  }];
  let statistics = [Statistic<"numComposed", "num-composed", "Number of activations recognised">];
}

def GraphComposeDepthToSpace : GraphPass<"graph-compose-depth-to-space"> {
  let summary = "Recognise depth_to_space and space_to_depth spelled as reshapes";
  let description = [{
    reshape to six dims, transpose, reshape to four: the pixel shuffle of models
    whose source format had no op for it.
  }];
  let statistics = [Statistic<"numComposed", "num-composed", "Number of shuffles recognised">];
}

def GraphDecomposeConvTranspose : GraphPass<"graph-decompose-conv-transpose"> {
  let summary = "Turn transposed convolutions into convolutions";
  let description = [{
    A transposed convolution of stride s computes s outputs a dim from the same
    inputs, each with its own part of the kernel. They become the channels of one
    stride-1 convolution; depth_to_space (or reshape, transpose, reshape) puts them
    in their places and a slice crops the pads. The weights must be constant.
  }];
  let statistics = [
    Statistic<"numDecomposed", "num-decomposed", "Number of transposed convolutions rewritten">];
}

def GraphEliminateTransposes : GraphPass<"graph-eliminate-transposes"> {
  let summary = "Cancel, move and cheapen transposes";
  let description = [{
    A transpose moves through elementwise ops, concats, slices and pads where that
    removes at least one transpose; a region of such ops between transposes is
    computed in permuted form where fewer elements are moved then; a transpose that
    only moves dims of size 1 becomes a reshape; a transposed constant is
    transposed at compile time.
  }];
  let statistics = [
    Statistic<"numHoisted", "num-hoisted", "Number of transposes moved in front of their producers">,
    Statistic<"numSunk", "num-sunk", "Number of ops that transposes were moved behind">];
}

def GraphExpandPow : GraphPass<"graph-expand-pow"> {
  let summary = "Turn powers of simple constant exponents into cheaper ops";
  let description = [{
    Exponents 1, 2, 3, 0.5, -0.5 and -1 become the operand, products, sqrt, rsqrt
    and reciprocal.
  }];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Number of powers rewritten">];
}

def GraphFoldConstants : GraphPass<"graph-fold-constants"> {
  let summary = "Evaluate ops whose operands are all constant";
  let description = [{
    Uses the reference interpreter. An op whose result is larger than all its
    operands together (expand, tile, ...) is folded only when the result is small,
    so that folding never blows a model up.
  }];
  let options = [
    Option<"maxElements", "max-elements", "int64_t", /*default=*/"16777216",
           "Largest result that is folded, in elements">,
    Option<"maxGrownElements", "max-grown-elements", "int64_t", /*default=*/"1024",
           "Largest result that is folded when it is larger than the operands">];
  let statistics = [Statistic<"numFolded", "num-folded", "Number of ops folded">];
}

def GraphFoldPad : GraphPass<"graph-fold-pad"> {
  let summary = "Fold explicit pads into convolutions and pools";
  let description = [{
    A constant pad of the spatial dims becomes pads of the conv (zero), average_pool
    (zero, when padding counts) or max_pool (-infinity, or zero where the input is
    known to be non-negative) that reads it.
  }];
  let statistics = [Statistic<"numFolded", "num-folded", "Number of pads folded">];
}

def GraphFoldQdqContractions : GraphPass<"graph-fold-qdq-contractions"> {
  let summary = "Multiply quantized tensors as integers";
  let description = [{
    conv, fully_connected and matmul of dequantized operands with known weights
    become integer sums times the product of the scales. A quantize behind them
    gives its scale to that product. Weights that stay real are dequantized.
  }];
  let statistics = [
    Statistic<"numFactors", "num-factors", "Number of quantizes that multiply, not divide">,
    Statistic<"numSums", "num-sums", "Number of products in integers">];
}

def GraphFoldScaleIntoConv : GraphPass<"graph-fold-scale-into-conv"> {
  let summary = "Fold multiplications and additions by channel constants into weights";
  let description = [{
    mul, div, add and sub of a conv, conv_transpose or fully_connected by a constant
    scalar or one constant a channel change the weights and bias instead.
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
    A constant with one value a channel joins the bias; a tensor of the result's
    shape becomes the residual operand: before the activation, or behind it
    (`residual_last`) when the activation is already fused. Of two convolutions
    that are added the later one takes the other as residual.
  }];
  let statistics = [
    Statistic<"numBiases", "num-biases", "Number of additions fused into the bias">,
    Statistic<"numResiduals", "num-residuals", "Number of additions fused as residual">];
}

def GraphFuseConvBn : GraphPass<"graph-fuse-conv-bn"> {
  let summary = "Fold batch normalization into the weights and bias before it";
  let description = [{
    For conv, conv_transpose and fully_connected with constant weights whose only
    use is the batch_norm.
  }];
  let statistics = [Statistic<"numFused", "num-fused", "Number of batch_norms folded">];
}

def GraphFuseElementwise : GraphPass<"graph-fuse-elementwise"> {
  let summary = "Turn elementwise ops into maps and fuse maps";
  let description = [{
    Every elementwise op becomes a graph.map; a map that is used once, or is cheap
    and used by maps only, is fused into the maps that read it. Scalar constants
    become arith.constant in the body.

    A fused map has at most `max-ops` ops: the time to generate code of a kernel
    grows faster than the kernel. Where the maps that differ have more than
    `max-code` ops together, constants stay operands, so that maps which differ in
    nothing else share a kernel, and where that does not help either, nothing is fused.
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
  let summary = "Compute a map of integer sums where the sums are made";
  let description = [{
    The map's other inputs must have the shape of the sums or one number for each
    of their channels.
  }];
  let statistics = [Statistic<"numFused", "num-fused", "Number of maps fused">];
}

def GraphCse : GraphPass<"graph-cse"> {
  let summary = "Merge ops that compute the same";
  let description = [{
    What mlir's `cse` does, in a time that stays linear where many maps read the
    same values: their bodies are part of the hash by which equal ops are found.
  }];
  let statistics = [Statistic<"numMerged", "num-merged", "Number of ops merged into equal ones">];
}

def GraphInferShapes : GraphPass<"graph-infer-shapes"> {
  let summary = "Refine result types from operand types";
  let description = [{
    Walks in order, so that a shape known at the arguments reaches the results of
    the function. Encodings stay.
  }];
  let statistics = [Statistic<"numRefined", "num-refined", "Number of result types refined">];
}

def GraphInsertQuantization : GraphPass<"graph-insert-quantization"> {
  let summary = "Put quantize and dequantize where attributes say so";
  let description = [{
    `graph.quantization = !quant.uniform<...>` on an op, or on an argument of the
    function, makes its result go through quantize and dequantize. On a conv,
    conv_transpose, fully_connected or matmul `graph.weight_quantization` makes
    integers of the constant weights, and of the bias where the input is dequantized:
    its scales are those of the input times those of the weights.
  }];
  let statistics = [
    Statistic<"numTensors", "num-tensors", "Number of tensors quantized">,
    Statistic<"numWeights", "num-weights", "Number of weights quantized">];
}

def GraphLowerBatchNorm : GraphPass<"graph-lower-batch-norm"> {
  let summary = "Turn batch_norm into mul and add by channel constants";
  let statistics = [Statistic<"numLowered", "num-lowered", "Number of batch_norms lowered">];
}

def GraphLowerQuantized : GraphPass<"graph-lower-quantized"> {
  let summary = "Write quantize and dequantize as arithmetic, quantized tensors as integers";
}

def GraphMatMulToFullyConnected : GraphPass<"graph-matmul-to-fully-connected"> {
  let summary = "Turn matmul by a constant matrix into fully_connected";
  let description = [{The matrix is transposed to [N, K]; an addition of constants becomes the bias.}];
  let statistics = [Statistic<"numConverted", "num-converted", "Number of matmuls converted">];
}

def GraphPropagateQdq : GraphPass<"graph-propagate-qdq"> {
  let summary = "Move elements of quantized tensors as integers";
  let description = [{
    dequantize sinks below ops that only move or compare elements, quantize rises
    above them; where they meet with the same parameters both go.
  }];
  let statistics = [Statistic<"numMoved", "num-moved", "Number of ops that now move integers">];
}

def GraphRaiseTo2D : GraphPass<"graph-raise-to-2d"> {
  let summary = "Give 1-D convolutions and pools a unit height";
  let description = [{
    Rank-3 conv, conv_transpose, max_pool and average_pool become rank-4 ones
    between two reshapes, so that one lowering serves both.
  }];
  let statistics = [Statistic<"numRaised", "num-raised", "Number of ops raised">];
}

def GraphReleaseConstants : Pass<"graph-release-constants", "::mlir::ModuleOp"> {
  let summary = "Free the data of constants that nothing refers to any more";
  let description = [{
    Folding makes new weights; the old ones would live as long as the context does.
    Only for a context that holds no other module that shares resources.
  }];
}

def GraphSimplifySlicesConcats : GraphPass<"graph-simplify-slices-concats"> {
  let summary = "Merge nested slices and concats";
  let description = [{
    Concat of concat flattens, slice of slice merges, a slice of a concat reads the
    operand (or the operands) it needs, neighbouring slices that a concat puts
    together again become one slice. A gather of one known index becomes a slice.
  }];
  let statistics = [
    Statistic<"numConcats", "num-concats", "Number of concats simplified">,
    Statistic<"numSlices", "num-slices", "Number of slices simplified">];
}

def GraphWidenFloats : GraphPass<"graph-widen-floats"> {
  let summary = "Compute in f32 what multiplies f16 or bf16";
  let description = [{
    For targets that have instructions for f32 only: in a function with contractions
    of small floats every such tensor becomes f32, between casts at the ends of the
    function and around the casts of the model itself, which keep their rounding.
  }];
  let statistics = [Statistic<"numWidened", "num-widened", "Number of tensors widened">];
}

#endif // OPENATC_PASSES_GRAPH_PASSES_TD
