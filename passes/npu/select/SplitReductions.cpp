//===-- SplitReductions.cpp - long reductions in two steps ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Remarks.h"
#include "passes/npu/VectorPasses.h"
#include "passes/npu/select/BufferViews.h"
#include "passes/npu/select/Partition.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUSPLITREDUCTIONS
#include "passes/npu/VectorPasses.h.inc"

namespace {

using graph::ReduceKind;

/// Returns how the results for equal parts are reduced further; nothing where that is no reduction.
std::optional<ReduceKind> secondKind(ReduceKind kind, Type element) {
  switch (kind) {
  case ReduceKind::Sum:
    // Sums of parts may leave f16 where they cancel in the whole.
    return element.isF32() ? std::optional(kind) : std::nullopt;
  case ReduceKind::Mean:
  case ReduceKind::Max:
  case ReduceKind::Min:
  case ReduceKind::L2:
    return kind;
  case ReduceKind::L1:
  case ReduceKind::SumSquare:
    return ReduceKind::Sum;
  default:
    return std::nullopt;
  }
}

/// Returns the length of the parts of a row: whole blocks of 32 bytes, as many as is usual for a
/// row; 0 where the row has no such divisor.
int64_t partOf(int64_t row) {
  constexpr int64_t block = 16, longest = 4096;
  for (int64_t part = longest; part >= block; part -= block)
    if (row % part == 0)
      return part;
  return 0;
}

struct SplitReductionsPass : impl::NpuSplitReductionsBase<SplitReductionsPass> {
  void runOnOperation() override {
    std::optional<MainFunction> main = MainFunction::find(getOperation());
    if (!main)
      return;
    for (auto reduce : llvm::make_early_inc_range(main->function.getOps<kernel::ReduceOp>()))
      if (!main->hostNodes.contains(reduce) && !whyNotOnNpu(reduce, main->soc).empty())
        split(reduce, main->soc);
  }

private:
  /// Replaces the reduction of the last dim by one of its parts and one of their results, if the
  /// NPU has programs for both.
  void split(kernel::ReduceOp reduce, const SocTable &soc) {
    const kernel::Storage input = storageOf(reduce.getInput());
    const int64_t last = input.rank() - 1, part = partOf(input.shape[last]);
    const std::optional<ReduceKind> second = secondKind(reduce.getKind(), input.element);
    if (reduce.getAxes() != ArrayRef<int64_t>{last} || !part || part == input.shape[last] ||
        !second)
      return;
    OpBuilder builder(reduce);
    Location loc = reduce.getLoc();
    SmallVector<int64_t> shape(input.shape.begin(), input.shape.end());
    shape[last] /= part;
    auto results = om::AllocOp::create(builder, loc, MemRefType::get(shape, input.element),
                                       /*offset=*/IntegerAttr());
    auto parts =
        kernel::ReduceOp::create(builder, loc, bufferOf(builder, loc, input.split(last, part)),
                                 bufferOf(builder, loc, storageOf(results).withDim(last + 1)),
                                 reduce.getKind(), ArrayRef<int64_t>(last + 1));
    auto whole = kernel::ReduceOp::create(builder, loc, results, reduce.getOutput(), *second,
                                          ArrayRef<int64_t>(last));
    whole->setDiscardableAttrs(reduce->getDiscardableAttrDictionary());
    if (!whyNotOnNpu(parts, soc).empty() || !whyNotOnNpu(whole, soc).empty()) {
      whole.erase();
      SmallVector<Value> views(parts->getOperands());
      parts.erase();
      for (Value view : views)
        if (auto op = view.getDefiningOp<om::ViewOp>(); op && op->use_empty())
          op.erase();
      results.erase();
      return;
    }
    remarkPassed(getArgument(), loc, "Split")
        << "the reduction of a row that does not fit into ub is one of parts and one of their "
           "results";
    reduce.erase();
    ++numSplit;
  }
};

} // namespace
} // namespace atc::npu
