//===-- NotifyTest.cpp - notifies, values, settings of streams ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/ascend/AclTest.h"

#include <cstring>

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
  GOOD(aclrtValueWait(memory.data, 2, ACL_STREAM_WAIT_VALUE_AND, streams.second));
  GOOD(aclrtSynchronizeStream(streams.second));
  BAD(ACL_ERROR_MEMORY_ADDRESS_UNALIGNED,
      aclrtValueWrite(static_cast<char *>(memory.data) + 4, 1, 0, streams.first));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtValueWait(memory.data, 1, 9, streams.second));
  aclrtEvent event = nullptr;
  GOOD(aclrtCreateEvent(&event));
  GOOD(aclrtValueWait(memory.data, 100, ACL_STREAM_WAIT_VALUE_EQ, streams.first));
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
