//===-- FuseAttention.cpp - softmax(q k^T) v becomes one call -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
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

/// Returns whether `size` is the dims [begin, end) of the shape of `value`, computed by Shape and
/// Slice.
bool isSizeOf(Value size, Value value, int64_t begin, int64_t end) {
  HostCallOp slice = callOf(size, "Slice");
  HostCallOp shape = slice && hasInputs(slice, 3) && slice.getInputs().size() <= 5
                         ? callOf(slice.getInputs()[0], "Shape")
                         : HostCallOp();
  if (!shape || sourceOf(shape.getInputs()[0]) != value || integerOf(shape, "start", 0) != 0 ||
      shape.getParameters().contains("end"))
    return false;
  const SmallVector<Value> inputs = inputsOf(slice, 5);
  auto isNumber = [](Value given, double wanted) { return !given || numberIn(given) == wanted; };
  const std::optional<double> first = numberIn(inputs[1]), last = numberIn(inputs[2]);
  // The first dim may be written as the smallest integer.
  const bool beginsThere = first && (*first == double(begin) || (begin == 0 && *first <= -1e9));
  return beginsThere && last && (end ? *last == double(end) : *last >= 1e9) &&
         isNumber(inputs[3], 0) && isNumber(inputs[4], 1);
}

/// Returns whether a value certainly has four dims.
bool hasFourDims(Value value) {
  value = sourceOf(value);
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    return type.getRank() == 4;
  if (repeatedFrom(value))
    return true;
  HostCallOp call = callOf(value);
  if (!call)
    return false;
  if (auto perm = call.getParameters().getAs<DenseI64ArrayAttr>("perm");
      perm && call.getKernel() == "Transpose")
    return perm.size() == 4;
  return call.getKernel() == "Concat" && llvm::any_of(call.getInputs(), hasFourDims);
}

/// Returns the keys [batch, heads, positions, size] whose transpose `value` is, with `scale`
/// multiplied by the factors between them, or null. Exporters write
/// - Transpose of the last two dims,
/// - one Transpose of keys that are still [batch, positions, heads, size], or
/// - for any rank, Reshape to [-1, positions, size], Transpose, Reshape to the dims in front of
///   these and [size, positions]; the keys must be known to have four dims.
Value transposedFrom(PatternRewriter &rewriter, Value value, double &scale) {
  value = withoutScale(value, scale);
  if (HostCallOp transpose = callOf(value, "Transpose")) {
    if (hasPermutation(transpose, {0, 1, 3, 2}))
      return withoutScale(transpose.getInputs()[0], scale);
    if (!hasPermutation(transpose, {0, 2, 3, 1}))
      return {};
    const Value source = withoutScale(transpose.getInputs()[0], scale);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(transpose);
    NamedAttrList parameters;
    parameters.append("perm", rewriter.getDenseI64ArrayAttr({0, 2, 1, 3}));
    constexpr int64_t any = ShapedType::kDynamic;
    auto type = RankedTensorType::get({any, any, any, any},
                                      cast<TensorType>(source.getType()).getElementType());
    return makeCall(rewriter, transpose.getLoc(), "Transpose", source, type,
                    parameters.getDictionary(rewriter.getContext()))
        .getResult(0);
  }
  HostCallOp last = callOf(value, "Reshape");
  HostCallOp transpose = last ? callOf(last.getInputs()[0], "Transpose") : HostCallOp();
  HostCallOp first = transpose && hasPermutation(transpose, {0, 2, 1})
                         ? callOf(transpose.getInputs()[0], "Reshape")
                         : HostCallOp();
  if (!first || !hasInputs(last, 2) || !hasInputs(first, 2))
    return {};
  const Value source = sourceOf(first.getInputs()[0]);
  if (!hasFourDims(source))
    return {};
  HostCallOp flat = callOf(first.getInputs()[1], "Concat"),
             full = callOf(last.getInputs()[1], "Concat");
  if (!flat || !full || flat.getInputs().size() != 3 || full.getInputs().size() != 3 ||
      numberIn(flat.getInputs()[0]) != -1.0 || !isSizeOf(flat.getInputs()[1], source, -2, -1) ||
      !isSizeOf(flat.getInputs()[2], source, -1, 0) ||
      !isSizeOf(full.getInputs()[0], source, 0, -2) ||
      !isSizeOf(full.getInputs()[1], source, -1, 0) ||
      !isSizeOf(full.getInputs()[2], source, -2, -1))
    return {};
  return withoutScale(source, scale);
}

/// Returns the Softmax whose result `value` is, or null. Where a row of scores is all hidden,
/// exporters replace its NaN by 0, which is what KvAttention computes.
HostCallOp softmaxOf(Value value) {
  if (HostCallOp where = callOf(value, "Where"); where && hasInputs(where, 3)) {
    HostCallOp isNan = callOf(where.getInputs()[0], "IsNaN");
    if (isNan && numberIn(where.getInputs()[1]) == 0.0 &&
        sourceOf(isNan.getInputs()[0]) == sourceOf(where.getInputs()[2]))
      value = where.getInputs()[2];
  }
  return callOf(value, "Softmax");
}

/// Returns the product of queries and keys whose scores are `value`: behind constant factors, and
/// behind softcap * tanh(product * factor / softcap). Null where there is none.
HostCallOp productOf(Value value, double &scale, double &softcap) {
  double factor = 1, inner = 1;
  value = withoutScale(value, factor);
  if (HostCallOp tanh = callOf(value, "Tanh")) {
    value = withoutScale(tanh.getInputs()[0], inner);
    softcap = factor;
  }
  HostCallOp product = callOf(value, "MatMul");
  if (!product || !hasInputs(product, 2) || factor == 0)
    return {};
  scale = factor * inner;
  return product;
}

/// The keys and values that attention reads, without the repetition of heads in front of it.
struct KeysAndValues {
  Value keys, values;

  void skipRepeats() {
    const Value fewKeys = repeatedFrom(keys), fewValues = repeatedFrom(values);
    if (fewKeys && fewValues) {
      keys = fewKeys;
      values = fewValues;
    }
  }
};

/// Moves conversions of `join` from in front of `fused` behind it, where the cache is its result:
/// those whose results nothing in front of it reads.
void moveConversionsBehind(PatternRewriter &rewriter, HostCallOp join, HostCallOp fused) {
  auto isBehind = [&](Operation *user) {
    Operation *own = fused->getBlock()->findAncestorOpInBlock(*user);
    return own && fused->isBeforeInBlock(own);
  };
  for (Operation *user : llvm::make_early_inc_range(join.getResult(0).getUsers())) {
    auto cast = dyn_cast<HostCallOp>(user);
    if (cast && cast.getKernel() == "Cast" && cast->getBlock() == fused->getBlock() &&
        cast->isBeforeInBlock(fused) && llvm::all_of(cast->getUsers(), isBehind))
      rewriter.moveOpAfter(cast, fused);
  }
}

/// Replaces `call` by a KvAttention of the first three of its results, `mask` (or null) and the
/// caches: where keys and values are joins of past and new ones, it makes the joins, too.
void replaceByKvAttention(PatternRewriter &rewriter, HostCallOp call, Value query,
                          KeysAndValues source, Value mask, NamedAttrList parameters) {
  HostCallOp pastKeys = joinOf(source.keys), pastValues = joinOf(source.values);
  SmallVector<Value> inputs = {query, source.keys, source.values, mask};
  if (pastKeys && pastValues && pastKeys != pastValues)
    inputs = {query, pastKeys.getInputs()[1],           pastValues.getInputs()[1],
              mask,  sourceOf(pastKeys.getInputs()[0]), sourceOf(pastValues.getInputs()[0])};
  HostCallOp fused =
      makeCall(rewriter, call.getLoc(), "KvAttention", inputs,
               {call.getResult(0).getType(), source.keys.getType(), source.values.getType()},
               parameters.getDictionary(call.getContext()));
  if (inputs.size() == 6)
    for (auto [join, result] :
         {std::pair(pastKeys, fused.getResult(1)), std::pair(pastValues, fused.getResult(2))}) {
      moveConversionsBehind(rewriter, join, fused);
      rewriter.replaceUsesWithIf(join.getResult(0), result, [&](OpOperand &use) {
        Operation *user = fused->getBlock()->findAncestorOpInBlock(*use.getOwner());
        return user && fused->isBeforeInBlock(user);
      });
    }
  SmallVector<Value> results(call->getNumResults());
  for (unsigned i = 0; i < results.size() && i < 3; ++i)
    results[i] = fused.getResult(i);
  rewriter.replaceOp(call, results);
}

/// Attention as one operator of opset 23, whose caches exporters still join and repeat themselves.
struct ConvertAttention : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (call.getKernel() != "Attention" || !hasInputs(call, 3))
      return failure();
    const SmallVector<Value> inputs = inputsOf(call, 7);
    if (inputs[6] || call->getNumResults() > 3 || integerOf(call, "left_window_size", -1) >= 0 ||
        integerOf(call, "right_window_size", -1) >= 0)
      return rewriter.notifyMatchFailure(call, "has a part that KvAttention lacks");
    if (!inputs[4] != !inputs[5])
      return rewriter.notifyMatchFailure(call, "has only one of past keys and past values");
    if (!llvm::all_of(ArrayRef(inputs).take_front(3), isF32) || !isF32(call.getResult(0)) ||
        (inputs[4] && (!isF32(inputs[4]) || !isF32(inputs[5]))) ||
        (inputs[3] && !isF32(inputs[3]) && !isBool(inputs[3])))
      return rewriter.notifyMatchFailure(call, "is not computed in f32");
    NamedAttrList parameters;
    for (StringRef name : {"scale", "softcap", "is_causal", "q_num_heads", "kv_num_heads"})
      if (Attribute value = call.getParameters().get(name))
        parameters.append(name, value);
    KeysAndValues source{sourceOf(inputs[1]), sourceOf(inputs[2])};
    // Causal positions count from the past that is an input of its own.
    const bool ownsCache = inputs[4] || call->getNumResults() > 1 ||
                           integerOf(call, "is_causal", 0) ||
                           call.getParameters().contains("q_num_heads");
    if (ownsCache) {
      HostCallOp made = makeCall(rewriter, call.getLoc(), "KvAttention",
                                 ArrayRef(inputs).take_front(inputs[4]   ? 6
                                                             : inputs[3] ? 4
                                                                         : 3),
                                 call->getResultTypes(), parameters.getDictionary(getContext()));
      rewriter.replaceOp(call, made);
    } else {
      source.skipRepeats();
      replaceByKvAttention(rewriter, call, sourceOf(inputs[0]), source, inputs[3],
                           std::move(parameters));
    }
    ++count;
    return success();
  }

  static bool isBool(Value value) {
    auto type = dyn_cast<ShapedType>(value.getType());
    return type && type.getElementType().isInteger(1);
  }
};

struct FuseAttention : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (call.getKernel() != "MatMul" || !hasInputs(call, 2) || !isF32(call.getResult(0)))
      return failure();
    HostCallOp softmax = softmaxOf(call.getInputs()[0]);
    if (!softmax)
      return failure();
    if (const int64_t axis = integerOf(softmax, "axis", -1); axis != -1 && axis != 3)
      return rewriter.notifyMatchFailure(call, "softmax is not along the keys");

    double scale = 1, softcap = 0;
    Value mask;
    HostCallOp product = productOf(softmax.getInputs()[0], scale, softcap);
    if (HostCallOp add = callOf(softmax.getInputs()[0], "Add"); add && hasInputs(add, 2)) {
      for (unsigned i : {0, 1})
        if (!product && (product = productOf(add.getInputs()[i], scale, softcap)))
          mask = add.getInputs()[1 - i];
      if (!mask || !isF32(mask))
        return rewriter.notifyMatchFailure(call, "neither addend is a product");
    }
    if (!product)
      return rewriter.notifyMatchFailure(call, "softmax is not that of a product");
    if (!isF32(product.getInputs()[0]) || !isF32(product.getInputs()[1]) ||
        !isF32(call.getInputs()[1]))
      return rewriter.notifyMatchFailure(call, "is not computed in f32");
    const Value query = withoutScale(product.getInputs()[0], scale);
    const Value keys = transposedFrom(rewriter, product.getInputs()[1], scale);
    if (!keys)
      return rewriter.notifyMatchFailure(call, "keys are not transposed");
    KeysAndValues source{keys, sourceOf(call.getInputs()[1])};
    source.skipRepeats();
    NamedAttrList parameters;
    parameters.append("scale", rewriter.getDenseF64ArrayAttr(scale));
    parameters.append("mask_broadcast", rewriter.getDenseI64ArrayAttr(1));
    if (softcap != 0)
      parameters.append("softcap", rewriter.getDenseF64ArrayAttr(softcap));
    replaceByKvAttention(rewriter, call, query, source, mask, std::move(parameters));
    ++count;
    return success();
  }
};

/// Lets KvAttention read and write [batch, positions, heads, size], so that nothing is transposed.
/// Keys of a cache are in its order.
struct AbsorbTransposes : OpRewritePattern<HostCallOp> {
  using OpRewritePattern::OpRewritePattern;

  /// Parts of the attribute "swapped" (kernels/nn/KvAttention.cpp).
  static constexpr int64_t queries = 1, keysAndValues = 2, result = 4;

  static bool swapsMiddle(HostCallOp call) {
    return call && call.getKernel() == "Transpose" && hasPermutation(call, {0, 2, 1, 3});
  }
  /// Returns what `value` is a transpose of, or null.
  static Value transposeOf(Value value) {
    HostCallOp call = callOf(value);
    return swapsMiddle(call) ? call.getInputs()[0] : Value();
  }

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (call.getKernel() != "KvAttention" || !hasInputs(call, 3))
      return failure();
    const int64_t before = integerOf(call, "swapped", 0);
    int64_t swapped = before;
    SmallVector<Value> inputs = inputsOf(call, 6);
    if (Value source = transposeOf(inputs[0]); source && !(swapped & queries)) {
      inputs[0] = source;
      swapped |= queries;
    }
    const Value keys = transposeOf(inputs[1]), values = transposeOf(inputs[2]);
    if (keys && values && !inputs[4] && !(swapped & keysAndValues)) {
      inputs[1] = keys;
      inputs[2] = values;
      swapped |= keysAndValues;
    }
    HostCallOp last;
    if (call.getResult(0).hasOneUse() && !(swapped & result))
      last = dyn_cast<HostCallOp>(*call.getResult(0).user_begin());
    if (swapsMiddle(last))
      swapped |= result;
    if (swapped == before)
      return failure();
    NamedAttrList parameters(call.getParameters());
    parameters.set("swapped", rewriter.getDenseI64ArrayAttr(swapped));
    SmallVector<Type> types(call->getResultTypes());
    const bool replacesLast = (swapped & result) && !(before & result);
    if (replacesLast)
      types[0] = last.getResult(0).getType();
    HostCallOp fused = makeCall(rewriter, call.getLoc(), "KvAttention", inputs, types,
                                parameters.getDictionary(getContext()));
    if (replacesLast)
      rewriter.replaceOp(last, fused.getResult(0));
    for (auto [old, fresh] : llvm::zip_equal(call.getResults(), fused.getResults()))
      if (!old.use_empty())
        rewriter.replaceAllUsesWith(old, fresh);
    rewriter.eraseOp(call);
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
    if (source.getType() == result.getType()) {
      rewriter.replaceOp(call, source);
      return success();
    }
    // Types may state more or fewer dims. Calls take any, a return or a branch only its own.
    bool changed = false;
    rewriter.replaceUsesWithIf(result, source, [&](OpOperand &use) {
      const bool isCall = isa<HostCallOp>(use.getOwner());
      changed |= isCall;
      return isCall;
    });
    return success(changed);
  }
};

struct HostFuseAttention : impl::HostFuseAttentionBase<HostFuseAttention> {
  void runOnOperation() override {
    RewritePatternSet copies(&getContext()), patterns(&getContext());
    copies.add<RemoveCopy>(&getContext());
    patterns.add<FuseAttention, ConvertAttention>(&getContext(), numFused);
    graph::rewriteToFixpoint(getOperation(), std::move(copies));
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
    RewritePatternSet transposes(&getContext());
    transposes.add<AbsorbTransposes>(&getContext());
    graph::rewriteToFixpoint(getOperation(), std::move(transposes));
  }
};

} // namespace
} // namespace atc::host
