//===-- RecordedModel.cpp -----------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/stream/RecordedModel.h"

#include "ascend/src/Errors.h"

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

StreamTask RecordedModel::execution(const std::shared_ptr<RecordedModel> &self) {
  struct Step {
    std::shared_ptr<RecordedTask> task;
    StreamTask made;
  };
  auto steps = std::make_shared<std::vector<Step>>();
  for (const auto &task : tasks)
    if (!task->isDisabled)
      steps->push_back({task, task->make()});
  return [steps, model = self, begun = aborts.load()]() -> aclError {
    for (const Step &step : *steps) {
      if (model->aborts != begun)
        break;
      ACL_TRY(step.made ? step.made() : step.task->current()());
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
