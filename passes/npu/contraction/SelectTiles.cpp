//===-- SelectTiles.cpp - selects the tiles of contractions ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Remarks.h"
#include "passes/npu/Passes.h"
#include "passes/npu/contraction/CubeSupport.h"
#include "passes/npu/contraction/MeasureTiles.h"
#include "passes/npu/contraction/TileChoice.h"
#include "passes/npu/contraction/TileCosts.h"
#include <array>

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUSELECTTILES
#include "passes/npu/Passes.h.inc"

namespace {

struct SelectTilesPass : impl::NpuSelectTilesBase<SelectTilesPass> {
  using NpuSelectTilesBase::NpuSelectTilesBase;

  void runOnOperation() override {
    std::array<int64_t, 3> sizes{};
    if (!fixed.empty() && !parse(sizes)) {
      emitError(getOperation().getLoc())
          << "npu-select-tiles: fixed=" << fixed << " is not of the form 64x64x64";
      return signalPassFailure();
    }
    if (auto conv = kernelOpOf<ir::Conv2DOp>(getOperation()))
      select(conv, sizes);
    else if (auto matmul = kernelOpOf<ir::MatMulOp>(getOperation()))
      select(matmul, sizes);
  }

  bool parse(std::array<int64_t, 3> &sizes) {
    SmallVector<StringRef> parts;
    StringRef(fixed).split(parts, 'x');
    if (parts.size() != 3)
      return false;
    for (auto [part, size] : llvm::zip_equal(parts, sizes))
      if (part.getAsInteger(10, size) || size < 16 || size % 16)
        return false;
    return true;
  }

  /// The model's best plan, or the fastest of several of its best on the simulator.
  std::optional<Plan> choose(const Contraction &contraction, const SocTable &soc, int64_t copies) {
    std::vector<Plan> plans = selectPlans(contraction, soc, std::max<int64_t>(measure, 1));
    if (plans.empty())
      return std::nullopt;
    size_t best = 0;
    double min = 0;
    int64_t instructions = 0;
    for (size_t i = 0; i < plans.size() && plans.size() > 1; ++i) {
      // Large products take long to simulate, and the model is good at them.
      instructions += instructionsOf(contraction, plans[i]);
      if (instructions > kMaxInstructions)
        break;
      std::optional<double> cycles = measureTile(getOperation(), plans[i].tile, copies);
      if (!cycles || (min && *cycles >= min))
        continue;
      min = *cycles;
      best = i;
    }
    return std::move(plans[best]);
  }

  /// About as many as the simulator is to run.
  static int64_t instructionsOf(const Contraction &c, const Plan &p) {
    int64_t chunks = c.others * p.groupTrips * p.outerTrips * p.rowTrips * p.columnTrips;
    return p.grid() * chunks * p.mTiles * p.nTiles * 6 * (p.depthTrips * p.steps + p.pieces);
  }
  static constexpr int64_t kMaxInstructions = 1'000'000;

  /// Says which tile was selected and what bounds it according to the cost model.
  template <typename OpT>
  void remarkTile(OpT op, const Contraction &contraction, const Plan &plan, const SocTable &soc) {
    auto remark = remarkPassed(getArgument(), op.getLoc(), "Tiled");
    if (!remark)
      return;
    ir::TileAttr tile = *op.getTile();
    Estimate e = estimate(contraction, plan, soc);
    remark << remark::add("tile {0} x {1} x {2}, {3} x {4} x {5} in L1, on {6} x {7} cores; most "
                          "time on {8}",
                          tile.getM(), tile.getN(), tile.getK(), tile.getL1M(), tile.getL1N(),
                          tile.getL1K(), tile.getCoresM(), tile.getCoresN(), e.limit())
           << remark::metric("cycles", int64_t(e.cycles));
  }

  template <typename OpT> void select(OpT op, const std::array<int64_t, 3> &sizes) {
    if (op.getTile())
      return;
    SocTable soc = socOf(op);
    std::string errorText;
    Contraction contraction = describe(op, soc, errorText);
    std::optional<Plan> plan;
    TileChoice choice(getOperation(), op, soc, getArgument());
    if (errorText.empty() && fixed.empty())
      plan = choice.given(contraction);
    if (errorText.empty() && !plan) {
      plan = fixed.empty() ? choose(contraction, soc, choice.copies())
                           : fixedPlan(contraction, soc, sizes[0], sizes[1], sizes[2]);
      if (!plan)
        errorText = "no tile of it fits into the buffers";
    }
    if (!errorText.empty()) {
      op.emitOpError("cannot run on ") << soc.name << ": " << errorText;
      return signalPassFailure();
    }
    if (fixed.empty())
      choice.note(contraction, *plan);
    op.setTileAttr(attributeOf(&getContext(), plan->tile));
    remarkTile(op, contraction, *plan, soc);
    if (!report)
      return;
    Estimate e = estimate(contraction, *plan, soc);
    op.emitRemark("estimate: ") << int64_t(e.cycles) << " cycles, most on " << e.limit() << " (m "
                                << int64_t(e.cube) << ", v " << int64_t(e.vector) << ", mte1 "
                                << int64_t(e.mte1) << ", mte2 " << int64_t(e.mte2) << ", mte3 "
                                << int64_t(e.mte3) << ", s " << int64_t(e.scalar) << ", fill "
                                << int64_t(e.fill) << ")";
  }
};

} // namespace
} // namespace atc::npu
