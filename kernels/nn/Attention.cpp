//===-- Attention.cpp - scaled dot product attention ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processes a few heads at a time: a matrix product yields their scores, rows of which are masked
// and become probabilities, and a second product weights the values.

#include "kernels/core/VectorMath.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/AttentionShapes.h"
#include "kernels/nn/Gemm.h"

namespace atc::kernels {

namespace {
/// The keys that a query may attend to.
struct Visible {
  int64_t offset = 0, valid = 0, left = -1, right = -1;
  void range(int64_t query, int64_t total, int64_t &first, int64_t &last) const {
    const int64_t position = query + offset;
    first = left >= 0 ? minimum(maximum(position - minimum(left, position), int64_t(0)), total) : 0;
    last = minimum(valid, total);
    if (right >= 0)
      last = minimum(last, position + minimum(right, total) + 1);
    last = maximum(last, first);
  }
};

/// Concatenates the past and the new elements of a cache: [batch, heads, length, size].
template <typename T>
void concatenate(Context &c, T *to, Tensor past, Tensor fresh, const Heads &layout,
                 int64_t before) {
  const int64_t size = layout.size, total = before + layout.length;
  parallelIf(c, layout.batch * layout.heads, total * size, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T *head = to + i * total * size;
      if (before)
        copyBytes(head, past.as<T>() + i * before * size, before * size * int64_t(sizeof(T)));
      const T *from = fresh.as<T>() + layout.head(i / layout.heads, i % layout.heads);
      for (int64_t row = 0; row < layout.length; ++row)
        copyBytes(head + (before + row) * size, from + row * layout.row(),
                  size * int64_t(sizeof(T)));
    }
  });
}

struct AttentionPlan {
  Heads q, k, v;
  int64_t before = 0, total = 0, mode = 0;
  double scale = 1, softcap = 0;
  Mask mask;
  bool causal = false;
  int64_t left = -1, right = -1;

  bool find(Context &c) {
    if (!q.find(c, c.in(0), "q_num_heads") || !k.find(c, c.in(1), "kv_num_heads") ||
        !v.find(c, c.in(2), "kv_num_heads"))
      return false;
    if (q.batch != k.batch || k.batch != v.batch || k.heads != v.heads || q.heads % k.heads ||
        k.length != v.length || q.size != k.size)
      return c.fail("queries (batch %, % heads of %), keys (batch %, % heads of %) and values do "
                    "not fit",
                    q.batch, q.heads, q.size, k.batch, k.heads, k.size),
             false;
    const Tensor pastK = c.in(4), pastV = c.in(5), nonpad = c.in(6);
    if (bool(pastK) != bool(pastV))
      return c.fail("past_key and past_value go together"), false;
    if (pastK) {
      if (pastK.rank() != 4 || pastV.rank() != 4)
        return c.fail("caches have ranks % and %, not 4", pastK.rank(), pastV.rank()), false;
      before = pastK.dim(2);
      if (!(pastK.dims() == Dims(k.batch, k.heads, before, k.size)) ||
          !(pastV.dims() == Dims(k.batch, k.heads, before, v.size)))
        return c.fail("past_key or past_value do not fit % heads of %", k.heads, k.size), false;
    }
    if (nonpad && nonpad.count() != q.batch)
      return c.fail("% lengths for a batch of %", nonpad.count(), q.batch), false;
    total = before + k.length;
    scale = c.number("scale", q.size ? 1 / math::sqrt(double(q.size)) : 1);
    softcap = c.number("softcap", 0);
    mode = c.integer("qk_matmul_output_mode", 0);
    if (mode < 0 || mode > 3)
      return c.fail("qk_matmul_output_mode is %, expected 0 to 3", mode), false;
    causal = c.integer("is_causal", 0);
    left = c.integer("left_window_size", -1);
    right = c.integer("right_window_size", -1);
    return mask.find(c, Dims(q.batch, q.heads, q.length, total));
  }
  Visible visible(Context &c, int64_t b) const {
    const Tensor nonpad = c.in(6);
    Visible result;
    result.offset = c.in(4) ? before : nonpad ? integerAt(nonpad, b) - q.length : 0;
    result.valid = nonpad ? maximum(integerAt(nonpad, b), int64_t(0)) : total;
    result.left = left;
    result.right = causal ? (right >= 0 ? minimum(right, int64_t(0)) : 0) : right;
    return result;
  }
};

/// Converts one row of raw scores to probabilities; `seen` (or null) receives the intermediate
/// result that qk_matmul_output_mode selects.
template <typename F>
void attendRow(F *row, F *seen, const AttentionPlan &p, int64_t first, int64_t last, const F *bias,
               const uint8_t *allowed) {
  const F scale = F(p.scale), infinity = highest<F>();
  auto keep = [&](int64_t mode) {
    if (seen && p.mode == mode)
      copyBytes(seen, row, p.total * int64_t(sizeof(F)));
  };
  for (int64_t j = 0; j < p.total; ++j)
    row[j] *= scale;
  keep(0);
  if (p.softcap != 0) {
    const F cap = F(p.softcap), inverse = F(1 / p.softcap);
    for (int64_t j = 0; j < p.total; ++j)
      row[j] = cap * fast::tanh(row[j] * inverse);
  }
  keep(1);
  const int64_t columns = p.mask.tensor ? p.mask.columns : p.total;
  for (int64_t j = 0; bias && j < columns; ++j)
    row[j] += bias[j];
  for (int64_t j = 0; allowed && j < columns; ++j)
    row[j] = allowed[j] ? row[j] : -infinity;
  last = maximum(first, minimum(last, columns));
  for (int64_t j = 0; j < first; ++j)
    row[j] = -infinity;
  for (int64_t j = last; j < p.total; ++j)
    row[j] = -infinity;
  keep(2);
  // Lanes of their own, which the compiler turns into vectors.
  constexpr int64_t lanes = 16;
  F best[lanes], sums[lanes] = {};
  for (F &lane : best)
    lane = -infinity;
  int64_t at = first;
  for (; at + lanes <= last; at += lanes)
    for (int64_t l = 0; l < lanes; ++l)
      best[l] = maxOrNan(best[l], row[at + l]);
  for (; at < last; ++at)
    best[0] = maxOrNan(best[0], row[at]);
  F max = -infinity, sum = 0;
  for (F lane : best)
    max = maxOrNan(max, lane);
  if (max == -infinity) {
    // No key is attended to.
    __builtin_memset(row, 0, uint64_t(p.total) * sizeof(F));
    return keep(3);
  }
  for (int64_t j = 0; j < p.total; ++j)
    row[j] = fast::exp(row[j] - max); // of what is hidden: 0
  for (at = first; at + lanes <= last; at += lanes)
    for (int64_t l = 0; l < lanes; ++l)
      sums[l] += row[at + l];
  for (; at < last; ++at)
    sums[0] += row[at];
  for (F lane : sums)
    sum += lane;
  const F inverse = 1 / sum;
  for (int64_t j = first; j < last; ++j)
    row[j] *= inverse;
  keep(3);
}

template <typename F>
bool attend(Context &c, F *y, F *seen, const F *q, const F *k, const F *v, const AttentionPlan &p,
            const Heads &keys, const Heads &values, const Heads &result) {
  const int64_t heads = p.q.batch * p.q.heads, perHead = spaceFor(c, p.q.length, p.total);
  if (perHead < 0 || spaceFor(c, p.q.batch, p.q.heads, p.q.length) < 0)
    return false;
  if (p.q.length * heads == 0)
    return true;
  const Tensor mask = p.mask.tensor;
  const bool boolean = mask && mask.dtype() == Bool;
  const F *bias = mask && !boolean ? numbersOf<F>(c, mask) : nullptr;
  const int64_t max =
      minimum(heads, maximum(int64_t(1), (int64_t(1) << 24) / maximum(perHead, int64_t(1))));
  F *scores = c.scratch<F>(maximum(max * perHead, int64_t(1)));
  int64_t *offsets = c.scratch<int64_t>(5 * max);
  if (!scores || !offsets || (mask && !boolean && !bias))
    return false;
  const int64_t shared = p.q.heads / p.k.heads;
  for (int64_t begin = 0; begin < heads; begin += max) {
    const int64_t count = minimum(max, heads - begin);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t b = (begin + i) / p.q.heads, h = (begin + i) % p.q.heads;
      offsets[i] = p.q.head(b, h);
      offsets[max + i] = keys.head(b, h / shared);
      offsets[2 * max + i] = values.head(b, h / shared);
      offsets[3 * max + i] = result.head(b, h);
      offsets[4 * max + i] = i * perHead;
    }
    Product<F> product{
        scores, q, k,          p.q.length, p.total, p.q.size,          p.total, p.q.row(),
        1,      1, keys.row(), false,      count,   offsets + 4 * max, offsets, offsets + max};
    if (!multiply(c, product))
      return false;
    parallelIf(c, count * p.q.length, p.total * 20, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t head = begin + i / p.q.length, query = i % p.q.length;
        const int64_t b = head / p.q.heads, h = head % p.q.heads;
        const int64_t at = p.mask.row(b, h, query);
        int64_t from, to;
        p.visible(c, b).range(query, p.total, from, to);
        attendRow(scores + i * p.total,
                  seen ? seen + (head * p.q.length + query) * p.total : nullptr, p, from, to,
                  bias ? bias + at : nullptr, boolean ? mask.as<uint8_t>() + at : nullptr);
      }
    });
    Product<F> weigh{y,
                     scores,
                     v,
                     p.q.length,
                     values.size,
                     p.total,
                     result.row(),
                     p.total,
                     1,
                     values.row(),
                     1,
                     false,
                     count,
                     offsets + 3 * max,
                     offsets + 4 * max,
                     offsets + 2 * max};
    if (!multiply(c, weigh))
      return false;
  }
  return true;
}

/// Returns keys or values as one tensor, preceded by past ones where there are some; `present` (or
/// null) is the output for them.
template <typename T>
const Compute<T> *cacheOf(Context &c, Tensor past, Tensor fresh, Heads &layout, int64_t before,
                          void *present) {
  if (!before && !present)
    return widen<T>(c, fresh);
  const int64_t count = layout.batch * layout.heads * (before + layout.length) * layout.size;
  T *all = present ? static_cast<T *>(present) : c.scratch<T>(maximum(count, int64_t(1)));
  if (!all)
    return nullptr;
  concatenate(c, all, past, fresh, layout, before);
  layout.packed = false;
  layout.length += before;
  return widen(c, static_cast<const T *>(all), count);
}
} // namespace

ATC_KERNEL(Attention) {
  AttentionPlan p;
  if (!p.find(*this))
    return;
  const Tensor q = in(0), k = in(1), v = in(2);
  Heads result = p.q;
  result.size = p.v.size;
  const Dims shape = p.q.packed ? Dims(p.q.batch, p.q.length, p.q.heads * p.v.size)
                                : Dims(p.q.batch, p.q.heads, p.q.length, p.v.size);
  if (!isFloat(v.dtype()))
    return failType(v.dtype());
  const Dims scoreDims(p.q.batch, p.q.heads, p.q.length, p.total);
  void *out[4] = {};
  if (!(out[0] = makeBytes(0, q.dtype(), shape)) ||
      (wants(1) &&
       !(out[1] = makeBytes(1, k.dtype(), Dims(p.k.batch, p.k.heads, p.total, p.k.size)))) ||
      (wants(2) &&
       !(out[2] = makeBytes(2, v.dtype(), Dims(p.k.batch, p.k.heads, p.total, p.v.size)))) ||
      (wants(3) && !(out[3] = makeBytes(3, q.dtype(), scoreDims))))
    return;
  bool done = dispatchFloats(q.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    using F = Compute<T>;
    (void)dispatchFloats(v.dtype(), [&](auto valueType) {
      using V = typename decltype(valueType)::Type;
      Heads keys = p.k, values = p.v;
      const F *from = widen<T>(*this, q),
              *key = cacheOf<T>(*this, in(4), k, keys, p.before, out[1]);
      const auto *stored = cacheOf<V>(*this, in(5), v, values, p.before, out[2]);
      WideResult<T> y(*this, out[0], shape.product());
      WideResult<T> seen(*this, out[3], out[3] ? scoreDims.product() : 0);
      if (!from || !key || !stored || !y.data || (out[3] && !seen.data))
        return;
      const F *value;
      if constexpr (__is_same(F, Compute<V>)) {
        value = stored;
      } else {
        const int64_t count = values.batch * values.heads * values.length * values.size;
        F *copy = scratch<F>(maximum(count, int64_t(1)));
        if (!copy)
          return;
        convert(*this, copy, stored, count);
        value = copy;
      }
      if (!attend(*this, y.data, out[3] ? seen.data : nullptr, from, key, value, p, keys, values,
                  result))
        return;
      y.store(*this);
      if (out[3])
        seen.store(*this);
    });
  });
  if (!done)
    failType(q.dtype());
}

} // namespace atc::kernels
