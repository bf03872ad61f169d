//===-- KernelBitcode.h - the host kernels as LLVM bitcode ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_KERNELBITCODE_H
#define OPENATC_BACKENDS_CPU_KERNELBITCODE_H

#include "llvm/ADT/StringRef.h"

namespace atc::cpu {

/// Returns the LLVM bitcode of all host kernels for "x86-64", "aarch64", "riscv64" or "armv7", a
/// constant of the program.
llvm::StringRef kernelBitcode(llvm::StringRef arch);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_KERNELBITCODE_H
