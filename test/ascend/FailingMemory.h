//===-- FailingMemory.h - an allocator of which one call fails ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_ASCEND_FAILINGMEMORY_H
#define OPENATC_TEST_ASCEND_FAILINGMEMORY_H

namespace atc::test {

/// Lets the allocation `n` from now on fail, of all threads, and with `andAllBehind` those behind
/// it.
void failAllocation(long n, bool andAllBehind);
/// Lets all allocations succeed again. Returns how many have failed.
long endFailures();

} // namespace atc::test

#endif
