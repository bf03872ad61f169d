//===-- WinogradForms.cpp - the forms of a 3x3 convolution ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/pack/WinogradForms.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace atc::cpu {

WinogradForms findWinogradForms(const WinogradSizes &sizes, const DirectFilter &filter,
                                double maxError, std::optional<int64_t> given) {
  WinogradForms result;
  result.isGiven = given.has_value();
  const double direct = sizes.directCost();
  result.options.push_back({std::nullopt, direct});
  double bestCost = WinogradSizes::kMaxCost * direct;
  for (int64_t points : {16, 36}) {
    const Winograd form = *Winograd::ofPoints(points);
    const double cost = sizes.cost(form);
    if (given ? *given != points : cost >= bestCost)
      continue;
    const double error = estimateWinogradError(filter, form);
    if (error > maxError) {
      result.inexact += llvm::formatv(
          "; the estimated error of tiles of {0}x{0} is {1:E} of the range", form.outputs, error);
      continue;
    }
    result.chosen = result.options.size();
    result.options.push_back(
        {form, cost, error,
         int64_t(sizeof(float)) * (points - 9) * sizes.channels * sizes.outputs});
    bestCost = cost;
  }
  return result;
}

void limitWinogradGrowth(ArrayRef<WinogradForms *> convolutions, double limit) {
  int64_t growth = 0;
  for (const WinogradForms *forms : convolutions)
    growth += forms->option().growth;
  while (growth > limit) {
    WinogradForms *best = nullptr;
    size_t bestOption = 0;
    double bestLoss = 0;
    for (WinogradForms *forms : convolutions) {
      const WinogradOption &now = forms->option();
      for (size_t i = 0; i < forms->chosen && !forms->isGiven; ++i) {
        const WinogradOption &other = forms->options[i];
        const double loss = (other.cost - now.cost) / (now.growth - other.growth);
        if (best && loss >= bestLoss)
          continue;
        best = forms;
        bestOption = i;
        bestLoss = loss;
      }
    }
    if (!best)
      return;
    growth -= best->option().growth - best->options[bestOption].growth;
    best->chosen = bestOption;
    best->isLimited = true;
  }
}

} // namespace atc::cpu
