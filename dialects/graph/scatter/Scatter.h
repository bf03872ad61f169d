//===-- Scatter.h - sums by index and running sums ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_SCATTER_SCATTER_H
#define OPENATC_DIALECTS_GRAPH_SCATTER_SCATTER_H

#include "dialects/graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dialects/graph/scatter/ScatterOps.h.inc"

namespace atc::graph {
/// Adds the ops to the graph dialect. Called by the dialect.
void registerScatter(GraphDialect &dialect);
} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_SCATTER_SCATTER_H
