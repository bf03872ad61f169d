//===-- CommonKernels.h - the host kernels that most models call -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_COMMONKERNELS_H
#define OPENATC_BACKENDS_CPU_COMMONKERNELS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace atc::cpu {

/// A row of CommonKernels.def.
struct CommonKernel {
  llvm::StringLiteral symbol;
  uint64_t types; ///< as HostKernel::types
};

/// Returns the rows of CommonKernels.def, and one for the functions that code generation calls.
llvm::ArrayRef<CommonKernel> commonKernels();

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_COMMONKERNELS_H
