//===-- PlacementRules.h - nodes that a side of the machine has to run ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_RULES_PLACEMENTRULES_H
#define OPENATC_DRIVER_RULES_PLACEMENTRULES_H

#include "driver/rules/PrecisionRules.h"

namespace atc::driver {

/// Holds a statement of --op_placement, or of the search for a placement.
struct PlacementRule {
  std::string name;    ///< of a node, or of types of operators
  bool isType = false; ///< `name` is a type
  bool onCpu = false;  ///< otherwise on the NPU, where it has a program for the node
  /// "--op_placement (placement.cfg:3)", for messages; empty for names that need not be nodes.
  std::string origin;
};

/// The nodes of a model that rules name, sorted.
struct PlacedNodes {
  std::vector<std::string> cpu, npu;
};

/// Finds the nodes that rules are about. Rules about nodes outweigh those about types, later ones
/// earlier ones. A name that is not in the model is a warning (W11002).
PlacedNodes findPlacedNodes(const std::vector<ModelNode> &nodes,
                            const std::vector<PlacementRule> &rules, Diagnostics &diagnostics);

/// Lists the nodes on the module (graph::kHostNodesAttr, graph::kDeviceNodesAttr).
void markPlacedNodes(mlir::ModuleOp module, const PlacedNodes &placed);

/// Returns the rules by which the nodes of the CPU compute in f32, as a CPU does, with the nodes of
/// `module` that are views of their results.
std::vector<PrecisionRule> hostPrecision(mlir::ModuleOp module, const PlacedNodes &placed);

} // namespace atc::driver

#endif // OPENATC_DRIVER_RULES_PLACEMENTRULES_H
