//===-- RecordedModel.cpp -----------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/stream/RecordedModel.h"

#include "ascend/src/Errors.h"

#include <algorithm>
#include <utility>

namespace atc::ascend {

static std::atomic<uint32_t> nextModel{1};

HandleTable<RecordedModel> &recordedModels() {
  static auto &table = *new HandleTable<RecordedModel>(HandleKind::ModelInstance);
  return table;
}

HandleTable<RecordedTask> &recordedTasks() {
  static auto &table = *new HandleTable<RecordedTask>(HandleKind::RecordedTask);
  return table;
}

HandleTable<TaskGroup> &taskGroups() {
  static auto &table = *new HandleTable<TaskGroup>(HandleKind::TaskGroup);
  return table;
}

aclmdlRITaskParams describeTask(aclmdlRITaskType type) {
  aclmdlRITaskParams description{};
  description.type = type;
  return description;
}

RecordedModel::RecordedModel() : id(nextModel.fetch_add(1)) {}

bool RecordedModel::add(std::shared_ptr<RecordedTask> task) {
  std::lock_guard lock(mutex);
  if (hasEnded)
    return false;
  task->number = static_cast<uint32_t>(tasks.size());
  if (auto group = openGroups.find(task->stream); group != openGroups.end())
    group->second->tasks.push_back(task);
  tasks.push_back(std::move(task));
  return true;
}

bool RecordedModel::isActive() {
  std::lock_guard lock(mutex);
  return !hasEnded;
}

void RecordedModel::end() {
  std::lock_guard lock(mutex);
  hasEnded = true;
}

bool RecordedModel::openGroup(int32_t stream) {
  std::lock_guard lock(mutex);
  return openGroups.emplace(stream, std::make_shared<TaskGroup>()).second;
}

std::shared_ptr<TaskGroup> RecordedModel::closeGroup(int32_t stream) {
  std::lock_guard lock(mutex);
  auto group = openGroups.extract(stream);
  return group.empty() ? nullptr : group.mapped();
}

namespace {

/// A task of one execution.
struct Step {
  aclError run() {
    // A task that was made ahead of time serves one run; a loop makes it again for each further
    // run.
    const StreamTask own = made ? std::exchange(made, nullptr) : task->make();
    return own ? own() : task->current()();
  }

  std::shared_ptr<RecordedTask> task;
  StreamTask made;
};

/// The streams of a model whose tasks decide what runs next.
class Branches {
public:
  Branches(std::vector<Step> &steps, const std::vector<int32_t> &heads) : steps(steps) {
    for (size_t i = 0; i < steps.size(); ++i)
      lanes[steps[i].task->stream].own.push_back(i);
    for (int32_t head : heads)
      if (auto lane = lanes.find(head); lane != lanes.end())
        lane->second.runs = true;
  }

  /// Returns the next task that is to run and has its stream go on behind it; null at the end.
  Step *next() {
    Lane *first = nullptr;
    for (auto &[stream, lane] : lanes)
      if (lane.runs && lane.position < lane.own.size() &&
          (!first || lane.own[lane.position] < first->own[first->position]))
        first = &lane;
    return first ? &steps[first->own[first->position++]] : nullptr;
  }

  /// Does what a task of `stream` has decided.
  void take(const Branch &branch, int32_t stream) {
    if (branch.isLeft)
      lanes[stream].runs = false;
    auto other = lanes.find(branch.stream);
    if (other == lanes.end())
      return; // nothing was queued there
    Lane &lane = other->second;
    lane.runs = true;
    lane.position = 0;
    while (lane.position < lane.own.size() &&
           steps[lane.own[lane.position]].task->number < branch.number)
      ++lane.position;
  }

private:
  struct Lane {
    std::vector<size_t> own; ///< Its steps.
    size_t position = 0;
    bool runs = false;
  };

  std::vector<Step> &steps;
  std::map<int32_t, Lane> lanes;
};

} // namespace

bool RecordedModel::hasDecisions() const {
  return std::any_of(tasks.begin(), tasks.end(),
                     [](const auto &task) { return task->decision != nullptr; });
}

StreamTask RecordedModel::execution(const std::shared_ptr<RecordedModel> &self) {
  auto steps = std::make_shared<std::vector<Step>>();
  for (const auto &task : tasks)
    if (!task->isDisabled)
      steps->push_back({task, task->make()});
  if (!hasDecisions())
    return [steps, model = self, begun = aborts.load()]() -> aclError {
      for (Step &step : *steps) {
        if (model->aborts != begun)
          break;
        ACL_TRY(step.run());
      }
      return ACL_SUCCESS;
    };
  return [steps, model = self, begun = aborts.load()]() -> aclError {
    Branches branches(*steps, model->heads);
    while (Step *step = branches.next()) {
      if (model->aborts != begun)
        break;
      if (!step->task->decision) {
        ACL_TRY(step->run());
        continue;
      }
      Branch branch;
      ACL_TRY(step->task->decision(branch));
      branches.take(branch, step->task->stream);
    }
    return ACL_SUCCESS;
  };
}

void RecordedModel::callDestroyed() {
  std::unique_lock lock(mutex);
  const auto callbacks = std::exchange(destroyCallbacks, {});
  lock.unlock();
  for (const auto &[function, data] : callbacks)
    function(data);
}

aclError findRecordedModel(const char *function, aclmdlRI handle,
                           std::shared_ptr<RecordedModel> &model) {
  if (!handle)
    return fail(ACL_ERROR_INVALID_PARAM, function, "modelRI is NULL");
  model = recordedModels().find(handle);
  if (!model)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "modelRI (%p) was destroyed, or is no model", handle);
  return ACL_SUCCESS;
}

aclError findEndedModel(const char *function, aclmdlRI handle,
                        std::shared_ptr<RecordedModel> &model) {
  ACL_TRY(findRecordedModel(function, handle, model));
  if (model->isActive())
    return fail(ACL_ERROR_RT_STREAM_CAPTURED, function, "the model is recorded still; end that %s",
                model->isBuilt ? "with aclmdlRIBuildEnd" : "with aclmdlRICaptureEnd");
  return ACL_SUCCESS;
}

} // namespace atc::ascend
