//===-- Float32Nodes.cpp - nodes of the model that compute in f32 ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/Float32Nodes.h"

using namespace mlir;

namespace atc::graph {

StringRef nodeNameOf(Location loc) {
  if (auto fused = dyn_cast<FusedLoc>(loc); fused && !fused.getLocations().empty())
    return nodeNameOf(fused.getLocations().back());
  auto tensor = dyn_cast<NameLoc>(loc);
  if (!tensor)
    return {};
  auto node = dyn_cast<NameLoc>(tensor.getChildLoc());
  return (node ? node : tensor).getName().getValue();
}

NamedNodes::NamedNodes(Operation *op, StringRef attribute) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto list = module ? module->getAttrOfType<ArrayAttr>(attribute) : ArrayAttr();
  if (!list)
    return;
  given = true;
  for (auto name : list.getAsRange<StringAttr>())
    names.insert(name.getValue());
}

bool NamedNodes::contains(Operation *op) const {
  if (names.empty())
    return false;
  StringRef name = nodeNameOf(op->getLoc());
  if (name.empty() || names.contains(name))
    return !name.empty();
  // A pass that makes several ops of one adds ".suffix" to the tensor's name, which stands for
  // a node without a name.
  auto tensor = dyn_cast<NameLoc>(op->getLoc());
  if (!tensor || isa<NameLoc>(tensor.getChildLoc()))
    return false;
  for (size_t dot = name.rfind('.'); dot != StringRef::npos; dot = name.rfind('.')) {
    name = name.take_front(dot);
    if (names.contains(name))
      return true;
  }
  return false;
}

} // namespace atc::graph
