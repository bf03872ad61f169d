//===-- FloatWinogradOps.td - Winograd convolutions of f32 -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_CPU_FLOATWINOGRADOPS_TD
#define OPENATC_CPU_FLOATWINOGRADOPS_TD

include "dialects/cpu/CpuDialect.td"

def Cpu_FloatWinogradOp : Kernel_InPlaceOp<"float_winograd", [AttrSizedOperandSegments], Cpu_Dialect> {
  let summary = "Dense 3x3 convolution of f32 by Winograd's F(m x m, 3x3)";
  let description = [{
    input [N][ICB][OH + 2][OW + 2][c] of f32 is the padded view: no position
    outside of it is read. filter [OCB][P][ICB * c][b]: the weights transformed
    as in dialects/cpu/Winograd.h at the P = (m + 2)^2 positions of a tile, m = 2
    or 4. bias and slope [OCB * b], residual and output [N][OCB][OH][OW][b].
    Stride and dilation are 1. In `tile`, `rows` are rows of tiles per task and
    `pixels` are tiles of a register tile.
  }];
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$filter, Optional<AnyMemRef>:$bias,
                       Optional<AnyMemRef>:$residual, Optional<AnyMemRef>:$slope, AnyMemRef:$output,
                       OptionalAttr<Graph_ActivationAttr>:$activation,
                       UnitAttr:$residual_last, OptionalAttr<Cpu_TileAttr>:$tile);
  let assemblyFormat = [{
    $input `,` $filter (`bias` $bias^)? (`residual` $residual^)? (`slope` $slope^)?
    `outs` $output attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}

#endif // OPENATC_CPU_FLOATWINOGRADOPS_TD
