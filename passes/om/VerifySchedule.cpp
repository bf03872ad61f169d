//===-- VerifySchedule.cpp - checks that the schedule can run -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/om/Passes.h"
#include "passes/om/Schedule.h"

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
    // All checks run, so that all faults are told in one go.
    bool failed = false;
    failed |= !checkOps(main);
    failed |= !checkOrder(main);
    failed |= !checkPlaces(main);
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
    main.walk([&](LaunchOp launch) {
      Operation *kernel = getOperation().lookupSymbol(launch.getKernel());
      bool npu = isNpuKernel(kernel);
      auto fault = [&] {
        ok = false;
        return launch.emitOpError();
      };
      if (launch.getOperands_().empty() || !(npu || (kernel && kernel->hasAttr(kCpuKernelAttr))))
        fault() << launch.getKernelAttr() << " is not a kernel that writes a buffer";
      if (!npu && (launch.getChained() || !launch.getPrefetch().empty()))
        fault() << "is chained or prefetches, but " << launch.getKernelAttr()
                << " is no program of the NPU";
      if (launch.getChained() && !afterNpu)
        fault() << "is chained, but no launch of the NPU stands before it";
      for (auto [position, weight] : llvm::enumerate(launch.getPrefetch()))
        if (!resolveViews(weight).root.getDefiningOp<WeightOp>())
          fault() << "prefetches buffer " << position << ", which is no weight";
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

  bool checkPlaces(func::FuncOp main) {
    bool ok = true;
    Schedule schedule(main);
    auto lives = schedule.lifetimes().getArrayRef();
    for (size_t i = 0; i < lives.size(); ++i) {
      auto [a, lifeA] = lives[i];
      if (!a.getOffset())
        continue;
      for (auto [b, lifeB] : lives.take_front(i)) {
        if (!b.getOffset() || !lifeA.overlaps(lifeB))
          continue;
        int64_t beginA = *a.getOffset(), beginB = *b.getOffset();
        if (beginA < beginB + arenaBytes(b) && beginB < beginA + arenaBytes(a)) {
          InFlightDiagnostic error = a.emitOpError()
                                     << "overlaps a buffer that lives at the same time";
          error.attachNote(b.getLoc()) << "the other one, at offset " << beginB;
          ok = false;
        }
      }
    }
    return ok;
  }
};
} // namespace
} // namespace atc::om
