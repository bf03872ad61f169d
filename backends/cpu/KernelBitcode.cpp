//===-- KernelBitcode.cpp - the host kernels before they are code ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/cpu/KernelBitcode.h"

#include <cassert>

extern "C" {
extern const char openatc_kernels_x86_64[], openatc_kernels_x86_64_end[];
extern const char openatc_kernels_aarch64[], openatc_kernels_aarch64_end[];
extern const char openatc_kernels_riscv64[], openatc_kernels_riscv64_end[];
extern const char openatc_kernels_armv7[], openatc_kernels_armv7_end[];
}

namespace atc::cpu {

llvm::StringRef kernelBitcode(llvm::StringRef arch) {
  auto between = [](const char *begin, const char *end) {
    return llvm::StringRef(begin, end - begin);
  };
  if (arch == "aarch64")
    return between(openatc_kernels_aarch64, openatc_kernels_aarch64_end);
  if (arch == "riscv64")
    return between(openatc_kernels_riscv64, openatc_kernels_riscv64_end);
  if (arch == "armv7")
    return between(openatc_kernels_armv7, openatc_kernels_armv7_end);
  assert(arch == "x86-64" && "every architecture has kernels");
  return between(openatc_kernels_x86_64, openatc_kernels_x86_64_end);
}

} // namespace atc::cpu
