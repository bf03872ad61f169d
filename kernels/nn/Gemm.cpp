//===-- Gemm.cpp - matrix products ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// b is packed into panels of 64 bytes times k, which the inner loop reads in order. 6 rows times a
// panel of the result stay in registers during the loop over k.

#include "kernels/nn/Gemm.h"

#include "kernels/core/Lanes.h"
#include "kernels/core/TransposeSquare.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/WideTile.h"

namespace atc::kernels {

namespace {
constexpr int64_t kRows = 6;      // of the register tile
constexpr int64_t kRowBlock = 48; // rows of a packed at a time
constexpr int64_t kDepth = 256;   // of k at a time: a panel of it stays in the first cache

/// A panel's row is one vector; processors with shorter ones take several.
template <typename F> struct Vectors {
  typedef F Vec __attribute__((vector_size(64)));
  typedef F Loose __attribute__((vector_size(64), aligned(sizeof(F)), may_alias));
  typedef F Half __attribute__((vector_size(32)));
  typedef F LooseHalf __attribute__((vector_size(32), aligned(sizeof(F)), may_alias));
};

/// R rows and one panel of c. a: element (r, i) at a[r * aRow + i * aCol]; b: row i at
/// b + i * bRow.
template <int R, typename F>
inline __attribute__((always_inline)) void tile(F *c, int64_t cRow, int64_t columns, const F *a,
                                                int64_t aRow, int64_t aCol, const F *b,
                                                int64_t bRow, int64_t k, bool add) {
  using Vec = typename Vectors<F>::Vec;
  using Loose = typename Vectors<F>::Loose;
  constexpr int64_t width = kPanel<F>;
  // Where few rows leave registers for it, odd steps have accumulators of their own: an addition
  // need not wait for the one before it.
  constexpr bool two = R <= 3;
  Vec sums[R] = {}, odd[R] = {};
  int64_t i = 0;
  for (; two && i + 2 <= k; i += 2) {
    const Vec b0 = *reinterpret_cast<const Loose *>(b + i * bRow);
    const Vec b1 = *reinterpret_cast<const Loose *>(b + (i + 1) * bRow);
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r) {
      sums[r] += a[r * aRow + i * aCol] * b0;
      odd[r] += a[r * aRow + (i + 1) * aCol] * b1;
    }
  }
  for (; i < k; ++i) {
    const Vec b0 = *reinterpret_cast<const Loose *>(b + i * bRow);
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r)
      sums[r] += a[r * aRow + i * aCol] * b0;
  }
#pragma clang loop unroll(full)
  for (int r = 0; two && r < R; ++r)
    sums[r] += odd[r];
  if (columns >= width) {
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r) {
      Loose *to = reinterpret_cast<Loose *>(c + r * cRow);
      *to = add ? Vec(*to) + sums[r] : sums[r];
    }
    return;
  }
  F row[width];
#pragma clang loop unroll(full)
  for (int r = 0; r < R; ++r) {
    __builtin_memcpy(row, &sums[r], 64);
    for (int64_t j = 0; j < columns; ++j)
      c[r * cRow + j] = add ? c[r * cRow + j] + row[j] : row[j];
  }
}

/// Multiplies one tile. `Packed`: a and b are packed as in multiplyPacked, which the compiler can
/// then exploit.
template <bool Packed, typename F>
void tileOf(int64_t rows, F *c, int64_t cRow, int64_t columns, const F *a, int64_t aRow,
            int64_t aCol, const F *b, int64_t bRow, int64_t k, bool add) {
  if (Packed) {
    aRow = 1;
    aCol = kRows;
    bRow = kPanel<F>;
  }
  switch (rows) {
  case 1:
    return tile<1>(c, cRow, columns, a, aRow, aCol, b, bRow, k, add);
  case 2:
    return tile<2>(c, cRow, columns, a, aRow, aCol, b, bRow, k, add);
  case 3:
    return tile<3>(c, cRow, columns, a, aRow, aCol, b, bRow, k, add);
  case 4:
    return tile<4>(c, cRow, columns, a, aRow, aCol, b, bRow, k, add);
  case 5:
    return tile<5>(c, cRow, columns, a, aRow, aCol, b, bRow, k, add);
  default:
    return tile<6>(c, cRow, columns, a, aRow, aCol, b, bRow, k, add);
  }
}

template <typename F> F dot(const F *a, int64_t aCol, const F *b, int64_t k) {
  using Vec = typename Vectors<F>::Half;
  using Loose = typename Vectors<F>::LooseHalf;
  constexpr int64_t lanes = 32 / sizeof(F);
  F sum = 0;
  int64_t i = 0;
  if (aCol == 1) {
    Vec even = {}, odd = {};
    for (; i + 2 * lanes <= k; i += 2 * lanes) {
      const Loose *x = reinterpret_cast<const Loose *>(a + i);
      const Loose *y = reinterpret_cast<const Loose *>(b + i);
      even += x[0] * y[0];
      odd += x[1] * y[1];
    }
    even += odd;
    for (int64_t j = 0; j < lanes; ++j)
      sum += even[j];
  }
  for (; i < k; ++i)
    sum += a[i * aCol] * b[i];
  return sum;
}

template <typename F> void zeroRows(F *c, int64_t cRow, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i)
    __builtin_memset(c + i * cRow, 0, uint64_t(n) * sizeof(F));
}

/// Multiplies a block of results, which the cache still has.
template <typename F> void scaleRows(F *c, int64_t cRow, int64_t m, int64_t n, F scale) {
  for (int64_t i = 0; scale != 1 && i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      c[i * cRow + j] *= scale;
}

/// Multiplies one row tile without packing: columns [begin, end) where rows of b are contiguous.
template <typename F>
void multiplyRows(const Product<F> &p, F *c, const F *a, const F *b, int64_t begin, int64_t end) {
  constexpr int64_t width = kPanel<F>;
  int64_t j = begin;
  // Few rows of b at a time, so that their pages and lines are met again soon.
  constexpr int64_t step = 32;
  for (int64_t k0 = 0; k0 < p.k; k0 += step)
    for (j = begin; j + width <= end; j += width)
      tileOf<false>(p.m, c + j, p.cRow, width, a + k0 * p.aCol, p.aRow, p.aCol, b + k0 * p.bRow + j,
                    p.bRow, minimum(step, p.k - k0), p.add || k0 > 0);
  for (; j < end; ++j)
    for (int64_t i = 0; i < p.m; ++i) {
      F sum = p.add ? c[i * p.cRow + j] : F(0);
      for (int64_t l = 0; l < p.k; ++l)
        sum += a[i * p.aRow + l * p.aCol] * b[l * p.bRow + j];
      c[i * p.cRow + j] = sum;
    }
}

/// Multiplies one row tile without packing where columns of b are contiguous.
template <typename F>
void multiplyColumns(const Product<F> &p, F *c, const F *a, const F *b, int64_t begin,
                     int64_t end) {
  for (int64_t j = begin; j < end; ++j)
    for (int64_t i = 0; i < p.m; ++i) {
      F value = dot(a + i * p.aRow, p.aCol, b + j * p.bCol, p.k);
      c[i * p.cRow + j] = p.add ? c[i * p.cRow + j] + value : value;
    }
}
/// Six rows of a that are contiguous, `step` apart: element (r, l) to to[l * 6 + r].
template <typename F> void packRows(F *to, const F *from, int64_t step, int64_t depth) {
  typedef F Four __attribute__((vector_size(4 * sizeof(F)), aligned(sizeof(F)), may_alias));
  static_assert(kRows == 6);
  int64_t l = 0;
  for (; l + 4 <= depth; l += 4, to += 4 * kRows) {
    Four low[3], high[3];
    for (int64_t p = 0; p < 3; ++p) {
      const Four even = *reinterpret_cast<const Four *>(from + 2 * p * step + l);
      const Four odd = *reinterpret_cast<const Four *>(from + (2 * p + 1) * step + l);
      low[p] = __builtin_shufflevector(even, odd, 0, 4, 1, 5);
      high[p] = __builtin_shufflevector(even, odd, 2, 6, 3, 7);
    }
    auto write = [](Four *out, const Four *half) {
      out[0] = __builtin_shufflevector(half[0], half[1], 0, 1, 4, 5);
      out[1] = __builtin_shufflevector(half[2], half[0], 0, 1, 6, 7);
      out[2] = __builtin_shufflevector(half[1], half[2], 2, 3, 6, 7);
    };
    write(reinterpret_cast<Four *>(to), low);
    write(reinterpret_cast<Four *>(to) + 3, high);
  }
  for (; l < depth; ++l, to += kRows)
    for (int64_t r = 0; r < kRows; ++r)
      to[r] = from[r * step + l];
}
} // namespace

template <typename F>
void packPanels(F *packed, const F *b, int64_t bRow, int64_t bCol, int64_t k, int64_t n,
                int64_t begin, int64_t end) {
  constexpr int64_t width = kPanel<F>;
  for (int64_t panel = begin; panel < end; ++panel) {
    F *to = packed + panel * width * k;
    const F *from = b + panel * width * bCol;
    const int64_t columns = minimum(width, n - panel * width);
    if (columns < width)
      __builtin_memset(to, 0, uint64_t(width * k) * sizeof(F));
    if (bCol == 1 && columns == width) {
      for (int64_t i = 0; i < k; ++i)
        __builtin_memcpy(to + i * width, from + i * bRow, width * sizeof(F));
    } else if (bCol == 1) {
      for (int64_t i = 0; i < k; ++i)
        for (int64_t j = 0; j < columns; ++j)
          to[i * width + j] = from[i * bRow + j];
    } else {
      int64_t done = 0;
      if constexpr (width == 16)
        for (; hasWideRegisters() && bRow == 1 && columns == width && done + width <= k;
             done += width)
          transposeSquare(to + done * width, width, from + done, bCol);
      // Few rows at a time, so that the lines of all columns stay in the cache.
      for (int64_t i0 = done; i0 < k; i0 += 32)
        for (int64_t j = 0; j < columns; ++j)
          for (int64_t i = i0, last = minimum(i0 + 32, k); i < last; ++i)
            to[i * width + j] = from[i * bRow + j * bCol];
    }
  }
}

template <typename F>
void multiplyPacked(F *c, int64_t cRow, const F *a, int64_t aRow, int64_t aCol, const F *packed,
                    int64_t m, int64_t n, int64_t k, bool add, int64_t panelRows) {
  constexpr int64_t width = kPanel<F>;
  if (k == 0 && !add)
    return zeroRows(c, cRow, m, n);
  if (hasWideRegisters() && aCol == 1)
    return wide::multiply(c, cRow, a, aRow, packed, m, n, k, add, panelRows);
  alignas(64) F block[kRowBlock * kDepth];
  for (int64_t i0 = 0; i0 < m; i0 += kRowBlock) {
    const int64_t rows = minimum(kRowBlock, m - i0);
    for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
      const int64_t depth = minimum(kDepth, k - k0);
      for (int64_t i = 0; i < rows; i += kRows) {
        const F *from = a + (i0 + i) * aRow + k0 * aCol;
        F *to = block + i * depth;
        if (aCol == 1 && i + kRows <= rows) {
          // Rows are too short for the processor to see that they go on.
          for (int64_t r = kRows; r < 2 * kRows; ++r)
            for (int64_t l = 0; l < depth; l += kPanel<F>)
              __builtin_prefetch(from + r * aRow + l);
          packRows(to, from, aRow, depth);
          continue;
        }
        for (int64_t r = 0; r < minimum(kRows, rows - i); ++r)
          for (int64_t l = 0; l < depth; ++l)
            to[l * kRows + r] = from[r * aRow + l * aCol];
      }
      for (int64_t j = 0; j < n; j += width)
        for (int64_t i = 0; i < rows; i += kRows)
          tileOf<true>(minimum(kRows, rows - i), c + (i0 + i) * cRow + j, cRow,
                       minimum(width, n - j), block + i * depth, 0, 0,
                       packed + j * panelRows + k0 * width, 0, depth, add || k0 > 0);
    }
  }
}

/// Returns the offset of matrix i of a batch.
static int64_t batchOffset(const int64_t *offsets, int64_t i) { return offsets ? offsets[i] : 0; }

/// Multiplies by panels, in which matrices b are packed some at a time; neighbours that are the
/// same only once. Returns false where the kernel must return.
template <typename F> static bool multiplyBatches(Context &c, const Product<F> &p) {
  constexpr int64_t width = kPanel<F>;
  const int64_t size = packedSize<F>(p.k, p.n), panels = ceilDiv(p.n, width);
  const int64_t max = minimum(p.batch, maximum(int64_t(1), (int64_t(4) << 20) / size));
  F *packed = c.scratch<F>(max * size);
  int64_t *slots = c.scratch<int64_t>(p.batch);
  int64_t *firsts = c.scratch<int64_t>(max);
  if (!packed || !slots || !firsts)
    return false;
  for (int64_t start = 0, stop; start < p.batch; start = stop) {
    int64_t used = 0;
    for (stop = start; stop < p.batch; ++stop) {
      if (used == 0 || batchOffset(p.bOffsets, stop) != batchOffset(p.bOffsets, stop - 1)) {
        if (used == max)
          break;
        firsts[used++] = stop;
      }
      slots[stop] = used - 1;
    }
    parallelIf(c, used * panels, width * p.k, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t slot = task / panels, panel = task % panels;
        packPanels(packed + slot * size, p.b + batchOffset(p.bOffsets, firsts[slot]), p.bRow,
                   p.bCol, p.k, p.n, panel, panel + 1);
      }
    });
    // Blocks of the results: rows first, so that neighbours share panels.
    const int64_t rowBlocks = ceilDiv(p.m, kRowBlock), chunk = 32 * width;
    const int64_t columnBlocks = ceilDiv(p.n, chunk), blocks = rowBlocks * columnBlocks;
    parallelIf(c, (stop - start) * blocks, minimum(p.m, kRowBlock) * minimum(p.n, chunk) * p.k,
               [&](int64_t begin, int64_t end) {
                 for (int64_t task = begin; task < end; ++task) {
                   const int64_t i = start + task / blocks;
                   const int64_t row = task % blocks % rowBlocks * kRowBlock;
                   const int64_t column = task % blocks / rowBlocks * chunk;
                   const int64_t rows = minimum(kRowBlock, p.m - row),
                                 columns = minimum(chunk, p.n - column);
                   F *to = p.c + batchOffset(p.cOffsets, i) + row * p.cRow + column;
                   multiplyPacked(to, p.cRow, p.a + batchOffset(p.aOffsets, i) + row * p.aRow,
                                  p.aRow, p.aCol, packed + slots[i] * size + column * p.k, rows,
                                  columns, p.k, p.add);
                   scaleRows(to, p.cRow, rows, columns, p.scale);
                 }
               });
  }
  return true;
}

template <typename F> bool multiply(Context &c, const Product<F> &p) {
  constexpr int64_t width = kPanel<F>;
  if (p.m <= 0 || p.n <= 0 || p.batch <= 0)
    return true;
  if (p.k <= 0) {
    for (int64_t i = 0; i < p.batch && !p.add; ++i)
      zeroRows(p.c + batchOffset(p.cOffsets, i), p.cRow, p.m, p.n);
    return true;
  }
  // A column is the row of the transposed product.
  if (p.n == 1 && p.m > 1 && p.cRow == 1 && p.aCol == 1) {
    Product<F> row = p;
    row.m = 1;
    row.n = row.cRow = p.m;
    row.a = p.b;
    row.aRow = 0;
    row.aCol = p.bRow;
    row.aOffsets = p.bOffsets;
    row.b = p.a;
    row.bRow = 1;
    row.bCol = p.aRow;
    row.bOffsets = p.aOffsets;
    return multiply(c, row);
  }
  // Register tiles read rows of a, without which they would be packed element by element.
  if (hasWideRegisters() && p.aRow == 1 && p.aCol != 1 && p.m > kRows && p.batch == 1) {
    Product<F> turned = p;
    F *rows = c.scratch<F>(p.m * p.k);
    if (!rows)
      return false;
    transposeRows(rows, p.k, p.a + batchOffset(p.aOffsets, 0), p.aCol, p.k, p.m);
    turned.a = rows;
    turned.aOffsets = nullptr;
    turned.aRow = p.k;
    turned.aCol = 1;
    return multiply(c, turned);
  }
  const bool byRows = p.bCol == 1 && p.m <= kRows, byColumns = p.bRow == 1 && p.m <= 3;
  if (byRows || byColumns) {
    const int64_t step = 16 * width, chunks = ceilDiv(p.n, step);
    parallelIf(c, p.batch * chunks, step * p.m * p.k, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t i = task / chunks, first = task % chunks * step;
        F *to = p.c + batchOffset(p.cOffsets, i);
        const F *a = p.a + batchOffset(p.aOffsets, i), *b = p.b + batchOffset(p.bOffsets, i);
        const int64_t last = minimum(first + step, p.n);
        byRows ? multiplyRows(p, to, a, b, first, last) : multiplyColumns(p, to, a, b, first, last);
        scaleRows(to + first, p.cRow, p.m, last - first, p.scale);
      }
    });
    return true;
  }
  return multiplyBatches(c, p);
}

#define ATC_GEMM(F)                                                                                \
  template bool multiply<F>(Context &, const Product<F> &);                                        \
  template void packPanels<F>(F *, const F *, int64_t, int64_t, int64_t, int64_t, int64_t,         \
                              int64_t);                                                            \
  template void multiplyPacked<F>(F *, int64_t, const F *, int64_t, int64_t, const F *, int64_t,   \
                                  int64_t, int64_t, bool, int64_t);
ATC_GEMM(float)
ATC_GEMM(double)
ATC_GEMM(uint32_t)
ATC_GEMM(uint64_t)
#undef ATC_GEMM

} // namespace atc::kernels
