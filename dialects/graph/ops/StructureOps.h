//===-- StructureOps.h - constants, layout, maps --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_OPS_STRUCTUREOPS_H
#define OPENATC_DIALECTS_GRAPH_OPS_STRUCTUREOPS_H

#include "dialects/graph/GraphDialect.h"

namespace atc::graph {
// Parents of graph.yield.
class IntegerConvOp;
class IntegerFullyConnectedOp;
} // namespace atc::graph

#define GET_OP_CLASSES
#include "dialects/graph/ops/StructureOps.h.inc"

namespace atc::graph {

/// Returns whether a value, which may be null, is a constant of the graph.
inline bool isConstant(mlir::Value value) { return value && value.getDefiningOp<ConstantOp>(); }

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_OPS_STRUCTUREOPS_H
