//===-- RemoveDead.cpp - removes launches that nobody needs ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/npu/Npu.h"
#include "passes/om/Passes.h"
#include "passes/om/Schedule.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace atc::om {
#define GEN_PASS_DEF_OMREMOVEDEAD
#include "passes/om/Passes.h.inc"

namespace {

struct RemoveDeadPass : impl::OmRemoveDeadBase<RemoveDeadPass> {
  void runOnOperation() override {
    func::FuncOp main = findMain(getOperation());
    if (!main)
      return;
    removeLaunches(main);
    removePrefetches(main);
    removeBuffers(main);
    removeKernels();
  }

private:
  void removeLaunches(func::FuncOp main) {
    // Backwards: a buffer that a remaining launch reads is needed before it. The fill of a border
    // is needed because the whole buffer is read later.
    DenseSet<Value> needed;
    Schedule schedule(main);
    for (LaunchOp launch : llvm::reverse(schedule.launches())) {
      Value target = resolveViews(writtenBy(launch)).root;
      if (!isa<BlockArgument>(target) && !needed.contains(target)) {
        eraseLaunch(launch);
        ++numLaunches;
        continue;
      }
      for (Value operand : readsOf(launch))
        needed.insert(resolveViews(operand).root);
    }
  }

  /// Removes prefetches of weights that no launch reads any more.
  void removePrefetches(func::FuncOp main) {
    DenseSet<Value> read;
    Schedule schedule(main);
    for (LaunchOp launch : schedule.launches())
      for (Value operand : readsOf(launch))
        read.insert(resolveViews(operand).root);
    for (LaunchOp launch : schedule.launches())
      for (unsigned i = launch.getPrefetch().size(); i-- > 0;)
        if (!read.contains(resolveViews(launch.getPrefetch()[i]).root)) {
          launch.getPrefetchMutable().erase(i);
          ++numPrefetches;
        }
  }

  void removeBuffers(func::FuncOp main) {
    SmallVector<Operation *> buffers;
    main.walk([&](Operation *op) {
      if (isa<AllocOp, ViewOp, WeightOp>(op))
        buffers.push_back(op);
    });
    for (Operation *op : llvm::reverse(buffers))
      if (op->use_empty())
        op->erase();
  }

  void removeKernels() {
    SymbolTable symbols(getOperation());
    DenseSet<StringAttr> launched;
    getOperation().walk(
        [&](LaunchOp launch) { launched.insert(launch.getKernelAttr().getAttr()); });
    for (Operation &op : llvm::make_early_inc_range(*getOperation().getBody())) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (!(function && function.isPrivate()) && !isa<npu::ir::ProgramOp>(op))
        continue;
      if (launched.contains(SymbolTable::getSymbolName(&op)))
        continue;
      symbols.erase(&op);
      ++numKernels;
    }
  }
};
} // namespace
} // namespace atc::om
