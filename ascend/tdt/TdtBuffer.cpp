//===-- TdtBuffer.cpp - acltdtAllocBuf and the like ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Errors.h"
#include "ascend/tdt/TdtQueue.h"

#include <cstring>

namespace atc::ascend {

HandleTable<TdtBuffer> &tdtBuffers() {
  static auto &table = *new HandleTable<TdtBuffer>(HandleKind::TdtBuffer);
  return table;
}

} // namespace atc::ascend

using namespace atc::ascend;

aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf *buf) {
  ACL_REQUIRE(buf);
  if (type > ACL_TDT_DVPP_MEM)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "type is %u; give 0 or 1", type);
  auto buffer = std::make_shared<TdtBuffer>();
  buffer->data = std::make_shared<TdtBuffer::Data>();
  if (size > 0) {
    void *address = nullptr;
    ACL_TRY(allocate(__func__, &address, size, /*onDevice=*/true));
    memset(address, 0, size);
    size_t room;
    buffer->data->block = blockOf(address, room);
    // The block lives as long as it is shared.
    ACL_TRY(release(__func__, address, /*onDevice=*/true));
  }
  buffer->data->valid = size;
  *buf = tdtBuffers().add(std::move(buffer));
  return ACL_SUCCESS;
}

aclError acltdtFreeBuf(acltdtBuf buf) {
  if (!buf)
    return ACL_SUCCESS;
  ACL_FIND(buffer, tdtBuffers(), buf);
  tdtBuffers().remove(buf);
  return ACL_SUCCESS;
}

aclError acltdtGetBufData(const acltdtBuf buf, void **dataPtr, size_t *size) {
  ACL_FIND(buffer, tdtBuffers(), buf);
  ACL_REQUIRE(dataPtr);
  ACL_REQUIRE(size);
  const Block *block = buffer->data->block.get();
  *dataPtr = block ? block->data : nullptr;
  *size = block ? block->bytes : 0;
  return ACL_SUCCESS;
}

aclError acltdtSetBufDataLen(acltdtBuf buf, size_t len) {
  ACL_FIND(buffer, tdtBuffers(), buf);
  const size_t bytes = buffer->data->block ? buffer->data->block->bytes : 0;
  if (len > bytes)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "len is %zu, the buffer has %zu bytes", len, bytes);
  buffer->data->valid = len;
  return ACL_SUCCESS;
}

aclError acltdtGetBufDataLen(acltdtBuf buf, size_t *len) {
  ACL_FIND(buffer, tdtBuffers(), buf);
  ACL_REQUIRE(len);
  *len = buffer->data->valid;
  return ACL_SUCCESS;
}

/// Checks the range of user data that a call names.
static aclError checkUserRange(const char *function, const void *data, size_t size, size_t offset,
                               const TdtBuffer &buffer) {
  const size_t room = buffer.userData.size();
  if (!data)
    return fail(ACL_ERROR_INVALID_PARAM, function, "dataPtr is NULL");
  if (offset > room || size > room - offset)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "%zu bytes at offset %zu are beyond the %zu bytes of user data", size, offset,
                room);
  return ACL_SUCCESS;
}

aclError acltdtGetBufUserData(const acltdtBuf buf, void *dataPtr, size_t size, size_t offset) {
  ACL_FIND(buffer, tdtBuffers(), buf);
  ACL_TRY(checkUserRange(__func__, dataPtr, size, offset, *buffer));
  std::lock_guard lock(buffer->mutex);
  memcpy(dataPtr, buffer->userData.data() + offset, size);
  return ACL_SUCCESS;
}

aclError acltdtSetBufUserData(acltdtBuf buf, const void *dataPtr, size_t size, size_t offset) {
  ACL_FIND(buffer, tdtBuffers(), buf);
  ACL_TRY(checkUserRange(__func__, dataPtr, size, offset, *buffer));
  std::lock_guard lock(buffer->mutex);
  memcpy(buffer->userData.data() + offset, dataPtr, size);
  return ACL_SUCCESS;
}

aclError acltdtCopyBufRef(const acltdtBuf buf, acltdtBuf *newBuf) {
  ACL_FIND(buffer, tdtBuffers(), buf);
  ACL_REQUIRE(newBuf);
  auto copy = std::make_shared<TdtBuffer>();
  copy->data = buffer->data;
  {
    std::lock_guard lock(buffer->mutex);
    copy->userData = buffer->userData;
  }
  *newBuf = tdtBuffers().add(std::move(copy));
  return ACL_SUCCESS;
}
