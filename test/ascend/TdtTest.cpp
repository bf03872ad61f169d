//===-- TdtTest.cpp - channels, queues, routes and allocators -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "acl/acl_rt_allocator.h"
#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "acl/error_codes/rt_error_codes.h"
#include "test/ascend/AclTest.h"

#include <cstring>
#include <thread>
#include <unistd.h>

namespace {

uint32_t makeQueue(const char *name, uint32_t depth) {
  acltdtQueueAttr *attr = acltdtCreateQueueAttr();
  GOOD(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &name));
  GOOD(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &depth));
  size_t bytes = 0;
  uint32_t read = 0;
  GOOD(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof read, &bytes, &read));
  CHECK(read == depth);
  CHECK(bytes == 4);
  uint32_t id = ~0u;
  GOOD(acltdtCreateQueue(attr, &id));
  GOOD(acltdtDestroyQueueAttr(attr));
  return id;
}

void send(uint32_t queue, const std::string &text, int32_t timeout = 0) {
  const uint64_t mark = text.size();
  GOOD(acltdtEnqueueData(queue, text.data(), text.size(), &mark, sizeof mark, timeout, 0));
}

std::string receive(uint32_t queue, int32_t timeout = 0) {
  char data[64];
  size_t bytes = 0;
  uint64_t mark = 0;
  GOOD(acltdtDequeueData(queue, data, sizeof data, &bytes, &mark, sizeof mark, timeout));
  CHECK(mark == bytes);
  return {data, bytes};
}

} // namespace

TEST_CASE("a dataset passes a channel with its dims and data") {
  Started started;
  acltdtChannelHandle *in = acltdtCreateChannel(0, "pictures");
  acltdtChannelHandle *out = acltdtCreateChannel(0, "pictures");
  const int64_t dims[] = {2, 3};
  float values[6] = {1, 2, 3, 4, 5, 6};
  acltdtDataItem *item =
      acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 2, ACL_FLOAT, values, sizeof values);
  acltdtDataItem *end =
      acltdtCreateDataItem(ACL_TENSOR_DATA_END_OF_SEQUENCE, nullptr, 0, ACL_FLOAT, nullptr, 0);
  acltdtDataset *sent = acltdtCreateDataset();
  GOOD(acltdtAddDataItem(sent, item));
  GOOD(acltdtAddDataItem(sent, end));
  GOOD(acltdtSendTensor(in, sent, -1));
  values[0] = 100; // the channel has a copy
  size_t waiting = 0;
  GOOD(acltdtQueryChannelSize(out, &waiting));
  CHECK(waiting == 1);

  acltdtDataset *received = acltdtCreateDataset();
  GOOD(acltdtReceiveTensor(out, received, -1));
  REQUIRE(acltdtGetDatasetSize(received) == 2);
  CHECK(std::string(acltdtGetDatasetName(received)) == "pictures");
  acltdtDataItem *first = acltdtGetDataItem(received, 0);
  CHECK(acltdtGetTensorTypeFromItem(first) == ACL_TENSOR_DATA_TENSOR);
  CHECK(acltdtGetDataTypeFromItem(first) == ACL_FLOAT);
  REQUIRE(acltdtGetDataSizeFromItem(first) == 24);
  CHECK(static_cast<float *>(acltdtGetDataAddrFromItem(first))[0] == 1);
  int64_t read[2] = {};
  REQUIRE(acltdtGetDimNumFromItem(first) == 2);
  GOOD(acltdtGetDimsFromItem(first, read, 2));
  CHECK(read[1] == 3);
  BAD(ACL_ERROR_INVALID_PARAM, acltdtGetDimsFromItem(first, read, 1));
  acltdtDataItem *last = acltdtGetDataItem(received, 1);
  CHECK(acltdtGetTensorTypeFromItem(last) == ACL_TENSOR_DATA_END_OF_SEQUENCE);
  BAD(ACL_ERROR_INVALID_PARAM, acltdtDestroyDataItem(last));
  BAD(ACL_ERROR_INVALID_PARAM, acltdtAddDataItem(received, item));
  BAD(ACL_ERROR_RT_QUEUE_EMPTY, acltdtReceiveTensor(out, received, 0));

  // A thread that waits is woken by acltdtStopChannel.
  // Only one thread at a time may check.
  aclError waited = ACL_SUCCESS;
  acltdtDataset *nothing = acltdtCreateDataset();
  std::thread waiter([&] { waited = acltdtReceiveTensor(out, nothing, -1); });
  const aclError stopped = acltdtStopChannel(out);
  waiter.join();
  CHECK(stopped == ACL_SUCCESS);
  CHECK(waited == ACL_ERROR_FAILURE);
  GOOD(acltdtDestroyDataset(nothing));
  GOOD(acltdtDestroyDataset(received));
  CHECK(acltdtGetDataAddrFromItem(first) == nullptr);
  GOOD(acltdtDestroyDataset(sent));
  GOOD(acltdtDestroyDataItem(item));
  GOOD(acltdtDestroyDataItem(end));
  GOOD(acltdtDestroyChannel(in));
  GOOD(acltdtDestroyChannel(out));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, acltdtStopChannel(out));

  CHECK(acltdtCreateChannel(99, "device") == nullptr);
  CHECK(acltdtCreateChannel(0, nullptr) == nullptr);
}

TEST_CASE("a channel with a capacity is full, and empty after it is cleaned") {
  Started started;
  acltdtChannelHandle *channel = acltdtCreateChannelWithCapacity(0, "small", 1);
  acltdtDataset *dataset = acltdtCreateDataset();
  GOOD(acltdtSendTensor(channel, dataset, 0));
  BAD(ACL_ERROR_RT_QUEUE_FULL, acltdtSendTensor(channel, dataset, 1));
  GOOD(acltdtCleanChannel(channel));
  GOOD(acltdtSendTensor(channel, dataset, 0));
  GOOD(acltdtDestroyDataset(dataset));
  GOOD(acltdtDestroyChannel(channel));
}

TEST_CASE("queues pass buffers in order between threads") {
  Started started;
  const uint32_t queue = makeQueue("work", 2);
  int sent = 0;
  std::thread producer([&] {
    for (int i = 0; i < 20; ++i) {
      const std::string text = "message " + std::to_string(i);
      const uint64_t mark = text.size();
      sent += acltdtEnqueueData(queue, text.data(), text.size(), &mark, sizeof mark, -1, 0) ==
              ACL_SUCCESS;
    }
  });
  for (int i = 0; i < 20; ++i)
    CHECK(receive(queue, 5000) == "message " + std::to_string(i));
  producer.join();
  CHECK(sent == 20);

  send(queue, "a longer text");
  char small[4];
  size_t bytes = 0;
  BAD(ACL_ERROR_INVALID_PARAM, acltdtDequeueData(queue, small, 4, &bytes, nullptr, 0, 0));
  CHECK(bytes == 13);
  CHECK(receive(queue) == "a longer text");
  acltdtBuf buffer = nullptr;
  BAD(ACL_ERROR_RT_QUEUE_EMPTY, acltdtDequeue(queue, &buffer, 1));

  GOOD(acltdtAllocBuf(8, ACL_TDT_NORMAL_MEM, &buffer));
  void *data = nullptr;
  GOOD(acltdtGetBufData(buffer, &data, &bytes));
  REQUIRE(bytes == 8);
  memcpy(data, "in place", 8);
  GOOD(acltdtSetBufUserData(buffer, "mark", 4, 92));
  BAD(ACL_ERROR_INVALID_PARAM, acltdtSetBufUserData(buffer, "mark", 4, 93));
  acltdtBuf other = nullptr;
  GOOD(acltdtCopyBufRef(buffer, &other));
  GOOD(acltdtSetBufDataLen(buffer, 2));
  size_t valid = 0;
  GOOD(acltdtGetBufDataLen(other, &valid));
  CHECK(valid == 2);
  GOOD(acltdtEnqueue(queue, buffer, 0));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, acltdtFreeBuf(buffer)); // the queue has it
  GOOD(acltdtFreeBuf(other));
  GOOD(acltdtDequeue(queue, &buffer, 0));
  char mark[4];
  GOOD(acltdtGetBufUserData(buffer, mark, 4, 92));
  CHECK(std::string(mark, 4) == "mark");
  GOOD(acltdtFreeBuf(buffer));

  uint32_t permission = 0;
  GOOD(acltdtGrantQueue(queue, getpid(), 6, 0));
  GOOD(acltdtAttachQueue(queue, 0, &permission));
  CHECK(permission == 6);
  BAD(ACL_ERROR_API_NOT_SUPPORT, acltdtGrantQueue(queue, 1, 6, 0));
  GOOD(acltdtDestroyQueue(queue));
  BAD(ACL_ERROR_INVALID_QUEUE_ID, acltdtDestroyQueue(queue));
}

TEST_CASE("routes lead what enters a queue to others") {
  Started started;
  const uint32_t source = makeQueue("source", 4), left = makeQueue("left", 4),
                 right = makeQueue("right", 4);
  acltdtQueueRouteList *list = acltdtCreateQueueRouteList();
  for (uint32_t target : {left, right}) {
    acltdtQueueRoute *route = acltdtCreateQueueRoute(source, target);
    GOOD(acltdtAddQueueRoute(list, route));
    GOOD(acltdtDestroyQueueRoute(route));
  }
  GOOD(acltdtBindQueueRoutes(list));
  send(source, "to both");
  CHECK(receive(left) == "to both");
  CHECK(receive(right) == "to both");

  acltdtQueueRouteQueryInfo *query = acltdtCreateQueueRouteQueryInfo();
  const acltdtQueueRouteQueryMode mode = ACL_TDT_QUEUE_ROUTE_QUERY_DST;
  GOOD(
      acltdtSetQueueRouteQueryInfo(query, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, sizeof mode, &mode));
  GOOD(acltdtSetQueueRouteQueryInfo(query, ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32, 4, &right));
  acltdtQueueRouteList *found = acltdtCreateQueueRouteList();
  GOOD(acltdtQueryQueueRoutes(query, found));
  REQUIRE(acltdtGetQueueRouteNum(found) == 1);
  acltdtQueueRoute *route = acltdtCreateQueueRoute(0, 0);
  GOOD(acltdtGetQueueRoute(found, 0, route));
  size_t bytes = 0;
  uint32_t id = 0;
  int32_t status = 0;
  GOOD(acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_SRC_UINT32, 4, &bytes, &id));
  CHECK(id == source);
  GOOD(acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_STATUS_INT32, 4, &bytes, &status));
  CHECK(status == 1);

  GOOD(acltdtUnbindQueueRoutes(list));
  send(source, "stays");
  CHECK(receive(source) == "stays");
  for (uint32_t queue : {source, left, right})
    GOOD(acltdtDestroyQueue(queue));
  BAD(ACL_ERROR_INVALID_QUEUE_ID, acltdtBindQueueRoutes(list));
  GOOD(acltdtDestroyQueueRoute(route));
  GOOD(acltdtDestroyQueueRouteList(found));
  GOOD(acltdtDestroyQueueRouteList(list));
  GOOD(acltdtDestroyQueueRouteQueryInfo(query));
}

TEST_CASE("an allocator is registered for a stream when it is complete") {
  Started started;
  aclrtStream stream = nullptr;
  GOOD(aclrtCreateStream(&stream));
  aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();
  int object = 0;
  BAD(ACL_ERROR_INVALID_PARAM, aclrtAllocatorRegister(stream, desc));
  GOOD(aclrtAllocatorSetObjToDesc(desc, &object));
  GOOD(aclrtAllocatorSetAllocFuncToDesc(desc, [](void *, size_t) -> void * { return nullptr; }));
  GOOD(aclrtAllocatorSetFreeFuncToDesc(desc, [](void *, void *) {}));
  GOOD(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, [](void *block) { return block; }));
  GOOD(aclrtAllocatorRegister(stream, desc));
  GOOD(aclrtAllocatorDestroyDesc(desc));
  GOOD(aclrtAllocatorUnregister(stream));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtAllocatorUnregister(stream));
  GOOD(aclrtDestroyStream(stream));
}
