//===-- MemoryLimit.h - limits the memory of a tool -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_MEMORYLIMIT_H
#define OPENATC_TOOLS_COMMON_MEMORYLIMIT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Sanitizers reserve memory in their own ways.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OPENATC_TOOLS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define OPENATC_TOOLS_SANITIZED 1
#endif
#endif

namespace atc::tools {

/// The value for no limit.
constexpr uint64_t kNoMemoryLimit = UINT64_MAX;

/// Parses an amount of memory, "800M" or "1.5G", into bytes: a number with one of the suffixes
/// K, M, G and T (powers of 1024), behind which "B" or "iB" may stand, or "unlimited". Returns
/// nothing for other texts, for 0 and for what does not fit into 64 bits.
std::optional<uint64_t> parseMemorySize(std::string_view text);

/// Returns the limit in bytes for a tool without an explicit one: three quarters of the machine's
/// memory, or of the limit of this process's control group (a container) where that is lower.
/// kNoMemoryLimit where the system states neither.
uint64_t defaultMemoryLimit();

/// Makes later allocations of this process fail that would exceed `bytes`. Counts memory allocated
/// for writing (heap, stacks of threads, data of libraries), not files mapped for reading. A lower
/// limit that is already set is kept. Has no effect under sanitizers, which reserve terabytes.
void limitMemory(uint64_t bytes);

/// Returns the limit last set by limitMemory(); kNoMemoryLimit before that.
uint64_t memoryLimit();

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_MEMORYLIMIT_H
