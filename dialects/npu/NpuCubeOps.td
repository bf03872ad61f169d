//===-- NpuCubeOps.td - the cube and its results -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_CUBE_OPS_TD
#define OPENATC_NPU_CUBE_OPS_TD

include "dialects/npu/NpuMemory.td"

def Npu_MmadOp : Npu_InstructionOp<"mmad",
    (ins Npu_BufferType:$dst, Npu_BufferType:$a, Npu_BufferType:$b, Optional<Npu_BufferType>:$bias),
    (ins Npu_RangeAttr:$m, Npu_RangeAttr:$n, Npu_RangeAttr:$k, TypeAttr:$type,
         UnitAttr:$accumulate, DenseI64ArrayAttr:$first, I64Attr:$dst_col, I64Attr:$a_row,
         I64Attr:$b_row), [AttrSizedOperandSegments]> {
  let summary = "Matrix product of fractals in l0a and l0b into l0c";
  let description = [{
    In iterations where all ivs named by `first` (indices into the op's ivs) are
    0, l0c is initialized with zero, or with the bias if there is one; otherwise
    the product is accumulated.
  }];
  let assemblyFormat = [{
    $dst `,` $a `,` $b (`bias` $bias^ `:` type($bias))? (`at` $ivs^)? attr-dict
    `:` type($dst) `,` type($a) `,` type($b)
  }];
}

def Npu_MoveL0COp : Npu_InstructionOp<"move_l0c",
    (ins Npu_BufferType:$dst, Npu_BufferType:$src),
    (ins Npu_RangeAttr:$m, Npu_RangeAttr:$n, TypeAttr:$type, TypeAttr:$dst_type, UnitAttr:$relu,
         DefaultValuedAttr<F64Attr, "1.0">:$scale, I64Attr:$src_col, I64Attr:$dst_row,
         I64Attr:$dst_col)> {
  let summary = "Moves and converts results out of l0c: to ub on V, to gm or l1 on FIX";
  let assemblyFormat = "$dst `,` $src (`at` $ivs^)? attr-dict `:` type($dst) `,` type($src)";
}

def Npu_RequantizeOp : Npu_InstructionOp<"requantize",
    (ins Npu_BufferType:$dst, Npu_BufferType:$src, Npu_BufferType:$scales),
    (ins Npu_RangeAttr:$m, Npu_RangeAttr:$n, TypeAttr:$type, TypeAttr:$dst_type, TypeAttr:$stored,
         UnitAttr:$relu, DefaultValuedAttr<F64Attr, "0.0">:$offset,
         DefaultValuedAttr<F64Attr, "0.0">:$factor, I64Attr:$src_col, I64Attr:$dst_row,
         I64Attr:$dst_col)> {
  let summary = "Moves accumulators out of l0c to ub as quantized values, on V";
  let assemblyFormat = [{
    $dst `,` $src `,` $scales (`at` $ivs^)? attr-dict `:` type($dst) `,` type($src) `,`
    type($scales)
  }];
}

def Npu_RequantizeAddOp : Npu_InstructionOp<"requantize_add",
    (ins Npu_BufferType:$dst, Npu_BufferType:$src, Npu_BufferType:$scales, Npu_BufferType:$addend),
    (ins Npu_RangeAttr:$m, Npu_RangeAttr:$n, TypeAttr:$type, TypeAttr:$dst_type, TypeAttr:$stored,
         UnitAttr:$relu, DefaultValuedAttr<F64Attr, "0.0">:$offset, F64Attr:$factor,
         TypeAttr:$addend_type, DefaultValuedAttr<F64Attr, "0.0">:$addend_offset,
         F64Attr:$addend_factor, UnitAttr:$add_relu, F64Attr:$result_factor,
         DefaultValuedAttr<F64Attr, "0.0">:$result_offset, I64Attr:$src_col, I64Attr:$dst_row,
         I64Attr:$dst_col)> {
  let summary = "Moves accumulators out of l0c to ub as quantized values and adds values of ub, on V";
  let assemblyFormat = [{
    $dst `,` $src `,` $scales `,` $addend (`at` $ivs^)? attr-dict `:` type($dst) `,` type($src)
    `,` type($scales) `,` type($addend)
  }];
}

#endif // OPENATC_NPU_CUBE_OPS_TD
