//===-- NpuKernelOps.td - the NPU's contractions on buffers -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels on memrefs, in addition to those of the kernel dialect; npu-expand-*
// expands them to programs.

#ifndef OPENATC_NPU_KERNEL_OPS_TD
#define OPENATC_NPU_KERNEL_OPS_TD

include "dialects/kernel/KernelDialect.td"
include "dialects/npu/NpuDialect.td"

def Npu_TileAttr : AttrDef<Npu_Dialect, "Tile"> {
  let mnemonic = "tile";
  let summary = "The tile sizes of a contraction, set by npu-select-tiles";
  let description = [{
    `m`, `n`, `k`: one step through L0 (rows, columns, contracted elements).
    `l1_m`, `l1_n`, `l1_k`: the parts of A and B that L1 holds at a time, in the
    same units. `cores_m`, `cores_n`: the division of rows and columns among
    cores. `order`: the operand that stays in L1 while the other one is
    streamed.
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k, "int64_t":$l1_m,
                        "int64_t":$l1_n, "int64_t":$l1_k, "int64_t":$cores_m,
                        "int64_t":$cores_n, StringRefParameter<"">:$order);
  let assemblyFormat = "`<` struct(params) `>`";
}

// An I64Attr whose accessors give numbers with their sign.
def Npu_YuvAttr : AttrDef<Npu_Dialect, "Yuv"> {
  let mnemonic = "yuv";
  let summary = "The colours of an image of luma and chroma";
  let description = [{
    The image [N][1][H * 3/2][W] of u8 has H rows of luma before H/2 rows of
    pairs (u, v), each for 2 x 2 pixels. Of its window `crop` = [top, left,
    height, width], all even, channel c is clamp(floor((matrix[c][0] * luma +
    matrix[c][1] * u + matrix[c][2] * v + bias[c]) / 256), 0, 255).
  }];
  let parameters = (ins "::mlir::DenseI64ArrayAttr":$crop, "::mlir::DenseI64ArrayAttr":$matrix,
                        "::mlir::DenseI64ArrayAttr":$bias);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Npu_PixelsAttr : AttrDef<Npu_Dialect, "Pixels"> {
  let mnemonic = "pixels";
  let summary = "The normalization of pixels while they are loaded";
  let description = [{
    Channel c becomes (x - means[c]) * factors[c], each operation rounded to f32.
    With `yuv` the channels are made of luma and chroma before.
  }];
  let parameters = (ins "::mlir::DenseF64ArrayAttr":$means, "::mlir::DenseF64ArrayAttr":$factors,
                        OptionalParameter<"::atc::npu::ir::YuvAttr">:$yuv);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Npu_SignedI64Attr : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit signless integer attribute"> {
  let convertFromStorage = "$_self.getValue().getSExtValue()";
}

def Npu_Conv2DOp : Kernel_InPlaceOp<"conv2d", [AttrSizedOperandSegments], Npu_Dialect> {
  let summary = "Convolution on NC1HWC0 with weights in FRACTAL_Z";
  let description = [{
    input [N][C1][H][W][16], output and residual [N][N1][OH][OW][16], all f16.
    With `image` the input is an unblocked image [N][C][H][W] of f32, f16 or u8
    with at most 4 channels, and a tap has 4 channels. filter [G][K1][N1/G][16
    n][16 k] f16: K1 = C1/G * KH * KW blocks in the order (c1, kh, kw); for an
    image K1 = ceil(KH * KW * 4 / 16), and a row of k is (kh, kw, c).
    `block_groups` = G: blocks of output channels and of input channels are
    divided among G groups (a depthwise convolution has one group per block,
    with weights off the diagonal zero). bias f32 and slope f16 are [N1 * 16].
    Positions outside of the input, by `pads` [top, left, bottom, right], are
    zero. The result is activation(conv + bias + residual), with `residual_last`
    activation(conv + bias) + residual. With a body, the activation is relu or
    none, there is no slope, and the result is what the body yields for
    activation(conv + bias) and an element of the residual, all f16.
    With `identity`, a matrix of f16 [16][16] with ones on its diagonal, the cube
    adds the residual to the accumulators as its product with that matrix, which
    split cores need: their results do not pass the vector unit. An infinite
    element of the residual makes NaN of the block of 16 channels it is in.

    With `scales` (f32) everything is 8-bit: input, filter, residual and output
    are i8 (the input unsigned with `unsigned_input`), in blocks of 32 channels,
    filter [G][K1][N1/G][16 n][32 k] with N1 columns of 16, bias and scales are
    i32 and f32 [channels, whole blocks]; positions outside of the input are
    `pad_value`. An accumulator becomes saturate(round(acc * scale) + offset) of
    the type `stored`, at least the offset with `stored_relu`. If there is a
    body, it receives (that - offset) * factor in f32 and an element of the
    residual, and yields the result. With `image_scale` an image of f32 is
    quantized while it is loaded: saturate(round(x / image_scale) + pad_value).
    An image of bytes is multiplied in f16 by a filter of f16 that holds
    integers, with a bias of f32; its accumulators must stay below 2^24. With
    `pixels` an image of u8, whose elements may lie in any order, is normalized
    while it is loaded; positions outside of it are zero behind that. With `yuv`
    in them the input is [N][1][H * 3/2][W], contiguous.
  }];
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$filter, Optional<AnyMemRef>:$bias,
                       Optional<AnyMemRef>:$residual, Optional<AnyMemRef>:$slope,
                       Optional<AnyMemRef>:$scales, Optional<AnyMemRef>:$identity,
                       AnyMemRef:$output, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads,
                       DefaultValuedAttr<I64Attr, "1">:$block_groups, UnitAttr:$image,
                       I64Attr:$macs, OptionalAttr<Graph_ActivationAttr>:$activation,
                       UnitAttr:$residual_last, OptionalAttr<TypeAttr>:$stored,
                       UnitAttr:$stored_relu, DefaultValuedAttr<Npu_SignedI64Attr, "0">:$offset,
                       OptionalAttr<F64Attr>:$factor, UnitAttr:$unsigned_input,
                       DefaultValuedAttr<Npu_SignedI64Attr, "0">:$pad_value,
                       OptionalAttr<F64Attr>:$image_scale, OptionalAttr<Npu_PixelsAttr>:$pixels,
                       OptionalAttr<Npu_TileAttr>:$tile);
  let regions = (region MaxSizedRegion<1>:$body);
  let assemblyFormat = [{
    $input `,` $filter (`bias` $bias^)? (`residual` $residual^)? (`slope` $slope^)?
    (`scales` $scales^)? (`identity` $identity^)? `outs` $output attr-dict
    `:` type(operands) ($body^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the dims of the input as the window sees them: [N][C][H][W] of the colours of an
    /// image of luma and chroma.
    llvm::SmallVector<int64_t> inputShape();
  }];
}

def Npu_YieldOp : Op<Npu_Dialect, "yield", [Pure, Terminator, HasParent<"Conv2DOp">]> {
  let summary = "Yields the result of a convolution's body";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Npu_MatMulOp : Kernel_InPlaceOp<"matmul", [AttrSizedOperandSegments], Npu_Dialect> {
  let summary = "Matrix products of rows in gm or of packed weights";
  let description = [{
    lhs [B0][B1][M][K], output and residual [B0][B1][M][N] (f16; the output may
    be f32), with any strides except that rows are dense. rhs is weights
    [K/16][N/16][16 n] [16 k] (rank 4 with `packed`, sizes rounded up, padded
    with zeros), or one matrix per product: [B0][B1][K][N], with `transpose_rhs`
    [B0][B1][N][K]; a dim B of size 1 broadcasts. bias f32 [N rounded up to 16].
    `scale` multiplies the product before the bias: activation(scale * lhs x rhs
    + bias + residual), with `residual_last` as in conv2d.
  }];
  let arguments = (ins AnyMemRef:$lhs, AnyMemRef:$rhs, Optional<AnyMemRef>:$bias,
                       Optional<AnyMemRef>:$residual, AnyMemRef:$output, UnitAttr:$packed,
                       UnitAttr:$transpose_rhs, DefaultValuedAttr<F64Attr, "1.0">:$scale,
                       OptionalAttr<Graph_ActivationAttr>:$activation, UnitAttr:$residual_last,
                       OptionalAttr<Npu_TileAttr>:$tile);
  let assemblyFormat = [{
    $lhs `,` $rhs (`bias` $bias^)? (`residual` $residual^)? `outs` $output attr-dict
    `:` type(operands)
  }];
  let hasVerifier = 1;
}

def Npu_LayerNormOp : Kernel_InPlaceOp<"layer_norm", [AttrSizedOperandSegments], Npu_Dialect> {
  let summary = "Normalizes rows to mean 0 and variance 1, or to a mean square of 1";
  let description = [{
    input and output [rows][columns], gamma and beta [columns] f32. output =
    (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, computed in f32. With
    `uncentered` no mean is subtracted: the RMS norm
    x / sqrt(mean(x * x) + epsilon) * gamma + beta.
  }];
  let arguments = (ins AnyMemRef:$input, Optional<AnyMemRef>:$gamma, Optional<AnyMemRef>:$beta,
                       AnyMemRef:$output, F64Attr:$epsilon, UnitAttr:$uncentered);
  let assemblyFormat = [{
    $input (`gamma` $gamma^)? (`beta` $beta^)? `outs` $output attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}

#endif // OPENATC_NPU_KERNEL_OPS_TD
