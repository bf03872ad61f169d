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
#include "passes/npu/schedule/BatchParts.h"
#include "passes/npu/vector/TileNest.h"
#include "passes/om/Schedule.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUPREFETCHWEIGHTS
#include "passes/npu/Passes.h.inc"

namespace {

/// A weight that L2 does not hold when a launch needs it.
struct Need {
  Value weight;
  unsigned launch;
  unsigned after;           ///< the first launch that may name it
  int64_t bytes, named = 0; ///< bytes that launches have named so far
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
      usedShare = choose(main, soc, launches);
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

  /// Returns the share that the table of choices has, else the option's. The key does not depend on
  /// groups of layers: all of them use the weights in this order.
  double choose(func::FuncOp main, const SocTable &table, ArrayRef<om::LaunchOp> launches) {
    if (!usesChoices(main))
      return share;
    std::string text = writeSoc(table);
    llvm::raw_string_ostream os(text);
    llvm::DenseSet<Value> weights;
    for (om::LaunchOp launch : launches)
      for (Value operand : launch->getOperands())
        if (Value root = om::resolveViews(operand).root;
            root.getDefiningOp<om::WeightOp>() && weights.insert(root).second)
          os << root.getType();
    SmallVector<Type> types(main.getArgumentTypes());
    const std::string key = choiceKey(getArgument(), table.name, identify("main", types, text));
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

  /// Returns the weight of which a launch reads only the rows that its indices name; null for other
  /// launches.
  static Value tableOf(om::LaunchOp launch, const SymbolTable &symbols) {
    auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
    auto gather = kernel ? kernelOpOf<kernel::GatherOp>(kernel) : kernel::GatherOp();
    auto table = gather ? dyn_cast<BlockArgument>(gather.getInput()) : BlockArgument();
    return table ? om::resolveViews(launch.getOperands_()[table.getArgNumber()]).root : Value();
  }

  static SmallVector<Need> needsOf(MutableArrayRef<om::LaunchOp> launches, ArrayRef<bool> onNpu,
                                   const SymbolTable &symbols, int64_t l2Bytes) {
    SmallVector<Need> needs;
    llvm::DenseMap<Value, unsigned> lastUse;
    for (auto [index, launch] : llvm::enumerate(launches)) {
      const Value table = tableOf(launch, symbols);
      for (Value operand : launch.getOperands_()) {
        Value root = om::resolveViews(operand).root;
        if (!onNpu[index] || !root.getDefiningOp<om::WeightOp>() || root == table)
          continue;
        auto [last, isNew] = lastUse.try_emplace(root, index);
        if (isNew)
          needs.push_back({root, unsigned(index), 0, bytesOf(root)});
        else if (std::optional<unsigned> after =
                     lostBefore(launches, last->second + 1, index, l2Bytes))
          needs.push_back({root, unsigned(index), *after, bytesOf(root)});
        last->second = index;
      }
    }
    return needs;
  }

  static int64_t bytesOfActivations(MutableArrayRef<om::LaunchOp> launches) {
    llvm::DenseSet<std::pair<Value, int64_t>> touched;
    int64_t bytes = 0;
    for (om::LaunchOp launch : launches)
      for (Value operand : launch.getOperands_()) {
        om::BufferPart part = om::resolveViews(operand);
        if (!part.root.getDefiningOp<om::WeightOp>() &&
            touched.insert({part.root, part.offset}).second)
          bytes += om::spanInBytes(cast<MemRefType>(operand.getType()));
      }
    return bytes;
  }

  /// If the launches [begin, end) touch more than L2 holds: the one from which on
  /// what is brought will not be lost again until `end`.
  static std::optional<unsigned> lostBefore(MutableArrayRef<om::LaunchOp> launches, unsigned begin,
                                            unsigned end, int64_t l2Bytes) {
    llvm::DenseSet<std::pair<Value, int64_t>> touched;
    int64_t bytes = 0;
    unsigned after = end - 1;
    for (unsigned index = end; index-- > begin;) {
      for (Value operand : launches[index].getOperands_()) {
        om::BufferPart part = om::resolveViews(operand);
        if (touched.insert({part.root, part.offset}).second)
          bytes += om::spanInBytes(cast<MemRefType>(operand.getType()));
      }
      if (bytes > l2Bytes)
        return after;
      if (bytes < l2Bytes / 2)
        after = index;
    }
    return std::nullopt;
  }

  /// Names the weights that launches prefetch; returns how many.
  unsigned nameWeights(MutableArrayRef<om::LaunchOp> launches, ArrayRef<bool> onNpu,
                       const SymbolTable &symbols, int64_t l2Bytes) {
    SmallVector<Need> needs = needsOf(launches, onNpu, symbols, l2Bytes);
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
        Need &need = needs[next];
        int64_t bytes = std::min(need.bytes - need.named, room - waiting);
        bool all = bytes == need.bytes - need.named;
        if (!all && bytes < kSmallestPiece)
          break;
        names.push_back(piece(launches[index], need, bytes));
        need.named += bytes;
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

  /// The next `bytes` of the weight, defined in front of the launch.
  static Value piece(om::LaunchOp launch, const Need &need, int64_t &bytes) {
    // A weight is defined before its first use, which comes later.
    Operation *definition = need.weight.getDefiningOp();
    if (launch->isBeforeInBlock(definition))
      definition->moveBefore(launch);
    auto type = cast<MemRefType>(need.weight.getType());
    if (bytes == need.bytes)
      return need.weight;
    int64_t element = elementBytes(need.weight);
    bytes = bytes / element * element;
    OpBuilder builder(launch);
    return om::ViewOp::create(builder, launch.getLoc(),
                              MemRefType::get({bytes / element}, type.getElementType()),
                              need.weight, need.named);
  }
};
} // namespace
} // namespace atc::npu
