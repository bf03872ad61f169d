//===-- Collectives.h - what ranks exchange -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_COLLECTIVES_COLLECTIVES_H
#define OPENATC_DIALECTS_GRAPH_COLLECTIVES_COLLECTIVES_H

#include "dialects/graph/GraphDialect.h"

namespace atc::graph {

/// Marks the ops in which ranks meet.
template <typename ConcreteType>
class IsCollective : public mlir::OpTrait::TraitBase<ConcreteType, IsCollective> {};

/// Attributes of a module that is the program of one rank: its rank and the number of ranks (i64).
inline constexpr llvm::StringLiteral kRankAttr = "graph.rank";
inline constexpr llvm::StringLiteral kRankCountAttr = "graph.ranks";

/// Returns whether ranks meet in `op`.
inline bool isCollective(mlir::Operation *op) { return op->hasTrait<IsCollective>(); }

} // namespace atc::graph

#define GET_OP_CLASSES
#include "dialects/graph/collectives/CollectiveOps.h.inc"

namespace atc::graph {
/// Adds the ops to the graph dialect. Called by the dialect.
void registerCollectives(GraphDialect &dialect);
} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_COLLECTIVES_COLLECTIVES_H
