//===-- Pool.h - the threads of a session ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The caller and its workers share one atomic word {sequence, launch, chunk}.
// Publishing a launch is one store; taking a chunk is one fetch_add, whose result
// alone says which chunk of which launch it is. So there is no barrier: a worker
// that comes late or sleeps holds nobody up, and the caller goes on as soon as
// all chunks are done.

#ifndef OPENATC_RUNTIME_POOL_H
#define OPENATC_RUNTIME_POOL_H

#include "runtime-lite/src/Model.h"

#include <atomic>
#include <pthread.h>

namespace atc::rt {

/// A launch made ready to run.
struct Work {
  Kernel kernel;
  void *const *args;
  int64_t tasks;
  uint32_t chunks; ///< how many pieces the tasks are handed out in; 1 = serial
};

class Pool {
public:
  Pool() = default;
  ~Pool() { stop(); }

  /// The most pieces a launch is cut into.
  static constexpr uint32_t mostChunks = 4096;
  static constexpr uint32_t mostThreads = 1024;

  /// Starts `threads` - 1 workers. `scratch` has `scratchStride` bytes for each
  /// thread, the caller's first.
  om_status start(uint32_t threads, const Work *work, char *scratch, uint64_t scratchStride,
                  uint32_t spinMicroseconds, om_error *error);

  /// Runs work[index] and returns when all of it is done.
  void run(uint32_t index);
  /// Runs task(arg, begin, end) over `chunks` pieces of [0, tasks), too.
  void run(int64_t tasks, uint32_t chunks, void (*task)(void *arg, int64_t begin, int64_t end),
           void *arg);

  uint32_t threads() const { return workers.size() + 1; }

private:
  struct Worker {
    Pool *pool;
    char *scratch;
    pthread_t thread;
  };

  static void *workerMain(void *worker);
  void serve(char *workerScratch);
  void stop();
  /// Waits until the word is no longer that of `seen`; returns it.
  uint64_t waitForWork(uint64_t seen);
  void takeChunks(char *threadScratch);
  void publish(uint32_t index, const Work &launch);
  const Work &workAt(uint64_t index) const { return index == tasksIndex ? tasksWork : work[index]; }
  void wakeSleepers();

  // The word: 20 bits of sequence number, 24 of launch, 20 of chunk. The chunk
  // counts up to `chunkEnd`: so the word alone tells that nothing is left, and a
  // worker that comes late does not look at work that may have changed meanwhile.
  static constexpr int chunkBits = 20, launchBits = 24;
  static constexpr uint64_t chunkEnd = uint64_t(1) << (chunkBits - 1);
  static constexpr uint64_t chunkMask = (uint64_t(1) << chunkBits) - 1;
  static constexpr uint64_t launchMask = (uint64_t(1) << launchBits) - 1;
  static constexpr uint32_t tasksIndex = launchMask; ///< no schedule is that long
  static uint64_t publication(uint64_t word) { return word >> chunkBits; }

  alignas(64) std::atomic<uint64_t> word{chunkEnd};
  alignas(64) std::atomic<uint32_t> finished{0};
  alignas(64) std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> stopping{false};

  alignas(64) const Work *work = nullptr;
  Work tasksWork = {};
  void *tasksArgs[2] = {};
  char *scratch = nullptr;
  uint64_t sequence = 0;
  uint64_t spinNanoseconds = 0;
  Array<Worker> workers;
  uint32_t started = 0;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
};

uint64_t nowNanoseconds();

} // namespace atc::rt

#endif
