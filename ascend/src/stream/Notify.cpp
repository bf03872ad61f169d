//===-- Notify.cpp - flags, numbers and values that streams wait for ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "acl/acl_rt_sync.h"
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/memory/Memory.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace atc::ascend {
namespace {

std::atomic<uint32_t> nextNotify{0};

/// A number that tasks change and wait for; that of a plain notify is 0 or 1.
struct Notify {
  const uint32_t id = nextNotify.fetch_add(1);
  std::mutex mutex;
  std::condition_variable changed;
  uint32_t value = 0;

  template <typename Change> void change(const Change &action) {
    std::lock_guard lock(mutex);
    value = action(value);
    changed.notify_all();
  }
};

HandleTable<Notify> &notifies() {
  static auto &table = *new HandleTable<Notify>(HandleKind::Notify);
  return table;
}

HandleTable<Notify> &countNotifies() {
  static auto &table = *new HandleTable<Notify>(HandleKind::CountNotify);
  return table;
}

/// Waits until `come` holds or the stream ends, `timeout` milliseconds at most (0: without end);
/// `look` is called with the lock of what is waited for. Streams that end are noticed in 20 ms.
template <typename Come>
aclError waitOnStream(const char *function, Stream &stream, std::unique_lock<std::mutex> &lock,
                      std::condition_variable &changed, uint32_t timeout, const Come &come) {
  const auto start = std::chrono::steady_clock::now();
  while (!changed.wait_for(lock, std::chrono::milliseconds(timeout ? std::min(timeout, 20u) : 20),
                           come)) {
    if (stream.closing())
      return ACL_SUCCESS;
    if (timeout && std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(timeout))
      return fail(ACL_ERROR_RT_TASK_TIMEOUT, function,
                  "what is waited for did not come in "
                  "%u ms",
                  timeout);
  }
  return ACL_SUCCESS;
}

/// Puts a task behind those of a stream that waits for a condition on a notify's number, then
/// changes the number where `clear` is set.
template <typename Condition>
aclError enqueueWait(const char *function, std::shared_ptr<Notify> notify, aclrtStream handle,
                     uint32_t timeout, bool clear, const Condition &condition) {
  std::shared_ptr<Stream> stream;
  ACL_TRY(findStream(function, handle, stream));
  return stream->enqueue(function, [=, queue = stream.get()] {
    std::unique_lock lock(notify->mutex);
    ACL_TRY(waitOnStream(function, *queue, lock, notify->changed, timeout,
                         [&] { return condition(notify->value); }));
    if (clear)
      notify->value = 0;
    return ACL_SUCCESS;
  });
}

bool holds(const aclrtCntNotifyWaitInfo &info, uint32_t value) {
  switch (info.mode) {
  case ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE:
    return value < info.value;
  case ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE:
    return value == info.value;
  case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE:
    return value > info.value;
  case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE:
    return value >= info.value;
  default:
    return (value & info.value) == info.value;
  }
}

bool holds(uint32_t flag, uint64_t found, uint64_t value) {
  switch (flag) {
  case ACL_STREAM_WAIT_VALUE_GEQ:
    return found >= value;
  case ACL_STREAM_WAIT_VALUE_EQ:
    return found == value;
  case ACL_STREAM_WAIT_VALUE_AND:
    return (found & value) != 0;
  default:
    return ~(found | value) != 0;
  }
}

/// Wakes tasks that wait for values; values may also be changed by copies, which wake nobody.
struct Values {
  std::mutex mutex;
  std::condition_variable changed;
};

Values &values() {
  static auto &only = *new Values;
  return only;
}

aclError checkValue(const char *function, void *address, std::shared_ptr<Block> &block) {
  ACL_TRY(requireDevice(function, "devAddr", address, sizeof(uint64_t), block));
  if (reinterpret_cast<uintptr_t>(address) % sizeof(uint64_t) != 0)
    return fail(ACL_ERROR_MEMORY_ADDRESS_UNALIGNED, function, "devAddr (%p) is not a multiple of 8",
                address);
  return ACL_SUCCESS;
}

/// Adds a notify of the current context to `table`; errors are reported for `function`.
template <typename Table, typename Handle>
aclError create(const char *function, Table &table, Handle *handle, uint64_t flag) {
  if (flag > ACL_NOTIFY_DEVICE_USE_ONLY)
    return fail(ACL_ERROR_INVALID_PARAM, function, "flag is %#llx; give 0 or 1",
                (unsigned long long)flag);
  std::shared_ptr<Context> context;
  ACL_TRY(currentContext(function, context));
  *handle = table.add(std::make_shared<Notify>());
  return ACL_SUCCESS;
}

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag) {
  ACL_REQUIRE(notify);
  return create(__func__, notifies(), notify, flag);
}

aclError aclrtDestroyNotify(aclrtNotify notify) {
  ACL_FIND(found, notifies(), notify);
  notifies().remove(notify);
  return ACL_SUCCESS;
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
  ACL_FIND(found, notifies(), notify);
  return enqueue(__func__, stream, [found] {
    found->change([](uint32_t) { return 1u; });
    return ACL_SUCCESS;
  });
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
  ACL_FIND(found, notifies(), notify);
  return enqueueWait(__func__, found, stream, timeout, /*clear=*/true,
                     [](uint32_t value) { return value != 0; });
}

aclError aclrtNotifyBatchReset(aclrtNotify *handles, size_t num) {
  ACL_REQUIRE(handles);
  if (num == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "num is 0");
  for (size_t index = 0; index < num; ++index) {
    const aclrtNotify notify = handles[index];
    ACL_FIND(found, notifies(), notify);
    found->change([](uint32_t) { return 0u; });
  }
  return ACL_SUCCESS;
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId) {
  ACL_REQUIRE(notifyId);
  ACL_FIND(found, notifies(), notify);
  *notifyId = found->id;
  return ACL_SUCCESS;
}

aclError aclrtCntNotifyCreate(aclrtCntNotify *cntNotify, uint64_t flag) {
  ACL_REQUIRE(cntNotify);
  return create(__func__, countNotifies(), cntNotify, flag);
}

aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify) {
  ACL_FIND(found, countNotifies(), cntNotify);
  countNotifies().remove(cntNotify);
  return ACL_SUCCESS;
}

aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream,
                              aclrtCntNotifyRecordInfo *info) {
  ACL_FIND(found, countNotifies(), cntNotify);
  ACL_REQUIRE(info);
  const aclrtCntNotifyRecordInfo how = *info;
  if (how.mode < ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE || int(how.mode) == 3 ||
      how.mode > ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "mode is %d; give 0, 1, 2 or 4", int(how.mode));
  return enqueue(__func__, stream, [found, how] {
    found->change([&](uint32_t value) {
      return how.mode == ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE ? how.value
             : how.mode == ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE     ? value + how.value
             : how.mode == ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE  ? value | how.value
                                                                 : value & how.value;
    });
    return ACL_SUCCESS;
  });
}

aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream,
                                       aclrtCntNotifyWaitInfo *info) {
  ACL_FIND(found, countNotifies(), cntNotify);
  ACL_REQUIRE(info);
  const aclrtCntNotifyWaitInfo how = *info;
  if (how.mode < ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE ||
      how.mode > ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "mode is %d; give 0 to 4", int(how.mode));
  return enqueueWait(__func__, found, stream, how.timeout, how.isClear != 0,
                     [how](uint32_t value) { return holds(how, value); });
}

aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream) {
  ACL_FIND(found, countNotifies(), cntNotify);
  return enqueue(__func__, stream, [found] {
    found->change([](uint32_t) { return 0u; });
    return ACL_SUCCESS;
  });
}

aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t *notifyId) {
  ACL_REQUIRE(notifyId);
  ACL_FIND(found, countNotifies(), cntNotify);
  *notifyId = found->id;
  return ACL_SUCCESS;
}

aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  if (flag != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flag is %u; give 0", flag);
  std::shared_ptr<Block> block;
  ACL_TRY(checkValue(__func__, devAddr, block));
  aclmdlRITaskParams description = describeTask(ACL_MODEL_RI_TASK_VALUE_WRITE);
  description.valueWriteTaskParams = {devAddr, value};
  const auto write = [=] {
    std::lock_guard lock(values().mutex);
    __atomic_store_n(static_cast<uint64_t *>(devAddr), value, __ATOMIC_RELEASE);
    values().changed.notify_all();
    return ACL_SUCCESS;
  };
  return enqueue(__func__, stream, write, description);
}

aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  if (flag > ACL_STREAM_WAIT_VALUE_NOR)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flag is %u; give 0 to 3", flag);
  std::shared_ptr<Block> block;
  ACL_TRY(checkValue(__func__, devAddr, block));
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  aclmdlRITaskParams description = describeTask(ACL_MODEL_RI_TASK_VALUE_WAIT);
  description.valueWaitTaskParams = {devAddr, value, flag};
  const auto wait = [=, queue = found.get()] {
    std::unique_lock lock(values().mutex);
    return waitOnStream("aclrtValueWait", *queue, lock, values().changed, 0, [&] {
      return holds(flag, __atomic_load_n(static_cast<uint64_t *>(devAddr), __ATOMIC_ACQUIRE),
                   value);
    });
  };
  return found->enqueue("aclrtValueWait", wait, description);
}
