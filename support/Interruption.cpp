//===-- Interruption.cpp - ends a tool after a signal ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A signal handler may call almost no functions. Here the signals are blocked in all threads and
// one thread waits for them: it may take locks, remove folders and print.

#include "support/Interruption.h"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <pthread.h>
#include <system_error>
#include <unistd.h>

namespace atc {

namespace {

struct State {
  std::mutex lock;
  std::list<std::function<void()>> cleanups;
  sigset_t waited, before; ///< signals that end the program; the mask it was started with
  const char *tool = "";
};

/// Never destroyed: the thread that waits may outlive everything else.
State &state() {
  static State &made = *new State;
  return made;
}

const char *nameOf(int signal) {
  return signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
}

/// As destructors would: the last one first. The lock is held, and stays so until the process ends:
/// no file is completed, and no cleanup is destroyed meanwhile.
void cleanUp() {
  for (auto clean = state().cleanups.rbegin(); clean != state().cleanups.rend(); ++clean)
    (*clean)();
}

[[noreturn]] void endBy(int signal) {
  state().lock.lock();
  cleanUp();
  char line[160];
  const int length = std::snprintf(line, sizeof(line),
                                   "E19998: %s was ended by %s: every file is as it was, or is "
                                   "complete.\n",
                                   state().tool, nameOf(signal));
  if (write(STDERR_FILENO, line, static_cast<size_t>(length)) < 0) {
    // There is no way to report the error here.
  }
  std::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(signal);
  _exit(128 + signal);
}

/// Ends a tool whose exception nobody catches. There may be no memory left: texts are composed in
/// place, and nothing is said twice.
[[noreturn]] void endByException() {
  std::set_terminate([] { _exit(1); });
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
  if (write(STDERR_FILENO, line, static_cast<size_t>(length)) < 0) {
    // There is no way to report the error here.
  }
  if (state().lock.try_lock())
    cleanUp();
  _exit(1);
}

/// The bytes of a mapped file are not there: it has become shorter, or its disk fails. A signal
/// that others send is what it always is.
void endByMissingBytes(int signal, siginfo_t *info, void *) {
  if (info->si_code <= 0) {
    std::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  char line[240];
  const int length = std::snprintf(line, sizeof(line),
                                   "E13003: %s cannot read a file to its end: it became shorter "
                                   "while it was read, or its disk fails.\n",
                                   state().tool);
  if (write(STDERR_FILENO, line, static_cast<size_t>(length)) < 0) {
    // There is no way to report the error here.
  }
  if (state().lock.try_lock())
    cleanUp();
  _exit(1);
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
  std::lock_guard<std::mutex> guard(state().lock);
  place = state().cleanups.insert(state().cleanups.end(), std::move(clean));
}

CleanupOnSignal::~CleanupOnSignal() {
  std::lock_guard<std::mutex> guard(state().lock);
  state().cleanups.erase(place);
}

SignalsPutOff::SignalsPutOff() : lock(state().lock) {}

} // namespace atc
