//===-- RewriteUtils.cpp - small helpers of the graph passes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/RewriteUtils.h"

using namespace mlir;
using namespace atc::graph;

Location atc::graph::derivedLoc(Location loc, StringRef suffix) {
  auto name = dyn_cast<NameLoc>(loc);
  if (!name)
    return loc;
  std::string text = (name.getName().getValue() + "." + suffix).str();
  return NameLoc::get(StringAttr::get(loc.getContext(), text), name.getChildLoc());
}
