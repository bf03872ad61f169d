//===-- StreamApi.cpp - aclrtCreateStream and the like ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/Observers.h"
#include "ascend/src/Reports.h"

using namespace atc::ascend;

/// Writes the stream of a handle that is not used to queue: also that of another context.
static aclError findAnyStream(const char *function, aclrtStream handle,
                              std::shared_ptr<Stream> &stream) {
  if (!handle)
    return findStream(function, handle, stream);
  stream = streams().find(handle);
  if (!stream)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "stream (%p) was destroyed, or is no stream", handle);
  return ACL_SUCCESS;
}

aclError aclrtCreateStream(aclrtStream *stream) {
  ACL_REQUIRE(stream);
  ACL_REQUIRE_CONTEXT(context);
  *stream = streams().add(std::make_shared<Stream>(context->device, context->number));
  tellStreamState(*stream, ACL_RT_STREAM_STATE_CREATE_POST);
  return ACL_SUCCESS;
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag) {
  if (priority > 7)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "priority is %u; give 0 to 7", priority);
  ACL_REQUIRE(stream);
  ACL_REQUIRE_CONTEXT(context);
  auto made = std::make_shared<Stream>(context->device, context->number);
  made->priority = priority;
  made->flags = flag;
  *stream = streams().add(std::move(made));
  tellStreamState(*stream, ACL_RT_STREAM_STATE_CREATE_POST);
  return ACL_SUCCESS;
}

static aclError destroyStream(const char *function, aclrtStream handle, bool force) {
  if (!handle)
    return fail(ACL_ERROR_INVALID_PARAM, function, "stream is NULL");
  if (streams().find(handle))
    tellStreamState(handle, ACL_RT_STREAM_STATE_DESTROY_PRE);
  std::shared_ptr<Stream> stream = streams().remove(handle);
  if (!stream)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "stream (%p) was destroyed, or is no stream", handle);
  forgetReports(*stream);
  stream->close(force);
  return ACL_SUCCESS;
}

aclError aclrtDestroyStream(aclrtStream stream) { return destroyStream(__func__, stream, false); }

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return destroyStream(__func__, stream, true);
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  std::shared_ptr<Stream> found;
  ACL_TRY(findAnyStream(__func__, stream, found));
  return found->synchronize(__func__, -1);
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  if (timeout < -1)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "timeout is %d; give milliseconds, or -1", timeout);
  std::shared_ptr<Stream> found;
  ACL_TRY(findAnyStream(__func__, stream, found));
  return found->synchronize(__func__, timeout);
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status) {
  ACL_REQUIRE(status);
  std::shared_ptr<Stream> found;
  ACL_TRY(findAnyStream(__func__, stream, found));
  *status = found->idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "mode is %llu; give 0 or 1", (unsigned long long)mode);
  std::shared_ptr<Stream> found;
  ACL_TRY(findAnyStream(__func__, stream, found));
  found->setFailureMode(mode);
  return ACL_SUCCESS;
}

aclError aclrtStreamAbort(aclrtStream stream) {
  std::shared_ptr<Stream> found;
  ACL_TRY(findAnyStream(__func__, stream, found));
  found->drop();
  return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId) {
  ACL_REQUIRE(streamId);
  std::shared_ptr<Stream> found;
  ACL_TRY(findAnyStream(__func__, stream, found));
  *streamId = found->id;
  return ACL_SUCCESS;
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  if (flag > 1)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flag is %u; give 0 or 1", flag);
  std::shared_ptr<Stream> found;
  ACL_TRY(findAnyStream(__func__, stream, found));
  if (flag == 1)
    ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT, "float16 overflows are not watched here");
  return ACL_SUCCESS;
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag) {
  ACL_REQUIRE(flag);
  std::shared_ptr<Stream> found;
  ACL_TRY(findAnyStream(__func__, stream, found));
  *flag = 0;
  return ACL_SUCCESS;
}
