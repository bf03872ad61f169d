/*===-- acl/dvpp/hi_dvpp.h - the second media interface ---------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
#ifndef OPENATC_ACL_DVPP_HI_DVPP_H
#define OPENATC_ACL_DVPP_HI_DVPP_H

#include "hi_dvpp_common.h"
#include "hi_dvpp_vdec.h"
#include "hi_dvpp_venc.h"
#include "hi_dvpp_vpc.h"

#endif
