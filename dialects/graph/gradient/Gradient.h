//===-- Gradient.h - the gradient of a part of a graph --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_GRADIENT_GRADIENT_H
#define OPENATC_DIALECTS_GRAPH_GRADIENT_GRADIENT_H

#include "dialects/graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dialects/graph/gradient/GradientOps.h.inc"

namespace atc::graph {
/// Adds the op to the graph dialect. Called by the dialect.
void registerGradient(GraphDialect &dialect);
} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_GRADIENT_GRADIENT_H
