//===-- ConvertParts.cpp - parts of a concatenation become f32 one by one --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The outputs of a detector join the results of its heads. Converted as a whole, the joined f16
// tensor has left L2 before the conversion reads it, and what L2 still has of it is written back.

#include "dialects/graph/Graph.h"
#include "passes/ValueTypes.h"
#include "passes/npu/GraphPasses.h"
#include "passes/npu/program/ProgramWriter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUCONVERTPARTS
#include "passes/npu/GraphPasses.h.inc"

namespace {

int64_t bytesOf(Value value) {
  const RankedTensorType type = tensorTypeOf(value);
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

/// Returns whether the elements of each part are long runs in the whole: short ones cost more than
/// L2 saves.
bool hasLongRuns(graph::ConcatOp concat) {
  constexpr int64_t kMinBytes = 512;
  return llvm::all_of(concat.getInputs(), [&](Value part) {
    const RankedTensorType type = tensorTypeOf(part);
    const ArrayRef<int64_t> run = type.getShape().drop_front(concat.getAxis());
    return computeProduct(run) * type.getElementTypeBitWidth() / 8 >= kMinBytes;
  });
}

struct ConvertPartsPass : impl::NpuConvertPartsBase<ConvertPartsPass> {
  using NpuConvertPartsBase::NpuConvertPartsBase;

  void runOnOperation() override {
    const SocTable soc = socOf(getOperation());
    for (auto cast : llvm::make_early_inc_range(getOperation().getOps<graph::CastOp>())) {
      auto concat = cast.getOperand().getDefiningOp<graph::ConcatOp>();
      const Type to = tensorTypeOf(cast.getResult()).getElementType();
      if (!concat || !concat.getResult().hasOneUse() || !to.isF32() ||
          !tensorTypeOf(concat.getResult()).getElementType().isF16() || !hasLongRuns(concat) ||
          bytesOf(concat.getResult()) + bytesOf(cast.getResult()) <= int64_t(soc.l2Bytes))
        continue;
      // Each part is converted where it is made.
      SmallVector<Value> parts;
      for (Value part : concat.getInputs()) {
        OpBuilder builder(&getContext());
        builder.setInsertionPointAfterValue(part);
        parts.push_back(
            graph::CastOp::create(builder, cast.getLoc(), tensorTypeOf(part).clone(to), part));
      }
      OpBuilder builder(cast);
      auto whole = graph::ConcatOp::create(builder, concat.getLoc(), cast.getType(), parts,
                                           concat.getAxisAttr());
      cast.getResult().replaceAllUsesWith(whole.getResult());
      cast->erase();
      concat->erase();
      ++numConverted;
    }
  }
};

} // namespace
} // namespace atc::npu
