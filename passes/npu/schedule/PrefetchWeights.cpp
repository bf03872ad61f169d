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

/// Finds how many bytes of a weight may be brought into L2 by a launch so that they and those
/// brought before are still there when they are used: L2 evicts what was used least recently, so
/// that all which launches touch meanwhile must fit beside them. No weight is begun with before
/// all but a share of L2 suffices for what passes until its use: that share is room for weights
/// that are brought later.
class LateRoom {
public:
  LateRoom(MutableArrayRef<om::LaunchOp> launches, ArrayRef<WeightNeed> needs, int64_t l2Bytes,
           double share)
      : launches(launches), needs(needs), capacity(int64_t(kFilled * double(l2Bytes))),
        maxPassing(int64_t((1 - share) * double(capacity))) {}

  /// Returns the bytes of need `next` that launch `index` may name; needs before `used` are used.
  int64_t at(unsigned index, size_t used, size_t next) {
    const WeightNeed &need = needs[next];
    llvm::erase_if(waiting, [&](const Waiting &w) { return w.need < used; });
    int64_t room = capacity;
    if (need.named == 0) {
      const int64_t bytes = passing(index, need.launch);
      if (bytes > maxPassing)
        return 0;
      room -= bytes + heldFrom(used, next, need.launch);
    }
    for (const Waiting &w : waiting)
      room = std::min(room, capacity - w.passing - heldFrom(used, next, needs[w.need].launch));
    return room;
  }

  /// Notes that launch `index` names bytes of need `next`.
  void note(unsigned index, size_t next) {
    if (waiting.empty() || waiting.back().need != next)
      waiting.push_back({next, passing(index, needs[next].launch)});
  }

private:
  static constexpr double kFilled = 0.9; ///< share of L2 that is counted on

  struct Waiting {
    size_t need;
    int64_t passing; ///< bytes that launches touch between the first one that names it and its use
  };

  /// Returns the bytes of needs up to `next` that wait and are not used before launch `use`.
  int64_t heldFrom(size_t used, size_t next, unsigned use) const {
    int64_t bytes = 0;
    for (size_t i = used; i <= next; ++i)
      bytes += needs[i].launch >= use ? needs[i].named : 0;
    return bytes;
  }

  /// Returns the different bytes that the launches [from, use) read and write.
  int64_t passing(unsigned from, unsigned use) {
    if (passingOf != use) {
      passingOf = use;
      passingFrom.assign(use + 1, 0);
      llvm::DenseSet<std::pair<Value, int64_t>> touched;
      for (unsigned index = use; index-- > 0;) {
        passingFrom[index] = passingFrom[index + 1];
        for (Value operand : launches[index].getOperands_()) {
          const om::BufferPart part = om::resolveViews(operand);
          if (touched.insert({part.root, part.offset}).second)
            passingFrom[index] += om::spanInBytes(cast<MemRefType>(operand.getType()));
        }
      }
    }
    return passingFrom[from];
  }

  MutableArrayRef<om::LaunchOp> launches;
  ArrayRef<WeightNeed> needs;
  int64_t capacity, maxPassing;
  SmallVector<Waiting> waiting;
  std::optional<unsigned> passingOf;
  std::vector<int64_t> passingFrom;
};

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
      prefetched = nameWeights(launches, onNpu, symbols, int64_t(soc.l2Bytes), choose(main));
    }
    numChained += chained;
    numPrefetched += prefetched;
    remarkAnalysis(getArgument(), main.getLoc(), "Prefetched") << remark::add(
        "{0} of {1} launches continue the task of the one before, and {2} weights or "
        "parts of weights are prefetched into L2",
        chained, launches.size(), prefetched);
  }

private:
  /// The share of the room in L2 that weights which wait may take.
  struct WaitingShare {
    double share;
    bool isLate = false; ///< they are named so late that they are still there when they are used
  };

  /// Returns the share that the table of choices has, else the option's.
  WaitingShare choose(func::FuncOp main) {
    WaitingShare chosen{share};
    if (!usesChoices(main))
      return chosen;
    const std::string key = keyOfWeights(main, getArgument());
    std::string noted = llvm::formatv("{0:f2}", share.getValue());
    if (std::optional<StringRef> given = givenChoice(main, key)) {
      StringRef number = *given;
      WaitingShare read{0, number.consume_front("late ")};
      if (number.getAsDouble(read.share) ||
          !(read.share >= 0 && read.share <= (read.isLate ? 1 : 4))) {
        reportUnfit(main, key, *given,
                    "it must be a share of L2 from 0 to 4, or 'late' and one from 0 to 1");
      } else {
        noted = given->str();
        chosen = read;
      }
    }
    SmallVector<std::string> proposals;
    if (wantedProposals(main))
      proposals = {"late 0.75", "late 0.80", "late 0.70", "late 0.85", "late 0.50", "0.00", "0.10",
                   "0.20",      "0.30",      "0.50",      "0.60",      "0.80",      "1.00", "1.50"};
    noteChoice(getArgument(), main.getLoc(), main, key, noted, proposals);
    return chosen;
  }

  static constexpr int64_t kSmallestPiece = 64 * 1024;
  static constexpr size_t kNear = 3; ///< launches whose data should be in L2 together

  /// Names the weights that launches prefetch; returns how many.
  unsigned nameWeights(MutableArrayRef<om::LaunchOp> launches, ArrayRef<bool> onNpu,
                       const SymbolTable &symbols, int64_t l2Bytes, WaitingShare waitingShare) {
    SmallVector<WeightNeed> needs = weightNeeds(launches, onNpu, symbols, l2Bytes);
    if (!needs.empty())
      defineWeightsFirst(*launches.front()->getBlock());
    std::optional<LateRoom> late;
    if (waitingShare.isLate)
      late.emplace(launches, needs, l2Bytes, waitingShare.share);
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
      int64_t room = int64_t(waitingShare.share * double(std::max(l2Bytes / 4, l2Bytes - busy)));
      while (next < needs.size() && needs[next].after <= index) {
        WeightNeed &need = needs[next];
        const int64_t left = late ? late->at(index, used, next) : room - waiting;
        if (left <= 0)
          break;
        int64_t bytes = std::min(need.bytes - need.named, left);
        bool all = bytes == need.bytes - need.named;
        if (!all && bytes < kSmallestPiece)
          break;
        if (late)
          late->note(index, next);
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
