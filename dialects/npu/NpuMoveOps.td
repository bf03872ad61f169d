//===-- NpuMoveOps.td - the instructions of the MTE queues -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_MOVE_OPS_TD
#define OPENATC_NPU_MOVE_OPS_TD

include "dialects/npu/NpuMemory.td"

class Npu_TransferOp<string mnemonic, dag numbers>
    : Npu_InstructionOp<mnemonic, (ins Npu_BufferType:$dst, Npu_BufferType:$src), numbers> {
  let assemblyFormat = [{
    $dst `,` $src (`at` $ivs^)? attr-dict `:` type($dst) `,` type($src)
  }];
}

def Npu_MoveOp : Npu_TransferOp<"move",
    (ins Npu_RangeAttr:$outer, Npu_RangeAttr:$inner, Npu_RangeAttr:$bytes,
         DefaultValuedAttr<I64Attr, "0">:$dst_outer, DefaultValuedAttr<I64Attr, "0">:$dst_inner,
         DefaultValuedAttr<I64Attr, "0">:$src_outer, DefaultValuedAttr<I64Attr, "0">:$src_inner)> {
  let summary = "Copies outer x inner runs of bytes";
}

def Npu_MoveNdToNzOp : Npu_TransferOp<"move_nd2nz",
    (ins Npu_RangeAttr:$rows, Npu_RangeAttr:$cols, TypeAttr:$type, I64Attr:$src_row, I64Attr:$dst_col)> {
  let summary = "Moves a row-major matrix in gm to column blocks of C0 in l1";
}

def Npu_LoadImageOp : Npu_TransferOp<"load_image",
    (ins Npu_RangeAttr:$rows, TypeAttr:$type, I64Attr:$channels, I64Attr:$width, I64Attr:$c0,
         I64Attr:$src_plane, I64Attr:$src_row, I64Attr:$dst_row,
         DefaultValuedAttr<F64Attr, "0.0">:$scale, DefaultValuedAttr<F64Attr, "0.0">:$offset,
         UnitAttr:$is_signed)> {
  let summary = "Moves planes of an image in gm to [rows][width][c0] in l1";
}

def Npu_Load2DOp : Npu_TransferOp<"load2d",
    (ins Npu_RangeAttr:$outer, Npu_RangeAttr:$inner,
         DefaultValuedAttr<I64Attr, "0">:$dst_outer, DefaultValuedAttr<I64Attr, "0">:$dst_inner,
         DefaultValuedAttr<I64Attr, "0">:$src_outer, DefaultValuedAttr<I64Attr, "0">:$src_inner,
         UnitAttr:$transpose)> {
  let summary = "Moves fractals from l1 to l0a or l0b";
}

def Npu_Img2ColOp : Npu_TransferOp<"img2col",
    (ins Npu_RangeAttr:$m, Npu_RangeAttr:$k, Npu_RangeAttr:$row0, I64Attr:$c0,
         DefaultValuedAttr<I64Attr, "2">:$element_bytes, I64Attr:$channels1, I64Attr:$height,
         I64Attr:$width, I64Attr:$out_height, I64Attr:$out_width, I64Attr:$kernel_h,
         I64Attr:$kernel_w, I64Attr:$stride_h, I64Attr:$stride_w,
         DefaultValuedAttr<I64Attr, "1">:$dilation_h, DefaultValuedAttr<I64Attr, "1">:$dilation_w,
         DefaultValuedAttr<I64Attr, "0">:$pad_top, DefaultValuedAttr<I64Attr, "0">:$pad_left,
         DefaultValuedAttr<I64Attr, "0">:$src_image, I64Attr:$src_channel, I64Attr:$dst_row,
         DefaultValuedAttr<I64Attr, "0">:$pad)> {
  let summary = "Moves rows of a convolution's patch matrix from l1 to l0a";
}

#endif // OPENATC_NPU_MOVE_OPS_TD
