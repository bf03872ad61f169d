//===-- MsAttention.cpp - com.microsoft: attention ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/Floats.h"
#include "kernels/Math.h"

namespace atc::kernels {

namespace {

/// Vectors of [batch, heads, positions]; steps count floats, vectors are contiguous.
struct Heads {
  const float *data = nullptr;
  int64_t batch = 0, head = 0, position = 0;
  const float *at(int64_t b, int64_t h, int64_t s) const {
    return data + b * batch + h * head + s * position;
  }
};

struct Attend {
  int64_t batch, heads, keyHeads, queries, keys, size, valueSize;
  Heads q, k, v;
  double scale, softcap = 0;
  float *out; ///< [batch, queries, heads, valueSize]

  /// bias(b, h, i, j) is added to the score of query i and key j; -inf: not seen.
  /// sink(h) is the score of a key without value, -inf without one.
  template <typename Bias, typename Sink> bool run(Context &c, Bias &&bias, Sink &&sink) const {
    const int64_t tasks = batch * heads * queries;
    float *scores = c.scratch<float>(tasks * keys + 1);
    if (!scores)
      return false;
    c.parallel(tasks, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t i = task % queries, h = task / queries % heads, b = task / queries / heads;
        const int64_t shared = h / (heads / keyHeads);
        float *row = scores + task * keys;
        const float none = -__builtin_inff(), extra = sink(h);
        float largest = extra;
        for (int64_t j = 0; j < keys; ++j) {
          const float added = bias(b, h, i, j);
          if (added == none) {
            row[j] = none;
            continue;
          }
          float score = float(scale) * dotProduct(q.at(b, h, i), k.at(b, shared, j), size);
          if (softcap > 0)
            score = float(softcap * math::tanh(score / softcap));
          row[j] = score + added;
          largest = maximum(largest, row[j]);
        }
        float *to = out + ((b * queries + i) * heads + h) * valueSize;
        for (int64_t d = 0; d < valueSize; ++d)
          to[d] = 0;
        if (largest == none)
          continue;
        double sum = extra == none ? 0 : math::exp(extra - largest);
        for (int64_t j = 0; j < keys; ++j) {
          row[j] = row[j] == none ? 0 : float(math::exp(row[j] - largest));
          sum += row[j];
        }
        for (int64_t j = 0; j < keys; ++j) {
          const float weight = float(row[j] / sum), *value = v.at(b, shared, j);
          if (weight != 0)
            for (int64_t d = 0; d < valueSize; ++d)
              to[d] += weight * value[d];
        }
      }
    });
    return true;
  }
  template <typename Bias> bool run(Context &c, Bias &&bias) const {
    return run(c, bias, [](int64_t) { return -__builtin_inff(); });
  }
};

/// What mask_index or key_padding_mask adds to the scores.
struct Mask {
  Tensor mask;
  float hidden; ///< for what is not seen
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
      // Ends, and behind them beginnings.
      seen = j < integerAt(mask, b) &&
             (mask.dim(0) != 2 * batch || j >= integerAt(mask, batch + b));
      break;
    case 2:
      seen = integerAt(mask, b * keys + j) > 0;
      break;
    case 3:
      seen = integerAt(mask, (b * queries + i) * keys + j) > 0;
      break;
    default: {
      const int64_t most = mask.dim(3), row = keys - queries + i;
      seen = integerAt(mask, (b * mask.dim(2) + row) * most + j) > 0;
    }
    }
    return seen ? 0 : hidden;
  }
};

/// attention_bias: [batch or 1, heads or 1, queries, keys].
struct ScoreBias {
  const float *data = nullptr;
  int64_t batch = 0, head = 0, row = 0;

  bool read(Context &c, Tensor bias, int64_t batches, int64_t heads, int64_t queries,
            int64_t keys) {
    if (!bias)
      return true;
    if (bias.rank() != 4 || (bias.dim(0) != 1 && bias.dim(0) != batches) ||
        (bias.dim(1) != 1 && bias.dim(1) != heads) || bias.dim(2) != queries ||
        bias.dim(3) < keys) {
      c.fail("attention_bias does not fit % batches, % heads, % queries, % keys", batches, heads,
             queries, keys);
      return false;
    }
    row = bias.dim(3);
    head = bias.dim(1) == 1 ? 0 : queries * row;
    batch = bias.dim(0) == 1 ? 0 : bias.dim(1) * queries * row;
    return (data = floatsOf(c, bias)) != nullptr;
  }
  float operator()(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return data ? data[b * batch + h * head + i * row + j] : 0;
  }
};

/// Writes [batch, heads, past + length, size]: what is there, and new vectors.
void append(float *to, int64_t batch, int64_t heads, int64_t size, const float *past,
            int64_t pastLength, const Heads &added, int64_t length) {
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

/// Rotates pairs of one vector.
void rotate(float *to, const float *x, int64_t size, int64_t rotated, bool interleaved,
            const float *cosines, const float *sines) {
  const int64_t half = rotated / 2;
  for (int64_t i = 0; i < half; ++i) {
    const int64_t first = interleaved ? 2 * i : i, second = interleaved ? 2 * i + 1 : i + half;
    const float a = x[first], b = x[second];
    to[first] = a * cosines[i] - b * sines[i];
    to[second] = b * cosines[i] + a * sines[i];
  }
  for (int64_t i = rotated; i < size; ++i)
    to[i] = x[i];
}

} // namespace

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
  if (heads < 1 || (!split && size * heads != data.dim(2)) || rotated > size || rotated % 2 ||
      rotated / 2 > tableWidth || sinTable.dim(1) != tableWidth ||
      sinTable.dim(0) != cosTable.dim(0) ||
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
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t s = 0; s < length; ++s) {
      const int64_t at = positions.count() == 1 ? integerAt(positions, 0) + s
                                                : integerAt(positions, b * length + s);
      if (at < 0 || at >= cosTable.dim(0))
        return fail("position % is not in the cache of %", at, cosTable.dim(0));
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t offset =
            (split ? (b * heads + h) * length + s : (b * length + s) * heads + h) * size;
        rotate(out + offset, x + offset, size, rotated, interleaved, cosines + at * tableWidth,
               sines + at * tableWidth);
      }
    }
  result.store();
}

ATC_KERNEL(MsAttention) {
  const Tensor data = in(0), weights = in(1), bias = in(2), mask = in(3), past = in(4);
  const int64_t heads = integer("num_heads", 0);
  const List<int64_t> sizes = integers("qkv_hidden_sizes");
  if (data.rank() != 3 || weights.rank() != 2 || weights.dim(0) != data.dim(2) || heads < 1)
    return fail("an input of rank %, weights of rank %, % heads", data.rank(), weights.rank(),
                heads);
  const int64_t batch = data.dim(0), length = data.dim(1), depth = data.dim(2),
                columns = weights.dim(1);
  const int64_t hidden = sizes.size == 3 ? sizes[0] : columns / 3;
  const int64_t valueHidden = sizes.size == 3 ? sizes[2] : columns / 3;
  if (2 * hidden + valueHidden != columns || hidden % heads || valueHidden % heads ||
      (sizes.size == 3 && sizes[1] != hidden) || (bias && bias.count() != columns))
    return fail("% columns of weights for % heads", columns, heads);
  if (integer("do_rotary", 0) || integer("past_present_share_buffer", 0))
    return fail("do_rotary and past_present_share_buffer are not supported");
  const int64_t size = hidden / heads, valueSize = valueHidden / heads;
  const int64_t before = past ? past.dim(3) : 0, keys = before + length;
  if (past && (past.rank() != 5 || past.dim(0) != 2 || past.dim(1) != batch ||
               past.dim(2) != heads || past.dim(4) != size || size != valueSize))
    return fail("past does not fit % batches of % heads of %", batch, heads, size);
  FloatResult result, present;
  const bool keep = wants(1);
  if (!result.make(*this, 0, data.dtype(), Dims(batch, length, valueHidden)) ||
      (keep && !present.make(*this, 1, data.dtype(), Dims(int64_t(2), batch, heads, keys, size))))
    return;
  const Mask hide{mask, float(number("mask_filter_value", -10000)), batch, length, keys};
  ScoreBias scoreBias;
  if (!hide.valid(*this) || !scoreBias.read(*this, in(5), batch, heads, length, keys))
    return;
  float *out = result.floats(*this), *qkv = scratch<float>(batch * length * columns + 1);
  const float *x = floatsOf(*this, data), *w = floatsOf(*this, weights);
  const float *shift = bias ? floatsOf(*this, bias) : nullptr;
  if (!out || !qkv || !x || !w || (bias && !shift))
    return;
  parallel(batch * length, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float *to = qkv + row * columns;
      for (int64_t i = 0; i < columns; ++i)
        to[i] = shift ? shift[i] : 0;
      for (int64_t d = 0; d < depth; ++d) {
        const float factor = x[row * depth + d], *from = w + d * columns;
        for (int64_t i = 0; i < columns; ++i)
          to[i] += factor * from[i];
      }
    }
  });
  auto part = [&](int64_t offset, int64_t step) {
    return Heads{qkv + offset, length * columns, step, columns};
  };
  Heads k = part(hidden, size), v = part(2 * hidden, valueSize);
  if (past || keep) {
    const int64_t half = batch * heads * keys * size;
    if (keep && size != valueSize)
      return fail("present needs values as long as keys, not % and %", valueSize, size);
    float *joined = keep ? present.floats(*this) : scratch<float>(2 * half);
    const float *old = past ? floatsOf(*this, past) : nullptr;
    if (!joined || (past && !old))
      return;
    append(joined, batch, heads, size, old, before, k, length);
    append(joined + half, batch, heads, size, old + (past ? past.count() / 2 : 0), before, v,
           length);
    k = Heads{joined, heads * keys * size, keys * size, size};
    v = Heads{joined + half, heads * keys * size, keys * size, size};
  }
  const double scale = number("scale", 0);
  const Attend attend{batch, heads, heads, length, keys, size, valueSize, part(0, size), k, v,
                      scale ? scale : 1 / math::sqrt(double(size)), 0, out};
  const bool causal = integer("unidirectional", 0);
  if (!attend.run(*this, [&](int64_t b, int64_t h, int64_t i, int64_t j) {
        if (causal && j > before + i)
          return -__builtin_inff();
        return hide(b, i, j) + scoreBias(b, h, i, j);
      }))
    return;
  result.store();
  if (keep)
    present.store();
}

ATC_KERNEL(MultiHeadAttention) {
  const Tensor query = in(0), key = in(1), value = in(2), bias = in(3), padding = in(4);
  const Tensor pastKey = in(6), pastValue = in(7);
  const int64_t heads = integer("num_heads", 0);
  if (heads < 1 || (query.rank() != 3 && query.rank() != 5))
    return fail("a query of rank % with % heads", query.rank(), heads);
  const bool packed = query.rank() == 5, packedKv = key && key.rank() == 5,
             split = key && key.rank() == 4; // [batch, heads, positions, size]
  const int64_t batch = query.dim(0), length = query.dim(1);
  const int64_t hidden = packed ? heads * query.dim(4) : query.dim(2), size = hidden / heads;
  if (packed ? query.dim(2) != heads || query.dim(3) != 3 : !key || hidden % heads)
    return fail("a query of % numbers for % heads", hidden, heads);
  if (!packed && !packedKv && !value)
    return fail("has no value");
  const int64_t added = packed ? length : split ? key.dim(2) : key.dim(1);
  const int64_t valueHidden = packed || packedKv ? hidden
                              : split            ? heads * value.dim(3)
                                                 : value.dim(2);
  const int64_t valueSize = valueHidden / heads, before = pastKey ? pastKey.dim(2) : 0;
  const int64_t keys = before + added;
  if ((key && key.count() != batch * added * hidden * (packedKv ? 2 : 1)) ||
      (value && value.count() != batch * added * valueHidden) || valueHidden % heads ||
      (bias && bias.count() != 2 * hidden + valueHidden) ||
      (pastKey && (!pastValue || pastKey.count() != batch * heads * before * size ||
                   pastValue.count() != batch * heads * before * valueSize)))
    return fail("query, key and value do not fit % batches of % heads of %", batch, heads, size);
  FloatResult result, presentKey, presentValue;
  const bool keepKey = wants(1), keepValue = wants(2);
  if (!result.make(*this, 0, query.dtype(), Dims(batch, length, valueHidden)) ||
      (keepKey && !presentKey.make(*this, 1, query.dtype(), Dims(batch, heads, keys, size))) ||
      (keepValue &&
       !presentValue.make(*this, 2, query.dtype(), Dims(batch, heads, keys, valueSize))))
    return;
  const Mask hide{padding, float(number("mask_filter_value", -10000)), batch, length, keys};
  ScoreBias scoreBias;
  if (!hide.valid(*this) || !scoreBias.read(*this, in(5), batch, heads, length, keys))
    return;
  const float *q = floatsOf(*this, query), *k = packed ? q : floatsOf(*this, key);
  const float *v = packed ? q : packedKv ? k : floatsOf(*this, value);
  const float *shift = bias ? floatsOf(*this, bias) : nullptr;
  float *out = result.floats(*this);
  if (!q || !k || !v || !out || (bias && !shift))
    return;
  if (shift && (packed || packedKv || split))
    return fail("a bias is supported for separate projections only");
  if (shift) {
    q = withBias(*this, q, batch * length, hidden, shift);
    k = withBias(*this, k, batch * added, hidden, shift + hidden);
    v = withBias(*this, v, batch * added, valueHidden, shift + 2 * hidden);
    if (!q || !k || !v)
      return;
  }
  Heads queries{q, length * hidden, size, hidden}, keyHeads{k, added * hidden, size, hidden},
      values{v, added * valueHidden, valueSize, valueHidden};
  if (packed) { // [batch, length, heads, 3, size]
    queries = {q, length * 3 * hidden, 3 * size, 3 * hidden};
    keyHeads = queries, values = queries;
    keyHeads.data += size, values.data += 2 * size;
  } else if (packedKv) {
    keyHeads = {k, added * 2 * hidden, 2 * size, 2 * hidden};
    values = keyHeads;
    values.data += size;
  } else if (split) {
    keyHeads = {k, added * hidden, added * size, size};
    values = {v, added * valueHidden, added * valueSize, valueSize};
  }
  auto join = [&](Heads &part, int64_t width, Tensor past, FloatResult &present, bool keep) {
    if (!pastKey && !keep)
      return true;
    float *to = keep ? present.floats(*this) : scratch<float>(batch * heads * keys * width + 1);
    const float *old = past ? floatsOf(*this, past) : nullptr;
    if (!to || (past && !old))
      return false;
    append(to, batch, heads, width, old, before, part, added);
    part = {to, heads * keys * width, keys * width, width};
    return true;
  };
  if (!join(keyHeads, size, pastKey, presentKey, keepKey) ||
      !join(values, valueSize, pastValue, presentValue, keepValue))
    return;
  const double scale = number("scale", 0);
  const Attend attend{batch, heads, heads, length, keys, size, valueSize, queries, keyHeads,
                      values, scale ? scale : 1 / math::sqrt(double(size)), 0, out};
  const bool causal = integer("unidirectional", 0);
  if (!attend.run(*this, [&](int64_t b, int64_t h, int64_t i, int64_t j) {
        if (causal && j > keys - length + i)
          return -__builtin_inff();
        return hide(b, i, j) + scoreBias(b, h, i, j);
      }))
    return;
  result.store();
  if (keepKey)
    presentKey.store();
  if (keepValue)
    presentValue.store();
}

ATC_KERNEL(GroupQueryAttention) {
  const Tensor query = in(0), key = in(1), value = in(2), pastKey = in(3), pastValue = in(4),
               lengths = in(5), totalLength = in(6), cosTable = in(7), sinTable = in(8),
               positions = in(9), sinkScores = in(11);
  const int64_t heads = integer("num_heads", 0), keyHeads = integer("kv_num_heads", 0);
  if (heads < 1 || keyHeads < 1 || heads % keyHeads || query.rank() != 3)
    return fail("a query of rank %, % heads, % of them keys", query.rank(), heads, keyHeads);
  const bool packed = !key;
  const int64_t batch = query.dim(0), length = query.dim(1), hidden = query.dim(2);
  const int64_t size = packed ? hidden / (heads + 2 * keyHeads) : hidden / heads;
  const int64_t window = integer("local_window_size", -1), width = keyHeads * size;
  if (packed ? size * (heads + 2 * keyHeads) != hidden
             : size * heads != hidden || !value || key.count() != batch * length * width ||
                   value.count() != batch * length * width)
    return fail("% numbers of query for % heads, % of them keys", hidden, heads, keyHeads);
  const int64_t room = pastKey ? pastKey.dim(2) : 0;
  if (pastKey && (pastKey.rank() != 4 || !pastValue ||
                  pastKey.count() != batch * keyHeads * room * size ||
                  pastValue.count() != pastKey.count()))
    return fail("the past does not fit % batches of % heads of %", batch, keyHeads, size);
  if (!totalLength.known() || !lengths)
    return;
  if (totalLength.count() != 1 || lengths.count() != batch)
    return fail("% lengths for % batches", lengths.count(), batch);
  const int64_t total = integerAt(totalLength, 0), keys = maximum(total, room);
  if (total < length)
    return fail("% positions in all, % of them new", total, length);
  FloatResult result, presentKey, presentValue;
  const Dims cache(batch, keyHeads, keys, size);
  const bool keepKey = wants(1), keepValue = wants(2);
  if (!result.make(*this, 0, query.dtype(), Dims(batch, length, heads * size)) ||
      (keepKey && !presentKey.make(*this, 1, query.dtype(), cache)) ||
      (keepValue && !presentValue.make(*this, 2, query.dtype(), cache)))
    return;
  ScoreBias scoreBias;
  if (!scoreBias.read(*this, in(10), batch, heads, length, total))
    return;
  const bool rotary = integer("do_rotary", 0), interleaved = integer("rotary_interleaved", 0);
  if (rotary && (!cosTable || !sinTable || cosTable.rank() != 2 || sinTable.rank() != 2 ||
                 cosTable.dim(1) > size / 2 || sinTable.dim(1) != cosTable.dim(1) ||
                 sinTable.dim(0) != cosTable.dim(0)))
    return fail("do_rotary is set, but the caches do not fit vectors of %", size);
  if (positions && positions.count() != batch * length)
    return fail("% position_ids for % batches of %", positions.count(), batch, length);
  const float *q = floatsOf(*this, query), *k = packed ? q + heads * size : floatsOf(*this, key);
  const float *v = packed ? k + width : floatsOf(*this, value);
  const float *oldKey = pastKey ? floatsOf(*this, pastKey) : nullptr;
  const float *oldValue = pastValue ? floatsOf(*this, pastValue) : nullptr;
  const float *cosines = rotary ? floatsOf(*this, cosTable) : nullptr;
  const float *sines = rotary ? floatsOf(*this, sinTable) : nullptr;
  const float *sinks = sinkScores ? floatsOf(*this, sinkScores) : nullptr;
  float *out = result.floats(*this);
  float *newKeys = keepKey ? presentKey.floats(*this) : scratch<float>(cache.product() + 1);
  float *newValues = keepValue ? presentValue.floats(*this) : scratch<float>(cache.product() + 1);
  float *turned = scratch<float>(batch * length * heads * size + 1);
  int64_t *before = scratch<int64_t>(batch + 1);
  if (!q || !k || !v || !out || !newKeys || !newValues || !turned || !before ||
      (rotary && (!cosines || !sines)) || (pastKey && (!oldKey || !oldValue)) ||
      (sinkScores && (!sinks || sinkScores.count() != heads)))
    return;
  const int64_t kvRow = packed ? hidden : width;
  for (int64_t i = 0; i < cache.product(); ++i)
    newKeys[i] = newValues[i] = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t end = integerAt(lengths, b) + 1; // seqlens_k counts from 0
    if (end < 1 || end > keys)
      return fail("batch % has % positions of %", b, end, keys);
    // The first prompt is padded on the right: it has nothing before it.
    const bool prompt = length > 1 && length == total;
    const int64_t start = before[b] = prompt ? 0 : end - length;
    if (start < 0 || start > room || start + length > keys)
      return fail("batch % has % positions before the % new ones, the past holds %", b, start,
                  length, room);
    for (int64_t h = 0; h < keyHeads; ++h) {
      const int64_t to = (b * keyHeads + h) * keys * size, from = (b * keyHeads + h) * room * size;
      if (start) {
        copyBytes(newKeys + to, oldKey + from, start * size * 4);
        copyBytes(newValues + to, oldValue + from, start * size * 4);
      }
    }
    for (int64_t s = 0; s < length; ++s) {
      const int64_t at = positions ? integerAt(positions, b * length + s) : start + s;
      if (rotary && (at < 0 || at >= cosTable.dim(0)))
        return fail("position % is not in the cache of %", at, cosTable.dim(0));
      const int64_t half = rotary ? cosTable.dim(1) : 0, row = b * length + s;
      auto turn = [&](float *to, const float *from) {
        rotate(to, from, size, 2 * half, interleaved, cosines + at * half, sines + at * half);
      };
      for (int64_t h = 0; h < heads; ++h)
        turn(turned + (row * heads + h) * size, q + row * hidden + h * size);
      for (int64_t h = 0; h < keyHeads; ++h) {
        const int64_t to = ((b * keyHeads + h) * keys + start + s) * size;
        turn(newKeys + to, k + row * kvRow + h * size);
        copyBytes(newValues + to, v + row * kvRow + h * size, size * 4);
      }
    }
  }
  const Heads kHeads{newKeys, keyHeads * keys * size, keys * size, size},
      vHeads{newValues, keyHeads * keys * size, keys * size, size};
  const double scale = number("scale", 0);
  const Attend attend{batch, heads, keyHeads, length, total, size, size,
                      Heads{turned, length * heads * size, size, heads * size}, kHeads, vHeads,
                      scale ? scale : 1 / math::sqrt(double(size)), number("softcap", 0), out};
  const bool smooth = integer("smooth_softmax", 0);
  if (!attend.run(
          *this,
          [&](int64_t b, int64_t h, int64_t i, int64_t j) {
            const int64_t at = before[b] + i;
            if (j > at || (window > 0 && j <= at - window))
              return -__builtin_inff();
            return scoreBias(b, h, i, j);
          },
          [&](int64_t h) { return sinks ? sinks[h] : smooth ? 0.0f : -__builtin_inff(); }))
    return;
  result.store();
  if (keepKey)
    presentKey.store();
  if (keepValue)
    presentValue.store();
}

} // namespace atc::kernels
