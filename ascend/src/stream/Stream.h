//===-- Stream.h - a queue of tasks with a thread ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_STREAM_H
#define ASCEND_SRC_STREAM_H

#include "ascend/src/stream/RecordedModel.h"

#include "acl/acl_rt.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace atc::ascend {

struct Context;

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
  /// `description` is what programs are told of it where it is recorded.
  aclError enqueue(const char *function, Task task, const aclmdlRITaskParams &description = {});
  /// Does that with a task that `make` returns, for each execution again where it is recorded.
  aclError enqueueMade(const char *function, const StreamTaskMaker &make,
                       const aclmdlRITaskParams &description = {});

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

  /// Records the tasks that come in a new model instead of running them and returns the model in
  /// `begun`; ACL_ERROR_RT_STREAM_CAPTURED where it records already.
  aclError beginCapture(const char *function, std::shared_ptr<RecordedModel> &begun);
  /// Records the tasks that come with those of another stream, until that one's capture ends.
  aclError joinCapture(const char *function, std::shared_ptr<RecordedModel> other);
  /// Ends the capture and writes its model; ACL_ERROR_RT_STREAM_NOT_CAPTURED where nothing is
  /// recorded, ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED where the capture began with another stream,
  /// ACL_ERROR_STREAM_TASK_GROUP_STATUS where a group of tasks is open.
  aclError endCapture(const char *function, std::shared_ptr<RecordedModel> &model);
  /// Stops recording for a model that is built (aclmdlRIBindStream).
  void leaveCapture(const std::shared_ptr<RecordedModel> &model);
  /// Returns what records the tasks; null where they run.
  std::shared_ptr<RecordedModel> capture();

  /// Keeps the tasks that come, which will replace those of a group, until endUpdate queues that.
  /// ACL_ERROR_STREAM_TASK_GROUP_STATUS where it does already, or the stream is recorded.
  aclError beginUpdate(const char *function, std::shared_ptr<TaskGroup> group);
  /// ACL_ERROR_STREAM_TASK_GROUP_STATUS where nothing is updated; ACL_ERROR_INVALID_PARAM where
  /// the tasks are not as many, and of the types, of the group's.
  aclError endUpdate(const char *function);

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

  bool isOfParent() const;
  aclError start(const char *function, Task task);
  void run();
  bool isRecorded();
  void report(aclError code, uint32_t task);

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Numbered> tasks;
  std::shared_ptr<RecordedModel> recording;                ///< null: tasks run
  std::shared_ptr<TaskGroup> updated;                      ///< null: tasks replace no others
  std::vector<std::shared_ptr<RecordedTask>> replacements; ///< The tasks kept since beginUpdate.
  bool beganCapture = false;
  std::thread thread;
  pid_t process = 0; ///< that started the thread
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
