//===-- TdtChannel.cpp - channels between threads -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Errors.h"
#include "ascend/src/stream/WaitingQueue.h"
#include "ascend/tdt/TdtItems.h"

#include "acl/acl_rt.h"
#include "acl/error_codes/rt_error_codes.h"

#include <map>

using namespace atc::ascend;

namespace {

/// Holds what one acltdtSendTensor has sent.
using Message = std::vector<std::shared_ptr<TdtItem>>;

/// Is one end of a channel; the ends of one device and name share the queue.
struct Channel {
  std::string name;
  std::shared_ptr<WaitingQueue<Message>> queue;
  std::atomic<bool> stopped{false};
};

HandleTable<Channel> &channels() {
  static auto &table = *new HandleTable<Channel>(HandleKind::TdtChannel);
  return table;
}

/// Returns the queue of a device and name, which lives as long as an end of it.
std::shared_ptr<WaitingQueue<Message>> queueOf(uint32_t device, const std::string &name,
                                               size_t capacity) {
  static auto &mutex = *new std::mutex;
  static auto &queues =
      *new std::map<std::pair<uint32_t, std::string>, std::weak_ptr<WaitingQueue<Message>>>;
  std::lock_guard lock(mutex);
  auto &known = queues[{device, name}];
  auto queue = known.lock();
  if (!queue)
    known = queue = std::make_shared<WaitingQueue<Message>>(capacity);
  return queue;
}

acltdtChannelHandle *createChannel(const char *function, uint32_t device, const char *name,
                                   size_t capacity) {
  uint32_t devices = 0;
  aclrtGetDeviceCount(&devices);
  if (!name || !*name || capacity == 0 || device >= devices) {
    fail(ACL_ERROR_INVALID_PARAM, function,
         "give a device below %u, a name and a capacity; they are %u, '%s' and %zu", devices,
         device, name ? name : "", capacity);
    return nullptr;
  }
  auto channel = std::make_shared<Channel>();
  channel->name = name;
  channel->queue = queueOf(device, name, capacity);
  return static_cast<acltdtChannelHandle *>(channels().add(std::move(channel)));
}

/// Copies an item with its data. `data` stays NULL where there are no bytes.
std::shared_ptr<TdtItem> copyOf(const TdtItem &item) {
  auto copy = std::make_shared<TdtItem>(item);
  const auto *bytes = static_cast<const uint8_t *>(item.data);
  copy->own.assign(bytes, bytes + item.bytes);
  copy->received = true;
  copy->data = copy->own.empty() ? nullptr : copy->own.data();
  return copy;
}

} // namespace

acltdtChannelHandle *acltdtCreateChannel(uint32_t deviceId, const char *name) {
  return createChannel(__func__, deviceId, name, SIZE_MAX);
}

acltdtChannelHandle *acltdtCreateChannelWithCapacity(uint32_t deviceId, const char *name,
                                                     size_t capacity) {
  return createChannel(__func__, deviceId, name, capacity);
}

aclError acltdtStopChannel(acltdtChannelHandle *handle) {
  ACL_FIND(channel, channels(), handle);
  channel->stopped = true;
  channel->queue->wake();
  return ACL_SUCCESS;
}

aclError acltdtDestroyChannel(acltdtChannelHandle *handle) {
  ACL_TRY(acltdtStopChannel(handle));
  channels().remove(handle);
  return ACL_SUCCESS;
}

aclError acltdtQueryChannelSize(const acltdtChannelHandle *handle, size_t *size) {
  ACL_FIND(channel, channels(), handle);
  ACL_REQUIRE(size);
  *size = channel->queue->size();
  return ACL_SUCCESS;
}

aclError acltdtCleanChannel(acltdtChannelHandle *handle) {
  ACL_FIND(channel, channels(), handle);
  channel->queue->clear();
  return ACL_SUCCESS;
}

aclError acltdtSendTensor(const acltdtChannelHandle *handle, const acltdtDataset *dataset,
                          int32_t timeout) {
  ACL_FIND(channel, channels(), handle);
  ACL_FIND(items, tdtDatasets(), dataset);
  ACL_TRY(checkTimeout(__func__, timeout));
  Message message;
  {
    std::lock_guard lock(items->mutex);
    for (void *each : items->items) {
      auto item = tdtItems().find(each);
      if (!item)
        ACL_FAIL(ACL_ERROR_INVALID_RESOURCE_HANDLE, "an item (%p) of the dataset was destroyed",
                 each);
      message.push_back(copyOf(*item));
    }
  }
  if (channel->queue->push(std::move(message), timeout, channel->stopped))
    return ACL_SUCCESS;
  if (channel->stopped)
    ACL_FAIL(ACL_ERROR_FAILURE, "channel '%s' was stopped", channel->name.c_str());
  ACL_FAIL(ACL_ERROR_RT_QUEUE_FULL, "channel '%s' is full", channel->name.c_str());
}

aclError acltdtReceiveTensor(const acltdtChannelHandle *handle, acltdtDataset *dataset,
                             int32_t timeout) {
  ACL_FIND(channel, channels(), handle);
  ACL_FIND(target, tdtDatasets(), dataset);
  ACL_TRY(checkTimeout(__func__, timeout));
  {
    std::lock_guard lock(target->mutex);
    if (!target->received && !target->items.empty())
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the dataset has items; give an empty one");
  }
  Message message;
  if (!channel->queue->pop(timeout, channel->stopped, [&](Message &oldest) {
        message = std::move(oldest);
        return true;
      })) {
    if (channel->stopped)
      ACL_FAIL(ACL_ERROR_FAILURE, "channel '%s' was stopped", channel->name.c_str());
    ACL_FAIL(ACL_ERROR_RT_QUEUE_EMPTY, "nothing came through channel '%s'", channel->name.c_str());
  }
  std::lock_guard lock(target->mutex);
  forgetReceived(*target);
  for (auto &item : message)
    target->items.push_back(tdtItems().add(std::move(item)));
  target->received = true;
  target->channel = channel->name;
  return ACL_SUCCESS;
}
