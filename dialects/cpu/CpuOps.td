//===-- CpuOps.td - contractions on buffers ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_CPU_OPS_TD
#define OPENATC_CPU_OPS_TD

include "dialects/cpu/CpuDialect.td"

def Cpu_Conv2DOp : Kernel_InPlaceOp<"conv2d", [AttrSizedOperandSegments], Cpu_Dialect> {
  let summary = "Dense convolution on blocked buffers";
  let description = [{
    input [N][ICB][Hp][Wp][c] is the padded view: no position outside it is
    read. filter [OCB][ICB / groups][KH][KW][c][b] (channels past the last are zero), bias
    and slope [OCB * b], residual and output [N][OCB][OH][OW][b]. `channels` =
    input channels of a group that are summed.
  }];
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$filter, Optional<AnyMemRef>:$bias,
                       Optional<AnyMemRef>:$residual, Optional<AnyMemRef>:$slope, AnyMemRef:$output,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, I64Attr:$groups,
                       I64Attr:$channels, OptionalAttr<Graph_ActivationAttr>:$activation,
                       UnitAttr:$residual_last, OptionalAttr<Cpu_TileAttr>:$tile);
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

def Cpu_MatMulOp : Kernel_Op<"matmul", [], Cpu_Dialect> {
  let summary = "Matrix product";
  let description = [{
    lhs [B][M][K], output [B][M][N], bias [N]. rhs is packed weights [N/b][K][b]
    (rank 3, `packed`) or a plain matrix [B][K][N]; a batch of 1 broadcasts.
  }];
  let arguments = (ins AnyMemRef:$lhs, AnyMemRef:$rhs, Optional<AnyMemRef>:$bias, AnyMemRef:$output,
                       UnitAttr:$packed, OptionalAttr<Graph_ActivationAttr>:$activation,
                       OptionalAttr<Cpu_TileAttr>:$tile);
  let assemblyFormat = [{
    $lhs `,` $rhs (`bias` $bias^)? `outs` $output attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}

#endif // OPENATC_CPU_OPS_TD
