//===-- FailingMemory.cpp - an allocator of which one call fails ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program's own functions take the place of the C library's, also for the libraries that it
// loads.

#include "test/ascend/FailingMemory.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
}

namespace {
/// Counts down to the call that fails; below 0 none does.
std::atomic<long> left{-1};
std::atomic<bool> isArmed{false}, failsOn{false};
std::atomic<long> failures{0};

bool fails() {
  if (!isArmed)
    return false;
  const long before = left.fetch_sub(1);
  if (failsOn ? before > 0 : before != 0)
    return false;
  ++failures;
  errno = ENOMEM;
  return true;
}
} // namespace

namespace atc::test {
void failAllocation(long n, bool andAllBehind) {
  left = n;
  failsOn = andAllBehind;
  failures = 0;
  isArmed = true;
}
long endFailures() {
  isArmed = false;
  return failures;
}
} // namespace atc::test

extern "C" {
void *malloc(size_t bytes) { return fails() ? nullptr : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return fails() ? nullptr : __libc_calloc(count, bytes); }
void *realloc(void *memory, size_t bytes) {
  return bytes && fails() ? nullptr : __libc_realloc(memory, bytes);
}
void *memalign(size_t alignment, size_t bytes) {
  return fails() ? nullptr : __libc_memalign(alignment, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  void *made = memalign(alignment, bytes);
  if (!made)
    return ENOMEM;
  *memory = made;
  return 0;
}
}
