//===-- Memory.h - device and host memory that is known ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_MEMORY_H
#define ASCEND_SRC_MEMORY_H

#include "acl/acl_rt.h"

#include <cstdint>
#include <memory>

namespace atc::ascend {

/// An allocation. Tasks share those that they use, so that freeing one early is harmless.
struct Block {
  Block(void *data, size_t bytes, bool onDevice) : data(data), bytes(bytes), onDevice(onDevice) {}
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;
  ~Block();

  void *const data;
  const size_t bytes;
  const bool onDevice;
};

/// Allocates `bytes` bytes, aligned to 512 bytes, and writes the address.
ACL_FUNC_VISIBILITY aclError allocate(const char *function, void **address, size_t bytes,
                                      bool onDevice);

/// Frees what allocate has allocated on the same side; ACL_ERROR_INVALID_PARAM otherwise.
ACL_FUNC_VISIBILITY aclError release(const char *function, void *address, bool onDevice);

/// Returns the allocation that an address lies in; null where there is none. `room` is set
/// to the bytes from the address to its end.
ACL_FUNC_VISIBILITY std::shared_ptr<Block> blockOf(const void *address, size_t &room);

/// Checks that `bytes` bytes at an address are device memory, and shares the allocation.
/// `what` names the address in the message.
ACL_FUNC_VISIBILITY aclError requireDevice(const char *function, const char *what,
                                           const void *address, size_t bytes,
                                           std::shared_ptr<Block> &block);

} // namespace atc::ascend

#endif
