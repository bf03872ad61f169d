/*===-- acl/dvpp/hi_media_common.h - a name of hi_dvpp_common.h -------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
#ifndef OPENATC_ACL_DVPP_HI_MEDIA_COMMON_H
#define OPENATC_ACL_DVPP_HI_MEDIA_COMMON_H

#include "hi_dvpp_common.h"

#endif
