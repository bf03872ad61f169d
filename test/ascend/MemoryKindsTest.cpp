//===-- MemoryKindsTest.cpp - where memory is, ranges of addresses, batches ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/ascend/AclTest.h"

#include <cstring>
#include <numeric>
#include <vector>

#include <unistd.h>

TEST_CASE("memory with settings, and where it is") {
  Started started;
  aclrtMallocAttribute attribute{};
  attribute.attr = ACL_RT_MEM_ATTR_MODULE_ID;
  attribute.value.moduleId = 33;
  aclrtMallocConfig config{&attribute, 1};
  void *device = nullptr, *host = nullptr;
  GOOD(aclrtMallocWithCfg(&device, 4096, ACL_MEM_MALLOC_NORMAL_ONLY, &config));
  GOOD(aclrtMallocHostWithCfg(&host, 4096, nullptr));
  attribute.attr = ACL_RT_MEM_ATTR_DEVICE_ID;
  attribute.value.deviceId = 99;
  void *none = nullptr;
  BAD(ACL_ERROR_RT_INVALID_DEVICEID,
      aclrtMallocWithCfg(&none, 4096, ACL_MEM_MALLOC_NORMAL_ONLY, &config));

  aclrtPtrAttributes facts{};
  GOOD(aclrtPointerGetAttributes(static_cast<char *>(device) + 5, &facts));
  CHECK((facts.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && facts.location.id == 0));
  CHECK(facts.pageSize == uint32_t(sysconf(_SC_PAGE_SIZE)));
  GOOD(aclrtPointerGetAttributes(host, &facts));
  CHECK(facts.location.type == ACL_MEM_LOCATION_TYPE_HOST);
  GOOD(aclrtPointerGetAttributes(&facts, &facts));
  CHECK(facts.location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);

  void *both[] = {device, host};
  uint32_t matches = 7;
  GOOD(aclrtCheckMemType(both, 1, ACL_RT_MEM_TYPE_DEV, &matches, 0));
  CHECK(matches == 1);
  GOOD(aclrtCheckMemType(both, 2, ACL_RT_MEM_TYPE_DEV, &matches, 0));
  CHECK(matches == 0);
  void *base = nullptr;
  size_t bytes = 0;
  GOOD(aclrtMemGetAddressRange(static_cast<char *>(device) + 100, &base, &bytes));
  CHECK((base == device && bytes == 4096));
  aclrtMemUsageInfo use{};
  size_t entries = 0;
  GOOD(aclrtGetMemUsageInfo(0, &use, 1, &entries));
  CHECK((entries == 1 && use.curMemSize >= 4096 && use.memPeakSize >= use.curMemSize));
  GOOD(aclrtFreeHostWithDevSync(host));
  GOOD(aclrtFreeWithDevSync(device));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtFreeWithDevSync(device));
}

TEST_CASE("memory of the program is registered") {
  Started started;
  std::vector<uint32_t> own(1024, 5);
  DeviceMemory other(4096);
  BAD(ACL_ERROR_INVALID_PARAM,
      aclrtMemcpy(own.data(), 4096, other.data, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE));
  void *address = nullptr;
  GOOD(aclrtHostRegister(own.data(), 4096, ACL_HOST_REGISTER_MAPPED, &address));
  CHECK(address == own.data());
  BAD(ACL_ERROR_INVALID_PARAM, aclrtHostRegisterV2(own.data() + 10, 40, ACL_HOST_REG_MAPPED));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtFree(address));
  GOOD(aclrtHostGetDevicePointer(own.data(), &address, 0));
  GOOD(aclrtMemsetD32(other.data, 4096, 0xABCD1234, 1024));
  GOOD(aclrtMemcpy(address, 4096, other.data, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE));
  CHECK((own[0] == 0xABCD1234 && own[1023] == 0xABCD1234));
  GOOD(aclrtHostUnregister(own.data()));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtHostUnregister(own.data()));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtHostGetDevicePointer(own.data(), &address, 0));
}

TEST_CASE("batches of copies have a direction each") {
  Started started;
  std::vector<int> in(64), out(64, 0);
  std::iota(in.begin(), in.end(), 1);
  DeviceMemory left(128), right(128);
  void *targets[] = {left.data, right.data}, *sources[] = {in.data(), in.data() + 32};
  size_t rooms[] = {128, 128}, sizes[] = {128, 128}, first = 0, failed = 0;
  aclrtMemcpyBatchAttr up{};
  up.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  up.srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
  GOOD(aclrtMemcpyBatch(targets, rooms, sources, sizes, 2, &up, &first, 1, &failed));
  CHECK(failed == SIZE_MAX);
  aclrtMemcpyBatchAttr ways[2] = {};
  for (auto &way : ways)
    way.srcLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  void *back[] = {out.data(), out.data() + 32};
  size_t firsts[] = {0, 1};
  aclrtStream stream = nullptr;
  GOOD(aclrtCreateStream(&stream));
  GOOD(aclrtMemcpyBatchAsync(back, rooms, targets, sizes, 2, ways, firsts, 2, &failed, stream));
  GOOD(aclrtSynchronizeStream(stream));
  CHECK(in == out);
  sizes[1] = 129;
  BAD(ACL_ERROR_INVALID_PARAM,
      aclrtMemcpyBatch(targets, rooms, sources, sizes, 2, &up, &first, 1, &failed));
  CHECK(failed == 1);
  GOOD(aclrtDestroyStream(stream));
}

TEST_CASE("elements are reduced") {
  Started started;
  DeviceMemory target(64), source(64);
  auto *to = static_cast<float *>(target.data), *from = static_cast<float *>(source.data);
  for (int i = 0; i < 16; ++i) {
    to[i] = float(i);
    from[i] = float(8 - i);
  }
  GOOD(aclrtReduceAsync(to, from, 64, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, nullptr,
                        nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK((to[0] == 8 && to[15] == 8));
  auto *halves = static_cast<aclFloat16 *>(target.data);
  auto *others = static_cast<aclFloat16 *>(source.data);
  halves[0] = aclFloatToFloat16(-1.5f);
  others[0] = aclFloatToFloat16(2.25f);
  GOOD(aclrtReduceAsync(halves, others, 2, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX, ACL_FLOAT16, nullptr,
                        nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(aclFloat16ToFloat(halves[0]) == 2.25f);
  BAD(ACL_ERROR_UNSUPPORTED_DATA_TYPE,
      aclrtReduceAsync(to, from, 64, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_STRING, nullptr,
                       nullptr));
}

TEST_CASE("memory is mapped to reserved addresses") {
  Started started;
  aclrtPhysicalMemProp properties{};
  properties.memAttr = ACL_HBM_MEM_HUGE;
  properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  size_t unit = 0;
  GOOD(aclrtMemGetAllocationGranularity(&properties, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &unit));
  CHECK(unit == size_t{2} << 20);
  void *range = nullptr;
  GOOD(aclrtReserveMemAddress(&range, 2 * unit, 0, nullptr, 0));
  CHECK(reinterpret_cast<uintptr_t>(range) % unit == 0);
  aclrtDrvMemHandle handle = nullptr, again = nullptr;
  GOOD(aclrtMallocPhysical(&handle, unit, &properties, 0));
  char *first = static_cast<char *>(range), *second = first + unit;
  GOOD(aclrtMapMem(first, unit, 0, handle, 0));
  GOOD(aclrtMapMem(second, unit, 0, handle, 0)); // the same bytes twice
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMapMem(first, unit, 0, handle, 0));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMapMem(second + unit, unit, 0, handle, 0));
  aclrtMemAccessDesc access{ACL_RT_MEM_ACCESS_FLAGS_READWRITE, properties.location, {}};
  GOOD(aclrtMemSetAccess(first, unit, &access, 1));
  uint64_t flags = 0;
  GOOD(aclrtMemGetAccess(first, &access.location, &flags));
  CHECK(flags == ACL_RT_MEM_ACCESS_FLAGS_READWRITE);
  // Both are one piece of memory, which ends with the second one.
  GOOD(aclrtMemset(first + 8, 2 * unit - 8, 5, 2 * unit - 8));
  CHECK((first[unit - 1] == 5 && second[unit - 1] == 5));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemset(first + 8, 2 * unit, 5, 2 * unit));
  GOOD(aclrtMemset(first, unit, 7, unit));
  CHECK((second[0] == 7 && second[unit - 1] == 7));
  char value = 0;
  GOOD(aclrtMemcpy(&value, 1, second + 100, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  CHECK(value == 7);
  BAD(ACL_ERROR_INVALID_PARAM, aclrtFree(first));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtReleaseMemAddress(range));
  GOOD(aclrtMemRetainAllocationHandle(second + 1, &again));
  aclrtPhysicalMemProp found{};
  GOOD(aclrtMemGetAllocationPropertiesFromHandle(again, &found));
  CHECK(found.memAttr == ACL_HBM_MEM_HUGE);
  GOOD(aclrtUnmapMem(first));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtUnmapMem(first));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(&value, 1, first, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  GOOD(aclrtFreePhysical(handle));
  GOOD(aclrtMapMem(first, unit, 0, again, 0)); // the bytes are still there
  CHECK(first[unit / 2] == 7);
  GOOD(aclrtUnmapMem(first));
  GOOD(aclrtUnmapMem(second));
  GOOD(aclrtFreePhysical(again));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclrtFreePhysical(again));
  GOOD(aclrtReleaseMemAddress(range));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtReleaseMemAddress(range));
}
