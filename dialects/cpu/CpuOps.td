//===-- CpuOps.td - contractions on buffers ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_CPU_OPS_TD
#define OPENATC_CPU_OPS_TD

include "dialects/cpu/CpuDialect.td"

def Cpu_Conv2DOp : Kernel_InPlaceOp<"conv2d", [AttrSizedOperandSegments], Cpu_Dialect> {
  let summary = "Dense convolution on blocked buffers";
  let description = [{
    input [N][ICB][Hp][Wp][c] is the padded view: no position outside of it is
    read. filter [OCB][ICB / groups][KH][KW][c][b] (channels past the last are
    zero), bias and slope [OCB * b], residual and output [N][OCB][OH][OW][b].
    `channels` = input channels per group that are accumulated. `image`, [top, left, height, width],
    is the part of the input that is no padding; all that lies around it is zero.
  }];
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$filter, Optional<AnyMemRef>:$bias,
                       Optional<AnyMemRef>:$residual, Optional<AnyMemRef>:$slope, AnyMemRef:$output,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, I64Attr:$groups,
                       I64Attr:$channels, OptionalAttr<Graph_ActivationAttr>:$activation,
                       UnitAttr:$residual_last, OptionalAttr<Cpu_TileAttr>:$tile,
                       OptionalAttr<DenseI64ArrayAttr>:$image);
  let assemblyFormat = [{
    $input `,` $filter (`bias` $bias^)? (`residual` $residual^)? (`slope` $slope^)?
    `outs` $output attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}

def Cpu_DepthwiseConv2DOp : Kernel_InPlaceOp<"depthwise_conv2d", [AttrSizedOperandSegments], Cpu_Dialect> {
  let summary = "Depthwise convolution on blocked buffers";
  let description = [{
    input [N][CB][Hp][Wp][b] padded view, filter [CB][KH][KW][b], bias and slope
    [CB * b], residual and output [N][CB][OH][OW][b].
  }];
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$filter, Optional<AnyMemRef>:$bias,
                       Optional<AnyMemRef>:$residual, Optional<AnyMemRef>:$slope, AnyMemRef:$output,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       OptionalAttr<Graph_ActivationAttr>:$activation,
                       UnitAttr:$residual_last, OptionalAttr<Cpu_TileAttr>:$tile);
  let assemblyFormat = [{
    $input `,` $filter (`bias` $bias^)? (`residual` $residual^)? (`slope` $slope^)?
    `outs` $output attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}

def Cpu_MatMulOp : Kernel_InPlaceOp<"matmul", [AttrSizedOperandSegments], Cpu_Dialect> {
  let summary = "Matrix product";
  let description = [{
    lhs [B][M][K], output [B][M][N], bias [N]. rhs is packed weights [N/b][K][b]
    (rank 3, `packed`) or an unpacked matrix [B][K][N]; a batch of 1 broadcasts.
    residual has the shape of the output and is added before the activation.
  }];
  let arguments = (ins AnyMemRef:$lhs, AnyMemRef:$rhs, Optional<AnyMemRef>:$bias,
                       Optional<AnyMemRef>:$residual, AnyMemRef:$output,
                       UnitAttr:$packed, OptionalAttr<Graph_ActivationAttr>:$activation,
                       OptionalAttr<Cpu_TileAttr>:$tile);
  let assemblyFormat = [{
    $lhs `,` $rhs (`bias` $bias^)? (`residual` $residual^)? `outs` $output attr-dict `:`
    type(operands)
  }];
  let hasVerifier = 1;
}

// The base of the integer convolutions and their epilogue: `inputs` are buffers with
// the output's shape, or vectors with one value for all (or one per lane) of its
// channels; the body computes an element of the output from the accumulator and one
// element of each. Without a body the output is the accumulators.
class Cpu_IntegerOp<string mnemonic, dag before, dag after>
    : Kernel_InPlaceOp<mnemonic, [], Cpu_Dialect> {
  let arguments = !con(before, (ins AnyMemRef:$bias, Variadic<AnyMemRef>:$inputs,
                                    AnyMemRef:$output),
                       after, (ins OptionalAttr<Cpu_TileAttr>:$tile));
  let regions = (region MaxSizedRegion<1>:$body);
  let hasVerifier = 1;
}

def Cpu_IntegerConv2DOp : Cpu_IntegerOp<"integer_conv2d",
    (ins AnyMemRef:$input, AnyMemRef:$filter, AnyMemRef:$steps, AnyMemRef:$starts),
    (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$groups, DenseBoolArrayAttr:$by_magnitude, UnitAttr:$signed_input, I64Attr:$products,
     OptionalAttr<I64Attr>:$adjacent)> {
  let summary = "Dense convolution of 8-bit integers with 32-bit accumulators";
  let description = [{
    The window is a list of steps per block of outputs: `steps` [S] of i32
    contains the offset of the four adjacent bytes of a step, in bytes from an
    output pixel's first input; filter [S][b][4] of i8 contains their weights.
    The list of a block has R consecutive runs; `starts` [OCB * R + 1] of i32
    are the steps where runs begin, and the end. Blocks with the same list of one
    run may share it: steps are [S / OCB] then. Runs are built so that the sums
    of `groups[r]` steps, two products of each, stay within 16 bits. input
    [N][ICB][Hp][Wp][c], bias [OCB * b] of i32, output [N][OCB][OH][OW][lanes],
    lanes <= b. `signed_input`: bytes are i8. `products`: multiplications per
    run of the kernel, as in the model. `adjacent`: the steps of each block come
    in chunks of this number whose bytes are adjacent, which is what tile
    registers need (up to 16); blocks have one list.

    The accumulators are those of bytes in 0..255: 128 is added to signed ones.
    In runs `by_magnitude` they are those of bytes in -128..127 (128 is
    subtracted from unsigned ones), with all bits of a byte inverted where its
    weight is negative, times the magnitudes of the weights. The bias
    compensates for either. Tile registers multiply signed bytes as they are:
    with `signed_input` and `adjacent`, bias is [2][OCB * b], first that of the
    accumulators above, then that of tile registers.
  }];
  let assemblyFormat = [{
    $input `,` $filter `,` $steps `,` $starts `,` $bias (`inputs` $inputs^)? `outs` $output attr-dict `:`
    type(operands) ($body^)?
  }];
  let extraClassDeclaration = [{
    bool holdsAddresses(unsigned operand) {
      ::mlir::Value value = getOperand(operand);
      return value == getSteps() || value == getStarts();
    }
  }];
}

def Cpu_IntegerDepthwiseOp : Cpu_IntegerOp<"integer_depthwise",
    (ins AnyMemRef:$input, AnyMemRef:$filter),
    (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, UnitAttr:$signed_input)> {
  let summary = "Depthwise convolution of 8-bit integers with 32-bit accumulators";
  let description = [{
    input [N][CB][Hp][Wp][b] padded view, filter [CB][KH][KW][b] of i16, bias
    [CB * b] of i32, output [N][CB][OH][OW][b].
  }];
  let assemblyFormat = [{
    $input `,` $filter `,` $bias (`inputs` $inputs^)? `outs` $output attr-dict `:`
    type(operands) ($body^)?
  }];
}

def Cpu_WinogradInputOp : Kernel_Op<"winograd_input", [], Cpu_Dialect> {
  let summary = "Winograd input transform F(m x m, 3x3) for a convolution of 8-bit integers";
  let description = [{
    input [N][CB][Hp][Wp][16] of bytes is the padded view, output [N][P][T][CB *
    16] of i16: the transformed values at the P = (m + 2)^2 positions of each
    tile, m = 2 or 4. Tiles are m x m outputs, row by row; tiles that extend
    beyond the plane are complete. T may be one more than there are tiles, which
    keeps positions apart in caches (storedTilesOf()). `signed_input`: bytes are i8.
  }];
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output, UnitAttr:$signed_input);
  let assemblyFormat = "$input `outs` $output attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

def Cpu_WinogradConv2DOp : Cpu_IntegerOp<"winograd_conv2d",
    (ins AnyMemRef:$input, AnyMemRef:$filter), (ins)> {
  let summary = "Dense 3x3 convolution of 8-bit integers by Winograd's F(m x m, 3x3)";
  let description = [{
    input [N][P][T][C] of i16 from winograd_input, filter [OCB][P][C/2][b][2] of
    i16: the weights transformed as in dialects/cpu/Winograd.h. Accumulators
    must be within its largestSum(). bias [OCB * b] of i32, output
    [N][OCB][OH][OW][lanes], lanes <= b.
  }];
  let assemblyFormat = [{
    $input `,` $filter `,` $bias (`inputs` $inputs^)? `outs` $output attr-dict `:`
    type(operands) ($body^)?
  }];
}

def Cpu_IntegerYieldOp : Op<Cpu_Dialect, "integer_yield", [Pure, Terminator,
    ParentOneOf<["IntegerConv2DOp", "IntegerDepthwiseOp", "WinogradConv2DOp"]>]> {
  let summary = "Yields the result of an integer convolution's body";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Cpu_LookupOp : Op<Cpu_Dialect, "lookup",
    !listconcat([Pure, SameOperandsAndResultType], ElementwiseMappable.traits)> {
  let summary = "Finds a byte in a table of 256";
  let description = [{
    The result is table[index], where the index is read as a number from 0 to
    255. A lane of a vector has its own.
  }];
  let arguments = (ins AnyTypeOf<[I8, FixedVectorOfRankAndType<[1], [I8]>]>:$index, DenseI8ArrayAttr:$table);
  let results = (outs AnyTypeOf<[I8, FixedVectorOfRankAndType<[1], [I8]>]>:$result);
  let assemblyFormat = "$index `in` $table attr-dict `:` type($index)";
  let hasVerifier = 1;
}

#endif // OPENATC_CPU_OPS_TD
