//===-- Float32Nodes.h - nodes of the model that compute in f32 -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A user can ask that single nodes compute in f32 where the target would take f16. The module
// then has the attribute `graph.float32_nodes`, a list of names. It is a list on the module and
// not an attribute on ops because rewrites keep locations and drop attributes.

#ifndef OPENATC_PASSES_GRAPH_FLOAT32NODES_H
#define OPENATC_PASSES_GRAPH_FLOAT32NODES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace atc::graph {

inline constexpr llvm::StringLiteral kFloat32NodesAttr = "graph.float32_nodes";

/// Returns the name of the node that an op was imported from, by its location
/// NameLoc(tensor, NameLoc(node)): the node's name, or the tensor's where the node has none.
/// In a fused location the last part counts. Empty for other locations.
llvm::StringRef nodeNameOf(mlir::Location loc);

/// The nodes that a module lists.
class Float32Nodes {
public:
  /// Reads the attribute of the module that `op` is in, or is.
  explicit Float32Nodes(mlir::Operation *op);

  /// Returns whether the module has a list, which may be empty: every other node is f16 then.
  bool isGiven() const { return given; }
  bool hasNodes() const { return !names.empty(); }
  /// Returns whether an op is part of a listed node.
  bool contains(mlir::Operation *op) const;
  /// Returns whether one op may compute what both do: both are f32, or neither is.
  bool mayJoin(mlir::Operation *a, mlir::Operation *b) const {
    return names.empty() || contains(a) == contains(b);
  }

private:
  bool given = false;
  llvm::StringSet<> names;
};

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_FLOAT32NODES_H
