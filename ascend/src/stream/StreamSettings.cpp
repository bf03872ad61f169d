//===-- StreamSettings.cpp - settings of streams, and questions ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "acl/acl_rt_sync.h"
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>

namespace atc::ascend {
namespace {

/// The settings that exist; programs see their fields, so that handles are addresses.
struct Settings {
  std::mutex mutex;
  std::set<const aclrtStreamConfigHandle *> known;
};

Settings &settings() {
  static auto &only = *new Settings;
  return only;
}

aclError requireSettings(const char *function, const aclrtStreamConfigHandle *handle) {
  std::lock_guard lock(settings().mutex);
  if (handle && settings().known.count(handle))
    return ACL_SUCCESS;
  return fail(handle ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, function,
              "handle (%p) is none of aclrtCreateStreamConfigHandle",
              static_cast<const void *>(handle));
}

aclError checkPackage(const char *function, const char *name) {
  for (const char *known : {"cann", "runtime", "compiler", "hccl", "toolkit", "opp", "opp_kernel",
                            "driver", "metadef", "ge-executor", "ge-compiler"})
    if (strcmp(name, known) == 0)
      return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM, function,
              "there is no package '%s'; give \"cann\", \"runtime\", \"compiler\" ...", name);
}

aclError sameNumber(const char *function, int32_t from, int32_t *to) {
  if (!to)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the address for the number is NULL");
  ACL_TRY(checkDevice(function, from));
  *to = from;
  return ACL_SUCCESS;
}

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle() {
  auto *handle = new aclrtStreamConfigHandle{};
  std::lock_guard lock(settings().mutex);
  settings().known.insert(handle);
  return handle;
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle) {
  ACL_TRY(requireSettings(__func__, handle));
  std::lock_guard lock(settings().mutex);
  settings().known.erase(handle);
  delete handle;
  return ACL_SUCCESS;
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr,
                                 const void *attrValue, size_t valueSize) {
  ACL_TRY(requireSettings(__func__, handle));
  ACL_REQUIRE(attrValue);
  const bool isAddress = attr == ACL_RT_STREAM_WORK_ADDR_PTR || attr == ACL_RT_STREAM_WORK_SIZE;
  if (attr < ACL_RT_STREAM_WORK_ADDR_PTR || attr > ACL_RT_STREAM_PRIORITY)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "attr is %d; give 0 to 3", int(attr));
  const bool wide = valueSize == 8 && attr != ACL_RT_STREAM_PRIORITY;
  if (!wide && (isAddress || valueSize != 4))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "valueSize is %zu; attribute %d has %d bytes", valueSize,
             int(attr), isAddress ? 8 : 4);
  uint64_t value = 0;
  memcpy(&value, attrValue, valueSize);
  if (attr == ACL_RT_STREAM_PRIORITY && value > 7)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the priority is %llu; give 0 to 7",
             (unsigned long long)value);
  switch (attr) {
  case ACL_RT_STREAM_WORK_ADDR_PTR:
    handle->workptr = reinterpret_cast<void *>(value);
    break;
  case ACL_RT_STREAM_WORK_SIZE:
    handle->workSize = value;
    break;
  case ACL_RT_STREAM_FLAG:
    handle->flag = value;
    break;
  default:
    handle->priority = uint32_t(value);
  }
  return ACL_SUCCESS;
}

aclError aclrtCreateStreamV2(aclrtStream *stream, const aclrtStreamConfigHandle *handle) {
  if (!handle)
    return aclrtCreateStream(stream);
  ACL_TRY(requireSettings(__func__, handle));
  return aclrtCreateStreamWithConfig(stream, handle->priority, uint32_t(handle->flag));
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority) {
  ACL_REQUIRE(priority);
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  *priority = found->priority;
  return ACL_SUCCESS;
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags) {
  ACL_REQUIRE(flags);
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  *flags = found->flags;
  return ACL_SUCCESS;
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr attr,
                                 aclrtStreamAttrValue *value) {
  ACL_REQUIRE(value);
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  switch (attr) {
  case ACL_STREAM_ATTR_FAILURE_MODE:
    if (value->failureMode > ACL_STOP_ON_FAILURE)
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "failureMode is %llu; give 0 or 1",
               (unsigned long long)value->failureMode);
    found->setFailureMode(value->failureMode);
    return ACL_SUCCESS;
  case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
    return aclrtSetStreamOverflowSwitch(stream, value->overflowSwitch);
  case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
    found->tag = value->userCustomTag;
    return ACL_SUCCESS;
  case ACL_STREAM_ATTR_CACHE_OP_INFO:
    found->keepsOperators = value->cacheOpInfoSwitch;
    return ACL_SUCCESS;
  case ACL_STREAM_ATTR_PRIORITY:
    if (value->streamPriority > 7)
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "streamPriority is %u; give 0 to 7", value->streamPriority);
    found->priority = value->streamPriority;
    return ACL_SUCCESS;
  }
  ACL_FAIL(ACL_ERROR_INVALID_PARAM, "attr is %d; give 1 to 5", int(attr));
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr attr,
                                 aclrtStreamAttrValue *value) {
  ACL_REQUIRE(value);
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  *value = {};
  switch (attr) {
  case ACL_STREAM_ATTR_FAILURE_MODE:
    value->failureMode = found->getFailureMode();
    return ACL_SUCCESS;
  case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
    return aclrtGetStreamOverflowSwitch(stream, &value->overflowSwitch);
  case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
    value->userCustomTag = found->tag;
    return ACL_SUCCESS;
  case ACL_STREAM_ATTR_CACHE_OP_INFO:
    value->cacheOpInfoSwitch = found->keepsOperators;
    return ACL_SUCCESS;
  case ACL_STREAM_ATTR_PRIORITY:
    value->streamPriority = found->priority;
    return ACL_SUCCESS;
  }
  ACL_FAIL(ACL_ERROR_INVALID_PARAM, "attr is %d; give 1 to 5", int(attr));
}

aclError aclrtStreamStop(aclrtStream stream) { return aclrtStreamAbort(stream); }

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream) {
  ACL_REQUIRE(stream);
  ACL_REQUIRE_CONTEXT(context);
  *stream = context->defaultStreamHandle();
  return ACL_SUCCESS;
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority, int32_t *greatestPriority) {
  ACL_REQUIRE(leastPriority);
  ACL_REQUIRE(greatestPriority);
  *leastPriority = 7;
  *greatestPriority = 0;
  return ACL_SUCCESS;
}

aclError aclrtGetStreamAvailableNum(uint32_t *streamCount) {
  ACL_REQUIRE(streamCount);
  *streamCount = 0xFFFF;
  return ACL_SUCCESS;
}

aclError aclrtGetEventAvailNum(uint32_t *eventCount) {
  ACL_REQUIRE(eventCount);
  *eventCount = 0xFFFF;
  return ACL_SUCCESS;
}

aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) {
  return aclrtSubscribeReport(hostFuncThreadId, exeStream);
}

aclError aclrtProcessHostFunc(int32_t timeout) { return aclrtProcessReport(timeout); }

aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) {
  return aclrtUnSubscribeReport(hostFuncThreadId, exeStream);
}

/// The longest time of an operator that programs have set, in microseconds.
static std::atomic<uint64_t> operatorTime{0};

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  operatorTime = uint64_t(timeout) * 1000000;
  return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout) {
  operatorTime = uint64_t(timeout) * 1000;
  return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout) {
  ACL_REQUIRE(actualTimeout);
  operatorTime = *actualTimeout = timeout;
  return ACL_SUCCESS;
}

aclError aclrtGetOpExecuteTimeout(uint32_t *const timeoutMs) {
  ACL_REQUIRE(timeoutMs);
  *timeoutMs = uint32_t(std::min<uint64_t>((operatorTime + 999) / 1000, UINT32_MAX));
  return ACL_SUCCESS;
}

aclError aclrtGetOpTimeOutInterval(uint64_t *interval) {
  ACL_REQUIRE(interval);
  *interval = 1;
  return ACL_SUCCESS;
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  return level == ACL_RT_THREAD_LEVEL ? lastCode() : ACL_ERROR_INVALID_PARAM;
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  return level == ACL_RT_THREAD_LEVEL ? takeLastCode() : ACL_ERROR_INVALID_PARAM;
}

aclError aclsysGetVersionStr(char *pkgName, char *versionStr) {
  ACL_REQUIRE(pkgName);
  ACL_REQUIRE(versionStr);
  ACL_TRY(checkPackage(__func__, pkgName));
  snprintf(versionStr, ACL_PKG_VERSION_MAX_SIZE, "%d.%d.%d", ACL_MAJOR_VERSION, ACL_MINOR_VERSION,
           ACL_PATCH_VERSION);
  return ACL_SUCCESS;
}

aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum) {
  ACL_REQUIRE(pkgName);
  ACL_REQUIRE(versionNum);
  ACL_TRY(checkPackage(__func__, pkgName));
  *versionNum =
      ACL_MAJOR_VERSION * 10000000 + ACL_MINOR_VERSION * 100000 + ACL_PATCH_VERSION * 1000;
  return ACL_SUCCESS;
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version) {
  ACL_REQUIRE(version);
  if (name < ACL_PKG_NAME_CANN || name > ACL_PKG_NAME_DRIVER)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "name is %d; give 0 to 7", int(name));
  *version = {};
  char runtime[] = "runtime";
  ACL_TRY(aclsysGetVersionStr(runtime, version->version));
  snprintf(version->majorVersion, sizeof version->majorVersion, "%d", ACL_MAJOR_VERSION);
  snprintf(version->minorVersion, sizeof version->minorVersion, "%d", ACL_MINOR_VERSION);
  snprintf(version->releaseVersion, sizeof version->releaseVersion, "%d", ACL_PATCH_VERSION);
  return ACL_SUCCESS;
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus *deviceStatus) {
  ACL_REQUIRE(deviceStatus);
  ACL_TRY(checkDevice(__func__, deviceId));
  *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
  return ACL_SUCCESS;
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t *const logicDevId) {
  return sameNumber(__func__, userDevid, logicDevId);
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t *const userDevid) {
  return sameNumber(__func__, logicDevId, userDevid);
}

aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t *const logicDevId) {
  return sameNumber(__func__, phyDevId, logicDevId);
}

aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t *const phyDevId) {
  return sameNumber(__func__, logicDevId, phyDevId);
}
