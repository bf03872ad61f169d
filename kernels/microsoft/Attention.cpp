//===-- Attention.cpp - com.microsoft: attention --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/microsoft/Attention.h"
#include "kernels/core/Math.h"
#include "kernels/nn/CachedAttention.h"
#include "kernels/nn/GemmPlan.h"
#include "kernels/nn/Quantize.h"

namespace atc::kernels {

namespace {

/// Vectors of [batch, heads, positions]; strides count floats, vectors are contiguous.
struct HeadVectors {
  const float *data = nullptr;
  int64_t batch = 0, head = 0, position = 0;
  /// Returns the vector of position `s`.
  const float *at(int64_t b, int64_t h, int64_t s) const {
    return data + b * batch + h * head + s * position;
  }
};

/// The operands of softmax(q k^T * scale + added) v.
struct Attend {
  int64_t batch, heads, queries, before, keys, size, valueSize; ///< before: keys of the past
  HeadVectors q, k, v;
  double scale;
  float *out; ///< [batch, queries, heads, valueSize]

  /// Returns the queries as [batch, queries, heads, size], null where memory could not be
  /// allocated.
  const float *packedQueries(Context &c) const {
    const int64_t row = heads * size;
    if (q.head == size && q.position == row && q.batch == queries * row)
      return q.data;
    float *to = c.scratch<float>(batch * queries * row + 1);
    for (int64_t i = 0; to && i < batch * queries; ++i)
      for (int64_t h = 0; h < heads; ++h)
        copyBytes(to + i * row + h * size, q.at(i / queries, h, i % queries), size * 4);
    return to;
  }
};

/// The values that mask_index or key_padding_mask adds to the scores.
struct MaskIndex {
  Tensor mask;
  float hidden; ///< for masked keys
  int64_t batch, queries, keys;

  bool valid(Context &c) const {
    if (!mask)
      return true;
    const Dims d = mask.dims();
    const bool fits =
        d.rank == 1   ? d[0] == batch || d[0] == 2 * batch || d[0] == 3 * batch + 2
        : d.rank == 2 ? d[0] == batch && d[1] == keys
        : d.rank == 3 ? d[0] == batch && d[1] == queries && d[2] == keys
                      : d.rank == 4 && d[0] == batch && d[1] == 1 && d[2] >= keys && d[3] >= keys;
    if (!fits)
      c.fail("a mask of rank % and % elements for % batches, % queries, % keys", d.rank,
             mask.count(), batch, queries, keys);
    return fits;
  }
  float operator()(int64_t b, int64_t i, int64_t j) const {
    if (!mask)
      return 0;
    bool seen;
    switch (mask.rank()) {
    case 1:
      // The ends, followed by the beginnings.
      seen =
          j < integerAt(mask, b) && (mask.dim(0) != 2 * batch || j >= integerAt(mask, batch + b));
      break;
    case 2:
      seen = integerAt(mask, b * keys + j) > 0;
      break;
    case 3:
      seen = integerAt(mask, (b * queries + i) * keys + j) > 0;
      break;
    default: {
      const int64_t max = mask.dim(3), row = keys - queries + i;
      seen = integerAt(mask, (b * mask.dim(2) + row) * max + j) > 0;
    }
    }
    return seen ? 0 : hidden;
  }
};

/// The values that are added to the scores.
struct Added {
  MaskIndex mask;
  ScoreBias bias;
  /// Where there are more keys than those of the past and one per query, the last query sees all,
  /// and each other one those up to its own position: the first `seen` and one per query before.
  int64_t seen = -1;

  float hides(int64_t query, int64_t key) const {
    const bool isLater = seen >= 0 && query + 1 < mask.queries && key >= seen + query;
    return isLater ? -3.40282347e38f : 0;
  }

  bool read(Context &c, Tensor hides, Tensor adds, int64_t batch, int64_t heads, int64_t queries,
            int64_t keys) {
    mask = {hides, float(c.number("mask_filter_value", -10000)), batch, queries, keys};
    return mask.valid(c) && bias.read(c, adds, batch, heads, queries, keys);
  }
  /// Lets the sums of mask and bias be added to the scores. Returns false where memory could not be
  /// allocated.
  bool addTo(Context &c, CachedAttention &p) const {
    const int64_t keys = p.total, queries = p.q.length;
    p.mask.columns = keys;
    if (!mask.mask && seen < 0) {
      p.bias = bias.data;
      const int64_t steps[3] = {bias.batch, bias.head, bias.row};
      copyBytes(p.mask.steps, steps, sizeof(steps));
      return true;
    }
    // Most masks are equal for all queries and heads.
    const bool isEqual = !bias.data && seen < 0 && mask.mask.rank() <= 2;
    const int64_t rows = isEqual ? 1 : queries, heads = bias.head ? p.q.heads : 1,
                  count = p.q.batch * heads * rows;
    float *sums = c.scratch<float>(count * keys + 1);
    if (!sums)
      return false;
    parallelIf(c, count, 8 * keys, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t i = row % rows, h = row / rows % heads, b = row / rows / heads;
        for (int64_t j = 0; j < keys; ++j)
          sums[row * keys + j] = mask(b, i, j) + hides(i, j) + bias(b, h, i, j);
      }
    });
    p.bias = sums;
    p.mask.steps[0] = heads * rows * keys;
    p.mask.steps[1] = heads == 1 ? 0 : rows * keys;
    p.mask.steps[2] = rows == 1 ? 0 : keys;
    return true;
  }
  /// Computes the attention. Returns false where memory could not be allocated.
  bool run(Context &c, const Attend &a) {
    CachedAttention p;
    p.q = {a.batch, a.heads, a.queries, a.size, true};
    p.k = {a.batch, a.heads, a.keys, a.size, true};
    p.v = {a.batch, a.heads, a.keys, a.valueSize, true};
    p.total = a.keys;
    p.before = a.before;
    p.scale = float(a.scale);
    const bool hidesLater = c.integer("unidirectional", 0), fits = a.keys <= a.before + a.queries;
    p.causal = hidesLater && fits;
    seen = hidesLater && !fits ? a.before + 1 : -1;
    p.keys.show(a.k.data, a.size, a.heads, a.k.batch, a.k.head, a.k.position);
    p.values.show(a.v.data, a.valueSize, a.heads, a.v.batch, a.v.head, a.v.position);
    const float *queries = a.packedQueries(c);
    if (!queries || !addTo(c, p))
      return false;
    Heads result = p.q;
    result.size = a.valueSize;
    p.run(c, queries, a.out, result);
    return true;
  }
};

/// Writes [batch, heads, past + length, size]: what is there, and new vectors.
void append(float *to, int64_t batch, int64_t heads, int64_t size, const float *past,
            int64_t pastLength, const HeadVectors &added, int64_t length) {
  const int64_t total = pastLength + length;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h) {
      float *at = to + (b * heads + h) * total * size;
      if (pastLength)
        copyBytes(at, past + (b * heads + h) * pastLength * size, pastLength * size * 4);
      for (int64_t s = 0; s < length; ++s)
        copyBytes(at + (pastLength + s) * size, added.at(b, h, s), size * 4);
    }
}

/// Adds a bias to rows of [rows, width].
float *withBias(Context &c, const float *data, int64_t rows, int64_t width, const float *bias) {
  float *out = c.scratch<float>(rows * width + 1);
  for (int64_t i = 0; out && i < rows * width; ++i)
    out[i] = data[i] + bias[i % width];
  return out;
}

/// Attention of one sequence to itself: queries, keys and values are columns of one
/// projection, qkv.
struct SelfAttention {
  int64_t heads, batch, length, depth, columns, hidden, valueHidden, size, valueSize, before, keys;
  Tensor past;
  FloatResult result, present;
  Added added;

  /// Finds the sizes and makes the results, of type `dtype`.
  bool find(Context &c, Tensor data, Tensor weights, Tensor bias, Tensor cached, uint8_t dtype) {
    heads = c.integer("num_heads", 0);
    const List<int64_t> sizes = c.integers("qkv_hidden_sizes");
    // Heads without elements could be of any number.
    if (data.rank() != 3 || weights.rank() != 2 || weights.dim(0) != data.dim(2) || heads < 1 ||
        heads > maximum(weights.dim(1), int64_t(1)))
      return c.fail("an input of rank %, weights of rank %, % heads", data.rank(), weights.rank(),
                    heads),
             false;
    batch = data.dim(0);
    length = data.dim(1);
    depth = data.dim(2);
    columns = weights.dim(1);
    hidden = sizes.size == 3 ? sizes[0] : columns / 3;
    valueHidden = sizes.size == 3 ? sizes[2] : columns / 3;
    if (hidden < 0 || hidden > columns || valueHidden != columns - 2 * hidden || valueHidden < 0 ||
        hidden % heads || valueHidden % heads || (sizes.size == 3 && sizes[1] != hidden) ||
        (bias && bias.count() != columns))
      return c.fail("% columns of weights for % heads", columns, heads), false;
    if (c.integer("do_rotary", 0) || c.integer("past_present_share_buffer", 0))
      return c.fail("do_rotary and past_present_share_buffer are not supported"), false;
    size = hidden / heads;
    valueSize = valueHidden / heads;
    past = cached;
    before = past ? past.dim(3) : 0;
    keys = before + length;
    if (past && (past.rank() != 5 || past.dim(0) != 2 || past.dim(1) != batch ||
                 past.dim(2) != heads || past.dim(4) != size || size != valueSize))
      return c.fail("past does not fit % batches of % heads of %", batch, heads, size), false;
    return result.make(c, 0, dtype, Dims(batch, length, valueHidden)) &&
           present.makeIfWanted(c, 1, dtype, Dims(int64_t(2), batch, heads, keys, size));
  }
  bool readAdded(Context &c, Tensor hides, Tensor adds) {
    return added.read(c, hides, adds, batch, heads, length, keys);
  }

  void run(Context &c, const float *qkv) {
    float *out = result.floats(c);
    if (!out)
      return;
    auto part = [&](int64_t offset, int64_t step) {
      return HeadVectors{qkv + offset, length * columns, step, columns};
    };
    HeadVectors k = part(hidden, size), v = part(2 * hidden, valueSize);
    if (past || present) {
      const int64_t half = batch * heads * keys * size;
      if (present && size != valueSize)
        return c.fail("present needs values as long as keys, not % and %", valueSize, size);
      float *joined = present ? present.floats(c) : c.scratch<float>(2 * half);
      const float *old = past ? floatsOf(c, past) : nullptr;
      if (!joined || (past && !old))
        return;
      append(joined, batch, heads, size, old, before, k, length);
      append(joined + half, batch, heads, size, old + (past ? past.count() / 2 : 0), before, v,
             length);
      k = HeadVectors{joined, heads * keys * size, keys * size, size};
      v = HeadVectors{joined + half, heads * keys * size, keys * size, size};
    }
    const double scale = c.number("scale", 0);
    const Attend attend{batch,
                        heads,
                        length,
                        before,
                        keys,
                        size,
                        valueSize,
                        part(0, size),
                        k,
                        v,
                        scale ? scale : 1 / math::sqrt(double(size)),
                        out};
    if (!added.run(c, attend))
      return;
    result.store();
    present.store();
  }
};

/// The sizes of a MultiHeadAttention, and the form of its inputs.
struct MultiHeads {
  bool packed = false;   ///< the query is [batch, length, heads, 3, size], with keys and values
  bool packedKv = false; ///< the key is [batch, length, heads, 2, size], with values
  bool split = false;    ///< keys and values are [batch, heads, length, size]
  int64_t batch = 0, heads = 0;
  int64_t length = 0, before = 0, fresh = 0; ///< positions: of queries, in the past, of new keys
  int64_t hidden = 0, valueHidden = 0;       ///< elements per position, of all heads
  int64_t size = 0, valueSize = 0;           ///< elements per position and head

  int64_t keys() const { return before + fresh; }

  /// Reads and checks the shapes of all inputs but the addends. Returns false where the call has
  /// failed.
  bool find(Context &c) {
    const Tensor query = c.in(0), key = c.in(1), value = c.in(2), bias = c.in(3), pastKey = c.in(6),
                 pastValue = c.in(7);
    heads = c.integer("num_heads", 0);
    if (heads < 1 || heads > 0x7fffffff || (query.rank() != 3 && query.rank() != 5))
      return c.fail("a query of rank % with % heads", query.rank(), heads), false;
    packed = query.rank() == 5, packedKv = key && key.rank() == 5, split = key && key.rank() == 4;
    batch = query.dim(0), length = query.dim(1);
    hidden = packed ? heads * query.dim(4) : query.dim(2), size = hidden / heads;
    if (packed ? query.dim(2) != heads || query.dim(3) != 3
               : !key || hidden % heads || heads > maximum(hidden, int64_t(1)))
      return c.fail("a query of % numbers for % heads", hidden, heads), false;
    if (!packed && !packedKv && !value)
      return c.fail("has no value"), false;
    fresh = packed ? length : split ? key.dim(2) : key.dim(1);
    valueHidden = packed || packedKv ? hidden : split ? heads * value.dim(3) : value.dim(2);
    valueSize = valueHidden / heads, before = pastKey ? pastKey.dim(2) : 0;
    if ((key && key.count() != batch * fresh * hidden * (packedKv ? 2 : 1)) ||
        (value && value.count() != batch * fresh * valueHidden) || valueHidden % heads ||
        (bias && bias.count() != 2 * hidden + valueHidden) ||
        (pastKey && (!pastValue || pastKey.count() != batch * heads * before * size ||
                     pastValue.count() != batch * heads * before * valueSize)))
      return c.fail("query, key and value do not fit % batches of % heads of %", batch, heads,
                    size),
             false;
    return true;
  }

  /// Returns the vectors of the queries, the new keys and the new values in their inputs, which
  /// begin at `q`, `k` and `v`.
  HeadVectors queriesAt(const float *q) const {
    if (packed)
      return {q, length * 3 * hidden, 3 * size, 3 * hidden};
    return {q, length * hidden, size, hidden};
  }
  HeadVectors keysAt(const float *k) const {
    if (packed)
      return queriesAt(k + size);
    if (packedKv)
      return {k, fresh * 2 * hidden, 2 * size, 2 * hidden};
    if (split)
      return {k, fresh * hidden, fresh * size, size};
    return {k, fresh * hidden, size, hidden};
  }
  HeadVectors valuesAt(const float *v) const {
    if (packed)
      return queriesAt(v + 2 * size);
    if (packedKv)
      return keysAt(v + size);
    if (split)
      return {v, fresh * valueHidden, fresh * valueSize, valueSize};
    return {v, fresh * valueHidden, valueSize, valueHidden};
  }
};

} // namespace

ATC_KERNEL(MsAttention) {
  const Tensor data = in(0), weights = in(1), bias = in(2);
  SelfAttention self;
  if (!self.find(*this, data, weights, bias, in(4), data.dtype()) ||
      !self.readAdded(*this, in(3), in(5)))
    return;
  GemmPlan plan{self.batch * self.length, self.columns, self.depth};
  plan.columnStep = 1;
  float *qkv = scratch<float>(plan.m * plan.n + 1);
  const float *x = floatsOf(*this, data), *w = floatsOf(*this, weights);
  const float *shift = bias ? floatsOf(*this, bias) : nullptr;
  if (qkv && x && w && (!bias || shift) && plan.run(*this, qkv, x, w, shift, 1, 1))
    self.run(*this, qkv);
}

ATC_KERNEL(QAttention) {
  const Tensor data = in(0), weights = in(1), bias = in(2), scaleX = in(3), scaleW = in(4),
               zeroW = in(7);
  SelfAttention self;
  if (!self.find(*this, data, weights, bias, in(8), bias.dtype()) ||
      !self.readAdded(*this, in(5), Tensor()))
    return;
  const int64_t rows = self.batch * self.length, columns = self.columns, k = self.depth;
  if (scaleX.count() != 1 || (scaleW.count() != 1 && scaleW.count() != columns))
    return fail("% and % scales for % columns", scaleX.count(), scaleW.count(), columns);
  const double *x = centered(*this, data, in(6), 1, 1, data.count());
  const double *w =
      centered(*this, weights, zeroW, 1, zeroW && zeroW.count() > 1 ? columns : 1, weights.count());
  const float *shift = floatsOf(*this, bias), *scales = floatsOf(*this, scaleW);
  double *sums = scratch<double>(rows * columns + 1);
  float *qkv = scratch<float>(rows * columns + 1);
  if (!x || !w || !shift || !scales || !sums || !qkv ||
      !multiply(*this, Product<double>{sums, x, w, rows, columns, k, columns, k, 1, columns, 1}))
    return;
  const double scale = numberAt(scaleX, 0);
  const bool perColumn = scaleW.count() > 1;
  for (int64_t i = 0; i < rows * columns; ++i) {
    const int64_t column = i % columns;
    qkv[i] = float(sums[i] * scale * scales[perColumn ? column : 0]) + shift[column];
  }
  self.run(*this, qkv);
}

ATC_KERNEL(MultiHeadAttention) {
  MultiHeads p;
  if (!p.find(*this))
    return;
  const Tensor query = in(0), key = in(1), value = in(2), bias = in(3), pastKey = in(6),
               pastValue = in(7);
  const int64_t batch = p.batch, heads = p.heads, keys = p.keys();
  FloatResult result, presentKey, presentValue;
  Added added;
  if (!result.make(*this, 0, query.dtype(), Dims(batch, p.length, p.valueHidden)) ||
      !presentKey.makeIfWanted(*this, 1, query.dtype(), Dims(batch, heads, keys, p.size)) ||
      !presentValue.makeIfWanted(*this, 2, query.dtype(), Dims(batch, heads, keys, p.valueSize)) ||
      !added.read(*this, in(4), in(5), batch, heads, p.length, keys))
    return;
  const float *q = floatsOf(*this, query), *k = p.packed ? q : floatsOf(*this, key);
  const float *v = p.packed ? q : p.packedKv ? k : floatsOf(*this, value);
  const float *shift = bias ? floatsOf(*this, bias) : nullptr;
  float *out = result.floats(*this);
  if (!q || !k || !v || !out || (bias && !shift))
    return;
  if (shift && (p.packed || p.packedKv || p.split))
    return fail("a bias is supported for separate projections only");
  if (shift) {
    q = withBias(*this, q, batch * p.length, p.hidden, shift);
    k = withBias(*this, k, batch * p.fresh, p.hidden, shift + p.hidden);
    v = withBias(*this, v, batch * p.fresh, p.valueHidden, shift + 2 * p.hidden);
    if (!q || !k || !v)
      return;
  }
  HeadVectors queries = p.queriesAt(q), keyHeads = p.keysAt(k), values = p.valuesAt(v);
  auto join = [&](HeadVectors &part, int64_t width, Tensor past, FloatResult &present) {
    if (!pastKey && !present)
      return true;
    float *to = present ? present.floats(*this) : scratch<float>(batch * heads * keys * width + 1);
    const float *old = past ? floatsOf(*this, past) : nullptr;
    if (!to || (past && !old))
      return false;
    append(to, batch, heads, width, old, p.before, part, p.fresh);
    part = {to, heads * keys * width, keys * width, width};
    return true;
  };
  if (!join(keyHeads, p.size, pastKey, presentKey) ||
      !join(values, p.valueSize, pastValue, presentValue))
    return;
  const double stated = number("scale", 0);
  const double scale = stated ? stated : 1 / math::sqrt(double(p.size));
  if (!added.run(*this, {batch, heads, p.length, p.before, keys, p.size, p.valueSize, queries,
                         keyHeads, values, scale, out}))
    return;
  result.store();
  presentKey.store();
  presentValue.store();
}

} // namespace atc::kernels
