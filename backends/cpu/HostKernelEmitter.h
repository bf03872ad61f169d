//===-- HostKernelEmitter.h - one host kernel becomes an object -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_HOSTKERNELEMITTER_H
#define OPENATC_BACKENDS_CPU_HOSTKERNELEMITTER_H

#include "backends/cpu/CpuLevels.h"
#include "backends/cpu/Object.h"
#include "backends/cpu/ObjectCache.h"

namespace atc::cpu {

/// Stands for the object of the functions that code generation calls (`memcpy`) among the symbols
/// of kernels.
inline constexpr llvm::StringLiteral kLibraryObject = "library";
/// Stands for the object of what runs around the body of every kernel: the checks of its inputs,
/// and calls of generated code.
inline constexpr llvm::StringLiteral kCallsObject = "calls";

/// Generates the object of a host kernel with what it calls, out of the bitcode of all of them,
/// with code for the element types of the mask `types` (HostKernel::types). `tempDir`, where it is
/// not empty, gets the LLVM IR and the assembly. `byContent` keeps objects by the bitcode that
/// they are made of, so that a change of one kernel makes one object anew; it serves the build of
/// the compiler, as taking the bitcode out takes a tenth of the time of a small kernel.
llvm::Expected<Object> emitHostKernel(llvm::StringRef symbol, uint64_t types, const CpuLevel &level,
                                      const std::string &tempDir = {},
                                      const ObjectCache *byContent = nullptr);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_HOSTKERNELEMITTER_H
