//===-- NotifyTest.cpp - notifies, values, settings of streams ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/ascend/AclTest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>

namespace {

struct Streams {
  Streams() {
    GOOD(aclrtCreateStream(&first));
    GOOD(aclrtCreateStream(&second));
  }
  ~Streams() {
    GOOD(aclrtDestroyStream(first));
    GOOD(aclrtDestroyStream(second));
  }
  aclrtStream first = nullptr, second = nullptr;
};

} // namespace

TEST_CASE("a notify hands memory from one stream to another, again and again") {
  Started started;
  Streams streams;
  DeviceMemory memory(64);
  aclrtNotify notify = nullptr;
  GOOD(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  uint32_t number = 0, same = 1;
  GOOD(aclrtGetNotifyId(notify, &number));
  for (int round = 1; round <= 3; ++round) {
    char result = 0;
    GOOD(aclrtWaitAndResetNotify(notify, streams.second, 0));
    GOOD(aclrtMemcpyAsync(&result, 1, memory.data, 1, ACL_MEMCPY_DEVICE_TO_HOST, streams.second));
    GOOD(aclrtMemsetAsync(memory.data, 64, round, 64, streams.first));
    GOOD(aclrtRecordNotify(notify, streams.first));
    GOOD(aclrtSynchronizeStream(streams.second));
    CHECK(result == round);
  }
  GOOD(aclrtGetNotifyId(notify, &same));
  CHECK(number == same);
  // It was cleared by the wait, so the next one is in vain.
  GOOD(aclrtWaitAndResetNotify(notify, streams.second, 30));
  BAD(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(streams.second));
  CHECK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_RT_TASK_TIMEOUT);
  CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_RT_TASK_TIMEOUT);
  CHECK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS);
  GOOD(aclrtRecordNotify(notify, streams.first));
  GOOD(aclrtSynchronizeStream(streams.first));
  GOOD(aclrtNotifyBatchReset(&notify, 1));
  GOOD(aclrtWaitAndResetNotify(notify, streams.second, 30));
  BAD(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(streams.second));
  GOOD(aclrtDestroyNotify(notify));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclrtRecordNotify(notify, streams.first));
}

TEST_CASE("a notify can be a number") {
  Started started;
  Streams streams;
  aclrtCntNotify notify = nullptr;
  GOOD(aclrtCntNotifyCreate(&notify, 0));
  aclrtCntNotifyWaitInfo wait{ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, 3, 0, 1, {}};
  GOOD(aclrtCntNotifyWaitWithTimeout(notify, streams.second, &wait));
  aclrtCntNotifyRecordInfo add{ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 1};
  for (int i = 0; i < 3; ++i) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
    GOOD(aclrtStreamQuery(streams.second, &status));
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    GOOD(aclrtCntNotifyRecord(notify, streams.first, &add));
  }
  GOOD(aclrtSynchronizeStream(streams.second));
  wait = {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 0, 30, 0, {}}; // it was cleared
  GOOD(aclrtCntNotifyWaitWithTimeout(notify, streams.second, &wait));
  GOOD(aclrtSynchronizeStream(streams.second));
  add.mode = static_cast<aclrtCntNotifyRecordMode>(3);
  BAD(ACL_ERROR_INVALID_PARAM, aclrtCntNotifyRecord(notify, streams.first, &add));
  GOOD(aclrtCntNotifyDestroy(notify));
}

TEST_CASE("streams wait for values and, for a time, for events") {
  Started started;
  Streams streams;
  DeviceMemory memory(64);
  GOOD(aclrtMemset(memory.data, 64, 0, 64));
  GOOD(aclrtValueWait(memory.data, 5, ACL_STREAM_WAIT_VALUE_GEQ, streams.second));
  GOOD(aclrtValueWrite(memory.data, 6, 0, streams.first));
  GOOD(aclrtSynchronizeStream(streams.second));
  GOOD(aclrtValueWait(memory.data, 2, ACL_VALUE_WAIT_AND, streams.second));
  GOOD(aclrtSynchronizeStream(streams.second));
  BAD(ACL_ERROR_MEMORY_ADDRESS_UNALIGNED,
      aclrtValueWrite(static_cast<char *>(memory.data) + 4, 1, 0, streams.first));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtValueWait(memory.data, 1, 9, streams.second));
  aclrtEvent event = nullptr;
  GOOD(aclrtCreateEvent(&event));
  GOOD(aclrtValueWait(memory.data, 100, ACL_VALUE_WAIT_EQ, streams.first));
  GOOD(aclrtRecordEvent(event, streams.first));
  GOOD(aclrtStreamWaitEventWithTimeout(streams.second, event, 30));
  BAD(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(streams.second));
  GOOD(aclrtValueWrite(memory.data, 100, 0, streams.second));
  GOOD(aclrtSynchronizeStream(streams.first));
  GOOD(aclrtStreamWaitEventWithTimeout(streams.second, event, -1));
  GOOD(aclrtSynchronizeStream(streams.second));
  GOOD(aclrtDestroyEvent(event));
}

TEST_CASE("a stream that waits can be destroyed") {
  Started started;
  DeviceMemory memory(8);
  GOOD(aclrtMemset(memory.data, 8, 0, 8));
  aclrtStream stream = nullptr;
  GOOD(aclrtCreateStream(&stream));
  GOOD(aclrtValueWait(memory.data, 1, ACL_STREAM_WAIT_VALUE_EQ, stream));
  GOOD(aclrtDestroyStreamForce(stream));
}

TEST_CASE("settings of streams can be asked for") {
  Started started;
  aclrtStreamConfigHandle *settings = aclrtCreateStreamConfigHandle();
  const uint32_t priority = 3, tooHigh = 8;
  const size_t flags = ACL_STREAM_FAST_LAUNCH;
  GOOD(aclrtSetStreamConfigOpt(settings, ACL_RT_STREAM_PRIORITY, &priority, sizeof priority));
  GOOD(aclrtSetStreamConfigOpt(settings, ACL_RT_STREAM_FLAG, &flags, sizeof flags));
  BAD(ACL_ERROR_INVALID_PARAM,
      aclrtSetStreamConfigOpt(settings, ACL_RT_STREAM_PRIORITY, &tooHigh, sizeof tooHigh));
  BAD(ACL_ERROR_INVALID_PARAM,
      aclrtSetStreamConfigOpt(settings, ACL_RT_STREAM_WORK_SIZE, &priority, sizeof priority));
  aclrtStream stream = nullptr;
  GOOD(aclrtCreateStreamV2(&stream, settings));
  GOOD(aclrtDestroyStreamConfigHandle(settings));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclrtDestroyStreamConfigHandle(settings));
  uint32_t value = 0;
  GOOD(aclrtStreamGetPriority(stream, &value));
  CHECK(value == 3);
  GOOD(aclrtStreamGetFlags(stream, &value));
  CHECK(value == ACL_STREAM_FAST_LAUNCH);
  aclrtStreamAttrValue attribute{};
  attribute.failureMode = ACL_STOP_ON_FAILURE;
  GOOD(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &attribute));
  attribute = {};
  GOOD(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &attribute));
  CHECK(attribute.failureMode == ACL_STOP_ON_FAILURE);
  GOOD(aclrtDestroyStream(stream));
  aclrtStream standing = nullptr, same = nullptr;
  GOOD(aclrtCtxGetCurrentDefaultStream(&standing));
  GOOD(aclrtCtxGetCurrentDefaultStream(&same));
  CHECK((standing == same && standing != nullptr));
  DeviceMemory memory(8);
  GOOD(aclrtMemsetAsync(memory.data, 8, 1, 8, standing));
  GOOD(aclrtSynchronizeStream(nullptr));
  char text[ACL_PKG_VERSION_MAX_SIZE] = {}, name[] = "runtime", unknown[] = "nothing";
  GOOD(aclsysGetVersionStr(name, text));
  int32_t number = 0;
  GOOD(aclsysGetVersionNum(name, &number));
  CHECK((strlen(text) > 0 && number > 0));
  BAD(ACL_ERROR_INVALID_PARAM, aclsysGetVersionStr(unknown, text));
  aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
  GOOD(aclrtQueryDeviceStatus(0, &status));
  CHECK(status == ACL_RT_DEVICE_STATUS_NORMAL);
  BAD(ACL_ERROR_INVALID_DEVICE, aclrtQueryDeviceStatus(9, &status));
}

namespace {

struct Seen {
  int started = 0, ended = 0, streams = 0, devices = 0;
  std::string settings;
};

aclError sawStart(const char *settings, size_t length, void *seen) {
  static_cast<Seen *>(seen)->started++;
  static_cast<Seen *>(seen)->settings.assign(settings, length);
  return ACL_SUCCESS;
}
aclError sawEnd(void *seen) {
  static_cast<Seen *>(seen)->ended++;
  return ACL_SUCCESS;
}

} // namespace

TEST_CASE("functions are told of aclInit, aclFinalize, streams and devices") {
  Seen seen;
  GOOD(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, sawStart, &seen));
  BAD(ACL_ERROR_INVALID_PARAM, aclInitCallbackRegister(ACL_REG_TYPE_OTHER, sawStart, &seen));
  GOOD(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, sawStart, &seen));
  GOOD(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, sawStart));
  BAD(ACL_ERROR_INVALID_PARAM, aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, sawStart));
  GOOD(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, sawEnd, &seen));
  GOOD(aclrtRegStreamStateCallback(
      "test",
      [](aclrtStream, aclrtStreamState state, void *args) {
        static_cast<Seen *>(args)->streams += state == ACL_RT_STREAM_STATE_CREATE_POST ? 1 : 10;
      },
      &seen));
  GOOD(aclrtRegDeviceStateCallback(
      "test", [](int32_t, aclrtDeviceState, void *args) { static_cast<Seen *>(args)->devices++; },
      &seen));
  {
    Started started;
    CHECK((seen.started == 1 && seen.settings.empty() && seen.devices == 2));
    int32_t active = 0;
    GOOD(aclrtGetPrimaryCtxState(0, nullptr, &active));
    CHECK(active == 1);
    aclrtStream stream = nullptr;
    GOOD(aclrtCreateStream(&stream));
    CHECK(seen.streams == 1);
    GOOD(aclrtDestroyStream(stream));
    CHECK(seen.streams == 11);
  }
  CHECK((seen.ended == 1 && seen.devices == 4));
  GOOD(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, sawStart));
  GOOD(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, sawEnd));
  GOOD(aclrtRegStreamStateCallback("test", nullptr, nullptr));
  GOOD(aclrtRegDeviceStateCallback("test", nullptr, nullptr));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtRegDeviceStateCallback("test", nullptr, nullptr));
}

TEST_CASE("copies whose addresses are in device memory") {
  Started started;
  DeviceMemory description(64), from(256), to(256), other(256), table(16);
  auto *bytes = static_cast<char *>(from.data);
  for (int i = 0; i < 256; ++i)
    bytes[i] = char(i);
  size_t size = 0;
  GOOD(aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &size));
  CHECK(size == 64);
  BAD(ACL_ERROR_INVALID_PARAM, aclrtGetMemcpyDescSize(ACL_MEMCPY_HOST_TO_DEVICE, &size));
  GOOD(aclrtSetMemcpyDesc(description.data, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, from.data, to.data,
                          200, nullptr));
  GOOD(aclrtMemcpyAsyncWithDesc(description.data, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK((static_cast<char *>(to.data)[199] == char(199)));
  GOOD(aclrtMemset(description.data, 64, 0, 64));
  GOOD(aclrtMemcpyAsyncWithDesc(description.data, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, nullptr));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtSynchronizeStream(nullptr));
  auto **positions = static_cast<void **>(table.data);
  positions[0] = other.data;
  positions[1] = from.data;
  GOOD(aclrtMemcpyAsyncWithOffset(positions, 256, 10, const_cast<const void **>(positions + 1), 100,
                                  20, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK((static_cast<char *>(other.data)[10] == 20 && static_cast<char *>(other.data)[109] == 119));
}

TEST_CASE("random numbers of each distribution") {
  Started started;
  constexpr int count = 4000;
  DeviceMemory result(count * sizeof(float)), counter(16);
  memset(counter.data, 0, 16);
  auto *values = static_cast<float *>(result.data);
  aclrtRandomNumTaskInfo info{};
  info.dataType = ACL_FLOAT;
  info.randomResultAddr = result.data;
  info.randomCounterAddr = counter.data;
  auto set = [](aclrtRandomParaInfo &target, auto value) {
    target.size = sizeof(value);
    memcpy(target.valueOrAddr, &value, sizeof(value));
  };
  set(info.randomSeed, int64_t{7});
  set(info.randomNum, int64_t{count});
  auto &kind = info.randomNumFuncParaInfo;
  auto mean = [&] { return std::accumulate(values, values + count, 0.0) / count; };
  auto extreme = [&](float from) {
    float max = 0;
    for (int i = 0; i < count; ++i)
      max = std::max(max, std::abs(values[i] - from));
    return max;
  };
  kind.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
  set(kind.paramInfo.uniformDisInfo.min, 2.0f);
  set(kind.paramInfo.uniformDisInfo.max, 4.0f);
  GOOD(aclrtRandomNumAsync(&info, nullptr, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK((std::abs(mean() - 3) < 0.05 && extreme(3) <= 1 && extreme(3) > 0.99));
  CHECK(static_cast<uint64_t *>(counter.data)[0] == count);
  const float first = values[0];
  GOOD(aclrtRandomNumAsync(&info, nullptr, nullptr)); // the counter has moved
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(values[0] != first);
  kind.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS;
  set(kind.paramInfo.normalDisInfo.mean, 10.0f);
  set(kind.paramInfo.normalDisInfo.stddev, 3.0f);
  GOOD(aclrtRandomNumAsync(&info, nullptr, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK((std::abs(mean() - 10) < 0.2 && extreme(10) <= 6 && extreme(10) > 5.5));
  kind.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS;
  GOOD(aclrtRandomNumAsync(&info, nullptr, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK((std::abs(mean() - 10) < 0.2 && extreme(10) > 6));
  kind.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK;
  set(kind.paramInfo.dropoutBitmaskInfo.dropoutRation, 0.25f);
  GOOD(aclrtRandomNumAsync(&info, nullptr, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  int kept = 0;
  for (int i = 0; i < count; ++i)
    kept += static_cast<uint8_t *>(result.data)[i / 8] >> (i % 8) & 1;
  CHECK((kept > 2900 && kept < 3100));
  info.dataType = ACL_INT8;
  BAD(ACL_ERROR_UNSUPPORTED_DATA_TYPE, aclrtRandomNumAsync(&info, nullptr, nullptr));
}

TEST_CASE("accepted times, peers and faults can be asked for") {
  Started started;
  uint32_t milliseconds = 0;
  GOOD(aclrtSetOpExecuteTimeOut(3));
  GOOD(aclrtGetOpExecuteTimeout(&milliseconds));
  CHECK(milliseconds == 3000);
  GOOD(aclrtSetOpExecuteTimeOutWithMs(40));
  GOOD(aclrtGetOpExecuteTimeout(&milliseconds));
  CHECK(milliseconds == 40);
  int32_t status = -1;
  GOOD(aclrtDevicePeerAccessStatus(0, 0, &status));
  CHECK(status == 0);
  GOOD(aclrtDeviceEnablePeerAccess(0, 0));
  GOOD(aclrtDevicePeerAccessStatus(0, 0, &status));
  CHECK(status == 1);
  GOOD(aclrtDeviceDisablePeerAccess(0));
  GOOD(aclrtDevicePeerAccessStatus(0, 0, &status));
  CHECK(status == 0);
  aclrtErrorInfo info;
  info.errorType = ACL_RT_ERROR_L2;
  GOOD(aclrtGetErrorVerbose(0, &info));
  CHECK(info.errorType == ACL_RT_NO_ERROR);
  aclrtMemUceInfo faults[2];
  size_t found = 1;
  GOOD(aclrtGetMemUceInfo(0, faults, 2, &found));
  CHECK(found == 0);
}
