//===-- RegisterOps.h - adds families of ops to the dialect ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_OPS_REGISTEROPS_H
#define OPENATC_DIALECTS_GRAPH_OPS_REGISTEROPS_H

#include "dialects/graph/GraphDialect.h"

namespace atc::graph {

/// Adds the ops `Ops` to the dialect. Each family's source calls it for its own ops, which spreads
/// the code of their registration over as many sources.
template <typename... Ops> void registerOps(GraphDialect &dialect) {
  (mlir::RegisteredOperationName::insert<Ops>(dialect), ...);
}

// Add the ops of one family. Called by the dialect.
void registerBinaryOps(GraphDialect &dialect);
void registerConvOps(GraphDialect &dialect);
void registerHostOps(GraphDialect &dialect);
void registerImageOps(GraphDialect &dialect);
void registerQuantOps(GraphDialect &dialect);
void registerReduceOps(GraphDialect &dialect);
void registerShapeOps(GraphDialect &dialect);
void registerStructureOps(GraphDialect &dialect);
void registerUnaryOps(GraphDialect &dialect);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_OPS_REGISTEROPS_H
