//===-- Pool.cpp - the threads of a session -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Pool.h"

#include <climits>
#include <cstring>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace atc::rt {

uint64_t nowNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

static_assert(std::atomic<uint64_t>::is_always_lock_free &&
                  sizeof(std::atomic<uint64_t>) == sizeof(uint64_t) &&
                  sizeof(std::atomic<uint32_t>) == sizeof(uint32_t),
              "the kernel reads an atomic as the number that it is");

static uint32_t *addressOf(std::atomic<uint32_t> &value) {
  return reinterpret_cast<uint32_t *>(&value);
}
static uint32_t *addressOf(std::atomic<uint64_t> &value) {
  constexpr int upper = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 1 : 0;
  return reinterpret_cast<uint32_t *>(&value) + upper;
}

// Other values, signals and memory pressure end a futex wait early. Callers check again.
template <typename T> static void futexWait(std::atomic<T> &value, uint32_t expected) {
  syscall(SYS_futex, addressOf(value), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
template <typename T> static void futexWake(std::atomic<T> &value, uint32_t threads) {
  const uint32_t count = threads < INT_MAX ? threads : INT_MAX;
  syscall(SYS_futex, addressOf(value), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

void FutexSystem::wait(Atomic<uint32_t> &value, uint32_t expected) { futexWait(value, expected); }
void FutexSystem::wait(Atomic<uint64_t> &value, uint32_t expected) { futexWait(value, expected); }
void FutexSystem::wake(Atomic<uint32_t> &value, uint32_t threads) { futexWake(value, threads); }
void FutexSystem::wake(Atomic<uint64_t> &value, uint32_t threads) { futexWake(value, threads); }

static void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#elif defined(__riscv)
  __asm__ volatile(".insn i 0x0f, 0, x0, x0, 0x010"); // pause, a hint that every processor takes
#endif
}

template <typename Done> bool FutexSystem::spin(uint64_t nanoseconds, const Done &done) {
  constexpr int looksPerClock = 32;
  const uint64_t begin = nowNanoseconds();
  do {
    for (int i = 0; i < looksPerClock; ++i) {
      if (done())
        return true;
      relax();
    }
  } while (nowNanoseconds() - begin < nanoseconds);
  return false;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

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
  int failure = 0;
  for (; started < workers.size() && !failure; started += !failure) {
    workers[started].pool = this;
    workers[started].scratch = scratch + (started + 1) * scratchStride;
    failure = pthread_create(&workers[started].thread, &attributes, workerMain, &workers[started]);
  }
  pthread_attr_destroy(&attributes);
  if (!failure)
    return OM_OK;
  return fail(error, OM_ERROR_MEMORY, "cannot start thread %u of %u: %s.", started + 2, threads,
              std::strerror(failure));
}

void Pool::stop() {
  queue.stop();
  for (uint32_t i = 0; i < started; ++i)
    pthread_join(workers[i].thread, nullptr);
  started = 0;
}

void *Pool::workerMain(void *argument) {
  const auto *worker = static_cast<const Worker *>(argument);
  Pool &pool = *worker->pool;
  uint64_t seen = 0;
  while (pool.queue.waitForWork(seen, pool.spinNanoseconds))
    pool.takeChunks(worker->scratch, QueueEnd::Back);
  return nullptr;
}

void Pool::takeChunks(char *threadScratch, QueueEnd end) {
  for (TakenChunk taken; queue.take(taken, end);) {
    const Work &launch = workAt(taken.launch);
    const int64_t tasks = launch.tasks, chunks = launch.chunks, index = chunks - taken.left;
    launch.kernel(launch.args, threadScratch, index * tasks / chunks, (index + 1) * tasks / chunks);
    queue.finish(static_cast<uint32_t>(chunks));
  }
}

void Pool::run(uint32_t index) {
  const Work &launch = work[index];
  if (launch.chunks == 1) {
    launch.kernel(launch.args, scratch, 0, launch.tasks);
    return;
  }
  runChunks(index, launch);
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
  runChunks(tasksIndex, tasksWork);
}

void Pool::runChunks(uint32_t index, const Work &launch) {
  queue.publish(index, launch.chunks);
  takeChunks(scratch, QueueEnd::Front);
  queue.waitUntilFinished(launch.chunks, spinNanoseconds);
}

} // namespace atc::rt
