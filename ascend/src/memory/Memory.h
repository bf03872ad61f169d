//===-- Memory.h - device and host memory that is known ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_MEMORY_H
#define ASCEND_SRC_MEMORY_H

#include "acl/acl_rt.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace atc::ascend {

/// An allocation. Tasks share those that they use, so that freeing one early is harmless.
struct Block {
  Block(void *data, size_t bytes, bool onDevice) : data(data), bytes(bytes), onDevice(onDevice) {}
  /// Makes device memory of what `owner`, which may be null, keeps.
  Block(void *data, size_t bytes, std::shared_ptr<void> owner)
      : data(data), bytes(bytes), onDevice(true), adopted(true), owner(std::move(owner)) {}
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;
  ~Block();

  void *const data;
  const size_t bytes;
  const bool onDevice;
  const bool adopted = false; ///< Not allocated here, so not freed here.

  /// Returns whether the memory is there as long as this object.
  bool keepsMemory() const { return !adopted || owner; }

private:
  const std::shared_ptr<void> owner;
};

/// A copy whose arguments were checked; keeps the memory alive.
struct MemoryCopy {
  char *to = nullptr;
  const char *from = nullptr;
  size_t toPitch = 0, fromPitch = 0, width = 0, height = 1;
  std::shared_ptr<Block> target, source;

  /// Copies the rows.
  void run() const;
};

/// Checks a copy of `count` bytes, of which there are `destMax` at `dst`, and writes it.
aclError prepareRow(const char *function, void *dst, size_t destMax, const void *src, size_t count,
                    aclrtMemcpyKind kind, MemoryCopy &copy);

/// Device memory of this process, in bytes.
struct MemoryUse {
  size_t now;  ///< allocated
  size_t peak; ///< the largest value of `now` so far
};

/// Returns how much device memory is allocated; any thread may ask.
MemoryUse deviceMemoryUse();

/// Frees what the memory pools of a device keep beyond their thresholds; called where the device or
/// one of its streams was waited for.
void releaseIdlePoolMemory(int32_t device);

/// Makes memory of others device memory until disown; null `owner`: the program keeps it.
/// ACL_ERROR_INVALID_PARAM where some of it is known.
aclError adopt(const char *function, void *address, size_t bytes, std::shared_ptr<void> owner);

/// Makes adopted memory unknown, and returns its block; null where there is none at the address.
std::shared_ptr<Block> disown(void *address);

/// Allocates `bytes` bytes, aligned to 512 bytes, and writes the address.
ACL_FUNC_VISIBILITY aclError allocate(const char *function, void **address, size_t bytes,
                                      bool onDevice);

/// Frees what allocate has allocated on the same side; ACL_ERROR_INVALID_PARAM otherwise.
ACL_FUNC_VISIBILITY aclError release(const char *function, void *address, bool onDevice);

/// Returns the allocation that an address lies in; null where there is none. `room` is set
/// to the bytes from the address to its end. Memory that is mapped side by side is one allocation
/// as far as `wanted` bytes from the address reach.
ACL_FUNC_VISIBILITY std::shared_ptr<Block> blockOf(const void *address, size_t &room,
                                                   size_t wanted = 0);

/// Returns the device memory that stays as long as it is shared: all but what a program registered.
std::vector<std::shared_ptr<Block>> lastingDeviceBlocks();

/// Checks that `bytes` bytes at an address are device memory, and shares the allocation.
/// `what` names the address in the message.
ACL_FUNC_VISIBILITY aclError requireDevice(const char *function, const char *what,
                                           const void *address, size_t bytes,
                                           std::shared_ptr<Block> &block);

} // namespace atc::ascend

#endif
