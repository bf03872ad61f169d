//===-- SelectBoxes.cpp - how much of a tensor the vector queue holds ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expansions choose boxes by a rule. Small boxes use all cores evenly, large ones have fewer
// latencies; which matters more depends on what else the queues wait for, which a simulation shows.

#include "passes/Choices.h"
#include "passes/npu/VectorPasses.h"
#include "passes/npu/vector/TileNest.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUSELECTBOXES
#include "passes/npu/VectorPasses.h.inc"

namespace {

struct SelectBoxesPass : impl::NpuSelectBoxesBase<SelectBoxesPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!usesChoices(function) || !function->hasAttr(om::kNpuKernelAttr) ||
        function.getBody().empty())
      return;
    Operation *op = &function.getBody().front().front();
    if (!isa<kernel::MapOp, kernel::CopyOp, kernel::PoolOp, kernel::ReduceOp, kernel::SoftmaxOp,
             ir::LayerNormOp>(op) ||
        op->hasAttr(kBoxAttr))
      return;
    SocTable soc = socOf(function);
    const std::string key =
        choiceKey(getArgument(), soc.name, identify(op, writeSocOfKernels(soc)));
    int64_t percent = 100;
    if (std::optional<StringRef> given = givenChoice(function, key))
      if (given->getAsInteger(10, percent) || percent < kMinPercent || percent > kMaxPercent) {
        reportUnfit(op, key, *given,
                    "it must be a percentage from " + Twine(kMinPercent) + " to " +
                        Twine(kMaxPercent));
        percent = 100;
      }
    SmallVector<std::string> proposals;
    if (wantedProposals(function))
      for (int64_t other : {25, 35, 50, 70, 140, 200, 280, 400})
        proposals.push_back(std::to_string(other));
    noteChoice(getArgument(), op->getLoc(), function, key, std::to_string(percent), proposals);
    if (percent != 100)
      op->setAttr(kBoxAttr, Builder(op->getContext()).getI64IntegerAttr(percent));
  }

private:
  static constexpr int64_t kMinPercent = 1, kMaxPercent = 10'000;
};

} // namespace
} // namespace atc::npu
