//===-- PrefetchWeights.cpp - tasks of launches, weights before their time -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A network whose weights are read once is bound by DDR: the DDR must never
// wait for the cube, nor the cube for it. The weights' order of use is known, so
// they are fetched in that order, ahead by what L2 has room for.

#include "passes/npu/BatchParts.h"
#include "passes/npu/Passes.h"
#include "passes/npu/ProgramWriter.h"
#include "passes/om/Schedule.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUPREFETCHWEIGHTS
#include "passes/npu/Passes.h.inc"

namespace {

/// A weight that is yet to be used, and the launch that needs it first.
struct Need {
  Value weight;
  unsigned launch;
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
    SmallVector<bool> onNpu;
    for (om::LaunchOp launch : launches)
      onNpu.push_back(om::isNpuKernel(module.lookupSymbol(launch.getKernel())));
    if (chain)
      for (size_t i = 1; i < launches.size(); ++i)
        if (onNpu[i] && onNpu[i - 1]) {
          launches[i].setChained(true);
          ++numChained;
        }
    if (prefetch)
      nameWeights(launches, onNpu, int64_t(share * socOf(main).l2Bytes));
  }

private:
  static constexpr int64_t kSmallestPiece = 64 * 1024;

  static SmallVector<Need> needsOf(MutableArrayRef<om::LaunchOp> launches, ArrayRef<bool> onNpu) {
    SmallVector<Need> needs;
    llvm::DenseSet<Value> seen;
    for (auto [index, launch] : llvm::enumerate(launches))
      if (onNpu[index])
        for (Value operand : launch.getOperands_()) {
          Value root = om::resolveViews(operand).root;
          if (root.getDefiningOp<om::WeightOp>() && seen.insert(root).second)
            needs.push_back({root, unsigned(index), bytesOf(root)});
        }
    return needs;
  }

  void nameWeights(MutableArrayRef<om::LaunchOp> launches, ArrayRef<bool> onNpu, int64_t room) {
    SmallVector<Need> needs = needsOf(launches, onNpu);
    size_t next = 0;
    int64_t waiting = 0; ///< bytes in L2 that no launch has used yet
    for (unsigned index = 0; index < launches.size(); ++index) {
      for (Need &need : needs)
        if (need.launch == index)
          waiting -= std::exchange(need.named, 0);
      while (next < needs.size() && needs[next].launch <= index)
        ++next;
      if (!onNpu[index])
        continue;
      SmallVector<Value> names;
      while (next < needs.size() && waiting < room) {
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
      numPrefetched += names.size();
    }
  }

  /// The next `bytes` of the weight, defined in front of the launch.
  static Value piece(om::LaunchOp launch, const Need &need, int64_t &bytes) {
    // A weight stands in front of its first use, which comes later.
    Operation *definition = need.weight.getDefiningOp();
    if (launch->isBeforeInBlock(definition))
      definition->moveBefore(launch);
    auto type = cast<MemRefType>(need.weight.getType());
    if (bytes == need.bytes)
      return need.weight;
    int64_t element = (type.getElementTypeBitWidth() + 7) / 8;
    bytes = bytes / element * element;
    OpBuilder builder(launch);
    return om::ViewOp::create(builder, launch.getLoc(),
                              MemRefType::get({bytes / element}, type.getElementType()),
                              need.weight, need.named);
  }
};
} // namespace
} // namespace atc::npu
