//===-- HostileRanks.h - ranks that send what an input says -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_FUZZ_MPI_HOSTILERANKS_H
#define OPENATC_TEST_FUZZ_MPI_HOSTILERANKS_H

#include <cstddef>
#include <cstdint>

namespace atc::fuzz {

/// The bytes of an input, which decide what happens; behind them all is as it should be.
class Script {
public:
  Script() = default;
  Script(const uint8_t *data, size_t size) : data(data), left(size) {}
  /// Returns the next byte; 0 behind the end.
  uint8_t next() { return left ? (--left, *data++) : 0; }

private:
  const uint8_t *data = nullptr;
  size_t left = 0;
};

/// The other ranks, as the functions of mpi.h show them.
struct HostileRanks {
  int ranks = 2, own = 0;
  /// Decides what becomes of each message; only the thread that calls MPI uses it.
  Script script;
  /// Whether a message was given to the plug-in that no correct rank sends, or was lost.
  bool isAnyDamaged = false;
};

/// Returns the only ones of the process.
HostileRanks &hostileRanks();

/// The value of each byte that an honest rank sends.
inline constexpr uint8_t kHonestByte = 0x11;
/// The exit code of a process that MPI_Abort ends.
inline constexpr int kAborted = 3;

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_MPI_HOSTILERANKS_H
