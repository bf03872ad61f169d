//===-- CachedAttention.cpp - attention over a cache that grows in place --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/nn/CachedAttention.h"

#include "kernels/core/NarrowLanes.h"
#include "kernels/core/VectorMath.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/Gemm.h"

// Vectors are passed between functions of this file only.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace atc::kernels {

namespace {
constexpr int64_t kTile = 128;     // keys per tile
constexpr int64_t kMaxRows = 48;   // rows of queries per task
constexpr int64_t kFewQueries = 6; // up to so many rows keys and values are read where they are
constexpr float kHidden = -1e30f;  // a mask at or below it hides a key

typedef float Loose16 __attribute__((vector_size(64), aligned(4), may_alias));

/// Returns e^x for x up to 0, as fast::exp does; takes fewer instructions.
inline float expOfNegative(float x) {
  const fast::SplitPower split = fast::splitPower(x);
  // The quotient is in the low bits: its power of two is no subnormal.
  const uint32_t power = (uint32_t(split.bits) << 23) + 0x3f800000u;
  return x < -87.0f ? 0.0f : split.rest * __builtin_bit_cast(float, power);
}

/// Returns the largest element, or NaN where there is one.
float largestOf(Floats16 x) {
  typedef float Half __attribute__((vector_size(32)));
  typedef float Quarter __attribute__((vector_size(16)));
  const Half half = maxOrNan<Half>(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7),
                                   __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15));
  const Quarter four = maxOrNan<Quarter>(__builtin_shufflevector(half, half, 0, 1, 2, 3),
                                         __builtin_shufflevector(half, half, 4, 5, 6, 7));
  return maxOrNan(maxOrNan(four[0], four[1]), maxOrNan(four[2], four[3]));
}

/// Stores the sums of the elements of four vectors.
void storeSums(float *to, const Floats16 (&x)[4]) {
  typedef float Half __attribute__((vector_size(32)));
  typedef float Quarter __attribute__((vector_size(16)));
  // Each group of four lanes is reduced in two steps, of two vectors each, so that the sums of four
  // vectors end side by side.
  auto inPairs = [](Floats16 a, Floats16 b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
           __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15,
                                   31);
  };
  const Floats16 low = inPairs(x[0], x[1]), high = inPairs(x[2], x[3]);
  const Floats16 all =
      __builtin_shufflevector(low, high, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
      __builtin_shufflevector(low, high, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30,
                              31);
  const Half half = __builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7) +
                    __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15);
  const Quarter sums = __builtin_shufflevector(half, half, 0, 1, 2, 3) +
                       __builtin_shufflevector(half, half, 4, 5, 6, 7);
  __builtin_memcpy(to, &sums, sizeof(sums));
}

/// Computes the products of a row by four keys, `step` apart, of `size` elements, whole vectors.
void multiplyFour(float *to, const float *row, const float *keys, int64_t step, int64_t size) {
  Floats16 sums[4] = {};
  for (int64_t i = 0; i < size; i += 16) {
    const Floats16 own = *reinterpret_cast<const Loose16 *>(row + i);
#pragma clang loop unroll(full)
    for (int j = 0; j < 4; ++j)
      sums[j] += own * *reinterpret_cast<const Loose16 *>(keys + j * step + i);
  }
  storeSums(to, sums);
}

/// Adds `count` vectors of values, `step` apart, each times its weight, to 16 * Parts elements.
template <int Parts>
void addWeighted(float *y, const float *weights, const float *values, int64_t step, int64_t count) {
  auto *result = reinterpret_cast<Loose16 *>(y);
  Floats16 sums[Parts];
#pragma clang loop unroll(full)
  for (int i = 0; i < Parts; ++i)
    sums[i] = result[i];
  for (int64_t j = 0; j < count; ++j, values += step) {
    const auto *own = reinterpret_cast<const Loose16 *>(values);
    const Floats16 weight = Floats16{} + weights[j];
#pragma clang loop unroll(full)
    for (int i = 0; i < Parts; ++i)
      sums[i] += weight * own[i];
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < Parts; ++i)
    result[i] = sums[i];
}

/// Calls `body` with the type of elements of 16 bits (Half or BFloat).
template <typename Body> void withNarrow(uint8_t type, Body &&body) {
  if (type == F16)
    body(Half());
  else
    body(BFloat());
}

/// Converts `count` elements to floats.
template <typename T> void toFloats(float *to, const T *from, int64_t count) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16)
    *reinterpret_cast<Loose16 *>(to + i) = floatsFrom(from + i);
  for (; i < count; ++i)
    to[i] = float(from[i]);
}

/// Converts `count` floats to elements.
template <typename T> void fromFloats(T *to, const float *from, int64_t count) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16)
    storeLanes(to + i, *reinterpret_cast<const Loose16 *>(from + i));
  for (; i < count; ++i)
    to[i] = T(from[i]);
}
} // namespace

const float *Cache::read(int64_t index, int64_t position, int64_t count, float *buffer) const {
  const char *from = data + offsetOf(index, position) * width();
  if (!isNarrow())
    return reinterpret_cast<const float *>(from);
  withNarrow(type, [&](auto element) {
    toFloats(buffer, reinterpret_cast<const decltype(element) *>(from), count * size);
  });
  return buffer;
}

void Cache::write(int64_t index, int64_t position, const float *from) {
  if (!isNarrow())
    return copyBytes(at(index, position), from, size * 4);
  withNarrow(type, [&](auto element) {
    fromFloats(reinterpret_cast<decltype(element) *>(all) + offsetOf(index, position), from, size);
  });
}

bool Cache::make(Context &c, Call *call, uint32_t output, Tensor past, Tensor fresh,
                 const Heads &layout, int64_t before) {
  size = step = layout.size;
  int64_t room = layout.length;
  const bool wanted = c.wants(output);
  if (past)
    type = past.dtype();
  if (!wanted && !before) {
    type = F32;
    data = fresh.bytes();
    step = layout.row();
    head = layout.head(0, 1);
    if (layout.packed) {
      batch = layout.head(1, 0);
      heads = layout.heads;
    }
    return true;
  }
  if (wanted && past) {
    all =
        static_cast<char *>(call->host->append(call, output, past.get(), 2, layout.length, &room));
    data = all;
  } else if (wanted) {
    all = reinterpret_cast<char *>(
        c.make<float>(output, F32, Dims(layout.batch, layout.heads, layout.length, size)));
    data = all;
  } else {
    room = before + layout.length;
    all = c.scratch<char>(maximum(layout.batch * layout.heads * room * size * width(), int64_t(1)));
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
      copyBytes(all + i * head * width(), past.bytes() + i * pastHead * width(),
                before * size * width());
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
        write(i, before + row, from + row * layout.row());
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
  bool hasBuffers = true;
  parallelIf(c, heads * tiles(), kTile * (k.size + v.size), [&](int64_t begin, int64_t end) {
    float *buffer;
    if (!makeBuffer(c, buffer)) {
      __atomic_store_n(&hasBuffers, false, __ATOMIC_RELAXED);
      return;
    }
    for (int64_t i = begin; i < end; ++i) {
      const int64_t head = i / tiles(), first = i % tiles() * kTile;
      const int64_t count = minimum(kTile, total - first);
      packPanels(packedKeys + i * keyTile(), keys.read(head, first, count, buffer), 1, keys.step,
                 k.size, count, 0, ceilDiv(count, kPanel<float>));
      packPanels(packedValues + i * valueTile(), values.read(head, first, count, buffer),
                 values.step, 1, count, v.size, 0, ceilDiv(v.size, kPanel<float>));
    }
  });
  return hasBuffers;
}

bool CachedAttention::makeBuffer(Context &c, float *&buffer) const {
  const bool isNeeded = keys.isNarrow() || values.isNarrow();
  buffer = isNeeded ? c.scratch<float>(kTile * maximum(keys.size, values.size)) : nullptr;
  return buffer || !isNeeded;
}

void CachedAttention::scoreTile(float *scores, const QueryRows &queries, int64_t head,
                                int64_t first, int64_t count, float *buffer) const {
  if (packedKeys)
    return multiplyPacked(scores, kTile, queries.q, queries.step, 1,
                          packedKeys + (head * tiles() + first / kTile) * keyTile(), queries.rows,
                          count, k.size, false);
  const float *tile = keys.read(head, first, count, buffer);
  int64_t j = 0;
  // Processors foresee neither the next tile nor the other cache.
  for (; k.size % 16 == 0 && j + 4 <= count; j += 4) {
    for (int64_t i = 0; i < 4; ++i)
      values.request(head, first + j + i);
    for (int64_t r = 0; r < queries.rows; ++r)
      multiplyFour(scores + r * kTile + j, queries.q + r * queries.step, tile + j * keys.step,
                   keys.step, k.size);
  }
  for (; j < count; ++j) {
    const float *key = tile + j * keys.step;
    for (int64_t r = 0; r < queries.rows; ++r)
      scores[r * kTile + j] = dotProduct(queries.q + r * queries.step, key, k.size);
  }
}

void CachedAttention::weighTile(const float *scores, const QueryRows &queries, int64_t head,
                                int64_t first, int64_t count, float *buffer) const {
  if (packedKeys)
    return multiplyPacked(queries.y, queries.resultStep, scores, kTile, 1,
                          packedValues + (head * tiles() + first / kTile) * valueTile(),
                          queries.rows, v.size, count, true, minimum(kTile, total - first));
  const float *from = values.read(head, first, count, buffer);
  for (int64_t r = 0; r < queries.rows; ++r) {
    float *y = queries.y + r * queries.resultStep;
    const float *weights = scores + r * kTile;
    int64_t d = 0;
    for (; d + 64 <= v.size; d += 64)
      addWeighted<4>(y + d, weights, from + d, values.step, count);
    for (; d + 16 <= v.size; d += 16)
      addWeighted<1>(y + d, weights, from + d, values.step, count);
    for (; d < v.size; ++d)
      for (int64_t j = 0; j < count; ++j)
        y[d] += weights[j] * from[j * values.step + d];
    // A part of the keys that come next, with each row.
    const int64_t next = first + kTile + r * kTile / queries.rows,
                  end = first + kTile + (r + 1) * kTile / queries.rows;
    for (int64_t j = next; j < minimum(end, total); ++j)
      keys.request(head, j);
  }
}

/// Returns how many keys of a tile come up to the last one that any row sees, in whole vectors: 0
/// where no row sees one. Those behind have no weight once each row has seen a key before.
int64_t CachedAttention::visibleKeys(const QueryRows &queries, const float *maxima, int64_t first,
                                     int64_t count) const {
  for (int64_t r = 0; r < queries.rows; ++r)
    if (!(maxima[r] > kHidden))
      return count;
  int64_t end = count;
  if (causal)
    end = minimum(end, queries.position + (queries.rows - 1) * queries.advance + 1 - first);
  if (queries.bias || queries.allowed)
    end = minimum(end, mask.columns - first);
  auto isVisible = [&](int64_t begin) {
    bool visible = !queries.bias && !queries.allowed;
    for (int64_t r = 0; r < queries.rows && !visible; ++r) {
      const int64_t at = r * queries.maskStep + first;
      for (int64_t j = begin; queries.bias && j < end; ++j)
        visible |= queries.bias[at + j] > kHidden;
      for (int64_t j = begin; queries.allowed && j < end; ++j)
        visible |= queries.allowed[at + j] != 0;
    }
    return visible;
  };
  while (end > 0 && !isVisible((end - 1) / 16 * 16))
    end = (end - 1) / 16 * 16;
  return minimum(ceilDiv(maximum(end, int64_t(0)), int64_t(16)) * 16, count);
}

/// Turns the products of a row into weights. `largest` and `sum` are those of the softmax so far;
/// `rescale` receives the factor of what is accumulated. Returns whether any key counts.
bool CachedAttention::softmaxTile(float *row, float &largest, float &sum, float &rescale,
                                  const QueryRows &queries, int64_t r, int64_t first,
                                  int64_t count) const {
  const float infinity = __builtin_inff();
  int64_t seen = count;
  if (queries.bias || queries.allowed)
    seen = minimum(seen, maximum(mask.columns - first, int64_t(0)));
  if (causal)
    seen = minimum(seen, maximum(queries.position + r * queries.advance - first + 1, int64_t(0)));
  auto *vectors = reinterpret_cast<Loose16 *>(row);
  // Whole vectors; those behind the last key are not read.
  const int64_t parts = ceilDiv(count, int64_t(16));
  Floats16 best;
  if (seen == parts * 16 && softcap == 0 && !queries.allowed && !window) {
    const auto *bias = reinterpret_cast<const Loose16 *>(
        queries.bias ? queries.bias + r * queries.maskStep + first : nullptr);
    for (int64_t i = 0; i < parts; ++i) {
      Floats16 scaled = vectors[i] * scale;
      if (bias)
        scaled += bias[i];
      vectors[i] = scaled;
      best = i ? maxOrNan<Floats16>(best, scaled) : scaled;
    }
  } else {
    for (int64_t j = 0; j < count; ++j)
      row[j] *= scale;
    if (softcap != 0)
      for (int64_t j = 0; j < count; ++j)
        row[j] = softcap * fast::tanh(row[j] / softcap);
    if (queries.bias)
      for (int64_t j = 0; j < seen; ++j)
        row[j] += queries.bias[r * queries.maskStep + first + j];
    if (queries.allowed)
      for (int64_t j = 0; j < seen; ++j)
        row[j] = queries.allowed[r * queries.maskStep + first + j] ? row[j] : -infinity;
    for (int64_t j = seen; j < parts * 16; ++j)
      row[j] = -infinity;
    if (window)
      for (int64_t j = 0; j < count && first + j <= queries.position + r * queries.advance - window;
           ++j)
        row[j] = -infinity;
    best = vectors[0];
    for (int64_t i = 1; i < parts; ++i)
      best = maxOrNan<Floats16>(best, vectors[i]);
  }
  const float inTile = largestOf(best);
  const float now = maxOrNan(largest, inTile);
  rescale = 1;
  if (now == -infinity)
    return false;
  if (now != largest) {
    rescale = largest == -infinity ? 0 : fast::exp(largest - now);
    largest = now;
  }
  Floats16 sums = {};
  auto weigh = [&](int64_t part) {
    for (int64_t j = part * 16; j < part * 16 + 16; ++j)
      row[j] = expOfNegative(row[j] - now);
    sums += Floats16(vectors[part]);
  };
  if (parts == kTile / 16)
#pragma clang loop unroll(full)
    for (int64_t part = 0; part < kTile / 16; ++part)
      weigh(part);
  else
    for (int64_t part = 0; part < parts; ++part)
      weigh(part);
  sum = sum * rescale + sumOf(sums);
  return true;
}

void CachedAttention::attend(const QueryRows &queries, int64_t head, float *buffer) const {
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
    int64_t count = minimum(kTile, total - first);
    if (causal || queries.bias || queries.allowed)
      count = visibleKeys(queries, maxima, first, count);
    if (!count)
      continue;
    scoreTile(scores, queries, head, first, count, buffer);
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
    weighTile(scores, queries, head, first, count, buffer);
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
  if (rows > kFewQueries && !pack(c))
    return;
  parallelIf(c, q.batch * perBatch * blocks, minimum(rows, kMaxRows) * total * (k.size + v.size),
             [&](int64_t begin, int64_t end) {
               float *buffer = nullptr;
               if (!packedKeys && !makeBuffer(c, buffer))
                 return;
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
                 attend(task, b * k.heads + h / shared, buffer);
               }
             });
}

} // namespace atc::kernels
