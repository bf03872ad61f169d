//===-- GuardedMemory.h - buffers that nobody can leave unseen --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each buffer lies between two ranges of 4 GB of addresses that cannot be touched,
// and ends where the second begins (or up to 63 bytes before, where it is aligned).
// An access beyond it ends the process, with or without AddressSanitizer; bytes
// between a buffer and the guards have a pattern that is looked at.

#ifndef OPENATC_TEST_NPU_GUARDEDMEMORY_H
#define OPENATC_TEST_NPU_GUARDEDMEMORY_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace atc::npu::test {

class GuardedMemory {
public:
  /// The largest buffer, in bytes.
  static constexpr size_t kCapacity = 4 << 20;

  GuardedMemory() = default;
  GuardedMemory(const GuardedMemory &) = delete;
  ~GuardedMemory();

  /// Returns `bytes` bytes, at most kCapacity, at a multiple of `alignment` (a power of
  /// two up to 64). The buffer that this number had before is gone. Null where the
  /// system has no addresses left.
  uint8_t *buffer(size_t number, size_t bytes, size_t alignment);
  /// Returns whether nothing was written beside the buffers.
  bool untouched() const;

private:
  struct Region {
    uint8_t *base = nullptr, *first = nullptr, *end = nullptr; ///< of what may be touched
    uint8_t *data = nullptr;
    size_t bytes = 0;
  };
  std::vector<Region> regions;
};

} // namespace atc::npu::test

#endif
