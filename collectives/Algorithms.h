//===-- Algorithms.h - collectives made of messages -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_COLLECTIVES_ALGORITHMS_H
#define OPENATC_COLLECTIVES_ALGORITHMS_H

#include "collectives/Transport.h"
#include "openatc/collectives.h"

#include <functional>
#include <vector>

namespace atc::collectives {

/// The bytes that a collective moves on this rank.
struct Moved {
  uint64_t sent = 0, received = 0;
};

/// Runs one collective of a rank. Its buffers are its own: a message that never completes does not
/// reach into memory of the caller.
class Algorithm {
public:
  /// Called again and again while a message is awaited, with the rank that has to answer; returns
  /// false to give up.
  using Wait = std::function<bool(uint32_t peer)>;

  Algorithm(Transport &transport, const om_collective &collective, Wait wait)
      : transport(transport), op(collective), wait(std::move(wait)) {}

  /// Runs the collective; `result` becomes the bytes of the output. Returns false and sets `error`,
  /// which is empty where `wait` gave up.
  bool run(std::vector<char> &result, std::string &error);

  const Moved &moved() const { return bytes; }
  /// Takes the buffers of messages that are not complete, which must outlive the transport.
  std::vector<std::vector<char>> takeBuffers();

private:
  /// A range of elements in bytes.
  struct Range {
    size_t begin, size;
  };

  bool allReduce();
  bool allGather();
  bool reduceScatter();
  bool allToAll();
  bool broadcast();
  bool receive();

  /// Sends `out` of `from` to rank `to` of the group while it receives `in` bytes of rank `source`
  /// into `target`. Either may be empty.
  bool exchange(uint32_t to, const char *from, size_t out, uint32_t source, char *target,
                size_t in);
  bool complete(Transport::Handle handle, uint32_t peer);
  Range chunk(uint32_t index) const;
  void combine(char *into, const char *from, size_t size) const;
  uint32_t count() const { return op.rank_count; }
  uint32_t at(uint32_t index) const { return op.ranks[index % count()]; }

  Transport &transport;
  const om_collective &op;
  Wait wait;
  uint32_t own = 0; ///< position in the group
  std::vector<char> work, arrived;
  Moved bytes;
  std::string problem;
};

/// The tag of all messages of collectives; sends and receives of a model have lower ones.
inline constexpr uint32_t groupTag = 32000;

} // namespace atc::collectives

#endif // OPENATC_COLLECTIVES_ALGORITHMS_H
