/*===-- acl/acl_dump.h - dumps of tensors -----------------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * aclmdlSetDump, or "dump" in the file of aclInit, has executions write their tensors. Callbacks
 * and dumps of arguments are not made: the functions that start one return
 * ACL_ERROR_API_NOT_SUPPORT.
 */
#ifndef OPENATC_ACL_ACL_DUMP_H
#define OPENATC_ACL_ACL_DUMP_H

#include "acl_base.h"
#include "acl_mdl.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_DUMP_MAX_FILE_PATH_LENGTH 4096
#define ACL_OP_DUMP_OP_AICORE_ARGS 0x00000001U

typedef struct acldumpChunk {
  char fileName[ACL_DUMP_MAX_FILE_PATH_LENGTH];
  uint32_t bufLen;
  uint32_t isLastChunk;
  int64_t offset;
  int32_t flag;
  uint8_t dataBuf[];
} acldumpChunk;

typedef enum {
  AIC_ERR_BRIEF_DUMP = 1,
  AIC_ERR_NORM_DUMP,
  AIC_ERR_DETAIL_DUMP,
  DATA_DUMP = 4,
  OVERFLOW_DUMP
} acldumpType;

typedef int32_t (*acldumpMessageCallback)(const acldumpChunk *chunk, int32_t length);

ACL_FUNC_VISIBILITY aclError acldumpRegCallback(const acldumpMessageCallback messageCallback,
                                                int32_t flag);
ACL_FUNC_VISIBILITY void acldumpUnregCallback(void);
/* Returns NULL: no dump has a folder. */
ACL_FUNC_VISIBILITY const char *acldumpGetPath(acldumpType dumpType);
ACL_FUNC_VISIBILITY aclError aclopStartDumpArgs(uint32_t dumpType, const char *path);
ACL_FUNC_VISIBILITY aclError aclopStopDumpArgs(uint32_t dumpType);

#ifdef __cplusplus
}
#endif

#endif
