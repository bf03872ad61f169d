//===-- ReuseInPlace.cpp - results reuse the buffers of dead operands ------===//
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

/// The writes of all launches so far to a buffer.
struct Touches {
  SmallVector<LaunchOp> fills;
  Value written;         ///< by the first launch that is no fill; null where there is none
  bool writesOne = true; ///< all launches except fills write the same part
};

struct ReuseInPlacePass : impl::OmReuseInPlaceBase<ReuseInPlacePass> {
  void runOnOperation() override {
    touches.clear();
    lastTouch.clear();
    func::FuncOp main = findMain(getOperation());
    if (!main)
      return;
    Schedule schedule(main);
    for (auto &[alloc, lifetime] : schedule.lifetimes())
      lastTouch[alloc] = lifetime.last;
    for (auto [index, launch] : llvm::enumerate(schedule.launches())) {
      // Chains of elementwise launches end in one buffer.
      while (reuseOnce(launch, index))
        ++numReused;
      record(launch);
    }
  }

private:
  bool reuseOnce(LaunchOp launch, unsigned index) {
    for (int64_t position : launch.getInPlace().value_or(ArrayRef<int64_t>()))
      if (position < int64_t(readsOf(launch).size()) &&
          canTake(launch, index, readsOf(launch)[position])) {
        take(launch, readsOf(launch)[position]);
        return true;
      }
    return false;
  }

  void record(LaunchOp launch) {
    Value target = writtenBy(launch);
    auto alloc = resolveViews(target).root.getDefiningOp<AllocOp>();
    if (!alloc)
      return;
    Touches &old = touches[alloc];
    if (isFill(launch))
      old.fills.push_back(launch);
    else if (!old.written)
      old.written = target;
    else
      old.writesOne &= isSamePart(old.written, target);
  }

  /// Returns whether the result of `launch`, number `index`, may use `operand`'s buffer.
  bool canTake(LaunchOp launch, unsigned index, Value operand) {
    Value result = writtenBy(launch);
    auto source = resolveViews(operand).root.getDefiningOp<AllocOp>();
    auto target = resolveViews(result).root.getDefiningOp<AllocOp>();
    if (!source || !target || source == target || source.getType() != target.getType() ||
        !isSamePart(operand, result))
      return false;
    if (lastTouch.lookup(source) != index)
      return false;

    // Every other operand on that buffer must be read at the position that is
    // written, too.
    ArrayRef<int64_t> inPlace = *launch.getInPlace();
    for (auto [position, other] : llvm::enumerate(readsOf(launch)))
      if (resolveViews(other).root == source.getResult() &&
          !(llvm::is_contained(inPlace, int64_t(position)) && isSamePart(other, operand)))
        return false;

    // The target is only written by fills, and the source had the same fills around the same part.
    touches.try_emplace(source);
    touches.try_emplace(target);
    const Touches &old = touches.find(source)->second, &fresh = touches.find(target)->second;
    if (fresh.written)
      return false;
    for (LaunchOp fill : fresh.fills)
      if (llvm::none_of(old.fills, [&](LaunchOp other) {
            return other.getKernel() == fill.getKernel() &&
                   isSamePart(writtenBy(other), writtenBy(fill));
          }))
        return false;
    return fresh.fills.empty() || !old.written ||
           (old.writesOne && isSamePart(old.written, operand));
  }

  void take(LaunchOp launch, Value operand) {
    auto source = resolveViews(operand).root.getDefiningOp<AllocOp>();
    auto target = resolveViews(writtenBy(launch)).root.getDefiningOp<AllocOp>();
    for (LaunchOp fill : touches[target].fills) {
      eraseLaunch(fill);
      ++numFills;
    }
    lastTouch[source] = lastTouch.lookup(target);
    touches.erase(target);
    lastTouch.erase(target);
    target.getResult().replaceAllUsesWith(source.getResult());
    target.erase();
  }

  /// The buffers that the launches so far have written.
  DenseMap<AllocOp, Touches> touches;
  /// The index of the last launch that uses each buffer.
  DenseMap<AllocOp, unsigned> lastTouch;
};
} // namespace
} // namespace atc::om
