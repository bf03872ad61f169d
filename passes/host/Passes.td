//===-- Passes.td - passes on host programs ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_PASSES_TD
#define OPENATC_PASSES_HOST_PASSES_TD

include "mlir/Pass/PassBase.td"
include "passes/host/expand/ExpandPasses.td"
include "passes/host/pack/PackPasses.td"

def HostOutlineStatic : Pass<"host-outline-static", "::mlir::ModuleOp"> {
  let summary = "Moves what has fixed shapes out of a host program into functions";
  let description = [{
    In every block of @main the graph ops, which work on plain tensors, become
    functions `@part_<n>` that a `func.call` stands for; `graph.host_call`, `graph.if`
    and `graph.loop` stay. Ops that can run as one part do: those that the same number
    of changes between host and part lies in front of. A constant that both sides
    read is in both, and so is what is computed of constants alone. A part is then
    compiled like a model of its own. Its arguments that are indices which a host
    kernel computes (TopK, ArgMax, ArgMin) have their bound as `graph.indices_below`.
    Equal parts inside branches and bodies are one function.

    A model without host ops is left alone.
  }];
  let statistics = [Statistic<"numParts", "num-parts", "Functions made">];
}

def HostSinkTransposes : Pass<"host-sink-transposes", "::mlir::func::FuncOp"> {
  let summary = "Moves calls in front of the Transposes behind convolutions and pools";
  let description = [{
    What graph-eliminate-transposes does, for calls of host kernels: models with the channels last
    have a Transpose on both sides of each convolution. Arithmetic element by element with constants
    of one axis or images of the same order, paddings, concatenations and reductions behind the
    Transpose of a convolution or a pool are computed in front of it, and two Transposes that undo
    each other are removed. Normalizations and activations become part of convolutions then.

    ```mlir
    %t = graph.host_call "Transpose"(%conv) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x8x?x?xf32>) -> tensor<?x?x?x8xf32>
    %y = graph.host_call "Mul"(%t, %c) {} : (tensor<?x?x?x8xf32>, tensor<8xf32>) -> tensor<?x?x?x8xf32>
    ```
    becomes
    ```mlir
    %m = graph.host_call "Mul"(%conv, %d) {} : (tensor<?x8x?x?xf32>, tensor<1x8x1x1xf32>) -> tensor<?x8x?x?xf32>
    %y = graph.host_call "Transpose"(%m) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x8x?x?xf32>) -> tensor<?x?x?x8xf32>
    ```
  }];
  let statistics = [Statistic<"numMoved", "num-moved", "Calls moved">,
                    Statistic<"numCancelled", "num-cancelled", "Transposes removed">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostTileDynamicDim : Pass<"host-tile-dynamic-dim", "::mlir::ModuleOp"> {
  let summary = "Computes a graph of one dynamic dim tile by tile, with static functions";
  let description = [{
    For a module that was imported with a placeholder for the size of a dynamic dim
    (`graph.dynamic_dim`, `graph.dynamic_dim_size`). Where every op of @main is known to
    compute the shares of the dim's indices independently of each other
    (TiledDimOpInterface), @main becomes a call of a loop over tiles of a few sizes, each a
    function of static shapes that is compiled like a model of its own. Otherwise the
    module is left alone, and a remark says which op is in the way and why.

    ```mlir
    func.func @main(%x: tensor<10007x4xf32>) -> tensor<10007x4xf32> {
      %y = graph.relu %x : (tensor<10007x4xf32>) -> tensor<10007x4xf32>
      return %y : tensor<10007x4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %y = call @tiles(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
      return %y : tensor<?x4xf32>
    }
    func.func private @tile_1(%x: tensor<1x4xf32>) -> tensor<1x4xf32> attributes {host.part} {...}
    func.func private @tiles(tensor<?x4xf32>) -> tensor<?x4xf32> attributes {
      host.tiles = [@tile_1], host.tile_sizes = array<i64: 1>,
      host.input_dims = array<i64: 0>, host.output_dims = array<i64: 0>}
    ```
  }];
  let options = [ListOption<"sizes", "sizes", "int64_t",
                            "Sizes of tiles; 1 is always one. Empty: chosen for the graph">];
  let statistics = [Statistic<"numTiles", "num-tiles", "Functions made">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostTileRows : Pass<"host-tile-rows", "::mlir::ModuleOp"> {
  let summary = "Computes host calls that work row by row with static functions";
  let description = [{
    A row is the last dim of a tensor; all other dims, however many, count rows. Host
    calls that compute row i of their result from row i of one value and from constants
    (products with constant matrices, biases, activations, normalization of rows,
    RowKernels.h) become a call of a loop over tiles of rows, each a function of static
    shapes, as host-tile-dynamic-dim makes them. The width of the value's rows must be
    stated by the calls; batch, sequence and rank need not be known. Regions whose
    matrices have fewer than 4096 elements stay host calls.

    ```mlir
    %a = graph.host_call "MatMul"(%x, %w) {} : (tensor<?x?x64xf32>, tensor<64x256xf32>) -> tensor<*xf32>
    %b = graph.host_call "Relu"(%a) {} : (tensor<*xf32>) -> tensor<*xf32>
    ```
    becomes
    ```mlir
    %b = call @rows_0(%x) : (tensor<?x?x64xf32>) -> tensor<*xf32>
    ```
  }];
  let options = [ListOption<"sizes", "sizes", "int64_t",
                            "Rows per tile; 1 is always one. Empty: 128, 72, 32, 16, 8, 1">];
  let statistics = [Statistic<"numRegions", "num-regions", "Loops made">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostConvsAsRows : Pass<"host-convs-as-rows", "::mlir::func::FuncOp"> {
  let summary = "Computes convolutions of open sizes as products of patches";
  let description = [{
    For a target whose programs have fixed sizes: host-tile-rows gives it the products of calls, but
    no convolutions. A Conv call of f32 in @main with a constant filter of 4096 elements or more
    becomes a call that moves the channels behind the other dims, pads and strided
    slices, a Concat of these to patches, and a product of the patches with the filter as a matrix.
    A window of one pixel needs no patches. Filters of groups get zeros between the channels of
    different groups, as long as the matrix has no more than 2^20 elements. Where an image may be
    smaller than the window, a MaxPool of one channel fails for it. Elementwise calls of such images are computed with the
    channels last, too, so that bias and activation become part of the tiles; what else reads the
    image gets it with the channels first. Pads that depend on the size of the image (SAME with a
    stride) keep the call.

    ```mlir
    %c = graph.host_call "Conv"(%x, %w) {strides = array<i64: 2, 2>}
        : (tensor<?x64x?x?xf32>, tensor<96x64x1x1xf32>) -> tensor<?x96x?x?xf32>
    ```
    becomes
    ```mlir
    %l = graph.host_call "Transpose"(%x) {perm = array<i64: 0, 2, 3, 1>}
        : (tensor<?x64x?x?xf32>) -> tensor<?x?x?x64xf32>
    %p = graph.host_call "Slice"(%l, %starts, %ends, %axes, %steps) {} : ... -> tensor<?x?x?x64xf32>
    %m = graph.host_call "MatMul"(%p, %matrix) {}
        : (tensor<?x?x?x64xf32>, tensor<64x96xf32>) -> tensor<?x?x?x96xf32>
    %c = graph.host_call "Transpose"(%m) {perm = array<i64: 0, 3, 1, 2>}
        : (tensor<?x?x?x96xf32>) -> tensor<?x96x?x?xf32>
    ```
  }];
  let statistics = [Statistic<"numConvs", "num-convs", "Convolutions replaced">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostMergeBranches : Pass<"host-merge-branches", "::mlir::func::FuncOp"> {
  let summary = "Replaces an If whose branches compute the same by one of them";
  let description = [{
    A `graph.if` whose branches are equal, whatever their names, becomes what they
    compute; its condition is not read any more. Ifs inside others come first, so that
    calls of functions that double with each level are compiled once. An If whose results
    have wider types than what its branches leave with stays.
  }];
  let statistics = [Statistic<"numMerged", "num-merged", "Ifs replaced">];
}

def HostFoldBatchNorm : Pass<"host-fold-batch-norm", "::mlir::func::FuncOp"> {
  let summary = "Folds scales and shifts of channels into the convolution before them";
  let description = [{
    What graph-fuse-conv-bn and graph-fold-scale-into-conv do, for calls of host kernels: a
    BatchNormalization whose numbers are known, or a sum, difference, product or quotient
    with one known number per channel, behind a Conv of f32 with known weights that nothing
    else reads, becomes part of its weights and bias.
  }];
  let statistics = [Statistic<"numFolded", "num-folded", "Calls folded">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostFoldByteTables : Pass<"host-fold-byte-tables", "::mlir::func::FuncOp"> {
  let summary = "Replaces functions of bytes by tables";
  let description = [{
    A tensor of bytes that calls compute element by element of one other tensor of bytes becomes
    one call, ByteTable, with the results for all 256 elements that there can be: sigmoids and
    what they are multiplied by, and floats between DequantizeLinear and QuantizeLinear. The
    kernels compute the table when the model is compiled, so that results stay the same.

    ```mlir
    %s = graph.host_call "QLinearSigmoid"(%x, %a, %z, %b, %z) {} : (tensor<*xui8>, ...) -> tensor<*xui8>
    %y = graph.host_call "QLinearMul"(%x, %a, %z, %s, %b, %z, %c, %z) {} : (tensor<*xui8>, ...) -> tensor<*xui8>
    ```
    becomes
    ```mlir
    %table = graph.constant dense<...> : tensor<256xui8>
    %y = graph.host_call "ByteTable"(%x, %table) {} : (tensor<*xui8>, tensor<256xui8>) -> tensor<*xui8>
    ```
  }];
  let statistics = [Statistic<"numTables", "num-tables", "Tables made">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostFuseConv : Pass<"host-fuse-conv", "::mlir::func::FuncOp"> {
  let summary = "Lets a convolution compute the sum and the activation behind it";
  let description = [{
    A Conv call of f32 whose result only an Add, a Relu, Clip, Sigmoid, Tanh, LeakyRelu or
    HardSigmoid, or `x * sigmoid(x)` reads becomes a FusedConv of com.microsoft (with the
    activation "Silu" in addition to those of ONNX Runtime), which computes both while the
    results are in the cache. A sum comes before an activation. An activation behind a
    Transpose or a Reshape of the results is computed in front of it. The operands of a sum may
    broadcast; the kernel finds out. Behind host-block-channels, BlockedConv and
    BlockedDepthwiseConv with an activation also take an Add of another blocked image behind it
    (the attribute `sum_last`).
  }];
  let statistics = [Statistic<"numFused", "num-fused", "Calls fused">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostBlockChannels : Pass<"host-block-channels", "::mlir::func::FuncOp"> {
  let summary = "Stores images between host calls in blocks of 16 channels";
  let description = [{
    Conv and FusedConv calls of f32 with two spatial dims and constant weights become
    BlockedConv, or BlockedDepthwiseConv with one channel per group. Their images are
    [batch, ceil(channels / 16), height, width, 16], the layout of generated code; their
    weights are packed. Up to four groups whose channels do not fill blocks are joined, with
    zeros between them, through which a NaN or an infinity reaches the other groups. With one
    spatial dim they become convolutions of images of one row, with the activations, sums and
    pools between them; pads of zeros in front of these become their own. Activations, sums,
    products and joins of blocked images, pools, and a Resize by constant factors work on
    blocks, too. A convolution reads up to eight images
    that are joined along their channels in place. BlockChannels and UnblockChannels
    convert images where other calls write or read them, the latter with channels behind the
    pixels where a Transpose, or a Reshape and a Transpose, ask for that; fewer than 16
    channels are read from their planes. What a Split along these channels takes is stored from
    the blocks, and what a Concat along them joins to it with it.

    QLinearConv becomes BlockedQLinearConv and BlockedQLinearDepthwiseConv where all but its data
    is constant and its weights are signed with zero point 0, or unsigned with 128; groups whose
    channels do not fill blocks are joined, with zeros between them. What computes bytes of bytes
    (QLinearAdd, QLinearMul, ByteTable, pools, ...), DequantizeLinear and QuantizeLinear work on
    blocks, too, and so do the f32 calls between these.

    Left alone are convolutions of fewer than 8 output channels, of groups that four together
    do not fill blocks, and a FusedConv with a sum that is not blocked.

    ```mlir
    %y = graph.host_call "Conv"(%x, %w) {} : (tensor<?x32x?x?xf32>, tensor<64x32x1x1xf32>) -> tensor<*xf32>
    ```
    becomes
    ```mlir
    %b = graph.host_call "BlockChannels"(%x) {channels = array<i64: 32>} : ...
    %c = graph.host_call "BlockedConv"(%b, %packed) {kernel_shape = array<i64: 1, 1>}
        : (tensor<?x2x?x?x16xf32>, tensor<4x2x1x16x16xf32>) -> tensor<?x4x?x?x16xf32>
    %y = graph.host_call "UnblockChannels"(%c) {channels = array<i64: 64>} : ...
    ```
  }];
  let statistics = [Statistic<"numBlocked", "num-blocked", "Convolutions of blocked images">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostScaleSums : Pass<"host-scale-sums", "::mlir::func::FuncOp"> {
  let summary = "Scales the sums of integer products where they are computed";
  let description = [{
    A MatMulInteger by a matrix of known dims, of which nothing but the conversion to f32 and the
    product with a scale of the rows and one or one per column of the weights reads the
    sums, becomes MatMulIntegerToFloat; so models come that `onnxruntime.quantization`
    quantized dynamically. A vector that is added to each row becomes its bias.

    ```mlir
    %s = graph.host_call "Mul"(%scale, %of_weights) {} : (tensor<*xf32>, tensor<16xf32>) -> tensor<*xf32>
    %i = graph.host_call "MatMulInteger"(%x, %w, %zero) {} : (tensor<*xui8>, tensor<4x16xi8>, tensor<*xui8>) -> tensor<*xi32>
    %f = graph.host_call "Cast"(%i) {to = array<i64: 1>} : (tensor<*xi32>) -> tensor<*xf32>
    %y = graph.host_call "Mul"(%f, %s) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    ```
    becomes
    ```mlir
    %y = graph.host_call "MatMulIntegerToFloat"(%x, %w, %scale, %of_weights, %zero) at [0, 1, 2, 3, 4] {} : ...
    ```
  }];
  let statistics = [Statistic<"numScaled", "num-scaled", "Products that scale their sums">,
                    Statistic<"numBiases", "num-biases", "Biases that products add">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostSelectWinograd : Pass<"host-select-winograd", "::mlir::func::FuncOp"> {
  let summary = "Selects the blocked convolutions that run as Winograd's F(m x m, 3x3)";
  let description = [{
    Rewrites BlockedConv with constant weights of 3x3, stride and dilation 1 to WinogradConv where
    the cost model of `cpu-select-winograd` expects it to be faster, and transforms the weights
    to [output blocks, positions, channels, 16]. The size of the image is not known: it is taken
    to have the more pixels the fewer channels there are. A form whose error is estimated above
    `max-error` is not used; where weights would make the model too large, forms that save the
    least per byte give way.

    ```mlir
    %c = graph.host_call "BlockedConv"(%b, %w) {kernel_shape = array<i64: 3, 3>}
        : (tensor<?x2x?x?x16xf32>, tensor<2x2x9x16x16xf32>) -> tensor<?x2x?x?x16xf32>
    ```
    becomes
    ```mlir
    %c = graph.host_call "WinogradConv"(%b, %t) {kernel_shape = array<i64: 3, 3>}
        : (tensor<?x2x?x?x16xf32>, tensor<2x36x32x16xf32>) -> tensor<?x2x?x?x16xf32>
    ```
  }];
  let options = [
    Option<"maxError", "max-error", "double", "2e-5",
           "The maximum estimated error of a convolution, as a part of the range of its outputs">
  ];
  let statistics = [Statistic<"numWinograd", "winograd", "Convolutions that run as Winograd's">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostMoveQuantization : Pass<"host-move-quantization", "::mlir::func::FuncOp"> {
  let summary = "Lets host calls that move elements move stored integers";
  let description = [{
    What graph-propagate-qdq does, for calls of host kernels: DequantizeLinear
    sinks below calls that only move elements or take the largest, QuantizeLinear
    rises above them, and where they meet with the same numbers both go. A Relu or
    Clip in front of a QuantizeLinear becomes a Clip of the integers behind it, or
    nothing where the range of the integers is the bound.

    Only tensors of 8 bits with one scale, all numbers known.
  }];
  let statistics = [Statistic<"numMoved", "num-moved", "Calls that work on integers now">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostFuseNormalization : Pass<"host-fuse-normalization", "::mlir::func::FuncOp"> {
  let summary = "Fuses formulas of exporters to calls of one operator";
  let description = [{
    x / sqrt(mean(x^2) + epsilon) * scale, along the last axis and with a constant scale,
    becomes RMSNormalization; x * sigmoid(x) becomes Swish; the approximation of gelu by
    tanh becomes Gelu.

    ```mlir
    %s = graph.host_call "Sigmoid"(%x) {} : (tensor<*xf32>) -> tensor<*xf32>
    %y = graph.host_call "Mul"(%x, %s) {} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    ```
    becomes
    ```mlir
    %y = graph.host_call "Swish"(%x) {} : (tensor<*xf32>) -> tensor<*xf32>
    ```
  }];
  let statistics = [Statistic<"numFused", "num-fused", "Calls made">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostFuseRotary : Pass<"host-fuse-rotary", "::mlir::func::FuncOp"> {
  let summary = "Fuses rotary embeddings to one call";
  let description = [{
    x * cos + concat(-x[n:], x[:n]) * sin of f32, along the last axis, becomes RotateHalf. The
    split n is a constant or half of the axis, as exporters compute it from the shape of x.

    ```mlir
    %back = graph.host_call "Slice"(%x, %n, %end, %axis) {} : ...
    %front = graph.host_call "Slice"(%x, %zero, %n, %axis) {} : ...
    %minus = graph.host_call "Neg"(%back) {} : ...
    %turned = graph.host_call "Concat"(%minus, %front) {axis = array<i64: -1>} : ...
    %a = graph.host_call "Mul"(%x, %cos) {} : ...
    %b = graph.host_call "Mul"(%turned, %sin) {} : ...
    %y = graph.host_call "Add"(%a, %b) {} : ...
    ```
    becomes
    ```mlir
    %y = graph.host_call "RotateHalf"(%x, %cos, %sin) {split = array<i64: 32>} : ...
    ```
  }];
  let statistics = [Statistic<"numFused", "num-fused", "Calls made">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostFuseAttention : Pass<"host-fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "Fuses softmax(q k^T) v, with its cache, to one call";
  let description = [{
    MatMul, Softmax and MatMul of f32 in [batch, heads, positions, size], with constant
    scales, an added mask, and keys and values that are repeated for groups of heads,
    become KvAttention, which makes no matrix of scores. Where keys and values are past
    and new positions joined by Concat, the call appends the new ones to the cache in
    position. Keys may be transposed while they are still [batch, positions, heads, size], or
    as matrices of any rank, as the exporters of PyTorch do; scores may be limited by
    softcap * tanh(x / softcap); a NaN of the softmax may be replaced by 0. Attention of
    opset 23 becomes the same call. Transposes between [batch, positions, heads, size] and
    that order, of operands without a cache and of a result that nothing else reads, go:
    the attribute `swapped` says which have the other order.

    Copies are removed first: Cast to the type of the input, Concat of one input.

    ```mlir
    %k = graph.host_call "Concat"(%past_k, %new_k) {axis = array<i64: 2>} : ...
    %v = graph.host_call "Concat"(%past_v, %new_v) {axis = array<i64: 2>} : ...
    %t = graph.host_call "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} : ...
    %s = graph.host_call "MatMul"(%q, %t) {} : ...
    %p = graph.host_call "Softmax"(%s) {axis = array<i64: -1>} : ...
    %y = graph.host_call "MatMul"(%p, %v) {} : ...
    return %y, %k, %v
    ```
    becomes
    ```mlir
    %y:3 = graph.host_call "KvAttention"(%q, %new_k, %new_v, %past_k, %past_v)
        at [0, 1, 2, 4, 5] {mask_broadcast = array<i64: 1>, scale = array<f64: 1.0>} : ...
    return %y#0, %y#1, %y#2
    ```
  }];
  let statistics = [Statistic<"numFused", "num-fused", "Attentions found">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostNarrowCaches : Pass<"host-narrow-caches", "::mlir::func::FuncOp"> {
  let summary = "Attention reads caches of f16 and bf16 as they are stored";
  let description = [{
    Where the past keys and values of KvAttention or GroupQueryAttention are converted from
    f16 or bf16, and the present ones back, the call takes and returns the cache as it is
    stored, so that a step appends to it in place and converts what it reads in registers.
    Calls whose present keys or values are read as f32 elsewhere stay as they are; a Shape
    may read them.

    ```mlir
    %pk = graph.host_call "Cast"(%past_k) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %pv = graph.host_call "Cast"(%past_v) {to = array<i64: 1>} : (tensor<*xf16>) -> tensor<*xf32>
    %y:3 = graph.host_call "KvAttention"(%q, %k, %v, %pk, %pv) at [0, 1, 2, 4, 5] {} : ...
    %nk = graph.host_call "Cast"(%y#1) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    %nv = graph.host_call "Cast"(%y#2) {to = array<i64: 10>} : (tensor<*xf32>) -> tensor<*xf16>
    ```
    becomes
    ```mlir
    %y:3 = graph.host_call "KvAttention"(%q, %k, %v, %past_k, %past_v) at [0, 1, 2, 4, 5] {} : ...
    ```
  }];
  let statistics = [Statistic<"numNarrowed", "num-narrowed", "Attentions over caches of 16 bits">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostWidenFloats : Pass<"host-widen-floats", "::mlir::func::FuncOp"> {
  let summary = "Calls on f16 and bf16 compute in f32";
  let description = [{
    In a function with products, convolutions, attention or recurrent cells of f16 or bf16,
    calls of host kernels on tensors of these types compute in f32, as static graphs do
    (`graph-widen-floats`): other passes then find the forms that they know, and generated
    code reads what instructions compute with. Constants are converted when compiling;
    packed weights of a product stay as they are. Inputs are converted where a call
    computes with them, results of the model where they leave it.

    Calls that only move elements keep their types while all of their operands do, so that
    rows of a table are converted after they are gathered. Quantization, random numbers and
    sequences keep their types, and so do casts. But a cast to f32 of what is computed in f32
    changes nothing, and what went from f16 to f32 and comes back is not rounded there.

    ```mlir
    %y = graph.host_call "Sigmoid"(%x) {} : (tensor<?x4xf16>) -> tensor<?x4xf16>
    %z = graph.host_call "Mul"(%x, %y) {} : (tensor<?x4xf16>, tensor<?x4xf16>) -> tensor<?x4xf16>
    ```
    becomes
    ```mlir
    %0 = graph.host_call "Cast"(%x) {to = array<i64: 1>} : (tensor<?x4xf16>) -> tensor<?x4xf32>
    %y = graph.host_call "Sigmoid"(%0) {} : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %1 = graph.host_call "Mul"(%0, %y) {} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %z = graph.host_call "Cast"(%1) {to = array<i64: 10>} : (tensor<?x4xf32>) -> tensor<?x4xf16>
    ```
  }];
  let statistics = [Statistic<"numWidened", "num-widened", "Calls that compute in f32">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostFuseDequantize : Pass<"host-fuse-dequantize", "::mlir::func::FuncOp"> {
  let summary = "Products read constant weights of 4 and 8 bits as they are stored";
  let description = [{
    MatMul, Gemm and graph.matmul whose second factor is a DequantizeLinear of constants
    become MatMulNBits, which expands weights in registers: integers of 4 or 8 bits with
    scales per block of rows, or of 4 bits with scales per column or one for all. The
    matrix may be transposed, by a transpose between the two or by transB. Otherwise the
    weights would be dequantized to memory in each run.

    Left alone are 8-bit weights without blocks, which integer products serve, a Gemm with
    a first factor that is transposed or scaled or with a bias that is not one number per
    column, and with `graph-products=false` graph.matmul, for targets with products of
    their own.

    ```mlir
    %w = graph.host_call "DequantizeLinear"(%q, %s) {axis = array<i64: 0>, block_size = array<i64: 32>}
        : (tensor<512x384xi4>, tensor<16x384xf32>) -> tensor<512x384xf32>
    %y = graph.host_call "MatMul"(%x, %w) {} : ...
    ```
    becomes
    ```mlir
    %y = graph.host_call "MatMulNBits"(%x, %packed, %scales, %zeros)
        {K = array<i64: 512>, N = array<i64: 384>, bits = array<i64: 4>, block_size = array<i64: 32>} : ...
    ```
  }];
  let options = [Option<"graphProducts", "graph-products", "bool", "true",
                        "Whether graph.matmul is converted, too">];
  let statistics = [Statistic<"numFused", "num-fused", "Products with weights of few bits">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostIntegerCalls : Pass<"host-integer-calls", "::mlir::func::FuncOp"> {
  let summary = "Computes with the integers of quantized tensors in host calls";
  let description = [{
    DequantizeLinear, an operator and QuantizeLinear become the operator's integer
    form: QLinearConv, QLinearMatMul, QGemm, QLinearAdd and so on. Products without a
    QuantizeLinear behind them become ConvInteger, MatMulInteger, MatMulIntegerToFloat
    or QGemm, whose exact sums are scaled to real numbers.

    Biases become integers of the product of the two scales where their rounding to
    these is far below a step of the result. What has no integer form stays: blocks of
    scales, 4 and 16 bits, scales of which there is one for each index of an axis that
    is summed over.
  }];
  let statistics = [Statistic<"numCalls", "num-calls", "Integer calls made">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

def HostNarrowGates : Pass<"host-narrow-gates", "::mlir::func::FuncOp"> {
  let summary = "Narrows weights of recurrent cells";
  let description = [{
    Stores the packed weights R of an RNN, GRU or LSTM in fewer bits where they fill more
    than a first cache: a step then takes as long as reading them. R has fewer rows of
    words, and `packed` says which:

    - 4: integers of 8 bits with a scale for each column (kernels/nn/gates/ByteGates.h),
      where that is exact, as in quantized models, and all CPU levels have an instruction for
      such products (option `bytes`). Dim 1 counts 16 for each 64 columns, and
      what the scales need. What the weights multiply is rounded to 14 to 16 bits.
    - 5: W, too, which is then [directions, 1, words].

    For one sequence, weights that are no such integers are rounded:

    - 3: integers of 16 bits with a scale for each 32 weights of a column
      (kernels/nn/gates/IntegerGates.h), where the units are a multiple of 32, at most 2048,
      and the expected error of a gate, which is computed from the weights, is at
      most 3e-5. Dim 1 counts 34 for each 64 columns that fill a panel.
    - 2: f32 of 24 bits (kernels/nn/gates/NarrowGates.h), with a relative error of at
      most 2^-16. Dim 1 counts 48 for each 64 columns.

    ```mlir
    %y = graph.host_call "LSTM"(%x, %w, %r) {packed = array<i64: 1>}
      : (tensor<9x1x4xf32>, tensor<1x512x4xf32>, tensor<1x512x128xf32>) -> ...
    ```
    becomes
    ```mlir
    %y = graph.host_call "LSTM"(%x, %w, %r_narrow) {packed = array<i64: 3>}
      : (tensor<9x1x4xf32>, tensor<1x512x4xf32>, tensor<1x272x128xf32>) -> ...
    ```
  }];
  let options = [Option<"bytes", "bytes", "bool", /*default=*/"true",
                        "Whether the CPUs are faster with weights of 8 bits">];
  let statistics = [Statistic<"numNarrowed", "num-narrowed", "Calls whose weights were narrowed">];
  let dependentDialects = ["::atc::graph::GraphDialect"];
}

#endif // OPENATC_PASSES_HOST_PASSES_TD
