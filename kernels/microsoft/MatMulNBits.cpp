//===-- MatMulNBits.cpp - com.microsoft: products with weights of few bits -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights of 4 and 8 bits are expanded in registers. A product with few rows reads them once, in
// order: sum((q - z) * s * x) over a block is s * (sum(q * x) - z * sum(x)); FieldProduct does so
// in blocks of usual sizes, or NibbleDigits. With many rows, NibbleTiles multiplies
// bytes where the model accepts it, or else blocks of weights are expanded into the panels that
// multiplyPacked reads.
// Other widths, and blocks in another order (g_idx), are expanded as a whole.

#include "kernels/core/Floats.h"
#include "kernels/core/Lanes.h"
#include "kernels/microsoft/FieldProduct.h"
#include "kernels/microsoft/NibbleTiles.h"
#include "kernels/microsoft/PairDigits.h"
#include "kernels/nn/ExpandedPanels.h"

namespace atc::kernels {

namespace {
constexpr int64_t kFew = 4;   // rows that are multiplied without expanding
constexpr int64_t kUnit = 32; // weights that are expanded at a time

typedef float FloatLanes __attribute__((vector_size(64)));
typedef float LooseLanes __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t Integers __attribute__((vector_size(64)));
typedef uint8_t ByteLanes __attribute__((vector_size(16)));
typedef uint8_t LooseBytes __attribute__((vector_size(16), aligned(1), may_alias));

inline __attribute__((always_inline)) FloatLanes expand(ByteLanes bytes) {
  return __builtin_convertvector(__builtin_convertvector(bytes, Integers), FloatLanes);
}

/// The sizes and the inputs of a product x (m x k) * w (k x n), w in blocks of `block` rows.
struct NBits {
  int64_t m = 0, n = 0, k = 0, bits = 4, block = 32, blocks = 0;
  const uint8_t *packed = nullptr, *packedZeros = nullptr;
  const float *scales = nullptr, *zeros = nullptr;
  bool allowsBytes = false; ///< the model accepts x in 8 bits

  int64_t blockBytes() const { return ceilDiv(block * bits, int64_t(8)); }
  const uint8_t *column(int64_t j) const { return packed + j * blocks * blockBytes(); }
  /// Returns field `i` of packed bits, which may span two bytes.
  int field(const uint8_t *from, int64_t i) const {
    const int64_t bit = i * bits, end = bit % 8 + bits;
    const unsigned low = from[bit / 8], high = end > 8 ? from[bit / 8 + 1] : 0;
    return int((low | high << 8) >> (bit % 8) & ((1u << bits) - 1));
  }
  float zero(int64_t j, int64_t b) const {
    if (zeros)
      return zeros[j * blocks + b];
    if (packedZeros)
      return float(field(packedZeros + j * ceilDiv(blocks * bits, int64_t(8)), b));
    return float(1 << (bits - 1));
  }
  /// Returns whether registers hold whole units of a block.
  bool isRegular() const { return (bits == 4 || bits == 8) && block % kUnit == 0; }
  BlockedWeights weights() const {
    return {n, k, bits, block, blocks, packed, scales, zeros, packedZeros};
  }

  template <int R>
  void few(float *y, const float *x, const float *sums, const float *add, int64_t begin,
           int64_t end) const;
  void expandPanels(float *to, int64_t column, int64_t columns, int64_t first, int64_t depth) const;
};

/// Arranges the rows of x as `few` reads them, `width` floats each, zeros behind k: with 4 bits the
/// even elements of each unit, then the odd ones. `sums` receives those of the blocks.
void arrange(float *to, float *sums, const float *x, const NBits &p) {
  const int64_t width = p.blocks * p.block;
  for (int64_t r = 0; r < p.m; ++r, to += width, sums += p.blocks, x += p.k) {
    __builtin_memset(to, 0, uint64_t(width) * sizeof(float));
    for (int64_t i = 0; i < p.k; ++i)
      to[p.bits == 4 ? i / kUnit * kUnit + i % 2 * (kUnit / 2) + i % kUnit / 2 : i] = x[i];
    for (int64_t b = 0; b < p.blocks; ++b) {
      sums[b] = 0;
      for (int64_t i = 0; i < p.block; ++i)
        sums[b] += to[b * p.block + i];
    }
  }
}

/// Computes columns [begin, end) of R rows.
template <int R>
void NBits::few(float *y, const float *x, const float *sums, const float *add, int64_t begin,
                int64_t end) const {
  const int64_t width = blocks * block, step = kUnit * bits / 8;
  for (int64_t j = begin; j < end; ++j) {
    FloatLanes total[R] = {};
    float shift[R] = {};
    const uint8_t *from = column(j);
    for (int64_t b = 0; b < blocks; ++b) {
      FloatLanes even[R] = {}, odd[R] = {};
      for (int64_t i = 0; i < block; i += kUnit, from += step) {
        ByteLanes first = *reinterpret_cast<const LooseBytes *>(from), second;
        if (bits == 4) {
          second = first >> 4;
          first &= 15;
        } else {
          second = *reinterpret_cast<const LooseBytes *>(from + 16);
        }
        const FloatLanes low = expand(first), high = expand(second);
#pragma clang loop unroll(full)
        for (int r = 0; r < R; ++r) {
          const float *row = x + r * width + b * block + i;
          even[r] += low * *reinterpret_cast<const LooseLanes *>(row);
          odd[r] += high * *reinterpret_cast<const LooseLanes *>(row + kUnit / 2);
        }
      }
      const float scale = scales[j * blocks + b], offset = scale * zero(j, b);
#pragma clang loop unroll(full)
      for (int r = 0; r < R; ++r) {
        total[r] += scale * (even[r] + odd[r]);
        shift[r] += offset * sums[r * blocks + b];
      }
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r) {
      float sum = 0;
      for (int64_t l = 0; l < 16; ++l)
        sum += total[r][l];
      y[r * n + j] = sum - shift[r] + (add ? add[j] : 0);
    }
  }
}

/// Expands rows [first, first + depth) of columns [column, column + columns) into panels.
void NBits::expandPanels(float *to, int64_t column_, int64_t columns, int64_t first,
                         int64_t depth) const {
  constexpr int64_t width = kPanel<float>;
  static_assert(width == BlockedWeights::kLanes && kExpandedDepth % 8 == 0 && kUnit % 8 == 0);
  const BlockedWeights own = weights();
  for (int64_t j = 0; j < columns; j += width)
    if (bits == 4)
      own.expandPanel<4>(to + j * depth, column_ + j, first, depth);
    else
      own.expandPanel<8>(to + j * depth, column_ + j, first, depth);
}

/// Calls `body` with the number of rows as a constant (RowCount<m>).
template <int R> struct RowCount {
  static constexpr int count = R;
};
template <typename Body> void withRows(int64_t m, Body &&body) {
  static_assert(kFew == 4);
  switch (m) {
  case 1:
    return body(RowCount<1>());
  case 2:
    return body(RowCount<2>());
  case 3:
    return body(RowCount<3>());
  default:
    return body(RowCount<4>());
  }
}

/// Multiplies few rows by weights of `Bits` bits in blocks of usual sizes. Returns false where
/// memory could not be allocated.
template <int Bits>
bool multiplyFields(Context &c, const NBits &p, float *y, const float *x, const float *add) {
  const FieldProduct<Bits> product{p.weights()};
  float *rows = c.scratch<float>(p.m * product.rowWidth());
  float *sums = c.scratch<float>(p.m * product.sumsWidth());
  if (!rows || !sums)
    return false;
  for (int64_t r = 0; r < p.m; ++r)
    product.arrange(rows + r * product.rowWidth(), sums + r * product.sumsWidth(), x + r * p.k);
  parallelIf(c, p.n, p.m * p.k, [&](int64_t begin, int64_t end) {
    withRows(p.m, [&](auto count) {
      product.template multiply<decltype(count)::count>(y, rows, sums, add, begin, end);
    });
  });
  return true;
}

#if defined(__x86_64__)
/// Multiplies few rows, in so many digits per element, by weights of 4 bits: `Product` is
/// NibbleDigits or PairDigits. Returns false where memory could not be allocated.
template <typename Product>
bool multiplyDigits(Context &c, const NBits &p, float *y, const float *x, const float *add) {
  const BlockedWeights weights = p.weights();
  const Product product{{weights}};
  const typename Product::Rows rows = {c.scratch<int8_t>(p.m * product.width()),
                                       c.scratch<float>(p.m * product.stepsWidth()),
                                       c.scratch<float>(p.m * product.stepsWidth())};
  if (!rows.digits || !rows.steps || !rows.sums)
    return false;
  for (int64_t row = 0; row < p.m; ++row)
    product.arrange({rows.digits + row * product.width(), rows.steps + row * product.stepsWidth(),
                     rows.sums + row * product.stepsWidth()},
                    x + row * p.k);
  parallelIf(c, p.n, p.m * p.k, [&](int64_t begin, int64_t end) {
    withRows(p.m, [&](auto count) {
      product.template multiply<decltype(count)::count>(y, rows, add, begin, end);
    });
  });
  return true;
}

/// Multiplies many rows, in one digit per element, by weights of `Bits` bits: each task expands a
/// panel of columns. Returns false where memory could not be allocated.
template <int Bits>
bool multiplyTiles(Context &c, const NBits &p, float *y, const float *x, const float *add) {
  using Product = NibbleTiles<1, Bits>;
  const BlockedWeights weights = p.weights();
  const Product product{weights};
  const int64_t tiles = ceilDiv(p.m, Product::kRows), panels = ceilDiv(p.n, Product::kColumns);
  int8_t *digits = c.scratch<int8_t>(tiles * product.tileBytes());
  float *steps = c.scratch<float>(tiles * product.tileFloats());
  float *sums = c.scratch<float>(tiles * product.tileFloats());
  if (!digits || !steps || !sums)
    return false;
  auto tileAt = [&](int64_t tile) -> typename Product::Tile {
    return {digits + tile * product.tileBytes(), steps + tile * product.tileFloats(),
            sums + tile * product.tileFloats()};
  };
  auto rowsOf = [&](int64_t tile) { return minimum(Product::kRows, p.m - tile * Product::kRows); };
  parallelIf(c, tiles, 4 * Product::kRows * p.k, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile)
      product.arrange(tileAt(tile), x + tile * Product::kRows * p.k, rowsOf(tile));
  });
  parallelIf(c, panels, p.m * p.k * Product::kColumns, [&](int64_t begin, int64_t end) {
    typename Product::Panel panel;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t column = i * Product::kColumns,
                    columns = minimum(p.n - column, Product::kColumns);
      for (int64_t unit = 0, last; unit < product.units(); unit = last) {
        last = minimum(unit + product.unitsPerPanel(), product.units());
        product.expand(panel, column, unit, last);
        for (int64_t tile = 0; tile < tiles; ++tile) {
          float *to = y + tile * Product::kRows * p.n + column;
          typename Product::Start start = {add ? add + column : nullptr, 0};
          if (unit > 0)
            start = {to, p.n};
          product.multiply(to, tileAt(tile), panel, unit, last, start, rowsOf(tile), columns);
        }
      }
    }
  });
  return true;
}

/// Returns whether products of bytes serve: few rows of weights of 4 bits, or many rows that may
/// have 8 bits.
bool usesBytes(const NBits &p) {
  if (!BlockedWeights::serves(p.block))
    return false;
  return p.m <= kFew ? p.bits == 4 && (hasWideDot() || hasPairDot())
                     : p.allowsBytes && hasWideDot();
}

/// Multiplies with products of bytes. Returns false where memory could not be allocated.
bool multiplyAsBytes(Context &c, const NBits &p, float *y, const float *x, const float *add) {
  if (p.m > kFew)
    return p.bits == 4 ? multiplyTiles<4>(c, p, y, x, add) : multiplyTiles<8>(c, p, y, x, add);
  if (hasPairDot())
    return p.allowsBytes ? multiplyDigits<PairDigits<1>>(c, p, y, x, add)
                         : multiplyDigits<PairDigits<3>>(c, p, y, x, add);
  return p.allowsBytes ? multiplyDigits<NibbleDigits<1>>(c, p, y, x, add)
                       : multiplyDigits<NibbleDigits<3>>(c, p, y, x, add);
}
#endif

/// Multiplies few rows. Returns false where memory could not be allocated.
bool multiplyFew(Context &c, const NBits &p, float *y, const float *x, const float *add) {
  if (BlockedWeights::serves(p.block))
    return p.bits == 4 ? multiplyFields<4>(c, p, y, x, add) : multiplyFields<8>(c, p, y, x, add);
  float *rows = c.scratch<float>(p.m * p.blocks * p.block);
  float *sums = c.scratch<float>(p.m * p.blocks);
  if (!rows || !sums)
    return false;
  arrange(rows, sums, x, p);
  parallelIf(c, p.n, p.m * p.k, [&](int64_t begin, int64_t end) {
    withRows(p.m,
             [&](auto count) { p.few<decltype(count)::count>(y, rows, sums, add, begin, end); });
  });
  return true;
}

/// Expands all weights, whose blocks g_idx (or null) names, and multiplies. Returns false where
/// memory could not be allocated or the call has failed.
bool multiplyExpanded(Context &c, const NBits &p, float *y, const float *x, const float *add,
                      Tensor groups) {
  float *w = c.scratch<float>(p.n * p.k);
  if (!w)
    return false;
  for (int64_t i = 0; groups && i < p.k; ++i)
    if (integerAt(groups, i) < 0 || integerAt(groups, i) >= p.blocks)
      return c.fail("g_idx has % for % blocks", integerAt(groups, i), p.blocks), false;
  c.parallel(p.n, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j)
      for (int64_t i = 0; i < p.k; ++i) {
        const int64_t own = i / p.block, group = groups ? integerAt(groups, i) : own;
        const uint8_t *from = p.column(j) + own * p.blockBytes();
        w[j * p.k + i] = (float(p.field(from, i - own * p.block)) - p.zero(j, group)) *
                         p.scales[j * p.blocks + group];
      }
  });
  for (int64_t i = 0; add && i < p.m * p.n; ++i)
    y[i] = add[i % p.n];
  return multiply(c, Product<float>{y, x, w, p.m, p.n, p.k, p.n, p.k, 1, 1, p.k, add != nullptr});
}
} // namespace

ATC_KERNEL(MatMulNBits) {
  const Tensor a = in(0), packed = in(1), scales = in(2), zeros = in(3), groups = in(4),
               bias = in(5);
  const int64_t k = integer("K", 0), n = integer("N", 0), bits = integer("bits", 4),
                block = integer("block_size", 32);
  if (k < 1 || n < 1 || bits < 1 || bits > 8 || block < 1 || a.rank() < 1 ||
      a.dim(a.rank() - 1) != k)
    return fail("K %, N %, % bits, blocks of %", k, n, bits, block);
  if (block > (int64_t(1) << 32) || spaceFor(*this, n, k) < 0 || spaceFor(*this, n, block) < 0)
    return fail("K %, N %, % bits, blocks of %", k, n, bits, block);
  const int64_t blocks = ceilDiv(k, block), bytes = ceilDiv(block * bits, 8);
  const int64_t zeroRow = ceilDiv(blocks * bits, 8);
  const bool packedZeros = zeros && zeros.dtype() == U8;
  if (packed.count() != n * blocks * bytes || scales.count() != n * blocks ||
      (zeros && zeros.count() != n * (packedZeros ? zeroRow : blocks)) ||
      (groups && groups.count() < k) || (bias && bias.count() != n))
    return fail("% bytes of weights, % scales for % columns of % blocks", packed.count(),
                scales.count(), n, blocks);
  Dims shape = a.dims();
  shape[a.rank() - 1] = n;
  FloatResult result;
  if (!result.make(*this, 0, a.dtype(), shape))
    return;
  NBits p{shape.product(0, a.rank() - 1), n, k, bits, block, blocks};
  p.allowsBytes = integer("accuracy_level", 0) == 4;
  p.packed = packed.as<uint8_t>();
  p.packedZeros = packedZeros ? zeros.as<uint8_t>() : nullptr;
  p.scales = floatsOf(*this, scales);
  p.zeros = zeros && !packedZeros ? floatsOf(*this, zeros) : nullptr;
  float *out = result.floats(*this);
  const float *x = floatsOf(*this, a), *add = bias ? floatsOf(*this, bias) : nullptr;
  if (!out || !x || !p.scales || (zeros && !packedZeros && !p.zeros) || (bias && !add))
    return;
  bool done = true;
  if (groups || !p.isRegular())
    done = multiplyExpanded(*this, p, out, x, add, groups);
#if defined(__x86_64__)
  else if (usesBytes(p))
    done = p.m == 0 || multiplyAsBytes(*this, p, out, x, add);
#endif
  else if (p.m > kFew)
    multiplyExpandedPanels(
        *this, out, x, add, p.m, n, k,
        [&](float *to, int64_t column, int64_t columns, int64_t first, int64_t depth) {
          p.expandPanels(to, column, columns, first, depth);
        });
  else if (p.m > 0)
    done = multiplyFew(*this, p, out, x, add);
  if (!done)
    return;
  result.store();
}

} // namespace atc::kernels
