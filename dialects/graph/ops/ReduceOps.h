//===-- ReduceOps.h - reductions and softmax ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_OPS_REDUCEOPS_H
#define OPENATC_DIALECTS_GRAPH_OPS_REDUCEOPS_H

#include "dialects/graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dialects/graph/ops/ReduceOps.h.inc"

#endif // OPENATC_DIALECTS_GRAPH_OPS_REDUCEOPS_H
