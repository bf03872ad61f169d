//===-- MemoryKinds.cpp - where memory is, batches, reductions ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "acl/acl_rt_memory.h"
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/memory/Memory.h"
#include "runtime-lite/abi/SmallFloats.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>
#include <vector>

using namespace atc::ascend;

namespace {

aclError checkConfig(const char *function, const aclrtMallocConfig *config) {
  if (!config)
    return ACL_SUCCESS;
  if (config->numAttrs > 0 && !config->attrs)
    return fail(ACL_ERROR_INVALID_PARAM, function, "attrs of cfg is NULL");
  for (size_t index = 0; index < config->numAttrs; ++index) {
    const aclrtMallocAttribute &each = config->attrs[index];
    if (each.attr < ACL_RT_MEM_ATTR_RSV || each.attr > ACL_RT_MEM_ATTR_VA_FLAG)
      return fail(ACL_ERROR_INVALID_PARAM, function, "attribute %zu of cfg is %d; give 0 to 3",
                  index, int(each.attr));
    uint32_t devices = 0;
    aclrtGetDeviceCount(&devices);
    if (each.attr == ACL_RT_MEM_ATTR_DEVICE_ID && each.value.deviceId >= devices)
      return fail(ACL_ERROR_RT_INVALID_DEVICEID, function, "attribute %zu of cfg names device %u",
                  index, each.value.deviceId);
  }
  return ACL_SUCCESS;
}

aclError synchronizeOwnDevice(const char *function) {
  std::shared_ptr<Context> context;
  ACL_TRY(currentContext(function, context));
  return synchronizeDevice(function, context->device, -1);
}

/// Returns the kind of a copy between two locations.
aclrtMemcpyKind kindOf(const aclrtMemcpyBatchAttr &attr) {
  const bool to = attr.dstLoc.type == ACL_MEM_LOCATION_TYPE_DEVICE;
  const bool from = attr.srcLoc.type == ACL_MEM_LOCATION_TYPE_DEVICE;
  return to ? (from ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE)
            : (from ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_HOST);
}

struct Batch {
  void **dsts;
  size_t *rooms;
  void **srcs;
  size_t *sizes;
  size_t count;
  aclrtMemcpyBatchAttr *attrs;
  size_t *firsts;
  size_t attrCount;
};

/// Prepares all copies of a batch before the first runs.
aclError prepareBatch(const char *function, const Batch &batch, std::vector<MemoryCopy> &copies,
                      size_t *failIndex) {
  if (failIndex)
    *failIndex = SIZE_MAX;
  if (!batch.dsts || !batch.rooms || !batch.srcs || !batch.sizes || !batch.attrs || !batch.firsts)
    return fail(ACL_ERROR_INVALID_PARAM, function, "an array is NULL");
  if (batch.count == 0 || batch.attrCount == 0 || batch.attrCount > batch.count ||
      batch.firsts[0] != 0)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "there are %zu pieces and %zu attributes; the first attribute is that of piece 0",
                batch.count, batch.attrCount);
  size_t attr = 0;
  for (size_t piece = 0; piece < batch.count; ++piece) {
    while (attr + 1 < batch.attrCount && batch.firsts[attr + 1] <= piece)
      ++attr;
    MemoryCopy copy;
    if (aclError code =
            prepareRow(function, batch.dsts[piece], batch.rooms[piece], batch.srcs[piece],
                       batch.sizes[piece], kindOf(batch.attrs[attr]), copy)) {
      if (failIndex)
        *failIndex = piece;
      return code;
    }
    copies.push_back(std::move(copy));
  }
  return ACL_SUCCESS;
}

aclError runBatch(const char *function, const Batch &batch, size_t *failIndex) {
  std::vector<MemoryCopy> copies;
  ACL_TRY(prepareBatch(function, batch, copies, failIndex));
  for (const MemoryCopy &copy : copies)
    copy.run();
  return ACL_SUCCESS;
}

aclError enqueueBatch(const char *function, const Batch &batch, size_t *failIndex,
                      aclrtStream stream) {
  std::vector<MemoryCopy> copies;
  ACL_TRY(prepareBatch(function, batch, copies, failIndex));
  return enqueue(function, stream, [copies = std::move(copies)] {
    for (const MemoryCopy &copy : copies)
      copy.run();
    return ACL_SUCCESS;
  });
}

/// Combines `count` elements with those at `dst`; `load` and `store` convert one.
template <typename T, typename Load, typename Store>
void combine(void *dst, const void *src, size_t count, aclrtReduceKind kind, const Load &load,
             const Store &store) {
  T *to = static_cast<T *>(dst);
  const T *from = static_cast<const T *>(src);
  for (size_t index = 0; index < count; ++index) {
    const auto left = load(to[index]), right = load(from[index]);
    to[index] = store(kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM   ? left + right
                      : kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX ? std::max(left, right)
                                                                 : std::min(left, right));
  }
}

template <typename T>
void combineNumbers(void *dst, const void *src, size_t count, aclrtReduceKind kind) {
  combine<T>(
      dst, src, count, kind, [](T value) { return value; },
      [](auto value) { return static_cast<T>(value); });
}

using Combine = void (*)(void *, const void *, size_t, aclrtReduceKind);

/// Returns how elements of a type are combined, and their bytes; null for other types.
Combine combinerOf(aclDataType type, size_t &bytes) {
  bytes = aclDataTypeSize(type);
  switch (type) {
  case ACL_FLOAT:
    return combineNumbers<float>;
  case ACL_INT8:
    return combineNumbers<int8_t>;
  case ACL_INT16:
    return combineNumbers<int16_t>;
  case ACL_INT32:
    return [](void *dst, const void *src, size_t count, aclrtReduceKind kind) {
      combine<int32_t>(
          dst, src, count, kind, [](int32_t value) { return int64_t{value}; },
          [](int64_t value) { return static_cast<int32_t>(value); });
    };
  case ACL_FLOAT16:
    return [](void *dst, const void *src, size_t count, aclrtReduceKind kind) {
      combine<uint16_t>(dst, src, count, kind, aclFloat16ToFloat, aclFloatToFloat16);
    };
  case ACL_BF16:
    return [](void *dst, const void *src, size_t count, aclrtReduceKind kind) {
      combine<uint16_t>(dst, src, count, kind, atc::bf16ToFloat, atc::floatToBf16);
    };
  default:
    return nullptr;
  }
}

} // namespace

aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy,
                            aclrtMallocConfig *cfg) {
  ACL_TRY(checkConfig(__func__, cfg));
  return aclrtMalloc(devPtr, size, policy);
}

aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size, aclrtMemMallocPolicy policy,
                                     aclrtMallocConfig *cfg) {
  return aclrtMallocWithCfg(devPtr, size, policy, cfg);
}

aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg) {
  ACL_TRY(checkConfig(__func__, cfg));
  return allocate(__func__, ptr, size, false);
}

aclError aclrtFreeWithDevSync(void *devPtr) {
  ACL_TRY(synchronizeOwnDevice(__func__));
  return release(__func__, devPtr, true);
}

aclError aclrtFreeHostWithDevSync(void *hostPtr) {
  ACL_TRY(synchronizeOwnDevice(__func__));
  return release(__func__, hostPtr, false);
}

aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes) {
  ACL_REQUIRE(ptr);
  ACL_REQUIRE(attributes);
  size_t room = 0;
  const auto block = blockOf(ptr, room);
  *attributes = {};
  attributes->pageSize = uint32_t(sysconf(_SC_PAGE_SIZE));
  attributes->location.type = !block            ? ACL_MEM_LOCATION_TYPE_UNREGISTERED
                              : block->onDevice ? ACL_MEM_LOCATION_TYPE_DEVICE
                                                : ACL_MEM_LOCATION_TYPE_HOST;
  int32_t device = 0;
  if (block && block->onDevice && aclrtGetDevice(&device) == ACL_SUCCESS)
    attributes->location.id = uint32_t(device);
  return ACL_SUCCESS;
}

aclError aclrtCheckMemType(void **addrList, uint32_t size, uint32_t memType, uint32_t *checkResult,
                           uint32_t reserve) {
  ACL_REQUIRE(addrList);
  ACL_REQUIRE(checkResult);
  constexpr uint32_t known = ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP | ACL_RT_MEM_TYPE_RSVD;
  if (size == 0 || memType == 0 || (memType & ~known) || reserve != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "give at least one address, types of %#x, and 0", known);
  *checkResult = 1;
  for (uint32_t index = 0; index < size; ++index) {
    size_t room = 0;
    const auto block = blockOf(addrList[index], room);
    const bool matches = block && block->onDevice && memType != ACL_RT_MEM_TYPE_RSVD;
    *checkResult = matches ? *checkResult : 0;
  }
  return ACL_SUCCESS;
}

aclError aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize) {
  ACL_REQUIRE(ptr);
  size_t room = 0;
  const auto block = blockOf(ptr, room);
  if (!block)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "%p was not allocated by AscendCL", ptr);
  if (pbase)
    *pbase = block->data;
  if (psize)
    *psize = block->bytes;
  return ACL_SUCCESS;
}

aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo *memUsageInfo, size_t inputNum,
                              size_t *outputNum) {
  ACL_REQUIRE(memUsageInfo);
  ACL_REQUIRE(outputNum);
  ACL_TRY(checkDevice(__func__, deviceId));
  if (inputNum == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "inputNum is 0; give the entries of memUsageInfo");
  *memUsageInfo = {};
  strcpy(memUsageInfo->name, "total");
  const MemoryUse use = deviceMemoryUse();
  memUsageInfo->curMemSize = use.now;
  memUsageInfo->memPeakSize = use.peak;
  *outputNum = 1;
  return ACL_SUCCESS;
}

aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag) {
  ACL_REQUIRE(ptr);
  constexpr uint64_t known =
      ACL_HOST_REG_MAPPED | ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY | ACL_HOST_REG_PINNED;
  if (size == 0 || (flag & ~known))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "size is %llu, flag %#x; give flags of %#llx",
             (unsigned long long)size, flag, (unsigned long long)known);
  return adopt(__func__, ptr, size, nullptr);
}

aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr) {
  ACL_REQUIRE(devPtr);
  if (int(type) & ~(ACL_HOST_REGISTER_IOMEMORY | ACL_HOST_REGISTER_READONLY))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "type is %d; give 0, 4 or 8", int(type));
  ACL_TRY(aclrtHostRegisterV2(ptr, size, ACL_HOST_REG_MAPPED));
  *devPtr = ptr;
  return ACL_SUCCESS;
}

aclError aclrtHostUnregister(void *ptr) {
  ACL_REQUIRE(ptr);
  if (!disown(ptr))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "%p is not registered", ptr);
  return ACL_SUCCESS;
}

aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag) {
  ACL_REQUIRE(pHost);
  ACL_REQUIRE(pDevice);
  if (flag != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flag is %u; give 0", flag);
  size_t room = 0;
  if (!blockOf(pHost, room))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "%p is not registered (aclrtHostRegister)", pHost);
  *pDevice = pHost;
  return ACL_SUCCESS;
}

aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType,
                                     aclrtHostMemMapCapability *capabilities) {
  ACL_REQUIRE(capabilities);
  ACL_TRY(checkDevice(__func__, deviceId));
  if (hacType > ACL_RT_HAC_TYPE_CCU)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "hacType is %d; give 0 to 9", int(hacType));
  *capabilities = ACL_RT_HOST_MEM_MAP_SUPPORTED;
  return ACL_SUCCESS;
}

static aclError checkWords(const char *function, void *ptr, size_t memSize, size_t count,
                           std::shared_ptr<Block> &block) {
  if (!ptr)
    return fail(ACL_ERROR_INVALID_PARAM, function, "ptr is NULL");
  if (count > memSize / sizeof(uint32_t))
    return fail(ACL_ERROR_INVALID_PARAM, function, "%zu elements of 4 bytes are more than %zu",
                count, memSize);
  size_t room = 0;
  block = blockOf(ptr, room);
  if (block && count * sizeof(uint32_t) > room)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%zu elements of 4 bytes are more than %zu",
                count, room);
  return ACL_SUCCESS;
}

aclError aclrtMemsetD32(void *ptr, size_t memSize, uint32_t value, size_t N) {
  std::shared_ptr<Block> block;
  ACL_TRY(checkWords(__func__, ptr, memSize, N, block));
  std::fill_n(static_cast<uint32_t *>(ptr), N, value);
  return ACL_SUCCESS;
}

aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value, size_t N,
                             aclrtStream stream) {
  std::shared_ptr<Block> block;
  ACL_TRY(checkWords(__func__, ptr, memSize, N, block));
  return enqueue(__func__, stream, [=] {
    std::fill_n(static_cast<uint32_t *>(ptr), N, value);
    return ACL_SUCCESS;
  });
}

aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax, const void *src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
  return aclrtMemcpyAsync(dst, destMax, src, count, kind, stream);
}

aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                          size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                          size_t numAttrs, size_t *failIndex) {
  ACL_REQUIRE(failIndex);
  return runBatch(__func__,
                  {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                  failIndex);
}

aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                               size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                               size_t numAttrs, size_t *failIndex, aclrtStream stream) {
  ACL_REQUIRE(failIndex);
  return enqueueBatch(__func__,
                      {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                      failIndex, stream);
}

aclError aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                            size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                            size_t numAttrs) {
  return runBatch(
      __func__, {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, nullptr);
}

aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                                 size_t numBatches, aclrtMemcpyBatchAttr *attrs,
                                 size_t *attrsIndexes, size_t numAttrs, aclrtStream stream) {
  return enqueueBatch(__func__,
                      {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                      nullptr, stream);
}

aclError aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  if (cmoType < ACL_RT_CMO_TYPE_PREFETCH || cmoType > ACL_RT_CMO_TYPE_FLUSH)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "cmoType is %d; give 0 to 3", int(cmoType));
  std::shared_ptr<Block> block;
  ACL_TRY(requireDevice(__func__, "src", src, size, block));
  return enqueue(__func__, stream, [] { return ACL_SUCCESS; });
}

aclError aclrtReduceAsync(void *dst, const void *src, uint64_t count, aclrtReduceKind kind,
                          aclDataType type, aclrtStream stream, void *reserve) {
  if (kind < ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM || kind > ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "kind is %d; give 10 (sum), 11 (max) or 12 (min)", int(kind));
  size_t bytes = 0;
  const Combine function = combinerOf(type, bytes);
  if (!function || count % bytes != 0)
    ACL_FAIL(ACL_ERROR_UNSUPPORTED_DATA_TYPE, "%llu bytes of type %d are not reduced",
             (unsigned long long)count, int(type));
  std::shared_ptr<Block> target, source;
  ACL_TRY(requireDevice(__func__, "dst", dst, count, target));
  ACL_TRY(requireDevice(__func__, "src", src, count, source));
  return enqueue(__func__, stream, [=, kept = std::pair(target, source)] {
    function(dst, src, count / bytes, kind);
    return ACL_SUCCESS;
  });
}
