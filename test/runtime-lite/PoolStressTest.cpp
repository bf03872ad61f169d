//===-- PoolStressTest.cpp - more threads than processors, with low priority ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   runtime-pool-stress-test [seconds]        default: 2
//
// Sessions with 16 threads on two processors at priority 19, beside two processes
// of normal priority that keep these processors busy. Every task must run once, and
// no run may take long. Prints one JSON object.

#include "openatc/om.hpp"
#include "test/runtime-lite/HostTestRun.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {
constexpr uint64_t tasks = 160;
constexpr unsigned launches = 10;
constexpr double maxSeconds = 30;

/// Binds this process and its children to two processors.
void useTwoProcessors() {
  cpu_set_t all, two;
  CPU_ZERO(&all);
  CPU_ZERO(&two);
  if (sched_getaffinity(0, sizeof(all), &all) != 0)
    return;
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++i)
    if (CPU_ISSET(i, &all))
      CPU_SET(i, &two);
  sched_setaffinity(0, sizeof(two), &two);
}

/// Processes that compute until they are killed, or their parent is gone.
class BusyNeighbours {
public:
  explicit BusyNeighbours(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile uint64_t spent = 0;;)
          spent = spent + 1;
      }
      children.push_back(child);
    }
  }
  ~BusyNeighbours() {
    for (pid_t child : children) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }

private:
  std::vector<pid_t> children;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
} // namespace

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
  useTwoProcessors();
  const BusyNeighbours neighbours(2);
  if (setpriority(PRIO_PROCESS, 0, 19) != 0)
    std::printf("the priority stays as it is\n");
  const KernelImage code = readKernelImage(OPENATC_TEST_KERNELS);
  om::Error error;
  const om::Model model = om::Model::loadFile(
      writeModel(countingModel(code, tasks, launches, 100000), "pool-stress.om"), error);
  if (!model) {
    std::printf("%s\n", error.message());
    return 1;
  }
  // A run that does not end at all ends the process.
  std::signal(SIGALRM, [](int) {
    const char text[] = "a run has had no end for a minute\n";
    (void)!write(1, text, sizeof(text) - 1);
    _exit(1);
  });
  std::vector<double> times;
  uint64_t wrong = 0;
  const double begin = now();
  for (uint32_t spin : {0, OM_DEFAULT_SPIN_US, 20000}) {
    om_session_options options = threads(16, 0);
    options.spin_us = spin;
    om::Session session(model, error, options);
    om::Buffer counts(tasks * sizeof(uint32_t));
    void *outputs[] = {counts.data()};
    const double end = now() + seconds / 3;
    for (uint32_t run = 1; session && (now() < end || run == 1); ++run) {
      alarm(60);
      const double start = now();
      wrong += !session.run(nullptr, outputs, error);
      times.push_back(now() - start);
      for (uint64_t task = 0; task < tasks; ++task)
        wrong += counts.data<uint32_t>()[task] != run * launches;
    }
    alarm(60);
  }
  alarm(0);
  std::sort(times.begin(), times.end());
  const double longest = times.empty() ? 0 : times.back();
  std::printf("{\"seconds\": %.1f, \"runs\": %zu, \"wrong\": %llu, \"median_ms\": %.2f, "
              "\"longest_ms\": %.1f}\n",
              now() - begin, times.size(), static_cast<unsigned long long>(wrong),
              times.empty() ? 0 : times[times.size() / 2] * 1e3, longest * 1e3);
  if (error)
    std::printf("%s\n", error.message());
  return wrong || times.size() < 3 || longest > maxSeconds;
}
