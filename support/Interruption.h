//===-- Interruption.h - what happens when a signal ends a tool -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_INTERRUPTION_H
#define OPENATC_SUPPORT_INTERRUPTION_H

#include <csignal>
#include <functional>
#include <list>
#include <mutex>

namespace atc {

/// Makes SIGINT, SIGTERM and SIGHUP end the program in order: what a CleanupOnSignal
/// names is removed, one line with the code E19998 goes to the standard error, and the
/// program ends by the signal, so that a shell sees 130, 143 or 129. A signal that the
/// caller had the program ignore (nohup) stays ignored. SIGXFSZ is ignored, so that a
/// file that grows beyond its limit is an error of the write.
///
/// To be called once, first in main: the threads that come later inherit what it sets.
/// Does nothing where no thread can be made. `tool` is a literal.
void endInOrder(const char *tool);

/// Returns the signal mask for a program that this one starts: endInOrder blocks signals
/// in every thread, which the other program must not inherit.
sigset_t maskForPrograms();

/// Names what is to be done when a signal ends the program while the object lives, such
/// as removing a temporary file. Without endInOrder it does nothing.
class CleanupOnSignal {
public:
  /// `clean` runs in another thread and must not throw or make such objects.
  explicit CleanupOnSignal(std::function<void()> clean);
  ~CleanupOnSignal();
  CleanupOnSignal(const CleanupOnSignal &) = delete;
  CleanupOnSignal &operator=(const CleanupOnSignal &) = delete;

private:
  std::list<std::function<void()>>::iterator place;
};

/// Puts off the end by a signal until it is destroyed: for steps that belong together.
/// It must not be held while a CleanupOnSignal is made or destroyed.
class SignalsPutOff {
public:
  SignalsPutOff();

private:
  std::unique_lock<std::mutex> lock;
};

} // namespace atc

#endif
