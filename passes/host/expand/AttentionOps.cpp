//===-- AttentionOps.cpp - what forms of attention consist of -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/host/expand/AttentionOps.h"

#include "passes/graph/RewriteUtils.h"

using namespace mlir;

namespace atc::host {

ArrayRef<int64_t> shapeOf(Value x) { return graph::getTensorType(x).getShape(); }

Value splitHeads(CallOps &ops, Value x, int64_t heads) {
  ArrayRef<int64_t> shape = shapeOf(x);
  return ops.transpose(ops.reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
}

Value joinHeads(CallOps &ops, Value x) {
  ArrayRef<int64_t> shape = shapeOf(x);
  return ops.reshape(ops.transpose(x, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

namespace {

double lowest(Value like) {
  return graph::getTensorType(like).getElementType().isF16() ? -65504 : -3.4028234663852886e38;
}

Value causalMask(CallOps &ops, int64_t queries, int64_t keys, int64_t before, Value like) {
  SmallVector<double> hidden(queries * keys, 0);
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = before + i + 1; j < keys; ++j)
      hidden[i * keys + j] = lowest(like);
  return ops.constant({queries, keys}, graph::getTensorType(like).getElementType(), hidden);
}

/// Returns the softmax of scores of which a sink takes a part.
Value softmaxBesideSinks(CallOps &ops, Value scores, Value sinks) {
  SmallVector<int64_t> shape(shapeOf(scores));
  const int64_t keys = shape[3];
  shape[3] = 1;
  SmallVector<double> zeros(shape[0] * shape[1] * shape[2], 0);
  Value column = ops.add(ops.constant(shape, graph::getTensorType(scores).getElementType(), zeros),
                         ops.reshape(sinks, {1, shape[1], 1, 1}));
  return ops.slice(ops.softmax(ops.concat({scores, column}, 3)), 3, 0, keys);
}

} // namespace

Value attend(CallOps &ops, const Scores &s) {
  const int64_t batch = shapeOf(s.q)[0], heads = shapeOf(s.q)[1], queries = shapeOf(s.q)[2],
                size = shapeOf(s.q)[3], shared = shapeOf(s.k)[1], keys = shapeOf(s.k)[2];
  // Heads that share keys are rows of one matrix.
  const int64_t rows = heads / shared * queries;
  Value scores =
      ops.product(ops.reshape(s.q, {batch, shared, rows, size}), ops.transpose(s.k, {0, 1, 3, 2}));
  scores = ops.reshape(ops.mul(scores, s.scale), {batch, heads, queries, keys});
  if (s.softcap != 0)
    scores = ops.mul(ops.tanh(ops.mul(scores, 1 / s.softcap)), s.softcap);
  if (s.added)
    scores = ops.add(scores, s.added);
  if (s.allowed)
    scores = ops.where(s.allowed, scores, ops.number(lowest(scores), scores));
  for (Value seen : s.seen)
    scores = ops.where(seen, scores, ops.number(lowest(scores), scores));
  if (s.causal && queries + s.before > 1)
    scores = ops.add(scores, causalMask(ops, queries, keys, s.before, scores));
  Value weights = s.sinks ? softmaxBesideSinks(ops, scores, s.sinks) : ops.softmax(scores);
  // A query that sees no key has the result 0.
  if (s.allowed)
    weights = ops.where(s.allowed, weights, ops.number(0, weights));
  Value result = ops.product(ops.reshape(weights, {batch, shared, rows, keys}), s.v);
  return ops.reshape(result, {batch, heads, queries, shapeOf(s.v)[3]});
}

Value turnPairs(CallOps &ops, Value x, Value cosines, Value sines, int64_t half, bool interleaved) {
  const int64_t size = shapeOf(x)[3];
  Value rest = 2 * half < size ? ops.slice(x, 3, 2 * half, size - 2 * half) : Value();
  Value own = ops.slice(x, 3, 0, 2 * half);
  SmallVector<int64_t> pairs(shapeOf(own));
  pairs[3] = half;
  pairs.push_back(2);
  Value a, b;
  if (interleaved) {
    Value split = ops.reshape(own, pairs);
    pairs.pop_back();
    a = ops.reshape(ops.slice(split, 4, 0, 1), pairs);
    b = ops.reshape(ops.slice(split, 4, 1, 1), pairs);
  } else {
    a = ops.slice(own, 3, 0, half);
    b = ops.slice(own, 3, half, half);
  }
  Value first = ops.sub(ops.mul(a, cosines), ops.mul(b, sines));
  Value second = ops.add(ops.mul(b, cosines), ops.mul(a, sines));
  Value result;
  if (interleaved) {
    SmallVector<int64_t> single(shapeOf(first));
    single.push_back(1);
    SmallVector<int64_t> whole(shapeOf(own));
    result = ops.reshape(ops.concat({ops.reshape(first, single), ops.reshape(second, single)}, 4),
                         whole);
  } else {
    result = ops.concat({first, second}, 3);
  }
  return rest ? ops.concat({result, rest}, 3) : result;
}

} // namespace atc::host
