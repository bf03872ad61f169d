//===-- ChunkQueue.h - how a caller and its workers share a launch --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The caller publishes a launch by one store to an atomic word {stop, sequence, launch, first,
// last}. The caller takes chunks from the front and counts up `first`, workers take them from the
// back and count up `last`: with two threads each has the same part of every launch, such as the
// upper half of an image, and finds in its own caches what it has written in the launch before.
// Taking a chunk is one fetch_add, whose result alone says which chunk of which launch it is: the
// sum of both counts is how many were taken before. There is no barrier: a worker that comes late
// or sleeps delays nobody, and the caller continues as soon as all chunks are finished.
//
// There is no lock. A worker without work, and a caller whose chunks are still being computed by
// others, poll a bounded number of times and then sleep on a futex until the word they wait for
// changes. The kernel compares that word itself, so a wakeup between the last poll and the sleep is
// not lost.
//
// `System` has the atomics and the way to sleep. Threads use FutexSystem (Pool.h);
// test/runtime-lite/PoolModelTest.cpp runs the same code in every order of its
// atomic operations.

#ifndef OPENATC_RUNTIME_CHUNKQUEUE_H
#define OPENATC_RUNTIME_CHUNKQUEUE_H

#include <atomic>
#include <cstdint>

namespace atc::rt {

/// A chunk that a thread has taken and must finish.
struct TakenChunk {
  uint32_t launch;
  uint32_t left; ///< this chunk and those behind it: the first of n has n left
};

/// The end of the queue from which a thread takes chunks.
enum class QueueEnd { Front, Back };

/// Distributes the chunks of one launch at a time to a caller and its workers; see the head of this
/// file. `System` has the atomics, wait, wake and spin.
template <typename System> class ChunkQueue {
public:
  /// The maximum number of chunks per launch.
  static constexpr uint32_t maxChunks = uint32_t(1) << 12;
  /// The maximum number of threads. Each of them may count twice when nothing is left: when it
  /// looks for another chunk, and when it wakes for the launch late.
  static constexpr uint32_t maxThreads = uint32_t(1) << 10;
  /// The maximum number that identifies a launch.
  static constexpr uint32_t maxLaunch = (uint32_t(1) << 24) - 1;

  // For the caller, which is one thread at a time.

  /// Makes the chunks of a launch available and wakes sleeping workers, at most one per chunk that
  /// the caller will not take itself. All chunks of the previous launch must be finished. 2 <=
  /// chunks <= maxChunks.
  void publish(uint32_t launch, uint32_t chunks) {
    finished.store(0, std::memory_order_relaxed);
    ++sequence;
    word.store((uint64_t(sequence & sequenceMask) << (2 * countBits + launchBits)) |
                   (uint64_t(launch) << (2 * countBits)) |
                   (uint64_t(maxChunks - chunks) << countBits),
               std::memory_order_seq_cst);
    // Workers announce their sleep and then look at the word; here it is the other
    // way round. In the one order of all these operations one side sees the other.
    if (const uint32_t asleep = sleepers.load(std::memory_order_seq_cst))
      System::wake(word, asleep < chunks ? asleep : chunks - 1);
  }

  /// Returns when all chunks of the published launch are finished, after polling for
  /// `spinNanoseconds` and then sleeping. Takes no chunk.
  void waitUntilFinished(uint32_t chunks, uint64_t spinNanoseconds) {
    if (System::spin(spinNanoseconds,
                     [&] { return finished.load(std::memory_order_acquire) == chunks; }))
      return;
    // The thread that finishes the last chunk sees the bit, or this sees its count.
    uint32_t now = finished.fetch_or(callerSleeps, std::memory_order_acquire) | callerSleeps;
    while (now != (chunks | callerSleeps)) {
      System::wait(finished, now);
      now = finished.load(std::memory_order_acquire);
    }
  }

  /// Ends all waits of workers, now and later. No worker has seen a word with this bit before,
  /// however often the sequence has wrapped around.
  void stop() {
    word.fetch_or(stopBit, std::memory_order_seq_cst);
    System::wake(word, UINT32_MAX);
  }

  // For all threads.

  /// Takes a chunk from an end. Returns false where no chunk is left of the launch that was
  /// published last.
  bool take(TakenChunk &taken, QueueEnd end) {
    // It may be of a later launch than the one that ended a wait. It is complete in
    // itself, and its launch does not end before it is finished.
    const bool atFront = end == QueueEnd::Front;
    const uint64_t one = atFront ? uint64_t(1) << countBits : 1;
    const uint64_t before = word.fetch_add(one, std::memory_order_acq_rel);
    const uint32_t first = static_cast<uint32_t>(before >> countBits) & countMask;
    const uint32_t last = static_cast<uint32_t>(before) & countMask;
    if (first + last >= maxChunks)
      return false;
    taken.launch = static_cast<uint32_t>(before >> (2 * countBits)) & maxLaunch;
    taken.left = atFront ? maxChunks - first : last + 1;
    return true;
  }

  /// Reports that a chunk of a launch of `chunks` chunks is finished. The thread must not read the
  /// launch afterwards: the caller may change it.
  void finish(uint32_t chunks) {
    const uint32_t before = finished.fetch_add(1, std::memory_order_release);
    if (before == (callerSleeps | (chunks - 1)))
      System::wake(finished, 1);
  }

  // For workers.

  /// Waits until the published launch differs from the one that `seen` stands for (0 in the
  /// beginning), and then updates `seen`. Returns false where the queue has stopped.
  bool waitForWork(uint64_t &seen, uint64_t spinNanoseconds) {
    uint64_t now = 0;
    const auto changed = [&] {
      now = word.load(std::memory_order_seq_cst) >> (2 * countBits);
      return now != seen;
    };
    if (!System::spin(spinNanoseconds, changed)) {
      sleepers.fetch_add(1, std::memory_order_seq_cst);
      while (!changed())
        System::wait(word, static_cast<uint32_t>(now >> (32 - 2 * countBits)));
      sleepers.fetch_sub(1, std::memory_order_relaxed);
    }
    seen = now;
    return !(now & (stopBit >> (2 * countBits)));
  }

private:
  // The word: 1 bit stop, 11 bits sequence, 24 bits launch, 14 bits first, 14 bits last. Its upper
  // half, which sleeping workers wait on, differs from launch to launch. `first` begins at
  // `maxChunks` minus the chunks, `last` at 0, and both count a little beyond the end, so the word
  // alone says that nothing is left, and nobody reads work that may have changed meanwhile.
  static constexpr int countBits = 14, launchBits = 24, sequenceBits = 11;
  static constexpr uint32_t countMask = (uint32_t(1) << countBits) - 1;
  static_assert(maxChunks + 2 * maxThreads <= countMask, "a count would reach the bits above it");
  static constexpr uint32_t sequenceMask = (uint32_t(1) << sequenceBits) - 1;
  static constexpr uint64_t stopBit = uint64_t(1) << 63;
  static constexpr uint32_t callerSleeps = uint32_t(1) << 31;

  alignas(64) typename System::template Atomic<uint64_t> word{uint64_t(maxChunks) << countBits};
  alignas(64) typename System::template Atomic<uint32_t> finished{0};
  alignas(64) typename System::template Atomic<uint32_t> sleepers{0};
  uint32_t sequence = 0; ///< the caller's
};

} // namespace atc::rt

#endif
