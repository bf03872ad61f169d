//===-- HostKernels.h - host kernels become objects -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_HOSTKERNELS_H
#define OPENATC_BACKENDS_CPU_HOSTKERNELS_H

#include "backends/cpu/ObjectCache.h"
#include "backends/cpu/ObjectEmitter.h"

namespace atc::cpu {

/// A host kernel that a model calls.
struct HostKernel {
  std::string name; ///< "Conv"
  /// A mask: bit t is set where a call has elements of ONNX type t. There is no code for others.
  uint64_t types = 0;
  /// Returns the name of its function.
  std::string symbol() const { return "atc_kernel_" + name; }
};

/// Names the element types and the CPU level that the code of a host kernel is generated for.
struct HostKernelCode {
  uint64_t types; ///< as HostKernel::types
  CpuLevel level;
};

/// Returns what the code of a kernel is made for where a model calls it with `types` on `level`.
/// For common kernels (CommonKernels.def) that is more types, and the plain level: so that models
/// share a few objects, which the compiler has. It does not depend on the machine or the build.
HostKernelCode codeOf(llvm::StringRef symbol, uint64_t types, const CpuLevel &level);

/// Returns the objects of host kernels, each with what it calls, out of the bitcode of all of
/// them, and one of the functions that code generation calls (`memcpy`). They are to be linked
/// together. Objects come from the compiler itself (PrebuiltKernels.h), from `cache`, which has
/// those that were generated before, or are generated; with EmitOptions::tempDir all are.
llvm::Expected<std::vector<Object>> emitHostKernels(llvm::ArrayRef<HostKernel> kernels,
                                                    const CpuLevel &level,
                                                    const EmitOptions &options,
                                                    const ObjectCache &cache);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_HOSTKERNELS_H
