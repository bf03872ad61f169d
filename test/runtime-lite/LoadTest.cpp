//===-- LoadTest.cpp - many threads, sessions and models at the same time -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   runtime-load-test [seconds [threads]]        default: 2 64
//
// A quarter of the threads each
//   - run a session of one thread on a model that all share
//   - run a session of three threads on another one
//   - run host programs with loops and sequences, which some others cancel
//   - load models from files and from memory, run them and close them
// All answers are compared. Prints one JSON object; ends with 1 where an answer is
// wrong, a thread has no answer for a minute, or the memory in use has grown.

#include "openatc/om.hpp"
#include "test/runtime-lite/HostTestRun.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

namespace {
using Clock = std::chrono::steady_clock;

constexpr uint64_t countedTasks = 200;
constexpr unsigned countedLaunches = 4;

uint64_t residentBytes() {
  unsigned long long all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

class Load {
public:
  Load()
      : code(readKernelImage(OPENATC_TEST_KERNELS)), known(code),
        staticPath(writeModel(known.model, "load-static.om")),
        hostPath(writeModel(loopModel().model, "load-host.om")), bytes(readBytes(staticPath)),
        file(bytes), sharedStatic(load(staticPath)), sharedHost(load(hostPath)),
        sharedCounting(load(writeModel(countingModel(code, countedTasks, countedLaunches, 100000),
                                       "load-counting.om"))) {}

  int run(double seconds, unsigned threadCount) {
    std::vector<std::thread> threads;
    progress = std::vector<std::atomic<uint64_t>>(threadCount);
    for (unsigned i = 0; i < threadCount; ++i)
      threads.emplace_back([this, i] { work(i); });
    const auto begin = Clock::now();
    auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    // The memory in use after the first runs is the limit for all later ones.
    uint64_t first = 0, last = 0;
    std::vector<uint64_t> before(threadCount, 0);
    double lastLook = 0;
    while (passed() < seconds && !wrong) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      last = residentBytes();
      first = passed() < seconds / 3 ? std::max(first, last) : first;
      if (passed() - lastLook < 60)
        continue;
      lastLook = passed();
      for (unsigned i = 0; i < threadCount; ++i)
        if (before[i] == progress[i].load())
          complain("a thread has had no answer for a minute");
        else
          before[i] = progress[i].load();
    }
    isEnding = true;
    for (std::thread &thread : threads)
      thread.join();
    uint64_t runs = 0;
    for (const auto &count : progress)
      runs += count;
    const uint64_t allowed = first + first / 10 + (16 << 20);
    const bool grown = !SANITIZED && last > allowed;
    std::printf("{\"seconds\": %.1f, \"threads\": %u, \"runs\": %llu, \"cancelled\": %llu, "
                "\"models_loaded\": %llu, \"wrong\": %llu, \"resident_mb_first_third\": %.1f, "
                "\"resident_mb_end\": %.1f}\n",
                passed(), threadCount, static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(cancelled.load()),
                static_cast<unsigned long long>(loaded.load()),
                static_cast<unsigned long long>(wrong.load()), double(first) / (1 << 20),
                double(last) / (1 << 20));
    if (grown)
      std::printf("the memory in use has grown\n");
    return wrong || grown || !runs;
  }

private:
  static om::Model load(const std::string &path) {
    om::Error error;
    om::Model model = om::Model::loadFile(path, error);
    if (!model)
      throw std::runtime_error(error.message());
    return model;
  }

  void complain(const char *text) {
    std::lock_guard<std::mutex> lock(printing);
    std::printf("%s\n", text);
    ++wrong;
  }

  void work(unsigned index) {
    for (unsigned round = 0; !isEnding; ++round, ++progress[index])
      switch (index % 4) {
      case 0:
        runStatic(sharedStatic, index);
        break;
      case 1:
        runCounting();
        break;
      case 2:
        runHost(index, round);
        break;
      case 3:
        loadAndRun(index, round);
        break;
      }
  }

  void runStatic(const om::Model &model, unsigned index) {
    om::Error error;
    om::Session session(model, error, threads(1));
    om::Buffer x(TestModel::rows * TestModel::columns * sizeof(float)),
        sums(TestModel::rows * sizeof(float)), picks(TestModel::picked * sizeof(float));
    std::vector<float> wantedSums, wantedPicks;
    const void *inputs[] = {x.data()};
    void *outputs[] = {sums.data(), picks.data()};
    for (unsigned i = 0; i < 50 && session; ++i) {
      for (int at = 0; at < TestModel::rows * TestModel::columns; ++at)
        x.data<float>()[at] = static_cast<float>((at * 7 + index * 31 + i) % 64) - 32;
      known.expect(x.data<float>(), wantedSums, wantedPicks);
      if (!session.run(inputs, outputs, error))
        break;
      if (!std::equal(wantedSums.begin(), wantedSums.end(), sums.data<float>()) ||
          !std::equal(wantedPicks.begin(), wantedPicks.end(), picks.data<float>()))
        complain("a static model has given a wrong answer");
    }
    if (error)
      complain(error.message());
  }

  void runCounting() {
    om::Error error;
    om::Session session(sharedCounting, error, threads(3, 0));
    om::Buffer counts(countedTasks * sizeof(uint32_t));
    void *outputs[] = {counts.data()};
    for (uint32_t i = 1; i <= 20 && session; ++i) {
      if (!session.run(nullptr, outputs, error))
        break;
      for (uint64_t task = 0; task < countedTasks; ++task)
        if (counts.data<uint32_t>()[task] != i * countedLaunches)
          return complain("a task has not run once");
    }
    if (error)
      complain(error.message());
  }

  void runHost(unsigned index, unsigned round) {
    om::Error error;
    om_session_options options = threads(1 + index % 3, 0);
    options.max_memory = 4 << 20;
    om::Session session(sharedHost, error, options);
    if (!session)
      return complain(error.message());
    const bool isVictim = round % 2;
    std::atomic<bool> isOver{false};
    std::thread other;
    if (isVictim)
      other = std::thread([&] {
        for (unsigned i = 0; !isOver; ++i) {
          std::this_thread::sleep_for(std::chrono::microseconds(50 * (i % 20)));
          session.cancel();
        }
      });
    for (unsigned i = 0; i < 20; ++i) {
      const int64_t n = (index + i * 5) % 80;
      const float start = static_cast<float>(i);
      const Values outputs = session.run({number(n), floats({3}, {start, 0, -start})}, error);
      if (isVictim && error.code() == OM_ERROR_CANCELLED) {
        ++cancelled;
        continue;
      }
      const uint64_t rounds = static_cast<uint64_t>(n + 1) / 2;
      if (outputs.size() != 3 || outputs[2].size() != rounds ||
          outputs[1].data<float>()[2] != static_cast<float>(rounds) - start)
        complain(error ? error.message() : "a host program has given a wrong answer");
    }
    isOver = true;
    if (isVictim)
      other.join();
  }

  void loadAndRun(unsigned index, unsigned round) {
    om::Error error;
    const om::Model model = round % 2 ? om::Model::loadFile(staticPath, error)
                                      : om::Model::loadMemory(file.data, file.size, error);
    ++loaded;
    if (!model)
      return complain(error.message());
    runStatic(model, index + round);
  }

  const KernelImage code;
  const TestModel known;
  const std::string staticPath, hostPath;
  const std::vector<char> bytes;
  const AlignedBytes file;
  const om::Model sharedStatic, sharedHost, sharedCounting;
  std::vector<std::atomic<uint64_t>> progress;
  std::atomic<bool> isEnding{false};
  std::atomic<uint64_t> wrong{0}, cancelled{0}, loaded{0};
  std::mutex printing;
};
} // namespace

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
  const int threadCount = argc > 2 ? std::atoi(argv[2]) : 64;
  if (seconds <= 0 || threadCount <= 0) {
    std::printf("usage: runtime-load-test [seconds [threads]]\n");
    return 1;
  }
  return Load().run(seconds, static_cast<unsigned>(threadCount));
}
