//===-- PrecisionRules.cpp - element types of single nodes ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/rules/PrecisionRules.h"

#include "frontends/AscendTypes.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/om/Schedule.h"
#include "support/NearestName.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace atc::driver {

namespace {

/// Returns how a node of a type computes without rules.
NodePrecision basePrecision(PrecisionBase base, StringRef type) {
  switch (base) {
  case PrecisionBase::Float16:
    return NodePrecision::Float16;
  case PrecisionBase::Contractions:
    return NodePrecision::Precise;
  case PrecisionBase::Float32:
    return NodePrecision::Float32;
  case PrecisionBase::Mixed:
    return isContractionType(type) ? NodePrecision::Float16
           : isSensitiveType(type) ? NodePrecision::Float32
                                   : NodePrecision::Follow;
  }
  return NodePrecision::Float16;
}

/// Computes the list of one model.
class RuleResolver {
public:
  RuleResolver(ArrayRef<ModelNode> nodes, ArrayRef<PrecisionRule> rules, PrecisionBase base,
               Diagnostics &diagnostics)
      : nodes(nodes), rules(rules), diagnostics(diagnostics) {
    for (const ModelNode &node : nodes)
      choices[node.name] = basePrecision(base, node.type);
  }

  void run() {
    for (bool isType : {true, false})
      for (const PrecisionRule &rule : rules)
        if (rule.isType == isType && !apply(rule))
          reportUnknown(rule);
    for (const ModelNode &node : nodes)
      if (NodePrecision &choice = choices[node.name]; choice == NodePrecision::Precise)
        choice = isContractionType(node.type) ? NodePrecision::Float16 : NodePrecision::Float32;
  }

  /// Returns the names of the nodes that compute in f32, sorted.
  std::vector<std::string> listFloat32(func::FuncOp main) {
    if (main)
      for (Operation &op : main.getOps())
        follow(op);
    std::vector<std::string> names;
    for (const auto &entry : choices)
      if (entry.second == NodePrecision::Float32 && !entry.getKey().empty())
        names.push_back(entry.getKey().str());
    llvm::sort(names);
    return names;
  }

private:
  bool apply(const PrecisionRule &rule) {
    bool isFound = false;
    for (const ModelNode &node : nodes)
      if (rule.isType ? isOfType(node, rule.name) : node.isCalled(rule.name)) {
        choices[node.name] = rule.precision;
        isFound = true;
      }
    return isFound || rule.name == kAllTypes || rule.name == kSensitiveTypes;
  }

  static bool isOfType(const ModelNode &node, StringRef types) {
    if (types == kSensitiveTypes)
      return isSensitiveType(node.type);
    return types == kAllTypes || isOperatorType(types, node.type);
  }

  void reportUnknown(const PrecisionRule &rule) {
    // A list of operators serves many models: those of other models are no mistake.
    if (rule.isType && isAscendType(rule.name))
      return;
    std::vector<std::string> names;
    for (const ModelNode &node : nodes)
      names.push_back(rule.isType ? node.type : node.name);
    diagnostics.warning("W11002", rule.origin + ": the model has no " +
                                      (rule.isType ? "operator of type '" : "node '") + rule.name +
                                      "'" + didYouMean(rule.name, names));
  }

  void follow(Operation &op) {
    auto choice = choices.find(graph::nodeNameOf(op.getLoc()));
    if (choice == choices.end() || choice->second != NodePrecision::Follow)
      return;
    for (Value operand : op.getOperands())
      if (Operation *source = operand.getDefiningOp())
        if (auto found = choices.find(graph::nodeNameOf(source->getLoc()));
            found != choices.end() && found->second == NodePrecision::Float32)
          choice->second = NodePrecision::Float32;
  }

  ArrayRef<ModelNode> nodes;
  ArrayRef<PrecisionRule> rules;
  Diagnostics &diagnostics;
  llvm::StringMap<NodePrecision> choices;
};

bool checkHalf(ArrayRef<PrecisionRule> rules, Diagnostics &diagnostics) {
  const unsigned before = diagnostics.numErrors();
  for (const PrecisionRule &rule : rules)
    if (rule.precision == NodePrecision::Float16)
      diagnostics.error("E10055", rule.origin + ": '" + rule.name +
                                      "' cannot compute in f16 on a CPU, which computes in the "
                                      "types of the model: leave it out, or compile for an NPU "
                                      "with --soc_version");
  return diagnostics.numErrors() == before;
}

} // namespace

bool applyPrecisionRules(ModuleOp module, const std::vector<ModelNode> &nodes,
                         const std::vector<PrecisionRule> &rules, PrecisionBase base, bool hasHalf,
                         Diagnostics &diagnostics) {
  if (!hasHalf && !checkHalf(rules, diagnostics))
    return false;
  RuleResolver resolver(nodes, rules, base, diagnostics);
  resolver.run();
  // A CPU computes in f32 already.
  if (!hasHalf)
    return true;
  SmallVector<Attribute> names;
  for (const std::string &name : resolver.listFloat32(om::findMain(module)))
    names.push_back(StringAttr::get(module.getContext(), name));
  module->setAttr(graph::kFloat32NodesAttr, ArrayAttr::get(module.getContext(), names));
  return true;
}

std::vector<ModelNode> listModuleNodes(ModuleOp module) {
  std::vector<ModelNode> nodes;
  if (func::FuncOp main = om::findMain(module))
    main.walk([&](Operation *op) {
      if (StringRef name = graph::nodeNameOf(op->getLoc()); !name.empty())
        nodes.push_back({name.str(), op->getName().stripDialect().str()});
    });
  return nodes;
}

} // namespace atc::driver
