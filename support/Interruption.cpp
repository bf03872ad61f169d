//===-- Interruption.cpp - ends a tool after a signal ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A signal handler may call almost no functions. Here the signals are blocked in all threads and
// one thread waits for them: it may take locks, remove folders and print.

#include "support/Interruption.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <pthread.h>
#include <system_error>
#include <unistd.h>

namespace atc {

namespace {

struct State {
  std::mutex lock;
  std::list<std::function<void()>> cleanups;
  std::atomic<pthread_t> owner = pthread_t(); ///< the thread that holds the lock
  std::atomic_flag isEnding;                  ///< a thread ends the program
  std::atomic_flag hasSaid;                   ///< its line is printed
  sigset_t waited, before; ///< signals that end the program; the mask it was started with
  const char *tool = "";
};

/// Never destroyed: the thread that waits may outlive everything else.
State &state() {
  static State &made = *new State;
  return made;
}

void lock() {
  state().lock.lock();
  state().owner = pthread_self();
}

void unlock() {
  state().owner = pthread_t();
  state().lock.unlock();
}

struct Guard {
  Guard() { lock(); }
  ~Guard() { unlock(); }
  Guard(const Guard &) = delete;
  Guard &operator=(const Guard &) = delete;
};

bool isLockedHere() { return state().owner == pthread_self(); }

const char *nameOf(int signal) {
  return signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
}

/// As destructors would: the last one first. The lock is held, and stays so until the process ends:
/// no file is completed, and no cleanup is destroyed meanwhile.
void cleanUp() {
  for (auto clean = state().cleanups.rbegin(); clean != state().cleanups.rend(); ++clean)
    (*clean)();
}

/// Prints the line of the program's end unless there is one already.
void say(const char *line, int length, size_t bytes) {
  if (length <= 0 || state().hasSaid.test_and_set())
    return;
  if (write(STDERR_FILENO, line, std::min(static_cast<size_t>(length), bytes - 1)) < 0) {
    // There is no way to report the error here.
  }
}

[[noreturn]] void waitForEnd() {
  for (;;)
    pause();
}

/// Ends the program with a line, for a reason found in any thread, also in a signal handler. Where
/// another thread ends the program already, this one must not cut its cleanups short; it must not
/// wait either with the lock that the other one waits for.
[[noreturn]] void endWith(const char *line, int length, size_t bytes) {
  const bool isFirst = !state().isEnding.test_and_set();
  if (!isFirst && !isLockedHere())
    waitForEnd();
  say(line, length, bytes);
  if (isFirst && !isLockedHere()) {
    lock();
    cleanUp();
  }
  _exit(1);
}

[[noreturn]] void endBy(int signal) {
  if (state().isEnding.test_and_set())
    waitForEnd();
  lock();
  cleanUp();
  char line[160];
  const int length = std::snprintf(line, sizeof(line),
                                   "E19998: %s was ended by %s: every file is as it was, or is "
                                   "complete.\n",
                                   state().tool, nameOf(signal));
  say(line, length, sizeof(line));
  std::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(signal);
  _exit(128 + signal);
}

/// Ends a tool whose exception nobody catches. There may be no memory left: texts are composed in
/// place.
[[noreturn]] void endByException() {
  bool isAboutMemory = false;
  char reason[160] = "for no known reason";
  try {
    if (std::exception_ptr thrown = std::current_exception())
      std::rethrow_exception(thrown);
  } catch (const std::bad_alloc &) {
    isAboutMemory = true;
  } catch (const std::system_error &error) {
    // A thread whose stack cannot be allocated reports EAGAIN.
    isAboutMemory = error.code().value() == ENOMEM || error.code().value() == EAGAIN;
    std::snprintf(reason, sizeof(reason), "%s", error.what());
  } catch (const std::exception &error) {
    std::snprintf(reason, sizeof(reason), "%s", error.what());
  } catch (...) { // NOLINT(bugprone-empty-catch): the text says what is known
  }
  char line[320];
  const int length =
      isAboutMemory
          ? std::snprintf(line, sizeof(line),
                          "E19001: not enough memory: %s needs more than the system allows.\n",
                          state().tool)
          : std::snprintf(line, sizeof(line), "E19999: %s gave up: %s; please report this.\n",
                          state().tool, reason);
  endWith(line, length, sizeof(line));
}

/// Writes the path of the file that is mapped at `address`, or nothing where the system does not
/// tell. A signal handler may call all that this calls.
void findMappedFile(uintptr_t address, char *path, size_t bytes) {
  enum { Begin, End, Between, Path, Rest } part = Begin;
  uintptr_t begin = 0, end = 0;
  size_t length = 0;
  bool isFound = false;
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  char block[512];
  ssize_t got = 0;
  // A line is: begin-end rights offset device inode path; the path is the first with a slash.
  while (maps >= 0 && !isFound && (got = read(maps, block, sizeof(block))) > 0)
    for (ssize_t i = 0; i < got && !isFound; ++i) {
      const char c = block[i];
      const auto digit = static_cast<uintptr_t>(c <= '9' ? c - '0' : c - 'a' + 10);
      if (c == '\n') {
        isFound = length != 0;
        part = Begin;
        begin = end = 0;
      } else if (part == Begin) {
        if (c == '-')
          part = End;
        else
          begin = begin * 16 + digit;
      } else if (part == End) {
        if (c == ' ')
          part = begin <= address && address < end ? Between : Rest;
        else
          end = end * 16 + digit;
      } else if (part == Path || (part == Between && c == '/')) {
        part = Path;
        if (length + 1 < bytes)
          path[length++] = static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c;
      }
    }
  path[length] = 0;
  if (maps >= 0)
    close(maps);
}

/// The bytes of a mapped file are not there: it has become shorter, or its disk fails. What else
/// raises this signal is a crash, or another program that sends it, and ends as it always does.
void endByMissingBytes(int signal, siginfo_t *info, void *) {
  if (info->si_code != BUS_ADRERR) {
    std::signal(signal, SIG_DFL);
    if (info->si_code <= 0) // nothing raises it again, as the instruction at fault does
      raise(signal);
    return;
  }
  char path[1024], line[1280];
  findMappedFile(reinterpret_cast<uintptr_t>(info->si_addr), path, sizeof(path));
  const int length = std::snprintf(
      line, sizeof(line),
      "E13003: %s cannot read %s%s%s to its end: it became shorter while it was read, or its disk "
      "fails.\n",
      state().tool, *path ? "'" : "a file", path, *path ? "'" : "");
  endWith(line, length, sizeof(line));
}

void *waitForSignals(void *) {
  int signal = 0;
  while (sigwait(&state().waited, &signal) != 0) {
  }
  endBy(signal);
}

} // namespace

void endInOrder(const char *tool) {
  State &all = state();
  all.tool = tool;
  std::set_terminate(endByException);
  pthread_sigmask(SIG_SETMASK, nullptr, &all.before);
  std::signal(SIGXFSZ, SIG_IGN);
  struct sigaction missing = {};
  missing.sa_sigaction = endByMissingBytes;
  missing.sa_flags = SA_SIGINFO;
  sigemptyset(&missing.sa_mask);
  sigaction(SIGBUS, &missing, nullptr);
  sigemptyset(&all.waited);
  bool any = false;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now;
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) {
      sigaddset(&all.waited, signal);
      any = true;
    }
  }
  if (!any)
    return;
  pthread_sigmask(SIG_BLOCK, &all.waited, nullptr);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, waitForSignals, nullptr) == 0)
    pthread_detach(thread);
  else
    pthread_sigmask(SIG_UNBLOCK, &all.waited, nullptr);
}

sigset_t maskForPrograms() {
  if (*state().tool)
    return state().before;
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return now;
}

CleanupOnSignal::CleanupOnSignal(std::function<void()> clean) {
  const Guard guard;
  place = state().cleanups.insert(state().cleanups.end(), std::move(clean));
}

CleanupOnSignal::~CleanupOnSignal() {
  const Guard guard;
  state().cleanups.erase(place);
}

SignalsPutOff::SignalsPutOff() { lock(); }

SignalsPutOff::~SignalsPutOff() { unlock(); }

} // namespace atc
