//===-- GroupAttention.cpp - com.microsoft: heads that share keys ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/microsoft/Attention.h"

namespace atc::kernels {

namespace {

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
  if (heads < 1 || heads > 0x7fffffff || (!split && size * heads != data.dim(2)) || rotated < 0 ||
      rotated > size || rotated % 2 || rotated / 2 > tableWidth || sinTable.dim(1) != tableWidth ||
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

ATC_KERNEL(GroupQueryAttention) {
  const Tensor query = in(0), key = in(1), value = in(2), pastKey = in(3), pastValue = in(4),
               lengths = in(5), totalLength = in(6), cosTable = in(7), sinTable = in(8),
               positions = in(9), sinkScores = in(11);
  const int64_t heads = integer("num_heads", 0), keyHeads = integer("kv_num_heads", 0);
  if (heads < 1 || keyHeads < 1 || heads % keyHeads || query.rank() != 3 || heads > query.dim(2))
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
  if (pastKey &&
      (pastKey.rank() != 4 || !pastValue || pastKey.count() != batch * keyHeads * room * size ||
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
  if (!result.make(*this, 0, query.dtype(), Dims(batch, length, heads * size)) ||
      !presentKey.makeIfWanted(*this, 1, query.dtype(), cache) ||
      !presentValue.makeIfWanted(*this, 2, query.dtype(), cache))
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
  float *newKeys = presentKey ? presentKey.floats(*this) : scratch<float>(cache.product() + 1);
  float *newValues =
      presentValue ? presentValue.floats(*this) : scratch<float>(cache.product() + 1);
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
    const int64_t end = integerAt(lengths, b) + 1; // seqlens_k is the length minus 1
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
  const Attend attend{batch,
                      heads,
                      keyHeads,
                      length,
                      total,
                      size,
                      size,
                      Heads{turned, length * heads * size, size, heads * size},
                      kHeads,
                      vHeads,
                      scale ? scale : 1 / math::sqrt(double(size)),
                      number("softcap", 0),
                      out};
  const bool smooth = integer("smooth_softmax", 0);
  if (!attend.run(
          *this,
          [&](int64_t b, int64_t h, int64_t i, int64_t j) {
            const int64_t at = before[b] + i;
            if (j > at || (window > 0 && j <= at - window))
              return -__builtin_inff();
            return scoreBias(b, h, i, j);
          },
          [&](int64_t h) { return sinks    ? sinks[h]
                                  : smooth ? 0.0f
                                           : -__builtin_inff(); }))
    return;
  result.store();
  presentKey.store();
  presentValue.store();
}

} // namespace atc::kernels
