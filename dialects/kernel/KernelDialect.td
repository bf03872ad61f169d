//===-- KernelDialect.td - the kernel dialect -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNEL_DIALECT_TD
#define OPENATC_KERNEL_DIALECT_TD

include "dialects/graph/GraphAttrs.td"
include "dialects/kernel/KernelEnums.td"
include "dialects/kernel/KernelInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::atc::kernel";
  let summary = "Kernels on buffers that all targets share";
  let description = [{
    Each op reads and writes buffers (memrefs with static shapes and strides)
    and is one kernel of the compiled network. Activations are stored as
    [N][C/b][H][W][b]; views express halos and slices as strides. Contractions
    are not part of it: every target packs their weights differently and has its
    own ops for them, with the same interface.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::atc::graph::GraphDialect", "::mlir::memref::MemRefDialect"];
}

def Kernel_PoolKindAttr : EnumAttr<Kernel_Dialect, Kernel_PoolKind, "pool_kind">;

// Also the base of the targets' contractions.
class Kernel_OpBase<Dialect dialect, string mnemonic, list<Trait> traits>
    : Op<dialect, mnemonic, traits # [MemoryEffects<[MemRead, MemWrite]>]> {
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

class Kernel_Op<string mnemonic, list<Trait> traits = [], Dialect dialect = Kernel_Dialect>
    : Kernel_OpBase<dialect, mnemonic, traits # [DeclareOpInterfaceMethods<Kernel_OpInterface>]>;

// A kernel whose result may use the memory of one of its inputs.
class Kernel_InPlaceOp<string mnemonic, list<Trait> traits = [], Dialect dialect = Kernel_Dialect>
    : Kernel_OpBase<dialect, mnemonic, traits # [DeclareOpInterfaceMethods<Kernel_OpInterface, ["canRunInPlace"]>]>;

#endif // OPENATC_KERNEL_DIALECT_TD
