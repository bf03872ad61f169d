//===-- BinaryOps.h - elementwise ops of several operands -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_OPS_BINARYOPS_H
#define OPENATC_DIALECTS_GRAPH_OPS_BINARYOPS_H

#include "dialects/graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dialects/graph/ops/BinaryOps.h.inc"

#endif // OPENATC_DIALECTS_GRAPH_OPS_BINARYOPS_H
