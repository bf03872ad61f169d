/*===-- acl/acl_base_mdl.h - another name of acl_base.h --------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
#ifndef OPENATC_ACL_ACL_BASE_MDL_H
#define OPENATC_ACL_ACL_BASE_MDL_H

#include "acl_base.h"

#endif
