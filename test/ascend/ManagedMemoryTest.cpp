//===-- ManagedMemoryTest.cpp - memory that host and devices share -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/ascend/AclTest.h"

#include <cstring>
#include <vector>

namespace {

constexpr size_t page = size_t(2) << 20;

struct Managed {
  explicit Managed(size_t size) {
    GOOD(aclrtMemAllocManaged(&data, size, ACL_RT_MEM_ATTACH_GLOBAL));
  }
  ~Managed() { GOOD(aclrtFree(data)); }

  char *at(size_t offset) const { return static_cast<char *>(data) + offset; }
  /// Returns an attribute of `pages` pages from page `first` on.
  int32_t get(aclrtMemManagedRangeAttribute attribute, size_t first, size_t pages) const {
    int32_t value = 77;
    GOOD(aclrtMemManagedGetAttr(attribute, at(first * page), pages * page, &value, sizeof value));
    return value;
  }
  void advise(aclrtMemManagedAdviseType advice, size_t first, size_t pages,
              aclrtMemManagedLocation where = {}) const {
    GOOD(aclrtMemManagedAdvise(at(first * page), pages * page, advice, where));
  }

  void *data = nullptr;
};

const aclrtMemManagedLocation host{0, ACL_MEM_LOCATIONTYPE_HOST};
const aclrtMemManagedLocation device{0, ACL_MEM_LOCATIONTYPE_DEVICE};

} // namespace

TEST_CASE("host and device work on managed memory") {
  Started started;
  Managed memory(3 * page + 1);
  // It is rounded up to whole pages, all of which the host may write.
  std::memset(memory.data, 5, 4 * page);
  DeviceMemory other(16);
  GOOD(aclrtMemcpy(other.data, 16, memory.at(4 * page - 16), 16, ACL_MEMCPY_DEVICE_TO_DEVICE));
  char last = 0;
  GOOD(aclrtMemcpy(&last, 1, static_cast<char *>(other.data) + 15, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  CHECK(last == 5);
  void *none = nullptr;
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemAllocManaged(&none, 1, 0));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemAllocManaged(&none, 0, ACL_RT_MEM_ATTACH_GLOBAL));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemAllocManaged(nullptr, 1, ACL_RT_MEM_ATTACH_GLOBAL));
  BAD(ACL_ERROR_BAD_ALLOC, aclrtMemAllocManaged(&none, UINT64_MAX, ACL_RT_MEM_ATTACH_GLOBAL));
}

TEST_CASE("advice holds for pages, and attributes for all pages of a range") {
  Started started;
  Managed memory(4 * page);
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0, 4) == 0);
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 0, 4) == -2);
  memory.advise(ACL_MEM_ADVISE_SET_READ_MOSTLY, 1, 2);
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 1, 2) == 1);
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 1, 3) == 0);
  memory.advise(ACL_MEM_ADVISE_UNSET_READ_MOSTLY, 2, 1);
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 1, 2) == 0);

  memory.advise(ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, 0, 2, host);
  memory.advise(ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, 2, 2, device);
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 0, 2) == -1);
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, 0, 2) ==
        ACL_MEM_LOCATIONTYPE_HOST);
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, 2, 2) == 0);
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 1, 2) == -2);
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, 1, 2) ==
        ACL_MEM_LOCATIONTYPE_INVALID);
  memory.advise(ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION, 0, 4);
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, 0, 4) ==
        ACL_MEM_LOCATIONTYPE_INVALID);

  memory.advise(ACL_MEM_ADVISE_SET_ACCESSED_BY, 0, 4, host);
  memory.advise(ACL_MEM_ADVISE_SET_ACCESSED_BY, 0, 1, device);
  auto readers = [&](size_t pages) {
    std::vector<int32_t> ids(3, 77);
    aclrtMemManagedRangeAttribute attribute = ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    void *data = ids.data();
    size_t bytes = ids.size() * sizeof(int32_t);
    GOOD(aclrtMemManagedGetAttrs(&attribute, 1, memory.data, pages * page, &data, &bytes));
    return ids;
  };
  CHECK(readers(1) == std::vector<int32_t>{0, -1, -2});
  CHECK(readers(2) == std::vector<int32_t>{-1, -2, -2});
  memory.advise(ACL_MEM_ADVISE_UNSET_ACCESSED_BY, 0, 4, host);
  CHECK(readers(2) == std::vector<int32_t>{-2, -2, -2});
}

TEST_CASE("prefetches are noted when they are asked for") {
  Started started;
  Managed memory(4 * page);
  aclrtStream stream = nullptr;
  GOOD(aclrtCreateStream(&stream));
  GOOD(aclrtMemManagedPrefetchAsync(memory.data, 4 * page, device, 0, stream));
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 0, 4) == 0);
  const void *ranges[] = {memory.at(0), memory.at(page), memory.at(3 * page)};
  size_t sizes[] = {page, page, page}, firsts[] = {0, 2};
  aclrtMemManagedLocation locations[] = {host, {0, ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT}};
  GOOD(aclrtMemManagedPrefetchBatchAsync(ranges, sizes, 3, locations, firsts, 2, 0, stream));
  GOOD(aclrtSynchronizeStream(stream));
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 0, 2) == -1);
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, 2, 1) ==
        ACL_MEM_LOCATIONTYPE_DEVICE);
  CHECK(memory.get(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, 3, 1) ==
        ACL_MEM_LOCATIONTYPE_HOST_NUMA);
  firsts[0] = 1;
  BAD(ACL_ERROR_INVALID_PARAM,
      aclrtMemManagedPrefetchBatchAsync(ranges, sizes, 3, locations, firsts, 2, 0, stream));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemManagedPrefetchAsync(memory.data, page, device, 1, stream));
  BAD(ACL_ERROR_INVALID_PARAM,
      aclrtMemManagedPrefetchAsync(memory.data, 5 * page, device, 0, stream));
  GOOD(aclrtDestroyStream(stream));
}

TEST_CASE("other memory and wrong arguments are refused") {
  Started started;
  DeviceMemory other(page);
  int32_t value = 0;
  BAD(ACL_ERROR_INVALID_PARAM,
      aclrtMemManagedAdvise(other.data, page, ACL_MEM_ADVISE_SET_READ_MOSTLY, {}));
  {
    Managed memory(page);
    BAD(ACL_ERROR_INVALID_PARAM,
        aclrtMemManagedAdvise(memory.data, page, aclrtMemManagedAdviseType(6), {}));
    BAD(ACL_ERROR_INVALID_PARAM,
        aclrtMemManagedAdvise(memory.data, page, ACL_MEM_ADVISE_SET_ACCESSED_BY, {}));
    BAD(ACL_ERROR_INVALID_PARAM,
        aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory.data, page, &value, 8));
    BAD(ACL_ERROR_INVALID_PARAM,
        aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute(9), memory.data, page, &value, 4));
  }
  // Memory of the same position later is not what it was.
  Managed again(page);
  CHECK(again.get(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0, 1) == 0);
}

TEST_CASE("memory is mapped for another device") {
  Started started;
  DeviceMemory memory(100);
  GOOD(aclrtMemP2PMap(memory.data, 100, 0, 0));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemP2PMap(memory.data, 100, 0, 1));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemP2PMap(memory.data, 0, 0, 0));
  CHECK(aclrtMemP2PMap(memory.data, 1 << 20, 0, 0) != ACL_SUCCESS);
  CHECK(aclrtMemP2PMap(&memory, 1, 0, 0) != ACL_SUCCESS);
  CHECK(aclrtMemP2PMap(memory.data, 100, 99, 0) != ACL_SUCCESS);
}
