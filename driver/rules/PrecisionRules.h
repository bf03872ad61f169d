//===-- PrecisionRules.h - element types of single nodes ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every flag and file that says how single nodes compute becomes rules; from them and the base
// of the target follows one list of nodes that compute in f32 (passes/graph/Float32Nodes.h).

#ifndef OPENATC_DRIVER_RULES_PRECISIONRULES_H
#define OPENATC_DRIVER_RULES_PRECISIONRULES_H

#include "frontends/ModelNodes.h"
#include "mlir/IR/BuiltinOps.h"
#include "support/Diagnostics.h"

#include <string>
#include <vector>

namespace atc::driver {

/// The precision of nodes for which no rule is given.
enum class PrecisionBase {
  Float16,      ///< all in f16
  Contractions, ///< convolutions and matrix products in f16, the rest in f32
  Float32,      ///< all as the model says
  Mixed         ///< f16, but sensitive operators in f32, and others as those in front of them
};

enum class NodePrecision {
  Float32,
  Precise, ///< f32, unless it is a contraction: these accumulate in f32 anyway
  Float16,
  Follow ///< f32 where an operand was computed in f32
};

/// Names of all types of operators, and of those that f16 loses much in.
inline constexpr llvm::StringLiteral kAllTypes = "*", kSensitiveTypes = "*sensitive";

/// Holds a statement of a flag or a file.
struct PrecisionRule {
  std::string name;    ///< of a node, or of types of operators
  bool isType = false; ///< `name` is a type
  NodePrecision precision = NodePrecision::Float32;
  std::string origin; ///< "--keep_dtype (keep.txt:3)", for messages
};

/// Lists the names of `nodes` that compute in f32 on the module. Rules about nodes outweigh those
/// about types, later ones earlier ones. A name that is not in the model is a warning. An f16
/// rule on a base of Float32 with `hasHalf` false (a CPU) is an error, and returns false.
bool applyPrecisionRules(mlir::ModuleOp module, const std::vector<ModelNode> &nodes,
                         const std::vector<PrecisionRule> &rules, PrecisionBase base, bool hasHalf,
                         Diagnostics &diagnostics);

/// Returns the ops of @main as nodes, for models that are modules already.
std::vector<ModelNode> listModuleNodes(mlir::ModuleOp module);

} // namespace atc::driver

#endif // OPENATC_DRIVER_RULES_PRECISIONRULES_H
