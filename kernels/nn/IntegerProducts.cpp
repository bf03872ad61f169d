//===-- IntegerProducts.cpp - products of 8-bit matrices ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// b is packed into panels of 16 columns, with pairs of vertically adjacent elements side by side. 6
// rows times a panel of 32-bit accumulators stay in registers during the loop over k.

#include "kernels/nn/IntegerProducts.h"

#include "kernels/core/ByteDots.h"
#include "kernels/nn/Quantize.h"

namespace atc::kernels {

namespace {
constexpr int64_t kTileRows = 6;     // of the register tile
constexpr int64_t kPanelDepth = 512; // of k at a time: a panel of it stays in the first cache
constexpr int64_t kFewRows = 4;      // up to which b is not worth packing

typedef int16_t Pairs __attribute__((vector_size(32)));
typedef int16_t LoosePairs __attribute__((vector_size(32), aligned(2), may_alias));
typedef int32_t Sums __attribute__((vector_size(32)));
typedef int32_t LooseSums __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t Products __attribute__((vector_size(64)));

/// Returns the sums of products of adjacent elements: one instruction where the CPU has it
/// (vpmaddwd), which code generation recognizes in this form.
inline __attribute__((always_inline)) Sums sumPairs(Pairs a, Pairs b) {
  const Products p = __builtin_convertvector(a, Products) * __builtin_convertvector(b, Products);
  return __builtin_shufflevector(p, p, 0, 2, 4, 6, 8, 10, 12, 14) +
         __builtin_shufflevector(p, p, 1, 3, 5, 7, 9, 11, 13, 15);
}

template <int R>
inline __attribute__((always_inline)) void tile(int32_t *c, int64_t cRow, const int16_t *a,
                                                int64_t aRow, const int16_t *b, int64_t k,
                                                bool add) {
  Sums low[R] = {}, high[R] = {};
  for (int64_t i = 0; i < k; i += 2) {
    const Pairs b0 = reinterpret_cast<const LoosePairs *>(b + i * kPairPanel)[0];
    const Pairs b1 = reinterpret_cast<const LoosePairs *>(b + i * kPairPanel)[1];
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r) {
      int32_t pair;
      __builtin_memcpy(&pair, a + r * aRow + i, 4);
      const Pairs both = (Pairs)(Sums{} + pair);
      low[r] += sumPairs(both, b0);
      high[r] += sumPairs(both, b1);
    }
  }
#pragma clang loop unroll(full)
  for (int r = 0; r < R; ++r) {
    LooseSums *to = reinterpret_cast<LooseSums *>(c + r * cRow);
    to[0] = add ? Sums(to[0]) + low[r] : low[r];
    to[1] = add ? Sums(to[1]) + high[r] : high[r];
  }
}

/// Sums of products of `k` neighbours.
template <typename T> int32_t dot(const int16_t *a, const T *b, int64_t k) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < k; ++i)
    sum += uint32_t(int32_t(a[i]) * int32_t(b[i]));
  return int32_t(sum);
}

/// Multiplies a few rows: b is read unpacked, and the contribution of its zero point is subtracted
/// from the accumulators. Columns [begin, end).
template <typename T>
void multiplyFewRows(const ByteProduct &p, const int16_t *a, const T *b, const ZeroPoints &zeros,
                     int64_t matrix, int64_t begin, int64_t end, SumSink sink) {
  const int64_t depth = evenDepth(p.k);
  int32_t sums[kSumColumns];
  for (int64_t row = 0; row < p.m; ++row) {
    const int16_t *from = a + (matrix * p.m + row) * depth;
    int32_t total = 0;
    for (int64_t i = 0; i < p.k; ++i)
      total += from[i];
    for (int64_t column = begin; column < end; column += kSumColumns) {
      const int64_t n = minimum(kSumColumns, end - column);
      if (p.b.row == 1) {
        for (int64_t j = 0; j < n; ++j)
          sums[j] = dot(from, b + (column + j) * p.b.col, p.k);
      } else {
        for (int64_t j = 0; j < n; ++j)
          sums[j] = 0;
        for (int64_t i = 0; i < p.k; ++i) {
          const int32_t value = from[i];
          const T *line = b + i * p.b.row + column * p.b.col;
          if (p.b.col == 1 && n == kSumColumns)
            for (int64_t j = 0; j < kSumColumns; ++j)
              sums[j] = int32_t(uint32_t(sums[j]) + uint32_t(value * int32_t(line[j])));
          else
            for (int64_t j = 0; j < n; ++j)
              sums[j] = int32_t(uint32_t(sums[j]) + uint32_t(value * int32_t(line[j * p.b.col])));
        }
      }
      for (int64_t j = 0; j < n; ++j)
        sums[j] = int32_t(uint32_t(sums[j]) - uint32_t(total) * uint32_t(zeros.at(column + j)));
      sink.store(sink.arg, matrix, row, column, n, sums);
    }
  }
}

/// Multiplies a few rows by packed columns [begin, end), like multiplyFewRows.
void multiplyFewPacked(const ByteProduct &p, const int16_t *a, int64_t begin, int64_t end,
                       SumSink sink) {
  constexpr int64_t width = BytePanels::kColumns;
  typedef int8_t LooseBytes __attribute__((vector_size(16), aligned(1), may_alias));
  typedef int64_t Words __attribute__((vector_size(32)));
  const auto *panels = static_cast<const int8_t *>(p.b.data);
  int32_t sums[width];
  for (int64_t column = begin; column < end; column += width)
    for (int64_t row = 0; row < p.m; ++row) {
      const int16_t *from = a + row * p.k;
      Sums quarters[4] = {}; // of four columns each: two sums per column
      int32_t total = 0;
      for (int64_t i = 0; i < p.k; i += BytePanels::kRows) {
        int64_t word;
        __builtin_memcpy(&word, from + i, 8);
        const Pairs four = (Pairs)(Words{} + word);
        const auto *bytes = reinterpret_cast<const LooseBytes *>(panels + column * p.k + i * width);
#pragma clang loop unroll(full)
        for (int q = 0; q < 4; ++q)
          quarters[q] += sumPairs(four, __builtin_convertvector(bytes[q], Pairs));
        total += from[i] + from[i + 1] + from[i + 2] + from[i + 3];
      }
      for (int64_t j = 0; j < width; ++j) {
        const Sums &quarter = quarters[j / 4];
        const int zero = p.zeroB.at(column + j) - (p.b.isSigned ? 0 : 128);
        sums[j] = int32_t(uint32_t(quarter[j % 4 * 2]) + uint32_t(quarter[j % 4 * 2 + 1]) -
                          uint32_t(total) * uint32_t(zero));
      }
      sink.store(sink.arg, 0, row, column, width, sums);
    }
}

/// Writes packed panels [begin, end) as those of packPairs.
void repackPairs(int16_t *to, const ByteProduct &p, int64_t begin, int64_t end) {
  constexpr int64_t width = kPairPanel;
  static_assert(width == BytePanels::kColumns && BytePanels::kRows == 4);
  for (int64_t panel = begin; panel < end; ++panel) {
    int16_t zero[width];
    for (int64_t j = 0; j < width; ++j)
      zero[j] = int16_t(p.zeroB.at(panel * width + j) - (p.b.isSigned ? 0 : 128));
    const int64_t first = panel * width * p.k;
    const auto *from = static_cast<const int8_t *>(p.b.data) + first;
    for (int64_t i = 0; i < p.k; i += 4)
      for (int64_t half = 0; half < 2; ++half)
        for (int64_t j = 0; j < width; ++j)
          for (int64_t l = 0; l < 2; ++l)
            to[first + (i + 2 * half) * width + 2 * j + l] =
                int16_t(from[i * width + 4 * j + 2 * half + l] - zero[j]);
  }
}

template <typename T> void center(int16_t *to, const T *from, int zero, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = int16_t(int(from[i]) - zero);
}

template <typename T>
void centerStrided(int16_t *to, const T *from, int64_t step, int zero, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = int16_t(int(from[i * step]) - zero);
}

template <typename T>
void packPairsOf(int16_t *packed, const T *b, const ByteMatrix &shape, const ZeroPoints &zeros,
                 int64_t k, int64_t n, int64_t begin, int64_t end) {
  constexpr int64_t width = kPairPanel;
  const int64_t depth = evenDepth(k);
  for (int64_t panel = begin; panel < end; ++panel) {
    int16_t *to = packed + panel * width * depth;
    const int64_t first = panel * width, columns = minimum(width, n - first);
    int16_t zero[width];
    for (int64_t j = 0; j < width; ++j)
      zero[j] = j < columns ? int16_t(zeros.at(first + j)) : int16_t(0);
    const T *from = b + first * shape.col;
    if (columns == width && shape.col == 1) {
      for (int64_t i = 0; i < k; i += 2) {
        // An odd last row is paired with itself less itself.
        const T *row = from + i * shape.row, *next = i + 1 < k ? row + shape.row : row;
        const int16_t keep = i + 1 < k ? -1 : 0;
        int16_t *pairs = to + i * width;
        for (int64_t j = 0; j < width; ++j) {
          pairs[2 * j] = int16_t(row[j] - zero[j]);
          pairs[2 * j + 1] = int16_t((next[j] - zero[j]) & keep);
        }
      }
      continue;
    }
    __builtin_memset(to, 0, uint64_t(width * depth) * sizeof(int16_t));
    // Few rows at a time, so that the lines of all columns stay in the cache.
    for (int64_t i0 = 0; i0 < k; i0 += 32)
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = i0, last = minimum(i0 + 32, k); i < last; ++i)
          to[i / 2 * 2 * width + 2 * j + i % 2] =
              int16_t(from[i * shape.row + j * shape.col] - zero[j]);
  }
}

template <typename T, typename Scale>
void requantizeTo(T *result, const int32_t *sums, int64_t n, Scale scale, int zero) {
  for (int64_t i = 0; i < n; ++i)
    result[i] = saturated<T>(__builtin_rintf(float(sums[i]) * scale(i)) + float(zero));
}

template <typename Scale>
void requantizeAs(void *result, bool isSigned, const int32_t *sums, int64_t n, Scale scale,
                  int zero) {
  isSigned ? requantizeTo(static_cast<int8_t *>(result), sums, n, scale, zero)
           : requantizeTo(static_cast<uint8_t *>(result), sums, n, scale, zero);
}
} // namespace

void centerBytes(int16_t *to, const void *from, bool isSigned, int zero, int64_t count) {
  isSigned ? center(to, static_cast<const int8_t *>(from), zero, count)
           : center(to, static_cast<const uint8_t *>(from), zero, count);
}

void centerRows(int16_t *to, const ByteMatrix &a, const ZeroPoints &zeros, int64_t k, int64_t begin,
                int64_t end) {
  const int64_t depth = evenDepth(k);
  for (int64_t row = begin; row < end; ++row) {
    int16_t *line = to + row * depth;
    const char *from = static_cast<const char *>(a.data) + row * a.row;
    const int zero = zeros.at(row);
    if (a.col == 1)
      centerBytes(line, from, a.isSigned, zero, k);
    else if (a.isSigned)
      centerStrided(line, reinterpret_cast<const int8_t *>(from), a.col, zero, k);
    else
      centerStrided(line, reinterpret_cast<const uint8_t *>(from), a.col, zero, k);
    if (depth != k)
      line[k] = 0;
  }
}

void packPairs(int16_t *packed, const ByteMatrix &b, const ZeroPoints &zeros, int64_t k, int64_t n,
               int64_t begin, int64_t end) {
  b.isSigned
      ? packPairsOf(packed, static_cast<const int8_t *>(b.data), b, zeros, k, n, begin, end)
      : packPairsOf(packed, static_cast<const uint8_t *>(b.data), b, zeros, k, n, begin, end);
}

void multiplyPairs(int32_t *c, int64_t cRow, const int16_t *a, const int16_t *packed, int64_t m,
                   int64_t n, int64_t k) {
  constexpr int64_t width = kPairPanel;
  const int64_t depth = evenDepth(k);
  int32_t edge[kTileRows * width];
  for (int64_t k0 = 0; k0 < depth; k0 += kPanelDepth) {
    const int64_t part = minimum(kPanelDepth, depth - k0);
    const bool add = k0 > 0;
    for (int64_t j = 0; j < n; j += width) {
      const int16_t *b = packed + j * depth + k0 * width;
      const int64_t columns = minimum(width, n - j);
      for (int64_t i = 0; i < m; i += kTileRows) {
        const int64_t rows = minimum(kTileRows, m - i);
        const int16_t *from = a + i * depth + k0;
        // Accumulators beyond the result are written to a separate block.
        int32_t *own = c + i * cRow + j, *to = columns < width ? edge : own;
        const int64_t step = columns < width ? width : cRow;
        if (columns < width && add)
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t l = 0; l < columns; ++l)
              edge[r * width + l] = own[r * cRow + l];
        switch (rows) {
        case 1:
          tile<1>(to, step, from, depth, b, part, add);
          break;
        case 2:
          tile<2>(to, step, from, depth, b, part, add);
          break;
        case 3:
          tile<3>(to, step, from, depth, b, part, add);
          break;
        case 4:
          tile<4>(to, step, from, depth, b, part, add);
          break;
        case 5:
          tile<5>(to, step, from, depth, b, part, add);
          break;
        default:
          tile<6>(to, step, from, depth, b, part, add);
          break;
        }
        if (columns < width)
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t l = 0; l < columns; ++l)
              own[r * cRow + l] = edge[r * width + l];
      }
    }
  }
}

namespace {
/// Returns the offset of matrix i; null offsets are all 0.
int64_t offsetOf(const int64_t *offsets, int64_t i) { return offsets ? offsets[i] : 0; }

/// Calls compute(sums, row, column, rows, columns) for all blocks of accumulators of matrix i,
/// whose rows are kSumColumns apart, on all threads, and passes what it computes to the sink.
template <typename Compute>
void forSumBlocks(Context &c, const ByteProduct &p, int64_t i, int64_t depth, SumSink sink,
                  Compute compute) {
  const int64_t blockRows = hasTileRegisters() ? kTileSumRows : kSumRows;
  const int64_t rowBlocks = ceilDiv(p.m, blockRows), columnBlocks = ceilDiv(p.n, kSumColumns);
  parallelIf(c, rowBlocks * columnBlocks, blockRows * kSumColumns * depth,
             [&](int64_t begin, int64_t end) {
               alignas(64) int32_t sums[kTileSumRows * kSumColumns];
               for (int64_t task = begin; task < end; ++task) {
                 const int64_t row = task % rowBlocks * blockRows;
                 const int64_t column = task / rowBlocks * kSumColumns;
                 const int64_t height = minimum(blockRows, p.m - row);
                 const int64_t width = minimum(kSumColumns, p.n - column);
                 compute(sums, row, column, height, width);
                 for (int64_t r = 0; r < height; ++r)
                   sink.store(sink.arg, i, row + r, column, width, sums + r * kSumColumns);
               }
             });
}
} // namespace

#if defined(__x86_64__)
namespace {
/// Computes what multiplyBytes does by vpdpbusd; only where hasWideDot().
bool multiplyByDots(Context &c, const ByteProduct &p, SumSink sink) {
  const ByteDots dots{p.k};
  const int64_t width = dots.words() * 4, lanes = ByteDots::kLanes;
  const int64_t panels = ceilDiv(p.n, lanes);
  if (spaceFor(c, p.batch, p.m, width) < 0 || spaceFor(c, panels * lanes, width) < 0)
    return false;
  uint8_t *rows = c.scratch<uint8_t>(p.batch * p.m * width);
  uint32_t *rowSums = c.scratch<uint32_t>(p.batch * p.m);
  int8_t *space = p.packedSums ? nullptr : c.scratch<int8_t>(panels * lanes * width);
  const int8_t *packed = p.packedSums ? static_cast<const int8_t *>(p.b.data) : space;
  int32_t *columnSums = c.scratch<int32_t>(2 * panels * lanes), *columnZeros = columnSums;
  if (!rows || !rowSums || !packed || !columnSums)
    return false;
  columnZeros += panels * lanes;
  parallelIf(c, p.batch * p.m, width, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t offset = offsetOf(p.aOffsets, row / p.m) + row % p.m * p.a.row;
      rowSums[row] =
          dots.arrangeRow(rows + row * width, static_cast<const uint8_t *>(p.a.data) + offset,
                          p.a.col, p.a.isSigned);
    }
  });
  for (int64_t i = 0; i < p.batch; ++i) {
    // Consecutive equal matrices are packed only once.
    if (i == 0 || offsetOf(p.bOffsets, i) != offsetOf(p.bOffsets, i - 1)) {
      const auto *b = static_cast<const uint8_t *>(p.b.data) + offsetOf(p.bOffsets, i);
      const ZeroPoints zeros = p.zeroB.from(offsetOf(p.bOffsets, i) / p.k);
      parallelIf(c, panels, lanes * width, [&](int64_t begin, int64_t end) {
        for (int64_t panel = begin; panel < end; ++panel) {
          const int64_t first = panel * lanes, columns = minimum(lanes, p.n - first);
          if (!p.packedSums)
            dots.packPanel(space + first * width, columnSums + first, b + first * p.b.col, p.b.row,
                           p.b.col, columns, p.b.isSigned);
          for (int64_t j = 0; p.packedSums && j < lanes; ++j)
            columnSums[first + j] = int32_t(p.packedSums[first + j]);
          for (int64_t j = 0; j < lanes; ++j)
            columnZeros[first + j] =
                j < columns ? zeros.at(first + j) - (p.b.isSigned ? 0 : 128) : 0;
        }
      });
    }
    const ZeroPoints rowZeros = p.zeroA.from(offsetOf(p.aOffsets, i) / p.k);
    forSumBlocks(c, p, i, width, sink,
                 [&](int32_t *sums, int64_t row, int64_t column, int64_t height, int64_t these) {
                   dots.multiply(sums, kSumColumns, rows + (i * p.m + row) * width,
                                 packed + column * width, height, ceilDiv(these, lanes));
                   for (int64_t r = 0; r < height; ++r) {
                     const auto zero = uint32_t(rowZeros.at(row + r) + (p.a.isSigned ? 128 : 0));
                     const uint32_t rest = rowSums[i * p.m + row + r] - uint32_t(p.k) * zero;
                     int32_t *own = sums + r * kSumColumns;
                     for (int64_t j = 0; j < these; ++j)
                       own[j] = int32_t(uint32_t(own[j]) - zero * uint32_t(columnSums[column + j]) -
                                        rest * uint32_t(columnZeros[column + j]));
                   }
                 });
  }
  return true;
}
} // namespace
#endif

bool ByteProduct::readPacked(Context &c) {
  const List<int64_t> sums = c.integers("packed");
  packedSums = sums.given ? sums.data : nullptr;
  if (!sums.given || (batch == 1 && BytePanels{k, n}.fits() && sums.size == n))
    return true;
  c.fail("% matrices of % rows and % columns are packed, with % sums", batch, k, n, sums.size);
  return false;
}

bool multiplyBytes(Context &c, const ByteProduct &p, SumSink sink) {
  if (p.m <= 0 || p.n <= 0 || p.batch <= 0)
    return true;
#if defined(__x86_64__)
  if (hasWideDot() && (p.packedSums || p.m > kFewRows) && p.k > 0)
    return multiplyByDots(c, p, sink);
#endif
  const int64_t depth = evenDepth(maximum(p.k, int64_t(0)));
  const int64_t rowSpace = spaceFor(c, p.batch, p.m, maximum(depth, int64_t(2)));
  int16_t *rows = rowSpace < 0 ? nullptr : c.scratch<int16_t>(rowSpace);
  if (!rows)
    return false;
  parallelIf(c, p.batch * p.m, depth, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t matrix = row / p.m;
      ByteMatrix a = p.a;
      a.data = static_cast<const char *>(a.data) + offsetOf(p.aOffsets, matrix) + row % p.m * a.row;
      a.row = 0;
      const int64_t line = (p.k ? offsetOf(p.aOffsets, matrix) / p.k : 0) + row % p.m;
      centerRows(rows + row * depth, a, p.zeroA.from(line), p.k, 0, 1);
    }
  });

  auto matrixB = [&](int64_t i) {
    return static_cast<const char *>(p.b.data) + offsetOf(p.bOffsets, i);
  };
  auto zerosOf = [&](int64_t i) { return p.zeroB.from(p.k ? offsetOf(p.bOffsets, i) / p.k : 0); };
  if (p.m <= kFewRows && (p.packedSums || p.b.row == 1 || p.b.col == 1)) {
    const int64_t chunks = ceilDiv(p.n, kSumColumns);
    parallelIf(c, p.batch * chunks, kSumColumns * p.m * p.k, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t i = task / chunks, first = task % chunks * kSumColumns;
        const int64_t last = minimum(first + kSumColumns, p.n);
        if (p.packedSums)
          multiplyFewPacked(p, rows, first, last, sink);
        else
          p.b.isSigned ? multiplyFewRows(p, rows, reinterpret_cast<const int8_t *>(matrixB(i)),
                                         zerosOf(i), i, first, last, sink)
                       : multiplyFewRows(p, rows, reinterpret_cast<const uint8_t *>(matrixB(i)),
                                         zerosOf(i), i, first, last, sink);
      }
    });
    return true;
  }

  // Processes one matrix b at a time; consecutive equal ones are packed only once.
  const int64_t panels = ceilDiv(p.n, kPairPanel), size = panels * kPairPanel * depth;
  const int64_t space = spaceFor(c, panels * kPairPanel, maximum(depth, int64_t(2)));
  int16_t *packed = space < 0 ? nullptr : c.scratch<int16_t>(space);
  if (!packed)
    return false;
  for (int64_t i = 0; i < p.batch; ++i) {
    if (size && (i == 0 || offsetOf(p.bOffsets, i) != offsetOf(p.bOffsets, i - 1))) {
      ByteMatrix b = p.b;
      b.data = matrixB(i);
      const ZeroPoints zeros = zerosOf(i);
      parallelIf(c, panels, kPairPanel * depth, [&](int64_t begin, int64_t end) {
        p.packedSums ? repackPairs(packed, p, begin, end)
                     : packPairs(packed, b, zeros, p.k, p.n, begin, end);
      });
    }
    forSumBlocks(c, p, i, depth, sink,
                 [&](int32_t *sums, int64_t row, int64_t column, int64_t height, int64_t width) {
                   if (depth == 0)
                     __builtin_memset(sums, 0, sizeof(int32_t) * uint64_t(height * kSumColumns));
                   multiplyPairs(sums, kSumColumns, rows + (i * p.m + row) * depth,
                                 packed + column * depth, height, width, depth);
                 });
  }
  return true;
}

void requantize(void *result, bool isSigned, const int32_t *sums, int64_t n, float scale,
                int zero) {
  requantizeAs(result, isSigned, sums, n, [=](int64_t) { return scale; }, zero);
}
void requantize(void *result, bool isSigned, const int32_t *sums, int64_t n, const float *scales,
                int zero) {
  requantizeAs(result, isSigned, sums, n, [=](int64_t i) { return scales[i]; }, zero);
}

} // namespace atc::kernels
