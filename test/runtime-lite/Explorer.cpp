//===-- Explorer.cpp - runs threads in every order of their operations ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/runtime-lite/Explorer.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <ucontext.h>

Explorer *Explorer::current = nullptr;

/// SplitMix64 of both.
uint64_t Explorer::mixed(uint64_t hash, uint64_t value) {
  uint64_t bits = (hash ^ value * 0xD6E8FEB86659FD93u) + 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return bits ^ (bits >> 31);
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void Explorer::addThread(unsigned kind, std::function<void()> body) {
  threads.emplace_back();
  threads.back().body = std::move(body);
  threads.back().kind = kind;
  threads.back().stack.resize(64 * 1024);
}

void Explorer::enterThread() {
  Explorer &explorer = *current;
  explorer.threads[explorer.running].body();
  explorer.self().done = true;
  _longjmp(explorer.scheduler, 1);
}

/// Lets a thread go on up to its next operation.
void Explorer::switchTo(size_t index) {
  running = index;
  Thread &thread = threads[index];
  if (_setjmp(scheduler))
    return;
  if (thread.state.started)
    _longjmp(thread.state.registers, 1);
  thread.state.started = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = thread.stack.data();
  context.uc_stack.ss_size = thread.stack.size();
  context.uc_link = nullptr;
  makecontext(&context, enterThread, 0);
  setcontext(&context);
}

/// Gives control back to the scheduler.
__attribute__((noinline)) void Explorer::leave() {
  // The frame of this function and what setjmp may keep are below.
  constexpr size_t below = 1024;
  self().stackPointer = static_cast<char *>(__builtin_frame_address(0)) - below;
  if (!_setjmp(self().registers))
    _longjmp(scheduler, 1);
}

// A store reads nothing, but the thread is behind it then.
void Explorer::step() {
  leave();
  observe(0);
}

void Explorer::waitFor(const std::function<bool()> &condition) {
  self().condition = &condition;
  step();
  self().condition = nullptr;
}

void Explorer::futexSleep(const void *address) {
  self().sleepsOn = address;
  step();
}

void Explorer::futexWake(const void *address, uint32_t count) {
  self().wakes = address;
  self().wakesLeft = count;
  step();
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

bool Explorer::isNewState() {
  uint64_t hash = earlyWakeupsLeft;
  for (const Bytes &bytes : shared)
    for (size_t i = 0; i < bytes.size; i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data + i, std::min<size_t>(8, bytes.size - i));
      hash = mixed(hash, word);
    }
  std::vector<std::pair<unsigned, uint64_t>> hashes;
  for (const Thread &thread : threads) {
    const Thread::State &state = thread.state;
    uint64_t own = mixed(state.history, reinterpret_cast<uintptr_t>(state.sleepsOn));
    own = mixed(own, reinterpret_cast<uintptr_t>(state.wakes) + state.wakesLeft);
    hashes.push_back({thread.kind, mixed(own, state.done + 2 * state.started +
                                                  4 * (state.condition != nullptr))});
  }
  std::sort(hashes.begin(), hashes.end());
  for (const auto &[kind, own] : hashes)
    hash = mixed(hash, own + kind);
  return seen.insert(hash).second;
}

void Explorer::save(Branch &branch) const {
  static_assert(std::is_trivially_copyable_v<Thread::State>);
  auto add = [&](const void *data, size_t size) {
    const char *bytes = static_cast<const char *>(data);
    branch.bytes.insert(branch.bytes.end(), bytes, bytes + size);
  };
  for (const Bytes &bytes : shared)
    add(bytes.data, bytes.size);
  for (const Thread &thread : threads) {
    add(&thread.state, sizeof(thread.state));
    if (thread.state.stackPointer)
      add(thread.state.stackPointer,
          thread.stack.data() + thread.stack.size() - thread.state.stackPointer);
  }
  branch.orderLength = order.size();
  branch.earlyWakeupsLeft = earlyWakeupsLeft;
}

void Explorer::restore(const Branch &branch) {
  const char *from = branch.bytes.data();
  auto take = [&](void *data, size_t size) {
    std::memcpy(data, from, size);
    from += size;
  };
  for (const Bytes &bytes : shared)
    take(bytes.data, bytes.size);
  for (Thread &thread : threads) {
    take(&thread.state, sizeof(thread.state));
    if (thread.state.stackPointer)
      take(thread.state.stackPointer,
           thread.stack.data() + thread.stack.size() - thread.state.stackPointer);
  }
  order.resize(branch.orderLength);
  earlyWakeupsLeft = branch.earlyWakeupsLeft;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

bool Explorer::decide(uint32_t count, uint32_t &chosen) {
  chosen = 0;
  if (isResuming) {
    isResuming = false;
    chosen = branches.back().next++;
    if (branches.back().next == branches.back().count)
      branches.pop_back();
    return true;
  }
  if (!isNewState())
    return false;
  if (count > 1) {
    branches.emplace_back();
    save(branches.back());
    branches.back().next = 1;
    branches.back().count = count;
  }
  return true;
}

void Explorer::runOn() {
  while (outcome.error.empty()) {
    uint32_t chosen;
    // A thread that wakes others does so before anything else happens.
    Thread::State *waker = nullptr;
    for (Thread &thread : threads)
      waker = thread.state.wakesLeft ? &thread.state : waker;
    if (waker) {
      std::vector<Thread::State *> asleep;
      for (Thread &thread : threads)
        if (thread.state.sleepsOn == waker->wakes)
          asleep.push_back(&thread.state);
      if (asleep.empty()) {
        waker->wakesLeft = 0;
        continue;
      }
      if (!decide(static_cast<uint32_t>(asleep.size()), chosen))
        return;
      asleep[chosen]->sleepsOn = nullptr;
      --waker->wakesLeft;
      continue;
    }
    std::vector<size_t> ready, sleeping;
    bool allDone = true;
    for (size_t i = 0; i < threads.size(); ++i) {
      const Thread::State &state = threads[i].state;
      allDone &= state.done;
      if (state.done || (state.condition && !(*state.condition)()))
        continue;
      (state.sleepsOn ? sleeping : ready).push_back(i);
    }
    if (allDone)
      return;
    if (ready.empty())
      return fail("no thread can go on");
    if (earlyWakeupsLeft)
      ready.insert(ready.end(), sleeping.begin(), sleeping.end());
    if (!decide(static_cast<uint32_t>(ready.size()), chosen))
      return;
    Thread::State &state = threads[ready[chosen]].state;
    earlyWakeupsLeft -= state.sleepsOn != nullptr;
    state.sleepsOn = nullptr;
    order += static_cast<char>('0' + ready[chosen]);
    switchTo(ready[chosen]);
  }
}

Explorer::Outcome Explorer::explore(const std::function<void(Explorer &)> &program,
                                    unsigned earlyWakeups) {
  Explorer explorer;
  explorer.earlyWakeupsLeft = earlyWakeups;
  current = &explorer;
  program(explorer);
  explorer.runOn();
  while (explorer.outcome.error.empty() && !explorer.branches.empty()) {
    explorer.restore(explorer.branches.back());
    explorer.isResuming = true;
    explorer.runOn();
  }
  current = nullptr;
  explorer.outcome.states = explorer.seen.size();
  if (!explorer.outcome.error.empty())
    explorer.outcome.order = explorer.order;
  return explorer.outcome;
}
