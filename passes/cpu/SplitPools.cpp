//===-- SplitPools.cpp - maxima of large windows in two steps -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ConvOps.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/cpu/Passes.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUSPLITPOOLS
#include "passes/cpu/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Returns whether two steps read at most half of the elements.
bool isWorthSplitting(graph::MaxPoolOp op) {
  ArrayRef<int64_t> kernel = op.getKernel();
  if (kernel.size() != 2 || kernel[0] == 1 || kernel[1] == 1)
    return false;
  // Elements per column of the result. Maxima along rows are computed for all rows of the input; a
  // tensor between the two costs as much again.
  const int64_t rows = typeOf(op.getInput()).getDimSize(2), results = typeOf(op).getDimSize(2);
  return results * kernel[0] * kernel[1] >= 2 * (rows * kernel[1] + results * kernel[0]);
}

/// Creates the pool of `op` along one dim.
Value poolAlong(OpBuilder &builder, graph::MaxPoolOp op, bool isRows, Value input, Type result) {
  auto list = [&](int64_t along, int64_t other) {
    return isRows ? SmallVector<int64_t>{other, along} : SmallVector<int64_t>{along, other};
  };
  SmallVector<int64_t> pads = list(op.getPads()[isRows], 0);
  llvm::append_range(pads, list(op.getPads()[2 + isRows], 0));
  Location loc = op.getLoc();
  // The name stays with the value that equals the node's result.
  if (auto name = dyn_cast<NameLoc>(loc); name && isRows)
    loc = NameLoc::get(builder.getStringAttr(name.getName().getValue() + ".rows"),
                       name.getChildLoc());
  return graph::MaxPoolOp::create(
      builder, loc, result, input, builder.getDenseI64ArrayAttr(list(op.getKernel()[isRows], 1)),
      builder.getDenseI64ArrayAttr(list(op.getStrides()[isRows], 1)),
      builder.getDenseI64ArrayAttr(pads),
      builder.getDenseI64ArrayAttr(list(op.getDilations()[isRows], 1)), op.getCeilModeAttr());
}

struct CpuSplitPools : impl::CpuSplitPoolsBase<CpuSplitPools> {
  void runOnOperation() override {
    SmallVector<graph::MaxPoolOp> pools;
    getOperation().walk([&](graph::MaxPoolOp op) {
      if (isWorthSplitting(op))
        pools.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (graph::MaxPoolOp op : pools) {
      rewriter.setInsertionPoint(op);
      SmallVector<int64_t> shape(typeOf(op).getShape());
      shape[2] = typeOf(op.getInput()).getDimSize(2);
      Value maxima =
          poolAlong(rewriter, op, /*isRows=*/true, op.getInput(), typeOf(op).clone(shape));
      rewriter.replaceOp(op, poolAlong(rewriter, op, /*isRows=*/false, maxima, op.getType()));
      ++numSplit;
    }
  }
};

} // namespace
} // namespace atc::cpu
