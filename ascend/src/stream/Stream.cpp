//===-- Stream.cpp ------------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/stream/Stream.h"

#include "ascend/src/Errors.h"
#include "ascend/src/memory/Memory.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

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
thread_local uint32_t lastTask = 0;
std::mutex registeredMutex;

/// A function of aclrtExceptionInfoCallbackRegister; later ones have higher numbers.
struct Registered {
  aclrtExceptionInfoCallback callback;
  uint64_t number;
};
uint64_t lastRegistered = 0; ///< under `registeredMutex`

/// Returns all in the order of their numbers, under `registeredMutex`.
std::vector<Registered> &registeredCallbacks() {
  static auto &only = *new std::vector<Registered>;
  return only;
}

} // namespace

uint32_t lastTaskOfThread() { return lastTask; }

void setExceptionCallback(aclrtExceptionInfoCallback callback) { exceptionCallback = callback; }

Stream::Stream(int32_t device, uint64_t context)
    : device(device), context(context), id(nextId.fetch_add(1)) {}

aclError Stream::enqueue(const char *function, Task task, const aclmdlRITaskParams &description) {
  std::lock_guard lock(mutex);
  if (ending)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function, "the stream is being destroyed");
  if (updated) {
    replacements.push_back(
        std::make_shared<RecordedTask>(id, std::move(task), nullptr, description));
    return ACL_SUCCESS;
  }
  if (isRecorded() &&
      recording->add(std::make_shared<RecordedTask>(id, task, nullptr, description)))
    return ACL_SUCCESS;
  return start(function, std::move(task));
}

/// Returns whether the thread is one of the process that this one was forked from, where it will
/// never do what waits here. The lock must be held.
bool Stream::isOfParent() const { return thread.joinable() && process != getpid(); }

static aclError failOfParent(const char *function) {
  return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
              "the stream was used before fork, and its thread is not in this process: create a "
              "stream here");
}

/// Puts a task behind the others and has the thread run. The lock must be held.
aclError Stream::start(const char *function, Task task) {
  if (isOfParent())
    return failOfParent(function);
  if (!thread.joinable()) {
    try {
      process = getpid();
      // The thread shares the stream: it may outlive a close by one of its own tasks.
      thread = std::thread([self = shared_from_this()] { self->run(); });
    } catch (const std::system_error &error) {
      return fail(ACL_ERROR_RT_FAILURE, function, "no thread can be started: %s", error.what());
    }
  }
  lastTask = taskCount++;
  tasks.push_back({lastTask, std::move(task)});
  changed.notify_all();
  return ACL_SUCCESS;
}

aclError Stream::enqueueMade(const char *function, const StreamTaskMaker &make,
                             const aclmdlRITaskParams &description) {
  if (std::shared_ptr<RecordedModel> active = capture();
      active && active->add(std::make_shared<RecordedTask>(id, nullptr, make, description)))
    return ACL_SUCCESS;
  return enqueue(function, make(), description);
}

/// Returns whether tasks are recorded. The lock must be held.
bool Stream::isRecorded() {
  if (recording && !recording->isActive())
    recording = nullptr; // the stream that it joined has ended it
  return recording != nullptr;
}

/// Runs a task. Nobody is above it on this thread who could catch what it throws.
static aclError runTask(const Stream::Task &task) {
  takeMessage(); // one that an earlier task left is not of this one
  aclError result = ACL_SUCCESS;
  return hasMemoryFor([&] { result = task(); }) ? result : failWithoutMemory("a task of a stream");
}

void Stream::run() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return ending || !tasks.empty(); });
    if (tasks.empty())
      return;
    bool skip = firstError != ACL_SUCCESS && failureMode == ACL_STOP_ON_FAILURE;
    auto [number, task] = std::move(tasks.front());
    tasks.pop_front();
    busy = true;
    lock.unlock();
    aclError code = skip ? ACL_SUCCESS : runTask(task);
    std::string message = code != ACL_SUCCESS ? takeMessage() : "";
    task = nullptr; // what it holds is released before anyone is told that it is done
    if (code != ACL_SUCCESS) {
      setMessage(message, code); // callbacks may ask for it
      report(code, number);
    }
    lock.lock();
    if (code != ACL_SUCCESS && firstError == ACL_SUCCESS) {
      firstError = code;
      firstMessage = std::move(message);
    }
    busy = false;
    changed.notify_all();
  }
}

void Stream::report(aclError code, uint32_t task) {
  rtExceptionInfo info{task, static_cast<uint32_t>(id), static_cast<uint32_t>(syscall(SYS_gettid)),
                       static_cast<uint32_t>(device), static_cast<uint32_t>(code)};
  if (aclrtExceptionInfoCallback callback = exceptionCallback)
    callback(&info);
  // A callback may register others, which are told of the next failure, and unregister any. A copy
  // of the list would need memory, which may be what the task lacked.
  std::unique_lock lock(registeredMutex);
  const std::vector<Registered> &all = registeredCallbacks();
  for (uint64_t told = 0, last = lastRegistered; told < last;) {
    auto next = std::find_if(all.begin(), all.end(),
                             [&](const Registered &each) { return each.number > told; });
    if (next == all.end() || next->number > last)
      return;
    told = next->number;
    const aclrtExceptionInfoCallback callback = next->callback;
    lock.unlock();
    callback(&info);
    lock.lock();
  }
}

aclError Stream::synchronize(const char *function, int32_t timeout) {
  std::unique_lock lock(mutex);
  if (thread.get_id() == std::this_thread::get_id())
    return fail(ACL_ERROR_RT_FAILURE, function, "a task cannot wait for its own stream");
  if (isRecorded())
    return fail(ACL_ERROR_RT_STREAM_CAPTURED, function,
                "the stream is recorded; end that with aclmdlRICaptureEnd");
  auto done = [&] { return tasks.empty() && !busy; };
  if (isOfParent() && !done())
    return failOfParent(function);
  if (timeout < 0)
    changed.wait(lock, done);
  else if (!changed.wait_for(lock, std::chrono::milliseconds(timeout), done))
    return fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, function,
                "tasks of the stream are not done after %d ms", timeout);
  releaseIdlePoolMemory(device);
  if (firstError != ACL_SUCCESS)
    setMessage(std::exchange(firstMessage, {}), firstError);
  return std::exchange(firstError, ACL_SUCCESS);
}

aclError Stream::beginCapture(const char *function, std::shared_ptr<RecordedModel> &begun) {
  std::lock_guard lock(mutex);
  if (isRecorded())
    return fail(ACL_ERROR_RT_STREAM_CAPTURED, function, "the stream is recorded already");
  begun = recording = std::make_shared<RecordedModel>();
  beganCapture = true;
  return ACL_SUCCESS;
}

aclError Stream::joinCapture(const char *function, std::shared_ptr<RecordedModel> other) {
  std::lock_guard lock(mutex);
  if (isRecorded() && recording != other)
    return fail(ACL_ERROR_STREAM_CAPTURE_CONFLICT, function,
                "the stream and the event belong to different captures");
  if (!recording)
    beganCapture = false;
  recording = std::move(other);
  return ACL_SUCCESS;
}

aclError Stream::endCapture(const char *function, std::shared_ptr<RecordedModel> &model) {
  std::lock_guard lock(mutex);
  if (!isRecorded())
    return fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, function,
                "the stream is not recorded; begin with aclmdlRICaptureBegin");
  if (!beganCapture)
    return fail(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, function,
                "the capture began with another stream, or with aclmdlRIBuildBegin: end it there");
  if (recording->closeGroup(id))
    return fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, function,
                "a group of tasks is open; end it with aclmdlRICaptureTaskGrpEnd");
  recording->end();
  model = std::move(recording);
  recording = nullptr;
  return ACL_SUCCESS;
}

void Stream::leaveCapture(const std::shared_ptr<RecordedModel> &model) {
  std::lock_guard lock(mutex);
  if (recording == model)
    recording = nullptr;
}

std::shared_ptr<RecordedModel> Stream::capture() {
  std::lock_guard lock(mutex);
  return isRecorded() ? recording : nullptr;
}

aclError Stream::beginUpdate(const char *function, std::shared_ptr<TaskGroup> group) {
  std::lock_guard lock(mutex);
  if (updated || isRecorded())
    return fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, function,
                updated ? "the stream updates a group already"
                        : "the stream is recorded; use another one");
  updated = std::move(group);
  return ACL_SUCCESS;
}

aclError Stream::endUpdate(const char *function) {
  std::lock_guard lock(mutex);
  if (!updated)
    return fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, function,
                "nothing is updated; begin with aclmdlRICaptureTaskUpdateBegin");
  const auto old = std::exchange(updated, nullptr)->tasks;
  auto others = std::exchange(replacements, {});
  if (old.size() != others.size())
    return fail(ACL_ERROR_INVALID_PARAM, function, "%zu tasks were queued, the group has %zu",
                others.size(), old.size());
  for (size_t i = 0; i < old.size(); ++i)
    if (!old[i]->isReplaceable() || old[i]->description.type != others[i]->description.type)
      return fail(ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT, function,
                  "the task %zu is of another type than that of the group, or one of an event", i);
  return start(function, [old, others = std::move(others)]() -> aclError {
    for (size_t i = 0; i < old.size(); ++i)
      old[i]->replace(others[i]->current());
    return ACL_SUCCESS;
  });
}

bool Stream::idle() {
  std::lock_guard lock(mutex);
  return tasks.empty() && !busy;
}

void Stream::drop() {
  std::deque<Numbered> dropped;
  std::lock_guard lock(mutex);
  dropped.swap(tasks);
  changed.notify_all();
}

void Stream::close(bool force) {
  std::thread worker;
  {
    std::lock_guard lock(mutex);
    if (isOfParent()) {
      // Neither joined nor detached: a thread of this process may have its number by now.
      new std::thread(std::move(thread));
      ending = true;
      return;
    }
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

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
  atc::ascend::setExceptionCallback(callback);
  return ACL_SUCCESS;
}

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback) {
  ACL_REQUIRE(callback);
  std::lock_guard lock(atc::ascend::registeredMutex);
  auto &all = atc::ascend::registeredCallbacks();
  if (std::any_of(all.begin(), all.end(), [&](auto &each) { return each.callback == callback; }))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "callback is registered already");
  all.push_back({callback, atc::ascend::lastRegistered + 1});
  ++atc::ascend::lastRegistered;
  return ACL_SUCCESS;
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback) {
  ACL_REQUIRE(callback);
  std::lock_guard lock(atc::ascend::registeredMutex);
  if (std::erase_if(atc::ascend::registeredCallbacks(),
                    [&](auto &each) { return each.callback == callback; }) == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "callback is not registered");
  return ACL_SUCCESS;
}

aclError aclrtGetThreadLastTaskId(uint32_t *taskId) {
  ACL_REQUIRE(taskId);
  *taskId = atc::ascend::lastTaskOfThread();
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
