//===-- KernelOps.td - kernels that any target may run ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNEL_OPS_TD
#define OPENATC_KERNEL_OPS_TD

include "dialects/kernel/KernelDialect.td"

def Kernel_PoolOp : Kernel_Op<"pool"> {
  let summary = "Sliding-window maximum or mean on [N][CB][H][W][b]";
  let description = [{
    The window is clipped at the input's edge; `pads` = [top, left, bottom,
    right]. A mean divides by the size of the window including padding
    (`count_include_pad`, bounded by the padded input) or by the clipped size.
    Integers are compared as signed unless `is_unsigned` is set.
  }];
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output, Kernel_PoolKindAttr:$kind,
                       DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       UnitAttr:$count_include_pad, UnitAttr:$is_unsigned);
  let hasVerifier = 1;
}

def Kernel_MapOp : Kernel_InPlaceOp<"map", [SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Elementwise computation given by a region of scalar arith and math ops";
  let description = [{
    All operands have the output's rank; a dim of size 1 broadcasts.
  }];
  let arguments = (ins Variadic<AnyMemRef>:$inputs, AnyMemRef:$output);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$inputs `outs` $output attr-dict `:` type(operands) $body";
  let hasVerifier = 1;
}

def Kernel_YieldOp : Op<Kernel_Dialect, "yield", [Pure, Terminator, HasParent<"MapOp">]> {
  let summary = "Yields the result of a map's body";
  let arguments = (ins Optional<AnyType>:$value);
  let assemblyFormat = "attr-dict ($value^ `:` type($value))?";
  let builders = [OpBuilder<(ins)>];
}

def Kernel_ReduceOp : Kernel_Op<"reduce"> {
  let summary = "Reduction over `axes`; the output keeps them with size 1";
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output, Graph_ReduceKindAttr:$kind,
                       DenseI64ArrayAttr:$axes);
  let hasVerifier = 1;
}

def Kernel_ArgReduceOp : Kernel_Op<"arg_reduce"> {
  let summary = "Index of the maximum (or minimum) along `axis`; the output keeps it with size 1";
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output, I64Attr:$axis, UnitAttr:$smallest,
                       UnitAttr:$select_last);
  let hasVerifier = 1;
}

def Kernel_SoftmaxOp : Kernel_Op<"softmax"> {
  let summary = "Softmax (or its logarithm) along `axis`";
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output, I64Attr:$axis, UnitAttr:$log);
  let hasVerifier = 1;
}

def Kernel_CopyOp : Kernel_Op<"copy"> {
  let summary = "Copies between buffers of one shape and any strides";
  let description = [{
    Transpose, slice, concat, expand (stride 0) and depth_to_space are copies
    between suitable views.
  }];
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output);
  let hasVerifier = 1;
}

def Kernel_PackOp : Kernel_Op<"pack"> {
  let summary = "[N][C][H][W] to [N][ceil(C/b)][H][W][b]; lanes past the last channel become 0";
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output);
  let hasVerifier = 1;
}

def Kernel_UnpackOp : Kernel_Op<"unpack"> {
  let summary = "[N][ceil(C/b)][H][W][b] to [N][C][H][W]";
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output);
  let hasVerifier = 1;
}

def Kernel_FillOp : Kernel_Op<"fill"> {
  let summary = "Fills a buffer, or only a border of its dims 2 and 3";
  let description = [{
    `border` = [top, left, bottom, right] are the rows and columns that are
    filled; without it the whole buffer is filled.
  }];
  let arguments = (ins AnyMemRef:$output, F64Attr:$value, OptionalAttr<DenseI64ArrayAttr>:$border);
  let hasVerifier = 1;
}

def Kernel_PadOp : Kernel_Op<"pad"> {
  let summary = "Edge, reflect or wrap padding (constant padding is fill and copy)";
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output, DenseI64ArrayAttr:$low,
                       Graph_PadModeAttr:$mode);
  let hasVerifier = 1;
}

def Kernel_ResizeOp : Kernel_Op<"resize"> {
  let summary = "Resamples dims; `scales` is output size / input size as in the model";
  let description = [{Dims whose scale is 1 are copied; [N][CB][H][W][b] resizes dims 2 and 3.}];
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$output, DenseF64ArrayAttr:$scales,
                       Graph_ResizeModeAttr:$mode, Graph_CoordinateModeAttr:$coordinates,
                       Graph_NearestModeAttr:$nearest, F64Attr:$cubic_coefficient);
  let hasVerifier = 1;
}

def Kernel_GatherOp : Kernel_Op<"gather"> {
  let summary = "input [A][K][B], indices [I], output [A][I][B]; indices are clamped into range";
  let arguments = (ins AnyMemRef:$input, AnyMemRef:$indices, AnyMemRef:$output);
  let hasVerifier = 1;
}

#endif // OPENATC_KERNEL_OPS_TD
