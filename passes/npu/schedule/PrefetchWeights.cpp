//===-- PrefetchWeights.cpp - forms tasks and prefetches weights -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A network whose weights are read once is bound by DDR: neither may DDR wait for the cube, nor the
// cube for DDR. The order in which weights are used is known, so they are prefetched in that order,
// as far ahead as L2 has room.

#include "passes/Choices.h"
#include "passes/Remarks.h"
#include "passes/npu/Passes.h"
#include "passes/npu/program/ProgramWriter.h"
#include "passes/npu/schedule/WeightNeeds.h"
#include "passes/om/Schedule.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUPREFETCHWEIGHTS
#include "passes/npu/Passes.h.inc"

namespace {

struct PrefetchWeightsPass : impl::NpuPrefetchWeightsBase<PrefetchWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp main = getOperation();
    auto module = main->getParentOfType<ModuleOp>();
    if (main.getSymName() != "main" || main.isExternal() || !module)
      return;
    SmallVector<om::LaunchOp> launches(main.getOps<om::LaunchOp>());
    SymbolTable symbols(module);
    SmallVector<bool> onNpu;
    for (om::LaunchOp launch : launches)
      onNpu.push_back(om::isNpuKernel(symbols.lookup(launch.getKernel())));
    unsigned chained = 0, prefetched = 0;
    if (chain)
      for (size_t i = 1; i < launches.size(); ++i)
        if (onNpu[i] && onNpu[i - 1]) {
          launches[i].setChained(true);
          ++chained;
        }
    // Nothing is to be chosen where the SoC cannot prefetch.
    if (SocTable soc = socOf(main); prefetch && soc.l2Prefetch) {
      usedShare = choose(main);
      prefetched = nameWeights(launches, onNpu, symbols, int64_t(soc.l2Bytes));
    }
    numChained += chained;
    numPrefetched += prefetched;
    remarkAnalysis(getArgument(), main.getLoc(), "Prefetched") << remark::add(
        "{0} of {1} launches continue the task of the one before, and {2} weights or "
        "parts of weights are prefetched into L2",
        chained, launches.size(), prefetched);
  }

private:
  double usedShare = 0; ///< of the room in L2 that weights which wait may take

  /// Returns the share that the table of choices has, else the option's.
  double choose(func::FuncOp main) {
    if (!usesChoices(main))
      return share;
    const std::string key = keyOfWeights(main, getArgument());
    double chosen = share;
    std::string noted = llvm::formatv("{0:f2}", share.getValue());
    if (std::optional<StringRef> given = givenChoice(main, key)) {
      if (given->getAsDouble(chosen) || !(chosen >= 0 && chosen <= 4)) {
        reportUnfit(main, key, *given, "it must be a share of L2 from 0 to 4");
        chosen = share;
      } else {
        noted = given->str();
      }
    }
    SmallVector<std::string> proposals;
    if (wantedProposals(main))
      proposals = {"0.00", "0.10", "0.20", "0.30", "0.50", "0.60", "0.80", "1.00", "1.50"};
    noteChoice(getArgument(), main.getLoc(), main, key, noted, proposals);
    return chosen;
  }

  static constexpr int64_t kSmallestPiece = 64 * 1024;
  static constexpr size_t kNear = 3; ///< launches whose data should be in L2 together

  /// Names the weights that launches prefetch; returns how many.
  unsigned nameWeights(MutableArrayRef<om::LaunchOp> launches, ArrayRef<bool> onNpu,
                       const SymbolTable &symbols, int64_t l2Bytes) {
    SmallVector<WeightNeed> needs = weightNeeds(launches, onNpu, symbols, l2Bytes);
    if (!needs.empty())
      defineWeightsFirst(*launches.front()->getBlock());
    size_t next = 0, used = 0;
    unsigned count = 0;
    int64_t waiting = 0; ///< bytes in L2 that no launch has used yet
    for (unsigned index = 0; index < launches.size(); ++index) {
      for (; used < needs.size() && needs[used].launch <= index; ++used)
        waiting -= std::exchange(needs[used].named, 0);
      next = std::max(next, used);
      if (!onNpu[index])
        continue;
      SmallVector<Value> names;
      // The operands of these launches have precedence over those of later ones.
      int64_t busy = bytesOfActivations(launches.drop_front(index).take_front(kNear));
      int64_t room = int64_t(usedShare * double(std::max(l2Bytes / 4, l2Bytes - busy)));
      while (next < needs.size() && waiting < room && needs[next].after <= index) {
        WeightNeed &need = needs[next];
        int64_t bytes = std::min(need.bytes - need.named, room - waiting);
        bool all = bytes == need.bytes - need.named;
        if (!all && bytes < kSmallestPiece)
          break;
        names.push_back(takePiece(launches[index], need, bytes));
        waiting += bytes;
        if (!all)
          break;
        ++next;
      }
      launches[index].getPrefetchMutable().append(names);
      count += names.size();
    }
    return count;
  }
};
} // namespace
} // namespace atc::npu
