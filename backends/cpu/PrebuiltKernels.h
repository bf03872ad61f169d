//===-- PrebuiltKernels.h - objects of host kernels in the compiler -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program prebuild-kernels makes them when the compiler is built, with the functions that
// would make them when a model is compiled.

#ifndef OPENATC_BACKENDS_CPU_PREBUILTKERNELS_H
#define OPENATC_BACKENDS_CPU_PREBUILTKERNELS_H

#include "backends/cpu/CpuLevels.h"

namespace atc::cpu {

/// Returns the object of a kernel with code for exactly these element types on this level, a
/// constant of the program; empty where the compiler does not have it.
llvm::StringRef prebuiltKernel(llvm::StringRef symbol, uint64_t types, const CpuLevel &level);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_PREBUILTKERNELS_H
