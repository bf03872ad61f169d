/*===-- aclnn/aclnn_base.h - start and end of aclnn functions ---------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
#ifndef OPENATC_ACLNN_ACLNN_BASE_H
#define OPENATC_ACLNN_ACLNN_BASE_H

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Do nothing: aclInit and aclFinalize start and end these functions, too. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char *configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif
