//===-- CpuTileChoice.h - tiles that somebody has set -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_CPUTILECHOICE_H
#define OPENATC_PASSES_CPU_TILES_CPUTILECHOICE_H

#include "dialects/cpu/Cpu.h"
#include "mlir/IR/BuiltinOps.h"

namespace atc::cpu {

/// Returns a tile as the table of choices spells it: "pixels,blocks,rows,groups,depth,flatten".
std::string textOf(TileAttr tile);

/// Returns the tile that the table of choices has for a kernel, else `own`, the one of the cost
/// model, and says it in a remark. An entry that is not possible is a warning.
TileAttr chosenTile(Conv2DOp op, TileAttr own, LevelAttr level, llvm::StringRef pass);
TileAttr chosenTile(MatMulOp op, TileAttr own, LevelAttr level, llvm::StringRef pass);

/// Gives a module of kernels the table of choices of the module that they come from.
void copyChoiceTable(mlir::ModuleOp from, mlir::ModuleOp to);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_CPUTILECHOICE_H
