//===-- CachedAttention.cpp - attention over a cache that grows in place --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/nn/CachedAttention.h"

#include "kernels/core/Floats.h"
#include "kernels/core/VectorMath.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/Gemm.h"

namespace atc::kernels {

namespace {
constexpr int64_t kTile = 64;     // keys per tile
constexpr int64_t kMaxRows = 48;  // rows of queries per task
constexpr int64_t kFew = 6;       // up to so many rows keys and values are read where they are
constexpr float kHidden = -1e30f; // a mask at or below it hides a key
} // namespace

bool Cache::make(Context &c, Call *call, uint32_t output, Tensor past, Tensor fresh,
                 const Heads &layout, int64_t before) {
  size = layout.size;
  int64_t room = layout.length;
  const bool wanted = c.wants(output);
  if (!wanted && !before && !layout.packed) {
    data = fresh.as<float>();
  } else if (wanted && past) {
    all =
        static_cast<float *>(call->host->append(call, output, past.get(), 2, layout.length, &room));
    data = all;
  } else if (wanted) {
    all = c.make<float>(output, F32, Dims(layout.batch, layout.heads, layout.length, size));
    data = all;
  } else {
    room = before + layout.length;
    all = c.scratch<float>(maximum(layout.batch * layout.heads * room * size, int64_t(1)));
    data = all;
  }
  head = room * size;
  copiesPast = before && !wanted;
  return data != nullptr;
}

void Cache::copyPast(Context &c, Call *call, Tensor past, const Heads &layout, int64_t before) {
  if (!all || !copiesPast)
    return;
  const int64_t pastHead = call->host->roomOf(call, past.get(), 2) * size;
  parallelIf(c, layout.batch * layout.heads, before * size, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      copyBytes(all + i * head, past.as<float>() + i * pastHead, before * size * 4);
  });
}

void Cache::fill(Context &c, Call *call, Tensor past, Tensor fresh, const Heads &layout,
                 int64_t before) {
  if (!all)
    return;
  copyPast(c, call, past, layout, before);
  parallelIf(c, layout.batch * layout.heads, layout.length * size, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float *from = fresh.as<float>() + layout.head(i / layout.heads, i % layout.heads);
      for (int64_t row = 0; row < layout.length; ++row)
        copyBytes(at(i, before + row), from + row * layout.row(), size * 4);
    }
  });
}

int64_t CachedAttention::tiles() const { return ceilDiv(total, kTile); }
int64_t CachedAttention::keyTile() const { return packedSize<float>(k.size, kTile); }
int64_t CachedAttention::valueTile() const { return packedSize<float>(kTile, v.size); }

/// Packs the keys and values for many rows of queries. Returns false where memory could not be
/// allocated.
bool CachedAttention::pack(Context &c) {
  const int64_t heads = k.batch * k.heads;
  packedKeys = c.scratch<float>(heads * tiles() * keyTile() + 1);
  packedValues = c.scratch<float>(heads * tiles() * valueTile() + 1);
  if (!packedKeys || !packedValues)
    return false;
  parallelIf(c, heads * tiles(), kTile * (k.size + v.size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t head = i / tiles(), first = i % tiles() * kTile;
      const int64_t count = minimum(kTile, total - first);
      packPanels(packedKeys + i * keyTile(), keys.read(head, first), 1, keys.size, k.size, count, 0,
                 ceilDiv(count, kPanel<float>));
      packPanels(packedValues + i * valueTile(), values.read(head, first), values.size, 1, count,
                 v.size, 0, ceilDiv(v.size, kPanel<float>));
    }
  });
  return true;
}

void CachedAttention::scoreTile(float *scores, const QueryRows &queries, int64_t head,
                                int64_t first, int64_t count) const {
  if (packedKeys)
    return multiplyPacked(scores, kTile, queries.q, queries.step, 1,
                          packedKeys + (head * tiles() + first / kTile) * keyTile(), queries.rows,
                          count, k.size, false);
  for (int64_t j = 0; j < count; ++j) {
    const float *key = keys.read(head, first + j);
    for (int64_t r = 0; r < queries.rows; ++r)
      scores[r * kTile + j] = dotProduct(queries.q + r * queries.step, key, k.size);
  }
}

void CachedAttention::weighTile(const float *scores, const QueryRows &queries, int64_t head,
                                int64_t first, int64_t count) const {
  if (packedKeys)
    return multiplyPacked(queries.y, queries.resultStep, scores, kTile, 1,
                          packedValues + (head * tiles() + first / kTile) * valueTile(),
                          queries.rows, v.size, count, true);
  constexpr int64_t lanes = 32;
  for (int64_t r = 0; r < queries.rows; ++r) {
    float *y = queries.y + r * queries.resultStep;
    const float *weights = scores + r * kTile;
    int64_t d = 0;
    for (; d + lanes <= v.size; d += lanes) {
      float sums[lanes];
      copyBytes(sums, y + d, sizeof(sums));
      for (int64_t j = 0; j < count; ++j) {
        const float *value = values.read(head, first + j) + d;
        for (int64_t l = 0; l < lanes; ++l)
          sums[l] += weights[j] * value[l];
      }
      copyBytes(y + d, sums, sizeof(sums));
    }
    for (; d < v.size; ++d)
      for (int64_t j = 0; j < count; ++j)
        y[d] += weights[j] * values.read(head, first + j)[d];
  }
}

/// Returns whether no row sees a key of the tile, while each has seen one before.
bool CachedAttention::isHidden(const QueryRows &queries, const float *maxima, int64_t first,
                               int64_t count) const {
  for (int64_t r = 0; r < queries.rows; ++r) {
    if (!(maxima[r] > kHidden))
      return false;
    if (causal && first > queries.position + r * queries.advance)
      continue;
    const int64_t columns = minimum(count, maximum(mask.columns - first, int64_t(0)));
    bool visible = !queries.bias && !queries.allowed;
    for (int64_t j = 0; queries.bias && j < columns; ++j)
      visible |= queries.bias[r * queries.maskStep + first + j] > kHidden;
    for (int64_t j = 0; queries.allowed && j < columns; ++j)
      visible |= queries.allowed[r * queries.maskStep + first + j] != 0;
    if (visible)
      return false;
  }
  return true;
}

/// Turns the products of a row into weights. `largest` and `sum` are those of the softmax so far;
/// `rescale` receives the factor of what is accumulated. Returns whether any key counts.
bool CachedAttention::softmaxTile(float *row, float &largest, float &sum, float &rescale,
                                  const QueryRows &queries, int64_t r, int64_t first,
                                  int64_t count) const {
  const float infinity = __builtin_inff();
  for (int64_t j = 0; j < count; ++j)
    row[j] *= scale;
  if (softcap != 0)
    for (int64_t j = 0; j < count; ++j)
      row[j] = softcap * fast::tanh(row[j] / softcap);
  int64_t seen = count;
  if (queries.bias || queries.allowed)
    seen = minimum(seen, maximum(mask.columns - first, int64_t(0)));
  if (causal)
    seen = minimum(seen, maximum(queries.position + r * queries.advance - first + 1, int64_t(0)));
  if (queries.bias)
    for (int64_t j = 0; j < seen; ++j)
      row[j] += queries.bias[r * queries.maskStep + first + j];
  if (queries.allowed)
    for (int64_t j = 0; j < seen; ++j)
      row[j] = queries.allowed[r * queries.maskStep + first + j] ? row[j] : -infinity;
  for (int64_t j = seen; j < kTile; ++j)
    row[j] = -infinity;
  if (window)
    for (int64_t j = 0; j < count && first + j <= queries.position + r * queries.advance - window;
         ++j)
      row[j] = -infinity;
  constexpr int64_t lanes = 16;
  float best[lanes];
  for (int64_t l = 0; l < lanes; ++l)
    best[l] = row[l];
  for (int64_t j = lanes; j < kTile; j += lanes)
    for (int64_t l = 0; l < lanes; ++l)
      best[l] = best[l] > row[j + l] || best[l] != best[l] ? best[l] : row[j + l];
  float now = largest;
  for (float lane : best)
    now = now > lane || now != now ? now : lane;
  rescale = 1;
  if (now == -infinity)
    return false;
  if (now != largest) {
    rescale = largest == -infinity ? 0 : fast::exp(largest - now);
    largest = now;
  }
  for (int64_t j = 0; j < kTile; ++j)
    row[j] = fast::exp(row[j] - now);
  float sums[lanes] = {};
  for (int64_t j = 0; j < kTile; j += lanes)
    for (int64_t l = 0; l < lanes; ++l)
      sums[l] += row[j + l];
  sum *= rescale;
  for (float lane : sums)
    sum += lane;
  return true;
}

void CachedAttention::attend(const QueryRows &queries, int64_t head) const {
  alignas(64) float scores[kMaxRows * kTile];
  float maxima[kMaxRows], sums[kMaxRows];
  for (int64_t r = 0; r < queries.rows; ++r) {
    maxima[r] = queries.sinks ? queries.sinks[r * queries.sinkStep] : -__builtin_inff();
    sums[r] = maxima[r] == -__builtin_inff() ? 0 : 1;
    __builtin_memset(queries.y + r * queries.resultStep, 0, uint64_t(v.size) * sizeof(float));
  }
  // A causal query sees no key behind it, and with a window none far before it.
  const int64_t last = queries.position + (queries.rows - 1) * queries.advance;
  const int64_t end = causal ? minimum(total, last + 1) : total;
  const int64_t begin = window ? maximum(queries.position - window + 1, int64_t(0)) : int64_t(0);
  for (int64_t first = begin / kTile * kTile; first < end; first += kTile) {
    const int64_t count = minimum(kTile, total - first);
    if ((causal || queries.bias || queries.allowed) && isHidden(queries, maxima, first, count))
      continue;
    scoreTile(scores, queries, head, first, count);
    for (int64_t r = 0; r < queries.rows; ++r) {
      float rescale;
      float *row = scores + r * kTile;
      if (!softmaxTile(row, maxima[r], sums[r], rescale, queries, r, first, count))
        __builtin_memset(row, 0, kTile * sizeof(float));
      float *y = queries.y + r * queries.resultStep;
      if (rescale != 1)
        for (int64_t d = 0; d < v.size; ++d)
          y[d] *= rescale;
    }
    weighTile(scores, queries, head, first, count);
  }
  for (int64_t r = 0; r < queries.rows; ++r) {
    const float inverse = sums[r] != 0 ? 1 / sums[r] : 0;
    for (int64_t d = 0; d < v.size; ++d)
      queries.y[r * queries.resultStep + d] *= inverse;
  }
}

void CachedAttention::run(Context &c, const float *queries, float *result, const Heads &to) {
  // One position: the heads that share keys are rows of one task. Else rows are positions.
  const int64_t shared = q.heads / k.heads;
  const bool single = q.length == 1 && shared <= kMaxRows;
  const int64_t rows = single ? shared : q.length, blocks = ceilDiv(rows, kMaxRows);
  const int64_t perBatch = single ? k.heads : q.heads;
  if (rows > kFew && !pack(c))
    return;
  parallelIf(c, q.batch * perBatch * blocks, minimum(rows, kMaxRows) * total * (k.size + v.size),
             [&](int64_t begin, int64_t end) {
               for (int64_t i = begin; i < end; ++i) {
                 const int64_t group = i / blocks, first = i % blocks * kMaxRows;
                 const int64_t b = group / perBatch;
                 const int64_t h = single ? group % perBatch * shared : group % perBatch;
                 const int64_t position = single ? 0 : first;
                 const int64_t at = mask.row(b, h, position);
                 const QueryRows task{queries + q.head(b, h) + position * q.row(),
                                      result + to.head(b, h) + position * to.row(),
                                      minimum(kMaxRows, rows - first),
                                      single ? q.head(0, 1) : q.row(),
                                      single ? to.head(0, 1) : to.row(),
                                      (beforeBatch ? beforeBatch[b] : before) + position,
                                      single ? 0 : 1,
                                      bias ? bias + at : nullptr,
                                      allowed ? allowed + at : nullptr,
                                      single ? mask.steps[1] : mask.steps[2],
                                      sinks ? sinks + h : nullptr,
                                      single ? 1 : 0};
                 attend(task, b * k.heads + h / shared);
               }
             });
}

} // namespace atc::kernels
