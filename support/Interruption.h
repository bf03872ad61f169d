//===-- Interruption.h - what happens when a signal ends a tool -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_INTERRUPTION_H
#define OPENATC_SUPPORT_INTERRUPTION_H

#include <csignal>
#include <functional>
#include <list>

namespace atc {

/// Makes SIGINT, SIGTERM and SIGHUP end the program in order: all CleanupOnSignal callbacks run,
/// one line with the code E19998 goes to the standard error, and the program ends by the signal, so
/// that a shell sees 130, 143 or 129. A signal that the program was started to ignore (nohup) stays
/// ignored. SIGXFSZ is ignored, so that a file that grows beyond its limit is an error of the
/// write. SIGBUS, by which the system reports that a mapped file has become shorter, is one line as
/// well (E13003), and so is an exception that nobody catches: there was no memory for something
/// small (E19001), or the tool itself has failed (E19999).
///
/// To be called once, first in main: threads inherit the signal mask that it sets. Signals end the
/// program at once, without a line, where no thread can be started and while the system still loads
/// its libraries, when it has opened no file. `tool` is a literal.
void endInOrder(const char *tool);

/// Returns the signal mask for a child process: endInOrder blocks signals in every thread, and a
/// child must not inherit that.
sigset_t maskForPrograms();

/// Registers a callback that runs when a signal ends the program while the object lives, such as
/// one that removes a temporary file. Without endInOrder it does nothing.
class CleanupOnSignal {
public:
  /// Registers `clean`, which runs in another thread and must neither throw nor create a
  /// CleanupOnSignal.
  explicit CleanupOnSignal(std::function<void()> clean);
  ~CleanupOnSignal();
  CleanupOnSignal(const CleanupOnSignal &) = delete;
  CleanupOnSignal &operator=(const CleanupOnSignal &) = delete;

private:
  std::list<std::function<void()>>::iterator place;
};

/// Delays the end by a signal until it is destroyed: for steps that belong together. It must not be
/// held while a CleanupOnSignal is created or destroyed.
class SignalsPutOff {
public:
  SignalsPutOff();
  ~SignalsPutOff();
  SignalsPutOff(const SignalsPutOff &) = delete;
  SignalsPutOff &operator=(const SignalsPutOff &) = delete;
};

} // namespace atc

#endif
