//===-- GroupAttention.cpp - com.microsoft: heads that share keys ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Widen.h"
#include "kernels/microsoft/Attention.h"
#include "kernels/microsoft/CacheRows.h"
#include "kernels/microsoft/TurnedVectors.h"

namespace atc::kernels {

ATC_KERNEL(MsRotaryEmbedding) {
  const Tensor data = in(0), positions = in(1), cosTable = in(2), sinTable = in(3);
  const bool split = data.rank() == 4; // [batch, heads, positions, size]
  if ((data.rank() != 3 && !split) || cosTable.rank() != 2 || sinTable.rank() != 2)
    return fail("the input has rank %, the caches % and %", data.rank(), cosTable.rank(),
                sinTable.rank());
  const int64_t tableWidth = cosTable.dim(1), wanted = integer("rotary_embedding_dim", 0);
  int64_t heads = integer("num_heads", 0);
  const int64_t batch = data.dim(0), length = data.dim(split ? 2 : 1);
  if (split)
    heads = data.dim(1);
  else if (!heads)
    heads = tableWidth ? data.dim(2) / (2 * tableWidth) : 0;
  const int64_t size = split ? data.dim(3) : heads > 0 ? data.dim(2) / heads : 0;
  const int64_t rotated = wanted ? wanted : size;
  if (heads < 1 || heads > 0x7fffffff ||
      (!split && (size * heads != data.dim(2) || heads > maximum(data.dim(2), int64_t(1)))) ||
      rotated < 0 || rotated > size || rotated % 2 || rotated / 2 > tableWidth ||
      sinTable.dim(1) != tableWidth || sinTable.dim(0) != cosTable.dim(0) ||
      (positions.count() != 1 && positions.count() != batch * length))
    return fail("% heads of % numbers, % of them rotated, do not fit caches of % columns", heads,
                size, rotated, tableWidth);
  FloatResult result;
  if (!result.make(*this, 0, data.dtype(), data.dims()))
    return;
  float *out = result.floats(*this);
  const float *x = floatsOf(*this, data), *cosines = floatsOf(*this, cosTable),
              *sines = floatsOf(*this, sinTable);
  if (!out || !x || !cosines || !sines)
    return;
  const bool interleaved = integer("interleaved", 0);
  auto positionOf = [&](int64_t row) {
    return positions.count() == 1 ? integerAt(positions, 0) + row % length
                                  : integerAt(positions, row);
  };
  for (int64_t row = 0; row < batch * length; ++row)
    if (const int64_t at = positionOf(row); at < 0 || at >= cosTable.dim(0))
      return fail("position % is not in the cache of %", at, cosTable.dim(0));
  parallelIf(*this, batch * length, 4 * heads * size, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t at = positionOf(row) * tableWidth, b = row / length, s = row % length;
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t offset = (split ? (b * heads + h) * length + s : row * heads + h) * size;
        rotate(out + offset, x + offset, size, rotated, interleaved, cosines + at, sines + at);
      }
    }
  });
  result.store();
}

namespace {

/// A call of GroupQueryAttention: sizes, positions and the vectors of queries, keys and values.
struct GroupQuery {
  int64_t batch = 0, length = 0, heads = 0, keyHeads = 0, size = 0;
  int64_t room = 0;                 ///< positions of the past's tensors
  int64_t total = 0;                ///< positions in all
  int64_t keys = 0;                 ///< positions of the present's tensors
  int64_t capacity = 0;             ///< of caches of windows, in positions
  int64_t window = 0;               ///< a query sees so many keys; 0: all
  bool windowed = false;            ///< caches hold the last positions only
  bool ragged = false;              ///< sequences have different lengths
  int64_t queryRow = 0, keyRow = 0; ///< floats from position to position
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  const int64_t *before = nullptr;  ///< per batch: valid positions before the new ones
  const RowRange *ranges = nullptr; ///< per batch: the rows of caches that are read as floats
  Tensor cosTable, sinTable, positions;
  const float *cosines = nullptr, *sines = nullptr; ///< null: nothing is rotated
  bool interleaved = false;
  VectorNorm queryNorm, keyNorm;

  /// Returns the position by which the vector at `row`, [batch, position], is rotated: 0 for
  /// padding.
  int64_t positionOf(int64_t row) const {
    if (row % length >= ranges[row / length].fresh)
      return 0;
    return positions ? integerAt(positions, row) : before[row / length] + row % length;
  }
  /// Normalizes and rotates the vector at `row`, [batch, position], which starts at `from`.
  void turn(float *to, const float *from, int64_t row, const VectorNorm &norm) const {
    if (norm.scale) {
      norm.apply(to, from, size);
      from = to;
    }
    const int64_t half = cosines ? cosTable.dim(1) : 0, at = cosines ? positionOf(row) * half : 0;
    rotate(to, from, size, 2 * half, interleaved, cosines + at, sines + at);
  }
  bool readSizes(Context &c, Tensor query, Tensor key, Tensor value, Tensor pastKey,
                 Tensor pastValue);
  bool readTotal(Context &c, Tensor lengths, Tensor totalLength, Tensor fresh, bool hasPast);
  bool readVectors(Context &c, Tensor query, Tensor key, Tensor value);
  bool canGrow(Tensor past, uint8_t cacheType) const;
  bool findTables(Context &c, bool known);
  bool findNorms(Context &c, Tensor queryScale, Tensor keyScale, bool known);
  bool findPositions(Context &c, Tensor lengths, Tensor fresh, int64_t *starts, RowRange *rows);
  bool findFormats(Context &c, CacheRows (&rows)[2], uint8_t cacheType, bool known) const;
  void turnQueries(Context &c, float *to) const;
  void writeCaches(Context &c, Cache &keys, Cache &values, bool rows) const;
};

/// Finds the sizes of all tensors, whose elements need not be known. Returns false where they do
/// not fit each other: the call has failed.
bool GroupQuery::readSizes(Context &c, Tensor query, Tensor key, Tensor value, Tensor pastKey,
                           Tensor pastValue) {
  heads = c.integer("num_heads", 0);
  keyHeads = c.integer("kv_num_heads", 0);
  if (heads < 1 || keyHeads < 1 || heads % keyHeads || query.rank() != 3 || heads > query.dim(2))
    return c.fail("a query of rank %, % heads, % of them keys", query.rank(), heads, keyHeads),
           false;
  const bool packed = !key;
  batch = query.dim(0), length = query.dim(1), queryRow = query.dim(2);
  size = queryRow / (packed ? heads + 2 * keyHeads : heads);
  const int64_t width = keyHeads * size;
  keyRow = packed ? queryRow : width;
  if (packed ? size * (heads + 2 * keyHeads) != queryRow
             : size * heads != queryRow || !value || key.count() != batch * length * width ||
                   value.count() != batch * length * width)
    return c.fail("% numbers of query for % heads, % of them keys", queryRow, heads, keyHeads),
           false;
  room = pastKey ? pastKey.dim(2) : 0;
  // Two elements of four bits are a byte. Models leave the size of a head open by a name: a cache
  // that holds nothing yet may have any.
  const bool nibbles = pastKey && pastKey.dtype() == U8;
  const Dims pastDims(batch, keyHeads, room, nibbles ? size / 2 : size);
  auto fits = [&](Tensor past) {
    return room ? past.dims() == pastDims
                : past.rank() == 4 && past.dim(0) == batch && past.dim(1) == keyHeads &&
                      past.dim(2) == 0;
  };
  if (bool(pastKey) != bool(pastValue) || (pastKey && (!fits(pastKey) || !fits(pastValue))))
    return c.fail("the past does not fit % batches of % heads of %", batch, keyHeads, size), false;
  window = maximum(c.integer("local_window_size", -1), int64_t(0));
  windowed = c.integer("sliding_window_cache", 0);
  // A cache that holds nothing yet becomes one of a window.
  capacity = room ? room : window;
  if (windowed && (!window || capacity < window))
    return c.fail("a cache of % positions for windows of %", room, window), false;
  if (window && !c.integer("causal", 1))
    return c.fail("local_window_size % needs causal = 1", window), false;
  return true;
}

/// Finds the numbers of positions. Returns false where the call has failed, or where only a run
/// knows them.
bool GroupQuery::readTotal(Context &c, Tensor lengths, Tensor totalLength, Tensor fresh,
                           bool hasPast) {
  if (!totalLength.known() || !lengths || (fresh && !fresh.known()))
    return false;
  if (totalLength.count() != 1 || lengths.count() != batch)
    return c.fail("% lengths for % batches", lengths.count(), batch), false;
  total = integerAt(totalLength, 0);
  keys = windowed ? capacity : maximum(total, room);
  if (total < length && !windowed)
    return c.fail("% positions in all, % of them new", total, length), false;
  if (fresh && (fresh.count() != batch || !hasPast || !c.integer("causal", 1)))
    return c.fail("query_seqlens has % lengths for % batches; it needs a past and causal = 1",
                  fresh.count(), batch),
           false;
  return true;
}

/// Finds the vectors of the new positions: a query without a key holds all three. Returns false
/// where memory could not be allocated.
bool GroupQuery::readVectors(Context &c, Tensor query, Tensor key, Tensor value) {
  q = floatsOf(c, query);
  k = key ? floatsOf(c, key) : q + heads * size;
  v = key ? floatsOf(c, value) : k + keyHeads * size;
  return q && k && v;
}

/// Returns whether caches can grow in place: all sequences are as long as the past, if there is
/// one. A cache without a past must be of f32.
bool GroupQuery::canGrow(Tensor past, uint8_t cacheType) const {
  bool isEven = (past || cacheType == F32) && total == room + length;
  for (int64_t b = 0; isEven && b < batch; ++b)
    isEven = before[b] == room;
  return isEven;
}

/// Checks what rotates vectors, and finds the cosines and sines only where inputs are `known`.
/// Returns false where the call has failed.
bool GroupQuery::findTables(Context &c, bool known) {
  const bool rotary = c.integer("do_rotary", 0);
  interleaved = c.integer("rotary_interleaved", 0);
  if (rotary && (!cosTable || !sinTable || cosTable.rank() != 2 || sinTable.rank() != 2 ||
                 cosTable.dim(1) > size / 2 || sinTable.dim(1) != cosTable.dim(1) ||
                 sinTable.dim(0) != cosTable.dim(0)))
    return c.fail("do_rotary is set, but the caches do not fit vectors of %", size), false;
  if (positions && positions.count() != batch * length)
    return c.fail("% position_ids for % batches of %", positions.count(), batch, length), false;
  if (!rotary || !known)
    return true;
  cosines = floatsOf(c, cosTable);
  sines = floatsOf(c, sinTable);
  return cosines && sines;
}

/// Finds how vectors are normalized, their scales only where they are `known`. Returns false where
/// the call has failed.
bool GroupQuery::findNorms(Context &c, Tensor queryScale, Tensor keyScale, bool known) {
  if (bool(queryScale) != bool(keyScale) ||
      (queryScale && (queryScale.count() != size || keyScale.count() != size)))
    return c.fail("q_norm_weight and k_norm_weight have % and % numbers for vectors of %",
                  queryScale ? queryScale.count() : 0, keyScale ? keyScale.count() : 0, size),
           false;
  if (!queryScale || !known)
    return true;
  const double epsilon = c.number("qk_norm_epsilon", 1e-6);
  queryNorm = {floatsOf(c, queryScale), float(c.number("q_norm_epsilon", epsilon))};
  keyNorm = {floatsOf(c, keyScale), float(c.number("k_norm_epsilon", epsilon))};
  return queryNorm.scale && keyNorm.scale;
}

/// Finds where the new positions of each batch begin and which rows of caches they see. `fresh`
/// counts the new ones of each batch that are no padding, or is left out. Returns false where the
/// call has failed.
bool GroupQuery::findPositions(Context &c, Tensor lengths, Tensor fresh, int64_t *starts,
                               RowRange *rows) {
  before = starts;
  ranges = rows;
  int64_t max = total;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t end = integerAt(lengths, b) + 1; // seqlens_k is the length minus 1
    const int64_t keys = maximum(total, windowed ? int64_t(0) : room);
    if (end < 1 || end > keys)
      return c.fail("batch % has % positions of %", b, end, keys), false;
    // New positions are padded on the right.
    const int64_t own = fresh ? integerAt(fresh, b) : minimum(length, end);
    if (own < 0 || own > minimum(length, end))
      return c.fail("batch % has % new positions of % in all, the query has %", b, own, end,
                    length),
             false;
    starts[b] = end - own;
    max = maximum(max, end);
    ragged |= end != total;
    const bool fits =
        windowed ? room || !starts[b] : starts[b] <= room && starts[b] + length <= keys;
    if (!fits)
      return c.fail("batch % has % positions before the % new ones, the past holds %", b, starts[b],
                    length, room),
             false;
    rows[b] = {windowed ? keptPositions(starts[b], capacity, window) : starts[b], own,
               windowed ? keptPositions(end, capacity, window) : end};
  }
  // A past with room for more may hold sequences that are longer than the stated total.
  total = max;
  for (int64_t row = 0; cosines && row < batch * length; ++row)
    if (const int64_t at = positionOf(row); at < 0 || at >= cosTable.dim(0))
      return c.fail("position % is not in the cache of %", at, cosTable.dim(0)), false;
  return true;
}

/// Finds how keys and values are stored. Returns false where the call has failed.
bool GroupQuery::findFormats(Context &c, CacheRows (&rows)[2], uint8_t cacheType,
                             bool known) const {
  for (uint32_t i = 0; i < 2; ++i) {
    rows[i].heads = keyHeads;
    rows[i].ranges = ranges;
    rows[i].format.size = size;
    if (!rows[i].format.find(c, c.in(12 + i), i ? "v_quant_type" : "k_quant_type", cacheType,
                             keyHeads, known))
      return false;
  }
  return true;
}

/// Writes the rotated queries, [batch, positions, heads, size].
void GroupQuery::turnQueries(Context &c, float *to) const {
  parallelIf(c, batch * length, 4 * heads * size, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      for (int64_t h = 0; h < heads; ++h)
        turn(to + (row * heads + h) * size, q + row * queryRow + h * size, row, queryNorm);
  });
}

/// Writes the new positions into caches whose heads are [batch, keyHeads]: behind those before
/// them, or behind the resident `rows`.
void GroupQuery::writeCaches(Context &c, Cache &keys, Cache &values, bool rows) const {
  parallelIf(c, batch * length, 4 * keyHeads * size, [&](int64_t begin, int64_t end) {
    float *turned = keys.isNarrow() ? c.scratch<float>(size) : nullptr;
    if (keys.isNarrow() && !turned)
      return; // the call has failed
    for (int64_t row = begin; row < end; ++row)
      for (int64_t h = 0; h < keyHeads; ++h) {
        const int64_t b = row / length, head = b * keyHeads + h;
        const int64_t at = (rows ? ranges[b].resident : before[b]) + row % length;
        turn(turned ? turned : keys.at(head, at), k + row * keyRow + h * size, row, keyNorm);
        if (turned)
          keys.write(head, at, turned);
        values.write(head, at, v + row * keyRow + h * size);
      }
  });
}

/// Writes what a cache holds of the past, if there is one: of each batch the positions in front of
/// the new ones; all others become 0.
void copyPast(Context &c, Call *call, const GroupQuery &p, float *to, int64_t keys, Tensor past) {
  Cache from;
  if (past)
    from.show(call, past);
  parallelIf(c, p.batch * p.keyHeads, keys * p.size, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t used = p.before[i / p.keyHeads];
      float *head = to + i * keys * p.size;
      const float *own = used ? from.read(i, 0, used, head) : head;
      if (own != head)
        copyBytes(head, own, used * p.size * 4);
      __builtin_memset(head + used * p.size, 0, uint64_t((keys - used) * p.size) * 4);
    }
  });
}

/// Takes what attributes and an addend say of the scores of queries of `size` floats.
void configure(const Context &c, CachedAttention &attention, const GroupQuery &p,
               const ScoreBias &bias) {
  const double scale = c.number("scale", 0);
  attention.scale = float(scale ? scale : 1 / math::sqrt(double(p.size)));
  attention.softcap = float(c.number("softcap", 0));
  attention.causal = c.integer("causal", 1);
  attention.window = p.window;
  attention.bias = bias.data;
  attention.mask.columns = attention.total;
  attention.mask.steps[0] = bias.batch;
  attention.mask.steps[1] = bias.head;
  attention.mask.steps[2] = bias.row;
}

/// A result that has the keys or values of all positions so far.
struct Present {
  FloatResult floats;
  void *bytes = nullptr; ///< of quantized elements

  /// Makes result `index`, if it is wanted. Returns false where the call has failed.
  bool make(Context &c, uint32_t index, uint8_t type, const Dims &dims, bool quantized) {
    if (!quantized)
      return floats.makeIfWanted(c, index, type, dims);
    return !c.wants(index) || (bytes = c.makeBytes(index, type, dims));
  }
};

/// Copies the pasts into the presents, where the new positions are added. Returns false where
/// memory could not be allocated.
bool copyPasts(Context &c, Call *call, const GroupQuery &p, CachedAttention &attention,
               const Tensor (&pasts)[2], Present (&presents)[2]) {
  Cache *caches[] = {&attention.keys, &attention.values};
  for (int i = 0; i < 2; ++i) {
    float *all = presents[i].floats ? presents[i].floats.floats(c)
                                    : c.scratch<float>(p.batch * p.keyHeads * p.keys * p.size + 1);
    if (!all)
      return false;
    copyPast(c, call, p, all, p.keys, pasts[i]);
    caches[i]->borrow(all, p.keys * p.size, p.size);
  }
  return true;
}

/// Attends to caches that are read as rows of floats, one batch after the other: their keys are
/// counted from different positions of the sequences. Writes the presents. Returns false where the
/// call has failed.
bool attendRows(Context &c, Call *call, const GroupQuery &p, CachedAttention &attention,
                CacheRows (&rows)[2], const Tensor (&pasts)[2], Present (&presents)[2],
                const ScoreBias &bias, const float *queries, float *out) {
  int64_t resident = 0;
  for (int64_t b = 0; b < p.batch; ++b)
    resident = maximum(resident, p.ranges[b].resident);
  for (int i = 0; i < 2; ++i) {
    rows[i].rows = resident + p.length;
    if (!rows[i].read(c, call, p.batch, pasts[i]))
      return false;
  }
  rows[0].show(attention.keys, 0);
  rows[1].show(attention.values, 0);
  p.writeCaches(c, attention.keys, attention.values, /*rows=*/true);
  for (const CacheRows &each : rows)
    each.round(c, p.batch);
  const int64_t step = p.length * p.heads * p.size;
  attention.q.batch = attention.k.batch = attention.v.batch = 1;
  for (int64_t b = 0; b < p.batch; ++b) {
    const RowRange &range = p.ranges[b];
    rows[0].show(attention.keys, b);
    rows[1].show(attention.values, b);
    attention.beforeBatch = &range.resident;
    attention.total = range.resident + (attention.causal ? p.length : range.fresh);
    // Columns of the addend are positions of the whole sequence. Those of new positions that are
    // padding may lie behind its last one.
    if (const int64_t skipped = p.before[b] - range.resident; bias.data) {
      attention.bias = bias.data + b * bias.batch + skipped;
      attention.mask.columns = minimum(attention.total, bias.row - skipped);
    }
    attention.run(c, queries + b * step, out + b * step, attention.q);
  }
  for (int i = 0; i < 2; ++i) {
    if (presents[i].bytes)
      rows[i].write(c, p.batch, static_cast<char *>(presents[i].bytes), p.keys);
    else if (float *all = presents[i].floats ? presents[i].floats.floats(c) : nullptr)
      rows[i].write(c, p.batch, all, p.keys);
    else if (presents[i].floats)
      return false;
  }
  return true;
}

/// The scores of keys without a value, one per head, where there are some.
struct Sinks {
  Tensor given;
  const float *scores = nullptr;

  /// Returns false where the call has failed.
  bool find(Context &c, int64_t heads) {
    // The operator's default is -1, which means no.
    if (!given && c.integer("smooth_softmax", 0) != 1)
      return true;
    if (given)
      return (scores = floatsOf(c, given)) != nullptr;
    float *zeros = c.scratch<float>(heads);
    for (int64_t h = 0; zeros && h < heads; ++h)
      zeros[h] = 0;
    return (scores = zeros) != nullptr;
  }
};

/// The scores that qk_output asks for, [batch, heads, positions, keys]: scaled, capped and with the
/// addend (1), or as weights of the values (2). Keys that a query does not see have 0.
struct Scores {
  FloatResult result;
  int64_t mode = 0, columns = 0;

  /// Finds which ones. Returns false where the call has failed.
  bool find(Context &c, const GroupQuery &p) {
    mode = c.integer("qk_output", 0);
    if (mode < 0 || mode > 2 || (!mode && c.wants(3)))
      return c.fail("qk_output is %, expected % to 2", mode, c.wants(3) ? 1 : 0), false;
    if (mode && p.windowed)
      return c.fail("qk_output is % beside sliding_window_cache", mode), false;
    return true;
  }
  /// Makes the result. Returns false where the call has failed.
  bool make(Context &c, const GroupQuery &p, int64_t keys, uint8_t type) {
    columns = keys;
    return result.makeIfWanted(c, 3, type, Dims(p.batch, p.heads, p.length, columns));
  }
  /// Computes the scores from rotated queries, [batch, positions, heads, size], and the keys of
  /// `attention`, or of `rows` where there are some. Returns false where the call has failed.
  bool write(Context &c, const GroupQuery &p, const CachedAttention &attention,
             const CacheRows *rows, const ScoreBias &bias, const float *queries) {
    float *all = result ? result.floats(c) : nullptr;
    if (!result || !all)
      return !result;
    const int64_t group = p.heads / p.keyHeads;
    parallelIf(c, p.batch * p.heads, p.length * columns * p.size, [&](int64_t begin, int64_t end) {
      float *narrow = c.scratch<float>(p.size + 1);
      for (int64_t i = begin; narrow && i < end; ++i) {
        const int64_t b = i / p.heads, h = i % p.heads, head = b * p.keyHeads + h / group;
        const int64_t own = p.before[b] + p.ranges[b].fresh;
        for (int64_t at = 0; at < p.length; ++at) {
          float *row = all + (i * p.length + at) * columns;
          const float *query = queries + ((b * p.length + at) * p.heads + h) * p.size;
          __builtin_memset(row, 0, uint64_t(columns) * 4);
          const int64_t seen = attention.causal ? p.before[b] + at + 1 : own;
          const int64_t last = minimum(minimum(seen, own), columns);
          const int64_t first = p.window ? maximum(seen - p.window, int64_t(0)) : 0;
          for (int64_t j = first; j < last; ++j) {
            const float *key = rows ? rows->row(head, j) : attention.keys.read(head, j, 1, narrow);
            float score = 0;
            for (int64_t e = 0; e < p.size; ++e)
              score += query[e] * key[e];
            score *= attention.scale;
            if (attention.softcap != 0)
              score = attention.softcap * float(math::tanh(score / attention.softcap));
            row[j] = score + bias(b, h, at, j);
          }
          if (mode == 2)
            weigh(row, first, last, attention.sinks ? attention.sinks + h : nullptr);
        }
      }
    });
    return true;
  }

private:
  /// Replaces scores [first, last) by their softmax, in which a `sink` takes part if it is not
  /// null.
  static void weigh(float *row, int64_t first, int64_t last, const float *sink) {
    float max = sink ? *sink : first < last ? row[first] : 0;
    for (int64_t j = first; j < last; ++j)
      max = maximum(max, row[j]);
    float sum = sink ? float(math::exp(*sink - max)) : 0;
    for (int64_t j = first; j < last; ++j)
      sum += row[j] = float(math::exp(row[j] - max));
    for (int64_t j = first; j < last; ++j)
      row[j] /= sum;
  }
};

} // namespace

ATC_KERNEL(GroupQueryAttention) {
  const Tensor query = in(0), key = in(1), value = in(2), pastKey = in(3), pastValue = in(4),
               lengths = in(5), totalLength = in(6), addend = in(10), fresh = in(16);
  GroupQuery p;
  p.cosTable = in(7), p.sinTable = in(8), p.positions = in(9);
  Sinks sinks{in(11)};
  Scores scores;
  if (!p.readSizes(*this, query, key, value, pastKey, pastValue) || !scores.find(*this, p))
    return;
  if (!p.readTotal(*this, lengths, totalLength, fresh, bool(pastKey)))
    return;
  const int64_t batch = p.batch, length = p.length, size = p.size, stated = p.total;
  // Any input may be one that only a run knows, also the tables beside constant queries.
  bool known = true;
  for (uint32_t i = 0; i < inputs(); ++i)
    known = known && (!in(i) || in(i).known());
  int64_t *before = scratch<int64_t>(batch + 1);
  RowRange *ranges = scratch<RowRange>(batch + 1);
  if (!before || !ranges)
    return;
  if (sinks.given && sinks.given.count() != p.heads)
    return fail("% scores of sinks for % heads", sinks.given.count(), p.heads);
  if (!p.findTables(*this, known) || !p.findNorms(*this, in(14), in(15), known) ||
      (known && !p.findPositions(*this, lengths, fresh, before, ranges)))
    return;
  const uint8_t cacheType = pastKey ? pastKey.dtype() : query.dtype();
  if (pastKey && pastValue.dtype() != cacheType)
    return fail("past_key and past_value have different types");
  const Tensor pasts[2] = {p.room ? pastKey : Tensor(), p.room ? pastValue : Tensor()};
  CacheRows rows[2];
  if (!p.findFormats(*this, rows, cacheType, known))
    return;
  const bool asRows = p.windowed || rows[0].format.bits || (!integer("causal", 1) && p.ragged);
  const bool inPlace = known && !asRows && query.dtype() == F32 && wants(1) && wants(2) &&
                       p.canGrow(pasts[0], cacheType);

  CachedAttention attention;
  attention.q = {batch, p.heads, length, size, true};
  attention.k = attention.v = {batch, p.keyHeads, length, size, true};
  attention.before = p.room;
  attention.total = p.total;
  FloatResult result;
  Present presents[2];
  const Dims cache(batch, p.keyHeads, p.keys, rows[0].format.width());
  if (!result.make(*this, 0, query.dtype(), Dims(batch, length, p.heads * size)))
    return;
  if (inPlace) {
    if (!attention.keys.make(*this, call, 1, pasts[0], Tensor(), attention.k, p.room) ||
        !attention.values.make(*this, call, 2, pasts[1], Tensor(), attention.v, p.room))
      return;
  } else {
    for (uint32_t i = 0; i < 2; ++i)
      if (!presents[i].make(*this, 1 + i, cacheType, cache, rows[i].format.bits))
        return;
  }
  if (!scores.make(*this, p, stated, query.dtype()))
    return;
  ScoreBias scoreBias;
  if (!known || !scoreBias.read(*this, addend, batch, p.heads, length, p.total))
    return;
  float *out = result.floats(*this);
  const bool turns = p.cosines || !key || p.queryNorm.scale;
  float *turned = turns ? scratch<float>(batch * length * p.heads * size + 1) : nullptr;
  if (!p.readVectors(*this, query, key, value) || !out || (turns && !turned) ||
      !sinks.find(*this, p.heads))
    return;
  if (turned)
    p.turnQueries(*this, turned);
  const float *queries = turned ? turned : p.q;
  attention.beforeBatch = before;
  attention.sinks = sinks.scores;
  configure(*this, attention, p, scoreBias);
  if (asRows) {
    if (!attendRows(*this, call, p, attention, rows, pasts, presents, scoreBias, queries, out))
      return;
  } else {
    if (inPlace) {
      attention.keys.copyPast(*this, call, pasts[0], attention.k, p.room);
      attention.values.copyPast(*this, call, pasts[1], attention.v, p.room);
    } else if (!copyPasts(*this, call, p, attention, pasts, presents)) {
      return;
    }
    p.writeCaches(*this, attention.keys, attention.values, /*rows=*/false);
    attention.run(*this, queries, out, attention.q);
  }
  if (!scores.write(*this, p, attention, asRows ? rows : nullptr, scoreBias, queries))
    return;
  result.store();
  scores.result.store();
  for (Present &present : presents)
    present.floats.store();
}

} // namespace atc::kernels
