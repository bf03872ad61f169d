//===-- DvppHeaders.h - the interface of libacl_dvpp -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every function that these headers declare, and those of AscendclHeaders.h do not, is an entry
// (Entries.h).

#ifndef ASCEND_ENTRY_DVPPHEADERS_H
#define ASCEND_ENTRY_DVPPHEADERS_H

#define ENABLE_DVPP_INTERFACE
#include "acl/dvpp/hi_dvpp.h"
#include "acl/ops/acl_dvpp.h"

#endif
