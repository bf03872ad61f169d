//===-- Capture.cpp - streams whose tasks are recorded ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"

#include <algorithm>
#include <utility>

namespace atc::ascend {
namespace {

thread_local aclmdlRICaptureMode threadMode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

aclError checkMode(const char *function, aclmdlRICaptureMode mode) {
  if (mode <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED)
    return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM, function, "mode is %d; give 0 to 2", int(mode));
}

/// Makes a stream for each stream that a model has recorded, when the recording has ended: programs
/// ask for the tasks of these streams.
void addStreams(RecordedModel &model, const Context &context) {
  std::lock_guard lock(model.mutex);
  for (const auto &task : model.recorded())
    if (std::none_of(model.streams.begin(), model.streams.end(),
                     [&](const auto &stream) { return stream.second == task->stream; }))
      model.streams.emplace_back(
          streams().add(std::make_shared<Stream>(context.device, context.number)), task->stream);
}

/// Puts all tasks behind those of a stream, as one: what another thread queues comes before or
/// after them.
aclError enqueueAll(const char *function, const std::shared_ptr<RecordedModel> &model,
                    Stream &stream) {
  return stream.enqueueMade(function, [model] { return model->execution(model); });
}

/// Writes a model that is built still; ACL_ERROR_INVALID_PARAM for another one.
aclError findBuiltModel(const char *function, aclmdlRI handle,
                        std::shared_ptr<RecordedModel> &model) {
  ACL_TRY(findRecordedModel(function, handle, model));
  if (!model->isBuilt || !model->isActive())
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "the model is not between aclmdlRIBuildBegin and aclmdlRIBuildEnd");
  return ACL_SUCCESS;
}

/// Writes a stream that is recorded, and its model; ACL_ERROR_RT_STREAM_NOT_CAPTURED for another
/// one.
aclError findCapture(const char *function, aclrtStream handle, std::shared_ptr<Stream> &stream,
                     std::shared_ptr<RecordedModel> &model) {
  ACL_TRY(findStream(function, handle, stream));
  model = stream->capture();
  if (!model)
    return fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, function,
                "the stream is not recorded; begin with aclmdlRICaptureBegin");
  return ACL_SUCCESS;
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
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(found->beginCapture(__func__, model));
  model->handle = recordedModels().add(model);
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI) {
  ACL_REQUIRE(modelRI);
  ACL_REQUIRE_CONTEXT(context);
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(found->endCapture(__func__, model));
  addStreams(*model, *context);
  *modelRI = model->handle;
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status,
                                aclmdlRI *modelRI) {
  ACL_REQUIRE(status);
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  const std::shared_ptr<RecordedModel> model = found->capture();
  *status = model ? ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE : ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  if (modelRI)
    *modelRI = model ? model->handle : nullptr;
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode) {
  ACL_REQUIRE(mode);
  ACL_TRY(checkMode(__func__, *mode));
  std::swap(*mode, threadMode);
  return ACL_SUCCESS;
}

aclError aclmdlRIBuildBegin(aclmdlRI *modelRI, uint32_t flag) {
  ACL_REQUIRE(modelRI);
  if (flag != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flag is %u; give 0", flag);
  ACL_REQUIRE_CONTEXT(context);
  auto model = std::make_shared<RecordedModel>();
  model->isBuilt = true;
  *modelRI = model->handle = recordedModels().add(model);
  return ACL_SUCCESS;
}

aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t flag) {
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findBuiltModel(__func__, modelRI, model));
  if (flag != ACL_MODEL_STREAM_FLAG_HEAD && flag != ACL_MODEL_STREAM_FLAG_DEFAULT)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flag is %#x; give ACL_MODEL_STREAM_FLAG_...", flag);
  if (!stream)
    ACL_FAIL(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
             "the default stream cannot be recorded; create a stream");
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  ACL_TRY(found->joinCapture(__func__, model));
  std::lock_guard lock(model->mutex);
  if (flag == ACL_MODEL_STREAM_FLAG_HEAD)
    model->heads.push_back(found->id);
  return ACL_SUCCESS;
}

aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream) {
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findBuiltModel(__func__, modelRI, model));
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  if (found->capture() != model)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the stream is not bound to the model");
  return ACL_SUCCESS; // the order of all tasks is known anyway
}

aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void *reserve) {
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findBuiltModel(__func__, modelRI, model));
  if (reserve)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "reserve is not NULL");
  ACL_REQUIRE_CONTEXT(context);
  model->end();
  addStreams(*model, *context);
  return ACL_SUCCESS;
}

aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream) {
  ACL_FIND(model, recordedModels(), modelRI);
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  found->leaveCapture(model);
  return ACL_SUCCESS;
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findEndedModel(__func__, modelRI, model));
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  return enqueueAll(__func__, model, *found);
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findEndedModel(__func__, modelRI, model));
  if (timeout < -1)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "timeout is %d; give milliseconds, or -1", timeout);
  ACL_REQUIRE_CONTEXT(context);
  auto stream = context->defaultStream();
  ACL_TRY(enqueueAll(__func__, model, *stream));
  return stream->synchronize(__func__, timeout);
}

aclError aclmdlRIAbort(aclmdlRI modelRI) {
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findEndedModel(__func__, modelRI, model));
  if (!model->isBuilt)
    ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT, "a captured model cannot be stopped; one that "
                                        "aclmdlRIBuildBegin has begun can");
  model->abort();
  return ACL_SUCCESS;
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findEndedModel(__func__, modelRI, model));
  if (!recordedModels().remove(modelRI))
    return ACL_SUCCESS; // another thread was faster
  model->callDestroyed();
  std::lock_guard lock(model->mutex);
  for (const auto &[stream, recorded] : model->streams)
    streams().remove(stream);
  for (const auto &task : model->recorded())
    recordedTasks().remove(task->handle);
  for (aclrtTaskGrp group : model->groups)
    taskGroups().remove(group);
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
  std::shared_ptr<Stream> found;
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findCapture(__func__, stream, found, model));
  if (!model->openGroup(found->id))
    ACL_FAIL(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "a group of this stream is open already");
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *handle) {
  ACL_REQUIRE(handle);
  std::shared_ptr<Stream> found;
  std::shared_ptr<RecordedModel> model;
  ACL_TRY(findCapture(__func__, stream, found, model));
  auto group = model->closeGroup(found->id);
  if (!group)
    ACL_FAIL(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
             "no group of this stream is open; begin with aclmdlRICaptureTaskGrpBegin");
  *handle = taskGroups().add(std::move(group));
  std::lock_guard lock(model->mutex);
  model->groups.push_back(*handle);
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
  ACL_FIND(group, taskGroups(), handle);
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  return found->beginUpdate(__func__, std::move(group));
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  return found->endUpdate(__func__);
}
