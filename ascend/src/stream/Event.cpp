//===-- Event.cpp - events order the tasks of streams -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"

#include <atomic>
#include <chrono>
#include <condition_variable>

namespace atc::ascend {
namespace {

std::atomic<uint32_t> nextEvent{0};
std::atomic<uint32_t> waitSeconds{0}; // aclrtSetOpWaitTimeout; 0: without end

/// Counts records that were queued and that were reached. A wait is for the records that
/// were queued before it, so an event can be recorded again while a stream still waits.
struct Event {
  explicit Event(uint32_t flag) : flag(flag) {}
  /// Returns whether it orders recorded models and streams beside them (ACL_EVENT_EXTERNAL): a wait
  /// then lasts until a record is reached, and a reset has the next wait last again.
  bool isExternal() const { return flag == ACL_EVENT_EXTERNAL; }

  const uint32_t flag;
  const uint32_t id = nextEvent.fetch_add(1);
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t queued = 0, reached = 0;
  uint32_t waits = 0;
  bool recorded = false; // the last record was reached, and not reset
  std::chrono::steady_clock::time_point time;
  std::weak_ptr<RecordedModel> recording; // of the stream of the last record, where it is captured
};

HandleTable<Event> &events() {
  static auto &table = *new HandleTable<Event>(HandleKind::Event);
  return table;
}

/// A record in a queue. Where the queue drops it, the event counts as reached: nobody must
/// wait for what never comes.
class Record {
public:
  Record(std::shared_ptr<Event> event, uint64_t number) : event(std::move(event)), number(number) {}
  Record(const Record &) = delete;
  Record &operator=(const Record &) = delete;
  ~Record() { reach(); }

  void reach() {
    if (done)
      return;
    done = true;
    std::lock_guard lock(event->mutex);
    if (event->reached < number)
      event->reached = number;
    event->recorded = true;
    event->time = std::chrono::steady_clock::now();
    event->changed.notify_all();
  }

private:
  std::shared_ptr<Event> event;
  const uint64_t number;
  bool done = false;
};

/// A wait in a queue, counted for aclrtQueryEventWaitStatus while it exists.
class Wait {
public:
  /// Waits `timeout` milliseconds at most; 0: as long as aclrtSetOpWaitTimeout says.
  Wait(std::shared_ptr<Event> event, uint64_t number, uint32_t timeout)
      : event(std::move(event)), number(number), timeout(timeout) {}
  Wait(const Wait &) = delete;
  Wait &operator=(const Wait &) = delete;
  ~Wait() {
    std::lock_guard lock(event->mutex);
    --event->waits;
  }

  aclError wait() {
    std::unique_lock lock(event->mutex);
    auto come = [&] { return event->isExternal() ? event->recorded : event->reached >= number; };
    uint32_t seconds = waitSeconds;
    if (timeout > 0) {
      if (!event->changed.wait_for(lock, std::chrono::milliseconds(timeout), come))
        return fail(ACL_ERROR_RT_TASK_TIMEOUT, "aclrtStreamWaitEventWithTimeout",
                    "the event was not reached in %u ms", timeout);
      return ACL_SUCCESS;
    }
    if (seconds == 0)
      event->changed.wait(lock, come);
    else if (!event->changed.wait_for(lock, std::chrono::seconds(seconds), come))
      return fail(ACL_ERROR_RT_TASK_TIMEOUT, "aclrtStreamWaitEvent",
                  "the event was not reached in %u s (aclrtSetOpWaitTimeout)", seconds);
    return ACL_SUCCESS;
  }

private:
  std::shared_ptr<Event> event;
  const uint64_t number;
  const uint32_t timeout;
};

aclError synchronizeEvent(const char *function, aclrtEvent handle, int32_t timeout) {
  if (!handle)
    return fail(ACL_ERROR_INVALID_PARAM, function, "event is NULL");
  auto event = events().find(handle);
  if (!event)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "event (%p) was destroyed, or is no event", handle);
  std::unique_lock lock(event->mutex);
  if (auto recording = event->recording.lock(); recording && recording->isActive())
    return fail(ACL_ERROR_RT_EVENT_CAPTURED, function,
                "the event was recorded by a stream that is captured: it is reached when the model "
                "is executed");
  uint64_t number = event->queued;
  auto come = [&] { return event->reached >= number; };
  if (timeout < 0)
    event->changed.wait(lock, come);
  else if (!event->changed.wait_for(lock, std::chrono::milliseconds(timeout), come))
    return fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, function, "the event was not reached in %d ms",
                timeout);
  return ACL_SUCCESS;
}

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

static aclError createEvent(const char *function, aclrtEvent *event, uint32_t flag) {
  if (!event)
    return fail(ACL_ERROR_INVALID_PARAM, function, "event is NULL");
  std::shared_ptr<Context> context;
  ACL_TRY(currentContext(function, context));
  *event = events().add(std::make_shared<Event>(flag));
  return ACL_SUCCESS;
}

aclError aclrtCreateEvent(aclrtEvent *event) { return createEvent(__func__, event, 0); }

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag) {
  constexpr uint32_t known =
      ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE;
  if (flag == 0 || (flag & ~known))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM,
             "flag is %#x; give ACL_EVENT_SYNC, "
             "ACL_EVENT_CAPTURE_STREAM_PROGRESS, ACL_EVENT_TIME_LINE "
             "or several of them",
             flag);
  return createEvent(__func__, event, flag);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag) {
  if (flag == ACL_EVENT_EXTERNAL)
    return createEvent(__func__, event, flag);
  if (flag & ACL_EVENT_EXTERNAL)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flag is %#x; give ACL_EVENT_EXTERNAL alone", flag);
  return aclrtCreateEventWithFlag(event, flag);
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  ACL_REQUIRE(event);
  if (!events().remove(event))
    ACL_FAIL(ACL_ERROR_INVALID_RESOURCE_HANDLE, "event (%p) was destroyed, or is no event", event);
  return ACL_SUCCESS;
}

/// Puts a record of an event behind the tasks of a stream. Where the stream is captured, streams
/// that wait for the event join the capture, unless it is for others (`isExternal`).
static aclError enqueueRecord(const char *function, aclrtEvent event, aclrtStream stream,
                              bool isExternal) {
  auto found = events().find(event);
  if (!found)
    return fail(event ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, function,
                "event (%p) was destroyed, or is no event", event);
  std::shared_ptr<Stream> queue;
  ACL_TRY(findStream(function, stream, queue));
  {
    std::shared_ptr<RecordedModel> recording =
        isExternal || found->isExternal() ? nullptr : queue->capture();
    std::lock_guard lock(found->mutex);
    found->recording = recording;
  }
  aclmdlRITaskParams description = describeTask(ACL_MODEL_RI_TASK_EVENT_RECORD);
  description.eventRecordTaskParams = {event, found->flag, isExternal};
  const auto make = [found]() -> Stream::Task {
    uint64_t number;
    {
      std::lock_guard lock(found->mutex);
      number = ++found->queued;
      // Only aclrtResetEvent, in the order of its stream, ends the state of an external event.
      if (!found->isExternal())
        found->recorded = false;
    }
    auto record = std::make_shared<Record>(found, number);
    return [record] {
      record->reach();
      return ACL_SUCCESS;
    };
  };
  return queue->enqueueMade(function, make, description);
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return enqueueRecord(__func__, event, stream, false);
}

/// Checks a flag of which two values are known: the default and what is for other streams.
static aclError checkEventFlag(const char *function, uint32_t flag) {
  if (flag <= ACL_EVENT_WAIT_EXTERNAL)
    return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM, function, "flag is %u; give 0 or 1 (external)", flag);
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag) {
  ACL_TRY(checkEventFlag(__func__, flag));
  return enqueueRecord(__func__, event, stream, flag == ACL_EVENT_RECORD_EXTERNAL);
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  ACL_FIND(found, events(), event);
  aclmdlRITaskParams description = describeTask(ACL_MODEL_RI_TASK_EVENT_RESET);
  description.eventResetTaskParams = {event, found->flag, 0};
  const auto reset = [found] {
    std::lock_guard lock(found->mutex);
    found->recorded = false;
    return ACL_SUCCESS;
  };
  return enqueue(__func__, stream, reset, description);
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status) {
  ACL_REQUIRE(status);
  ACL_FIND(found, events(), event);
  std::lock_guard lock(found->mutex);
  *status =
      found->reached >= found->queued ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status) {
  ACL_REQUIRE(status);
  ACL_FIND(found, events(), event);
  std::lock_guard lock(found->mutex);
  *status = found->recorded && found->reached >= found->queued
                ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status) {
  ACL_REQUIRE(status);
  ACL_FIND(found, events(), event);
  std::lock_guard lock(found->mutex);
  *status = found->waits == 0 ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtSynchronizeEvent(aclrtEvent event) { return synchronizeEvent(__func__, event, -1); }

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  if (timeout < -1)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "timeout is %d; give milliseconds, or -1", timeout);
  return synchronizeEvent(__func__, event, timeout);
}

/// Writes when the last record of an event was reached.
static aclError timeOf(const char *function, aclrtEvent handle,
                       std::chrono::steady_clock::time_point &time) {
  auto event = events().find(handle);
  if (!event)
    return fail(handle ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, function,
                "event (%p) was destroyed, or is no event", handle);
  std::lock_guard lock(event->mutex);
  if (!event->recorded || event->reached < event->queued)
    return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, function,
                "event (%p) has no time yet: record it and synchronize first", handle);
  time = event->time;
  return ACL_SUCCESS;
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  ACL_REQUIRE(ms);
  std::chrono::steady_clock::time_point start, end;
  ACL_TRY(timeOf(__func__, startEvent, start));
  ACL_TRY(timeOf(__func__, endEvent, end));
  *ms = std::chrono::duration<float, std::milli>(end - start).count();
  return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp) {
  ACL_REQUIRE(timestamp);
  std::chrono::steady_clock::time_point time;
  ACL_TRY(timeOf(__func__, event, time));
  *timestamp =
      std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  return ACL_SUCCESS;
}

/// Puts a wait for the last record of an event behind the tasks of a stream.
static aclError enqueueWait(const char *function, aclrtStream stream, aclrtEvent event,
                            uint32_t timeout, bool isExternal = false) {
  auto found = events().find(event);
  if (!found)
    return fail(event ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, function,
                "event (%p) was destroyed, or is no event", event);
  std::shared_ptr<Stream> queue;
  ACL_TRY(findStream(function, stream, queue));
  std::shared_ptr<RecordedModel> recording;
  if (!isExternal) {
    std::lock_guard lock(found->mutex);
    recording = found->recording.lock();
  }
  if (recording && recording->isActive())
    ACL_TRY(queue->joinCapture(function, std::move(recording)));
  aclmdlRITaskParams description = describeTask(ACL_MODEL_RI_TASK_EVENT_WAIT);
  description.eventWaitTaskParams = {event, found->flag, isExternal};
  const auto make = [found, timeout]() -> Stream::Task {
    uint64_t number;
    {
      std::lock_guard lock(found->mutex);
      number = found->queued;
      ++found->waits;
    }
    auto wait = std::make_shared<Wait>(found, number, timeout);
    return [wait] { return wait->wait(); };
  };
  return queue->enqueueMade(function, make, description);
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return enqueueWait(__func__, stream, event, 0);
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
  if (timeout < -1)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "timeout is %d; give milliseconds, or -1", timeout);
  return enqueueWait(__func__, stream, event, timeout > 0 ? uint32_t(timeout) : 0);
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout,
                                      uint32_t flag) {
  ACL_TRY(checkEventFlag(__func__, flag));
  const bool isEndless = timeout == UINT32_MAX;
  return enqueueWait(__func__, stream, event, isEndless ? 0 : timeout,
                     flag == ACL_EVENT_WAIT_EXTERNAL);
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId) {
  ACL_REQUIRE(eventId);
  ACL_FIND(found, events(), event);
  *eventId = found->id;
  return ACL_SUCCESS;
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  waitSeconds = timeout;
  return ACL_SUCCESS;
}
