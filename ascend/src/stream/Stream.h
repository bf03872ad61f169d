//===-- Stream.h - a queue of tasks with a thread ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_STREAM_H
#define ASCEND_SRC_STREAM_H

#include "acl/acl_rt.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace atc::ascend {

struct Context;

using StreamTask = std::function<aclError()>;
using StreamTaskMaker = std::function<StreamTask()>;

/// The tasks of a stream between the begin and the end of a capture, and of the streams that join
/// it by waiting for its events: in the order in which they were queued, which keeps that of the
/// events. Each is made again for each execution, as what a wait is for depends on when it is
/// queued.
struct Recording {
  /// Appends a task; false behind the end.
  bool add(StreamTaskMaker make) {
    std::lock_guard lock(mutex);
    if (!hasEnded)
      tasks.push_back(std::move(make));
    return !hasEnded;
  }
  bool isActive() {
    std::lock_guard lock(mutex);
    return !hasEnded;
  }

  std::mutex mutex;
  std::vector<StreamTaskMaker> tasks;
  bool hasEnded = false;
};

/// Runs tasks in order on a thread of its own, which starts with the first task.
/// A task returns ACL_SUCCESS, or records a message (fail) and returns its code.
class Stream : public std::enable_shared_from_this<Stream> {
public:
  using Task = StreamTask;

  /// Starts the thread of a stream.
  Stream(int32_t device, uint64_t context);
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  /// Puts a task behind the others. ACL_ERROR_INVALID_RESOURCE_HANDLE when the stream is
  /// being destroyed, ACL_ERROR_RT_FAILURE when no thread can be started.
  aclError enqueue(const char *function, Task task);
  /// Does that with a task that `make` returns, for each execution again where it is recorded.
  aclError enqueueMade(const char *function, const std::function<Task()> &make);

  /// Waits until all tasks are done, `timeout` milliseconds at most (-1: without end).
  /// Returns the code of the first task that failed since the last call, and makes its
  /// message that of the calling thread.
  aclError synchronize(const char *function, int32_t timeout);

  /// Returns whether there is nothing to do.
  bool idle();

  /// Removes the tasks that have not begun.
  void drop();

  /// Ends the thread after the tasks; with `force` only after the one that runs. Called
  /// by a task of this stream it returns at once.
  void close(bool force);

  /// Returns whether close was called; tasks that wait for others must then give up.
  bool closing();

  /// Records the tasks that come instead of running them; ACL_ERROR_RT_STREAM_CAPTURED where it
  /// does already.
  aclError beginCapture(const char *function);
  /// Records the tasks that come with those of another stream, until that one's capture ends.
  aclError joinCapture(const char *function, std::shared_ptr<Recording> other);
  /// Writes what was recorded; ACL_ERROR_RT_STREAM_NOT_CAPTURED where nothing is,
  /// ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED where the capture began with another stream.
  aclError endCapture(const char *function, std::vector<std::function<Task()>> &tasks);
  /// Returns what records the tasks; null where they run.
  std::shared_ptr<Recording> capture();

  /// Sets whether tasks behind a failed one are dropped (ACL_STOP_ON_FAILURE) or run.
  void setFailureMode(uint64_t mode);
  /// Returns what setFailureMode has set.
  uint64_t getFailureMode();

  /// Settings that programs make and ask for; they change nothing.
  std::atomic<uint32_t> priority{0}, flags{0}, tag{0}, keepsOperators{0};

  const int32_t device;
  const uint64_t context; ///< The number of the context that it belongs to.
  const int32_t id;

private:
  struct Numbered {
    uint32_t number;
    Task task;
  };

  void run();
  bool isRecorded();
  void report(aclError code, uint32_t task);

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Numbered> tasks;
  std::shared_ptr<Recording> recording; ///< null: tasks run
  bool beganCapture = false;
  std::thread thread;
  std::string firstMessage;
  aclError firstError = ACL_SUCCESS;
  uint64_t failureMode = ACL_CONTINUE_ON_FAILURE;
  uint32_t taskCount = 0;
  bool busy = false, ending = false;
};

/// Returns the number in its stream of the last task that this thread has queued; 0 before.
uint32_t lastTaskOfThread();

/// Sets the function that is told of failed tasks; NULL: none.
void setExceptionCallback(aclrtExceptionInfoCallback callback);

} // namespace atc::ascend

#endif
