//===-- ManagedMemory.cpp - memory that host and devices share ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "acl/acl_rt_memory.h"
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/memory/Memory.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <vector>

using namespace atc::ascend;

namespace {

constexpr size_t pageBytes = size_t(2) << 20;
constexpr int32_t hostId = -1, noId = -2;

/// A host, a device or a NUMA node.
struct Location {
  aclrtMemManagedLocationType type = ACL_MEM_LOCATIONTYPE_INVALID;
  int32_t id = noId;
  auto operator<=>(const Location &) const = default;
};

/// The advice that a program has given about a page.
struct Page {
  bool isReadMostly = false;
  Location preferred, prefetched;
  std::set<Location> readers;
};

/// The pages of an allocation; `block` is gone when it is freed.
struct Allocation {
  std::weak_ptr<Block> block;
  std::vector<Page> pages;
};

std::mutex allocationsMutex;
std::map<const void *, Allocation> &allocations() {
  static auto &only = *new std::map<const void *, Allocation>;
  return only;
}

/// The pages that a range of bytes touches. Holds the mutex while it lives.
struct Pages {
  std::unique_lock<std::mutex> lock{allocationsMutex};
  Page *first = nullptr, *last = nullptr; ///< `last` is behind them

  Page *begin() const { return first; }
  Page *end() const { return last; }
};

/// Finds the pages of `size` bytes at an address.
aclError findPages(const char *function, const void *address, uint64_t size, Pages &pages) {
  if (!address || size == 0)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the address is NULL, or size is 0");
  size_t room = 0;
  const auto block = blockOf(address, room);
  auto found = block ? allocations().find(block->data) : allocations().end();
  if (found == allocations().end() || found->second.block.lock() != block)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%p was not allocated by aclrtMemAllocManaged",
                address);
  if (size > room)
    return fail(ACL_ERROR_INVALID_PARAM, function, "size is %llu, but there are %zu bytes at %p",
                static_cast<unsigned long long>(size), room, address);
  const size_t offset =
      size_t(static_cast<const char *>(address) - static_cast<char *>(block->data));
  Page *all = found->second.pages.data();
  pages.first = all + offset / pageBytes;
  pages.last = all + (offset + size + pageBytes - 1) / pageBytes;
  return ACL_SUCCESS;
}

/// Reads a location of the program.
aclError readLocation(const char *function, const aclrtMemManagedLocation &given,
                      Location &location) {
  switch (given.type) {
  case ACL_MEM_LOCATIONTYPE_DEVICE:
    ACL_TRY(checkDevice(function, given.id));
    location = {given.type, int32_t(given.id)};
    return ACL_SUCCESS;
  case ACL_MEM_LOCATIONTYPE_HOST:
    location = {given.type, hostId};
    return ACL_SUCCESS;
  case ACL_MEM_LOCATIONTYPE_HOST_NUMA:
  case ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT:
    // There is one node.
    if (given.type == ACL_MEM_LOCATIONTYPE_HOST_NUMA && given.id != 0)
      return fail(ACL_ERROR_INVALID_PARAM, function, "there is no NUMA node %u", given.id);
    location = {ACL_MEM_LOCATIONTYPE_HOST_NUMA, 0};
    return ACL_SUCCESS;
  default:
    return fail(ACL_ERROR_INVALID_PARAM, function, "the type of location is %d; give 1 to 4",
                int(given.type));
  }
}

/// Returns what all pages have; an invalid location where they differ.
Location commonOf(const Pages &pages, Location Page::*member) {
  const Location common = pages.first->*member;
  return std::all_of(pages.begin(), pages.end(),
                     [&](const Page &page) { return page.*member == common; })
             ? common
             : Location();
}

/// Returns the ids of those that all pages have as readers.
std::vector<int32_t> readersOf(const Pages &pages) {
  std::vector<int32_t> ids;
  for (const Location &reader : pages.first->readers)
    if (std::all_of(pages.begin(), pages.end(),
                    [&](const Page &page) { return page.readers.count(reader) != 0; }))
      ids.push_back(reader.id);
  return ids;
}

/// Writes an attribute of a range.
aclError writeAttribute(const char *function, aclrtMemManagedRangeAttribute attribute,
                        const void *address, size_t size, void *data, size_t dataSize) {
  if (!data)
    return fail(ACL_ERROR_INVALID_PARAM, function, "data is NULL");
  const bool isList = attribute == ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
  if (isList ? dataSize == 0 || dataSize % sizeof(int32_t) != 0 : dataSize != sizeof(int32_t))
    return fail(ACL_ERROR_INVALID_PARAM, function, "dataSize is %zu; give %s4", dataSize,
                isList ? "a multiple of " : "");
  Pages pages;
  ACL_TRY(findPages(function, address, size, pages));
  std::vector<int32_t> values;
  switch (attribute) {
  case ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
    values = {std::all_of(pages.begin(), pages.end(),
                          [](const Page &page) { return page.isReadMostly; })};
    break;
  case ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
    values = readersOf(pages);
    values.resize(dataSize / sizeof(int32_t), noId);
    break;
  case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
  case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
    values = {commonOf(pages, &Page::preferred).id};
    break;
  case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
    values = {int32_t(commonOf(pages, &Page::preferred).type)};
    break;
  case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
  case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
    values = {commonOf(pages, &Page::prefetched).id};
    break;
  case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
    values = {int32_t(commonOf(pages, &Page::prefetched).type)};
    break;
  default:
    return fail(ACL_ERROR_INVALID_PARAM, function, "attribute is %d; give 1 to 8", int(attribute));
  }
  std::memcpy(data, values.data(), dataSize);
  return ACL_SUCCESS;
}

/// Notes that a range was last prefetched to a location.
aclError notePrefetch(const char *function, const void *address, size_t size,
                      const aclrtMemManagedLocation &given) {
  Location location;
  ACL_TRY(readLocation(function, given, location));
  Pages pages;
  ACL_TRY(findPages(function, address, size, pages));
  for (Page &page : pages)
    page.prefetched = location;
  return ACL_SUCCESS;
}

} // namespace

aclError aclrtMemAllocManaged(void **ptr, uint64_t size, uint32_t flag) {
  ACL_REQUIRE(ptr);
  if (flag != ACL_RT_MEM_ATTACH_GLOBAL)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flag is %u; it must be ACL_RT_MEM_ATTACH_GLOBAL (1)", flag);
  if (size > UINT64_MAX - pageBytes)
    ACL_FAIL(ACL_ERROR_RT_MEMORY_ALLOCATION, "size is too large");
  const size_t pages = (size + pageBytes - 1) / pageBytes;
  ACL_TRY(allocate(__func__, ptr, pages * pageBytes, /*onDevice=*/true));
  size_t room = 0;
  std::lock_guard lock(allocationsMutex);
  std::erase_if(allocations(), [](const auto &known) { return known.second.block.expired(); });
  allocations()[*ptr] = {blockOf(*ptr, room), std::vector<Page>(pages)};
  return ACL_SUCCESS;
}

aclError aclrtMemManagedAdvise(const void *ptr, uint64_t size, aclrtMemManagedAdviseType advise,
                               aclrtMemManagedLocation location) {
  if (advise < ACL_MEM_ADVISE_SET_READ_MOSTLY || advise > ACL_MEM_ADVISE_UNSET_ACCESSED_BY)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "advise is %d; give 0 to 5", int(advise));
  Location where;
  if (advise == ACL_MEM_ADVISE_SET_PREFERRED_LOCATION || advise >= ACL_MEM_ADVISE_SET_ACCESSED_BY)
    ACL_TRY(readLocation(__func__, location, where));
  Pages pages;
  ACL_TRY(findPages(__func__, ptr, size, pages));
  for (Page &page : pages)
    switch (advise) {
    case ACL_MEM_ADVISE_SET_READ_MOSTLY:
    case ACL_MEM_ADVISE_UNSET_READ_MOSTLY:
      page.isReadMostly = advise == ACL_MEM_ADVISE_SET_READ_MOSTLY;
      break;
    case ACL_MEM_ADVISE_SET_PREFERRED_LOCATION:
    case ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      page.preferred = where;
      break;
    case ACL_MEM_ADVISE_SET_ACCESSED_BY:
      page.readers.insert(where);
      break;
    case ACL_MEM_ADVISE_UNSET_ACCESSED_BY:
      page.readers.erase(where);
      break;
    }
  return ACL_SUCCESS;
}

aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void *ptr,
                                size_t size, void *data, size_t dataSize) {
  return writeAttribute(__func__, attribute, ptr, size, data, dataSize);
}

aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute *attributes, size_t numAttributes,
                                 const void *ptr, size_t size, void **data, size_t *dataSizes) {
  ACL_REQUIRE(attributes);
  ACL_REQUIRE(data);
  ACL_REQUIRE(dataSizes);
  if (numAttributes == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "numAttributes is 0");
  for (size_t i = 0; i < numAttributes; ++i)
    ACL_TRY(writeAttribute(__func__, attributes[i], ptr, size, data[i], dataSizes[i]));
  return ACL_SUCCESS;
}

aclError aclrtMemManagedPrefetchAsync(const void *ptr, size_t size,
                                      aclrtMemManagedLocation location, uint32_t flags,
                                      aclrtStream stream) {
  if (flags != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flags is %u; it must be 0", flags);
  // The attribute is the last request, whether it is done or not.
  ACL_TRY(notePrefetch(__func__, ptr, size, location));
  return enqueue(__func__, stream, [] { return ACL_SUCCESS; });
}

aclError aclrtMemManagedPrefetchBatchAsync(const void **ptrs, size_t *sizes, size_t count,
                                           aclrtMemManagedLocation *prefetchLocs,
                                           size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                           uint64_t flags, aclrtStream stream) {
  ACL_REQUIRE(ptrs);
  ACL_REQUIRE(sizes);
  ACL_REQUIRE(prefetchLocs);
  ACL_REQUIRE(prefetchLocIdxs);
  if (flags != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flags is not 0");
  if (count == 0 || numPrefetchLocs == 0 || numPrefetchLocs > count || prefetchLocIdxs[0] != 0 ||
      !std::is_sorted(prefetchLocIdxs, prefetchLocIdxs + numPrefetchLocs))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM,
             "there are %zu ranges and %zu locations; the first location is that of range 0, and "
             "their ranges ascend",
             count, numPrefetchLocs);
  size_t location = 0;
  for (size_t range = 0; range < count; ++range) {
    while (location + 1 < numPrefetchLocs && prefetchLocIdxs[location + 1] <= range)
      ++location;
    ACL_TRY(notePrefetch(__func__, ptrs[range], sizes[range], prefetchLocs[location]));
  }
  return enqueue(__func__, stream, [] { return ACL_SUCCESS; });
}

aclError aclrtMemP2PMap(void *devPtr, size_t size, int32_t dstDevId, uint64_t flags) {
  if (flags != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flags is not 0");
  if (size == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "size is 0");
  ACL_TRY(checkDevice(__func__, dstDevId));
  std::shared_ptr<Block> block;
  ACL_TRY(requireDevice(__func__, "devPtr", devPtr, size, block));
  std::shared_ptr<Context> context;
  ACL_TRY(currentContext(__func__, context));
  int32_t isAllowed = context->device == dstDevId;
  if (!isAllowed)
    ACL_TRY(aclrtDevicePeerAccessStatus(context->device, dstDevId, &isAllowed));
  if (!isAllowed)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM,
             "device %d has no access to device %d: call "
             "aclrtDeviceEnablePeerAccess before",
             context->device, dstDevId);
  return ACL_SUCCESS;
}
