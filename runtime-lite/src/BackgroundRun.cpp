//===-- BackgroundRun.cpp - runs of a session on a thread of its own ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/BackgroundRun.h"

#include "runtime-lite/src/Session.h"

#include <cstring>

namespace atc::rt {

om_status noRunStarted(om_error *error) {
  return fail(error, OM_ERROR_ARGUMENT,
              "there is no run to wait for: om_session_start_run starts one.");
}

om_status BackgroundRun::startThread(om_error *error) {
  const int failure = pthread_create(&thread, nullptr, threadMain, this);
  hasThread = failure == 0;
  return hasThread ? OM_OK
                   : fail(error, OM_ERROR_MEMORY, "cannot start the thread of a run: %s.",
                          std::strerror(failure));
}

BackgroundRun::~BackgroundRun() {
  if (!hasThread)
    return;
  pthread_mutex_lock(&mutex);
  while (stage == Stage::Requested)
    pthread_cond_wait(&changed, &mutex);
  stage = Stage::Ending;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, nullptr);
}

void *BackgroundRun::threadMain(void *self) {
  static_cast<BackgroundRun *>(self)->serve();
  return nullptr;
}

void BackgroundRun::serve() {
  pthread_mutex_lock(&mutex);
  while (true) {
    while (stage == Stage::Idle || stage == Stage::Done)
      pthread_cond_wait(&changed, &mutex);
    if (stage == Stage::Ending)
      break;
    const RunRequest current = request;
    pthread_mutex_unlock(&mutex);
    om_error error = {OM_OK, ""};
    const om_status result =
        current.outputValues
            ? session.runValues(current.inputValues, current.outputValues, nullptr, nullptr, &error)
            : session.run(current.inputs, current.outputs, nullptr, nullptr, &error);
    if (current.done)
      current.done(current.user, result, result == OM_OK ? nullptr : &error);
    pthread_mutex_lock(&mutex);
    status = result;
    failure = error;
    stage = Stage::Done;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&mutex);
}

om_status BackgroundRun::start(const RunRequest &wanted, om_error *error) {
  pthread_mutex_lock(&mutex);
  const bool isFree = stage == Stage::Idle;
  if (isFree) {
    request = wanted;
    stage = Stage::Requested;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&mutex);
  return isFree ? OM_OK
                : fail(error, OM_ERROR_ARGUMENT,
                       "the session has a run that was started before: om_session_wait ends it.");
}

bool BackgroundRun::isRunning() {
  pthread_mutex_lock(&mutex);
  const bool running = stage == Stage::Requested;
  pthread_mutex_unlock(&mutex);
  return running;
}

om_status BackgroundRun::wait(om_error *error) {
  pthread_mutex_lock(&mutex);
  if (stage == Stage::Idle) {
    pthread_mutex_unlock(&mutex);
    return noRunStarted(error);
  }
  while (stage == Stage::Requested)
    pthread_cond_wait(&changed, &mutex);
  stage = Stage::Idle;
  const om_status result = status;
  if (error && result != OM_OK)
    *error = failure;
  pthread_mutex_unlock(&mutex);
  return result;
}

} // namespace atc::rt
