/*===-- acl/acl.h - AscendCL programs on OpenATC: start and end -------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * These headers declare the names, values and signatures that AscendCL programs
 * use. Models run on the simulated NPU or on the CPU, as the `.om` file says.
 * "Device memory" is memory of this machine that aclrtMalloc has allocated.
 *
 * Every function that returns aclError returns ACL_SUCCESS or an error code, and
 * then aclGetRecentErrMsg tells what happened, on the thread of the call. NULL
 * for a pointer that must not be NULL is ACL_ERROR_INVALID_PARAM. A handle that
 * was destroyed, or that is a handle of another kind, is
 * ACL_ERROR_INVALID_RESOURCE_HANDLE. What is declared but cannot be done here
 * returns ACL_ERROR_API_NOT_SUPPORT. See docs/ascendcl.md.
 */
#ifndef OPENATC_ACL_ACL_H
#define OPENATC_ACL_ACL_H

#include "acl_base.h"
#include "acl_mdl.h"
#include "acl_op.h"
#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts AscendCL. `configPath` is NULL, "", or a readable JSON file, whose switches
 * for dumps and profiles are checked for form only. ACL_ERROR_REPEAT_INITIALIZE when
 * it is already started, ACL_ERROR_INVALID_FILE, ACL_ERROR_PARSE_FILE. */
ACL_FUNC_VISIBILITY aclError aclInit(const char *configPath);

/* Ends AscendCL: unloads models and frees what single operators have cached.
 * ACL_ERROR_UNINITIALIZE before aclInit, ACL_ERROR_REPEAT_FINALIZE the second time. */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

/* Writes the version of the interface, 1.10.0. No argument may be NULL. */
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion,
                                             int32_t *patchVersion);

/* Returns the message of the last error on this thread and forgets it; NULL where
 * there is none. The text lives until the next call on this thread. */
ACL_FUNC_VISIBILITY const char *aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif

#endif
