//===-- OutputBlock.h - the block of packed weights -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_PACK_OUTPUTBLOCK_H
#define OPENATC_PASSES_KERNEL_PACK_OUTPUTBLOCK_H

#include <cstdint>

namespace atc::kernel {

/// Output channels that stand side by side in packed weights, whatever the vectors of a CPU hold.
inline constexpr int64_t kOutputBlock = 16;

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_PACK_OUTPUTBLOCK_H
