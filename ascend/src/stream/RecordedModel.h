//===-- RecordedModel.h - tasks of streams that run again --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_STREAM_RECORDEDMODEL_H
#define ASCEND_SRC_STREAM_RECORDEDMODEL_H

#include "ascend/src/Handles.h"

#include "acl/acl_rt.h"
#include "acl/acl_rt_model.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace atc::ascend {

using StreamTask = std::function<aclError()>;
using StreamTaskMaker = std::function<StreamTask()>;

/// The target of a branch of a built model: a task of another stream (by its id; 0: none), which
/// runs from then on. Its own stream stops if `isLeft`.
struct Branch {
  int32_t stream = 0;
  uint32_t number = 0; ///< The stream goes on with its first task of this number or behind it.
  bool isLeft = false;
};

/// The decision of a label, a switch or an activation, tasks that compute nothing: it may write a
/// branch.
using StreamDecision = std::function<aclError(Branch &)>;

/// A task of a recorded model. One that has a maker (a record of an event, a wait) is made when an
/// execution is queued, as what it is for depends on that moment; any other can be replaced until
/// it runs.
class RecordedTask {
public:
  RecordedTask(int32_t stream, StreamTask task, StreamTaskMaker maker,
               const aclmdlRITaskParams &description)
      : stream(stream), description(description), maker(std::move(maker)), task(std::move(task)) {}

  /// Returns the task of an execution that is queued now; null where `current` returns it later.
  StreamTask make() const { return maker ? maker() : nullptr; }

  /// Returns the task without a maker that is to run now.
  StreamTask current() {
    std::lock_guard lock(mutex);
    return task;
  }

  /// Replaces the task that `current` returns.
  void replace(StreamTask other) {
    std::lock_guard lock(mutex);
    task = std::move(other);
  }

  bool isReplaceable() const { return !maker; }

  const int32_t stream; ///< The id of the stream that it was queued on.
  const aclmdlRITaskParams description;
  std::atomic<bool> isDisabled{false};     ///< Executions leave it out.
  std::atomic<bool> willBeDisabled{false}; ///< So from the next aclmdlRIUpdate on.
  void *handle = nullptr;                  ///< What programs call it, once they have asked.
  uint32_t number = 0;                     ///< Its position in the model.
  StreamDecision decision;                 ///< Set before it is added; null: it runs.

private:
  const StreamTaskMaker maker;
  std::mutex mutex;
  StreamTask task;
};

/// Tasks of one stream that a program will replace together.
struct TaskGroup {
  std::vector<std::shared_ptr<RecordedTask>> tasks;
};

/// The tasks of the streams that are recorded together, in the order in which they were queued,
/// which keeps that of their events: the streams that a capture began with or that joined it by
/// waiting for its events, or those that were bound to a model that is built. With labels or
/// switches the heads run, and what they jump to; among the streams that run, the task that was
/// queued first comes first.
class RecordedModel {
public:
  RecordedModel();

  /// Appends a task; false behind the end.
  bool add(std::shared_ptr<RecordedTask> task);
  bool isActive();
  /// Ends the recording: nothing is added any more.
  void end();

  /// Returns the tasks; to be called behind the end.
  const std::vector<std::shared_ptr<RecordedTask>> &recorded() const { return tasks; }

  /// Makes the tasks of `stream` (its id) part of a group until closeGroup, which returns it.
  /// Return false, and null, where a group is open already, or none is.
  bool openGroup(int32_t stream);
  std::shared_ptr<TaskGroup> closeGroup(int32_t stream);

  /// Returns one task that runs all others. To be called when it is queued.
  StreamTask execution(const std::shared_ptr<RecordedModel> &self);

  /// Makes what runs stop in front of its next task.
  void abort() { ++aborts; }

  /// Calls the functions of aclmdlRIDestroyRegisterCallback.
  void callDestroyed();

  const uint32_t id; ///< From 1 on, in the order of creation.
  void *handle = nullptr;
  bool isBuilt = false; ///< aclmdlRIBuildBegin has begun it, not a capture.

  std::mutex mutex; ///< For what follows.
  std::string name;
  std::vector<int32_t> heads; ///< The ids of the streams that run first.
  std::vector<std::pair<aclrtCallback, void *>> destroyCallbacks;
  std::vector<std::pair<aclrtStream, int32_t>> streams; ///< Made at the end, per recorded id.
  std::vector<aclrtTaskGrp> groups; ///< The handles of its groups, which end with it.

private:
  bool hasDecisions() const;

  std::vector<std::shared_ptr<RecordedTask>> tasks;
  std::map<int32_t, std::shared_ptr<TaskGroup>> openGroups;
  std::atomic<uint32_t> aborts{0};
  bool hasEnded = false;
};

/// Return the process-wide tables that own the objects behind handles.
HandleTable<RecordedModel> &recordedModels();
HandleTable<RecordedTask> &recordedTasks();
HandleTable<TaskGroup> &taskGroups();

/// Returns the description of a task of a type, for what the stream functions record.
aclmdlRITaskParams describeTask(aclmdlRITaskType type);

/// Writes the model of a handle; ACL_ERROR_INVALID_PARAM where it is null,
/// ACL_ERROR_INVALID_RESOURCE_HANDLE where it is none.
aclError findRecordedModel(const char *function, aclmdlRI handle,
                           std::shared_ptr<RecordedModel> &model);
/// Writes a model whose recording has ended; ACL_ERROR_RT_STREAM_CAPTURED where it is recorded
/// still, and the errors of findRecordedModel.
aclError findEndedModel(const char *function, aclmdlRI handle,
                        std::shared_ptr<RecordedModel> &model);

} // namespace atc::ascend

#endif
