//===-- KernelBitcode.h - the host kernels before they are code -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_KERNELBITCODE_H
#define OPENATC_BACKENDS_CPU_KERNELBITCODE_H

#include "llvm/ADT/StringRef.h"

namespace atc::cpu {

/// The LLVM bitcode of all host kernels for "x86-64" or "aarch64".
llvm::StringRef kernelBitcode(llvm::StringRef arch);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_KERNELBITCODE_H
