//===-- StaticRegions.h - static regions as modules of their own ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_STATICREGIONS_H
#define OPENATC_DRIVER_STATICREGIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

namespace atc::driver {

/// Returns a module whose @main is a copy of `function`, a static region that host-outline-static
/// made, with the attributes of its module. It shares that module's constants.
mlir::OwningOpRef<mlir::ModuleOp> copyRegion(mlir::func::FuncOp function);

/// Moves compiled regions back into the module that they come from. It caches the module's symbols,
/// which nothing else may change while it lives.
class RegionMerger {
public:
  explicit RegionMerger(mlir::ModuleOp module);

  /// Moves a module that copyRegion made of `function` and passes have compiled back: its
  /// @main becomes the body of `function`, its kernels join those of the module, under new
  /// names where needed, equal constants become one, and the sizes of the arena are combined. Calls
  /// of a region that works on buffers now become om.run_region. `compiled` is empty afterwards.
  void merge(mlir::func::FuncOp function, mlir::ModuleOp compiled);

private:
  void shareKernels(mlir::ModuleOp compiled);
  void rename(mlir::ModuleOp compiled);
  void moveSymbols(mlir::func::FuncOp function, mlir::ModuleOp compiled);
  void replaceCalls(mlir::func::FuncOp function);
  uint64_t shareConstants(mlir::ModuleOp compiled);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::StringMap<llvm::SmallVector<mlir::func::CallOp, 1>> calls; ///< by the region's name
  llvm::StringMap<unsigned> numbers;         ///< the next number to append to each name
  llvm::StringMap<mlir::Operation *> byText; ///< kernels by the result of textOf
  /// Large constants of merged regions by the hash of their bytes.
  llvm::DenseMap<uint64_t, llvm::SmallVector<mlir::DenseResourceElementsAttr, 1>> constants;
  uint64_t unreleased = 0; ///< bytes of constants added since unused ones were freed
};

} // namespace atc::driver

#endif // OPENATC_DRIVER_STATICREGIONS_H
