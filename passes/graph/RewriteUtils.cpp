//===-- RewriteUtils.cpp - small helpers of the graph passes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/RewriteUtils.h"

#include <algorithm>

using namespace mlir;
using namespace atc::graph;

Location atc::graph::derivedLoc(Location loc, StringRef suffix) {
  auto name = dyn_cast<NameLoc>(loc);
  if (!name)
    return loc;
  std::string text = (name.getName().getValue() + "." + suffix).str();
  return NameLoc::get(StringAttr::get(loc.getContext(), text), name.getChildLoc());
}

void atc::graph::rewriteToFixpoint(Operation *op, const FrozenRewritePatternSet &patterns) {
  // A round visits every op. Rewrites that follow one another along a chain, as transposes do that
  // sink through a network, may need a round for each of its layers: far more than the 10 rounds
  // that the driver has by default. The limit of visits keeps patterns that never end affordable.
  constexpr int64_t maxVisits = 20'000'000, minRounds = 10, maxRounds = 1000;
  int64_t numOps = 1;
  op->walk([&](Operation *) { ++numOps; });
  GreedyRewriteConfig config;
  config.setMaxIterations(std::clamp(maxVisits / numOps, minRounds, maxRounds));
  (void)applyPatternsGreedily(op, patterns, config);
}
