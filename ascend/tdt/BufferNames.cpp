//===-- BufferNames.cpp - the runtime's names of buffers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "acl/acl_rt.h"
#include "acl/acl_tdt_queue.h"

aclError aclrtAllocBuf(aclrtMbuf *buf, size_t size) {
  return acltdtAllocBuf(size, ACL_TDT_NORMAL_MEM, buf);
}
aclError aclrtFreeBuf(aclrtMbuf buf) { return acltdtFreeBuf(buf); }
aclError aclrtGetBufData(const aclrtMbuf buf, void **dataPtr, size_t *size) {
  return acltdtGetBufData(buf, dataPtr, size);
}
aclError aclrtGetBufDataLen(aclrtMbuf buf, size_t *len) { return acltdtGetBufDataLen(buf, len); }
aclError aclrtSetBufDataLen(aclrtMbuf buf, size_t len) { return acltdtSetBufDataLen(buf, len); }
aclError aclrtGetBufUserData(const aclrtMbuf buf, void *dataPtr, size_t size, size_t offset) {
  return acltdtGetBufUserData(buf, dataPtr, size, offset);
}
aclError aclrtSetBufUserData(aclrtMbuf buf, const void *dataPtr, size_t size, size_t offset) {
  return acltdtSetBufUserData(buf, dataPtr, size, offset);
}
aclError aclrtCopyBufRef(const aclrtMbuf buf, aclrtMbuf *newBuf) {
  return acltdtCopyBufRef(buf, newBuf);
}
