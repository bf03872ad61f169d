//===-- VerifySchedule.cpp - checks that the schedule can run -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/om/Passes.h"
#include "passes/om/Schedule.h"

#include "mlir/IR/SymbolTable.h"
#include <map>
#include <queue>

using namespace mlir;

namespace atc::om {
#define GEN_PASS_DEF_OMVERIFYSCHEDULE
#include "passes/om/Passes.h.inc"

namespace {

struct VerifySchedulePass : impl::OmVerifyScheduleBase<VerifySchedulePass> {
  void runOnOperation() override {
    func::FuncOp main = findMain(getOperation());
    if (!main) {
      getOperation().emitError("the module has no function @main");
      return signalPassFailure();
    }
    // All checks run, so that all errors are reported at once.
    bool failed = false;
    failed |= !checkOps(main);
    failed |= !checkOrder(main);
    failed |= !checkPositions(main);
    if (failed)
      signalPassFailure();
  }

private:
  bool checkOps(func::FuncOp main) {
    bool ok = true, afterNpu = false;
    for (Operation &op : main.getBody().getOps()) {
      if (isa<AllocOp, LaunchOp, ViewOp, WeightOp, func::ReturnOp>(op))
        continue;
      op.emitOpError("does not belong into a schedule");
      ok = false;
    }
    SymbolTable symbols(getOperation());
    main.walk([&](LaunchOp launch) {
      Operation *kernel = symbols.lookup(launch.getKernel());
      bool npu = isNpuKernel(kernel);
      auto reportError = [&] {
        ok = false;
        return launch.emitOpError();
      };
      if (launch.getOperands_().empty() || !(npu || (kernel && kernel->hasAttr(kCpuKernelAttr))))
        reportError() << launch.getKernelAttr() << " is not a kernel that writes a buffer";
      if (!npu && (launch.getChained() || !launch.getPrefetch().empty()))
        reportError() << "is chained or prefetches, but " << launch.getKernelAttr()
                      << " is no program of the NPU";
      if (launch.getChained() && !afterNpu)
        reportError() << "is chained, but no launch of the NPU stands before it";
      for (auto [position, weight] : llvm::enumerate(launch.getPrefetch()))
        if (!resolveViews(weight).root.getDefiningOp<WeightOp>())
          reportError() << "prefetches buffer " << position << ", which is no weight";
      afterNpu = npu;
    });
    return ok;
  }

  bool checkOrder(func::FuncOp main) {
    bool ok = true;
    DenseSet<Value> written;
    main.walk([&](LaunchOp launch) {
      if (launch.getOperands_().empty())
        return;
      for (auto [position, operand] : llvm::enumerate(readsOf(launch))) {
        Value root = resolveViews(operand).root;
        if (written.contains(root) || root.getDefiningOp<WeightOp>() ||
            (isa<BlockArgument>(root) && !isOutput(root)))
          continue;
        launch.emitOpError() << "reads buffer " << position << ", which nothing has written";
        ok = false;
      }
      Value target = resolveViews(writtenBy(launch)).root;
      written.insert(target);
      if (target.getDefiningOp<AllocOp>() || isOutput(target))
        return;
      launch.emitOpError("writes a weight or an input");
      ok = false;
    });
    for (BlockArgument argument : main.getArguments())
      // There is nothing to write to an output without elements.
      if (isOutput(argument) && !written.contains(argument) &&
          cast<ShapedType>(argument.getType()).getNumElements() != 0) {
        main.emitOpError() << "output " << argument.getArgNumber() << " is not written";
        ok = false;
      }
    return ok;
  }

  bool checkPositions(func::FuncOp main) {
    bool ok = true;
    Schedule schedule(main);
    // The buffers that are live at this point by their offsets, and in the order of their ends.
    // Where they are disjoint, a new one can only overlap its neighbours.
    std::multimap<int64_t, AllocOp> live;
    using End = std::pair<unsigned, decltype(live)::iterator>;
    auto later = [](const End &a, const End &b) { return a.first > b.first; };
    std::priority_queue<End, std::vector<End>, decltype(later)> ends(later);
    auto check = [&](AllocOp a, AllocOp b) {
      int64_t beginA = *a.getOffset(), beginB = *b.getOffset();
      if (beginA >= beginB + arenaBytes(b) || beginB >= beginA + arenaBytes(a))
        return;
      InFlightDiagnostic error = a.emitOpError() << "overlaps a buffer that lives at the same time";
      error.attachNote(b.getLoc()) << "the other one, at offset " << beginB;
      ok = false;
    };
    for (auto [alloc, life] : schedule.lifetimes()) {
      if (!alloc.getOffset())
        continue;
      for (; !ends.empty() && ends.top().first < life.first; ends.pop())
        live.erase(ends.top().second);
      auto next = live.lower_bound(*alloc.getOffset());
      if (next != live.begin())
        check(alloc, std::prev(next)->second);
      if (next != live.end())
        check(alloc, next->second);
      ends.emplace(life.last, live.emplace(*alloc.getOffset(), alloc));
    }
    return ok;
  }
};
} // namespace
} // namespace atc::om
