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
  let summary = "The contractions of the CPU backend";
  let description = [{
    Convolutions and matrix products with weights packed for vector registers.
    `cpu-select-tiles` selects tile sizes as attributes; the expand passes
    convert these ops and those of the kernel dialect to register-tiled loops,
    with instructions of the level from the LLVM dialect.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::atc::kernel::KernelDialect", "::mlir::LLVM::LLVMDialect"];
}

def Cpu_LevelAttr : AttrDef<Cpu_Dialect, "Level"> {
  let mnemonic = "level";
  let summary = "The properties of the CPU level that passes compile for";
  let description = [{
    `lanes`: f32 lanes per vector register; `registers`: number of vector
    registers; `fma`: whether fused multiply-add exists; `l1`, `l2`: bytes of
    cache per core; `dot`: the instruction for products of 8-bit integers:
    "maddubs" (x86: accumulates pairs to 16 bits), "vnni" (x86: accumulates four
    products to 32 bits), "" for multiplications; `matrix`: the instructions for
    products of matrices of bytes: "amx" (x86: 16 rows of 64 bytes by 16
    columns, in tile registers), "" for none; `permute`: the instruction that
    looks up bytes in registers: "pshufb" (x86: 16 of them), "vbmi" (x86: 128),
    "" for none.
  }];
  let parameters = (ins StringRefParameter<"">:$name, "int64_t":$lanes, "int64_t":$registers,
                        "bool":$fma, "int64_t":$l1, "int64_t":$l2,
                        StringRefParameter<"", [{""}]>:$dot,
                        StringRefParameter<"", [{""}]>:$matrix,
                        StringRefParameter<"", [{""}]>:$permute);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cpu_TileAttr : AttrDef<Cpu_Dialect, "Tile"> {
  let mnemonic = "tile";
  let summary = "The tile sizes of a contraction";
  let description = [{
    `pixels` x `blocks`: the register tile, output pixels (rows of a matmul) by
    channel blocks. `rows`: output rows (of pixels; matmul: of `pixels` tiles)
    per task. `groups`: channel blocks per task. `depth`: channel blocks of the
    input that are accumulated before the accumulators are stored to memory.
    `flatten`: pixel tiles continue across row ends. `matrix`: the products are
    those of tile registers.
  }];
  let parameters = (ins "int64_t":$pixels, "int64_t":$blocks, "int64_t":$rows,
                        "int64_t":$groups, "int64_t":$depth, "bool":$flatten,
                        DefaultValuedParameter<"bool", "false">:$matrix);
  let builders = [AttrBuilder<(ins "int64_t":$pixels, "int64_t":$blocks, "int64_t":$rows,
                                   "int64_t":$groups, "int64_t":$depth, "bool":$flatten), [{
    return $_get($_ctxt, pixels, blocks, rows, groups, depth, flatten, /*matrix=*/false);
  }]>];
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // OPENATC_CPU_DIALECT_TD
