//===-- WaitingQueue.h - a bounded queue between threads ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_WAITINGQUEUE_H
#define ASCEND_SRC_WAITINGQUEUE_H

#include "ascend/src/Errors.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

namespace atc::ascend {

/// Checks how long a function waits: milliseconds, or -1 for ever.
inline aclError checkTimeout(const char *function, int32_t timeout) {
  if (timeout >= -1)
    return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM, function, "timeout is %d; give milliseconds, or -1",
              timeout);
}

/// Passes values of one type between threads in order, at most `capacity` at a time. Timeouts are
/// milliseconds; 0 does not wait, a negative one waits without end.
template <typename T> class WaitingQueue {
public:
  explicit WaitingQueue(size_t capacity) : capacity(capacity) {}

  /// Puts a value behind the others; false where there is no room in time, or `stopped` is set.
  bool push(T value, int32_t timeout, const std::atomic<bool> &stopped) {
    std::unique_lock lock(mutex);
    if (!waitFor(lock, timeout, [&] { return stopped || values.size() < capacity; }) || stopped)
      return false;
    values.push_back(std::move(value));
    changed.notify_all();
    return true;
  }

  /// Takes the oldest value that `take` accepts to be taken: it returns false to leave it.
  /// Returns false where nothing comes in time, or `stopped` is set.
  template <typename Take>
  bool pop(int32_t timeout, const std::atomic<bool> &stopped, const Take &take) {
    std::unique_lock lock(mutex);
    if (!waitFor(lock, timeout, [&] { return stopped || !values.empty(); }) || stopped)
      return false;
    if (!take(values.front()))
      return true;
    values.pop_front();
    changed.notify_all();
    return true;
  }

  /// Waits until there are fewer than `count` values; false where that is not in time, or `stopped`
  /// is set.
  bool waitForFewer(size_t count, int32_t timeout, const std::atomic<bool> &stopped) {
    std::unique_lock lock(mutex);
    return waitFor(lock, timeout, [&] { return stopped || values.size() < count; }) && !stopped;
  }

  /// Wakes those who wait, so that they look at their `stopped`.
  void wake() {
    std::lock_guard lock(mutex);
    changed.notify_all();
  }

  /// Returns the number of values at this moment.
  size_t size() {
    std::lock_guard lock(mutex);
    return values.size();
  }

  /// Removes all values, and wakes those who wait for room.
  void clear() {
    std::deque<T> gone;
    std::lock_guard lock(mutex);
    gone.swap(values);
    changed.notify_all();
  }

private:
  template <typename Condition>
  bool waitFor(std::unique_lock<std::mutex> &lock, int32_t timeout, const Condition &condition) {
    if (timeout >= 0)
      return changed.wait_for(lock, std::chrono::milliseconds(timeout), condition);
    changed.wait(lock, condition);
    return true;
  }

  const size_t capacity;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<T> values;
};

} // namespace atc::ascend

#endif
