//===-- HalfOps.td - contractions in f16 ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_CPU_HALFOPS_TD
#define OPENATC_CPU_HALFOPS_TD

include "dialects/cpu/CpuDialect.td"

def Cpu_HalfConv2DOp : Kernel_InPlaceOp<"half_conv2d", [AttrSizedOperandSegments], Cpu_Dialect> {
  let summary = "Dense convolution with products in f16, on blocked buffers of f32";
  let description = [{
    As cpu.conv2d of one group: input [N][ICB][Hp][Wp][c] is the padded view, all
    of whose channels are accumulated, c is even; bias and slope [OCB * b],
    residual and output [N][OCB][OH][OW][b], all of f32. filter
    [OCB][ICB][KH][KW][P][2 * b] is of f16: element 2 * j + i of pair p is the
    weight of input channel 2 * p + i for output channel j, 0 past the last
    channel; 2 * P >= c.

    The input is rounded to f16. Up to some 64 products per pair of channels are
    accumulated in f16, and these sums in f32. A matrix product has one row of M
    pixels with K channels.
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

#endif // OPENATC_CPU_HALFOPS_TD
