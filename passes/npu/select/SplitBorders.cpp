//===-- SplitBorders.cpp - fills of borders as fills of their sides --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/VectorPasses.h"
#include "passes/npu/select/BufferViews.h"
#include "passes/npu/select/Partition.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUSPLITBORDERS
#include "passes/npu/VectorPasses.h.inc"

namespace {

/// Returns the sides of a border [top, left, bottom, right] around dims 2 and 3.
SmallVector<kernel::Storage> sidesOf(const kernel::Storage &whole, ArrayRef<int64_t> border) {
  const int64_t top = border[0], left = border[1], bottom = border[2], right = border[3];
  const int64_t rows = whole.shape[2], columns = whole.shape[3], inside = rows - top - bottom;
  SmallVector<kernel::Storage> sides;
  if (top)
    sides.push_back(whole.slice(2, 0, top));
  if (bottom)
    sides.push_back(whole.slice(2, rows - bottom, bottom));
  if (left && inside)
    sides.push_back(whole.slice(2, top, inside).slice(3, 0, left));
  if (right && inside)
    sides.push_back(whole.slice(2, top, inside).slice(3, columns - right, right));
  return sides;
}

struct SplitBordersPass : impl::NpuSplitBordersBase<SplitBordersPass> {
  void runOnOperation() override {
    std::optional<MainFunction> main = MainFunction::find(getOperation());
    if (!main)
      return;
    for (auto fill : llvm::make_early_inc_range(main->function.getOps<kernel::FillOp>()))
      if (fill.getBorder() && !main->hostNodes.contains(fill))
        split(fill, main->soc);
  }

private:
  /// Replaces a fill whose sides are all fills of the NPU.
  void split(kernel::FillOp fill, const SocTable &soc) {
    OpBuilder builder(fill);
    SmallVector<kernel::FillOp> parts;
    bool fits = true;
    for (const kernel::Storage &side : sidesOf(storageOf(fill.getOutput()), *fill.getBorder())) {
      parts.push_back(kernel::FillOp::create(builder, fill.getLoc(),
                                             bufferOf(builder, fill.getLoc(), side),
                                             fill.getValueAttr(), DenseI64ArrayAttr()));
      fits &= whyNotOnNpu(parts.back(), soc).empty();
    }
    if (!fits) {
      for (kernel::FillOp part : parts) {
        Operation *view = part.getOutput().getDefiningOp();
        part.erase();
        if (isa_and_nonnull<om::ViewOp>(view) && view->use_empty())
          view->erase();
      }
      return;
    }
    fill.erase();
    ++numSplit;
  }
};

} // namespace
} // namespace atc::npu
