//===-- NpuVectorOps.td - the instructions of the vector queue -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_VECTOR_OPS_TD
#define OPENATC_NPU_VECTOR_OPS_TD

include "dialects/npu/NpuMemory.td"

def Npu_VectorInstrOp : Npu_InstructionOp<"vector",
    (ins Npu_BufferType:$dst, Optional<Npu_BufferType>:$a, Optional<Npu_BufferType>:$b,
         Optional<Npu_BufferType>:$mask),
    (ins Npu_RangeAttr:$outer, Npu_RangeAttr:$inner, Npu_RangeAttr:$lanes, StrAttr:$op,
         TypeAttr:$type, TypeAttr:$dst_type, DefaultValuedAttr<F64Attr, "0.0">:$scalar,
         DefaultValuedAttr<I64Attr, "0">:$dst_outer, DefaultValuedAttr<I64Attr, "0">:$dst_inner,
         DefaultValuedAttr<I64Attr, "0">:$a_outer, DefaultValuedAttr<I64Attr, "0">:$a_inner,
         DefaultValuedAttr<I64Attr, "0">:$b_outer, DefaultValuedAttr<I64Attr, "0">:$b_inner,
         DefaultValuedAttr<I64Attr, "0">:$mask_outer, DefaultValuedAttr<I64Attr, "0">:$mask_inner,
         DefaultValuedAttr<I64Attr, "32">:$dst_block, DefaultValuedAttr<I64Attr, "32">:$a_block,
         DefaultValuedAttr<I64Attr, "32">:$b_block), [AttrSizedOperandSegments]> {
  let summary = "dst = op(a, b) for outer x inner runs of lanes in ub";
  let assemblyFormat = [{
    $op $dst (`,` $a^)? (`,` $b^)? (`mask` $mask^)? (`at` $ivs^)? attr-dict
    `:` type($dst) (`,` type($a)^)? (`,` type($b)^)? (`mask` type($mask)^)?
  }];
}

def Npu_TransposeOp : Npu_InstructionOp<"transpose",
    (ins Npu_BufferType:$dst, Npu_BufferType:$src),
    (ins Npu_RangeAttr:$outer, Npu_RangeAttr:$inner,
         DefaultValuedAttr<I64Attr, "0">:$dst_outer, DefaultValuedAttr<I64Attr, "0">:$dst_inner,
         I64Attr:$dst_row, DefaultValuedAttr<I64Attr, "0">:$src_outer,
         DefaultValuedAttr<I64Attr, "0">:$src_inner, I64Attr:$src_row)> {
  let summary = "Transposes blocks of 16 x 16 two-byte elements in ub";
  let assemblyFormat = "$dst `,` $src (`at` $ivs^)? attr-dict `:` type($dst) `,` type($src)";
}

#endif // OPENATC_NPU_VECTOR_OPS_TD
