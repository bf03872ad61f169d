//===-- BackgroundRun.h - runs of a session on a thread of its own --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_BACKGROUNDRUN_H
#define OPENATC_RUNTIME_BACKGROUNDRUN_H

#include "runtime-lite/src/Support.h"

#include <pthread.h>

namespace atc::rt {

/// A run that was asked for: on tensors, or on values where `outputValues` is set. The pointers are
/// the caller's.
struct RunRequest {
  const void *const *inputs;
  void *const *outputs;
  const om_value *const *inputValues;
  om_value **outputValues;
  om_done_callback done; ///< may be null
  void *user;
};

/// Returns OM_ERROR_ARGUMENT with its sentence, for a wait without a run.
om_status noRunStarted(om_error *error);

/// The thread on which a session runs what om_session_start_run asks for, one run at a time.
class BackgroundRun {
public:
  explicit BackgroundRun(om_session &session) : session(session) {}
  BackgroundRun(const BackgroundRun &) = delete;
  BackgroundRun &operator=(const BackgroundRun &) = delete;
  /// Waits for the run in progress and ends the thread.
  ~BackgroundRun();

  /// Starts the thread; to be called once. OM_ERROR_MEMORY where the system refuses it.
  om_status startThread(om_error *error);
  /// Hands a run to the thread. OM_ERROR_ARGUMENT where the one before was not waited for.
  om_status start(const RunRequest &request, om_error *error);
  bool isRunning();
  /// Waits for the run and returns its status and error; OM_ERROR_ARGUMENT where there is none.
  om_status wait(om_error *error);

private:
  enum class Stage { Idle, Requested, Done, Ending };
  static void *threadMain(void *self);
  void serve();

  om_session &session;
  pthread_t thread = {};
  bool hasThread = false;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  // Guarded by the mutex.
  Stage stage = Stage::Idle;
  RunRequest request = {};
  om_status status = OM_OK;
  om_error failure = {OM_OK, ""};
};

} // namespace atc::rt

#endif
