//===-- Context.h - devices, contexts, and the streams of them ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_CONTEXT_H
#define ASCEND_SRC_CONTEXT_H

#include "ascend/src/Handles.h"
#include "ascend/src/stream/Stream.h"

#include <memory>
#include <mutex>

namespace atc::ascend {

struct Context {
  /// Makes a context of a device with its default stream.
  Context(int32_t device, bool isDefault);

  const int32_t device;
  const bool isDefault;  ///< Whether aclrtSetDevice has made it.
  const uint64_t number; ///< Unique in the process.

  /// Returns the stream that NULL stands for; creates it with the first call.
  std::shared_ptr<Stream> defaultStream();

  /// Returns a handle of that stream, the same with each call.
  aclrtStream defaultStreamHandle();

private:
  std::mutex mutex;
  std::shared_ptr<Stream> stream;
  aclrtStream handle = nullptr;
};

/// Return the process-wide tables that own the objects behind handles.
HandleTable<Context> &contexts();
HandleTable<Stream> &streams();

/// Writes the context of this thread; ACL_ERROR_RT_CONTEXT_NULL where it has none.
aclError currentContext(const char *function, std::shared_ptr<Context> &context);

/// Sets the device that threads without a context open by their first call; -1: none.
void setDefaultDevice(int32_t device);

/// Checks the number of a device; ACL_ERROR_RT_INVALID_DEVICEID where there is none.
aclError checkDevice(const char *function, int64_t device);

/// Writes the stream of a handle, for NULL that of this thread's context.
/// ACL_ERROR_RT_STREAM_CONTEXT where the stream belongs to another context.
aclError findStream(const char *function, aclrtStream handle, std::shared_ptr<Stream> &stream);

/// Puts a task behind those of a stream (see findStream); what the media and matrix
/// libraries use.
ACL_FUNC_VISIBILITY aclError enqueue(const char *function, aclrtStream stream, Stream::Task task,
                                     const aclmdlRITaskParams &description = {});

/// Returns the devices that are open, in the order of their numbers.
std::vector<int32_t> openedDevices();

/// Waits for all streams of a device, `timeout` milliseconds each at most.
aclError synchronizeDevice(const char *function, int32_t device, int32_t timeout);

} // namespace atc::ascend

/// Returns ACL_ERROR_RT_CONTEXT_NULL from the calling function on a thread without context.
#define ACL_REQUIRE_CONTEXT(name)                                                                  \
  std::shared_ptr<::atc::ascend::Context> name;                                                    \
  ACL_TRY(::atc::ascend::currentContext(__func__, name))

#endif
