//===-- Offload.cpp - the optimizer's state stays on the host -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/Float32Nodes.h"
#include "passes/train/Functions.h"
#include "passes/train/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "llvm/ADT/SetVector.h"

#include <set>

namespace atc::train {
#define GEN_PASS_DEF_TRAINOFFLOAD
#include "passes/train/Passes.h.inc"
} // namespace atc::train

using namespace mlir;
using namespace atc;
using namespace atc::train;

namespace {

/// Adds names to a list on the module.
void addNames(Operation *module, StringRef attribute, std::set<std::string> names) {
  if (auto list = module->getAttrOfType<ArrayAttr>(attribute))
    for (auto name : list.getAsRange<StringAttr>())
      names.insert(name.str());
  SmallVector<Attribute> all;
  for (const std::string &name : names)
    all.push_back(StringAttr::get(module->getContext(), name));
  module->setAttr(attribute, ArrayAttr::get(module->getContext(), all));
}

class Offload : public train::impl::TrainOffloadBase<Offload> {
public:
  using TrainOffloadBase::TrainOffloadBase;
  void runOnOperation() override;

private:
  SmallVector<BlockArgument> findStates();
};

/// Returns the arguments with the state of the optimizer.
SmallVector<BlockArgument> Offload::findStates() {
  func::FuncOp main = getOperation();
  SmallVector<BlockArgument> found;
  auto pairs = main->getParentOp()->getAttrOfType<ArrayAttr>(kStatesAttr);
  if (!pairs)
    return found;
  for (auto pair : pairs.getAsRange<ArrayAttr>()) {
    const StringRef name = cast<StringAttr>(pair[0]).getValue();
    const std::optional<unsigned> index = findArgument(main, name);
    if (index && name != kLossScale && !main.getArgAttr(*index, kParameterAttr) &&
        !main.getArgAttr(*index, kStatisticAttr))
      found.push_back(main.getArgument(*index));
  }
  return found;
}

void Offload::runOnOperation() {
  const SmallVector<BlockArgument> states = findStates();
  if (states.empty())
    return;
  llvm::SetVector<Operation *> update;
  for (BlockArgument state : states)
    getForwardSlice(state, &update);
  // Names and no attributes on ops: rewrites keep locations and drop attributes.
  std::set<std::string> names;
  for (Operation *op : update)
    if (const StringRef name = graph::nodeNameOf(op->getLoc()); !name.empty())
      names.insert(name.str());
  Operation *module = getOperation()->getParentOp();
  addNames(module, graph::kHostNodesAttr, names);
  if (module->hasAttr(graph::kFloat32NodesAttr))
    addNames(module, graph::kFloat32NodesAttr, names);
  numStates += states.size();
}

} // namespace
