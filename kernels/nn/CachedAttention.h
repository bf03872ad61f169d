//===-- CachedAttention.h - attention over a cache that grows in place ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No matrix of scores exists: keys are visited in tiles, and each query carries the maximum and the
// sum of its softmax from tile to tile. New keys and values are appended to a cache, which has room
// for more (Host::append).

#ifndef OPENATC_KERNELS_NN_CACHEDATTENTION_H
#define OPENATC_KERNELS_NN_CACHEDATTENTION_H

#include "kernels/nn/AttentionShapes.h"

namespace atc::kernels {

/// Keys or values with those of the past. Elements are f32, or f16 or bf16 where those of the past
/// are. Heads of all batches are counted together. Those of a batch are `head` elements apart,
/// positions `step`; a position has `size` elements.
class Cache {
public:
  int64_t head = 0, step = 0, size = 0;

  /// Returns whether elements are stored in 16 bits.
  bool isNarrow() const { return type != F32; }
  /// Returns the floats of `count` positions of a head, `step` apart: where they are stored, or
  /// behind a conversion `buffer`, which a narrow cache needs.
  const float *read(int64_t index, int64_t position, int64_t count, float *buffer) const;
  /// Requests the memory of a position, which is read soon.
  void request(int64_t index, int64_t position) const {
    const char *from = data + offsetOf(index, position) * width();
    for (int64_t i = 0; i < size * width(); i += 64)
      __builtin_prefetch(from + i);
  }
  /// Writes a position; only behind make() or borrow(), as at().
  void write(int64_t index, int64_t position, const float *from);
  /// Returns where a position of f32 is written.
  float *at(int64_t index, int64_t position) {
    return reinterpret_cast<float *>(all) + offsetOf(index, position);
  }

  /// Lets the cache be other memory of f32: heads of all batches `headStep` floats apart, positions
  /// `positionStep`.
  void borrow(float *memory, int64_t headStep, int64_t positionStep) {
    data = all = reinterpret_cast<char *>(memory);
    head = headStep;
    size = step = positionStep;
  }
  /// Lets the cache be a past [batch, heads, positions, size], which is only read.
  void show(Call *call, Tensor past) {
    type = past.dtype();
    data = past.bytes();
    size = step = past.dim(3);
    head = call->host->roomOf(call, past.get(), 2) * size;
  }
  /// Lets the cache be vectors of `vector` floats that are only read: `count` heads per batch.
  /// Steps count floats.
  void show(const float *vectors, int64_t vector, int64_t count, int64_t batchStep,
            int64_t headStep, int64_t positionStep) {
    data = reinterpret_cast<const char *>(vectors);
    size = vector;
    heads = count;
    batch = batchStep;
    head = headStep;
    step = positionStep;
  }
  /// Makes output `output`, the whole cache, with room for the `before` positions of `past` and
  /// those of `layout` behind them. Without a past and an output the cache is `fresh`. Returns
  /// false where the kernel must return.
  bool make(Context &c, Call *call, uint32_t output, Tensor past, Tensor fresh, const Heads &layout,
            int64_t before);
  /// Copies the past where it is not there yet.
  void copyPast(Context &c, Call *call, Tensor past, const Heads &layout, int64_t before);
  /// Copies the past, and writes the new positions behind it.
  void fill(Context &c, Call *call, Tensor past, Tensor fresh, const Heads &layout, int64_t before);

private:
  int64_t width() const { return isNarrow() ? 2 : 4; } ///< of an element in bytes
  int64_t offsetOf(int64_t index, int64_t position) const {
    const int64_t own = heads ? index / heads * batch + index % heads * head : index * head;
    return own + position * step;
  }

  uint8_t type = F32;
  const char *data = nullptr;
  char *all = nullptr; ///< what fill() writes; null where the cache is other memory
  bool copiesPast = false;
  /// Batches of `heads` heads are `batch` elements apart; 0: all heads are `head` elements apart.
  int64_t heads = 0, batch = 0;
};

/// Rows of queries that share keys: rows are `step` floats apart, and those of the result
/// `resultStep`. `position` is that of the first row, each next one adds `advance`.
struct QueryRows {
  const float *q;
  float *y;
  int64_t rows, step, resultStep, position, advance;
  const float *bias;      ///< of the mask, or null
  const uint8_t *allowed; ///< of a bool mask, or null
  int64_t maskStep;
  const float *sinks; ///< a score per row, `sinkStep` floats apart, or null
  int64_t sinkStep;
};

/// Attention in f32 of all queries to the keys of a cache: softmax(q k^T * scale + mask) v. The
/// heads of queries share those of keys in groups.
struct CachedAttention {
  Heads q, k, v;                        ///< k and v: the new ones
  int64_t before = 0, total = 0;        ///< positions of the past, and in all
  const int64_t *beforeBatch = nullptr; ///< positions before the queries, per batch; null: `before`
  float scale = 1, softcap = 0;
  bool causal = false;
  int64_t window = 0; ///< a query sees so many keys, itself included; 0: all; needs causal
  const float *sinks = nullptr; ///< per head of queries: the score of a key without value, or null
  Mask mask;                    ///< broadcast to the scores; its tensor is not read here
  const float *bias = nullptr;  ///< elements of the mask, added to the scores, or null
  const uint8_t *allowed = nullptr; ///< elements of a bool mask, or null
  Cache keys, values;

  /// Computes the result, laid out as `to` states, from `queries`, laid out as q states. Does
  /// nothing where memory could not be allocated: the call has failed then.
  void run(Context &c, const float *queries, float *result, const Heads &to);

private:
  /// Keys and values as multiplyPacked reads them, a tile after the other; null for few rows.
  float *packedKeys = nullptr, *packedValues = nullptr;

  int64_t tiles() const;
  int64_t keyTile() const;
  int64_t valueTile() const;
  bool pack(Context &c);
  /// Computes the results of some queries on this thread; `head` counts the heads of keys of all
  /// batches. `buffer` is that of makeBuffer().
  void attend(const QueryRows &queries, int64_t head, float *buffer) const;
  void scoreTile(float *scores, const QueryRows &queries, int64_t head, int64_t first, int64_t keys,
                 float *buffer) const;
  void weighTile(const float *scores, const QueryRows &queries, int64_t head, int64_t first,
                 int64_t keys, float *buffer) const;
  /// Makes room for a tile of keys or values as floats where a cache is narrow. Returns false where
  /// memory could not be allocated.
  bool makeBuffer(Context &c, float *&buffer) const;
  int64_t visibleKeys(const QueryRows &queries, const float *maxima, int64_t first,
                      int64_t keys) const;
  bool softmaxTile(float *row, float &largest, float &sum, float &rescale, const QueryRows &queries,
                   int64_t r, int64_t first, int64_t keys) const;
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_CACHEDATTENTION_H
