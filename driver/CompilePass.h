//===-- CompilePass.h - the phases of a compilation in atc-opt ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_COMPILEPASS_H
#define OPENATC_DRIVER_COMPILEPASS_H

namespace atc::driver {

/// Registers `compile`, which runs the phases from Graph to `stop-after` on a module as atc
/// does, for atc-opt and Module.run_passes of the Python package.
void registerCompilePass();

} // namespace atc::driver

#endif // OPENATC_DRIVER_COMPILEPASS_H
