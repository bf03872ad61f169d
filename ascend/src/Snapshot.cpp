//===-- Snapshot.cpp - copies of the device memory of a process ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/memory/Memory.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include <unistd.h>

namespace atc::ascend {
namespace {

enum class State { Running, Locked, BackedUp };

struct Saved {
  std::shared_ptr<Block> block;
  std::vector<char> bytes;
};

struct SnapshotObserver {
  aclrtSnapShotStage stage;
  aclrtSnapShotCallBack callback;
  void *args;
};

struct Snapshot {
  std::mutex mutex; ///< For the state and what was saved.
  State state = State::Running;
  std::vector<Saved> saved;
  std::mutex observersMutex; ///< Callbacks are called without it.
  std::vector<SnapshotObserver> observers;
};

Snapshot &snapshot() {
  static auto &only = *new Snapshot;
  return only;
}

const char *nameOf(State state) {
  return state == State::Running ? "running" : state == State::Locked ? "locked" : "backed up";
}

/// Calls the functions of a stage, once per open device.
aclError callObservers(const char *function, aclrtSnapShotStage stage) {
  std::vector<SnapshotObserver> observers;
  {
    std::lock_guard lock(snapshot().observersMutex);
    observers = snapshot().observers;
  }
  for (const SnapshotObserver &observer : observers)
    if (observer.stage == stage)
      for (int32_t device : openedDevices())
        if (const uint32_t code = observer.callback(device, observer.args))
          return fail(ACL_ERROR_SNAPSHOT_CALLBACK_FAILED, function,
                      "a function of the stage %d returned %u for device %d", int(stage), code,
                      device);
  return ACL_SUCCESS;
}

aclError checkCall(const char *function, int pid, bool hasNoArguments) {
  if (pid != 0 && pid != getpid())
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "pid is %d; only this process (%d) has snapshots here", pid, int(getpid()));
  if (!hasNoArguments)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "reserve is not NULL, or the flags are neither 0 nor 1");
  return ACL_SUCCESS;
}

/// Fails with `code` unless the process is in one of two states.
aclError checkState(const char *function, aclError code, State first, State second) {
  const State state = snapshot().state;
  if (state == first || state == second)
    return ACL_SUCCESS;
  return fail(code, function, "the process is %s; it must be %s", nameOf(state), nameOf(first));
}

aclError isStage(const char *function, aclrtSnapShotStage stage) {
  if (stage <= ACL_RT_SNAPSHOT_UNLOCK_POST)
    return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM, function, "stage is %d; give 0 to 5", int(stage));
}

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

aclError aclrtSnapShotProcessLock(int pid, void *reserve) {
  ACL_TRY(checkCall(__func__, pid, !reserve));
  std::lock_guard lock(snapshot().mutex);
  ACL_TRY(checkState(__func__, ACL_ERROR_SNAPSHOT_LOCK_FAILED, State::Running, State::Running));
  ACL_TRY(callObservers(__func__, ACL_RT_SNAPSHOT_LOCK_PRE));
  for (int32_t device : openedDevices())
    ACL_TRY(synchronizeDevice(__func__, device, -1));
  snapshot().state = State::Locked;
  return ACL_SUCCESS;
}

aclError aclrtSnapShotProcessUnlock(int pid, void *reserve) {
  ACL_TRY(checkCall(__func__, pid, !reserve));
  {
    std::lock_guard lock(snapshot().mutex);
    ACL_TRY(checkState(__func__, ACL_ERROR_SNAPSHOT_UNLOCK_FAILED, State::Locked, State::BackedUp));
    snapshot().state = State::Running;
  }
  return callObservers(__func__, ACL_RT_SNAPSHOT_UNLOCK_POST);
}

aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs *args) {
  ACL_TRY(checkCall(__func__, pid, !args || args->backupFlags <= 1));
  std::lock_guard lock(snapshot().mutex);
  ACL_TRY(checkState(__func__, ACL_ERROR_SNAPSHOT_BACKUP_FAILED, State::Locked, State::BackedUp));
  ACL_TRY(callObservers(__func__, ACL_RT_SNAPSHOT_BACKUP_PRE));
  std::vector<Saved> saved;
  if (!hasMemoryFor([&] {
        for (auto &block : lastingDeviceBlocks()) {
          const char *data = static_cast<const char *>(block->data);
          saved.push_back({block, std::vector<char>(data, data + block->bytes)});
        }
      }))
    ACL_FAIL(ACL_ERROR_BAD_ALLOC, "the copy of the device memory could not be allocated");
  snapshot().saved = std::move(saved);
  snapshot().state = State::BackedUp;
  return callObservers(__func__, ACL_RT_SNAPSHOT_BACKUP_POST);
}

aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs *args) {
  ACL_TRY(checkCall(__func__, pid, !args || args->restoreFlags <= 1));
  std::lock_guard lock(snapshot().mutex);
  ACL_TRY(
      checkState(__func__, ACL_ERROR_SNAPSHOT_RESTORE_FAILED, State::BackedUp, State::BackedUp));
  ACL_TRY(callObservers(__func__, ACL_RT_SNAPSHOT_RESTORE_PRE));
  for (const Saved &saved : snapshot().saved)
    std::copy(saved.bytes.begin(), saved.bytes.end(), static_cast<char *>(saved.block->data));
  snapshot().state = State::Locked;
  return callObservers(__func__, ACL_RT_SNAPSHOT_RESTORE_POST);
}

aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback,
                                       void *args) {
  ACL_TRY(isStage(__func__, stage));
  ACL_REQUIRE(callback);
  std::lock_guard lock(snapshot().observersMutex);
  for (const SnapshotObserver &observer : snapshot().observers)
    if (observer.stage == stage && observer.callback == callback)
      ACL_FAIL(ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED,
               "callback is registered for the stage %d already", int(stage));
  snapshot().observers.push_back({stage, callback, args});
  return ACL_SUCCESS;
}

aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback) {
  ACL_TRY(isStage(__func__, stage));
  ACL_REQUIRE(callback);
  std::lock_guard lock(snapshot().observersMutex);
  if (std::erase_if(snapshot().observers, [&](const SnapshotObserver &observer) {
        return observer.stage == stage && observer.callback == callback;
      }) == 0)
    ACL_FAIL(ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED,
             "callback is not registered for the stage %d", int(stage));
  return ACL_SUCCESS;
}
