//===-- Limits.h - what a session may take, and when a run must end -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_LIMITS_H
#define OPENATC_RUNTIME_LIMITS_H

#include "openatc/om.h"

#include <atomic>
#include <cstdint>

namespace atc::rt {

/// The ceilings of om_session_options and the request to cancel.
class Limits {
public:
  /// Takes over the limits of `options` and computes those that have a default.
  void set(const om_session_options &options);

  /// Returns the maximum number of bytes that the session may hold.
  uint64_t maxMemory() const { return memory; }
  bool hasDeadline() const { return nanoseconds != UINT64_MAX; }

  /// Starts the clock of a run and its count of iterations.
  void beginRun();
  /// Ends a run and drops a request to cancel it.
  void endRun() { cancelled.store(false, std::memory_order_relaxed); }

  /// Ends the run at its next step. May be called by any thread and in a signal handler.
  void cancel() { cancelled.store(true, std::memory_order_relaxed); }

  /// Returns whether the run must end; once true, it stays so until the run has ended.
  bool isOver() const { return isCancelled() || isLate(); }
  /// Returns OM_OK, or fills the error where the run must end before a step of kind `kind` ("node",
  /// "launch") with the name `name`.
  om_status check(const char *kind, const char *name, om_error *error) const {
    return isOver() ? refuse(kind, name, error) : OM_OK;
  }
  /// Counts an iteration of any loop. Returns false where there are too many.
  bool countIteration() { return ++iterations <= maxIterations; }
  /// Fills the error for the loop around node `name` and returns OM_ERROR_LIMIT.
  om_status refuseIterations(const char *name, om_error *error) const;
  /// Fills the error where `bytes` bytes for `what`, added to the `held` ones, exceed the limit.
  om_status refuseMemory(const char *what, uint64_t bytes, uint64_t held, om_error *error) const;

private:
  bool isCancelled() const { return cancelled.load(std::memory_order_relaxed); }
  bool isLate() const;
  om_status refuse(const char *kind, const char *name, om_error *error) const;

  uint64_t memory = 0, maxIterations = 0, nanoseconds = UINT64_MAX;
  uint64_t iterations = 0;            ///< of this run
  uint64_t begin = 0;                 ///< of this run, where there is a deadline
  std::atomic<uint32_t> cancelled{0}; ///< a word: not every processor has atomic bytes
};
static_assert(std::atomic<uint32_t>::is_always_lock_free, "signal handlers set it");

} // namespace atc::rt

#endif
