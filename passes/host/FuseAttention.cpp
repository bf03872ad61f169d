//===-- FuseAttention.cpp - softmax(q k^T) v becomes one call -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTFUSEATTENTION
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

bool hasPermutation(HostCallOp call, ArrayRef<int64_t> wanted) {
  auto given = call.getParameters().getAs<DenseI64ArrayAttr>("perm");
  return given && given.asArrayRef() == wanted;
}

/// Returns `value` without factors that are constants, which `scale` takes over.
Value withoutScale(Value value, double &scale) {
  for (;;) {
    value = sourceOf(value);
    HostCallOp call = callOf(value);
    if (!call || !hasInputs(call, 2) || call.getInputs().size() != 2)
      return value;
    const Value a = call.getInputs()[0], b = call.getInputs()[1];
    if (call.getKernel() == "Mul" && numberIn(b)) {
      scale *= *numberIn(b);
      value = a;
    } else if (call.getKernel() == "Mul" && numberIn(a)) {
      scale *= *numberIn(a);
      value = b;
    } else if (call.getKernel() == "Div" && numberIn(b) && *numberIn(b) != 0) {
      scale /= *numberIn(b);
      value = a;
    } else {
      return value;
    }
  }
}

/// Returns what keys or values of fewer heads are repeated from, or null: [b, h, s, d] becomes
/// [b, h, 1, s, d], is expanded, and is reshaped to [b, h * n, s, d].
Value repeatedFrom(Value value) {
  HostCallOp reshape = callOf(value, "Reshape");
  HostCallOp expand = reshape ? callOf(reshape.getInputs()[0], "Expand") : HostCallOp();
  HostCallOp unsqueeze = expand ? callOf(expand.getInputs()[0], "Unsqueeze") : HostCallOp();
  if (!unsqueeze || !hasInputs(unsqueeze, 2))
    return {};
  std::optional<double> axis = numberIn(unsqueeze.getInputs()[1]);
  return axis && (*axis == 2 || *axis == -3) ? sourceOf(unsqueeze.getInputs()[0]) : Value();
}

/// Returns the call that joins past and new positions, or null.
HostCallOp joinOf(Value value) {
  HostCallOp concat = callOf(value, "Concat");
  const int64_t axis = concat ? integerOf(concat, "axis", 0) : 0;
  return concat && concat.getInputs().size() == 2 && (axis == 2 || axis == -2) ? concat
                                                                               : HostCallOp();
}

struct FuseAttention : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (call.getKernel() != "MatMul" || !hasInputs(call, 2) || !isF32(call.getResult(0)))
      return failure();
    HostCallOp softmax = callOf(call.getInputs()[0], "Softmax");
    if (!softmax)
      return failure();
    if (const int64_t axis = integerOf(softmax, "axis", -1); axis != -1 && axis != 3)
      return rewriter.notifyMatchFailure(call, "softmax is not along the keys");

    double scale = 1;
    Value mask, scores = withoutScale(softmax.getInputs()[0], scale);
    if (HostCallOp add = callOf(scores, "Add"); add && hasInputs(add, 2)) {
      if (scale != 1)
        return rewriter.notifyMatchFailure(call, "the mask is scaled");
      for (unsigned i : {0, 1}) {
        double factor = 1;
        const Value product = withoutScale(add.getInputs()[i], factor);
        if (!callOf(product, "MatMul"))
          continue;
        scale = factor;
        scores = product;
        mask = add.getInputs()[1 - i];
        break;
      }
      if (!mask || !isF32(mask))
        return rewriter.notifyMatchFailure(call, "neither addend is a product");
    }
    HostCallOp product = callOf(scores, "MatMul");
    if (!product || !hasInputs(product, 2))
      return rewriter.notifyMatchFailure(call, "softmax is not that of a product");
    const Value query = withoutScale(product.getInputs()[0], scale);
    HostCallOp transpose = callOf(withoutScale(product.getInputs()[1], scale), "Transpose");
    if (!transpose || !hasPermutation(transpose, {0, 1, 3, 2}))
      return rewriter.notifyMatchFailure(call, "keys are not transposed");
    Value keys = withoutScale(transpose.getInputs()[0], scale),
          values = sourceOf(call.getInputs()[1]);
    const Value fewKeys = repeatedFrom(keys), fewValues = repeatedFrom(values);
    if (fewKeys && fewValues) {
      keys = fewKeys;
      values = fewValues;
    }
    if (!isF32(query) || !isF32(keys) || !isF32(values))
      return rewriter.notifyMatchFailure(call, "is not computed in f32");

    HostCallOp pastKeys = joinOf(keys), pastValues = joinOf(values);
    SmallVector<Value> inputs = {query, keys, values, mask};
    if (pastKeys && pastValues && pastKeys != pastValues)
      inputs = {query, pastKeys.getInputs()[1],           pastValues.getInputs()[1],
                mask,  sourceOf(pastKeys.getInputs()[0]), sourceOf(pastValues.getInputs()[0])};
    NamedAttrList parameters;
    parameters.append("scale", rewriter.getDenseF64ArrayAttr(scale));
    parameters.append("mask_broadcast", rewriter.getDenseI64ArrayAttr(1));
    HostCallOp fused = makeCall(rewriter, call.getLoc(), "KvAttention", inputs,
                                {call.getResult(0).getType(), keys.getType(), values.getType()},
                                parameters.getDictionary(getContext()));
    if (inputs.size() == 6)
      for (auto [join, result] :
           {std::pair(pastKeys, fused.getResult(1)), std::pair(pastValues, fused.getResult(2))})
        rewriter.replaceUsesWithIf(join.getResult(0), result, [&](OpOperand &use) {
          Operation *user = fused->getBlock()->findAncestorOpInBlock(*use.getOwner());
          return user && fused->isBeforeInBlock(user);
        });
    rewriter.replaceOp(call, fused.getResult(0));
    ++count;
    return success();
  }
};

/// Removes calls that only hand on their input, behind which patterns would not find what they
/// look for.
struct RemoveCopy : OpRewritePattern<HostCallOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (call->getNumResults() != 1)
      return failure();
    const Value result = call.getResult(0);
    Value source = sourceOf(result);
    if (call.getKernel() == "Concat" && call.getInputs().size() == 1)
      source = call.getInputs()[0];
    if (source == result)
      return failure();
    rewriter.replaceOp(call, source);
    return success();
  }
};

struct HostFuseAttention : impl::HostFuseAttentionBase<HostFuseAttention> {
  void runOnOperation() override {
    RewritePatternSet copies(&getContext()), patterns(&getContext());
    copies.add<RemoveCopy>(&getContext());
    patterns.add<FuseAttention>(&getContext(), numFused);
    if (failed(applyPatternsGreedily(getOperation(), std::move(copies))) ||
        failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace atc::host
