//===-- CpuOps.td - kernels on buffers --------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_CPU_OPS_TD
#define OPENATC_CPU_OPS_TD

include "dialects/cpu/CpuDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/cpu/CpuInterfaces.td"

class Cpu_OpBase<string mnemonic, list<Trait> traits>
    : Op<Cpu_Dialect, mnemonic, traits # [MemoryEffects<[MemRead, MemWrite]>]> {
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

class Cpu_Op<string mnemonic, list<Trait> traits = []>
    : Cpu_OpBase<mnemonic, traits # [DeclareOpInterfaceMethods<Cpu_KernelOpInterface>]>;

// A kernel whose result may take the memory of one of its inputs.
class Cpu_InPlaceOp<string mnemonic, list<Trait> traits = []>
    : Cpu_OpBase<mnemonic, traits # [DeclareOpInterfaceMethods<Cpu_KernelOpInterface, ["canRunInPlace"]>]>;

def Cpu_Conv2DOp : Cpu_InPlaceOp<"conv2d", [AttrSizedOperandSegments]> {
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

def Cpu_DepthwiseConv2DOp : Cpu_InPlaceOp<"depthwise_conv2d", [AttrSizedOperandSegments]> {
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

def Cpu_MatMulOp : Cpu_Op<"matmul"> {
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

def Cpu_PoolOp : Cpu_Op<"pool"> {
  let summary = "Sliding-window maximum or mean on [N][CB][H][W][b]";
  let description = [{
    The window is clipped at the input's edge; `pads` = [top, left, bottom,
    right]. A mean divides by the window's size with the padding counted
    (`count_include_pad`, bounded by the padded input) or by the clipped size.
  }];
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output, Cpu_PoolKindAttr:$kind,
                       DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       UnitAttr:$count_include_pad);
  let hasVerifier = 1;
}

def Cpu_MapOp : Cpu_InPlaceOp<"map", [SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Elementwise computation given by a region of scalar arith and math ops";
  let description = [{
    All operands have the output's rank; a dim of size 1 broadcasts.
  }];
  let arguments = (ins Variadic<AnyMemRef>:$inputs, AnyMemRef:$output);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$inputs `outs` $output attr-dict `:` type(operands) $body";
  let hasVerifier = 1;
}

def Cpu_YieldOp : Op<Cpu_Dialect, "yield", [Pure, Terminator, HasParent<"MapOp">]> {
  let summary = "Ends the body of a map";
  let arguments = (ins Optional<AnyType>:$value);
  let assemblyFormat = "attr-dict ($value^ `:` type($value))?";
  let builders = [OpBuilder<(ins)>];
}

def Cpu_ReduceOp : Cpu_Op<"reduce"> {
  let summary = "Reduction over `axes`; the output keeps them with size 1";
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output, Graph_ReduceKindAttr:$kind,
                       DenseI64ArrayAttr:$axes);
  let hasVerifier = 1;
}

def Cpu_ArgReduceOp : Cpu_Op<"arg_reduce"> {
  let summary = "Index of the largest (or smallest) element along `axis`; the output keeps it with size 1";
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output, I64Attr:$axis, UnitAttr:$smallest,
                       UnitAttr:$select_last);
  let hasVerifier = 1;
}

def Cpu_SoftmaxOp : Cpu_Op<"softmax"> {
  let summary = "Softmax (or its logarithm) along `axis`";
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output, I64Attr:$axis, UnitAttr:$log);
  let hasVerifier = 1;
}

def Cpu_CopyOp : Cpu_Op<"copy"> {
  let summary = "Copies between buffers of one shape and any strides";
  let description = [{
    Transpose, slice, concat, expand (stride 0) and depth_to_space are copies
    between suitable views.
  }];
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output);
  let hasVerifier = 1;
}

def Cpu_PackOp : Cpu_Op<"pack"> {
  let summary = "[N][C][H][W] to [N][ceil(C/b)][H][W][b]; lanes past the last channel become 0";
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output);
  let hasVerifier = 1;
}

def Cpu_UnpackOp : Cpu_Op<"unpack"> {
  let summary = "[N][ceil(C/b)][H][W][b] to [N][C][H][W]";
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output);
  let hasVerifier = 1;
}

def Cpu_FillOp : Cpu_Op<"fill"> {
  let summary = "Fills a buffer, or only a border of its dims 2 and 3";
  let description = [{
    `border` = [top, left, bottom, right] rows and columns that are filled;
    without it the whole buffer is.
  }];
  let arguments = (ins AnyMemRef:$output, F64Attr:$value, OptionalAttr<DenseI64ArrayAttr>:$border);
  let hasVerifier = 1;
}

def Cpu_PadOp : Cpu_Op<"pad"> {
  let summary = "Edge, reflect or wrap padding (constant padding is fill and copy)";
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output, DenseI64ArrayAttr:$low,
                       Graph_PadModeAttr:$mode);
  let hasVerifier = 1;
}

def Cpu_ResizeOp : Cpu_Op<"resize"> {
  let summary = "Resamples dims; `scales` is size out / size in as the model states it";
  let description = [{Dims whose scale is 1 are copied; [N][CB][H][W][b] resizes dims 2 and 3.}];
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output, DenseF64ArrayAttr:$scales,
                       Graph_ResizeModeAttr:$mode, Graph_CoordinateModeAttr:$coordinates,
                       Graph_NearestModeAttr:$nearest, F64Attr:$cubic_coefficient);
  let hasVerifier = 1;
}

def Cpu_GatherOp : Cpu_Op<"gather"> {
  let summary = "input [A][K][B], indices [I], output [A][I][B]; indices are clamped into range";
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$indices, AnyMemRef:$output);
  let hasVerifier = 1;
}

#endif // OPENATC_CPU_OPS_TD
