//===-- TiledDims.h - which dims of graph ops can be computed in tiles ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_TILING_TILEDDIMS_H
#define OPENATC_DIALECTS_GRAPH_TILING_TILEDDIMS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"

#include <string>

#include "dialects/graph/tiling/TiledDims.h.inc"

namespace atc::graph {

/// Attributes of a module that was imported with a placeholder for the size of a dynamic
/// dim: the dim's name in the model, and the placeholder (i64). A dim of a tensor grows with
/// the dynamic one exactly where its size is a multiple of the placeholder.
inline constexpr llvm::StringLiteral kDynamicDimAttr = "graph.dynamic_dim";
inline constexpr llvm::StringLiteral kDynamicDimSizeAttr = "graph.dynamic_dim_size";

/// Reports whether a constant has the same elements in the share of each of the `count` indices
/// of dim `dim`, whose size is a multiple of `count`. False where the elements cannot be read.
bool hasEqualShares(mlir::ElementsAttr value, int64_t dim, int64_t count);

/// Adds TiledDimOpInterface to the ops of the graph dialect. Called by the dialect.
void attachTiledDims(mlir::MLIRContext &context);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_TILING_TILEDDIMS_H
