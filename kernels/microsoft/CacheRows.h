//===-- CacheRows.h - caches that are read as floats and written anew -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cache of GroupQueryAttention that does not grow position by position: one that is quantized, or
// one that holds a window of a sequence only. Its rows are read as floats into memory of the call,
// new ones are added there, and those that stay are written as the present.
//
// A quantized element is q * scale, with one scale for the tensor or one per channel: q in int8, or
// q + 8 in four bits of uint8, the even element in the low ones. New rows are rounded before they
// are read: each position has the same value in every later call.

#ifndef OPENATC_KERNELS_MICROSOFT_CACHEROWS_H
#define OPENATC_KERNELS_MICROSOFT_CACHEROWS_H

#include "kernels/core/Math.h"
#include "kernels/nn/CachedAttention.h"

namespace atc::kernels {

/// The storage format of the rows of a cache.
struct RowFormat {
  int64_t size = 0;                      ///< elements per row
  int bits = 0;                          ///< per element, 8 or 4; 0: floats of any type
  const float *scales = nullptr;         ///< of quantized elements
  int64_t headStep = 0, elementStep = 0; ///< from scale to scale; 0: one for all

  /// Returns the bytes or, of floats, the elements of a stored row.
  int64_t width() const { return bits == 4 ? size / 2 : size; }

  /// Reads the attributes and the scales, [1] or [1, heads, 1, size], which are looked at only if
  /// they are `known`. `cacheType` is the element type of the past. Returns false where the call
  /// has failed.
  bool find(Context &c, Tensor scale, const char *attribute, uint8_t cacheType, int64_t heads,
            bool known) {
    const bool perTensor = c.is(attribute, "NONE", "PER_TENSOR");
    if (!perTensor && !c.is(attribute, "NONE", "PER_CHANNEL")) {
      if (cacheType != F32 && cacheType != F16 && cacheType != BF16)
        return c.failType(cacheType), false;
      return true;
    }
    bits = int(c.integer("kv_cache_bit_width", cacheType == U8 ? 4 : 8));
    if ((bits != 8 || cacheType != I8) && (bits != 4 || cacheType != U8 || size % 2))
      return c.fail("a cache of element type % with vectors of % elements of % bits", cacheType,
                    size, bits),
             false;
    if (!scale || scale.dtype() != F32 || scale.count() != (perTensor ? 1 : heads * size))
      return c.fail("% scales of a cache of % heads of % elements", scale ? scale.count() : 0,
                    heads, size),
             false;
    if (!perTensor)
      headStep = size, elementStep = 1;
    scales = known ? scale.as<float>() : nullptr;
    return true;
  }

  /// Writes the floats of a quantized row of head `head`.
  void expand(float *to, const char *row, int64_t head) const {
    const float *scale = scales + head * headStep;
    if (bits == 8) {
      for (int64_t i = 0; i < size; ++i)
        to[i] = float(reinterpret_cast<const int8_t *>(row)[i]) * scale[i * elementStep];
      return;
    }
    for (int64_t i = 0; i < size; ++i) {
      const int digit = uint8_t(row[i / 2]) >> (i % 2 * 4) & 15;
      to[i] = float(digit - 8) * scale[i * elementStep];
    }
  }

  /// Quantizes the floats of a row of head `head`.
  void quantize(char *row, const float *from, int64_t head) const {
    const float *scale = scales + head * headStep;
    auto digitOf = [&](int64_t i, float max) {
      const float own = scale[i * elementStep], x = own != 0 ? from[i] / own : 0;
      // NaN becomes the least number.
      const float low = x > -max - 1 ? x : -max - 1;
      return int(math::rint(low < max ? low : max));
    };
    if (bits == 8) {
      for (int64_t i = 0; i < size; ++i)
        row[i] = char(digitOf(i, 127));
      return;
    }
    for (int64_t i = 0; i < size; i += 2)
      row[i / 2] = char((digitOf(i, 7) + 8) | (digitOf(i + 1, 7) + 8) << 4);
  }
};

/// The rows of one batch: `resident` ones of the past are read, `fresh` ones are new, and the last
/// `kept` of both are the present.
struct RowRange {
  int64_t resident = 0, fresh = 0, kept = 0;
};

/// Returns how many of `total` positions a cache of `room` rows holds for windows of `window`
/// positions: when it is full, room - window + 1 positions leave it at once.
inline int64_t keptPositions(int64_t total, int64_t room, int64_t window) {
  const int64_t step = room - window + 1;
  return total <= room ? total : total - (total - room + step - 1) / step * step;
}

/// Keys or values as floats, [batch, heads, rows, size].
class CacheRows {
public:
  RowFormat format;
  int64_t heads = 0, rows = 0;
  const RowRange *ranges = nullptr; ///< per batch

  /// Allocates the rows of `batch` batches and reads those of `past`, [batch, heads, positions,
  /// width], where there is one. Returns false where memory could not be allocated.
  bool read(Context &c, Call *call, int64_t batch, Tensor past) {
    const int64_t space = spaceFor(c, batch, heads, rows + 1, format.size + 1);
    data = space < 0 ? nullptr : c.scratch<float>(space);
    if (!data)
      return false;
    const int64_t step = format.width();
    const int64_t room = past ? call->host->roomOf(call, past.get(), 2) : 0;
    Cache from;
    if (past)
      from.show(call, past);
    parallelIf(c, batch * heads, rows * format.size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t used = ranges[i / heads].resident;
        float *to = row(i, 0);
        __builtin_memset(to, 0, uint64_t(rows * format.size) * 4);
        if (!format.bits) {
          const float *own = used ? from.read(i, 0, used, to) : to;
          if (own != to)
            copyBytes(to, own, used * format.size * 4);
        }
        for (int64_t j = 0; format.bits && j < used; ++j)
          format.expand(row(i, j), past.bytes() + (i * room + j) * step, i % heads);
      }
    });
    return true;
  }
  float *row(int64_t index, int64_t position) const {
    return data + (index * rows + position) * format.size;
  }
  /// Lets attention read the rows from batch `batch` on.
  void show(Cache &cache, int64_t batch) const {
    cache.borrow(row(batch * heads, 0), rows * format.size, format.size);
  }
  /// Replaces the new rows by what is stored of them.
  void round(Context &c, int64_t batch) const {
    if (!format.bits)
      return;
    parallelIf(c, batch * heads, rows * format.size, [&](int64_t begin, int64_t end) {
      char *stored = c.scratch<char>(format.size);
      for (int64_t i = begin; stored && i < end; ++i) {
        const RowRange &range = ranges[i / heads];
        for (int64_t j = range.resident; j < range.resident + range.fresh; ++j) {
          format.quantize(stored, row(i, j), i % heads);
          format.expand(row(i, j), stored, i % heads);
        }
      }
    });
  }
  /// Writes the present, [batch, heads, `room`, width]: quantized as bytes, else as floats. Rows
  /// that are not used become 0.
  template <typename T> void write(Context &c, int64_t batch, T *to, int64_t room) const {
    const int64_t width = format.width();
    parallelIf(c, batch * heads, rows * format.size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const RowRange &range = ranges[i / heads];
        const int64_t first = range.resident + range.fresh - range.kept;
        T *own = to + i * room * width;
        for (int64_t j = 0; j < range.kept; ++j)
          if constexpr (sizeof(T) == 1)
            format.quantize(own + j * width, row(i, first + j), i % heads);
          else
            copyBytes(own + j * width, row(i, first + j), width * int64_t(sizeof(T)));
        __builtin_memset(own + range.kept * width, 0,
                         uint64_t((room - range.kept) * width) * sizeof(T));
      }
    });
  }

private:
  float *data = nullptr;
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_MICROSOFT_CACHEROWS_H
