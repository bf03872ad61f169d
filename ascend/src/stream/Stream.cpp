//===-- Stream.cpp ------------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/stream/Stream.h"

#include "ascend/src/Errors.h"

#include <atomic>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

/// Describes a failed task to the exception callback.
struct rtExceptionInfo {
  uint32_t task, stream, thread, device, code;
};

namespace atc::ascend {
namespace {

std::atomic<int32_t> nextId{1};
std::atomic<aclrtExceptionInfoCallback> exceptionCallback{nullptr};

} // namespace

void setExceptionCallback(aclrtExceptionInfoCallback callback) { exceptionCallback = callback; }

Stream::Stream(int32_t device, uint64_t context)
    : device(device), context(context), id(nextId.fetch_add(1)) {}

aclError Stream::enqueue(const char *function, Task task) {
  std::lock_guard lock(mutex);
  if (ending)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function, "the stream is being destroyed");
  if (recorded) {
    recorded->push_back(std::move(task));
    return ACL_SUCCESS;
  }
  if (!thread.joinable()) {
    try {
      // The thread shares the stream: it may outlive a close by one of its own tasks.
      thread = std::thread([self = shared_from_this()] { self->run(); });
    } catch (const std::system_error &error) {
      return fail(ACL_ERROR_RT_FAILURE, function, "no thread can be started: %s", error.what());
    }
  }
  tasks.push_back(std::move(task));
  changed.notify_all();
  return ACL_SUCCESS;
}

/// Runs a task. Nobody is above it on this thread who could catch what it throws.
static aclError runTask(const Stream::Task &task) {
  try {
    return task();
  } catch (const std::bad_alloc &) {
    return fail(ACL_ERROR_BAD_ALLOC, "a task of a stream", "memory could not be allocated");
  }
}

void Stream::run() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return ending || !tasks.empty(); });
    if (tasks.empty())
      return;
    bool skip = firstError != ACL_SUCCESS && failureMode == ACL_STOP_ON_FAILURE;
    Task task = std::move(tasks.front());
    tasks.pop_front();
    busy = true;
    uint32_t number = taskCount++;
    lock.unlock();
    aclError code = skip ? ACL_SUCCESS : runTask(task);
    task = nullptr; // what it holds is released before anyone is told that it is done
    if (code != ACL_SUCCESS)
      report(code, number);
    lock.lock();
    if (code != ACL_SUCCESS && firstError == ACL_SUCCESS) {
      firstError = code;
      firstMessage = lastMessage();
    }
    busy = false;
    changed.notify_all();
  }
}

void Stream::report(aclError code, uint32_t task) {
  aclrtExceptionInfoCallback callback = exceptionCallback;
  if (!callback)
    return;
  rtExceptionInfo info{task, static_cast<uint32_t>(id), static_cast<uint32_t>(syscall(SYS_gettid)),
                       static_cast<uint32_t>(device), static_cast<uint32_t>(code)};
  callback(&info);
}

aclError Stream::synchronize(const char *function, int32_t timeout) {
  std::unique_lock lock(mutex);
  if (thread.get_id() == std::this_thread::get_id())
    return fail(ACL_ERROR_RT_FAILURE, function, "a task cannot wait for its own stream");
  if (recorded)
    return fail(ACL_ERROR_RT_STREAM_CAPTURED, function,
                "the stream is recorded; end that with aclmdlRICaptureEnd");
  auto done = [&] { return tasks.empty() && !busy; };
  if (timeout < 0)
    changed.wait(lock, done);
  else if (!changed.wait_for(lock, std::chrono::milliseconds(timeout), done))
    return fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, function,
                "tasks of the stream are not done after %d ms", timeout);
  if (firstError != ACL_SUCCESS)
    setMessage(std::exchange(firstMessage, {}), firstError);
  return std::exchange(firstError, ACL_SUCCESS);
}

aclError Stream::beginCapture(const char *function) {
  std::lock_guard lock(mutex);
  if (recorded)
    return fail(ACL_ERROR_RT_STREAM_CAPTURED, function, "the stream is recorded already");
  recorded.emplace();
  return ACL_SUCCESS;
}

aclError Stream::endCapture(const char *function, std::vector<Task> &result) {
  std::lock_guard lock(mutex);
  if (!recorded)
    return fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, function,
                "the stream is not recorded; begin with aclmdlRICaptureBegin");
  result = std::move(*recorded);
  recorded.reset();
  return ACL_SUCCESS;
}

bool Stream::isCaptured() {
  std::lock_guard lock(mutex);
  return recorded.has_value();
}

bool Stream::idle() {
  std::lock_guard lock(mutex);
  return tasks.empty() && !busy;
}

void Stream::drop() {
  std::deque<Task> dropped;
  std::lock_guard lock(mutex);
  dropped.swap(tasks);
  changed.notify_all();
}

void Stream::close(bool force) {
  std::thread worker;
  {
    std::lock_guard lock(mutex);
    ending = true;
    if (force)
      tasks.clear();
    worker = std::move(thread);
    changed.notify_all();
  }
  if (!worker.joinable())
    return;
  if (worker.get_id() == std::this_thread::get_id())
    worker.detach();
  else
    worker.join();
}

bool Stream::closing() {
  std::lock_guard lock(mutex);
  return ending;
}

void Stream::setFailureMode(uint64_t mode) {
  std::lock_guard lock(mutex);
  failureMode = mode;
}

uint64_t Stream::getFailureMode() {
  std::lock_guard lock(mutex);
  return failureMode;
}

} // namespace atc::ascend

using atc::ascend::fail;

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
  atc::ascend::setExceptionCallback(callback);
  return ACL_SUCCESS;
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info) {
  return info ? info->task : 0xFFFFFFFF;
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info) {
  return info ? info->stream : 0xFFFFFFFF;
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info) {
  return info ? info->thread : 0xFFFFFFFF;
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info) {
  return info ? info->device : 0xFFFFFFFF;
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info) {
  return info ? info->code : 0xFFFFFFFF;
}
