//===-- ScaleSums.cpp - integer products whose sums become real numbers ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models quantized dynamically multiply the sums of MatMulInteger by the scale of the rows, which a
// DynamicQuantizeLinear computes, and by those of the weights, and add a bias. A kernel that does
// so with its accumulators reads and writes the sums once less each.

#include "dialects/graph/ops/HostOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTSCALESUMS
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// Returns whether `value` is known to have one element and rank 0 or 1.
bool isSingle(Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    if (auto call = dyn_cast<HostCallOp>(result.getOwner());
        call && call.getKernel() == "DynamicQuantizeLinear" && result.getResultNumber() > 0)
      return true;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() <= 1 && type.hasStaticShape() && type.getNumElements() == 1;
}

/// Returns whether `value` is known to have one element, or one for each of `n` columns.
bool isPerColumn(Value value, int64_t n) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return isSingle(value) || (type && type.getShape() == ArrayRef<int64_t>{n});
}

/// Returns the columns of a matrix of known dims, 0 for other values.
int64_t columnsOf(Value value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type && type.getRank() == 2 && type.hasStaticShape() ? type.getDimSize(1) : 0;
}

/// f32(MatMulInteger(a, b)) * (scale of a * scale of b)
struct ScaleProduct : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (call.getKernel() != "Mul" || !hasInputs(call, 2) || !isF32(call.getResult(0)))
      return failure();
    for (unsigned i : {0u, 1u}) {
      auto cast = callOf(call.getInputs()[i], "Cast");
      if (!cast || !cast->hasOneUse() || !isF32(cast.getResult(0)) || !hasInputs(cast, 1))
        continue;
      auto product = callOf(cast.getInputs()[0], "MatMulInteger");
      auto scales = callOf(call.getInputs()[1 - i], "Mul");
      if (!product || !product->hasOneUse() || !hasInputs(product, 2) || !scales ||
          !hasInputs(scales, 2) || !isF32(scales.getResult(0)))
        continue;
      const SmallVector<Value> inputs = inputsOf(product, 4);
      const int64_t columns = columnsOf(inputs[1]);
      if (!columns || (inputs[2] && !isSingle(inputs[2])) ||
          (inputs[3] && !isPerColumn(inputs[3], columns)))
        continue;
      Value rows = scales.getInputs()[0], weights = scales.getInputs()[1];
      if (!isSingle(rows))
        std::swap(rows, weights);
      if (!isSingle(rows) || !isPerColumn(weights, columns) || !isF32(rows) || !isF32(weights))
        continue;
      rewriter.replaceOp(
          call, makeCall(rewriter, call.getLoc(), "MatMulIntegerToFloat",
                         {inputs[0], inputs[1], rows, weights, inputs[2], inputs[3], Value()},
                         call.getResultTypes()));
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(call, "scales no sums of a product");
  }
};

/// MatMulIntegerToFloat(...) + bias
struct AddBias : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (call.getKernel() != "Add" || !hasInputs(call, 2))
      return failure();
    for (unsigned i : {0u, 1u}) {
      auto product = callOf(call.getInputs()[i], "MatMulIntegerToFloat");
      if (!product || !product->hasOneUse())
        continue;
      SmallVector<Value> inputs = inputsOf(product, 7);
      Value bias = call.getInputs()[1 - i];
      auto type = dyn_cast<RankedTensorType>(bias.getType());
      if (inputs[6] || !type || type.getShape() != ArrayRef<int64_t>{columnsOf(inputs[1])})
        continue;
      inputs[6] = bias;
      // The bias may be computed behind the product.
      rewriter.replaceOp(call, makeCall(rewriter, call.getLoc(), "MatMulIntegerToFloat", inputs,
                                        call.getResultTypes(), product.getParameters()));
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(call, "adds no vector to a product");
  }
};

struct HostScaleSums : impl::HostScaleSumsBase<HostScaleSums> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ScaleProduct>(&getContext(), numScaled);
    patterns.add<AddBias>(&getContext(), numBiases);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host
