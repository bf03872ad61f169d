//===-- RuntimeTest.cpp - devices, contexts, streams, events, memory ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mstx/ms_tools_ext.h"
#include "test/ascend/AclTest.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

namespace {

constexpr int badHandle = 0x1230;

void *made(int value) { return reinterpret_cast<void *>(static_cast<uintptr_t>(value)); }

void sleepMs(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

} // namespace

TEST_CASE("AscendCL starts once and ends once") {
  BAD(ACL_ERROR_UNINITIALIZE, aclFinalize());
  GOOD(aclInit(nullptr));
  BAD(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  GOOD(aclFinalize());
  BAD(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
  GOOD(aclInit(""));
  GOOD(aclFinalize());
  // A program that ends after a failure ends as any other, once.
  BAD(ACL_ERROR_INVALID_FILE, aclInit("/nowhere/acl.json"));
  GOOD(aclFinalize());
  BAD(ACL_ERROR_UNINITIALIZE, aclFinalize());
  const std::string path = OPENATC_ASCEND_SCRATCH "/acl.json";
  std::ofstream(path) << "{\"dump\": ";
  BAD(ACL_ERROR_PARSE_FILE, aclInit(path.c_str()));
  BAD(ACL_ERROR_PARSE_FILE, aclInit(path.c_str())); // not yet started
  void *memory = nullptr;
  BAD(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST));
  std::ofstream(path) << "{\"dump\": {}}";
  GOOD(aclInit(path.c_str()));
  GOOD(aclFinalize());
  int32_t device = -1;
  std::ofstream(path) << R"({"defaultDevice": {"default_device": "0"}})";
  GOOD(aclInit(path.c_str()));
  GOOD(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST)); // the thread has opened no device
  GOOD(aclrtGetDevice(&device));
  CHECK(device == 0);
  GOOD(aclrtFree(memory));
  GOOD(aclrtResetDevice(0));
  // An observer may ask for the device while it is opened, by itself or by the program.
  std::vector<aclError> answers;
  GOOD(aclrtRegDeviceStateCallback(
      "asks",
      [](int32_t, aclrtDeviceState state, void *to) {
        int32_t number = -1;
        if (state == ACL_RT_DEVICE_STATE_SET_PRE || state == ACL_RT_DEVICE_STATE_SET_POST)
          static_cast<std::vector<aclError> *>(to)->push_back(aclrtGetDevice(&number));
      },
      &answers));
  const std::vector<aclError> expected = {ACL_ERROR_RT_CONTEXT_NULL, ACL_SUCCESS};
  GOOD(aclrtGetDevice(&device));
  CHECK((device == 0 && answers == expected));
  GOOD(aclrtResetDevice(0));
  answers.clear();
  GOOD(aclrtSetDevice(0));
  CHECK(answers == expected);
  GOOD(aclrtResetDevice(0));
  GOOD(aclrtRegDeviceStateCallback("asks", nullptr, nullptr));
  GOOD(aclFinalize());
  BAD(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  for (const char *settings : {"[]", "{}", R"({"default_device": "first"})"}) {
    std::ofstream(path) << R"({"defaultDevice": )" << settings << "}";
    BAD(ACL_ERROR_INVALID_PARAM, aclInit(path.c_str()));
    GOOD(aclFinalize());
  }
  std::ofstream(path) << R"({"defaultDevice": {"default_device": "99"}})";
  BAD(ACL_ERROR_RT_INVALID_DEVICEID, aclInit(path.c_str()));
  GOOD(aclFinalize());
  int32_t major = 0, minor = 0, patch = -1;
  GOOD(aclrtGetVersion(&major, &minor, &patch));
  CHECK((major == 1 && minor == 10 && patch == 0));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtGetVersion(nullptr, &minor, &patch));
}

namespace {

std::atomic<uint32_t> firstSeen{0}, secondSeen{0};

/// Runs a task that fails, a callback whose thread is gone; returns the message.
std::string failOnce() {
  aclrtStream stream = nullptr;
  GOOD(aclrtCreateStream(&stream));
  GOOD(aclrtLaunchHostFunc(stream, [](void *) { sleepMs(30); }, nullptr));
  GOOD(aclrtSubscribeReport(1234, stream));
  GOOD(aclrtLaunchCallback([](void *) {}, nullptr, ACL_CALLBACK_BLOCK, stream));
  GOOD(aclrtUnSubscribeReport(1234, stream));
  CHECK(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_STREAM_NO_CB_REG);
  const char *message = aclGetRecentErrMsg();
  const std::string result = message ? message : "";
  GOOD(aclrtDestroyStream(stream));
  return result;
}

} // namespace

TEST_CASE("all functions that are registered are told of a failed task") {
  Started started;
  const aclrtExceptionInfoCallback first = [](aclrtExceptionInfo *info) {
    firstSeen = aclrtGetErrorCodeFromExceptionInfo(info);
  };
  const aclrtExceptionInfoCallback second = [](aclrtExceptionInfo *info) {
    secondSeen = aclrtGetErrorCodeFromExceptionInfo(info);
  };
  BAD(ACL_ERROR_INVALID_PARAM, aclrtExceptionInfoCallbackRegister(nullptr));
  GOOD(aclrtExceptionInfoCallbackRegister(first));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtExceptionInfoCallbackRegister(first));
  GOOD(aclrtExceptionInfoCallbackRegister(second));
  failOnce();
  CHECK((firstSeen == uint32_t(ACL_ERROR_RT_STREAM_NO_CB_REG) && firstSeen == secondSeen));
  firstSeen = secondSeen = 0;
  GOOD(aclrtExceptionInfoCallbackUnregister(first));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtExceptionInfoCallbackUnregister(first));
  failOnce();
  CHECK((firstSeen == 0 && secondSeen == uint32_t(ACL_ERROR_RT_STREAM_NO_CB_REG)));
  GOOD(aclrtExceptionInfoCallbackUnregister(second));
}

TEST_CASE("a function that unregisters itself does not hide the next one") {
  Started started;
  static std::atomic<int> once, always;
  once = always = 0;
  static aclrtExceptionInfoCallback leaving;
  leaving = [](aclrtExceptionInfo *) {
    ++once;
    aclrtExceptionInfoCallbackUnregister(leaving);
  };
  // One that comes again is not told twice of the same failure.
  static aclrtExceptionInfoCallback returning;
  returning = [](aclrtExceptionInfo *) {
    ++always;
    aclrtExceptionInfoCallbackUnregister(returning);
    aclrtExceptionInfoCallbackRegister(returning);
  };
  GOOD(aclrtExceptionInfoCallbackRegister(leaving));
  GOOD(aclrtExceptionInfoCallbackRegister(returning));
  for (int failures = 1; failures <= 2; ++failures) {
    failOnce();
    CHECK(once == 1);
    CHECK(always == failures);
  }
  GOOD(aclrtExceptionInfoCallbackUnregister(returning));
}

TEST_CASE("a message stays where a function that is told of the failure takes it") {
  Started started;
  static std::string seen;
  seen.clear();
  const aclrtExceptionInfoCallback takes = [](aclrtExceptionInfo *) {
    const char *message = aclGetRecentErrMsg();
    seen = message ? message : "";
  };
  GOOD(aclrtExceptionInfoCallbackRegister(takes));
  const std::string told = failOnce();
  CHECK(told.find("no memory") == std::string::npos);
  CHECK_FALSE(told.empty());
  CHECK(seen == told);
  GOOD(aclrtExceptionInfoCallbackUnregister(takes));
}

TEST_CASE("a size beyond all memory is an error") {
  aclTensorDesc *desc = aclCreateTensorDesc(ACL_FLOAT, 0, nullptr, ACL_FORMAT_ND);
  REQUIRE(desc);
  char byte = 0;
  BAD(ACL_ERROR_BAD_ALLOC, aclSetTensorConst(desc, &byte, SIZE_MAX));
  aclDestroyTensorDesc(desc);
}

TEST_CASE("devices have addresses") {
  char text[16] = {};
  GOOD(aclrtDeviceGetPCIBusId(0, text, sizeof text));
  CHECK(std::string(text) == "0000:01:00.0");
  int32_t device = -1;
  GOOD(aclrtDeviceGetByPCIBusId(text, &device));
  CHECK(device == 0);
  BAD(ACL_ERROR_INVALID_PARAM, aclrtDeviceGetPCIBusId(0, text, 12));
  BAD(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceGetPCIBusId(77, text, sizeof text));
  const aclrtAtomicOperation operations[] = {ACL_RT_ATOMIC_OPERATION_AND,
                                             ACL_RT_ATOMIC_OPERATION_FLOAT_MAX};
  uint32_t capabilities[] = {7, 7, 7};
  GOOD(aclrtDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 0));
  CHECK((capabilities[0] == 0 && capabilities[1] == 0 && capabilities[2] == 7));
  GOOD(aclrtDeviceGetP2PAtomicCapabilities(capabilities + 2, operations, 1, 0, 0));
  CHECK(capabilities[2] == 0);
  BAD(ACL_ERROR_INVALID_PARAM,
      aclrtDeviceGetHostAtomicCapabilities(capabilities, operations, 0, 0));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtDeviceGetHostAtomicCapabilities(nullptr, operations, 2, 0));
  const auto beyond = aclrtAtomicOperation(13);
  BAD(ACL_ERROR_INVALID_PARAM, aclrtDeviceGetHostAtomicCapabilities(capabilities, &beyond, 1, 0));
  BAD(ACL_ERROR_RT_INVALID_DEVICEID,
      aclrtDeviceGetP2PAtomicCapabilities(capabilities, operations, 2, 0, 77));
  BAD(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceGetByPCIBusId("0000:99:00.0", &device));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtDeviceGetByPCIBusId("somewhere", &device));
}

TEST_CASE("a message is of the thread of the call, and is returned once") {
  CHECK(aclrtFree(nullptr) == ACL_ERROR_INVALID_PARAM);
  std::thread([] { CHECK(aclGetRecentErrMsg() == nullptr); }).join();
  const char *message = aclGetRecentErrMsg();
  REQUIRE(message);
  CHECK(std::string(message).find("aclrtFree") != std::string::npos);
  CHECK(aclGetRecentErrMsg() == nullptr);
}

TEST_CASE("devices and contexts") {
  GOOD(aclInit(nullptr));
  uint32_t count = 0;
  GOOD(aclrtGetDeviceCount(&count));
  REQUIRE(count >= 1);
  BAD(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
  BAD(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(static_cast<int32_t>(count)));
  BAD(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0));
  int32_t device = -1;
  BAD(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  aclrtContext context = nullptr, second = nullptr, current = nullptr;
  BAD(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&current));
  GOOD(aclrtSetDevice(0));
  GOOD(aclrtGetDevice(&device));
  CHECK(device == 0);
  aclrtRunMode mode = ACL_DEVICE;
  GOOD(aclrtGetRunMode(&mode));
  CHECK(mode == ACL_HOST);
  CHECK(std::string(aclrtGetSocName()).find("Ascend") == 0);

  aclrtContext standard = nullptr;
  GOOD(aclrtGetCurrentContext(&standard));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtDestroyContext(standard));
  GOOD(aclrtCreateContext(&context, 0));
  GOOD(aclrtCreateContext(&second, 0));
  GOOD(aclrtGetCurrentContext(&current));
  CHECK(current == second);
  BAD(ACL_ERROR_RT_INVALID_DEVICEID, aclrtCreateContext(&current, 99));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclrtSetCurrentContext(made(badHandle)));
  std::thread([&] {
    aclrtContext none = nullptr;
    CHECK(aclrtGetCurrentContext(&none) == ACL_ERROR_RT_CONTEXT_NULL);
    CHECK(aclrtSetCurrentContext(context) == ACL_SUCCESS);
    CHECK(aclrtGetCurrentContext(&none) == ACL_SUCCESS);
    CHECK(none == context);
  }).join();

  // A stream goes with its context, and its handle is then none.
  aclrtStream stream = nullptr;
  GOOD(aclrtCreateStream(&stream));
  GOOD(aclrtSetCurrentContext(context));
  std::vector<char> bytes(8);
  BAD(ACL_ERROR_RT_STREAM_CONTEXT,
      aclrtMemcpyAsync(bytes.data(), 8, bytes.data(), 8, ACL_MEMCPY_HOST_TO_HOST, stream));
  GOOD(aclrtDestroyContext(second));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclrtSynchronizeStream(stream));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclrtDestroyContext(second));
  GOOD(aclrtDestroyContext(context));
  BAD(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&stream));

  GOOD(aclrtSetDevice(0));
  GOOD(aclrtResetDevice(0));
  GOOD(aclrtResetDevice(0));
  BAD(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0));
  GOOD(aclFinalize());
}

TEST_CASE("memory is checked") {
  Started started;
  void *device = nullptr, *host = nullptr;
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&device, 0, ACL_MEM_MALLOC_HUGE_FIRST));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&device, 8, static_cast<aclrtMemMallocPolicy>(77)));
  BAD(ACL_ERROR_RT_MEMORY_ALLOCATION,
      aclrtMalloc(&device, size_t{1} << 60, ACL_MEM_MALLOC_HUGE_FIRST));
  size_t before = 0, after = 0, total = 0;
  GOOD(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
  GOOD(aclrtMalloc(&device, 1000, ACL_MEM_MALLOC_NORMAL_ONLY));
  CHECK(reinterpret_cast<uintptr_t>(device) % 64 == 0);
  GOOD(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
  CHECK(before - after == 1000);
  CHECK(after < total);
  GOOD(aclrtMallocHost(&host, 1000));
  memset(host, 5, 1000);
  GOOD(aclrtMemcpy(device, 1000, host, 1000, ACL_MEMCPY_HOST_TO_DEVICE));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(device, 999, host, 1000, ACL_MEMCPY_HOST_TO_DEVICE));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(device, 1001, host, 1001, ACL_MEMCPY_HOST_TO_DEVICE));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(host, 1000, device, 1000, ACL_MEMCPY_HOST_TO_DEVICE));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(nullptr, 1000, host, 10, ACL_MEMCPY_HOST_TO_DEVICE));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(device, 10, host, 10, static_cast<aclrtMemcpyKind>(9)));
  GOOD(aclrtMemset(device, 1000, 7, 500));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemset(device, 1000, 7, 1001));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemset(device, 2000, 7, 2000));
  std::vector<char> back(1000);
  GOOD(aclrtMemcpy(back.data(), 1000, device, 1000, ACL_MEMCPY_DEVICE_TO_HOST));
  CHECK((back[499] == 7 && back[500] == 5 && back[999] == 5));
  // Rows of 10 bytes, 20 and 16 bytes apart.
  GOOD(aclrtMemcpy2d(device, 20, back.data(), 16, 10, 40, ACL_MEMCPY_HOST_TO_DEVICE));
  BAD(ACL_ERROR_INVALID_PARAM,
      aclrtMemcpy2d(device, 8, back.data(), 16, 10, 40, ACL_MEMCPY_HOST_TO_DEVICE));
  BAD(ACL_ERROR_INVALID_PARAM,
      aclrtMemcpy2d(device, 20, back.data(), 16, 10, 60, ACL_MEMCPY_HOST_TO_DEVICE));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtFreeHost(device));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtFree(host));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtFree(back.data()));
  GOOD(aclrtFree(device));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtFree(device));
  GOOD(aclrtFreeHost(host));
}

TEST_CASE("tasks of a stream run in order, and events order streams") {
  Started started;
  aclrtStream first = nullptr, second = nullptr;
  aclrtEvent event = nullptr, start = nullptr;
  GOOD(aclrtCreateStream(&first));
  GOOD(aclrtCreateStream(&second));
  GOOD(aclrtCreateEvent(&event));
  GOOD(aclrtCreateEventWithFlag(&start, ACL_EVENT_TIME_LINE));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtCreateEventWithFlag(&event, 0x100));
  static std::atomic<int> reached;
  reached = 0;
  GOOD(aclrtRecordEvent(start, first));
  GOOD(aclrtLaunchHostFunc(
      first,
      [](void *) {
        sleepMs(30);
        reached = 1;
      },
      nullptr));
  GOOD(aclrtRecordEvent(event, first));
  aclrtStreamStatus busy = ACL_STREAM_STATUS_COMPLETE;
  GOOD(aclrtStreamQuery(first, &busy));
  CHECK(busy == ACL_STREAM_STATUS_NOT_READY);
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  GOOD(aclrtQueryEventStatus(event, &recorded));
  CHECK(recorded == ACL_EVENT_RECORDED_STATUS_NOT_READY);
  GOOD(aclrtStreamWaitEvent(second, event));
  GOOD(aclrtLaunchHostFunc(second, [](void *seen) { *static_cast<int *>(seen) = reached; }, &busy));
  GOOD(aclrtSynchronizeStream(second));
  CHECK(int(busy) == 1);
  GOOD(aclrtSynchronizeEvent(event));
  GOOD(aclrtQueryEventStatus(event, &recorded));
  CHECK(recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE);
  float ms = 0;
  GOOD(aclrtEventElapsedTime(&ms, start, event));
  CHECK(ms >= 29);
  CHECK(ms < 10000);
  aclrtEvent never = nullptr;
  GOOD(aclrtCreateEvent(&never));
  BAD(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&ms, never, event));
  GOOD(aclrtSynchronizeEvent(never));

  // A wait gives up, and a forced destruction lets others go on.
  GOOD(aclrtLaunchHostFunc(first, [](void *) { sleepMs(60); }, nullptr));
  BAD(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(first, 1));
  GOOD(aclrtRecordEvent(never, first));
  GOOD(aclrtStreamWaitEvent(second, never));
  GOOD(aclrtDestroyStreamForce(first));
  GOOD(aclrtSynchronizeStream(second));
  GOOD(aclrtSynchronizeDevice());

  GOOD(aclrtDestroyEvent(event));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclrtDestroyEvent(event));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclrtRecordEvent(event, second));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclrtStreamWaitEvent(first, start));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclrtRecordEvent(second, second));
  GOOD(aclrtDestroyEvent(start));
  GOOD(aclrtDestroyEvent(never));
  GOOD(aclrtDestroyStream(second));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclrtDestroyStream(second));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtDestroyStream(nullptr));
}

TEST_CASE("copies may be queued, and memory freed before they run") {
  Started started;
  aclrtStream stream = nullptr;
  GOOD(aclrtCreateStream(&stream));
  void *from = nullptr, *to = nullptr;
  GOOD(aclrtMalloc(&from, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  GOOD(aclrtMalloc(&to, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  std::vector<char> host(4096, 1);
  GOOD(aclrtLaunchHostFunc(stream, [](void *) { sleepMs(20); }, nullptr));
  GOOD(aclrtMemsetAsync(from, 4096, 42, 4096, stream));
  GOOD(aclrtMemcpyAsync(to, 4096, from, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  GOOD(aclrtMemcpyAsync(host.data(), 4096, to, 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  GOOD(aclrtFree(from));
  GOOD(aclrtFree(to));
  GOOD(aclrtSynchronizeStream(stream));
  CHECK((host.front() == 42 && host.back() == 42));
  BAD(ACL_ERROR_INVALID_PARAM,
      aclrtMemcpyAsync(to, 4096, host.data(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  // The default stream is a queue, too.
  GOOD(aclrtMemcpyAsync(host.data(), 4, host.data() + 8, 4, ACL_MEMCPY_HOST_TO_HOST, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  GOOD(aclrtDestroyStream(stream));
}

TEST_CASE("callbacks run on the thread that has subscribed") {
  Started started;
  aclrtStream stream = nullptr;
  GOOD(aclrtCreateStream(&stream));
  static std::atomic<int> count;
  static std::atomic<uint64_t> ranOn;
  count = 0;
  auto callback = [](void *add) {
    ranOn = static_cast<uint64_t>(pthread_self());
    count += *static_cast<int *>(add);
  };
  int one = 1;
  BAD(ACL_ERROR_RT_STREAM_NO_CB_REG,
      aclrtLaunchCallback(callback, &one, ACL_CALLBACK_BLOCK, stream));
  BAD(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(-1));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtProcessReport(-2));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtProcessReport(0));
  std::atomic<bool> ended{false};
  std::thread reports([&] {
    while (!ended)
      aclrtProcessReport(20);
  });
  const auto id = static_cast<uint64_t>(reports.native_handle());
  GOOD(aclrtSubscribeReport(id, stream));
  BAD(ACL_ERROR_REPEAT_SUBSCRIBE, aclrtSubscribeReport(id, stream));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtLaunchCallback(nullptr, &one, ACL_CALLBACK_BLOCK, stream));
  for (int i = 0; i < 10; ++i)
    GOOD(aclrtLaunchCallback(callback, &one, ACL_CALLBACK_BLOCK, stream));
  GOOD(aclrtSynchronizeStream(stream));
  CHECK(count == 10);
  CHECK(ranOn == id);
  BAD(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtUnSubscribeReport(id + 1, stream));
  GOOD(aclrtUnSubscribeReport(id, stream));
  BAD(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtUnSubscribeReport(id, stream));
  // A stream whose callback nobody runs can be destroyed.
  GOOD(aclrtSubscribeReport(1, stream));
  GOOD(aclrtLaunchCallback(callback, &one, ACL_CALLBACK_BLOCK, stream));
  GOOD(aclrtDestroyStream(stream));
  ended = true;
  reports.join();
}

TEST_CASE("numbers and types") {
  const std::pair<float, uint16_t> values[] = {
      {0.0f, 0x0000},     {-0.0f, 0x8000},      {1.0f, 0x3C00},
      {-2.0f, 0xC000},    {65504.0f, 0x7BFF},   {65520.0f, 0x7C00},
      {5.9604645e-8f, 1}, {1.0009765f, 0x3C01}, {2.9e-8f, 0x0000}};
  for (auto [number, bits] : values)
    CHECK(aclFloatToFloat16(number) == bits);
  CHECK(aclFloat16ToFloat(0x3C01) == 1.0009765625f);
  CHECK(std::isinf(aclFloat16ToFloat(0xFC00)));
  CHECK(std::isnan(aclFloat16ToFloat(aclFloatToFloat16(std::numeric_limits<float>::quiet_NaN()))));
  for (int bits = 0; bits < 0x7C00; ++bits)
    CHECK(aclFloatToFloat16(aclFloat16ToFloat(static_cast<aclFloat16>(bits))) == bits);
  CHECK(aclDataTypeSize(ACL_FLOAT) == 4);
  CHECK(aclDataTypeSize(ACL_COMPLEX128) == 16);
  CHECK(aclDataTypeSize(ACL_BF16) == 2);
  CHECK(aclDataTypeSize(ACL_DT_UNDEFINED) == 0);
}

TEST_CASE("data buffers and tensor descriptions are checked") {
  char bytes[16];
  aclDataBuffer *buffer = aclCreateDataBuffer(bytes, 16);
  CHECK(aclGetDataBufferAddr(buffer) == bytes);
  CHECK(aclGetDataBufferSizeV2(buffer) == 16);
  CHECK(aclGetDataBufferSize(buffer) == 16);
  GOOD(aclUpdateDataBuffer(buffer, bytes + 4, 8));
  CHECK(aclGetDataBufferAddr(buffer) == bytes + 4);
  const int64_t dims[] = {2, 3, -1, 5};
  aclTensorDesc *desc = aclCreateTensorDesc(ACL_FLOAT16, 4, dims, ACL_FORMAT_NCHW);
  REQUIRE(desc);
  // A handle of another kind is no handle.
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE,
      aclDestroyDataBuffer(reinterpret_cast<aclDataBuffer *>(desc)));
  CHECK(aclGetTensorDescType(reinterpret_cast<aclTensorDesc *>(buffer)) == ACL_DT_UNDEFINED);
  GOOD(aclDestroyDataBuffer(buffer));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclDestroyDataBuffer(buffer));
  CHECK(aclGetDataBufferAddr(buffer) == nullptr);

  CHECK(aclGetTensorDescNumDims(desc) == 4);
  CHECK(aclGetTensorDescElementCount(desc) == 0);
  const int64_t shape[] = {2, 3, 4, 5};
  GOOD(aclSetTensorOriginShape(desc, 4, shape));
  CHECK(aclGetTensorDescElementCount(desc) == 120);
  CHECK(aclGetTensorDescSize(desc) == 240);
  int64_t dim = 0;
  GOOD(aclGetTensorDescDimV2(desc, 3, &dim));
  CHECK(dim == 5);
  BAD(ACL_ERROR_INVALID_PARAM, aclGetTensorDescDimV2(desc, 4, &dim));
  // How the elements lie in memory does not change what the tensor is.
  const int64_t blocks[] = {2, 1, 4, 5, 16};
  aclTensorDesc *laid = aclCreateTensorDesc(ACL_FLOAT16, 4, shape, ACL_FORMAT_NCHW);
  GOOD(aclSetTensorFormat(laid, ACL_FORMAT_NC1HWC0));
  GOOD(aclSetTensorShape(laid, 5, blocks));
  CHECK(aclGetTensorDescFormat(laid) == ACL_FORMAT_NCHW);
  CHECK(aclGetTensorDescNumDims(laid) == 4);
  CHECK(aclGetTensorDescElementCount(laid) == 120);
  const int64_t turned[] = {2, 4, 5, 3};
  GOOD(aclSetTensorOriginFormat(laid, ACL_FORMAT_NHWC));
  GOOD(aclSetTensorOriginShape(laid, 4, turned));
  CHECK(aclGetTensorDescFormat(laid) == ACL_FORMAT_NHWC);
  GOOD(aclGetTensorDescDimV2(laid, 3, &dim));
  CHECK(dim == 3);
  aclDestroyTensorDesc(laid);
  aclTensorDesc *other = nullptr;
  GOOD(aclTransTensorDescFormat(desc, ACL_FORMAT_NC1HWC0, &other));
  GOOD(aclGetTensorDescDimV2(other, 4, &dim));
  CHECK(dim == 16);
  aclDestroyTensorDesc(other);
  GOOD(aclTransTensorDescFormat(desc, ACL_FORMAT_NHWC, &other));
  GOOD(aclGetTensorDescDimV2(other, 3, &dim));
  CHECK(dim == 3);
  aclDestroyTensorDesc(other);
  aclSetTensorDescName(desc, "x");
  CHECK(std::string(aclGetTensorDescName(desc)) == "x");
  CHECK(aclCreateTensorDesc(ACL_FLOAT, -1, dims, ACL_FORMAT_ND) == nullptr);
  CHECK(aclCreateTensorDesc(ACL_FLOAT, 1, nullptr, ACL_FORMAT_ND) == nullptr);
  CHECK(aclCreateTensorDesc(ACL_FLOAT, 1, dims, static_cast<aclFormat>(99)) == nullptr);
  aclTensorDesc *scalar = aclCreateTensorDesc(ACL_FLOAT, 0, nullptr, ACL_FORMAT_ND);
  CHECK(aclGetTensorDescElementCount(scalar) == 1);
  const int64_t unknown[] = {-2};
  aclTensorDesc *anyRank = aclCreateTensorDesc(ACL_FLOAT, 1, unknown, ACL_FORMAT_ND);
  CHECK(aclGetTensorDescNumDims(anyRank) == ACL_UNKNOWN_RANK);
  aclDestroyTensorDesc(anyRank);
  aclDestroyTensorDesc(scalar);
  aclDestroyTensorDesc(desc);
  aclDestroyTensorDesc(desc);
  CHECK(aclGetRecentErrMsg() != nullptr);
}

TEST_CASE("memory that a program divides is watched by no tool") {
  int memory[4] = {};
  const mstxMemVirtualRangeDesc_t range{0, memory, sizeof memory};
  const mstxMemHeapDesc_t heap{MSTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR,
                               MSTX_MEM_TYPE_VIRTUAL_ADDRESS, &range};
  CHECK(mstxMemHeapRegister(nullptr, &heap) == nullptr);
  auto *none = reinterpret_cast<mstxMemRegionHandle_t>(memory);
  mstxMemRegionHandle_t regions[2] = {none, none};
  const mstxMemRegionsRegisterBatch_t batch{nullptr, MSTX_MEM_TYPE_VIRTUAL_ADDRESS, 1, &range,
                                            regions};
  mstxMemRegionsRegister(nullptr, &batch);
  CHECK((regions[0] == nullptr && regions[1] == none));
  mstxMemRegionsRegister(nullptr, nullptr);
  mstxMemRegionsUnregister(nullptr, nullptr);
  mstxMemHeapUnregister(nullptr, nullptr);
}
