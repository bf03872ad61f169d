//===-- TileLoop.h - the function that stands for a loop over tiles -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_TILELOOP_H
#define OPENATC_PASSES_HOST_TILELOOP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace atc::host {

/// Returns the sizes of tiles in decreasing order. The last one is 1, so that every size of a dim
/// is a sum of them; it is added where it is missing.
llvm::SmallVector<int64_t> orderTileSizes(llvm::ArrayRef<int64_t> sizes);

/// Appends a function without a body to `module` that stands for a loop over `tiles` (Passes.h,
/// kTilesAttr). `sizes` are those of orderTileSizes, one per tile; `inputDims` and `outputDims` are
/// the tiled dims of the inputs and results of `type`, or -1.
mlir::func::FuncOp makeTileLoop(mlir::ModuleOp module, mlir::Location loc, llvm::StringRef name,
                                mlir::FunctionType type, llvm::ArrayRef<mlir::func::FuncOp> tiles,
                                llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> inputDims,
                                llvm::ArrayRef<int64_t> outputDims);

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_TILELOOP_H
