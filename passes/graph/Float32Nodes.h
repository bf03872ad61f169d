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

/// Nodes of the model that the CPU has to run in a model for an NPU, in the same form: a list on
/// the module. User and search may set it (driver/rules/PlacementRules.h).
inline constexpr llvm::StringLiteral kHostNodesAttr = "graph.host_nodes";
/// Nodes that a user wants on the NPU.
inline constexpr llvm::StringLiteral kDeviceNodesAttr = "graph.device_nodes";

/// Holds the nodes that a module lists.
class NamedNodes {
public:
  /// Reads the attribute `list` of the module that `op` is in, or is.
  NamedNodes(mlir::Operation *op, llvm::StringRef list);

  /// Returns whether the module has a list, which may be empty: every other node is f16 then.
  bool isGiven() const { return given; }
  bool hasNodes() const { return !names.empty(); }
  /// Returns whether an op is part of a listed node.
  bool contains(mlir::Operation *op) const;
  /// Returns whether one op may compute what both do: both are listed, or neither is.
  bool mayJoin(mlir::Operation *a, mlir::Operation *b) const {
    return names.empty() || contains(a) == contains(b);
  }

private:
  bool given = false;
  llvm::StringSet<> names;
};

/// Holds the nodes that compute in f32.
struct Float32Nodes : NamedNodes {
  explicit Float32Nodes(mlir::Operation *op) : NamedNodes(op, kFloat32NodesAttr) {}
};

/// Holds the nodes that the CPU has to run.
struct HostNodes : NamedNodes {
  explicit HostNodes(mlir::Operation *op) : NamedNodes(op, kHostNodesAttr) {}
};

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_FLOAT32NODES_H
