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

/* Writes the tool that gets the marks: MSTX_TOOL_MSPROF_ID while a profile is collected. */
ACL_FUNC_VISIBILITY void mstxGetToolId(uint64_t *id);

#ifdef __cplusplus
}
#endif

#endif
