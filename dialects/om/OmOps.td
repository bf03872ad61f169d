//===-- OmOps.td - the schedule ---------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_OM_OPS_TD
#define OPENATC_OM_OPS_TD

include "dialects/om/OmDialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Om_Op<string mnemonic, list<Trait> traits = []> : Op<Om_Dialect, mnemonic, traits>;

def Om_WeightOp : Om_Op<"weight", [Pure]> {
  let summary = "A constant in the weights segment";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "attr-dict $value `:` type($result)";
  let hasVerifier = 1;
}

def Om_AllocOp : Om_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A buffer in the arena; `offset` (bytes) is set by om-plan-memory";
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Om_ViewOp : Om_Op<"view", [Pure]> {
  let summary = "Part of a buffer, `offset` bytes from its start, under other sizes and strides";
  let arguments = (ins AnyMemRef:$source, I64Attr:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$source `[` $offset `]` attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

def Om_LaunchOp : Om_Op<"launch", [MemoryEffects<[MemRead, MemWrite]>,
                                   DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel; the last operand is the buffer it writes";
  let description = [{
    `tensor` is the logical type (with its layout) of what is written, for dumps
    and profiles; the name is the location's. `cost` is in floating-point
    operations. `in_place` lists operands whose memory the result may take.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyMemRef>:$operands_,
                       I64Attr:$cost, OptionalAttr<TypeAttr>:$tensor,
                       OptionalAttr<DenseI64ArrayAttr>:$in_place);
  let assemblyFormat = "$kernel `(` $operands_ `)` attr-dict `:` type($operands_)";
}

#endif // OPENATC_OM_OPS_TD
