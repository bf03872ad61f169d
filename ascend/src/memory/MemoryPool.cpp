//===-- MemoryPool.cpp - memory that is allocated in the order of a stream ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/memory/Memory.h"

#include <algorithm>
#include <cinttypes>
#include <limits>
#include <map>
#include <vector>

using namespace atc::ascend;

namespace {

/// Device memory of a pool that was freed in the order of a stream.
struct IdleChunk {
  void *address;
  size_t bytes;
  int32_t stream;      ///< Its later tasks may use the memory at once.
  uint64_t freeing;    ///< Numbers the calls that free.
  bool isDone = false; ///< No task uses the memory any more.
};

/// The current and the largest value of a number of bytes.
struct Watermark {
  uint64_t now = 0, high = 0;

  void set(uint64_t value) {
    now = value;
    high = std::max(high, value);
  }
};

/// Keeps memory that was freed, for allocations of the same stream and, once no task uses it, of
/// others. The caller locks `mutex`.
class Pool {
public:
  Pool(int32_t device, size_t maxBytes)
      : device(device), maxBytes(maxBytes == 0 ? std::numeric_limits<size_t>::max() : maxBytes) {}
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;
  ~Pool();

  /// Writes the address of memory that tasks of a stream may use from now on.
  aclError take(const char *function, size_t bytes, int32_t stream, void **address);
  /// Moves memory that is in use to what is idle; returns the number of this call.
  uint64_t giveBack(void *address, int32_t stream);
  /// Marks what a call of giveBack returned as unused by any task.
  void finish(uint64_t freeing);
  /// Frees memory that no task uses until the pool has `keep` bytes, those in use among them.
  void trim(uint64_t keep);

  std::mutex mutex;
  const int32_t device;
  const size_t maxBytes;
  uint64_t threshold = 0;        ///< Bytes that stay behind a synchronization.
  uint32_t reuse[3] = {1, 1, 1}; ///< Which rules of reuse are on.
  Watermark reserved, used;      ///< Bytes of all memory, and of that in use.

private:
  std::map<void *, size_t> inUse;
  std::vector<IdleChunk> idle;
  uint64_t freed = 0;
};

aclError Pool::take(const char *function, size_t bytes, int32_t stream, void **address) {
  constexpr size_t granularity = 512;
  if (bytes > std::numeric_limits<size_t>::max() - granularity)
    return fail(ACL_ERROR_INVALID_PARAM, function, "size is %zu", bytes);
  bytes = (bytes + granularity - 1) / granularity * granularity;
  // The smallest that suffices wastes least. Another stream has no order with this one, so what it
  // freed is taken only once its tasks are done.
  auto best = idle.end();
  for (auto chunk = idle.begin(); chunk != idle.end(); ++chunk)
    if (chunk->bytes >= bytes && (chunk->stream == stream || (chunk->isDone && reuse[1] != 0)) &&
        (best == idle.end() || chunk->bytes < best->bytes))
      best = chunk;
  if (best != idle.end()) {
    *address = best->address;
    inUse.emplace(best->address, best->bytes);
    used.set(used.now + best->bytes);
    idle.erase(best);
    return ACL_SUCCESS;
  }
  if (reserved.now > maxBytes || bytes > maxBytes - reserved.now)
    trim(0);
  if (reserved.now > maxBytes || bytes > maxBytes - reserved.now)
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, function,
                "%zu bytes do not fit: the pool has %" PRIu64 " of at most %zu", bytes,
                reserved.now, maxBytes);
  ACL_TRY(allocate(function, address, bytes, true));
  inUse.emplace(*address, bytes);
  reserved.set(reserved.now + bytes);
  used.set(used.now + bytes);
  return ACL_SUCCESS;
}

uint64_t Pool::giveBack(void *address, int32_t stream) {
  auto found = inUse.find(address);
  used.set(used.now - found->second);
  idle.push_back({address, found->second, stream, ++freed});
  inUse.erase(found);
  return freed;
}

void Pool::finish(uint64_t freeing) {
  for (IdleChunk &chunk : idle)
    chunk.isDone |= chunk.freeing == freeing;
}

void Pool::trim(uint64_t keep) {
  for (auto chunk = idle.begin(); chunk != idle.end() && reserved.now > keep;) {
    if (!chunk->isDone) {
      ++chunk;
      continue;
    }
    reserved.set(reserved.now - chunk->bytes);
    release("a memory pool", chunk->address, true);
    chunk = idle.erase(chunk);
  }
}

// Calls that free hold the pool until their stream has come to them, so nothing is used any more.
Pool::~Pool() {
  for (const IdleChunk &chunk : idle)
    release("a memory pool", chunk.address, true);
}

HandleTable<Pool> &pools() {
  static auto &table = *new HandleTable<Pool>(HandleKind::MemoryPool);
  return table;
}

/// Maps each address of aclrtMemPoolMallocAsync to its pool, which lives until all are freed.
struct Owners {
  std::mutex mutex;
  std::map<void *, std::shared_ptr<Pool>> byAddress;
};

Owners &owners() {
  static auto &only = *new Owners;
  return only;
}

} // namespace

void atc::ascend::releaseIdlePoolMemory(int32_t device) {
  for (auto &pool : pools().select([&](const Pool &pool) { return pool.device == device; })) {
    std::lock_guard lock(pool->mutex);
    pool->trim(pool->threshold);
  }
}

aclError aclrtMemPoolCreate(aclrtMemPool *memPool, const aclrtMemPoolProps *poolProps) {
  ACL_REQUIRE(memPool);
  ACL_REQUIRE(poolProps);
  if (poolProps->allocType != ACL_MEM_ALLOCATION_TYPE_PINNED)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "allocType is %d; give ACL_MEM_ALLOCATION_TYPE_PINNED",
             int(poolProps->allocType));
  if (poolProps->handleType != ACL_MEM_HANDLE_TYPE_NONE)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "handleType is %d; give ACL_MEM_HANDLE_TYPE_NONE",
             int(poolProps->handleType));
  if (poolProps->location.type != ACL_MEM_LOCATION_TYPE_DEVICE)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "location.type is %d; give ACL_MEM_LOCATION_TYPE_DEVICE",
             int(poolProps->location.type));
  ACL_TRY(checkDevice(__func__, int64_t(poolProps->location.id)));
  *memPool =
      pools().add(std::make_shared<Pool>(int32_t(poolProps->location.id), poolProps->maxSize));
  return ACL_SUCCESS;
}

aclError aclrtMemPoolDestroy(const aclrtMemPool memPool) {
  ACL_FIND(found, pools(), memPool);
  pools().remove(memPool);
  return ACL_SUCCESS;
}

aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value) {
  ACL_FIND(found, pools(), memPool);
  ACL_REQUIRE(value);
  std::lock_guard lock(found->mutex);
  switch (attr) {
  case ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES:
  case ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC:
  case ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
    if (const uint32_t rule = *static_cast<uint32_t *>(value); rule > 1)
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the value is %u; give 0 or 1", rule);
    found->reuse[int(attr) - 1] = *static_cast<uint32_t *>(value);
    return ACL_SUCCESS;
  case ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD:
    found->threshold = *static_cast<uint64_t *>(value);
    return ACL_SUCCESS;
  case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH:
  case ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH: {
    if (*static_cast<uint64_t *>(value) != 0)
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the largest use can only be set to 0");
    Watermark &mark = attr == ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH ? found->used : found->reserved;
    mark.high = mark.now;
    return ACL_SUCCESS;
  }
  case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT:
  case ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT:
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the memory of now can only be read");
  }
  ACL_FAIL(ACL_ERROR_INVALID_PARAM, "attr is %d, which is none of aclrtMemPoolAttr", int(attr));
}

aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value) {
  ACL_FIND(found, pools(), memPool);
  ACL_REQUIRE(value);
  std::lock_guard lock(found->mutex);
  auto answer = [&](uint64_t bytes) {
    *static_cast<uint64_t *>(value) = bytes;
    return ACL_SUCCESS;
  };
  switch (attr) {
  case ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES:
  case ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC:
  case ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
    *static_cast<uint32_t *>(value) = found->reuse[int(attr) - 1];
    return ACL_SUCCESS;
  case ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD:
    return answer(found->threshold);
  case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT:
    return answer(found->reserved.now);
  case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH:
    return answer(found->reserved.high);
  case ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT:
    return answer(found->used.now);
  case ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH:
    return answer(found->used.high);
  }
  ACL_FAIL(ACL_ERROR_INVALID_PARAM, "attr is %d, which is none of aclrtMemPoolAttr", int(attr));
}

aclError aclrtMemPoolMallocAsync(void **ptr, size_t size, aclrtMemPool memPool,
                                 aclrtStream stream) {
  ACL_REQUIRE(ptr);
  ACL_FIND(found, pools(), memPool);
  std::shared_ptr<Stream> queue;
  ACL_TRY(findStream(__func__, stream, queue));
  if (queue->device != found->device)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the pool belongs to device %d, and the stream to device %d",
             found->device, queue->device);
  *ptr = nullptr;
  if (size == 0)
    return ACL_SUCCESS;
  std::lock_guard lock(owners().mutex);
  {
    std::lock_guard poolLock(found->mutex);
    ACL_TRY(found->take(__func__, size, queue->id, ptr));
  }
  owners().byAddress[*ptr] = found;
  return ACL_SUCCESS;
}

aclError aclrtMemPoolFreeAsync(void *ptr, aclrtStream stream) {
  ACL_REQUIRE(ptr);
  std::shared_ptr<Stream> queue;
  ACL_TRY(findStream(__func__, stream, queue));
  std::shared_ptr<Pool> pool;
  uint64_t freeing = 0;
  {
    std::lock_guard lock(owners().mutex);
    auto found = owners().byAddress.find(ptr);
    if (found == owners().byAddress.end())
      ACL_FAIL(ACL_ERROR_INVALID_PARAM,
               "%p was freed, or was not allocated by aclrtMemPoolMallocAsync", ptr);
    pool = std::move(found->second);
    owners().byAddress.erase(found);
    std::lock_guard poolLock(pool->mutex);
    freeing = pool->giveBack(ptr, queue->id);
  }
  // The task ends its use of the memory also where it is dropped without having run.
  std::shared_ptr<void> ended(nullptr, [pool, freeing](void *) {
    std::lock_guard lock(pool->mutex);
    pool->finish(freeing);
  });
  return queue->enqueue(__func__, [ended = std::move(ended)] { return ACL_SUCCESS; });
}

aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep) {
  ACL_FIND(found, pools(), memPool);
  std::lock_guard lock(found->mutex);
  found->trim(minBytesToKeep);
  return ACL_SUCCESS;
}
