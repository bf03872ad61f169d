//===-- Memory.cpp ------------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/memory/Memory.h"

#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <shared_mutex>
#include <vector>

#include <unistd.h>

namespace atc::ascend {
namespace {

constexpr size_t alignment = 512;

struct Blocks {
  std::shared_mutex mutex;
  std::map<uintptr_t, std::shared_ptr<Block>> byAddress;
};

Blocks &blocks() {
  static auto &only = *new Blocks;
  return only;
}

std::atomic<size_t> deviceBytes{0}; // allocated now
std::atomic<size_t> deviceBytesPeak{0};

size_t totalBytes() {
  static const size_t total = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGE_SIZE));
  return total;
}

} // namespace

Block::~Block() {
  if (adopted)
    return;
  free(data);
  if (onDevice)
    deviceBytes -= bytes;
}

aclError allocate(const char *function, void **address, size_t bytes, bool onDevice) {
  if (!address)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the pointer for the address is NULL");
  *address = nullptr;
  if (bytes == 0)
    return fail(ACL_ERROR_INVALID_PARAM, function, "size is 0");
  const size_t used = deviceBytes;
  if (bytes > totalBytes() || (onDevice && bytes > totalBytes() - used))
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, function,
                "%zu bytes could not be allocated; %zu of %zu are in use", bytes, used,
                totalBytes());
  // Kernels may read whole vectors at the end, as on the device itself.
  void *data = aligned_alloc(alignment, (bytes + 32 + alignment - 1) / alignment * alignment);
  if (!data)
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, function, "%zu bytes could not be allocated",
                bytes);
  auto block = std::make_shared<Block>(data, bytes, onDevice);
  if (onDevice) {
    const size_t now = deviceBytes += bytes;
    size_t peak = deviceBytesPeak;
    while (now > peak && !deviceBytesPeak.compare_exchange_weak(peak, now)) {
    }
  }
  std::unique_lock lock(blocks().mutex);
  blocks().byAddress.emplace(reinterpret_cast<uintptr_t>(data), std::move(block));
  *address = data;
  return ACL_SUCCESS;
}

aclError release(const char *function, void *address, bool onDevice) {
  if (!address)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the address is NULL");
  std::shared_ptr<Block> block; // freed after the lock
  std::unique_lock lock(blocks().mutex);
  auto found = blocks().byAddress.find(reinterpret_cast<uintptr_t>(address));
  if (found == blocks().byAddress.end())
    return fail(ACL_ERROR_INVALID_PARAM, function, "%p was freed, or was not allocated by AscendCL",
                address);
  if (found->second->adopted)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "%p is mapped or registered memory: use aclrtUnmapMem or aclrtHostUnregister",
                address);
  if (found->second->onDevice != onDevice)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%p is %s memory: free it with %s", address,
                onDevice ? "host" : "device", onDevice ? "aclrtFreeHost" : "aclrtFree");
  block = std::move(found->second);
  blocks().byAddress.erase(found);
  return ACL_SUCCESS;
}

std::vector<std::shared_ptr<Block>> lastingDeviceBlocks() {
  std::vector<std::shared_ptr<Block>> found;
  std::shared_lock lock(blocks().mutex);
  for (const auto &[address, block] : blocks().byAddress)
    if (block->onDevice && block->keepsMemory())
      found.push_back(block);
  return found;
}

MemoryUse deviceMemoryUse() { return {deviceBytes, deviceBytesPeak}; }

aclError adopt(const char *function, void *address, size_t bytes, std::shared_ptr<void> owner) {
  const auto start = reinterpret_cast<uintptr_t>(address);
  std::unique_lock lock(blocks().mutex);
  auto next = blocks().byAddress.lower_bound(start);
  const bool overlapsNext = next != blocks().byAddress.end() && next->first - start < bytes;
  const bool overlapsLast = next != blocks().byAddress.begin() &&
                            start - std::prev(next)->first < std::prev(next)->second->bytes;
  if (overlapsNext || overlapsLast)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "%p was allocated by AscendCL, or is registered already", address);
  blocks().byAddress.emplace(start, std::make_shared<Block>(address, bytes, std::move(owner)));
  return ACL_SUCCESS;
}

std::shared_ptr<Block> disown(void *address) {
  std::unique_lock lock(blocks().mutex);
  auto found = blocks().byAddress.find(reinterpret_cast<uintptr_t>(address));
  if (found == blocks().byAddress.end() || !found->second->adopted)
    return nullptr;
  std::shared_ptr<Block> block = std::move(found->second);
  blocks().byAddress.erase(found);
  return block;
}

std::shared_ptr<Block> blockOf(const void *address, size_t &room, size_t wanted) {
  const auto wantedAddress = reinterpret_cast<uintptr_t>(address);
  std::shared_lock lock(blocks().mutex);
  auto next = blocks().byAddress.upper_bound(wantedAddress);
  room = 0;
  if (next == blocks().byAddress.begin())
    return nullptr;
  const auto &[start, block] = *std::prev(next);
  if (wantedAddress - start >= block->bytes)
    return nullptr;
  room = block->bytes - (wantedAddress - start);
  if (room >= wanted || !block->adopted)
    return block;
  // A task whose range spans several mappings keeps all of them alive.
  auto parts = std::make_shared<std::vector<std::shared_ptr<Block>>>(1, block);
  for (; room < wanted && next != blocks().byAddress.end() && next->first == wantedAddress + room &&
         next->second->adopted;
       ++next) {
    room += next->second->bytes;
    parts->push_back(next->second);
  }
  return std::make_shared<Block>(block->data, wantedAddress - start + room, std::move(parts));
}

aclError requireDevice(const char *function, const char *what, const void *address, size_t bytes,
                       std::shared_ptr<Block> &block) {
  if (!address)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s is NULL", what);
  size_t room = 0;
  block = blockOf(address, room, bytes);
  if (!block || !block->onDevice)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "%s (%p) is no device memory; allocate it with aclrtMalloc", what, address);
  if (bytes > room)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "%s (%p) has %zu bytes up to the end of its allocation, %zu are needed", what,
                address, room, bytes);
  return ACL_SUCCESS;
}

} // namespace atc::ascend

using namespace atc::ascend;

namespace {

/// Checks one side of a copy: device memory must be allocated and large enough, and where
/// host memory is known, it must be large enough too.
aclError checkSide(const char *function, const char *what, const void *address, size_t bytes,
                   bool device, std::shared_ptr<Block> &block) {
  if (device)
    return requireDevice(function, what, address, bytes, block);
  size_t room = 0;
  block = blockOf(address, room, bytes);
  if (block && bytes > room)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "%s (%p) has %zu bytes up to the end of its allocation, %zu are needed", what,
                address, room, bytes);
  return ACL_SUCCESS;
}

aclError prepareCopy(const char *function, void *dst, size_t dpitch, const void *src, size_t spitch,
                     size_t width, size_t height, aclrtMemcpyKind kind, MemoryCopy &copy) {
  if (!dst || !src)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s is NULL", dst ? "src" : "dst");
  if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE)
    return fail(ACL_ERROR_INVALID_PARAM, function, "kind is %d; give 0 to 7", int(kind));
  if (width > dpitch || width > spitch)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "rows of %zu bytes do not fit rows that are %zu and %zu bytes apart", width, dpitch,
                spitch);
  size_t toBytes = 0, fromBytes = 0;
  if (height > 0 && (__builtin_mul_overflow(height - 1, dpitch, &toBytes) ||
                     __builtin_add_overflow(toBytes, width, &toBytes) ||
                     __builtin_mul_overflow(height - 1, spitch, &fromBytes) ||
                     __builtin_add_overflow(fromBytes, width, &fromBytes)))
    return fail(ACL_ERROR_INVALID_PARAM, function, "%zu rows are beyond the address space", height);
  const bool within =
      kind == ACL_MEMCPY_DEVICE_TO_DEVICE || kind >= ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
  const bool toDevice =
      within || kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
  const bool fromDevice = within || kind == ACL_MEMCPY_DEVICE_TO_HOST;
  ACL_TRY(checkSide(function, "dst", dst, toBytes, toDevice, copy.target));
  ACL_TRY(checkSide(function, "src", src, fromBytes, fromDevice, copy.source));
  copy.to = static_cast<char *>(dst);
  copy.from = static_cast<const char *>(src);
  copy.toPitch = dpitch;
  copy.fromPitch = spitch;
  copy.width = width;
  copy.height = height;
  return ACL_SUCCESS;
}

aclError enqueueCopy(const char *function, const MemoryCopy &copy, aclrtStream stream) {
  return enqueue(function, stream, [copy] {
    copy.run();
    return ACL_SUCCESS;
  });
}

aclError checkSet(const char *function, void *address, size_t maxCount, size_t count,
                  std::shared_ptr<Block> &block) {
  if (!address)
    return fail(ACL_ERROR_INVALID_PARAM, function, "devPtr is NULL");
  if (count > maxCount)
    return fail(ACL_ERROR_INVALID_PARAM, function, "count (%zu) is more than maxCount (%zu)", count,
                maxCount);
  return checkSide(function, "devPtr", address, count, false, block);
}

} // namespace

void MemoryCopy::run() const {
  for (size_t row = 0; row < height; ++row)
    memmove(to + row * toPitch, from + row * fromPitch, width);
}

aclError atc::ascend::prepareRow(const char *function, void *dst, size_t destMax, const void *src,
                                 size_t count, aclrtMemcpyKind kind, MemoryCopy &copy) {
  if (count > destMax)
    return fail(ACL_ERROR_INVALID_PARAM, function, "count (%zu) is more than destMax (%zu)", count,
                destMax);
  return prepareCopy(function, dst, count, src, count, count, 1, kind, copy);
}

/// Checks a policy, whose values mean nothing here but must be known.
static aclError checkPolicy(const char *function, aclrtMemMallocPolicy policy) {
  const unsigned low = unsigned(policy) & 0xFF, high = unsigned(policy) & ~0xFFu;
  constexpr unsigned bands = ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH |
                             ACL_MEM_ACCESS_USER_SPACE_READONLY;
  if (low > 8 || (high & ~bands))
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "policy is %#x, which is none of "
                "aclrtMemMallocPolicy",
                unsigned(policy));
  return ACL_SUCCESS;
}

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
  ACL_REQUIRE(devPtr);
  ACL_TRY(checkPolicy(__func__, policy));
  ACL_REQUIRE_CONTEXT(context);
  return allocate(__func__, devPtr, size, true);
}

aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return aclrtMalloc(devPtr, size, policy);
}

aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return aclrtMalloc(devPtr, size, policy);
}

aclError aclrtMemFlush(void *devPtr, size_t size) {
  std::shared_ptr<Block> block;
  return requireDevice(__func__, "devPtr", devPtr, size, block);
}

aclError aclrtMemInvalidate(void *devPtr, size_t size) {
  std::shared_ptr<Block> block;
  return requireDevice(__func__, "devPtr", devPtr, size, block);
}

aclError aclrtFree(void *devPtr) { return release(__func__, devPtr, true); }

aclError aclrtMallocHost(void **hostPtr, size_t size) {
  return allocate(__func__, hostPtr, size, false);
}

aclError aclrtFreeHost(void *hostPtr) { return release(__func__, hostPtr, false); }

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count,
                     aclrtMemcpyKind kind) {
  MemoryCopy copy;
  ACL_TRY(prepareRow(__func__, dst, destMax, src, count, kind, copy));
  copy.run();
  return ACL_SUCCESS;
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  MemoryCopy copy;
  ACL_TRY(prepareRow(__func__, dst, destMax, src, count, kind, copy));
  return enqueueCopy(__func__, copy, stream);
}

aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
  MemoryCopy copy;
  ACL_TRY(prepareCopy(__func__, dst, dpitch, src, spitch, width, height, kind, copy));
  copy.run();
  return ACL_SUCCESS;
}

aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  MemoryCopy copy;
  ACL_TRY(prepareCopy(__func__, dst, dpitch, src, spitch, width, height, kind, copy));
  return enqueueCopy(__func__, copy, stream);
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count) {
  std::shared_ptr<Block> block;
  ACL_TRY(checkSet(__func__, devPtr, maxCount, count, block));
  memset(devPtr, value, count);
  return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  std::shared_ptr<Block> block;
  ACL_TRY(checkSet(__func__, devPtr, maxCount, count, block));
  return enqueue(__func__, stream, [=] {
    memset(devPtr, value, count);
    return ACL_SUCCESS;
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total) {
  ACL_REQUIRE(free);
  ACL_REQUIRE(total);
  if (attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "attr is %d; give 0 to 17", int(attr));
  ACL_REQUIRE_CONTEXT(context);
  const size_t used = deviceBytes;
  *total = totalBytes();
  *free = *total - (used < *total ? used : *total);
  return ACL_SUCCESS;
}
