//===-- PhaseChain.h - threads advance through phases together ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recurrent cell has hundreds of steps of a few microseconds, each of which needs the one before.
// To hand out each step to the threads of the session would cost as much as the step, and another
// thread would compute a unit in each step, so that its weights would be in no cache.
// Instead, threads join a chain once and go through its phases together. Nothing depends on a
// thread that has not come: whoever is there claims what nobody has claimed. A thread that waits
// for long, because the one it waits for is interrupted, leaves: that one finishes the chain alone,
// as it has no one to wait for.

#ifndef OPENATC_KERNELS_NN_PHASECHAIN_H
#define OPENATC_KERNELS_NN_PHASECHAIN_H

#include "kernels/core/Widen.h"

namespace atc::kernels {

/// Distributes the chunks of consecutive phases to the threads that join. A phase begins when all
/// chunks of the one before have ended. Work is called as work(phase, begin, end) for ranges of
/// chunks.
class PhaseChain {
public:
  static constexpr int64_t kMaxChunks = 32;

  /// Holds what has been claimed and what has ended of a phase.
  struct Phase {
    uint32_t claimed; ///< a bit per chunk
    uint32_t done;    ///< the number of chunks that have ended
  };

  /// Uses memory for the phases of the longest chain, which the caller owns and which outlives the
  /// chain.
  void use(Phase *memory) { all = memory; }

  /// Begins a chain of `steps` steps, each of `phasesPerStep` phases of 1 to kMaxChunks chunks. No
  /// thread may be in the chain. A chain whose phases are one chunk belongs to the first thread
  /// that joins. `chunkCost` is the approximate number of multiplications per chunk.
  void restart(int64_t steps, int64_t phasesPerStep, int64_t chunkCount, int64_t chunkCost) {
    // Some times what a chunk takes, where a pause takes 10 nanoseconds or more.
    patience = 2048 + chunkCost / 64;
    perStep = phasesPerStep;
    count = steps * perStep;
    chunks = chunkCount;
    joined = 0;
    left = false;
    for (int64_t i = 0; i < count; ++i)
      all[i] = {0, 0};
  }

  /// Return the number of phases of the chain, and of chunks per phase.
  int64_t phaseCount() const { return count; }
  int64_t chunkCount() const { return chunks; }

  /// Runs the first `steps` steps as if no other thread took part.
  template <typename Work> void runFirst(int64_t steps, Work &&work) {
    for (int64_t i = 0; i < steps * perStep; ++i)
      if (!runPhase(i, 0, 1, work))
        return;
  }

  /// Takes part until all phases have ended, or until this thread has waited for too long. Does
  /// nothing where the chain belongs to another thread, or one has left it.
  template <typename Work> void join(Work &&work) {
    if (count == 0 || isDone(count - 1) || __atomic_load_n(&left, __ATOMIC_RELAXED))
      return;
    const uint32_t rank = __atomic_fetch_add(&joined, 1, __ATOMIC_RELAXED);
    if (chunks == 1 && rank > 0)
      return;
    for (int64_t i = 0; i < count; ++i)
      if (!isDone(i) && !runPhase(i, rank, __atomic_load_n(&joined, __ATOMIC_RELAXED), work))
        return;
  }

  /// Runs what is left of the phases after all threads have gone.
  template <typename Work> void finish(Work &&work) {
    joined = 0;
    left = false;
    join(work);
  }

private:
  struct Range {
    int64_t begin, end;
  };

  bool isBackward(int64_t phase) const { return phase / perStep & 1; }
  bool isDone(int64_t phase) const {
    return __atomic_load_n(&all[phase].done, __ATOMIC_ACQUIRE) == chunks;
  }

  static uint32_t bits(int64_t begin, int64_t end) {
    return uint32_t((uint64_t(1) << end) - (uint64_t(1) << begin));
  }

  /// Returns the first range of set bits, or the last one where `fromEnd`; `set` is not 0.
  static Range firstRange(uint32_t set, bool fromEnd) {
    if (!fromEnd) {
      const int64_t begin = __builtin_ctz(set);
      const uint64_t gaps = ~uint64_t(set) >> begin;
      return {begin, begin + __builtin_ctzll(gaps)};
    }
    const int64_t end = 32 - __builtin_clz(set);
    const uint32_t gaps = ~set & bits(0, end);
    return {gaps ? 32 - __builtin_clz(gaps) : 0, end};
  }

  /// Claims and runs chunks until none is left, then waits for those of other threads; returns
  /// whether they have ended. A thread prefers its own share of the chunks, the same in each phase,
  /// whose data its caches hold. Odd steps begin with what even ones read last, so that part of
  /// what fills more than a cache is still there.
  template <typename Work>
  bool runPhase(int64_t index, uint32_t rank, uint32_t threads, Work &&work) {
    Phase &phase = all[index];
    const uint32_t own = bits(rank * chunks / threads, (rank + 1) * chunks / threads);
    const bool fromEnd = isBackward(index);
    for (uint32_t claimed = __atomic_load_n(&phase.claimed, __ATOMIC_RELAXED);;) {
      const uint32_t free = bits(0, chunks) & ~claimed;
      if (!free)
        break;
      Range range = firstRange(free & own ? free & own : free, fromEnd);
      // Others can take what is left where this thread is interrupted.
      const int64_t half =
          threads == 1 ? range.end - range.begin : (range.end - range.begin + 1) / 2;
      (fromEnd ? range.begin : range.end) = fromEnd ? range.end - half : range.begin + half;
      if (!__atomic_compare_exchange_n(&phase.claimed, &claimed,
                                       claimed | bits(range.begin, range.end), false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
      work(index, range.begin, range.end);
      __atomic_fetch_add(&phase.done, uint32_t(range.end - range.begin), __ATOMIC_RELEASE);
      claimed = __atomic_load_n(&phase.claimed, __ATOMIC_RELAXED);
    }
    for (int64_t waited = 0; !isDone(index); ++waited) {
      if (waited == patience) {
        __atomic_store_n(&left, true, __ATOMIC_RELAXED);
        return false;
      }
      relax();
    }
    return true;
  }

  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __builtin_arm_yield();
#elif defined(__riscv)
    __builtin_riscv_pause();
#endif
  }

  Phase *all = nullptr;
  int64_t count = 0, perStep = 1, chunks = 1, patience = 0;
  uint32_t joined = 0;
  bool left = false;
};

/// Runs `count` chains of `steps` steps on several threads where that pays. The chains have been
/// restarted. `cost` is the approximate number of operations per step of all chains. Work is called
/// as work(chain, phase, begin, end).
template <typename Work>
void runChains(Context &c, PhaseChain *chains, int64_t count, int64_t steps, int64_t cost,
               Work &&work) {
  // A few steps alone are handed out one by one.
  constexpr int64_t few = 4;
  const int64_t chunks = chains[0].chunkCount();
  for (int64_t phase = 0; steps < few && phase < chains[0].phaseCount(); ++phase)
    parallelIf(c, count * chunks, cost / (count * chunks), [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < count; ++i) {
        const int64_t first = maximum(begin - i * chunks, int64_t(0));
        const int64_t last = minimum(end - i * chunks, chunks);
        if (first < last)
          work(i, phase, first, last);
      }
    });
  if (steps < few)
    return;
  uint32_t arrived = 0;
  // The host measures the first steps to find out whether several threads pay. They are as long as
  // the others.
  const auto of = [&](int64_t chain) {
    return [&work, chain](int64_t phase, int64_t first, int64_t last) {
      work(chain, phase, first, last);
    };
  };
  parallelIf(c, steps, cost, [&](int64_t begin, int64_t end) {
    if (begin == 0 && end < steps) {
      for (int64_t i = 0; i < count; ++i)
        chains[i].runFirst(end, of(i));
      return;
    }
    const int64_t first = __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
    for (int64_t i = 0; i < count; ++i)
      chains[(first + i) % count].join(of((first + i) % count));
  });
  // Where threads have left while the first steps ran beside them.
  for (int64_t i = 0; i < count; ++i)
    chains[i].finish(of(i));
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_PHASECHAIN_H
