//===-- PlacementRules.cpp - nodes that a side of the machine has to run --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/rules/PlacementRules.h"

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "frontends/AscendTypes.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/om/Schedule.h"
#include "support/NearestName.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace atc::driver {

PlacedNodes findPlacedNodes(const std::vector<ModelNode> &nodes,
                            const std::vector<PlacementRule> &rules, Diagnostics &diagnostics) {
  llvm::StringMap<bool> onCpu;
  for (bool isType : {true, false})
    for (const PlacementRule &rule : rules) {
      if (rule.isType != isType)
        continue;
      bool isFound = false;
      std::vector<std::string> names;
      for (const ModelNode &node : nodes) {
        names.push_back(isType ? node.type : node.name);
        if (isType ? !isOperatorType(rule.name, node.type) : !node.isCalled(rule.name))
          continue;
        onCpu[node.name] = rule.onCpu;
        isFound = true;
      }
      if (!isFound && !rule.origin.empty())
        diagnostics.warning("W11002", rule.origin + ": the model has no " +
                                          (isType ? "operator of type '" : "node '") + rule.name +
                                          "'" + didYouMean(rule.name, names));
    }
  PlacedNodes placed;
  for (const auto &entry : onCpu)
    (entry.second ? placed.cpu : placed.npu).push_back(entry.getKey().str());
  llvm::sort(placed.cpu);
  llvm::sort(placed.npu);
  return placed;
}

void markPlacedNodes(ModuleOp module, const PlacedNodes &placed) {
  auto mark = [&](StringRef attribute, ArrayRef<std::string> nodes) {
    SmallVector<Attribute> names;
    for (const std::string &name : nodes)
      names.push_back(StringAttr::get(module.getContext(), name));
    if (!names.empty())
      module->setAttr(attribute, ArrayAttr::get(module.getContext(), names));
  };
  mark(graph::kHostNodesAttr, placed.cpu);
  mark(graph::kDeviceNodesAttr, placed.npu);
}

std::vector<PrecisionRule> hostPrecision(ModuleOp module, const PlacedNodes &placed) {
  std::vector<PrecisionRule> rules;
  llvm::StringSet<> known;
  auto add = [&](StringRef name) {
    if (known.insert(name).second)
      rules.push_back({name.str(), /*isType=*/false, NodePrecision::Float32, "--op_placement"});
  };
  for (const std::string &name : placed.cpu)
    add(name);
  // A view of what the CPU computes costs nothing there; in f16 it would be two conversions, which
  // are kernels of the NPU.
  if (func::FuncOp main = om::findMain(module))
    for (auto view : main.getOps<graph::ReshapeOp>()) {
      Operation *source = view->getOperand(0).getDefiningOp();
      if (source &&
          (isa<graph::HostCallOp>(source) || known.contains(graph::nodeNameOf(source->getLoc()))))
        add(graph::nodeNameOf(view.getLoc()));
    }
  return rules;
}

} // namespace atc::driver
