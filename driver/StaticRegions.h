//===-- StaticRegions.h - static regions as modules of their own ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_STATICREGIONS_H
#define OPENATC_DRIVER_STATICREGIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace atc::driver {

/// Returns a module whose @main is a copy of `function`, a static region that
/// host-outline-static made, with the attributes of the module that it stands in. It
/// shares that module's constants.
mlir::OwningOpRef<mlir::ModuleOp> copyRegion(mlir::func::FuncOp function);

/// Moves a module that copyRegion made and passes have compiled back: its @main becomes
/// the body of `function`, its kernels join those of the module that `function` stands in,
/// under new names where needed, and the sizes of the arena are combined. `compiled` is
/// empty afterwards.
void mergeRegion(mlir::func::FuncOp function, mlir::ModuleOp compiled);

} // namespace atc::driver

#endif // OPENATC_DRIVER_STATICREGIONS_H
