//===-- ChannelSlot.h - where a description keeps its channel ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_CHANNELSLOT_H
#define ASCEND_DVPP_CHANNELSLOT_H

#include "ascend/src/Errors.h"

#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

namespace atc::ascend {

/// Puts a new channel, made from `arguments`, into the slot that `mutex` guards. Errors are
/// reported for `function`: the slot is not empty, or no thread can be started.
template <typename Channel, typename... Arguments>
aclError startChannel(const char *function, std::mutex &mutex, std::shared_ptr<Channel> &slot,
                      Arguments &&...arguments) {
  std::lock_guard lock(mutex);
  if (slot)
    return fail(ACL_ERROR_REPEAT_INITIALIZE, function, "channelDesc has a channel");
  try {
    slot = std::make_shared<Channel>(std::forward<Arguments>(arguments)...);
  } catch (const std::system_error &reason) {
    return fail(ACL_ERROR_RT_FAILURE, function, "no thread can be started: %s", reason.what());
  }
  return ACL_SUCCESS;
}

/// Takes the channel out of its slot and waits until its work and its callbacks are done. Errors
/// are reported for `function`: the slot is empty, or nobody runs the callbacks.
template <typename Channel>
aclError endChannel(const char *function, std::mutex &mutex, std::shared_ptr<Channel> &slot) {
  std::shared_ptr<Channel> channel;
  {
    std::lock_guard lock(mutex);
    channel = std::move(slot);
  }
  if (!channel)
    return fail(ACL_ERROR_INVALID_PARAM, function, "channelDesc has no channel");
  if (!channel->finish())
    return fail(ACL_ERROR_RT_REPORT_TIMEOUT, function,
                "callbacks were given up: their thread does not call aclrtProcessReport");
  return ACL_SUCCESS;
}

} // namespace atc::ascend

#endif
