//===-- WatchedChild.cpp - steps in a process that may crash or hang ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/WatchedChild.h"

#include <csignal>
#include <cstdio>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace atc::fuzz {

void *sharedMemory(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// A step that waits for something else than the processor may wait so many times its limit.
static constexpr unsigned kWaiting = 12;

bool runWatched(uint64_t &next, uint64_t end, unsigned seconds,
                const std::function<void(uint64_t next)> &step,
                const std::function<void(uint64_t next, bool hung)> &failed) {
  while (next < end) {
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid < 0)
      return false;
    if (pid == 0) {
      for (; next < end; ++next) {
        // Time of the processor, for the machine may be busy; one that waits has no such time.
        const itimerval limit = {{}, {time_t(seconds), 0}};
        setitimer(ITIMER_PROF, &limit, nullptr);
        alarm(seconds * kWaiting);
        step(next);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (next >= end && WIFEXITED(status) && WEXITSTATUS(status) == 0)
      break;
    failed(next,
           WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF));
    ++next;
  }
  return true;
}

} // namespace atc::fuzz
