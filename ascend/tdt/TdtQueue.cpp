//===-- TdtQueue.cpp - queues of buffers, and what routes forward -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/tdt/TdtQueue.h"

#include "ascend/src/Errors.h"
#include "ascend/src/stream/WaitingQueue.h"

#include "acl/error_codes/rt_error_codes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unistd.h>

using namespace atc::ascend;

namespace {

struct Queue {
  explicit Queue(uint32_t depth) : buffers(depth) {}
  WaitingQueue<std::shared_ptr<TdtBuffer>> buffers;
  std::atomic<bool> destroyed{false};
  std::atomic<uint32_t> permission{0};
};

/// Holds the queues and routes of the process.
struct Queues {
  std::mutex mutex;
  std::map<uint32_t, std::shared_ptr<Queue>> byId;
  std::vector<TdtRoute> routes;
  uint32_t next = 0;
};

Queues &queues() {
  static auto &all = *new Queues;
  return all;
}

aclError findQueue(const char *function, uint32_t id, std::shared_ptr<Queue> &queue) {
  std::lock_guard lock(queues().mutex);
  auto found = queues().byId.find(id);
  if (found == queues().byId.end())
    return fail(ACL_ERROR_INVALID_QUEUE_ID, function, "%u is no queue", id);
  queue = found->second;
  return ACL_SUCCESS;
}

/// Returns the queues that a buffer put into one enters: those that routes lead to, else itself.
std::vector<std::shared_ptr<Queue>> targetsOf(uint32_t id, std::shared_ptr<Queue> queue) {
  std::lock_guard lock(queues().mutex);
  std::vector<std::shared_ptr<Queue>> targets;
  for (const TdtRoute &route : queues().routes)
    if (route.source == id)
      targets.push_back(queues().byId.at(route.target));
  if (targets.empty())
    targets.push_back(std::move(queue));
  return targets;
}

/// Puts a buffer into a queue; each queue of several gets a handle of the same data.
aclError enqueueBuffer(const char *function, uint32_t id, std::shared_ptr<TdtBuffer> buffer,
                       int32_t timeout) {
  std::shared_ptr<Queue> queue;
  ACL_TRY(findQueue(function, id, queue));
  ACL_TRY(checkTimeout(function, timeout));
  const auto targets = targetsOf(id, queue);
  for (size_t i = 0; i < targets.size(); ++i) {
    auto entering = buffer;
    if (i + 1 < targets.size()) {
      entering = std::make_shared<TdtBuffer>();
      entering->data = buffer->data;
      entering->userData = buffer->userData;
    }
    if (!targets[i]->buffers.push(entering, timeout, targets[i]->destroyed))
      return fail(ACL_ERROR_RT_QUEUE_FULL, function, "queue %u is full, or was destroyed", id);
  }
  return ACL_SUCCESS;
}

/// Takes the oldest buffer that `take` accepts; it returns false to leave the buffer.
template <typename Take>
aclError dequeueBuffer(const char *function, uint32_t id, int32_t timeout, const Take &take) {
  std::shared_ptr<Queue> queue;
  ACL_TRY(findQueue(function, id, queue));
  ACL_TRY(checkTimeout(function, timeout));
  if (!queue->buffers.pop(timeout, queue->destroyed, take))
    return fail(ACL_ERROR_RT_QUEUE_EMPTY, function, "queue %u is empty, or was destroyed", id);
  return ACL_SUCCESS;
}

bool isSame(const TdtRoute &left, const TdtRoute &right) {
  return left.source == right.source && left.target == right.target;
}

} // namespace

aclError acltdtCreateQueue(const acltdtQueueAttr *attr, uint32_t *qid) {
  ACL_FIND(found, tdtQueueAttrs(), attr);
  ACL_REQUIRE(qid);
  if (found->name.empty())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the queue has no name; set ACL_TDT_QUEUE_NAME_PTR");
  std::lock_guard lock(queues().mutex);
  *qid = queues().next++;
  queues().byId.emplace(*qid, std::make_shared<Queue>(found->depth));
  return ACL_SUCCESS;
}

aclError acltdtDestroyQueue(uint32_t qid) {
  std::shared_ptr<Queue> queue;
  ACL_TRY(findQueue(__func__, qid, queue));
  {
    std::lock_guard lock(queues().mutex);
    queues().byId.erase(qid);
    std::erase_if(queues().routes, [&](const TdtRoute &route) {
      return route.source == qid || route.target == qid;
    });
  }
  queue->destroyed = true;
  queue->buffers.wake();
  return ACL_SUCCESS;
}

aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout) {
  ACL_FIND(buffer, tdtBuffers(), buf);
  ACL_TRY(enqueueBuffer(__func__, qid, buffer, timeout));
  tdtBuffers().remove(buf);
  return ACL_SUCCESS;
}

aclError acltdtDequeue(uint32_t qid, acltdtBuf *buf, int32_t timeout) {
  ACL_REQUIRE(buf);
  std::shared_ptr<TdtBuffer> buffer;
  ACL_TRY(dequeueBuffer(__func__, qid, timeout, [&](std::shared_ptr<TdtBuffer> &oldest) {
    buffer = std::move(oldest);
    return true;
  }));
  *buf = tdtBuffers().add(std::move(buffer));
  return ACL_SUCCESS;
}

aclError acltdtEnqueueData(uint32_t qid, const void *data, size_t dataSize, const void *userData,
                           size_t userDataSize, int32_t timeout, uint32_t rsv) {
  if (!data || dataSize == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "data is %p with %zu bytes; give at least one", data,
             dataSize);
  if (userDataSize > 96 || (!userData && userDataSize > 0))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "userData is %p with %zu bytes; give at most 96", userData,
             userDataSize);
  acltdtBuf handle = nullptr;
  ACL_TRY(acltdtAllocBuf(dataSize, ACL_TDT_NORMAL_MEM, &handle));
  auto buffer = tdtBuffers().remove(handle);
  memcpy(buffer->data->block->data, data, dataSize);
  if (userDataSize > 0)
    memcpy(buffer->userData.data(), userData, userDataSize);
  return enqueueBuffer(__func__, qid, std::move(buffer), timeout);
}

aclError acltdtDequeueData(uint32_t qid, void *data, size_t dataSize, size_t *retDataSize,
                           void *userData, size_t userDataSize, int32_t timeout) {
  ACL_REQUIRE(data);
  ACL_REQUIRE(retDataSize);
  if (userDataSize > 96 || (!userData && userDataSize > 0))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "userData is %p with %zu bytes; give at most 96", userData,
             userDataSize);
  bool fits = true;
  ACL_TRY(dequeueBuffer(__func__, qid, timeout, [&](std::shared_ptr<TdtBuffer> &oldest) {
    const size_t bytes = *retDataSize = oldest->data->valid;
    fits = bytes <= dataSize;
    if (!fits)
      return false;
    if (bytes > 0)
      memcpy(data, oldest->data->block->data, bytes);
    if (userDataSize > 0)
      memcpy(userData, oldest->userData.data(), userDataSize);
    return true;
  }));
  if (!fits)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the buffer has %zu bytes, there is room for %zu",
             *retDataSize, dataSize);
  return ACL_SUCCESS;
}

aclError acltdtGrantQueue(uint32_t qid, int32_t pid, uint32_t permission, int32_t timeout) {
  std::shared_ptr<Queue> queue;
  ACL_TRY(findQueue(__func__, qid, queue));
  constexpr uint32_t all = ACL_TDT_QUEUE_PERMISSION_MANAGE | ACL_TDT_QUEUE_PERMISSION_DEQUEUE |
                           ACL_TDT_QUEUE_PERMISSION_ENQUEUE;
  if (permission == 0 || permission > all)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "permission is %u; add 1, 2 and 4", permission);
  if (pid != getpid())
    ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT, "queues are used in the process that has created them");
  queue->permission = permission;
  return ACL_SUCCESS;
}

aclError acltdtAttachQueue(uint32_t qid, int32_t timeout, uint32_t *permission) {
  std::shared_ptr<Queue> queue;
  ACL_TRY(findQueue(__func__, qid, queue));
  ACL_REQUIRE(permission);
  if (queue->permission == 0)
    ACL_FAIL(ACL_ERROR_RT_NO_PERMISSION, "queue %u was not granted; call acltdtGrantQueue", qid);
  *permission = queue->permission;
  return ACL_SUCCESS;
}

aclError acltdtBindQueueRoutes(acltdtQueueRouteList *qRouteList) {
  ACL_FIND(list, tdtRouteLists(), qRouteList);
  std::scoped_lock lock(list->mutex, queues().mutex);
  for (const TdtRoute &route : list->routes) {
    for (uint32_t id : {route.source, route.target})
      if (!queues().byId.count(id))
        ACL_FAIL(ACL_ERROR_INVALID_QUEUE_ID, "%u is no queue", id);
    if (route.source == route.target)
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "a route leads from queue %u to itself", route.source);
  }
  for (TdtRoute &route : list->routes) {
    route.status = 1;
    auto &bound = queues().routes;
    if (std::none_of(bound.begin(), bound.end(),
                     [&](const TdtRoute &other) { return isSame(other, route); }))
      bound.push_back(route);
  }
  return ACL_SUCCESS;
}

aclError acltdtUnbindQueueRoutes(acltdtQueueRouteList *qRouteList) {
  ACL_FIND(list, tdtRouteLists(), qRouteList);
  std::scoped_lock lock(list->mutex, queues().mutex);
  for (TdtRoute &route : list->routes) {
    route.status = 0;
    std::erase_if(queues().routes, [&](const TdtRoute &other) { return isSame(other, route); });
  }
  return ACL_SUCCESS;
}

aclError acltdtQueryQueueRoutes(const acltdtQueueRouteQueryInfo *queryInfo,
                                acltdtQueueRouteList *qRouteList) {
  ACL_FIND(query, tdtRouteQueries(), queryInfo);
  ACL_FIND(list, tdtRouteLists(), qRouteList);
  const bool bySource = query->mode != ACL_TDT_QUEUE_ROUTE_QUERY_DST;
  const bool byTarget = query->mode != ACL_TDT_QUEUE_ROUTE_QUERY_SRC;
  std::scoped_lock lock(list->mutex, queues().mutex);
  for (const TdtRoute &route : queues().routes)
    if ((!bySource || route.source == query->source) &&
        (!byTarget || route.target == query->target))
      list->routes.push_back(route);
  return ACL_SUCCESS;
}
