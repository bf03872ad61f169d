//===-- Capture.cpp - streams whose tasks are recorded ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace atc::ascend {
namespace {

/// Holds what a capture has recorded. A task that is run again does the same with what is in memory
/// then.
struct RecordedModel {
  std::vector<StreamTaskMaker> tasks;
  std::mutex mutex;
  std::string name;
};

HandleTable<RecordedModel> &recordedModels() {
  static auto &table = *new HandleTable<RecordedModel>(HandleKind::ModelInstance);
  return table;
}

thread_local aclmdlRICaptureMode threadMode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

aclError checkMode(const char *function, aclmdlRICaptureMode mode) {
  if (mode <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED)
    return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM, function, "mode is %d; give 0 to 2", int(mode));
}

/// Puts all tasks behind those of a stream, as one: what another thread queues comes before or
/// after them.
aclError enqueueAll(const char *function, const std::shared_ptr<RecordedModel> &model,
                    Stream &stream) {
  return stream.enqueueMade(function, [model]() -> Stream::Task {
    auto tasks = std::make_shared<std::vector<Stream::Task>>();
    for (const auto &make : model->tasks)
      tasks->push_back(make());
    return [tasks, model]() -> aclError {
      for (const Stream::Task &task : *tasks)
        ACL_TRY(task());
      return ACL_SUCCESS;
    };
  });
}

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  ACL_TRY(checkMode(__func__, mode));
  if (!stream)
    ACL_FAIL(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
             "the default stream cannot be recorded; create a stream");
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  return found->beginCapture(__func__);
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI) {
  ACL_REQUIRE(modelRI);
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  auto model = std::make_shared<RecordedModel>();
  ACL_TRY(found->endCapture(__func__, model->tasks));
  *modelRI = recordedModels().add(std::move(model));
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status,
                                aclmdlRI *modelRI) {
  ACL_REQUIRE(status);
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  *status =
      found->capture() ? ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE : ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  if (modelRI)
    *modelRI = nullptr;
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode) {
  ACL_REQUIRE(mode);
  ACL_TRY(checkMode(__func__, *mode));
  std::swap(*mode, threadMode);
  return ACL_SUCCESS;
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
  ACL_FIND(model, recordedModels(), modelRI);
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  return enqueueAll(__func__, model, *found);
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
  ACL_FIND(model, recordedModels(), modelRI);
  if (timeout < -1)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "timeout is %d; give milliseconds, or -1", timeout);
  ACL_REQUIRE_CONTEXT(context);
  auto stream = context->defaultStream();
  ACL_TRY(enqueueAll(__func__, model, *stream));
  return stream->synchronize(__func__, timeout);
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  ACL_FIND(model, recordedModels(), modelRI);
  recordedModels().remove(modelRI);
  return ACL_SUCCESS;
}

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

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path, uint32_t flags) {
  ACL_FIND(model, recordedModels(), modelRI);
  ACL_REQUIRE(path);
  if (flags != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flags are %u; give 0", flags);
  std::lock_guard lock(model->mutex);
  nlohmann::json tasks = nlohmann::json::array();
  for (size_t i = 0; i < model->tasks.size(); ++i)
    tasks.push_back({{"id", i}});
  const nlohmann::json text = {{"name", model->name}, {"tasks", tasks}};
  std::ofstream file(path);
  file << text.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  file.close();
  if (!file)
    ACL_FAIL(ACL_ERROR_WRITE_FILE, "%s cannot be written: %s", path, strerror(errno));
  return ACL_SUCCESS;
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
  ACL_FIND(model, recordedModels(), modelRI);
  std::lock_guard lock(model->mutex);
  printf("recorded model '%s': %zu tasks\n", model->name.c_str(), model->tasks.size());
  return ACL_SUCCESS;
}
