//===-- MemoryLimit.h - how much memory a tool may take ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_MEMORYLIMIT_H
#define OPENATC_TOOLS_COMMON_MEMORYLIMIT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Sanitizers allocate in ways of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OPENATC_TOOLS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define OPENATC_TOOLS_SANITIZED 1
#endif
#endif

namespace atc::tools {

/// Stands for no limit at all.
constexpr uint64_t kNoMemoryLimit = UINT64_MAX;

/// Parses an amount of memory, "800M" or "1.5G", into bytes: a number with one of the suffixes
/// K, M, G and T (powers of 1024), behind which "B" or "iB" may stand, or "unlimited". Returns
/// nothing for other texts, for 0 and for what does not fit into 64 bits.
std::optional<uint64_t> parseMemorySize(std::string_view text);

/// Prints bytes with one of the suffixes of parseMemorySize(): "1.5G".
std::string printMemorySize(uint64_t bytes);

/// Returns the bytes that a tool may take when nobody states a limit: three quarters of the
/// machine's memory, or of what the control group of this process (a container) may have where
/// that is less. kNoMemoryLimit where the system says neither.
uint64_t defaultMemoryLimit();

/// Lets allocations of this process fail from now on that would bring it above `bytes`. Counts
/// what is allocated for writing (heap, stacks of threads, data of libraries), not files that are
/// mapped for reading. A limit that is already lower stays. Without effect under sanitizers,
/// which reserve terabytes for themselves.
void limitMemory(uint64_t bytes);

/// Returns the bytes given to limitMemory() last; kNoMemoryLimit before.
uint64_t memoryLimit();

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_MEMORYLIMIT_H
