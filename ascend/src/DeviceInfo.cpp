//===-- DeviceInfo.cpp - questions to a device, limits and options -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/memory/Memory.h"

#include "acl/acl.h"
#include "npu/soc/Soc.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <map>

#include <unistd.h>

namespace atc::ascend {
namespace {

/// Writes the table of the simulated NPU.
aclError readTable(const char *function, int64_t device, const void *result,
                   const npu::SocTable *&table) {
  if (!result)
    return fail(ACL_ERROR_INVALID_PARAM, function, "value is NULL");
  ACL_TRY(checkDevice(function, device));
  table = npu::findSoc(aclrtGetSocName());
  if (!table)
    return fail(ACL_ERROR_API_NOT_SUPPORT, function,
                "there is no table of '%s'; OPENATC_ACL_SOC names the chip", aclrtGetSocName());
  return ACL_SUCCESS;
}

constexpr size_t limitCount = ACL_RT_DEV_RES_VECTOR_CORE + 1;
/// Numbers of cores by kind; 0: all of them.
using Limits = std::array<uint32_t, limitCount>;

struct Settings {
  std::mutex mutex;
  std::map<int32_t, Limits> ofDevice, ofStream; ///< streams by their ids
  std::map<int, int64_t> options;
  std::map<std::pair<uint64_t, int>, int64_t> contextOptions;
};

Settings &settings() {
  static auto &only = *new Settings;
  return only;
}

thread_local int32_t usedStream = 0; ///< whose limits this thread has; 0: none

/// Returns the cores of a kind; an error for a kind that there is not.
aclError countCores(const char *function, int32_t device, aclrtDevResLimitType type,
                    const void *result, uint32_t &count) {
  const npu::SocTable *table = nullptr;
  ACL_TRY(readTable(function, device, result, table));
  if (type != ACL_RT_DEV_RES_CUBE_CORE && type != ACL_RT_DEV_RES_VECTOR_CORE)
    return fail(ACL_ERROR_INVALID_PARAM, function, "type is %d; give 0 or 1", int(type));
  count = uint32_t(table->cores(type == ACL_RT_DEV_RES_VECTOR_CORE));
  return ACL_SUCCESS;
}

aclError setLimit(const char *function, int32_t device, std::map<int32_t, Limits> &limits,
                  int32_t key, aclrtDevResLimitType type, uint32_t value) {
  uint32_t all = 0;
  ACL_TRY(countCores(function, device, type, &all, all));
  if (value < 1 || value > all)
    return fail(ACL_ERROR_INVALID_PARAM, function, "value is %u; the chip has 1 to %u cores", value,
                all);
  std::lock_guard lock(settings().mutex);
  limits[key][type] = value;
  return ACL_SUCCESS;
}

/// Writes the limit of a stream, or of its device, or the cores of the chip.
aclError getLimit(const char *function, int32_t device, int32_t stream, aclrtDevResLimitType type,
                  uint32_t *value) {
  uint32_t all = 0;
  ACL_TRY(countCores(function, device, type, value, all));
  *value = all;
  std::lock_guard lock(settings().mutex);
  if (auto found = settings().ofDevice.find(device); found != settings().ofDevice.end())
    *value = found->second[type] ? found->second[type] : *value;
  if (auto found = settings().ofStream.find(stream); found != settings().ofStream.end())
    *value = found->second[type] ? found->second[type] : *value;
  return ACL_SUCCESS;
}

aclError checkOption(const char *function, aclSysParamOpt opt) {
  if (opt <= ACL_OPT_STRONG_CONSISTENCY)
    return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM, function, "opt is %d; give 0 to 2", int(opt));
}

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;
using atc::npu::SocTable;

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value) {
  const SocTable *table = nullptr;
  ACL_TRY(readTable(__func__, deviceId, value, table));
  switch (attr) {
  case ACL_DEV_ATTR_AICORE_CORE_NUM:
  case ACL_DEV_ATTR_CUBE_CORE_NUM:
    *value = int64_t(table->cores(false));
    return ACL_SUCCESS;
  case ACL_DEV_ATTR_VECTOR_CORE_NUM:
    *value = int64_t(table->cores(true));
    return ACL_SUCCESS;
  case ACL_DEV_ATTR_AICPU_CORE_NUM:
    *value = sysconf(_SC_NPROCESSORS_ONLN);
    return ACL_SUCCESS;
  case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
    *value = int64_t(table->memoryBytes(atc::npu::Memory::UB));
    return ACL_SUCCESS;
  case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE: {
    size_t free = 0, total = 0;
    ACL_TRY(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    *value = int64_t(total);
    return ACL_SUCCESS;
  }
  case ACL_DEV_ATTR_L2_CACHE_SIZE:
    *value = int64_t(table->l2Bytes);
    return ACL_SUCCESS;
  case ACL_DEV_ATTR_PHY_CHIP_ID:
    *value = deviceId;
    return ACL_SUCCESS;
  case ACL_DEV_ATTR_SMP_ID:
  case ACL_DEV_ATTR_IS_VIRTUAL:
    *value = 0;
    return ACL_SUCCESS;
  default:
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "attr is %d, which the chip %s does not have", int(attr),
             table->name.c_str());
  }
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value) {
  const SocTable *table = nullptr;
  ACL_TRY(readTable(__func__, deviceId, value, table));
  switch (deviceInfo) {
  case ACL_DEVICE_INFO_AI_CORE_NUM:
    *value = int64_t(table->cores(false));
    return ACL_SUCCESS;
  case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
    *value = int64_t(table->cores(true));
    return ACL_SUCCESS;
  case ACL_DEVICE_INFO_L2_SIZE:
    *value = int64_t(table->l2Bytes);
    return ACL_SUCCESS;
  default:
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "deviceInfo is %d; give 0 to 2", int(deviceInfo));
  }
}

aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType, int32_t *value) {
  ACL_REQUIRE(value);
  ACL_TRY(checkDevice(__func__, deviceId));
  *value = 0;
  return ACL_SUCCESS;
}

aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num) {
  ACL_REQUIRE(cannAttrList);
  ACL_REQUIRE(num);
  static constexpr aclCannAttr held[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_JIT_COMPILE};
  *cannAttrList = held;
  *num = std::size(held);
  return ACL_SUCCESS;
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value) {
  ACL_REQUIRE(value);
  if (cannAttr < ACL_CANN_ATTR_INF_NAN || cannAttr > ACL_CANN_ATTR_JIT_COMPILE)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "cannAttr is %d; give 0 to 2", int(cannAttr));
  *value = cannAttr != ACL_CANN_ATTR_BF16;
  return ACL_SUCCESS;
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid *uuid) {
  ACL_REQUIRE(uuid);
  ACL_TRY(checkDevice(__func__, deviceId));
  *uuid = {};
  memcpy(uuid->bytes, "OpenATC", 7);
  memcpy(uuid->bytes + 12, &deviceId, sizeof(deviceId));
  return ACL_SUCCESS;
}

/// Writes that a device has none of the atomic operations.
static aclError noAtomics(const char *function, uint32_t *capabilities,
                          const aclrtAtomicOperation *operations, uint32_t count) {
  if (!capabilities || !operations || count == 0)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "give operations, and room for the capabilities of as many");
  for (uint32_t i = 0; i < count; ++i)
    if (operations[i] > ACL_RT_ATOMIC_OPERATION_FLOAT_MAX)
      return fail(ACL_ERROR_INVALID_PARAM, function, "operation %u is %u; give 0 to 12", i,
                  unsigned(operations[i]));
  std::fill_n(capabilities, count, 0u);
  return ACL_SUCCESS;
}

aclError aclrtDeviceGetHostAtomicCapabilities(uint32_t *capabilities,
                                              const aclrtAtomicOperation *operations,
                                              const uint32_t count, int32_t deviceId) {
  ACL_TRY(checkDevice(__func__, deviceId));
  return noAtomics(__func__, capabilities, operations, count);
}

aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t *capabilities,
                                             const aclrtAtomicOperation *operations,
                                             const uint32_t count, int32_t srcDeviceId,
                                             int32_t dstDeviceId) {
  ACL_TRY(checkDevice(__func__, srcDeviceId));
  ACL_TRY(checkDevice(__func__, dstDeviceId));
  return noAtomics(__func__, capabilities, operations, count);
}

aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char *pciBusId, int32_t len) {
  ACL_REQUIRE(pciBusId);
  ACL_TRY(checkDevice(__func__, deviceId));
  char text[24];
  const int size = snprintf(text, sizeof text, "0000:%02X:00.0", deviceId + 1);
  if (len <= size)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "len is %d; give %d", len, size + 1);
  memcpy(pciBusId, text, size_t(size) + 1);
  return ACL_SUCCESS;
}

aclError aclrtDeviceGetByPCIBusId(const char *pciBusId, int32_t *deviceId) {
  ACL_REQUIRE(pciBusId);
  ACL_REQUIRE(deviceId);
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  // Numbers that are too large are those of no device.
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion)
  const int read = sscanf(pciBusId, "%x:%x:%x.%x", &domain, &bus, &device, &function);
  if (read != 4 || domain != 0 || device != 0 || function != 0 || bus == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM,
             "'%.40s' is no address of a device; they are 0000:01:00.0 ...", pciBusId);
  ACL_TRY(checkDevice(__func__, int32_t(bus - 1)));
  *deviceId = int32_t(bus - 1);
  return ACL_SUCCESS;
}

aclError aclrtDeviceGetBareTgid(int32_t *pid) {
  ACL_REQUIRE(pid);
  *pid = getpid();
  return ACL_SUCCESS;
}

aclError aclrtCheckArchCompatibility(const char *socVersion, int32_t *canCompatible) {
  ACL_REQUIRE(socVersion);
  ACL_REQUIRE(canCompatible);
  *canCompatible = strcmp(socVersion, aclrtGetSocName()) == 0;
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t *value) {
  return getLimit(__func__, deviceId, 0, type, value);
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  return setLimit(__func__, deviceId, settings().ofDevice, deviceId, type, value);
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  ACL_TRY(checkDevice(__func__, deviceId));
  std::lock_guard lock(settings().mutex);
  settings().ofDevice.erase(deviceId);
  return ACL_SUCCESS;
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t *value) {
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  return getLimit(__func__, found->device, found->id, type, value);
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  return setLimit(__func__, found->device, settings().ofStream, found->id, type, value);
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  std::lock_guard lock(settings().mutex);
  settings().ofStream.erase(found->id);
  return ACL_SUCCESS;
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  usedStream = found->id;
  return ACL_SUCCESS;
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  usedStream = 0;
  return ACL_SUCCESS;
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value) {
  ACL_REQUIRE_CONTEXT(context);
  return getLimit(__func__, context->device, usedStream, type, value);
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  ACL_TRY(checkOption(__func__, opt));
  std::lock_guard lock(settings().mutex);
  settings().options[int(opt)] = value;
  return ACL_SUCCESS;
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value) {
  ACL_REQUIRE(value);
  ACL_TRY(checkOption(__func__, opt));
  std::lock_guard lock(settings().mutex);
  *value = settings().options[int(opt)];
  return ACL_SUCCESS;
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  ACL_TRY(checkOption(__func__, opt));
  ACL_REQUIRE_CONTEXT(context);
  std::lock_guard lock(settings().mutex);
  settings().contextOptions[{context->number, int(opt)}] = value;
  return ACL_SUCCESS;
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value) {
  ACL_REQUIRE(value);
  ACL_TRY(checkOption(__func__, opt));
  ACL_REQUIRE_CONTEXT(context);
  std::lock_guard lock(settings().mutex);
  *value = settings().contextOptions[{context->number, int(opt)}];
  return ACL_SUCCESS;
}

aclError aclrtSetDeviceWithoutTsdVXX(int32_t deviceId) { return aclrtSetDevice(deviceId); }
aclError aclrtResetDeviceWithoutTsdVXX(int32_t deviceId) { return aclrtResetDevice(deviceId); }

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
  ACL_TRY(checkDevice(__func__, deviceId));
  for (auto &stream : streams().select([&](const Stream &each) { return each.device == deviceId; }))
    stream->drop();
  return synchronizeDevice(__func__, deviceId, timeout ? int32_t(timeout & 0x7FFFFFFF) : -1);
}

aclError aclrtGetOverflowStatus(void *outputAddr, size_t outputSize, aclrtStream stream) {
  std::shared_ptr<Block> block;
  ACL_REQUIRE(outputAddr);
  ACL_TRY(requireDevice(__func__, "outputAddr", outputAddr, outputSize, block));
  return enqueue(__func__, stream, [outputAddr, outputSize, block] {
    memset(outputAddr, 0, outputSize);
    return ACL_SUCCESS;
  });
}

aclError aclrtResetOverflowStatus(aclrtStream stream) {
  return enqueue(__func__, stream, [] { return ACL_SUCCESS; });
}

aclError aclFinalizeReference(uint64_t *refCount) {
  ACL_REQUIRE(refCount);
  *refCount = 0;
  return aclFinalize();
}

aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t *value) {
  ACL_REQUIRE(value);
  int32_t canAccess = 0;
  ACL_TRY(aclrtDeviceCanAccessPeer(&canAccess, int32_t(deviceId), int32_t(otherDeviceId)));
  *value = canAccess ? ACL_RT_DEVS_TOPOLOGY_HCCS : 0;
  return ACL_SUCCESS;
}

aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize,
                            size_t *retSize) {
  ACL_REQUIRE(memUceInfoArray);
  ACL_REQUIRE(retSize);
  if (arraySize == 0 || arraySize > MAX_MEM_UCE_INFO_ARRAY_SIZE)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "arraySize is %zu; give 1 to 128", arraySize);
  aclrtDeviceStatus status;
  ACL_TRY(aclrtQueryDeviceStatus(deviceId, &status));
  *retSize = 0;
  return ACL_SUCCESS;
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo) {
  ACL_REQUIRE(errorInfo);
  aclrtDeviceStatus status;
  ACL_TRY(aclrtQueryDeviceStatus(deviceId, &status));
  *errorInfo = {};
  return ACL_SUCCESS;
}
