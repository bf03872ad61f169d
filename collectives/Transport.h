//===-- Transport.h - messages between ranks --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_COLLECTIVES_TRANSPORT_H
#define OPENATC_COLLECTIVES_TRANSPORT_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace atc::collectives {

/// Moves messages between ranks. Messages of one tag between two ranks arrive in the order in which
/// they were sent. All calls come from one thread.
class Transport {
public:
  /// A message that has begun. Never 0.
  using Handle = uint64_t;

  virtual ~Transport() = default;
  /// Return the index of this rank and the number of ranks.
  virtual uint32_t rank() const = 0;
  virtual uint32_t ranks() const = 0;
  /// Begins to send `bytes` bytes, which must stay as they are until test() returns true.
  virtual Handle send(uint32_t to, uint32_t tag, const void *data, size_t bytes) = 0;
  /// Begins to receive exactly `bytes` bytes into memory that stays until test() returns true.
  virtual Handle receive(uint32_t from, uint32_t tag, void *data, size_t bytes) = 0;
  /// Returns whether a message is complete; the handle is invalid then. Where it failed, or never
  /// will be complete, `error` becomes a sentence.
  virtual bool test(Handle handle, std::string &error) = 0;
  /// Makes the other ranks fail with `sentence`. Need not return.
  virtual void abort(const std::string &sentence) = 0;
};

} // namespace atc::collectives

#endif // OPENATC_COLLECTIVES_TRANSPORT_H
