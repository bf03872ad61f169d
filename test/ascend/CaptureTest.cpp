//===-- CaptureTest.cpp - recorded streams, limits, questions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/ascend/AclTest.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

// The vendor's numbers, which programs print and compare.
static_assert(ACL_ERROR_RT_TASK_TIMEOUT == 107020 && ACL_ERROR_RT_STREAM_SYNC_TIMEOUT == 507046 &&
              ACL_ERROR_RT_EVENT_SYNC_TIMEOUT == 507047 && ACL_ERROR_RT_STREAM_CAPTURED == 107027 &&
              ACL_ERROR_RT_STREAM_NOT_CAPTURED == 107029 && ACL_ERROR_RT_DEVICE_OOM == 207018 &&
              ACL_ERROR_RT_AICORE_EXCEPTION == 507015 && ACL_ERROR_GE_LOAD_MODEL == 545001U &&
              ACL_ERROR_GE_AIPP_MODE_INVALID == 145016U);

TEST_CASE("a wait for an event that is not reached ends with the event's code") {
  Started started;
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  GOOD(aclrtCreateStream(&stream));
  GOOD(aclrtCreateEvent(&event));
  aclrtNotify notify = nullptr;
  GOOD(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  GOOD(aclrtWaitAndResetNotify(notify, stream, 0));
  GOOD(aclrtRecordEvent(event, stream));
  BAD(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event, 1));
  BAD(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 1));
  aclrtStream other = nullptr;
  GOOD(aclrtCreateStream(&other));
  GOOD(aclrtRecordNotify(notify, other));
  GOOD(aclrtSynchronizeEvent(event));
  GOOD(aclrtDestroyStream(other));
  GOOD(aclrtDestroyStream(stream));
  GOOD(aclrtDestroyEvent(event));
  GOOD(aclrtDestroyNotify(notify));
}

TEST_CASE("a stream is recorded, and executed again with what is in memory then") {
  Started started;
  aclrtStream stream = nullptr, other = nullptr;
  GOOD(aclrtCreateStream(&stream));
  GOOD(aclrtCreateStream(&other));
  DeviceMemory source(4), target(4);
  memset(source.data, 1, 4);
  memset(target.data, 0, 4);
  auto value = [&] { return int(*static_cast<char *>(target.data)); };

  aclmdlRICaptureStatus status;
  GOOD(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  BAD(ACL_ERROR_RT_STREAM_CAPTURED, aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  GOOD(aclrtMemcpyAsync(target.data, 4, source.data, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  GOOD(aclrtMemsetAsync(source.data, 4, 9, 4, stream));
  BAD(ACL_ERROR_RT_STREAM_CAPTURED, aclrtSynchronizeStream(stream));
  GOOD(aclmdlRICaptureGetInfo(stream, &status, nullptr));
  CHECK(status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  aclmdlRI model = nullptr;
  GOOD(aclmdlRICaptureEnd(stream, &model));
  const std::string path =
      (std::filesystem::temp_directory_path() / ("model-" + std::to_string(getpid()) + ".json"))
          .string();
  GOOD(aclmdlRIDebugJsonPrint(model, path.c_str(), 0));
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(text.find("\"id\": 0") != std::string::npos);
  std::filesystem::remove(path);
  BAD(ACL_ERROR_WRITE_FILE, aclmdlRIDebugJsonPrint(model, "/nowhere/model.json", 0));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlRIDebugJsonPrint(model, path.c_str(), 1));
  BAD(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclmdlRICaptureEnd(stream, &model));
  GOOD(aclmdlRICaptureGetInfo(stream, &status, nullptr));
  CHECK(status == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  GOOD(aclrtSynchronizeStream(stream));
  CHECK(value() == 0); // nothing has run

  GOOD(aclmdlRIExecuteAsync(model, other));
  GOOD(aclrtSynchronizeStream(other));
  CHECK(value() == 1);
  GOOD(aclmdlRIExecute(model, -1));
  CHECK(value() == 9);
  memset(source.data, 5, 4);
  GOOD(aclmdlRIExecute(model, -1));
  CHECK(value() == 5);

  char name[8];
  GOOD(aclmdlRISetName(model, "decode"));
  GOOD(aclmdlRIGetName(model, sizeof(name), name));
  CHECK(std::string(name) == "decode");
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlRIGetName(model, 6, name));
  GOOD(aclmdlRIDestroy(model));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclmdlRIExecute(model, -1));
  BAD(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
      aclmdlRICaptureBegin(nullptr, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  GOOD(aclrtDestroyStream(stream));
  GOOD(aclrtDestroyStream(other));
}

namespace {

/// Two streams, an event, and bytes that are copied from one to the next.
struct TwoStreams {
  TwoStreams() {
    GOOD(aclrtCreateStream(&first));
    GOOD(aclrtCreateStream(&second));
    GOOD(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    for (DeviceMemory *memory : {&source, &middle, &target})
      memset(memory->data, 0, 4);
  }
  ~TwoStreams() {
    GOOD(aclrtDestroyEvent(event));
    GOOD(aclrtDestroyStream(first));
    GOOD(aclrtDestroyStream(second));
  }

  void copy(DeviceMemory &to, DeviceMemory &from, aclrtStream stream) {
    GOOD(aclrtMemcpyAsync(to.data, 4, from.data, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  }
  static int value(const DeviceMemory &memory) { return *static_cast<char *>(memory.data); }

  Started started;
  aclrtStream first = nullptr, second = nullptr;
  aclrtEvent event = nullptr;
  DeviceMemory source{4}, middle{4}, target{4};
};

} // namespace

TEST_CASE("a recorded model waits for an event of another stream at each execution") {
  TwoStreams two;
  aclmdlRI model = nullptr;
  GOOD(aclmdlRICaptureBegin(two.first, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  GOOD(aclrtStreamWaitEventWithFlag(two.first, two.event, -1, ACL_EVENT_WAIT_EXTERNAL));
  two.copy(two.target, two.source, two.first);
  GOOD(aclmdlRICaptureEnd(two.first, &model));
  aclrtNotify gate = nullptr;
  GOOD(aclrtCreateNotify(&gate, ACL_NOTIFY_DEFAULT));
  for (int turn : {3, 4}) {
    GOOD(aclrtWaitAndResetNotify(gate, two.second, 0));
    GOOD(aclrtMemsetAsync(two.source.data, 4, turn, 4, two.second));
    GOOD(aclrtRecordEvent(two.event, two.second));
    GOOD(aclmdlRIExecuteAsync(model, two.first));
    BAD(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(two.first, 5));
    GOOD(aclrtRecordNotify(gate, nullptr));
    GOOD(aclrtSynchronizeStream(two.first));
    CHECK(two.value(two.target) == turn);
  }
  GOOD(aclmdlRIDestroy(model));
  GOOD(aclrtDestroyNotify(gate));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtStreamWaitEventWithFlag(two.first, two.event, 0, 2));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtRecordEventWithFlag(two.event, two.first, 2));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtRecordEventWithFlag(nullptr, two.first, 0));
}

TEST_CASE("a recorded model records an event for other streams and models at each execution") {
  TwoStreams two;
  aclmdlRI first = nullptr, second = nullptr;
  GOOD(aclmdlRICaptureBegin(two.first, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  two.copy(two.middle, two.source, two.first);
  GOOD(aclrtRecordEventWithFlag(two.event, two.first, ACL_EVENT_RECORD_EXTERNAL));
  GOOD(aclmdlRICaptureEnd(two.first, &first));
  GOOD(aclmdlRICaptureBegin(two.second, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  GOOD(aclrtStreamWaitEventWithFlag(two.second, two.event, -1, ACL_EVENT_WAIT_EXTERNAL));
  two.copy(two.target, two.middle, two.second);
  GOOD(aclmdlRICaptureEnd(two.second, &second));
  for (int turn : {5, 6}) {
    memset(two.source.data, turn, 4);
    GOOD(aclmdlRIExecuteAsync(first, two.first));
    GOOD(aclmdlRIExecuteAsync(second, two.second));
    GOOD(aclrtSynchronizeStream(two.second));
    CHECK(two.value(two.target) == turn);
  }
  GOOD(aclmdlRIExecuteAsync(first, two.first));
  GOOD(aclrtStreamWaitEvent(two.second, two.event)); // no capture is active: nothing is joined
  GOOD(aclrtSynchronizeStream(two.second));
  GOOD(aclmdlRIDestroy(first));
  GOOD(aclmdlRIDestroy(second));
}

TEST_CASE("a stream that waits for an event of a captured stream is captured with it") {
  TwoStreams two;
  aclrtEvent back = nullptr;
  GOOD(aclrtCreateEvent(&back));
  aclmdlRI model = nullptr;
  GOOD(aclmdlRICaptureBegin(two.first, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  GOOD(aclrtMemsetAsync(two.source.data, 4, 7, 4, two.first));
  GOOD(aclrtRecordEvent(two.event, two.first));
  BAD(ACL_ERROR_RT_EVENT_CAPTURED, aclrtSynchronizeEvent(two.event));
  GOOD(aclrtStreamWaitEvent(two.second, two.event));
  two.copy(two.middle, two.source, two.second);
  BAD(ACL_ERROR_RT_STREAM_CAPTURED, aclrtSynchronizeStream(two.second));
  BAD(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, aclmdlRICaptureEnd(two.second, &model));
  GOOD(aclrtRecordEvent(back, two.second));
  GOOD(aclrtStreamWaitEvent(two.first, back));
  two.copy(two.target, two.middle, two.first);
  GOOD(aclmdlRICaptureEnd(two.first, &model));
  GOOD(aclrtSynchronizeStream(two.second)); // it is free again
  CHECK(two.value(two.target) == 0);
  for (int turn = 0; turn < 2; ++turn) {
    memset(two.target.data, 0, 4);
    GOOD(aclmdlRIExecuteAsync(model, two.first));
    GOOD(aclrtSynchronizeStream(two.first));
    CHECK(two.value(two.target) == 7);
  }
  GOOD(aclrtSynchronizeEvent(two.event));

  aclmdlRI other = nullptr;
  GOOD(aclmdlRICaptureBegin(two.first, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  GOOD(aclmdlRICaptureBegin(two.second, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  GOOD(aclrtRecordEvent(two.event, two.first));
  BAD(ACL_ERROR_STREAM_CAPTURE_CONFLICT, aclrtStreamWaitEvent(two.second, two.event));
  GOOD(aclmdlRICaptureEnd(two.second, &other));
  GOOD(aclmdlRIDestroy(other));
  GOOD(aclmdlRICaptureEnd(two.first, &other));
  GOOD(aclmdlRIDestroy(other));
  GOOD(aclmdlRIDestroy(model));
  GOOD(aclrtDestroyEvent(back));
}

TEST_CASE("the last task of a thread has a number") {
  TwoStreams two;
  uint32_t before = 0, after = 0;
  BAD(ACL_ERROR_INVALID_PARAM, aclrtGetThreadLastTaskId(nullptr));
  GOOD(aclrtMemsetAsync(two.source.data, 4, 1, 4, two.first));
  GOOD(aclrtGetThreadLastTaskId(&before));
  GOOD(aclrtMemsetAsync(two.source.data, 4, 1, 4, two.first));
  GOOD(aclrtGetThreadLastTaskId(&after));
  CHECK(after == before + 1);
  GOOD(aclrtSynchronizeStream(two.first));
}

TEST_CASE("limits of cores are those of the stream, of its device, or all cores") {
  Started started;
  aclrtStream stream = nullptr;
  GOOD(aclrtCreateStream(&stream));
  int64_t all = 0, same = 0;
  GOOD(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, &all));
  GOOD(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &same));
  CHECK(all == 8); // Ascend310P3
  CHECK(same == all);
  GOOD(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE, &same));
  CHECK(same == 256 * 1024);
  BAD(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_WARP_SIZE, &same));
  BAD(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetDeviceInfo(99, ACL_DEV_ATTR_CUBE_CORE_NUM, &same));
  uint32_t cores = 0;
  auto limit = [&] {
    GOOD(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    return cores;
  };
  CHECK(limit() == uint32_t(all));
  GOOD(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 4));
  GOOD(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, 2));
  CHECK(limit() == 4);
  GOOD(aclrtUseStreamResInCurrentThread(stream));
  CHECK(limit() == 2);
  GOOD(aclrtResetStreamResLimit(stream));
  CHECK(limit() == 4);
  GOOD(aclrtUnuseStreamResInCurrentThread(stream));
  GOOD(aclrtResetDeviceResLimit(0));
  CHECK(limit() == uint32_t(all));
  BAD(ACL_ERROR_INVALID_PARAM,
      aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, uint32_t(all) + 1));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 0));

  int64_t option = 7;
  GOOD(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
  GOOD(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &option));
  CHECK(option == 0);
  GOOD(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &option));
  CHECK(option == 1);
  DeviceMemory flags(64);
  memset(flags.data, 1, 64);
  GOOD(aclrtGetOverflowStatus(flags.data, 64, stream));
  GOOD(aclrtSynchronizeStream(stream));
  CHECK(*static_cast<char *>(flags.data) == 0);
  BAD(ACL_ERROR_API_NOT_SUPPORT, aclrtLaunchKernel(nullptr, 1, nullptr, 0, stream));
  GOOD(aclrtDestroyStream(stream));
}
