//===-- MemoryPoolTest.cpp - memory in the order of streams ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/ascend/AclTest.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace {

constexpr uint64_t chunk = 1 << 20;

/// A pool on device 0 of which `maxSize` bytes may be in use, 0 for any number.
struct PoolHandle {
  explicit PoolHandle(size_t maxSize, uint64_t threshold = 0) {
    aclrtMemPoolProps props{ACL_MEM_ALLOCATION_TYPE_PINNED,
                            ACL_MEM_HANDLE_TYPE_NONE,
                            {0, ACL_MEM_LOCATION_TYPE_DEVICE},
                            maxSize,
                            {}};
    GOOD(aclrtMemPoolCreate(&pool, &props));
    GOOD(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
  }

  uint64_t value(aclrtMemPoolAttr attr) {
    uint64_t value = 0;
    GOOD(aclrtMemPoolGetAttr(pool, attr, &value));
    return value;
  }
  uint64_t reserved() { return value(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT); }
  uint64_t used() { return value(ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT); }

  aclrtMemPool pool = nullptr;
};

/// A task that holds a stream until it is opened.
struct Gate {
  explicit Gate(aclrtStream stream) {
    GOOD(aclrtLaunchHostFunc(
        stream,
        [](void *self) {
          while (!static_cast<Gate *>(self)->isOpen)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        },
        this));
  }
  std::atomic<bool> isOpen{false};
};

} // namespace

TEST_CASE("memory of a pool is reused in the order of its stream") {
  Started started;
  PoolHandle pool(0, 4 * chunk);
  aclrtStream stream = nullptr, other = nullptr;
  GOOD(aclrtCreateStream(&stream));
  GOOD(aclrtCreateStream(&other));
  void *first = nullptr, *again = nullptr, *elsewhere = nullptr;
  GOOD(aclrtMemPoolMallocAsync(&first, chunk, pool.pool, stream));
  Gate gate(stream);
  GOOD(aclrtMemsetAsync(first, chunk, 7, chunk, stream));
  GOOD(aclrtMemPoolFreeAsync(first, stream));
  CHECK(pool.used() == 0);
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemPoolFreeAsync(first, stream));

  // The other stream has no order with the task that still uses the memory.
  GOOD(aclrtMemPoolMallocAsync(&elsewhere, chunk, pool.pool, other));
  CHECK(elsewhere != first);
  GOOD(aclrtMemPoolMallocAsync(&again, chunk, pool.pool, stream));
  CHECK(again == first);
  GOOD(aclrtMemsetAsync(again, chunk, 9, chunk, stream));
  std::vector<unsigned char> host(chunk);
  GOOD(aclrtMemcpyAsync(host.data(), chunk, again, chunk, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  gate.isOpen = true;
  GOOD(aclrtSynchronizeStream(stream));
  CHECK(std::all_of(host.begin(), host.end(), [](int value) { return value == 9; }));

  // Once its tasks are done, another stream may have it, unless that is switched off.
  GOOD(aclrtMemPoolFreeAsync(again, stream));
  GOOD(aclrtSynchronizeStream(stream));
  uint32_t rule = 0;
  GOOD(aclrtMemPoolSetAttr(pool.pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &rule));
  void *third = nullptr, *fourth = nullptr;
  GOOD(aclrtMemPoolMallocAsync(&third, chunk, pool.pool, other));
  CHECK(third != first);
  rule = 1;
  GOOD(aclrtMemPoolSetAttr(pool.pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &rule));
  GOOD(aclrtMemPoolMallocAsync(&fourth, chunk, pool.pool, other));
  CHECK(fourth == first);
  CHECK((pool.reserved() == 3 * chunk && pool.used() == 3 * chunk));
  // A pool that is destroyed keeps what is in use.
  GOOD(aclrtMemPoolDestroy(pool.pool));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclrtMemPoolMallocAsync(&again, chunk, pool.pool, stream));
  for (void *address : {elsewhere, third, fourth})
    GOOD(aclrtMemPoolFreeAsync(address, other));
  GOOD(aclrtSynchronizeStream(other));
  aclrtPtrAttributes facts{};
  GOOD(aclrtPointerGetAttributes(fourth, &facts));
  CHECK(facts.location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  GOOD(aclrtDestroyStream(stream));
  GOOD(aclrtDestroyStream(other));
}

TEST_CASE("a pool frees what exceeds its threshold where its stream is waited for") {
  Started started;
  PoolHandle pool(4 * chunk, 2 * chunk);
  void *parts[4] = {}, *more = nullptr;
  for (void *&part : parts)
    GOOD(aclrtMemPoolMallocAsync(&part, chunk, pool.pool, nullptr));
  BAD(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMemPoolMallocAsync(&more, 1, pool.pool, nullptr));
  CHECK(more == nullptr);
  for (void *part : parts)
    GOOD(aclrtMemPoolFreeAsync(part, nullptr));
  CHECK(pool.used() == 0);
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(pool.reserved() == 2 * chunk);
  // Idle memory makes room for what is larger.
  GOOD(aclrtMemPoolMallocAsync(&more, 3 * chunk, pool.pool, nullptr));
  CHECK((pool.reserved() == 3 * chunk && pool.used() == 3 * chunk));
  GOOD(aclrtMemPoolFreeAsync(more, nullptr));
  GOOD(aclrtSynchronizeDevice());
  CHECK(pool.reserved() == 0); // one piece of three, as pieces are not divided
  CHECK(pool.value(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH) == 4 * chunk);
  CHECK(pool.value(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH) == 4 * chunk);
  uint64_t zero = 0;
  GOOD(aclrtMemPoolSetAttr(pool.pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &zero));
  CHECK(pool.value(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH) == 0);
  BAD(ACL_ERROR_INVALID_PARAM,
      aclrtMemPoolSetAttr(pool.pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &zero));
  GOOD(aclrtMemPoolMallocAsync(&more, chunk, pool.pool, nullptr));
  GOOD(aclrtMemPoolFreeAsync(more, nullptr));
  GOOD(aclrtSynchronizeStream(nullptr));
  CHECK(pool.reserved() == chunk);
  GOOD(aclrtMemPoolTrimTo(pool.pool, 0));
  CHECK(pool.reserved() == 0);
  GOOD(aclrtMemPoolDestroy(pool.pool));
}

TEST_CASE("pools refuse what they cannot be") {
  Started started;
  aclrtMemPool pool = nullptr;
  aclrtMemPoolProps props{};
  props.location = {0, ACL_MEM_LOCATION_TYPE_HOST};
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemPoolCreate(&pool, &props));
  props.location = {99, ACL_MEM_LOCATION_TYPE_DEVICE};
  BAD(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMemPoolCreate(&pool, &props));
  props.location.id = 0;
  props.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemPoolCreate(&pool, &props));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemPoolCreate(nullptr, &props));
}

TEST_CASE("threads share a pool") {
  Started started;
  PoolHandle pool(0, chunk);
  aclrtContext context = nullptr;
  GOOD(aclrtGetCurrentContext(&context));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      aclrtStream stream = nullptr;
      wrong += aclrtSetCurrentContext(context) != 0 || aclrtCreateStream(&stream) != 0;
      std::vector<unsigned char> host(4096);
      for (int round = 0; round < 50; ++round) {
        void *memory = nullptr;
        wrong += aclrtMemPoolMallocAsync(&memory, 4096, pool.pool, stream) != 0;
        wrong += aclrtMemsetAsync(memory, 4096, thread, 4096, stream) != 0;
        wrong += aclrtMemcpyAsync(host.data(), 4096, memory, 4096, ACL_MEMCPY_DEVICE_TO_HOST,
                                  stream) != 0;
        wrong += aclrtMemPoolFreeAsync(memory, stream) != 0;
        if (round % 8 == 7)
          wrong += aclrtSynchronizeStream(stream) != 0 || host[4095] != thread;
      }
      wrong += aclrtDestroyStream(stream) != 0;
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
  CHECK(pool.used() == 0);
  GOOD(aclrtMemPoolDestroy(pool.pool));
}
