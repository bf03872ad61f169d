//===-- CommonKernels.cpp - the host kernels that most models call --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/cpu/CommonKernels.h"

#include "backends/cpu/HostKernelEmitter.h"
#include "kernels/core/Support.h"

namespace atc::cpu {

namespace {
constexpr uint64_t bit(kernels::DType type) { return uint64_t(1) << type; }
constexpr uint64_t floats = bit(kernels::F32);
constexpr uint64_t numbers = floats | bit(kernels::I32) | bit(kernels::I64) | bit(kernels::Bool);
constexpr uint64_t any = ~uint64_t(0);
} // namespace

llvm::ArrayRef<CommonKernel> commonKernels() {
  static constexpr CommonKernel rows[] = {
      {kLibraryObject, 0},
      {kCallsObject, 0},
#define COMMON(NAME, TYPES) {"atc_kernel_" #NAME, TYPES},
#include "backends/cpu/CommonKernels.def"
  };
  return rows;
}

} // namespace atc::cpu
