//===-- Context.cpp -----------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Context.h"
#include "ascend/src/Observers.h"

#include "ascend/src/Errors.h"
#include "ascend/src/Integer.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <set>

namespace atc::ascend {
namespace {

std::atomic<uint64_t> nextContext{1};

struct Device {
  unsigned opened = 0;
  void *context = nullptr;
};

std::mutex devicesMutex;

/// The open devices, guarded by `devicesMutex`. Never destroyed: threads may outlive main.
std::map<int32_t, Device> &openDevices() {
  static auto &devices = *new std::map<int32_t, Device>;
  return devices;
}

thread_local void *threadContext = nullptr;
/// How many calls of aclrtSetDevice of this thread have told observers, but opened nothing yet.
thread_local unsigned openings = 0;
std::atomic<int32_t> defaultDevice{-1};

uint32_t deviceCount() {
  static const uint32_t count = [] {
    const int number = environmentInteger("OPENATC_ACL_DEVICES").value_or(1);
    return static_cast<uint32_t>(number >= 1 && number <= 64 ? number : 1);
  }();
  return count;
}

/// Closes the streams of a context, whose handle was removed.
void closeStreams(Context &context) {
  auto own =
      streams().removeIf([&](const Stream &stream) { return stream.context == context.number; });
  for (auto &stream : own)
    stream->close(/*force=*/false);
  context.defaultStream()->close(/*force=*/false);
}

} // namespace

Context::Context(int32_t device, bool isDefault)
    : device(device), isDefault(isDefault), number(nextContext.fetch_add(1)) {}

std::shared_ptr<Stream> Context::defaultStream() {
  std::lock_guard lock(mutex);
  if (!stream)
    stream = std::make_shared<Stream>(device, number);
  return stream;
}

aclrtStream Context::defaultStreamHandle() {
  auto shared = defaultStream();
  std::lock_guard lock(mutex);
  if (!handle)
    handle = streams().add(std::move(shared));
  return handle;
}

HandleTable<Context> &contexts() {
  static auto &table = *new HandleTable<Context>(HandleKind::Context);
  return table;
}

HandleTable<Stream> &streams() {
  static auto &table = *new HandleTable<Stream>(HandleKind::Stream);
  return table;
}

void setDefaultDevice(int32_t device) { defaultDevice = device; }

aclError currentContext(const char *function, std::shared_ptr<Context> &context) {
  // An observer that asks for a context before there is one must not open the device again.
  if (const int32_t device = defaultDevice; !threadContext && device >= 0 && !openings)
    ACL_TRY(aclrtSetDevice(device));
  context = contexts().find(threadContext);
  if (context)
    return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_CONTEXT_NULL, function,
              threadContext ? "the context of this thread was destroyed"
                            : "this thread has no context; call aclrtSetDevice or "
                              "aclrtSetCurrentContext first");
}

aclError checkDevice(const char *function, int64_t device) {
  if (device >= 0 && device < int64_t(deviceCount()))
    return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_INVALID_DEVICEID, function,
              "there is no device %lld; ids are 0 to %u (OPENATC_ACL_DEVICES sets how many)",
              (long long)device, deviceCount() - 1);
}

aclError findStream(const char *function, aclrtStream handle, std::shared_ptr<Stream> &stream) {
  std::shared_ptr<Context> context;
  ACL_TRY(currentContext(function, context));
  if (!handle) {
    stream = context->defaultStream();
    return ACL_SUCCESS;
  }
  stream = streams().find(handle);
  if (!stream)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "stream (%p) was destroyed, or is no stream", handle);
  if (stream->context != context->number)
    return fail(ACL_ERROR_RT_STREAM_CONTEXT, function,
                "stream (%p) belongs to another context than that of this thread", handle);
  return ACL_SUCCESS;
}

aclError enqueue(const char *function, aclrtStream handle, Stream::Task task,
                 const aclmdlRITaskParams &description) {
  std::shared_ptr<Stream> stream;
  ACL_TRY(findStream(function, handle, stream));
  return stream->enqueue(function, std::move(task), description);
}

std::vector<int32_t> openedDevices() {
  std::vector<int32_t> numbers;
  std::lock_guard lock(devicesMutex);
  for (const auto &[number, device] : openDevices())
    if (device.opened > 0)
      numbers.push_back(number);
  return numbers;
}

aclError synchronizeDevice(const char *function, int32_t device, int32_t timeout) {
  auto waiting = streams().select([&](const Stream &stream) { return stream.device == device; });
  for (auto &context :
       contexts().select([&](const Context &context) { return context.device == device; }))
    waiting.push_back(context->defaultStream());
  aclError first = ACL_SUCCESS;
  for (auto &stream : waiting)
    if (aclError code = stream->synchronize(function, timeout); first == ACL_SUCCESS)
      first = code;
  return first;
}

} // namespace atc::ascend

using namespace atc::ascend;

aclError aclrtGetDeviceCount(uint32_t *count) {
  ACL_REQUIRE(count);
  *count = deviceCount();
  return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t deviceId) {
  ACL_TRY(checkDevice(__func__, deviceId));
  ++openings;
  tellDeviceState(deviceId, ACL_RT_DEVICE_STATE_SET_PRE);
  --openings;
  {
    std::lock_guard lock(devicesMutex);
    Device &device = openDevices()[deviceId];
    if (device.opened++ == 0)
      device.context = contexts().add(std::make_shared<Context>(deviceId, true));
    threadContext = device.context;
  }
  tellDeviceState(deviceId, ACL_RT_DEVICE_STATE_SET_POST);
  return ACL_SUCCESS;
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags, int32_t *active) {
  ACL_REQUIRE(active);
  if (flags)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flags must be NULL");
  ACL_TRY(checkDevice(__func__, deviceId));
  std::lock_guard lock(devicesMutex);
  *active = openDevices().count(deviceId) != 0;
  return ACL_SUCCESS;
}

static aclError resetDevice(const char *function, int32_t deviceId, bool force) {
  ACL_TRY(checkDevice(function, deviceId));
  std::shared_ptr<Context> context;
  {
    std::lock_guard lock(devicesMutex);
    auto device = openDevices().find(deviceId);
    if (device == openDevices().end())
      return fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, function, "device %d is not open", deviceId);
    if (!force && --device->second.opened > 0)
      return ACL_SUCCESS;
    context = contexts().remove(device->second.context);
    if (threadContext == device->second.context)
      threadContext = nullptr;
    openDevices().erase(device);
  }
  closeStreams(*context);
  return ACL_SUCCESS;
}

static aclError resetAndTell(const char *function, int32_t deviceId, bool force) {
  ACL_TRY(checkDevice(function, deviceId));
  tellDeviceState(deviceId, ACL_RT_DEVICE_STATE_RESET_PRE);
  const aclError code = resetDevice(function, deviceId, force);
  tellDeviceState(deviceId, ACL_RT_DEVICE_STATE_RESET_POST);
  return code;
}

aclError aclrtResetDevice(int32_t deviceId) { return resetAndTell(__func__, deviceId, false); }

aclError aclrtResetDeviceForce(int32_t deviceId) { return resetAndTell(__func__, deviceId, true); }

aclError aclrtGetDevice(int32_t *deviceId) {
  ACL_REQUIRE(deviceId);
  ACL_REQUIRE_CONTEXT(context);
  *deviceId = context->device;
  return ACL_SUCCESS;
}

aclError aclrtGetRunMode(aclrtRunMode *runMode) {
  ACL_REQUIRE(runMode);
  *runMode = ACL_HOST;
  return ACL_SUCCESS;
}

const char *aclrtGetSocName() {
  static const char *name = [] {
    const char *text = getenv("OPENATC_ACL_SOC");
    return text && *text ? text : "Ascend310P3";
  }();
  return name;
}

aclError aclrtSynchronizeDevice() {
  ACL_REQUIRE_CONTEXT(context);
  return synchronizeDevice(__func__, context->device, -1);
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  if (timeout < -1)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "timeout is %d; give milliseconds, or -1", timeout);
  ACL_REQUIRE_CONTEXT(context);
  return synchronizeDevice(__func__, context->device, timeout);
}

aclError aclrtSetTsDevice(aclrtTsId tsId) {
  if (tsId != ACL_TS_ID_AICORE && tsId != ACL_TS_ID_AIVECTOR)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "tsId is %d; give 0 or 1", int(tsId));
  ACL_REQUIRE_CONTEXT(context);
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo *utilizationInfo) {
  ACL_REQUIRE(utilizationInfo);
  ACL_TRY(checkDevice(__func__, deviceId));
  *utilizationInfo = {};
  return ACL_SUCCESS;
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  if (mode == ACL_RT_OVERFLOW_MODE_INFNAN)
    return ACL_SUCCESS;
  if (mode != ACL_RT_OVERFLOW_MODE_SATURATION)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "mode is %d; give 0 or 1", int(mode));
  ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT,
           "float16 values that overflow become infinite here; they cannot be clamped");
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode) {
  ACL_REQUIRE(mode);
  *mode = ACL_RT_OVERFLOW_MODE_INFNAN;
  return ACL_SUCCESS;
}

aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  ACL_REQUIRE(canAccessPeer);
  ACL_TRY(checkDevice(__func__, deviceId));
  ACL_TRY(checkDevice(__func__, peerDeviceId));
  *canAccessPeer = deviceId != peerDeviceId;
  return ACL_SUCCESS;
}

/// Returns the pairs of devices of which the first may read the second.
static std::set<std::pair<int32_t, int32_t>> &peers() {
  static auto &only = *new std::set<std::pair<int32_t, int32_t>>;
  return only;
}

/// Notes whether the device of this thread may read another one.
static aclError allowPeer(const char *function, int32_t peer, bool isAllowed) {
  ACL_TRY(checkDevice(function, peer));
  std::shared_ptr<Context> context;
  if (currentContext(function, context) != ACL_SUCCESS)
    return ACL_SUCCESS; // without a device there is nothing to note
  std::lock_guard lock(devicesMutex);
  if (isAllowed)
    peers().emplace(context->device, peer);
  else
    peers().erase({context->device, peer});
  return ACL_SUCCESS;
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  if (flags != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flags is %u; it must be 0", flags);
  return allowPeer(__func__, peerDeviceId, true);
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return allowPeer(__func__, peerDeviceId, false);
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status) {
  ACL_REQUIRE(status);
  ACL_TRY(checkDevice(__func__, deviceId));
  ACL_TRY(checkDevice(__func__, peerDeviceId));
  std::lock_guard lock(devicesMutex);
  *status = int32_t(peers().count({deviceId, peerDeviceId}));
  return ACL_SUCCESS;
}

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId) {
  ACL_REQUIRE(context);
  ACL_TRY(checkDevice(__func__, deviceId));
  *context = contexts().add(std::make_shared<Context>(deviceId, false));
  threadContext = *context;
  return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context) {
  ACL_FIND(found, contexts(), context);
  if (found->isDefault)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM,
             "the default context of device %d is destroyed by "
             "aclrtResetDevice",
             found->device);
  // Two threads may both have found it; the one that removes it closes it.
  if (!contexts().remove(context))
    ACL_FAIL(ACL_ERROR_INVALID_RESOURCE_HANDLE, "context (%p) was destroyed", context);
  if (threadContext == context)
    threadContext = nullptr;
  closeStreams(*found);
  return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  ACL_FIND(found, contexts(), context);
  threadContext = context;
  return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context) {
  ACL_REQUIRE(context);
  ACL_REQUIRE_CONTEXT(found);
  *context = threadContext;
  return ACL_SUCCESS;
}

#define ACL_NO_GROUPS                                                                              \
  ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT,                                                              \
           "the cores of a device are one group here; remove the calls "                           \
           "that choose a group")

aclError aclrtSetGroup(int32_t) { ACL_NO_GROUPS; }
aclError aclrtGetGroupCount(uint32_t *) { ACL_NO_GROUPS; }
aclError aclrtGetAllGroupInfo(aclrtGroupInfo *) { ACL_NO_GROUPS; }
aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo *, int32_t, aclrtGroupAttr, void *, size_t,
                                 size_t *) {
  ACL_NO_GROUPS;
}
aclrtGroupInfo *aclrtCreateGroupInfo() {
  fail(ACL_ERROR_API_NOT_SUPPORT, __func__, "the cores of a device are one group here");
  return nullptr;
}
aclError aclrtDestroyGroupInfo(aclrtGroupInfo *) { ACL_NO_GROUPS; }
