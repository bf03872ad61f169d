//===-- ShapeOps.h - data movement ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_OPS_SHAPEOPS_H
#define OPENATC_DIALECTS_GRAPH_OPS_SHAPEOPS_H

#include "dialects/graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dialects/graph/ops/ShapeOps.h.inc"

#endif // OPENATC_DIALECTS_GRAPH_OPS_SHAPEOPS_H
