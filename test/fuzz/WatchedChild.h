//===-- WatchedChild.h - steps in a process that may crash or hang --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A crash or a hang is one finding of many: another child goes on behind it.

#ifndef OPENATC_TEST_FUZZ_WATCHEDCHILD_H
#define OPENATC_TEST_FUZZ_WATCHEDCHILD_H

#include <cstddef>
#include <cstdint>
#include <functional>

namespace atc::fuzz {

/// Returns `bytes` of zeroed memory that this process and its children share, for as long
/// as the process lives; null where there is none.
void *sharedMemory(size_t bytes);

/// Calls step(next) in a child process and counts `next`, which stands in shared memory,
/// up to `end`. Every child begins with a copy of what this process has, and what it
/// changes ends with it. A step may take `seconds` of the processor. Calls failed(next, hung) in
/// this process for each step that ends its child. Returns whether children could be made.
bool runWatched(uint64_t &next, uint64_t end, unsigned seconds,
                const std::function<void(uint64_t next)> &step,
                const std::function<void(uint64_t next, bool hung)> &failed);

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_WATCHEDCHILD_H
