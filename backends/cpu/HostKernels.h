//===-- HostKernels.h - host kernels become objects -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_HOSTKERNELS_H
#define OPENATC_BACKENDS_CPU_HOSTKERNELS_H

#include "backends/cpu/ObjectCache.h"
#include "backends/cpu/ObjectEmitter.h"

namespace atc::cpu {

/// Generates the objects of the host kernels with these symbols (`atc_kernel_Conv`), each with what
/// it calls, out of the bitcode of all of them, and one of the functions that code generation calls
/// (`memcpy`). They are to be linked together. `cache` returns objects that were generated before;
/// with EmitOptions::tempDir all are generated.
/// Bit t of `types`: elements of the type that ONNX calls t can occur; there is no code
/// for others.
llvm::Expected<std::vector<Object>> emitHostKernels(llvm::ArrayRef<std::string> symbols,
                                                    uint64_t types, const CpuLevel &level,
                                                    const EmitOptions &options,
                                                    const ObjectCache &cache);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_HOSTKERNELS_H
