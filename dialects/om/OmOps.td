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
  let summary = "A part of a buffer, `offset` bytes from its start, with other sizes and strides";
  let arguments = (ins AnyMemRef:$source, I64Attr:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$source `[` $offset `]` attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

def Om_LaunchOp : Om_Op<"launch", [MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments,
                                   DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel or a program of the NPU; writes the last buffer";
  let description = [{
    `tensor` is the logical type (with its layout) of the tensor that is
    written, for dumps and profiles; its name is in the location. `cost` is in
    floating-point operations. `in_place` lists operands whose buffer the result
    may use.

    `kernel` may be an `npu.program`, or a kernel function that will become one
    (`npu.kernel`); then `cost` is two per multiply-accumulate. `macs` are the
    multiply-accumulates of a CPU kernel, where they are known. `chained`: it
    continues the task of the NPU launch before it. `prefetch` are weights of
    later launches, to be brought into the NPU's L2 while this one runs; this
    launch does not read them.

    ```mlir
    om.launch @conv(%x, %w1, %y) prefetch(%w2 : memref<64xf16>) {chained, cost = 128 : i64} : ...
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyMemRef>:$operands_,
                       Variadic<AnyMemRef>:$prefetch, I64Attr:$cost,
                       OptionalAttr<TypeAttr>:$tensor,
                       OptionalAttr<DenseI64ArrayAttr>:$in_place, UnitAttr:$chained,
                       OptionalAttr<I64Attr>:$macs);
  let assemblyFormat = [{
    $kernel `(` $operands_ `)` (`prefetch` `(` $prefetch^ `:` type($prefetch) `)`)? attr-dict
    `:` type($operands_)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::FlatSymbolRefAttr":$kernel, "::mlir::ValueRange":$buffers,
                   "::mlir::IntegerAttr":$cost, "::mlir::TypeAttr":$tensor,
                   "::mlir::DenseI64ArrayAttr":$in_place), [{
      build($_builder, $_state, kernel, buffers, ::mlir::ValueRange(), cost, tensor, in_place,
            /*chained=*/::mlir::UnitAttr(), /*macs=*/::mlir::IntegerAttr());
    }]>,
    OpBuilder<(ins "::llvm::StringRef":$kernel, "::mlir::ValueRange":$buffers, "int64_t":$cost,
                   "::mlir::TypeAttr":$tensor, "::mlir::DenseI64ArrayAttr":$in_place), [{
      build($_builder, $_state, kernel, buffers, ::mlir::ValueRange(), cost, tensor, in_place,
            /*chained=*/false, /*macs=*/::mlir::IntegerAttr());
    }]>
  ];
}

def Om_RunRegionOp
    : Om_Op<"run_region", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a static region of a dynamic schedule";
  let description = [{
    `region` is a function that has been compiled: its arguments are buffers, those
    of the inputs before those of the outputs (`om.output`), and it returns nothing.
    Between the regions the values of the schedule are tensors still. It takes the
    place of the `func.call` of host-outline-static.

    ```mlir
    %y = om.run_region @part_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$region, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = "$region `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}

#endif // OPENATC_OM_OPS_TD
