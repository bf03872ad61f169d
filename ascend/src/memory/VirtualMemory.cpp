//===-- VirtualMemory.cpp - ranges of addresses, and what is mapped there ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "acl/acl_rt_memory.h"
#include "ascend/src/Errors.h"
#include "ascend/src/Handles.h"
#include "ascend/src/memory/Memory.h"

#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace atc::ascend {
namespace {

constexpr size_t granularity = size_t{2} << 20;

size_t wholePages(size_t bytes) {
  const size_t page = size_t(sysconf(_SC_PAGE_SIZE));
  return (bytes + page - 1) / page * page;
}

/// Memory without an address, of which each mapping shows the same bytes.
struct Physical {
  Physical(int file, size_t bytes, const aclrtPhysicalMemProp &properties)
      : file(file), bytes(bytes), properties(properties) {}
  Physical(const Physical &) = delete;
  Physical &operator=(const Physical &) = delete;
  ~Physical() { close(file); }

  const int file;
  const size_t bytes;
  const aclrtPhysicalMemProp properties;
};

HandleTable<Physical> &physicals() {
  static auto &table = *new HandleTable<Physical>(HandleKind::PhysicalMemory);
  return table;
}

/// Reserved addresses; they are free for others when nothing uses them any more.
struct Range {
  Range(char *start, size_t bytes) : start(start), bytes(bytes) {}
  Range(const Range &) = delete;
  Range &operator=(const Range &) = delete;
  ~Range() { munmap(start, bytes); }

  char *const start;
  const size_t bytes;
};

/// Memory at reserved addresses; when nothing uses it any more, the addresses are empty again.
struct Mapping {
  Mapping(std::shared_ptr<Range> range, std::shared_ptr<Physical> memory, void *address,
          size_t bytes)
      : range(std::move(range)), memory(std::move(memory)), address(address), bytes(bytes) {}
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  ~Mapping() {
    (void)mmap(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
               -1, 0);
  }

  const std::shared_ptr<Range> range;
  const std::shared_ptr<Physical> memory;
  void *const address;
  const size_t bytes;
};

struct Addresses {
  std::mutex mutex;
  std::map<char *, std::shared_ptr<Range>> ranges;   // by their start
  std::map<char *, std::weak_ptr<Mapping>> mappings; // by their start; tasks may keep more
  std::map<char *, std::shared_ptr<Mapping>> mapped; // until aclrtUnmapMem
};

Addresses &addresses() {
  static auto &only = *new Addresses;
  return only;
}

/// Returns the range that holds `bytes` bytes at an address; null where there is none.
std::shared_ptr<Range> rangeOf(Addresses &known, char *address, size_t bytes) {
  auto next = known.ranges.upper_bound(address);
  if (next == known.ranges.begin())
    return nullptr;
  const auto &range = std::prev(next)->second;
  const size_t offset = size_t(address - range->start);
  return offset <= range->bytes && bytes <= range->bytes - offset ? range : nullptr;
}

/// Returns the mapping that an address lies in; null where there is none.
std::shared_ptr<Mapping> mappingOf(Addresses &known, char *address) {
  auto next = known.mapped.upper_bound(address);
  if (next == known.mapped.begin())
    return nullptr;
  const auto &mapping = std::prev(next)->second;
  return size_t(address - static_cast<char *>(mapping->address)) < mapping->bytes ? mapping
                                                                                  : nullptr;
}

/// Returns whether a mapping that is in use overlaps `bytes` bytes at an address.
bool isOccupied(Addresses &known, char *address, size_t bytes) {
  for (auto each = known.mappings.begin(); each != known.mappings.end();) {
    if (each->second.expired()) {
      each = known.mappings.erase(each);
      continue;
    }
    auto mapping = each->second.lock();
    if (mapping && address < each->first + mapping->bytes && each->first < address + bytes)
      return true;
    ++each;
  }
  return false;
}

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

static aclError reserveAddresses(const char *function, void **virPtr, size_t size, size_t alignment,
                                 void *expectPtr, uint64_t flags) {
  if (!virPtr)
    return fail(ACL_ERROR_INVALID_PARAM, function, "virPtr is NULL");
  if (size == 0 || size > (size_t{1} << 46))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "size is %zu; give 1 to 2^46 bytes", size);
  if (alignment != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "alignment is %zu; give 0, which is 2 MiB", alignment);
  if (flags > 1)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flags are %#llx; give 0 or 1", (unsigned long long)flags);
  const size_t bytes = wholePages(size);
  constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  // More than is wanted, so that an aligned part of it can stay.
  void *wide = mmap(expectPtr, bytes + granularity, PROT_NONE, kind, -1, 0);
  if (wide == MAP_FAILED)
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, function,
                "%zu bytes of addresses could not be allocated", bytes);
  char *start = static_cast<char *>(wide);
  const size_t before =
      (granularity - reinterpret_cast<uintptr_t>(start) % granularity) % granularity;
  if (before > 0)
    munmap(start, before);
  munmap(start + before + bytes, granularity - before);
  start += before;
  Addresses &known = addresses();
  std::lock_guard lock(known.mutex);
  known.ranges.emplace(start, std::make_shared<Range>(start, bytes));
  *virPtr = start;
  return ACL_SUCCESS;
}

aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment, void *expectPtr,
                                uint64_t flags) {
  return reserveAddresses(__func__, virPtr, size, alignment, expectPtr, flags);
}

aclError aclrtReserveMemAddressNoUCMemory(void **virPtr, size_t size, size_t alignment,
                                          void *expectPtr, uint64_t flags) {
  return reserveAddresses(__func__, virPtr, size, alignment, expectPtr, flags);
}

aclError aclrtReleaseMemAddress(void *virPtr) {
  ACL_REQUIRE(virPtr);
  std::shared_ptr<Range> range; // freed after the lock
  Addresses &known = addresses();
  std::lock_guard lock(known.mutex);
  auto found = known.ranges.find(static_cast<char *>(virPtr));
  if (found == known.ranges.end())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "%p was not reserved, or is released", virPtr);
  for (const auto &[start, mapping] : known.mapped)
    if (mapping->range == found->second)
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "memory is mapped at %p; call aclrtUnmapMem first",
               static_cast<void *>(start));
  range = std::move(found->second);
  known.ranges.erase(found);
  return ACL_SUCCESS;
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size,
                             const aclrtPhysicalMemProp *prop, uint64_t flags) {
  ACL_REQUIRE(handle);
  ACL_REQUIRE(prop);
  if (size == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "size is 0");
  if (flags != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flags are %#llx; give 0", (unsigned long long)flags);
  const size_t bytes = wholePages(size);
  const int file = memfd_create("acl_physical", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, off_t(bytes)) != 0) {
    if (file >= 0)
      close(file);
    ACL_FAIL(ACL_ERROR_RT_MEMORY_ALLOCATION, "%zu bytes could not be allocated", bytes);
  }
  *handle = physicals().add(std::make_shared<Physical>(file, bytes, *prop));
  return ACL_SUCCESS;
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  ACL_FIND(found, physicals(), handle);
  physicals().remove(handle);
  return ACL_SUCCESS;
}

aclError aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags) {
  ACL_REQUIRE(virPtr);
  ACL_FIND(memory, physicals(), handle);
  if (offset != 0 || flags != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "offset and flags must be 0");
  const size_t bytes = wholePages(size);
  if (size == 0 || bytes > memory->bytes)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "size is %zu; the handle has %zu bytes", size, memory->bytes);
  char *address = static_cast<char *>(virPtr);
  Addresses &known = addresses();
  std::lock_guard lock(known.mutex);
  auto range = rangeOf(known, address, bytes);
  if (!range ||
      reinterpret_cast<uintptr_t>(address) != wholePages(reinterpret_cast<uintptr_t>(address)))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "%zu bytes at %p are not reserved (aclrtReserveMemAddress)",
             bytes, virPtr);
  if (isOccupied(known, address, bytes))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "memory is mapped at %p already", virPtr);
  if (mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->file, 0) ==
      MAP_FAILED)
    ACL_FAIL(ACL_ERROR_RT_FAILURE, "%zu bytes cannot be mapped at %p", bytes, virPtr);
  auto mapping = std::make_shared<Mapping>(std::move(range), memory, address, bytes);
  ACL_TRY(adopt(__func__, address, bytes, mapping));
  known.mappings[address] = mapping;
  known.mapped[address] = std::move(mapping);
  return ACL_SUCCESS;
}

aclError aclrtUnmapMem(void *virPtr) {
  ACL_REQUIRE(virPtr);
  std::shared_ptr<Mapping> mapping; // emptied after the lock
  std::shared_ptr<Block> block;
  Addresses &known = addresses();
  std::lock_guard lock(known.mutex);
  auto found = known.mapped.find(static_cast<char *>(virPtr));
  if (found == known.mapped.end())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "no memory is mapped at %p", virPtr);
  mapping = std::move(found->second);
  known.mapped.erase(found);
  block = disown(virPtr);
  return ACL_SUCCESS;
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop,
                                          aclrtMemGranularityOptions option, size_t *bytes) {
  ACL_REQUIRE(prop);
  ACL_REQUIRE(bytes);
  if (option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM &&
      option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "option is %d; give 0 or 1", int(option));
  *bytes = granularity;
  return ACL_SUCCESS;
}

aclError aclrtMemSetAccess(void *virPtr, size_t size, aclrtMemAccessDesc *desc, size_t count) {
  ACL_REQUIRE(virPtr);
  ACL_REQUIRE(desc);
  Addresses &known = addresses();
  std::lock_guard lock(known.mutex);
  auto mapping = mappingOf(known, static_cast<char *>(virPtr));
  if (!mapping || size > mapping->bytes)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "%zu bytes at %p are not mapped", size, virPtr);
  for (size_t index = 0; index < count; ++index)
    if (desc[index].flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE)
      ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT,
               "entry %zu asks for access %d; mapped memory is always read and written (3)", index,
               int(desc[index].flags));
  return ACL_SUCCESS;
}

aclError aclrtMemGetAccess(void *virPtr, aclrtMemLocation *location, uint64_t *flag) {
  ACL_REQUIRE(virPtr);
  ACL_REQUIRE(location);
  ACL_REQUIRE(flag);
  Addresses &known = addresses();
  std::lock_guard lock(known.mutex);
  if (!mappingOf(known, static_cast<char *>(virPtr)))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "no memory is mapped at %p", virPtr);
  *flag = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
  return ACL_SUCCESS;
}

aclError aclrtMemRetainAllocationHandle(void *virPtr, aclrtDrvMemHandle *handle) {
  ACL_REQUIRE(virPtr);
  ACL_REQUIRE(handle);
  Addresses &known = addresses();
  std::lock_guard lock(known.mutex);
  auto mapping = mappingOf(known, static_cast<char *>(virPtr));
  if (!mapping)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "no memory is mapped at %p", virPtr);
  *handle = physicals().add(mapping->memory);
  return ACL_SUCCESS;
}

aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle,
                                                   aclrtPhysicalMemProp *prop) {
  ACL_REQUIRE(prop);
  ACL_FIND(memory, physicals(), handle);
  *prop = memory->properties;
  return ACL_SUCCESS;
}
