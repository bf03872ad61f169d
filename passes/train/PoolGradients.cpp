//===-- PoolGradients.cpp - gradients of pools ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ConvOps.h"
#include "passes/train/Gradients.h"
#include "passes/train/Windows.h"

#include <limits>

using namespace mlir;
using namespace atc::graph;

namespace atc::train {

/// The gradient goes to the first of the elements that are the maximum of their window.
static void maxPool(MaxPoolOp op, OpGradient &g) {
  Windows windows = windowsOf(op, op.getInput(), op.getResult(), op.getKernel());
  SmallVector<Value> shares;
  Value rest = channelsLast(g, g.result), maximum = channelsLast(g, op.getResult());
  Value zero = g.scalar(g.result, 0);
  const auto elements =
      windows.gather(g, channelsLast(g, op.getInput()), -std::numeric_limits<double>::infinity());
  for (auto [index, element] : llvm::enumerate(elements)) {
    Value isMaximum = g.compare(element, ComparePredicate::Eq, maximum);
    shares.push_back(g.select(isMaximum, rest, zero));
    if (index + 1 < elements.size())
      rest = g.select(isMaximum, zero, rest);
  }
  g.give(0, channelsFirst(g, windows.scatter(g, shares)));
}

static void averagePool(AveragePoolOp op, OpGradient &g) {
  Windows windows = windowsOf(op, op.getInput(), op.getResult(), op.getKernel());
  Value share =
      g.div(channelsLast(g, g.result), windows.counts(g, g.result, op.getCountIncludePad()));
  g.give(0, channelsFirst(g, windows.scatter(g, SmallVector<Value>(windows.size(), share))));
}

void addPoolGradients(GradientRules &rules) {
  rules.add<MaxPoolOp>(maxPool);
  rules.add<AveragePoolOp>(averagePool);
}

} // namespace atc::train
