//===-- Passes.h - passes on dynamic schedules ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_PASSES_H
#define OPENATC_PASSES_HOST_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace atc::host {

#define GEN_PASS_DECL
#include "passes/host/Passes.h.inc"

/// Unit attributes that host-outline-static sets: on the static regions that it outlines, and on
/// @main, whose values from then on are those of a dynamic schedule.
inline constexpr llvm::StringLiteral kPartAttr = "host.part";
inline constexpr llvm::StringLiteral kProgramAttr = "host.program";

/// Attributes of a function without a body that host-tile-dynamic-dim or host-tile-rows makes,
/// which stands for a loop over tiles: the functions of the tiles (array of symbols, each a static
/// region), the sizes of their tiles (decreasing, the last one 1), and for each input and output
/// the dim that is tiled, or -1.
inline constexpr llvm::StringLiteral kTilesAttr = "host.tiles";
inline constexpr llvm::StringLiteral kTileSizesAttr = "host.tile_sizes";
inline constexpr llvm::StringLiteral kInputDimsAttr = "host.input_dims";
inline constexpr llvm::StringLiteral kOutputDimsAttr = "host.output_dims";
/// Unit attribute of a loop by host-tile-rows: dim 0 of the tiles is the product of all dims of the
/// values in front of the others.
inline constexpr llvm::StringLiteral kRowsAttr = "host.rows";

/// Returns whether host-expand-volumes replaces calls of a kernel on tensors of three spatial dims.
bool expandsVolumesOf(llvm::StringRef kernel);

/// Returns whether host-expand-fused replaces calls of a kernel for the CPU as well: convolutions
/// and products of matrices.
bool isFusedProduct(llvm::StringRef kernel);

/// Returns whether @main calls a loop over tiles.
bool isTiled(mlir::func::FuncOp main);

/// Returns whether @main needs a dynamic schedule: it has host ops, or inputs or results that are
/// not static dense tensors.
bool isHostProgram(mlir::func::FuncOp main);

/// Returns the static regions of a module, in the order of their indices.
llvm::SmallVector<mlir::func::FuncOp> partsOf(mlir::ModuleOp module);

#define GEN_PASS_REGISTRATION
#include "passes/host/Passes.h.inc"

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_PASSES_H
