//===-- Explorer.h - runs threads in every order of their operations ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small model checker. The code under test is a template over ModelSystem, whose
// atomics and futexes hand control to the explorer before each operation. Where
// several threads can go on, the explorer lets each of them go first, one after the
// other, until it has been in every state that can be reached. Threads are stacks
// in one thread of the system: a state is put back by copying them.
//
// A thread's state is what it has read since its last landmark: its code is
// deterministic. So a state is these histories and the shared bytes, and an order
// of operations that leads to a known state is not followed further.
//
// Operations take effect one after the other, as sequentially consistent ones do.
// That weaker memory orders suffice where they are used is for ThreadSanitizer.

#ifndef OPENATC_TEST_RUNTIME_EXPLORER_H
#define OPENATC_TEST_RUNTIME_EXPLORER_H

#include <csetjmp>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

class Explorer {
public:
  struct Outcome {
    std::string error; ///< the first violation; "" where all orders are right
    std::string order; ///< the numbers of the threads that led to it
    uint64_t states = 0;
  };

  /// `program` sets up shared state and adds the threads. At most `earlyWakeups`
  /// sleeps end without a wakeup.
  static Outcome explore(const std::function<void(Explorer &)> &program, unsigned earlyWakeups);
  /// The explorer that is running.
  static Explorer *current;

  // For `program`.
  /// Threads of the same `kind` do the same: which of them is in a state is no
  /// difference.
  void addThread(unsigned kind, std::function<void()> body);
  /// Bytes that threads share. They stay where they are.
  void addState(void *bytes, size_t size) { shared.push_back({static_cast<char *>(bytes), size}); }

  // For threads.
  /// Before each operation on what is shared: others may go first.
  void step();
  /// The result of an operation.
  void observe(uint64_t value) { history() = mixed(history(), value); }
  /// All that the thread knows here is `value`, which says where it is, too: what it
  /// has read before is forgotten.
  void landmark(uint64_t value) { history() = self().landmark = mixed(1, value); }
  /// The thread knows what it knew at its last landmark, and is at `position`.
  void returnToLandmark(const void *position) {
    history() = mixed(self().landmark, reinterpret_cast<uintptr_t>(position));
  }
  /// Goes on when the condition holds.
  void waitFor(const std::function<bool()> &condition);
  void fail(const std::string &text) {
    if (outcome.error.empty())
      outcome.error = text;
  }
  void futexSleep(const void *address);
  /// Wakes `count` of those that sleep, in any order.
  void futexWake(const void *address, uint32_t count);

private:
  struct Thread {
    std::function<void()> body;
    std::vector<char> stack;
    unsigned kind = 0;
    /// The state that changes while the thread runs.
    struct State {
      const std::function<bool()> *condition = nullptr; ///< null: it can go on
      const void *sleepsOn = nullptr, *wakes = nullptr;
      uint32_t wakesLeft = 0;
      bool started = false, done = false;
      uint64_t history = 0, landmark = 0;
      char *stackPointer = nullptr;
      jmp_buf registers;
    } state;
  };
  struct Bytes {
    char *data;
    size_t size;
  };
  /// A state in which several ways lead on.
  struct Branch {
    std::vector<char> bytes; ///< shared, then of each thread its state and its stack
    size_t orderLength;
    unsigned earlyWakeupsLeft;
    uint32_t next, count;
  };

  static uint64_t mixed(uint64_t hash, uint64_t value);
  static void enterThread();
  Thread::State &self() { return threads[running].state; }
  uint64_t &history() { return self().history; }
  /// Runs until nothing can go on, or a state is known. Adds branches.
  void runOn();
  /// Chooses one of `count` ways to continue; the others are explored later. Returns false in a
  /// state that was visited before.
  bool decide(uint32_t count, uint32_t &chosen);
  bool isNewState();
  void save(Branch &branch) const;
  void restore(const Branch &branch);
  void switchTo(size_t thread);
  void leave();

  std::vector<Thread> threads;
  std::vector<Bytes> shared;
  std::vector<Branch> branches;
  bool isResuming = false; ///< the last branch has been restored: its next way is taken
  size_t running = 0;
  unsigned earlyWakeupsLeft = 0;
  jmp_buf scheduler;
  std::unordered_set<uint64_t> seen;
  std::string order;
  Outcome outcome;
};

/// The atomics and waits that ChunkQueue needs, controlled by the explorer.
struct ModelSystem {
  template <typename T> class Atomic {
  public:
    explicit Atomic(T first) : value(first) {}
    template <typename Order> T load(Order) {
      return change([](T old) { return old; });
    }
    template <typename Order> void store(T next, Order) {
      Explorer::current->step();
      value = next;
    }
    template <typename Order> T fetch_add(T more, Order) {
      return change([&](T old) { return static_cast<T>(old + more); });
    }
    template <typename Order> T fetch_sub(T less, Order) {
      return change([&](T old) { return static_cast<T>(old - less); });
    }
    template <typename Order> T fetch_or(T bits, Order) {
      return change([&](T old) { return static_cast<T>(old | bits); });
    }
    T value;

  private:
    template <typename Change> T change(Change next) {
      Explorer::current->step();
      const T old = value;
      value = next(old);
      Explorer::current->observe(old);
      return old;
    }
  };

  /// The comparison and the beginning of the sleep are one operation, as in the kernel.
  /// ChunkQueue waits in loops, which read anew what they have read before.
  template <typename T> static void wait(Atomic<T> &value, uint32_t expected) {
    Explorer::current->step();
    if (static_cast<uint32_t>(value.value >> (sizeof(T) == 8 ? 32 : 0)) == expected)
      Explorer::current->futexSleep(&value);
    Explorer::current->returnToLandmark(&value);
  }
  template <typename T> static void wake(Atomic<T> &value, uint32_t threads) {
    Explorer::current->step();
    Explorer::current->futexWake(&value, threads);
  }
  template <typename Done> static bool spin(uint64_t, const Done &done) { return done(); }
};

#endif
