//===-- RecordedModelTest.cpp - tasks of recorded models, snapshots --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/ascend/AclTest.h"

#include <cstring>
#include <vector>

#include <unistd.h>

namespace {

constexpr auto global = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

/// A stream, and 16 bytes of device memory that tasks set.
struct Recorder {
  Recorder() {
    GOOD(aclrtCreateStream(&stream));
    memset(memory.data, 0, 16);
  }
  ~Recorder() { GOOD(aclrtDestroyStream(stream)); }

  void set(int byte, int value, aclrtStream on) {
    GOOD(aclrtMemsetAsync(static_cast<char *>(memory.data) + byte, 1, value, 1, on));
  }
  int value(int byte) const { return static_cast<char *>(memory.data)[byte]; }

  Started started;
  aclrtStream stream = nullptr;
  DeviceMemory memory{16};
};

std::vector<aclmdlRITask> tasksOf(aclmdlRI model) {
  uint32_t count = 0;
  GOOD(aclmdlRIGetStreams(model, nullptr, &count));
  std::vector<aclrtStream> streams(count);
  GOOD(aclmdlRIGetStreams(model, streams.data(), &count));
  std::vector<aclmdlRITask> all;
  for (aclrtStream stream : streams) {
    uint32_t number = 0;
    GOOD(aclmdlRIGetTasksByStream(stream, nullptr, &number));
    std::vector<aclmdlRITask> own(number);
    GOOD(aclmdlRIGetTasksByStream(stream, own.data(), &number));
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

std::vector<int> calls;
void noteCall(void *data) { calls.push_back(*static_cast<int *>(data)); }

} // namespace

TEST_CASE("a recorded model lists its tasks per stream, and leaves out what is disabled") {
  Recorder recorder;
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  GOOD(aclrtCreateStream(&other));
  GOOD(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  GOOD(aclmdlRICaptureBegin(recorder.stream, global));
  aclmdlRICaptureStatus status;
  aclmdlRI model = nullptr, same = nullptr;
  GOOD(aclmdlRICaptureGetInfo(recorder.stream, &status, &model));
  REQUIRE(model != nullptr);
  BAD(ACL_ERROR_RT_STREAM_CAPTURED, aclmdlRIExecute(model, -1));
  recorder.set(0, 1, recorder.stream);
  GOOD(aclrtRecordEvent(event, recorder.stream));
  GOOD(aclrtStreamWaitEvent(other, event));
  GOOD(aclrtValueWrite(static_cast<char *>(recorder.memory.data) + 8, 7, 0, other));
  GOOD(aclrtRecordEvent(event, other));
  GOOD(aclrtStreamWaitEvent(recorder.stream, event));
  GOOD(aclmdlRICaptureEnd(recorder.stream, &same));
  CHECK(same == model);

  const auto tasks = tasksOf(model);
  REQUIRE(tasks.size() == 6);
  const aclmdlRITaskType types[] = {ACL_MODEL_RI_TASK_DEFAULT,     ACL_MODEL_RI_TASK_EVENT_RECORD,
                                    ACL_MODEL_RI_TASK_EVENT_WAIT,  ACL_MODEL_RI_TASK_EVENT_WAIT,
                                    ACL_MODEL_RI_TASK_VALUE_WRITE, ACL_MODEL_RI_TASK_EVENT_RECORD};
  const uint32_t numbers[] = {0, 1, 5, 2, 3, 4};
  for (size_t i = 0; i < 6; ++i) {
    aclmdlRITaskType type;
    uint32_t number = 9;
    GOOD(aclmdlRITaskGetType(tasks[i], &type));
    GOOD(aclmdlRITaskGetSeqId(tasks[i], &number));
    CHECK(type == types[i]);
    CHECK(number == numbers[i]);
  }
  aclmdlRITaskParams params;
  GOOD(aclmdlRITaskGetParams(tasks[4], &params));
  CHECK(params.type == ACL_MODEL_RI_TASK_VALUE_WRITE);
  CHECK(params.valueWriteTaskParams.devAddr == static_cast<char *>(recorder.memory.data) + 8);
  CHECK(params.valueWriteTaskParams.value == 7);
  BAD(ACL_ERROR_API_NOT_SUPPORT, aclmdlRITaskSetParams(tasks[4], &params));
  GOOD(aclmdlRITaskGetParams(tasks[1], &params));
  CHECK(params.eventRecordTaskParams.event == event);
  CHECK(tasksOf(model) == tasks);

  uint32_t one = 1, id = 0, none = 0;
  aclrtStream streams[2];
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlRIGetStreams(model, streams, &one));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlRIGetTasksByStream(recorder.stream, nullptr, &none));
  GOOD(aclmdlRIGetId(model, &id));
  CHECK(id > 0);

  // What is disabled is left out from the update on.
  GOOD(aclmdlRITaskDisable(tasks[0]));
  GOOD(aclmdlRIExecute(model, -1));
  CHECK(recorder.value(0) == 1);
  CHECK(recorder.value(8) == 7);
  memset(recorder.memory.data, 0, 16);
  GOOD(aclmdlRIUpdate(model));
  GOOD(aclmdlRIExecute(model, -1));
  CHECK(recorder.value(0) == 0);
  CHECK(recorder.value(8) == 7);

  GOOD(aclmdlRIDestroy(model));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclmdlRITaskGetSeqId(tasks[0], &id));
  GOOD(aclrtDestroyEvent(event));
  GOOD(aclrtDestroyStream(other));
}

TEST_CASE("functions are called when a recorded model is destroyed") {
  Recorder recorder;
  aclmdlRI model = nullptr;
  int first = 1, second = 2;
  calls.clear();
  GOOD(aclmdlRICaptureBegin(recorder.stream, global));
  GOOD(aclmdlRICaptureEnd(recorder.stream, &model));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlRIDestroyUnregisterCallback(model, noteCall));
  GOOD(aclmdlRIDestroyRegisterCallback(model, noteCall, &first));
  GOOD(aclmdlRIDestroyUnregisterCallback(model, noteCall));
  GOOD(aclmdlRIDestroyRegisterCallback(model, noteCall, &second));
  GOOD(aclmdlRIDestroyRegisterCallback(model, noteCall, &first));
  GOOD(aclmdlRIExecute(model, -1));
  CHECK(calls.empty());
  GOOD(aclmdlRIDestroy(model));
  CHECK(calls == std::vector{2, 1});
}

TEST_CASE("a group of tasks is replaced while an execution waits for that") {
  Recorder recorder;
  aclrtStream update = nullptr;
  aclrtEvent ready = nullptr;
  GOOD(aclrtCreateStream(&update));
  BAD(ACL_ERROR_INVALID_PARAM,
      aclrtCreateEventExWithFlag(&ready, ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC));
  GOOD(aclrtCreateEventExWithFlag(&ready, ACL_EVENT_EXTERNAL));
  BAD(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclmdlRICaptureTaskGrpBegin(recorder.stream));

  // As programs do that change an operator for each step: the model waits in front of the group.
  GOOD(aclmdlRICaptureBegin(recorder.stream, global));
  recorder.set(0, 1, recorder.stream);
  GOOD(aclrtStreamWaitEvent(recorder.stream, ready));
  GOOD(aclrtResetEvent(ready, recorder.stream));
  aclrtTaskGrp group = nullptr;
  aclmdlRI model = nullptr;
  BAD(ACL_ERROR_STREAM_TASK_GROUP_STATUS, aclmdlRICaptureTaskGrpEnd(recorder.stream, &group));
  GOOD(aclmdlRICaptureTaskGrpBegin(recorder.stream));
  BAD(ACL_ERROR_STREAM_TASK_GROUP_STATUS, aclmdlRICaptureTaskGrpBegin(recorder.stream));
  recorder.set(1, 1, recorder.stream);
  recorder.set(2, 1, recorder.stream);
  GOOD(aclmdlRICaptureTaskGrpEnd(recorder.stream, &group));
  GOOD(aclmdlRICaptureEnd(recorder.stream, &model));

  for (int step = 2; step < 5; ++step) {
    GOOD(aclmdlRIExecuteAsync(model, recorder.stream));
    BAD(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(recorder.stream, 5));
    GOOD(aclmdlRICaptureTaskUpdateBegin(update, group));
    recorder.set(1, step, update);
    recorder.set(2, 10 + step, update);
    GOOD(aclmdlRICaptureTaskUpdateEnd(update));
    GOOD(aclrtRecordEvent(ready, update));
    GOOD(aclrtSynchronizeStream(recorder.stream));
    CHECK(recorder.value(1) == step);
    CHECK(recorder.value(2) == 10 + step);
  }

  // Another number of tasks, or another type, is refused and changes nothing.
  BAD(ACL_ERROR_STREAM_TASK_GROUP_STATUS, aclmdlRICaptureTaskUpdateEnd(update));
  GOOD(aclmdlRICaptureTaskUpdateBegin(update, group));
  BAD(ACL_ERROR_STREAM_TASK_GROUP_STATUS, aclmdlRICaptureTaskUpdateBegin(update, group));
  recorder.set(1, 50, update);
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureTaskUpdateEnd(update));
  GOOD(aclmdlRICaptureTaskUpdateBegin(update, group));
  recorder.set(1, 50, update);
  GOOD(aclrtValueWrite(static_cast<char *>(recorder.memory.data) + 8, 7, 0, update));
  BAD(ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT, aclmdlRICaptureTaskUpdateEnd(update));
  GOOD(aclrtRecordEvent(ready, update));
  GOOD(aclmdlRIExecute(model, -1));
  CHECK(recorder.value(1) == 4);
  CHECK(recorder.value(8) == 0);

  GOOD(aclmdlRIDestroy(model));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclmdlRICaptureTaskUpdateBegin(update, group));
  GOOD(aclrtDestroyEvent(ready));
  GOOD(aclrtDestroyStream(update));
}

TEST_CASE("a model is built of streams that are bound to it") {
  Recorder recorder;
  aclrtStream second = nullptr;
  GOOD(aclrtCreateStream(&second));
  aclmdlRI model = nullptr;
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlRIBuildBegin(&model, 1));
  GOOD(aclmdlRIBuildBegin(&model, 0));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlRIBindStream(model, recorder.stream, 5));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlRIEndTask(model, recorder.stream));
  GOOD(aclmdlRIBindStream(model, recorder.stream, ACL_MODEL_STREAM_FLAG_HEAD));
  GOOD(aclmdlRIBindStream(model, second, ACL_MODEL_STREAM_FLAG_DEFAULT));
  BAD(ACL_ERROR_RT_STREAM_CAPTURED, aclmdlRICaptureBegin(second, global));
  recorder.set(0, 1, recorder.stream);
  recorder.set(0, 2, second);
  BAD(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, aclmdlRICaptureEnd(second, &model));
  GOOD(aclmdlRIEndTask(model, recorder.stream));
  BAD(ACL_ERROR_RT_STREAM_CAPTURED, aclmdlRIExecute(model, -1));
  GOOD(aclmdlRIBuildEnd(model, nullptr));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlRIBuildEnd(model, nullptr));
  CHECK(recorder.value(0) == 0);
  GOOD(aclmdlRIExecute(model, -1));
  CHECK(recorder.value(0) == 2);
  GOOD(aclmdlRIAbort(model));
  GOOD(aclmdlRIUnbindStream(model, recorder.stream));
  GOOD(aclmdlRIUnbindStream(model, second));
  recorder.set(0, 3, second);
  GOOD(aclrtSynchronizeStream(second));
  CHECK(recorder.value(0) == 3);
  GOOD(aclmdlRIDestroy(model));
  GOOD(aclrtDestroyStream(second));
}

namespace {

/// Two streams of a model that is built, the first of them its head, and numbers in device memory.
struct Builder {
  Builder() {
    GOOD(aclrtCreateStream(&other));
    GOOD(aclmdlRIBuildBegin(&model, 0));
    GOOD(aclmdlRIBindStream(model, recorder.stream, ACL_MODEL_STREAM_FLAG_HEAD));
    GOOD(aclmdlRIBindStream(model, other, ACL_MODEL_STREAM_FLAG_DEFAULT));
  }
  ~Builder() {
    GOOD(aclmdlRIUnbindStream(model, recorder.stream));
    GOOD(aclmdlRIUnbindStream(model, other));
    GOOD(aclmdlRIDestroy(model));
    GOOD(aclrtDestroyStream(other));
  }

  uint32_t *numbers() { return static_cast<uint32_t *>(input.data); }
  /// Runs the model and returns the bytes that its tasks have set.
  std::vector<int> run() {
    memset(recorder.memory.data, 0, 16);
    GOOD(aclmdlRIExecute(model, -1));
    return {recorder.value(0), recorder.value(1), recorder.value(2), recorder.value(3)};
  }

  Recorder recorder;
  aclrtStream other = nullptr;
  aclmdlRI model = nullptr;
  DeviceMemory input{16};
};

using Bytes = std::vector<int>;

} // namespace

TEST_CASE("a model jumps to the label of an index") {
  Builder built;
  aclrtStream head = built.recorder.stream;
  aclrtLabel labels[3];
  for (aclrtLabel &label : labels)
    GOOD(aclrtCreateLabel(&label));
  aclrtLabelList list = nullptr, none = nullptr;
  BAD(ACL_ERROR_INVALID_PARAM, aclrtCreateLabelList(labels, 0, &none));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtCreateLabelList(labels, 65536, &none));
  GOOD(aclrtCreateLabelList(labels, 3, &list));

  aclrtStream loose = nullptr;
  GOOD(aclrtCreateStream(&loose));
  BAD(ACL_ERROR_RT_STREAM_MODEL, aclrtSetLabel(labels[0], loose));
  BAD(ACL_ERROR_RT_STREAM_MODEL, aclrtSwitchLabelByIndex(built.numbers(), 3, list, loose));
  GOOD(aclrtDestroyStream(loose));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtSwitchLabelByIndex(built.numbers(), 4, list, head));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtSwitchLabelByIndex(nullptr, 3, list, head));

  GOOD(aclrtSwitchLabelByIndex(built.numbers(), 3, list, head));
  GOOD(aclrtSetLabel(labels[0], head));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtSetLabel(labels[0], head));
  built.recorder.set(0, 1, head);
  GOOD(aclrtSetLabel(labels[1], head));
  built.recorder.set(1, 2, head);
  built.recorder.set(2, 3, built.other);
  GOOD(aclrtSetLabel(labels[2], built.other));
  built.recorder.set(3, 4, built.other);
  GOOD(aclmdlRIEndTask(built.model, head));
  GOOD(aclmdlRIBuildEnd(built.model, nullptr));
  BAD(ACL_ERROR_RT_STREAM_MODEL, aclrtSetLabel(labels[1], head));

  built.numbers()[0] = 0;
  CHECK(built.run() == Bytes{1, 2, 0, 0});
  built.numbers()[0] = 1;
  CHECK(built.run() == Bytes{0, 2, 0, 0});
  built.numbers()[0] = 2;
  CHECK(built.run() == Bytes{0, 0, 0, 4});
  built.numbers()[0] = 77; // the last label
  CHECK(built.run() == Bytes{0, 0, 0, 4});

  GOOD(aclrtDestroyLabelList(list));
  for (aclrtLabel label : labels)
    GOOD(aclrtDestroyLabel(label));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtDestroyLabel(labels[0]));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtDestroyLabelList(list));
}

TEST_CASE("a model loops until a label leads out, and fails at one that is not set") {
  Builder built;
  aclrtStream head = built.recorder.stream;
  aclrtLabel labels[2];
  GOOD(aclrtCreateLabel(&labels[0]));
  GOOD(aclrtCreateLabel(&labels[1]));
  aclrtLabelList list = nullptr;
  GOOD(aclrtCreateLabelList(labels, 2, &list));
  // Each round copies the next of the numbers to the first, which is the index.
  GOOD(aclrtSetLabel(labels[0], head));
  for (int i = 0; i < 3; ++i)
    GOOD(aclrtMemcpyAsync(&built.numbers()[i], 4, &built.numbers()[i + 1], 4,
                          ACL_MEMCPY_DEVICE_TO_DEVICE, head));
  GOOD(aclrtSwitchLabelByIndex(built.numbers(), 2, list, head));
  built.recorder.set(0, 1, head);
  SECTION("set") {
    GOOD(aclrtSetLabel(labels[1], head));
    built.recorder.set(1, 2, head);
    GOOD(aclmdlRIBuildEnd(built.model, nullptr));
    memcpy(built.numbers(), std::vector<uint32_t>{9, 0, 0, 1}.data(), 16);
    CHECK(built.run() == Bytes{0, 2, 0, 0});
  }
  SECTION("not set") {
    GOOD(aclmdlRIBuildEnd(built.model, nullptr));
    built.numbers()[1] = 1;
    BAD(ACL_ERROR_RT_STREAM_MODEL, aclmdlRIExecute(built.model, -1));
  }
  GOOD(aclrtDestroyLabelList(list));
  GOOD(aclrtDestroyLabel(labels[0]));
  GOOD(aclrtDestroyLabel(labels[1]));
}

TEST_CASE("a model goes on with another stream where a condition holds, and activates streams") {
  Builder built;
  aclrtStream head = built.recorder.stream;
  const auto go = [&](aclrtCondition condition, aclrtCompareDataType type, aclrtStream no) {
    return aclrtSwitchStream(built.numbers(), condition, built.numbers() + 2, type, built.other, no,
                             head);
  };
  BAD(ACL_ERROR_INVALID_PARAM, go(aclrtCondition(6), ACL_RT_SWITCH_INT32, nullptr));
  BAD(ACL_ERROR_INVALID_PARAM, go(ACL_RT_EQUAL, aclrtCompareDataType(2), nullptr));
  BAD(ACL_ERROR_INVALID_PARAM, go(ACL_RT_EQUAL, ACL_RT_SWITCH_INT32, built.other));
  memset(built.numbers(), 0, 16);
  SECTION("switch") {
    const aclrtCondition condition =
        GENERATE(ACL_RT_EQUAL, ACL_RT_NOT_EQUAL, ACL_RT_GREATER, ACL_RT_GREATER_OR_EQUAL,
                 ACL_RT_LESS, ACL_RT_LESS_OR_EQUAL);
    const aclrtCompareDataType type = GENERATE(ACL_RT_SWITCH_INT32, ACL_RT_SWITCH_INT64);
    built.recorder.set(0, 1, head);
    built.recorder.set(2, 3, built.other);
    GOOD(go(condition, type, nullptr));
    built.recorder.set(1, 2, head);
    GOOD(aclmdlRIBuildEnd(built.model, nullptr));
    for (int left = -1; left <= 1; ++left) {
      built.numbers()[0] = left;
      built.numbers()[1] = left < 0 ? ~0U : 0;
      const bool holds[] = {left == 0, left != 0, left > 0, left >= 0, left < 0, left <= 0};
      CHECK(built.run() == (holds[condition] ? Bytes{1, 0, 3, 0} : Bytes{1, 2, 0, 0}));
    }
  }
  SECTION("activate") {
    BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclrtActiveStream(built.model, head));
    GOOD(aclrtActiveStream(built.other, head));
    built.recorder.set(0, 1, head);
    built.recorder.set(2, 3, built.other);
    GOOD(aclmdlRIBuildEnd(built.model, nullptr));
    CHECK(built.run() == Bytes{1, 0, 3, 0});
  }
}

namespace {
std::vector<int> stages;
uint32_t noteStage(int32_t device, void *args) {
  stages.push_back(*static_cast<int *>(args) * 10 + device);
  return 0;
}
uint32_t refuse(int32_t, void *) { return 3; }
} // namespace

TEST_CASE("device memory is kept by a snapshot and written back") {
  Recorder recorder;
  int numbers[] = {0, 1, 2, 3, 4, 5};
  for (int stage = 0; stage < 6; ++stage)
    GOOD(aclrtSnapShotCallbackRegister(aclrtSnapShotStage(stage), noteStage, &numbers[stage]));
  BAD(ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED,
      aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, noteStage, nullptr));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtSnapShotCallbackRegister(aclrtSnapShotStage(6), noteStage, 0));
  stages.clear();

  BAD(ACL_ERROR_INVALID_PARAM, aclrtSnapShotProcessLock(1, nullptr));
  BAD(ACL_ERROR_SNAPSHOT_UNLOCK_FAILED, aclrtSnapShotProcessUnlock());
  BAD(ACL_ERROR_SNAPSHOT_BACKUP_FAILED, aclrtSnapShotProcessBackup(getpid(), nullptr));
  recorder.set(0, 6, recorder.stream); // the lock waits for it
  GOOD(aclrtSnapShotProcessLock(getpid(), nullptr));
  BAD(ACL_ERROR_SNAPSHOT_LOCK_FAILED, aclrtSnapShotProcessLock());
  BAD(ACL_ERROR_SNAPSHOT_RESTORE_FAILED, aclrtSnapShotProcessRestore());
  aclrtSnapShotBackupArgs flags{};
  flags.backupFlags = 2;
  BAD(ACL_ERROR_INVALID_PARAM, aclrtSnapShotProcessBackup(getpid(), &flags));
  GOOD(aclrtSnapShotProcessBackup());
  memset(recorder.memory.data, 1, 16);
  GOOD(aclrtSnapShotProcessRestore());
  GOOD(aclrtSnapShotProcessUnlock());
  CHECK(recorder.value(0) == 6);
  CHECK(recorder.value(1) == 0);
  CHECK(stages == std::vector{0, 10, 20, 30, 40, 50});

  GOOD(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, refuse, nullptr));
  BAD(ACL_ERROR_SNAPSHOT_CALLBACK_FAILED, aclrtSnapShotProcessLock());
  GOOD(aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_LOCK_PRE, refuse));
  BAD(ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED,
      aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_LOCK_PRE, refuse));
  for (int stage = 0; stage < 6; ++stage)
    GOOD(aclrtSnapShotCallbackUnregister(aclrtSnapShotStage(stage), noteStage));
}
