//===-- HazardMemoryTest.cpp - what the search for hazards takes ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include "npu/isa/ProgramBuilder.h"
#include "npu/simulator/Fifo.h"
#include "npu/simulator/Hazards.h"

#include <cstdlib>
#include <deque>
#include <malloc.h>
#include <new>
#include <random>

namespace {
size_t held = 0, peak = 0;

void *take(size_t bytes) {
  void *memory = std::malloc(bytes ? bytes : 1);
  if (!memory)
    throw std::bad_alloc();
  held += malloc_usable_size(memory);
  peak = std::max(peak, held);
  return memory;
}

void give(void *memory) {
  held -= memory ? malloc_usable_size(memory) : 0;
  std::free(memory);
}
} // namespace

void *operator new(size_t bytes) { return take(bytes); }
void *operator new[](size_t bytes) { return take(bytes); }
void operator delete(void *memory) noexcept { give(memory); }
void operator delete[](void *memory) noexcept { give(memory); }
void operator delete(void *memory, size_t) noexcept { give(memory); }
void operator delete[](void *memory, size_t) noexcept { give(memory); }

using namespace atc::npu;

TEST_CASE("a core that uses few flags takes little memory") {
  ProgramBuilder b({1024, 1, 1});
  unsigned x = b.argument(1 << 20), y = b.argument(1 << 20);
  b.move(at(Memory::UB, 0), gm(x, grid(0) * 512), 512);
  b.setFlag(Queue::MTE2, Queue::MTE3, 0);
  b.waitFlag(Queue::MTE2, Queue::MTE3, 0);
  b.move(gm(y, grid(0) * 512), at(Memory::UB, 0), 512);
  Program program = b.take();
  Launch launch{&program, "k", {}, {}};
  const size_t before = peak = held;
  CHECK(HazardChecker(*findSoc("Ascend310P3")).check(launch).empty());
  // 240 MB with a std::deque for each of a core's flags.
  CHECK(peak - before < size_t(48) << 20);
}

TEST_CASE("an empty queue takes nothing, and a used one is first in, first out") {
  const size_t before = held;
  Fifo<std::vector<int>> queue;
  CHECK(held == before);
  std::deque<int> expected;
  std::mt19937 random(3);
  for (int i = 0; i < 10000; ++i) {
    // Long stretches of either, so that it grows, moves and runs empty.
    if (expected.empty() || random() % 100 < (i / 500 % 2 ? 30u : 70u)) {
      queue.push_back({i});
      expected.push_back(i);
    } else {
      REQUIRE(queue.front().at(0) == expected.front());
      queue.pop_front();
      expected.pop_front();
    }
    REQUIRE(queue.empty() == expected.empty());
  }
  std::vector<int> left;
  for (const std::vector<int> &item : queue)
    left.push_back(item.at(0));
  CHECK(left == std::vector<int>(expected.begin(), expected.end()));
}
