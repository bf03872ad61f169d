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

/// Returns whether @main needs a dynamic schedule: it has host ops, or inputs or results that are
/// not static dense tensors.
bool isHostProgram(mlir::func::FuncOp main);

/// Returns the static regions of a module, in the order of their indices.
llvm::SmallVector<mlir::func::FuncOp> partsOf(mlir::ModuleOp module);

#define GEN_PASS_REGISTRATION
#include "passes/host/Passes.h.inc"

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_PASSES_H
