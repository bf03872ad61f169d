//===-- fuzz-rank-messages.cpp - no message of a rank harms another one ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first bytes of an input choose the ranks and some collectives, the others what becomes of
// each message of MPI: whether and when it arrives, with how many bytes, after which error. A
// message that is damaged or lost ends the run with a sentence; no memory but that of the
// collective is written, and its output only when it succeeds.

#include "openatc/ranks.h"
#include "test/fuzz/mpi/HostileRanks.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <numeric>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace atc::fuzz;

namespace {

/// Ends the process as a crash does: what must hold does not.
void require(bool holds) {
  if (!holds)
    std::abort();
}

/// The memory of a tensor between bytes that nothing may write.
class Guarded {
public:
  Guarded(size_t bytes, uint8_t value) : memory(bytes + 2 * kGuard, kUntouched) {
    std::fill_n(memory.begin() + kGuard, bytes, value);
  }
  ~Guarded() {
    auto isUntouched = [](uint8_t byte) { return byte == kUntouched; };
    require(std::all_of(memory.begin(), memory.begin() + kGuard, isUntouched) &&
            std::all_of(memory.end() - kGuard, memory.end(), isUntouched));
  }
  uint8_t *data() { return memory.data() + kGuard; }
  size_t size() const { return memory.size() - 2 * kGuard; }
  bool isAll(uint8_t value, size_t from, size_t count) {
    return std::all_of(data() + from, data() + from + count,
                       [&](uint8_t byte) { return byte == value; });
  }

private:
  static constexpr size_t kGuard = 64;
  static constexpr uint8_t kUntouched = 0xA5;
  std::vector<uint8_t> memory;
};

constexpr uint8_t kOwnByte = 0x22, kOldByte = 0x33;

/// A collective that an input chooses, with its memory.
struct Chosen {
  Chosen(Script &script, uint32_t ranks, uint32_t own)
      : kind(om_collective_kind(script.next() % OM_COLLECTIVE_KINDS)), group(ranks),
        input(inputBytes(script, ranks), kOwnByte), output(outputBytes(ranks), kOldByte) {
    std::iota(group.begin(), group.end(), 0);
    if (kind == OM_SEND || kind == OM_RECEIVE)
      group = {(own + 1) % ranks};
    op.name = "node";
    op.kind = kind;
    op.dtype = dtype;
    op.reduction = om_reduction(script.next() % 3);
    op.root = script.next() % ranks;
    op.tag = script.next();
    op.ranks = group.data();
    op.rank_count = uint32_t(group.size());
    op.input = kind == OM_RECEIVE ? nullptr : input.data();
    op.input_bytes = kind == OM_RECEIVE ? 0 : input.size();
    op.output = kind == OM_SEND ? nullptr : output.data();
    op.output_bytes = kind == OM_SEND ? 0 : output.size();
  }

  /// Sets the element type as well.
  size_t inputBytes(Script &script, uint32_t ranks) {
    static constexpr om_dtype dtypes[] = {OM_F32, OM_F16, OM_BF16, OM_I8, OM_I64, OM_BOOL};
    dtype = dtypes[script.next() % 6];
    const bool isDivided = kind == OM_REDUCE_SCATTER || kind == OM_ALL_TO_ALL;
    return script.next() * (isDivided ? ranks : 1u) * om_dtype_bits(dtype) / 8;
  }
  size_t outputBytes(uint32_t ranks) const {
    return kind == OM_ALL_GATHER       ? input.size() * ranks
           : kind == OM_REDUCE_SCATTER ? input.size() / ranks
                                       : input.size();
  }

  /// Requires the bytes of honest ranks where a collective only moves them.
  void requireResult(uint32_t own) {
    const size_t part = kind == OM_ALL_TO_ALL ? input.size() / group.size() : input.size();
    if (kind == OM_ALL_GATHER || kind == OM_ALL_TO_ALL)
      for (size_t i = 0; i < group.size(); ++i)
        require(output.isAll(i == own ? kOwnByte : kHonestByte, i * part, part));
    else if (kind == OM_RECEIVE || kind == OM_BROADCAST)
      require(output.isAll(kind == OM_BROADCAST && op.root == own ? kOwnByte : kHonestByte, 0,
                           output.size()));
  }

  om_collective_kind kind;
  om_dtype dtype = OM_F32;
  std::vector<uint32_t> group;
  Guarded input, output;
  om_collective op = {};
};

/// Runs an input in a process that MPI may end. Returns whether all collectives have succeeded.
bool runCollectives(const uint8_t *data, size_t size) {
  Script script(data, size);
  HostileRanks &others = hostileRanks();
  others.ranks = 2 + script.next() % 4;
  others.own = script.next() % others.ranks;
  const uint32_t own = uint32_t(others.own);
  std::deque<Chosen> chosen;
  for (unsigned i = 0, count = 1 + script.next() % 4u; i < count; ++i)
    chosen.emplace_back(script, uint32_t(others.ranks), own);
  others.script = script;

  constexpr double kTimeout = 0.02;
  om_ranks *ranks = nullptr;
  om_error error = {};
  require(om_mpi_open(kTimeout, &ranks, &error) == OM_OK);
  const om_collectives &table = *ranks->collectives;
  std::vector<void *> requests(chosen.size());
  for (size_t i = 0; i < chosen.size(); ++i)
    require(table.start(table.user, &chosen[i].op, &requests[i], &error) == OM_OK);
  bool hasFailed = false;
  for (size_t i = 0; i < chosen.size(); ++i) {
    error = {};
    const bool isDone = table.wait(table.user, requests[i], &error) == OM_OK;
    require(chosen[i].input.isAll(kOwnByte, 0, chosen[i].input.size()));
    // Behind the first that fails none is run.
    require(!(isDone && hasFailed));
    hasFailed |= !isDone;
    if (isDone)
      chosen[i].requireResult(own);
    else
      require(*error.message && chosen[i].output.isAll(kOldByte, 0, chosen[i].output.size()));
  }
  // Sends that failed or stay on their way end the processes here.
  ranks->close(ranks);
  require(hasFailed || !others.isAnyDamaged);
  return !hasFailed;
}

} // namespace

/// Returns 0 where all collectives have succeeded.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const pid_t child = fork();
  require(child >= 0);
  if (child == 0)
    _exit(runCollectives(data, size) ? 0 : 1);
  int status = 0;
  require(waitpid(child, &status, 0) == child);
  require(WIFEXITED(status) && (WEXITSTATUS(status) <= 1 || WEXITSTATUS(status) == kAborted));
  return WEXITSTATUS(status) ? -1 : 0;
}
