//===-- Pool.h - the threads of a session ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads that run a session's launches. ChunkQueue.h shows how they share the chunks of a
// launch.

#ifndef OPENATC_RUNTIME_POOL_H
#define OPENATC_RUNTIME_POOL_H

#include "runtime-lite/src/ChunkQueue.h"
#include "runtime-lite/src/Model.h"

#include <pthread.h>

namespace atc::rt {

/// A launch with its pointers and chunks resolved.
struct Work {
  Kernel kernel;
  void *const *args;
  int64_t tasks;
  uint32_t chunks; ///< the number of chunks that the tasks are handed out in; 1 = serial
};

/// Atomics of the C++ library and futexes of Linux, for ChunkQueue.
struct FutexSystem {
  template <typename T> using Atomic = std::atomic<T>;

  /// Sleeps while the value is `expected`; may return earlier.
  static void wait(Atomic<uint32_t> &value, uint32_t expected);
  /// Sleeps while the upper half of the value is `expectedUpper`; may return earlier.
  static void wait(Atomic<uint64_t> &value, uint32_t expectedUpper);
  /// Wakes at most `threads` of the threads that sleep on the value.
  static void wake(Atomic<uint32_t> &value, uint32_t threads);
  static void wake(Atomic<uint64_t> &value, uint32_t threads);

  /// Polls until done() is true or the time is over, and returns the last done(). It polls a few
  /// times even where the time is 0.
  template <typename Done> static bool spin(uint64_t nanoseconds, const Done &done);
};

/// The worker threads of one session.
class Pool {
public:
  Pool() = default;
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;
  ~Pool() { stop(); }

  /// The maximum number of chunks that a launch is divided into.
  static constexpr uint32_t maxChunks = ChunkQueue<FutexSystem>::maxChunks;
  static constexpr uint32_t maxThreads = ChunkQueue<FutexSystem>::maxThreads;

  /// Starts `threads` - 1 workers. `scratch` has `scratchStride` bytes per thread, the caller's
  /// first; it and `work` must outlive the pool. Idle threads spin for `spinMicroseconds` before
  /// they sleep. OM_ERROR_MEMORY where a thread cannot be started.
  om_status start(uint32_t threads, const Work *work, char *scratch, uint64_t scratchStride,
                  uint32_t spinMicroseconds, om_error *error);

  /// Runs work[index] on all threads and returns when all of it is finished.
  void run(uint32_t index);
  /// Runs task(arg, begin, end) over [0, tasks), divided into `chunks` ranges, on all threads.
  void run(int64_t tasks, uint32_t chunks, void (*task)(void *arg, int64_t begin, int64_t end),
           void *arg);

  /// Returns the number of threads including the caller's.
  uint32_t threads() const { return workers.size() + 1; }

private:
  struct Worker {
    Pool *pool;
    char *scratch;
    pthread_t thread;
  };

  static void *workerMain(void *worker);
  void stop();
  void takeChunks(char *threadScratch, QueueEnd end);
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

/// Returns the time of a monotonic clock.
uint64_t nowNanoseconds();

} // namespace atc::rt

#endif
