//===-- ExpandGroupQuery.cpp - heads that share keys, with a cache --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GroupQueryAttention counts the positions of a sequence by data, whatever the shapes are: the new
// positions are written into the cache behind those that are valid, and are rotated by their
// position in the sequence. With
//
//   last   = lengths, the number of valid positions minus 1
//   before = the valid positions in front of the new ones
//
// row j of a new cache is row j of the old one for j < before, then come the new rows, then zeros.
// Query i sees the keys up to before + i. Lengths beyond the cache, which a host kernel refuses,
// are those of a full cache: a target that computes them cannot report them.

#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/host/expand/AttentionOps.h"

#include "llvm/ADT/Sequence.h"

#include <cmath>

using namespace mlir;

namespace atc::host {

namespace {

using graph::HostCallOp;

class GroupQueryExpander {
public:
  explicit GroupQueryExpander(HostCallOp call)
      : call(call), ops(call), inputs(inputsOf(call, 17)) {}

  StringRef run();

private:
  StringRef whyNot();
  void countPositions();
  Value turned(Value x, unsigned scale, StringRef epsilon);
  Value cached(Value past, Value x);
  void hideKeys(Scores &s);

  /// Returns first, first + 1, ... as integers like the lengths.
  Value counted(ArrayRef<int64_t> shape, int64_t first = 0) {
    int64_t size = 1;
    for (int64_t dim : shape)
      size *= dim;
    return ops.constant(
        shape, integer(),
        llvm::map_to_vector(llvm::seq(first, first + size), [](int64_t i) { return double(i); }));
  }
  Type integer() const { return graph::getTensorType(inputs[5]).getElementType(); }

  HostCallOp call;
  CallOps ops;
  SmallVector<Value> inputs;
  int64_t batch = 0, length = 0, heads = 0, keyHeads = 0, size = 0;
  int64_t room = 0; ///< positions of the past
  int64_t keys = 0; ///< positions of the present
  Value before;     ///< [batch, 1]
  Value positions;  ///< [batch, length], of the new ones; 0 for padding
  Value cosines, sines;
};

StringRef GroupQueryExpander::whyNot() {
  if (!inputs[5] || !inputs[6])
    return "it has no lengths";
  if (inputs[12] || inputs[13] || (inputs[3] && !staticFloats(inputs[3]) && shapeOf(inputs[3])[2]))
    return "its cache is quantized";
  if (inputs[16])
    return "the numbers of its new positions are an input";
  if (integerOf(call, "sliding_window_cache", 0))
    return "its cache holds a window";
  if (!integerOf(call, "causal", 1))
    return "queries see later keys";
  if (call.getNumResults() > 3 && !call.getResult(3).use_empty())
    return "its scores are read";
  if (!graph::getScalarConstant(inputs[6]))
    return "how many positions there are in all is not known";
  return {};
}

/// Finds which positions the new rows have. All of it are integers of known bounds.
void GroupQueryExpander::countPositions() {
  Value like = inputs[5];
  auto number = [&](int64_t value) { return ops.number(double(value), like); };
  Value last = ops.larger(ops.smaller(ops.reshape(like, {batch, 1}), number(keys - 1)), number(0));
  if (!room)
    before = ops.constant({batch, 1}, integer(), SmallVector<double>(batch, 0));
  else if (length == 1)
    before = ops.smaller(last, number(room));
  else
    before = ops.smaller(ops.larger(ops.sub(last, number(length - 1)), number(0)), number(room));
  positions =
      inputs[9] ? ops.reshape(inputs[9], {batch, length}) : ops.add(before, counted({1, length}));
  if (length > 1) // new positions are padded on the right
    positions =
        ops.where(ops.isGreater(counted({1, length}), last), ops.number(0, positions), positions);
}

/// Normalizes and rotates [batch, heads, positions, size].
Value GroupQueryExpander::turned(Value x, unsigned scale, StringRef epsilon) {
  if (inputs[scale]) {
    const double shared = numberOf(call, "qk_norm_epsilon", 1e-6);
    Value mean = ops.meanOfRows(ops.mul(x, x));
    Value root = ops.inverseRoot(ops.add(mean, ops.number(numberOf(call, epsilon, shared), mean)));
    x = ops.mul(ops.mul(x, root), ops.reshape(inputs[scale], {size}));
  }
  return cosines ? turnPairs(ops, x, cosines, sines, shapeOf(cosines).back(),
                             integerOf(call, "rotary_interleaved", 0))
                 : x;
}

/// Returns the cache with the new rows x, [batch, heads, positions, size].
Value GroupQueryExpander::cached(Value past, Value x) {
  if (!room && keys == length)
    return x;
  auto zeros = [&](int64_t rows) {
    return ops.constant({batch, keyHeads, rows, size}, graph::getTensorType(x).getElementType(),
                        SmallVector<double>(batch * keyHeads * rows * size, 0));
  };
  Value row = counted({1, keys});
  if (length == 1) {
    // Selections, which need no copy of the cache.
    Value old = !room          ? zeros(keys)
                : room == keys ? past
                               : ops.concat({past, zeros(keys - room)}, 2);
    auto perRow = [&](Value bools) { return ops.reshape(bools, {batch, 1, keys, 1}); };
    return ops.where(perRow(ops.isGreater(before, row)), old,
                     ops.where(perRow(ops.isGreater(row, before)), ops.number(0, x), x));
  }
  SmallVector<Value> parts;
  if (room)
    parts.push_back(past);
  parts.append({x, zeros(1)});
  Value all = ops.concat(parts, 2);
  const int64_t rows = room + length + 1;
  auto number = [&](int64_t value) { return ops.number(double(value), before); };
  // Rows of the concatenation: the past, the new ones, the zeros.
  Value fresh = ops.smaller(ops.add(ops.sub(row, before), number(room)), number(rows - 1));
  Value source = ops.where(ops.isGreater(before, row), row, fresh);
  // Each head has rows of its own.
  Value first = ops.mul(counted({batch, keyHeads, 1}), number(rows));
  source = ops.add(ops.reshape(source, {batch, 1, keys}), first);
  return ops.reshape(ops.gather(ops.reshape(all, {batch * keyHeads * rows, size}), source),
                     {batch, keyHeads, keys, size});
}

void GroupQueryExpander::hideKeys(Scores &s) {
  if (!room && keys == length) {
    s.causal = true;
  } else {
    // Padding sees what the rows in front of it would.
    Value behind = ops.add(ops.reshape(before, {batch, 1, 1, 1}), counted({1, 1, length, 1}, 1));
    s.seen.push_back(ops.isGreater(behind, counted({1, 1, 1, keys})));
  }
  const int64_t window = integerOf(call, "local_window_size", -1);
  if (window <= 0 || window >= keys)
    return;
  Value firstSeen =
      ops.add(ops.reshape(before, {batch, 1, 1, 1}), counted({1, 1, length, 1}, 1 - window));
  s.seen.push_back(ops.isGreater(counted({1, 1, 1, keys}, 1), firstSeen));
}

StringRef GroupQueryExpander::run() {
  if (StringRef why = whyNot(); !why.empty())
    return why;
  Value query = inputs[0], key = inputs[1], value = inputs[2];
  heads = integerOf(call, "num_heads", 1);
  keyHeads = integerOf(call, "kv_num_heads", 1);
  batch = shapeOf(query)[0];
  length = shapeOf(query)[1];
  size = shapeOf(query)[2] / (key ? heads : heads + 2 * keyHeads);
  room = inputs[3] ? shapeOf(inputs[3])[2] : 0;
  keys = std::max<int64_t>(*graph::getScalarConstant(inputs[6]), room);
  if (inputs[10] && shapeOf(inputs[10]).back() != keys)
    return "its addend is not as long as the keys";
  // A gather of the target would take the last row for every later one.
  if (integerOf(call, "do_rotary", 0) && !inputs[9] && shapeOf(inputs[7])[0] < keys)
    return "its tables of angles have less positions than the keys";
  // Those of padding need not be in the tables.
  if (integerOf(call, "do_rotary", 0) && inputs[9] && length > 1)
    return "its stated positions may be those of padding";
  if (!key) {
    key = ops.slice(query, 2, heads * size, keyHeads * size);
    value = ops.slice(query, 2, (heads + keyHeads) * size, keyHeads * size);
    query = ops.slice(query, 2, 0, heads * size);
  }
  countPositions();
  if (integerOf(call, "do_rotary", 0)) {
    const int64_t half = shapeOf(inputs[7])[1];
    cosines = ops.reshape(ops.gather(inputs[7], positions), {batch, 1, length, half});
    sines = ops.reshape(ops.gather(inputs[8], positions), {batch, 1, length, half});
  }
  Scores s;
  s.q = turned(splitHeads(ops, query, heads), 14, "q_norm_epsilon");
  s.k = cached(inputs[3], turned(splitHeads(ops, key, keyHeads), 15, "k_norm_epsilon"));
  s.v = cached(inputs[4], splitHeads(ops, value, keyHeads));
  const double asked = numberOf(call, "scale", 0);
  s.scale = asked != 0 ? asked : 1 / std::sqrt(double(size));
  s.softcap = numberOf(call, "softcap", 0);
  s.added = inputs[10];
  hideKeys(s);
  s.sinks = inputs[11];
  if (!s.sinks && integerOf(call, "smooth_softmax", 0) == 1)
    s.sinks = ops.constant({heads}, graph::getTensorType(query).getElementType(),
                           SmallVector<double>(heads, 0));
  ops.replace(0, joinHeads(ops, attend(ops, s)));
  ops.replace(1, s.k);
  ops.replace(2, s.v);
  return {};
}

} // namespace

StringRef expandGroupQuery(HostCallOp call) { return GroupQueryExpander(call).run(); }

} // namespace atc::host
