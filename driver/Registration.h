//===-- Registration.h - every dialect and every pass ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_REGISTRATION_H
#define OPENATC_DRIVER_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace atc::driver {

/// Adds the dialects that a compilation goes through, and what code generation needs of
/// them, to a registry.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers the passes and pipelines of the project by name, and those of MLIR that apply to their
/// output. To be called once per process.
void registerAllPasses();

} // namespace atc::driver

#endif // OPENATC_DRIVER_REGISTRATION_H
