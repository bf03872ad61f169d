//===-- UnaryOps.h - elementwise ops of one operand -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_OPS_UNARYOPS_H
#define OPENATC_DIALECTS_GRAPH_OPS_UNARYOPS_H

#include "dialects/graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dialects/graph/ops/UnaryOps.h.inc"

#endif // OPENATC_DIALECTS_GRAPH_OPS_UNARYOPS_H
