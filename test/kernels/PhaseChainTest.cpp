//===-- PhaseChainTest.cpp - threads advance through phases together ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/nn/PhaseChain.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace atc::kernels;

namespace {

/// Runs chains and counts what goes wrong: chunks that do not run once, and phases that begin
/// before all of the one before have ended.
struct Run {
  int64_t steps, perStep, chunks;
  std::vector<PhaseChain::Phase> memory;
  std::vector<std::atomic<int>> runs;
  std::atomic<int> early{0};
  PhaseChain chain;

  Run(int64_t steps, int64_t perStep, int64_t chunks)
      : steps(steps), perStep(perStep), chunks(chunks), memory(size_t(steps * perStep)),
        runs(size_t(steps * perStep * chunks)) {
    chain.use(memory.data());
    chain.restart(steps, perStep, chunks, /*chunkCost=*/1);
  }
  auto work() {
    return [this](int64_t phase, int64_t begin, int64_t end) {
      for (int64_t i = 0; phase > 0 && i < chunks; ++i)
        early += runs[size_t((phase - 1) * chunks + i)].load() != 1;
      for (int64_t i = begin; i < end; ++i)
        ++runs[size_t(phase * chunks + i)];
    };
  }
  void join(int threads) {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
      all.emplace_back([this] { chain.join(work()); });
    for (std::thread &thread : all)
      thread.join();
  }
  void check() {
    CAPTURE(steps, perStep, chunks);
    CHECK(early == 0);
    int64_t wrong = 0;
    for (const std::atomic<int> &count : runs)
      wrong += count != 1;
    CHECK(wrong == 0);
  }
};

} // namespace

TEST_CASE("each chunk runs once and after the phase before") {
  for (int threads : {1, 2, 3, 5})
    for (int64_t chunks : {1, 2, 7, 31, 32}) {
      Run run(50, 2, chunks);
      run.join(threads);
      run.check();
    }
}

TEST_CASE("the first steps may run alone") {
  Run run(20, 1, 8);
  run.chain.runFirst(3, run.work());
  run.join(2);
  run.check();
}

TEST_CASE("a thread that comes when all has ended does nothing") {
  Run run(5, 1, 4);
  run.join(1);
  run.join(2);
  run.check();
}

TEST_CASE("threads leave a chain that an interrupted thread finishes") {
  for (int threads : {2, 3}) {
    Run run(20, 1, 4);
    std::atomic<bool> hasSlept{false};
    auto work = [&](int64_t phase, int64_t begin, int64_t end) {
      if (phase == 3 && !hasSlept.exchange(true))
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      run.work()(phase, begin, end);
    };
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
      all.emplace_back([&] { run.chain.join(work); });
    for (std::thread &thread : all)
      thread.join();
    run.check();
  }
}

TEST_CASE("what threads have left behind the first steps is finished") {
  Run run(20, 1, 4);
  std::atomic<bool> isInside{false};
  std::thread first([&] {
    run.chain.runFirst(1, [&](int64_t phase, int64_t begin, int64_t end) {
      isInside = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      run.work()(phase, begin, end);
    });
  });
  while (!isInside)
    std::this_thread::yield();
  run.chain.join(run.work());
  first.join();
  run.chain.finish(run.work());
  run.check();
}
