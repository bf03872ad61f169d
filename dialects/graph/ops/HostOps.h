//===-- HostOps.h - the ops of dynamic schedules --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_OPS_HOSTOPS_H
#define OPENATC_DIALECTS_GRAPH_OPS_HOSTOPS_H

#include "dialects/graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dialects/graph/ops/HostOps.h.inc"

#endif // OPENATC_DIALECTS_GRAPH_OPS_HOSTOPS_H
