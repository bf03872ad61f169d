//===-- ReuseInPlace.cpp - results take the place of dying operands -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/om/Passes.h"
#include "passes/om/Schedule.h"

using namespace mlir;

namespace atc::om {
#define GEN_PASS_DEF_OMREUSEINPLACE
#include "passes/om/Passes.h.inc"

namespace {

/// Fills write a buffer without reading any.
bool isFill(LaunchOp launch) { return launch.getOperands_().size() == 1; }

bool isSamePart(Value a, Value b) {
  return a.getType() == b.getType() && resolveViews(a).offset == resolveViews(b).offset;
}

struct Touches {
  SmallVector<LaunchOp> fills, writers;
};

struct ReuseInPlacePass : impl::OmReuseInPlaceBase<ReuseInPlacePass> {
  void runOnOperation() override {
    func::FuncOp main = findMain(getOperation());
    if (!main)
      return;
    // One replacement changes lifetimes, so that they are computed anew; chains
    // of elementwise launches end in one buffer.
    unsigned from = 0;
    while (reuseOnce(main, from))
      ++numReused;
  }

private:
  bool reuseOnce(func::FuncOp main, unsigned &from) {
    Schedule schedule(main);
    for (; from < schedule.launches().size(); ++from) {
      LaunchOp launch = schedule.launches()[from];
      for (int64_t position : launch.getInPlace().value_or(ArrayRef<int64_t>()))
        if (position < int64_t(readsOf(launch).size()) &&
            canTake(schedule, launch, from, readsOf(launch)[position])) {
          take(schedule, launch, from, readsOf(launch)[position]);
          return true;
        }
    }
    return false;
  }

  static Touches touchesBefore(const Schedule &schedule, AllocOp alloc, unsigned end) {
    Touches touches;
    for (LaunchOp launch : schedule.launches().take_front(end))
      if (resolveViews(writtenBy(launch)).root == alloc.getResult())
        (isFill(launch) ? touches.fills : touches.writers).push_back(launch);
    return touches;
  }

  /// Whether the result of `launch`, number `index`, may take `operand`'s
  /// buffer.
  static bool canTake(const Schedule &schedule, LaunchOp launch, unsigned index, Value operand) {
    Value result = writtenBy(launch);
    auto source = resolveViews(operand).root.getDefiningOp<AllocOp>();
    auto target = resolveViews(result).root.getDefiningOp<AllocOp>();
    if (!source || !target || source == target || source.getType() != target.getType() ||
        !isSamePart(operand, result))
      return false;
    if (schedule.lifetimes().lookup(source).last != index)
      return false;

    // Every other operand on that buffer must be read at the position that is
    // written, too.
    ArrayRef<int64_t> inPlace = *launch.getInPlace();
    for (auto [position, other] : llvm::enumerate(readsOf(launch)))
      if (resolveViews(other).root == source.getResult() &&
          !(llvm::is_contained(inPlace, int64_t(position)) && isSamePart(other, operand)))
        return false;

    // The target is new, but for fills, and the source had the same fills around
    // the same part.
    Touches old = touchesBefore(schedule, source, index);
    Touches fresh = touchesBefore(schedule, target, index);
    if (!fresh.writers.empty())
      return false;
    for (LaunchOp fill : fresh.fills)
      if (llvm::none_of(old.fills, [&](LaunchOp other) {
            return other.getKernel() == fill.getKernel() &&
                   isSamePart(writtenBy(other), writtenBy(fill));
          }))
        return false;
    if (fresh.fills.empty())
      return true;
    return llvm::all_of(old.writers,
                        [&](LaunchOp writer) { return isSamePart(writtenBy(writer), operand); });
  }

  void take(const Schedule &schedule, LaunchOp launch, unsigned &index, Value operand) {
    auto source = resolveViews(operand).root.getDefiningOp<AllocOp>();
    auto target = resolveViews(writtenBy(launch)).root.getDefiningOp<AllocOp>();
    for (LaunchOp fill : touchesBefore(schedule, target, index).fills) {
      eraseLaunch(fill);
      ++numFills;
      --index;
    }
    target.getResult().replaceAllUsesWith(source.getResult());
    target.erase();
  }
};
} // namespace
} // namespace atc::om
