//===-- KvAttention.cpp - attention over a cache that grows in place ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of ONNX in f32 without its rarer outputs. New keys and values are appended to the
// cache, which has room for more (Host::append), and no matrix of scores exists: keys are visited
// in tiles, and each query carries the maximum and the sum of its softmax from tile to tile.
// With mask_broadcast the mask is the addend of an Add: one column stands for all keys.

#include "kernels/core/Floats.h"
#include "kernels/core/VectorMath.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/AttentionShapes.h"
#include "kernels/nn/Gemm.h"

namespace atc::kernels {

namespace {
constexpr int64_t kTile = 64;     // keys per tile
constexpr int64_t kMaxRows = 48;  // rows of queries per task
constexpr int64_t kFew = 6;       // up to so many rows keys and values are read where they are
constexpr float kHidden = -1e30f; // a mask at or below it hides a key

/// Keys or values with those of the past: heads lie `head` floats apart, positions `size`.
class Cache {
public:
  const float *data = nullptr;
  int64_t head = 0, size = 0;
  const float *at(int64_t index, int64_t position) const {
    return data + index * head + position * size;
  }

  /// Makes output `output`, the whole cache, with the past in it. Without a past and an output
  /// the cache is `fresh` if that is laid out as one. Returns false where the kernel must return.
  bool make(Context &c, Call *call, uint32_t output, Tensor past, Tensor fresh, const Heads &layout,
            int64_t before) {
    size = layout.size;
    int64_t room = layout.length;
    const bool wanted = c.wants(output);
    if (!wanted && !before && !layout.packed) {
      data = fresh.as<float>();
    } else if (wanted && past) {
      all = static_cast<float *>(
          call->host->append(call, output, past.get(), 2, layout.length, &room));
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

  /// Writes the new positions behind those of the past.
  void fill(Context &c, Call *call, Tensor past, Tensor fresh, const Heads &layout,
            int64_t before) {
    if (!all)
      return;
    const int64_t pastHead = before ? call->host->roomOf(call, past.get(), 2) * size : int64_t(0);
    parallelIf(
        c, layout.batch * layout.heads, layout.length * size, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            float *to = all + i * head;
            if (copiesPast)
              copyBytes(to, past.as<float>() + i * pastHead, before * size * 4);
            const float *from = fresh.as<float>() + layout.head(i / layout.heads, i % layout.heads);
            for (int64_t row = 0; row < layout.length; ++row)
              copyBytes(to + (before + row) * size, from + row * layout.row(), size * 4);
          }
        });
  }

private:
  float *all = nullptr; ///< what fill() writes; null where the cache is the input
  bool copiesPast = false;
};

/// Rows of queries that share keys: rows are `step` floats apart, and those of the result
/// `resultStep`. `position` is that of the first row, each next one adds `advance`.
struct Queries {
  const float *q;
  float *y;
  int64_t rows, step, resultStep, position, advance;
  const float *bias;      ///< of the mask, or null
  const uint8_t *allowed; ///< of a bool mask, or null
  int64_t maskStep;
};

struct Plan {
  Heads q, k, v;
  int64_t before = 0, total = 0;
  float scale = 1, softcap = 0;
  bool causal = false;
  Mask mask;
  Cache keys, values;
  /// Keys and values as multiplyPacked reads them, a tile after the other; null for few rows.
  float *packedKeys = nullptr, *packedValues = nullptr;

  int64_t tiles() const { return ceilDiv(total, kTile); }
  int64_t keyTile() const { return packedSize<float>(k.size, kTile); }
  int64_t valueTile() const { return packedSize<float>(kTile, v.size); }

  bool find(Context &c);
  bool pack(Context &c);
  void attend(const Queries &queries, int64_t head) const;
  void scoreTile(float *scores, const Queries &queries, int64_t head, int64_t first,
                 int64_t keys) const;
  void weighTile(const float *scores, const Queries &queries, int64_t head, int64_t first,
                 int64_t keys) const;
  bool isHidden(const Queries &queries, const float *maxima, int64_t first, int64_t keys) const;
  bool softmaxTile(float *row, float &largest, float &sum, float &rescale, const Queries &queries,
                   int64_t r, int64_t first, int64_t keys) const;
};

bool Plan::find(Context &c) {
  if (!q.find(c, c.in(0), "q_num_heads") || !k.find(c, c.in(1), "kv_num_heads") ||
      !v.find(c, c.in(2), "kv_num_heads"))
    return false;
  if (q.batch != k.batch || k.batch != v.batch || k.heads != v.heads || q.heads % k.heads ||
      k.length != v.length || q.size != k.size)
    return c.fail("queries (batch %, % heads of %), keys (batch %, % heads of %) and values do not "
                  "fit",
                  q.batch, q.heads, q.size, k.batch, k.heads, k.size),
           false;
  const Tensor pastK = c.in(4), pastV = c.in(5);
  if (bool(pastK) != bool(pastV))
    return c.fail("past_key and past_value go together"), false;
  if (pastK) {
    before = pastK.dim(2);
    if (!(pastK.dims() == Dims(k.batch, k.heads, before, k.size)) ||
        !(pastV.dims() == Dims(k.batch, k.heads, before, v.size)))
      return c.fail("past_key or past_value do not fit a batch of %, % heads of %, % positions",
                    k.batch, k.heads, k.size, before),
             false;
  }
  total = before + k.length;
  scale = float(c.number("scale", q.size ? 1 / math::sqrt(double(q.size)) : 1));
  softcap = float(c.number("softcap", 0));
  causal = c.integer("is_causal", 0);
  if (!mask.find(c, Dims(q.batch, q.heads, q.length, total)))
    return false;
  // What is added to all scores of a row does not change their softmax.
  if (mask.tensor && c.integer("mask_broadcast", 0) && mask.columns == 1 && total != 1)
    mask.tensor = Tensor();
  return !mask.tensor || !c.integer("mask_broadcast", 0) || mask.columns == total ||
         (c.fail("a mask of % columns for % keys", mask.columns, total), false);
}

/// Packs the keys and values for many rows of queries. Returns false where memory could not be
/// allocated.
bool Plan::pack(Context &c) {
  const int64_t heads = k.batch * k.heads;
  packedKeys = c.scratch<float>(heads * tiles() * keyTile() + 1);
  packedValues = c.scratch<float>(heads * tiles() * valueTile() + 1);
  if (!packedKeys || !packedValues)
    return false;
  parallelIf(c, heads * tiles(), kTile * (k.size + v.size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t head = i / tiles(), first = i % tiles() * kTile;
      const int64_t count = minimum(kTile, total - first);
      packPanels(packedKeys + i * keyTile(), keys.at(head, first), 1, keys.size, k.size, count, 0,
                 ceilDiv(count, kPanel<float>));
      packPanels(packedValues + i * valueTile(), values.at(head, first), values.size, 1, count,
                 v.size, 0, ceilDiv(v.size, kPanel<float>));
    }
  });
  return true;
}

void Plan::scoreTile(float *scores, const Queries &queries, int64_t head, int64_t first,
                     int64_t count) const {
  if (packedKeys)
    return multiplyPacked(scores, kTile, queries.q, queries.step, 1,
                          packedKeys + (head * tiles() + first / kTile) * keyTile(), queries.rows,
                          count, k.size, false);
  for (int64_t j = 0; j < count; ++j) {
    const float *key = keys.at(head, first + j);
    for (int64_t r = 0; r < queries.rows; ++r)
      scores[r * kTile + j] = dotProduct(queries.q + r * queries.step, key, k.size);
  }
}

void Plan::weighTile(const float *scores, const Queries &queries, int64_t head, int64_t first,
                     int64_t count) const {
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
        const float *value = values.at(head, first + j) + d;
        for (int64_t l = 0; l < lanes; ++l)
          sums[l] += weights[j] * value[l];
      }
      copyBytes(y + d, sums, sizeof(sums));
    }
    for (; d < v.size; ++d)
      for (int64_t j = 0; j < count; ++j)
        y[d] += weights[j] * values.at(head, first + j)[d];
  }
}

/// Returns whether no row sees a key of the tile, while each has seen one before.
bool Plan::isHidden(const Queries &queries, const float *maxima, int64_t first,
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
bool Plan::softmaxTile(float *row, float &largest, float &sum, float &rescale,
                       const Queries &queries, int64_t r, int64_t first, int64_t count) const {
  const float infinity = __builtin_inff();
  for (int64_t j = 0; j < count; ++j)
    row[j] *= scale;
  if (softcap != 0)
    for (int64_t j = 0; j < count; ++j)
      row[j] = softcap * fast::tanh(row[j] / softcap);
  int64_t seen = count;
  if (mask.tensor)
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

/// Computes the results of some queries on this thread; `head` counts the heads of keys of all
/// batches.
void Plan::attend(const Queries &queries, int64_t head) const {
  alignas(64) float scores[kMaxRows * kTile];
  float maxima[kMaxRows], sums[kMaxRows];
  for (int64_t r = 0; r < queries.rows; ++r) {
    maxima[r] = -__builtin_inff();
    sums[r] = 0;
    __builtin_memset(queries.y + r * queries.resultStep, 0, uint64_t(v.size) * sizeof(float));
  }
  for (int64_t first = 0; first < total; first += kTile) {
    const int64_t count = minimum(kTile, total - first);
    if ((causal || mask.tensor) && isHidden(queries, maxima, first, count))
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
} // namespace

ATC_KERNEL(KvAttention) {
  Plan p;
  if (!p.find(*this))
    return;
  const Tensor q = in(0), k = in(1), v = in(2);
  Heads result = p.q;
  result.size = p.v.size;
  float *y = make<float>(0, F32,
                         p.q.packed ? Dims(p.q.batch, p.q.length, p.q.heads * p.v.size)
                                    : Dims(p.q.batch, p.q.heads, p.q.length, p.v.size));
  // Where only shapes are inferred, all outputs are asked for before any is written, and any input
  // may have no elements.
  if (!q.known() || !k.known() || !v.known() || (in(3) && !in(3).known()) ||
      (p.before && (!in(4).known() || !in(5).known()))) {
    if (y && wants(1))
      y = make<float>(1, F32, Dims(p.k.batch, p.k.heads, p.total, p.k.size));
    if (y && wants(2))
      make<float>(2, F32, Dims(p.k.batch, p.k.heads, p.total, p.v.size));
    return;
  }
  if (!y || !p.keys.make(*this, call, 1, in(4), k, p.k, p.before) ||
      !p.values.make(*this, call, 2, in(5), v, p.v, p.before))
    return;
  p.keys.fill(*this, call, in(4), k, p.k, p.before);
  p.values.fill(*this, call, in(5), v, p.v, p.before);
  if (p.q.length * p.q.batch == 0 || p.v.size == 0)
    return;
  // One position: the heads that share keys are rows of one task. Else rows are positions.
  const int64_t shared = p.q.heads / p.k.heads;
  const bool single = p.q.length == 1 && shared <= kMaxRows;
  const int64_t rows = single ? shared : p.q.length, blocks = ceilDiv(rows, kMaxRows);
  const int64_t groups = p.q.batch * (single ? p.k.heads : p.q.heads);
  if (rows > kFew && !p.pack(*this))
    return;
  const Tensor mask = p.mask.tensor;
  const bool boolean = mask && mask.dtype() == Bool;
  parallelIf(*this, groups * blocks, minimum(rows, kMaxRows) * p.total * (p.k.size + p.v.size),
             [&](int64_t begin, int64_t end) {
               for (int64_t i = begin; i < end; ++i) {
                 const int64_t group = i / blocks, first = i % blocks * kMaxRows;
                 const int64_t perBatch = single ? p.k.heads : p.q.heads;
                 const int64_t b = group / perBatch;
                 const int64_t h = single ? group % perBatch * shared : group % perBatch;
                 const int64_t position = single ? 0 : first;
                 const int64_t at = p.mask.row(b, h, position);
                 Queries queries{q.as<float>() + p.q.head(b, h) + position * p.q.row(),
                                 y + result.head(b, h) + position * result.row(),
                                 minimum(kMaxRows, rows - first),
                                 single ? p.q.head(0, 1) : p.q.row(),
                                 single ? result.head(0, 1) : result.row(),
                                 p.before + position,
                                 single ? 0 : 1,
                                 mask && !boolean ? mask.as<float>() + at : nullptr,
                                 boolean ? mask.as<uint8_t>() + at : nullptr,
                                 single ? p.mask.steps[1] : p.mask.steps[2]};
                 p.attend(queries, b * p.k.heads + h / shared);
               }
             });
}

} // namespace atc::kernels
