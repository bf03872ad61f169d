//===-- SelectTiles.cpp - how contractions are cut -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/npu/CubeSupport.h"
#include "passes/npu/Passes.h"
#include "passes/npu/TileCosts.h"

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

  template <typename OpT> void select(OpT op, const std::array<int64_t, 3> &sizes) {
    if (op.getTile())
      return;
    SocTable soc = socOf(op);
    std::string fault;
    Contraction contraction = describe(op, soc, fault);
    std::optional<Plan> plan;
    if (fault.empty()) {
      plan = fixed.empty() ? selectPlan(contraction, soc)
                           : fixedPlan(contraction, soc, sizes[0], sizes[1], sizes[2]);
      if (!plan)
        fault = "no tile of it fits into the buffers";
    }
    if (!fault.empty()) {
      op.emitOpError("cannot run on ") << soc.name << ": " << fault;
      return signalPassFailure();
    }
    op.setTileAttr(attributeOf(&getContext(), plan->tile));
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
