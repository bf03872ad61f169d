//===-- RecordedTasks.cpp - what a recorded model consists of -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "support/OutputFile.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace atc::ascend {
namespace {

const char *nameOf(aclmdlRITaskType type) {
  static constexpr const char *names[] = {"DEFAULT",    "KERNEL",      "EVENT_RECORD",
                                          "EVENT_WAIT", "EVENT_RESET", "VALUE_WRITE",
                                          "VALUE_WAIT"};
  return names[type];
}

/// Writes how many elements a list has and, unless `array` is NULL, the elements, which `at`
/// returns; ACL_ERROR_INVALID_PARAM where the array has fewer than that.
template <typename Element, typename At>
aclError writeList(const char *function, size_t size, Element *array, uint32_t *count,
                   const At &at) {
  if (array && *count < size)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the array has %u elements, %zu are needed",
                *count, size);
  if (array)
    for (size_t i = 0; i < size; ++i)
      array[i] = at(i);
  *count = static_cast<uint32_t>(size);
  return ACL_SUCCESS;
}

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

aclError aclmdlRISetName(aclmdlRI modelRI, const char *name) {
  ACL_FIND(model, recordedModels(), modelRI);
  ACL_REQUIRE(name);
  std::lock_guard lock(model->mutex);
  model->name = name;
  return ACL_SUCCESS;
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char *name) {
  ACL_FIND(model, recordedModels(), modelRI);
  ACL_REQUIRE(name);
  std::lock_guard lock(model->mutex);
  if (maxLen <= model->name.size())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "maxLen is %u, the name needs %zu bytes", maxLen,
             model->name.size() + 1);
  memcpy(name, model->name.c_str(), model->name.size() + 1);
  return ACL_SUCCESS;
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t *modelRIId) {
  ACL_REQUIRE(modelRIId);
  ACL_FIND(model, recordedModels(), modelRI);
  *modelRIId = model->id;
  return ACL_SUCCESS;
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path, uint32_t flags) {
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findEndedModel(__func__, modelRI, model));
  ACL_REQUIRE(path);
  if (flags != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flags are %u; give 0", flags);
  nlohmann::json tasks = nlohmann::json::array();
  for (const auto &task : model->recorded())
    tasks.push_back(
        {{"id", task->number}, {"stream", task->stream}, {"type", nameOf(task->description.type)}});
  std::lock_guard lock(model->mutex);
  const nlohmann::json text = {{"name", model->name}, {"id", model->id}, {"tasks", tasks}};
  std::string error;
  if (!atc::writeWholeFile(
          path, text.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n", error))
    ACL_FAIL(ACL_ERROR_WRITE_FILE, "%s", error.c_str());
  return ACL_SUCCESS;
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findEndedModel(__func__, modelRI, model));
  std::lock_guard lock(model->mutex);
  printf("recorded model '%s': %zu tasks\n", model->name.c_str(), model->recorded().size());
  return ACL_SUCCESS;
}

aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream *streams, uint32_t *numStreams) {
  ACL_REQUIRE(numStreams);
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findEndedModel(__func__, modelRI, model));
  std::lock_guard lock(model->mutex);
  return writeList(__func__, model->streams.size(), streams, numStreams,
                   [&](size_t i) { return model->streams[i].first; });
}

aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask *tasks, uint32_t *numTasks) {
  ACL_REQUIRE(stream);
  ACL_REQUIRE(numTasks);
  int32_t recorded = 0;
  const auto models = recordedModels().select([&](RecordedModel &model) {
    if (model.isActive())
      return false;
    std::lock_guard lock(model.mutex);
    const auto found = std::find_if(model.streams.begin(), model.streams.end(),
                                    [&](const auto &each) { return each.first == stream; });
    if (found != model.streams.end())
      recorded = found->second;
    return found != model.streams.end();
  });
  if (models.empty())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM,
             "stream (%p) is none of a recorded model; ask aclmdlRIGetStreams", stream);
  std::vector<std::shared_ptr<RecordedTask>> own;
  for (const auto &task : models.front()->recorded())
    if (task->stream == recorded)
      own.push_back(task);
  std::lock_guard lock(models.front()->mutex);
  return writeList(__func__, own.size(), tasks, numTasks, [&](size_t i) {
    if (!own[i]->handle)
      own[i]->handle = recordedTasks().add(own[i]);
    return own[i]->handle;
  });
}

aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t *id) {
  ACL_REQUIRE(id);
  ACL_FIND(found, recordedTasks(), task);
  *id = found->number;
  return ACL_SUCCESS;
}

aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType *type) {
  ACL_REQUIRE(type);
  ACL_FIND(found, recordedTasks(), task);
  *type = found->description.type;
  return ACL_SUCCESS;
}

aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams *params) {
  ACL_REQUIRE(params);
  ACL_FIND(found, recordedTasks(), task);
  *params = found->description;
  return ACL_SUCCESS;
}

aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams *params) {
  ACL_REQUIRE(params);
  ACL_FIND(found, recordedTasks(), task);
  ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT,
           "parameters of a single task cannot be set; queue the tasks of a group again between "
           "aclmdlRICaptureTaskUpdateBegin and aclmdlRICaptureTaskUpdateEnd");
}

aclError aclmdlRIKernelTaskGetAttribute(aclmdlRITask task, aclrtLaunchKernelAttrId,
                                        aclrtLaunchKernelAttrValue *attrValue) {
  ACL_REQUIRE(attrValue);
  ACL_FIND(found, recordedTasks(), task);
  ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT, "kernels have no attributes of their launch here");
}

aclError aclmdlRITaskDisable(aclmdlRITask task) {
  ACL_FIND(found, recordedTasks(), task);
  found->willBeDisabled = true;
  return ACL_SUCCESS;
}

aclError aclmdlRIUpdate(aclmdlRI modelRI) {
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findEndedModel(__func__, modelRI, model));
  for (const auto &task : model->recorded())
    task->isDisabled = task->willBeDisabled.load();
  return ACL_SUCCESS;
}

aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void *userData) {
  ACL_REQUIRE(func);
  ACL_FIND(model, recordedModels(), modelRI);
  std::lock_guard lock(model->mutex);
  model->destroyCallbacks.emplace_back(func, userData);
  return ACL_SUCCESS;
}

aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func) {
  ACL_REQUIRE(func);
  ACL_FIND(model, recordedModels(), modelRI);
  std::lock_guard lock(model->mutex);
  if (std::erase_if(model->destroyCallbacks,
                    [&](const auto &each) { return each.first == func; }) == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "func is not registered for the model");
  return ACL_SUCCESS;
}
