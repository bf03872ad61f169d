//===-- PoolModelTest.cpp - the pool's protocol in every order ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ChunkQueue, with the loops that Pool.cpp has around it, on the explorer's atomics
// and futexes: no order of operations loses a wakeup, runs a chunk twice, lets a
// launch end early or keeps a worker from ending.

#include "runtime-lite/src/ChunkQueue.h"
#include "test/runtime-lite/Explorer.h"

#include <catch2/catch.hpp>

namespace {
struct Setting {
  unsigned workers;
  std::vector<uint32_t> launches; ///< how many chunks each has
  unsigned earlyWakeups = 0;
  /// The caller's first chunk ends only after all others: then workers must come.
  bool callerNeedsWorkers = false;
};

/// Uses a queue as Pool does, and checks its invariants.
template <typename System> class Program {
public:
  explicit Program(const Setting &setting)
      : setting(setting), ran(setting.launches.size() * maxChunks) {}

  void operator()(Explorer &explorer) {
    explorer.addState(&queue, sizeof(queue));
    explorer.addState(ran.data(), ran.size());
    explorer.addState(&published, sizeof(published));
    explorer.addThread(0, [this] { caller(); });
    for (unsigned i = 0; i < setting.workers; ++i)
      explorer.addThread(1, [this] { worker(); });
  }

private:
  static constexpr uint32_t maxChunks = 8;

  void caller() {
    Explorer &explorer = *Explorer::current;
    for (uint32_t launch = 0; launch < setting.launches.size(); ++launch) {
      const uint32_t chunks = setting.launches[launch];
      explorer.landmark(launch);
      published = launch + 1;
      queue.publish(launch, chunks);
      takeChunks(/*isCaller=*/true, launch);
      explorer.landmark(launch + 1000);
      queue.waitUntilFinished(chunks, 0);
      published = 0;
      for (uint32_t chunk = 0; chunk < chunks; ++chunk)
        if (ran[launch * maxChunks + chunk] != 2)
          explorer.fail("a launch has ended before its chunks");
    }
    queue.stop();
  }

  void worker() {
    uint64_t seen = 0;
    Explorer::current->landmark(seen);
    while (queue.waitForWork(seen, 0)) {
      takeChunks(/*isCaller=*/false, seen);
      Explorer::current->landmark(seen);
    }
  }

  /// `known` is all that the thread knows.
  void takeChunks(bool isCaller, uint64_t known) {
    Explorer &explorer = *Explorer::current;
    bool isFirst = isCaller && setting.callerNeedsWorkers;
    explorer.landmark(known + (uint64_t(2) << 60));
    const auto end = isCaller ? atc::rt::QueueEnd::Front : atc::rt::QueueEnd::Back;
    for (atc::rt::TakenChunk taken; queue.take(taken, end); isFirst = false) {
      check(taken);
      const uint32_t chunks = setting.launches[taken.launch], chunk = chunks - taken.left;
      explorer.landmark(known + (uint64_t(4 + isFirst) << 60));
      explorer.observe(taken.launch * maxChunks + chunk);
      uint8_t *others = &ran[taken.launch * maxChunks];
      ++others[chunk];
      if (isFirst)
        explorer.waitFor(othersAreDone(taken.launch, chunk));
      else
        explorer.step();
      check(taken);
      if (++others[chunk] != 2)
        explorer.fail("a chunk has run twice");
      queue.finish(chunks);
      explorer.landmark(known + (uint64_t(3) << 60));
    }
  }

  /// Lives as long as the program, for a thread that is put back into it.
  const std::function<bool()> &othersAreDone(uint32_t launch, uint32_t chunk) {
    std::function<bool()> &condition = conditions[launch * maxChunks + chunk];
    condition = [=, this] {
      bool done = true;
      for (uint32_t i = 0; i < setting.launches[launch]; ++i)
        done &= i == chunk || ran[launch * maxChunks + i] == 2;
      return done;
    };
    return condition;
  }

  void check(const atc::rt::TakenChunk &taken) {
    if (taken.launch + 1 != published || taken.left == 0 ||
        taken.left > setting.launches[taken.launch])
      Explorer::current->fail("a chunk is not one of the launch that runs");
  }

  const Setting setting;
  atc::rt::ChunkQueue<System> queue;
  std::vector<uint8_t> ran; ///< 1: has begun, 2: has ended
  std::function<bool()> conditions[32 * maxChunks];
  uint32_t published = 0; ///< the launch that may run, plus 1
};

template <typename System = ModelSystem> Explorer::Outcome explore(const Setting &setting) {
  Program<System> program(setting);
  return Explorer::explore(std::ref(program), setting.earlyWakeups);
}

void mustHold(const Setting &setting) {
  const Explorer::Outcome outcome = explore(setting);
  WARN("workers: " << setting.workers << ", launches: " << setting.launches.size()
                   << ", states: " << outcome.states);
  INFO("order of threads: " << outcome.order);
  CHECK(outcome.error == "");
  CHECK(outcome.states > 100);
}

/// Systems that are wrong: what the explorer must find.
struct SleepsWithoutLooking : ModelSystem {
  template <typename T> static void wait(Atomic<T> &value, uint32_t) {
    Explorer::current->step();
    Explorer::current->futexSleep(&value);
  }
};
struct ForgetsTheCaller : ModelSystem {
  using ModelSystem::wake;
  static void wake(Atomic<uint32_t> &, uint32_t) { Explorer::current->step(); }
};
struct ForgetsTheWorkers : ModelSystem {
  using ModelSystem::wake;
  static void wake(Atomic<uint64_t> &word, uint32_t threads) {
    if (threads == UINT32_MAX)
      ModelSystem::wake(word, threads);
  }
};
/// An addition that is two operations.
struct AddsInTwoSteps : ModelSystem {
  template <typename T> struct Atomic : ModelSystem::Atomic<T> {
    using ModelSystem::Atomic<T>::Atomic;
    template <typename Order> T fetch_add(T more, Order order) {
      const T old = this->load(order);
      this->store(static_cast<T>(old + more), order);
      return old;
    }
  };
};
} // namespace

TEST_CASE("one worker, launches one after the other") {
  mustHold({1, {2, 2, 3}, 1});
  mustHold({1, {2, 3}, 1, true});
}

TEST_CASE("two workers") {
  mustHold({2, {2}, 2});
  mustHold({2, {2, 2}});
  mustHold({2, {3}, 0, true});
}

// A minute: runtime-pool-model-test "[long]"
TEST_CASE("more of everything", "[.][long]") {
  mustHold({1, {2, 3, 2, 4, 2}, 3, true});
  mustHold({2, {3, 2}, 0, true});
  mustHold({2, {2, 2}, 1});
  mustHold({3, {2}});
  mustHold({3, {3}});
  mustHold({3, {3}, 0, true});
}

TEST_CASE("the explorer finds what is wrong") {
  CHECK(explore<SleepsWithoutLooking>({1, {2, 2}}).error == "no thread can go on");
  CHECK(explore<ForgetsTheCaller>({1, {2}}).error == "no thread can go on");
  CHECK(explore<ForgetsTheWorkers>({1, {2}, 0, true}).error == "no thread can go on");
  CHECK(explore<AddsInTwoSteps>({1, {2}}).error != "");
}
