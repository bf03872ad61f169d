//===-- NpuMemory.td - buffers, addresses and ranges -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_MEMORY_TD
#define OPENATC_NPU_MEMORY_TD

include "dialects/npu/NpuDialect.td"
include "dialects/npu/NpuEnums.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Npu_QueueAttr : EnumAttr<Npu_Dialect, Npu_Queue, "queue">;

def Npu_BufferType : TypeDef<Npu_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "Bytes in one of the memories: `!npu.buffer<l1, 4096>`";
  let parameters = (ins EnumParameter<Npu_Memory>:$memory, "int64_t":$bytes);
  let assemblyFormat = "`<` $memory `,` $bytes `>`";
  let genVerifyDecl = 1;
}

def Npu_AffineAttr : AttrDef<Npu_Dialect, "Affine"> {
  let mnemonic = "affine";
  let summary = "`base` + sum of strides[i] x ivs[i], where ivs are those of the op";
  let parameters = (ins "int64_t":$base, OptionalArrayRefParameter<"int64_t">:$strides);
  let assemblyFormat = "`<` $base (`,` `[` $strides^ `]`)? `>`";
}

def Npu_RangeAttr : AttrDef<Npu_Dialect, "Range"> {
  let mnemonic = "range";
  let summary = "`length` positions from `start`, clamped to [0, `limit`)";
  let description = [{
    `#npu.range<16>`, `#npu.range<16 from <0, [16]> below 50>`. An instruction
    with an empty range does nothing.
  }];
  let parameters = (ins "int64_t":$length, OptionalParameter<"::atc::npu::ir::AffineAttr">:$start,
                        DefaultValuedParameter<"int64_t", "INT64_MAX">:$limit);
  let assemblyFormat = "`<` $length (`from` $start^)? (`below` $limit^)? `>`";
  let genVerifyDecl = 1;
}

def Npu_GuardAttr : AttrDef<Npu_Dialect, "Guard"> {
  let mnemonic = "guard";
  let summary = "Runs an instruction only in some iterations of the loop of ivs[iv]";
  let parameters = (ins EnumParameter<Npu_GuardKind>:$kind, "int64_t":$iv);
  let assemblyFormat = "`<` $kind `,` $iv `>`";
}

class Npu_Op<string mnemonic, list<Trait> traits = []> : Op<Npu_Dialect, mnemonic, traits>;

def Npu_AllocOp : Npu_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A buffer in a local memory, a new one in each iteration of the enclosing loop";
  let description = [{
    `buffers` is the number of copies, which iterations use in rotation
    (npu-select-buffers selects it). `offset` is that of the first copy, set by
    npu-allocate-local-memory; the others follow it.
  }];
  let arguments = (ins DefaultValuedAttr<I64Attr, "1">:$buffers, OptionalAttr<I64Attr>:$offset);
  let results = (outs Npu_BufferType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // OPENATC_NPU_MEMORY_TD
