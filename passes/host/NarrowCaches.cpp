//===-- NarrowCaches.cpp - attention over caches of 16 bits ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTNARROWCACHES
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

Type elementOf(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type ? type.getElementType() : Type();
}

/// Returns what a value of f32 is converted from, if that is f16 or bf16; null otherwise.
Value narrowSourceOf(Value value) {
  HostCallOp cast = value ? callOf(value, "Cast") : HostCallOp();
  if (!cast || !isF32(value) || !hasInputs(cast, 1))
    return {};
  const Value source = cast.getInputs()[0];
  const Type element = elementOf(source);
  return element && (element.isF16() || element.isBF16()) ? source : Value();
}

/// A result of an attention, and the type that it has in 16 bits.
struct Present {
  Value result;
  Type type;

  /// Finds the type: that of the conversions of the result to `element`, which are its only uses
  /// besides those of its shape. Returns false where it has others.
  bool find(Type element) {
    for (OpOperand &use : result.getUses()) {
      auto user = dyn_cast<HostCallOp>(use.getOwner());
      if (user && user.getKernel() == "Shape")
        continue;
      if (!user || user.getKernel() != "Cast" || elementOf(user.getResult(0)) != element ||
          (type && type != user.getResult(0).getType()))
        return false;
      type = user.getResult(0).getType();
    }
    if (!type)
      type = withElement(result.getType(), element);
    return true;
  }

  void replaceBy(PatternRewriter &rewriter, Value narrow) const {
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
      auto user = cast<HostCallOp>(use.getOwner());
      if (user.getKernel() == "Cast")
        rewriter.replaceOp(user, narrow);
      else
        rewriter.modifyOpInPlace(user, [&] { use.set(narrow); });
    }
  }
};

struct NarrowCache : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    const bool isGroup = call.getKernel() == "GroupQueryAttention";
    if (!isGroup && call.getKernel() != "KvAttention")
      return failure();
    const unsigned past = isGroup ? 3 : 4;
    SmallVector<Value> inputs = inputsOf(call, past + 2);
    const Value keys = narrowSourceOf(inputs[past]), values = narrowSourceOf(inputs[past + 1]);
    if (!keys || !values || elementOf(keys) != elementOf(values) || call->getNumResults() != 3)
      return rewriter.notifyMatchFailure(call, "has no cache of 16 bits");
    Present presents[] = {{call.getResult(1), {}}, {call.getResult(2), {}}};
    for (Present &present : presents)
      if (!present.find(elementOf(keys)))
        return rewriter.notifyMatchFailure(call, "its cache is read as f32, too");
    inputs[past] = keys;
    inputs[past + 1] = values;
    HostCallOp made = makeCall(rewriter, call.getLoc(), call.getKernel(), inputs,
                               {call.getResult(0).getType(), presents[0].type, presents[1].type},
                               call.getParameters());
    for (unsigned i : {0, 1})
      presents[i].replaceBy(rewriter, made.getResult(i + 1));
    rewriter.replaceAllUsesWith(call.getResult(0), made.getResult(0));
    rewriter.eraseOp(call);
    ++count;
    return success();
  }
};

struct HostNarrowCaches : impl::HostNarrowCachesBase<HostNarrowCaches> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<NarrowCache>(&getContext(), numNarrowed);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host
