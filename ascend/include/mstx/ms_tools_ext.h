/*===-- mstx/ms_tools_ext.h - marks and ranges of a program in its profile --===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * Marks and ranges are rows of msprof_tx_<time>.csv and events of the timeline that msprof makes,
 * where a profile is collected at their end (see acl/acl_prof.h); otherwise they cost little and
 * leave nothing. Any thread may call every function.
 */
#ifndef OPENATC_MSTX_MS_TOOLS_EXT_H
#define OPENATC_MSTX_MS_TOOLS_EXT_H

#include "acl/acl_base.h"

#include <stddef.h>
#include <stdint.h>

#define MSTX_SUCCESS 0
#define MSTX_FAIL 1
#define MSTX_INVALID_ID 0
#define MSTX_TOOL_INVALID_ID 0x0
#define MSTX_TOOL_MSPROF_ID 0x1000

#ifdef __cplusplus
extern "C" {
#endif

typedef void *aclrtStream;
typedef uint64_t mstxRangeId;
struct mstxDomainRegistration_st;
typedef struct mstxDomainRegistration_st mstxDomainRegistration_t;
typedef mstxDomainRegistration_t *mstxDomainHandle_t;
typedef mstxDomainHandle_t mstxDomainhandle_t; /* as older headers spell it */

/* Record a moment. With a stream also that at which it has come to the mark; NULL for none. */
ACL_FUNC_VISIBILITY void mstxMarkA(const char *message, aclrtStream stream);
ACL_FUNC_VISIBILITY void mstxDomainMarkA(mstxDomainHandle_t domain, const char *message,
                                         aclrtStream stream);

/* Begin a range, which may end on another thread; 0 where `message` is NULL or `stream` or `domain`
 * is none. */
ACL_FUNC_VISIBILITY mstxRangeId mstxRangeStartA(const char *message, aclrtStream stream);
ACL_FUNC_VISIBILITY mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain,
                                                      const char *message, aclrtStream stream);
/* End a range of that domain; nothing happens for an id that is none. */
ACL_FUNC_VISIBILITY void mstxRangeEnd(mstxRangeId id);
ACL_FUNC_VISIBILITY void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id);

/* Create a domain, whose name rows have, and destroy it; NULL for a name of NULL. The domain of
 * the functions without one is "default". */
ACL_FUNC_VISIBILITY mstxDomainHandle_t mstxDomainCreateA(const char *name);
ACL_FUNC_VISIBILITY void mstxDomainDestroy(mstxDomainHandle_t domain);

/* Memory that a program divides itself, for a tool that watches accesses to it. There is none here:
 * the functions return NULL, write NULL to every item of `regionHandleArrayOut`, and do nothing. */
typedef enum { MSTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR = 0 } mstxMemHeapUsageType;
typedef enum { MSTX_MEM_TYPE_VIRTUAL_ADDRESS = 0 } mstxMemType;
typedef enum {
  MSTX_MEM_REGION_REF_TYPE_POINTER = 0,
  MSTX_MEM_REGION_REF_TYPE_HANDLE
} mstxMemRegionRefType;
struct mstxMemHeap_st;
typedef struct mstxMemHeap_st mstxMemHeap_t;
typedef mstxMemHeap_t *mstxMemHeapHandle_t;
struct mstxMemRegion_st;
typedef struct mstxMemRegion_st mstxMemRegion_t;
typedef mstxMemRegion_t *mstxMemRegionHandle_t;
typedef struct mstxMemVirtualRangeDesc_t {
  uint32_t deviceId;
  void const *ptr;
  uint64_t size;
} mstxMemVirtualRangeDesc_t;
typedef struct mstxMemHeapDesc_t {
  mstxMemHeapUsageType usage;
  mstxMemType type;
  void const *typeSpecificDesc;
} mstxMemHeapDesc_t;
typedef struct mstxMemRegionsRegisterBatch_t {
  mstxMemHeapHandle_t heap;
  mstxMemType regionType;
  size_t regionCount;
  void const *regionDescArray;
  mstxMemRegionHandle_t *regionHandleArrayOut;
} mstxMemRegionsRegisterBatch_t;
typedef struct mstxMemRegionRef_t {
  mstxMemRegionRefType refType;
  union {
    void const *pointer;
    mstxMemRegionHandle_t handle;
  };
} mstxMemRegionRef_t;
typedef struct mstxMemRegionsUnregisterBatch_t {
  size_t refCount;
  mstxMemRegionRef_t const *refArray;
} mstxMemRegionsUnregisterBatch_t;
ACL_FUNC_VISIBILITY mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t domain,
                                                            mstxMemHeapDesc_t const *desc);
ACL_FUNC_VISIBILITY void mstxMemHeapUnregister(mstxDomainHandle_t domain, mstxMemHeapHandle_t heap);
ACL_FUNC_VISIBILITY void mstxMemRegionsRegister(mstxDomainHandle_t domain,
                                                mstxMemRegionsRegisterBatch_t const *desc);
ACL_FUNC_VISIBILITY void mstxMemRegionsUnregister(mstxDomainHandle_t domain,
                                                  mstxMemRegionsUnregisterBatch_t const *desc);

/* Writes the tool that gets the marks: MSTX_TOOL_MSPROF_ID while a profile is collected. */
ACL_FUNC_VISIBILITY void mstxGetToolId(uint64_t *id);

#ifdef __cplusplus
}
#endif

#endif
