//===-- Pool.h - the threads of a session ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads that run a session's launches. How they share the chunks of a launch
// is in ChunkQueue.h.

#ifndef OPENATC_RUNTIME_POOL_H
#define OPENATC_RUNTIME_POOL_H

#include "runtime-lite/src/ChunkQueue.h"
#include "runtime-lite/src/Model.h"

#include <pthread.h>

namespace atc::rt {

/// A launch made ready to run.
struct Work {
  Kernel kernel;
  void *const *args;
  int64_t tasks;
  uint32_t chunks; ///< how many pieces the tasks are handed out in; 1 = serial
};

/// Atomics of the C++ library and futexes of Linux, for ChunkQueue.
struct FutexSystem {
  template <typename T> using Atomic = std::atomic<T>;

  /// Sleeps while the value is `expected`; may return earlier.
  static void wait(Atomic<uint32_t> &value, uint32_t expected);
  /// Sleeps while the upper half of the value is `expectedUpper`; may return earlier.
  static void wait(Atomic<uint64_t> &value, uint32_t expectedUpper);
  /// Wakes threads that sleep on the value, at most `threads` of them.
  static void wake(Atomic<uint32_t> &value, uint32_t threads);
  static void wake(Atomic<uint64_t> &value, uint32_t threads);

  /// Looks until done() is true, which it returns, or the time is over. It looks
  /// some times even where the time is 0.
  template <typename Done> static bool spin(uint64_t nanoseconds, const Done &done);
};

class Pool {
public:
  Pool() = default;
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;
  ~Pool() { stop(); }

  /// The largest number of pieces a launch is divided into.
  static constexpr uint32_t maxChunks = 4096;
  static constexpr uint32_t maxThreads = 1024;

  /// Starts `threads` - 1 workers. `scratch` has `scratchStride` bytes per thread, the
  /// caller's first. Idle threads spin for `spinMicroseconds` before they sleep.
  /// OM_ERROR_MEMORY where a thread cannot be started.
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
  void stop();
  void takeChunks(char *threadScratch);
  void runChunks(uint32_t index, const Work &launch);
  const Work &workAt(uint64_t index) const { return index == tasksIndex ? tasksWork : work[index]; }

  static constexpr uint32_t tasksIndex = ChunkQueue<FutexSystem>::maxLaunch; ///< in no schedule

  ChunkQueue<FutexSystem> queue;
  alignas(64) const Work *work = nullptr;
  Work tasksWork = {};
  void *tasksArgs[2] = {};
  char *scratch = nullptr;
  uint64_t spinNanoseconds = 0;
  Array<Worker> workers;
  uint32_t started = 0;
};

uint64_t nowNanoseconds();

} // namespace atc::rt

#endif
