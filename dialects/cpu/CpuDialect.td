//===-- CpuDialect.td - the cpu dialect -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_CPU_DIALECT_TD
#define OPENATC_CPU_DIALECT_TD

include "dialects/kernel/KernelDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"

def Cpu_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::atc::cpu";
  let summary = "What the CPU backend adds to the kernel dialect: its contractions";
  let description = [{
    Convolutions and matmuls with weights packed for vector registers. Tile sizes
    are chosen by `cpu-select-tiles` as attributes; the expand passes turn these
    and the ops of the kernel dialect into register-tiled loops.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::atc::kernel::KernelDialect"];
}

def Cpu_LevelAttr : AttrDef<Cpu_Dialect, "Level"> {
  let mnemonic = "level";
  let summary = "What the passes must know of the CPU level they compile for";
  let description = [{
    `lanes`: f32 lanes of a vector register; `registers`: how many there are;
    `fma`: fused multiply-add exists; `l1`, `l2`: bytes of cache a core has;
    `dot`: how products of 8-bit integers are summed: "maddubs" (x86: pairs into
    16 bits), "vnni" (x86: four into 32 bits), "" for multiplications.
  }];
  let parameters = (ins StringRefParameter<"">:$name, "int64_t":$lanes, "int64_t":$registers,
                        "bool":$fma, "int64_t":$l1, "int64_t":$l2,
                        StringRefParameter<"", [{""}]>:$dot);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cpu_TileAttr : AttrDef<Cpu_Dialect, "Tile"> {
  let mnemonic = "tile";
  let summary = "How a contraction is cut";
  let description = [{
    `pixels` x `blocks`: the register tile, output pixels (rows of a matmul) by
    channel blocks. `rows`: output rows (of pixels; matmul: of `pixels` tiles)
    a task covers. `groups`: channel blocks a task covers. `depth`: channel
    blocks of the input summed before the accumulators go back to memory.
    `flatten`: pixel tiles run over row ends.
  }];
  let parameters = (ins "int64_t":$pixels, "int64_t":$blocks, "int64_t":$rows,
                        "int64_t":$groups, "int64_t":$depth, "bool":$flatten);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // OPENATC_CPU_DIALECT_TD
