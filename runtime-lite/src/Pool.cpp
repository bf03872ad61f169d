//===-- Pool.cpp - the threads of a session -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Pool.h"

#include <cstring>
#include <sched.h>
#include <time.h>

namespace atc::rt {

uint64_t nowNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

static void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// How often a waiting loop looks at its flag between two looks at the clock.
static constexpr int looksPerClock = 32;

om_status Pool::start(uint32_t threads, const Work *allWork, char *allScratch,
                      uint64_t scratchStride, uint32_t spinMicroseconds, om_error *error) {
  work = allWork;
  scratch = allScratch;
  spinNanoseconds = uint64_t(spinMicroseconds) * 1000;
  if (!workers.allocate(threads - 1))
    return outOfMemory(error, threads * sizeof(Worker));
  // Kernels use their scratch area instead of the stack.
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 512 * 1024);
  int fault = 0;
  for (; started < workers.size() && !fault; started += !fault) {
    workers[started].pool = this;
    workers[started].scratch = scratch + (started + 1) * scratchStride;
    fault = pthread_create(&workers[started].thread, &attributes, workerMain, &workers[started]);
  }
  pthread_attr_destroy(&attributes);
  if (!fault)
    return OM_OK;
  return fail(error, OM_ERROR_MEMORY, "cannot start thread %u of %u: %s.", started + 2, threads,
              std::strerror(fault));
}

void Pool::stop() {
  stopping.store(true);
  wakeSleepers();
  for (uint32_t i = 0; i < started; ++i)
    pthread_join(workers[i].thread, nullptr);
  started = 0;
}

void *Pool::workerMain(void *argument) {
  auto *worker = static_cast<Worker *>(argument);
  worker->pool->serve(worker->scratch);
  return nullptr;
}

void Pool::serve(char *workerScratch) {
  uint64_t seen = 0;
  for (;;) {
    seen = waitForWork(seen);
    if (stopping.load(std::memory_order_relaxed))
      return;
    takeChunks(workerScratch);
  }
}

uint64_t Pool::waitForWork(uint64_t seen) {
  auto changed = [&](std::memory_order order) {
    return publication(word.load(order)) != seen || stopping.load(std::memory_order_relaxed);
  };
  uint64_t begin = nowNanoseconds();
  do {
    for (int i = 0; i < looksPerClock; ++i) {
      if (changed(std::memory_order_acquire))
        return publication(word.load(std::memory_order_acquire));
      relax();
    }
  } while (nowNanoseconds() - begin < spinNanoseconds);

  // Announce the sleep before the last look: the publisher looks the other way
  // round (publishes, then counts sleepers), so one of the two sees the other.
  pthread_mutex_lock(&mutex);
  sleepers.fetch_add(1);
  while (!changed(std::memory_order_seq_cst))
    pthread_cond_wait(&condition, &mutex);
  sleepers.fetch_sub(1);
  pthread_mutex_unlock(&mutex);
  return publication(word.load(std::memory_order_acquire));
}

void Pool::wakeSleepers() {
  if (sleepers.load() == 0)
    return;
  pthread_mutex_lock(&mutex);
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
}

void Pool::takeChunks(char *threadScratch) {
  for (;;) {
    uint64_t taken = word.fetch_add(1, std::memory_order_acq_rel);
    const uint64_t chunk = taken & chunkMask;
    if (chunk >= chunkEnd)
      return;
    // `taken` may already be of a later launch than the one that ended the
    // waiting; it is complete in itself, so that does not matter. The launch
    // waits for this chunk, so it stays what it is.
    const Work &launch = workAt((taken >> chunkBits) & launchMask);
    const int64_t tasks = launch.tasks, chunks = launch.chunks;
    const int64_t index = chunks - static_cast<int64_t>(chunkEnd - chunk);
    launch.kernel(launch.args, threadScratch, index * tasks / chunks, (index + 1) * tasks / chunks);
    finished.fetch_add(1, std::memory_order_release);
  }
}

void Pool::run(uint32_t index) {
  const Work &launch = work[index];
  if (launch.chunks == 1) {
    launch.kernel(launch.args, scratch, 0, launch.tasks);
    return;
  }
  publish(index, launch);
}

void Pool::run(int64_t tasks, uint32_t chunks, void (*task)(void *, int64_t, int64_t), void *arg) {
  if (chunks <= 1)
    return task(arg, 0, tasks);
  tasksArgs[0] = reinterpret_cast<void *>(task);
  tasksArgs[1] = arg;
  const Kernel kernel = [](void *const *args, void *, int64_t begin, int64_t end) {
    reinterpret_cast<void (*)(void *, int64_t, int64_t)>(args[0])(args[1], begin, end);
  };
  tasksWork = {kernel, tasksArgs, tasks, chunks};
  publish(tasksIndex, tasksWork);
}

void Pool::publish(uint32_t index, const Work &launch) {
  finished.store(0, std::memory_order_relaxed);
  ++sequence;
  word.store((sequence << (chunkBits + launchBits)) | (uint64_t(index) << chunkBits) |
             (chunkEnd - launch.chunks));
  wakeSleepers();
  takeChunks(scratch);

  auto allDone = [&] { return finished.load(std::memory_order_acquire) == launch.chunks; };
  uint64_t begin = 0;
  for (int looks = 1; !allDone(); ++looks) {
    relax();
    if (looks % looksPerClock)
      continue;
    // A worker that holds a chunk may have lost its processor to someone else.
    uint64_t now = nowNanoseconds();
    begin = begin ? begin : now;
    if (now - begin > 50000)
      sched_yield();
  }
}

} // namespace atc::rt
