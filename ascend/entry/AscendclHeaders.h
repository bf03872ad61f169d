//===-- AscendclHeaders.h - the interface of libascendcl ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every function that these headers declare is an entry (Entries.h).

#ifndef ASCEND_ENTRY_ASCENDCLHEADERS_H
#define ASCEND_ENTRY_ASCENDCLHEADERS_H

#include "acl/acl.h"
#include "acl/acl_dump.h"
#include "acl/acl_op_compiler.h"
#include "acl/acl_prof.h"
#include "acl/acl_rt_allocator.h"
#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "acl/ops/acl_cblas.h"
#include "acl/ops/acl_fv.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_ops.h"
#include "aclnnop/aclnn_rotary_position_embedding.h"
#include "mstx/ms_tools_ext.h"

#endif
