//===-- PackedMatMul.cpp - products with weights that are packed ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler packs constant weights as multiplyPacked reads them, so that a product with a few
// rows is bound by the bandwidth of memory and one with many rows packs nothing. Weights of 16 bits
// are half of what such a product reads; they become floats in registers, or for many rows a block
// at a time, and products and sums are those of floats.

#include "kernels/core/NarrowLanes.h"
#include "kernels/nn/ExpandedPanels.h"

// Vectors are passed between functions of this file only.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace atc::kernels {

namespace {
constexpr int64_t kWidth = kPanel<float>;
constexpr int64_t kNarrowRows = 6; // rows for which weights of 16 bits become floats in registers

/// A product with packed weights: rows of x (m x k), panels of n columns.
struct PackedProduct {
  float *y;
  const float *x, *add; ///< `add` holds a float per column, or is null
  int64_t m, n, k;
};

void multiplyFloats(Context &c, const PackedProduct &p, const float *panels) {
  // Few panels per task: with few rows they are what is read from memory.
  constexpr int64_t rowBlock = 48;
  const int64_t panelsPerTask = p.m <= rowBlock ? 4 : 32, width = panelsPerTask * kWidth;
  const int64_t rowBlocks = ceilDiv(p.m, rowBlock), columnBlocks = ceilDiv(p.n, width);
  parallelIf(c, rowBlocks * columnBlocks, minimum(p.m, rowBlock) * minimum(p.n, width) * p.k,
             [&](int64_t begin, int64_t end) {
               for (int64_t task = begin; task < end; ++task) {
                 const int64_t row = task % rowBlocks * rowBlock;
                 const int64_t column = task / rowBlocks * width;
                 const int64_t rows = minimum(rowBlock, p.m - row);
                 const int64_t columns = minimum(width, p.n - column);
                 float *to = p.y + row * p.n + column;
                 for (int64_t i = 0; p.add && i < rows; ++i)
                   copyBytes(to + i * p.n, p.add + column, columns * 4);
                 multiplyPacked(to, p.n, p.x + row * p.k, p.k, 1, panels + column * p.k, rows,
                                columns, p.k, p.add != nullptr);
               }
             });
}

/// Multiplies R rows by a panel, which holds the columns from `column` on. T: Half or BFloat.
template <int R, typename T>
void multiplyPanel(const PackedProduct &p, const T *panel, int64_t column) {
  // Sums that need not wait for each other.
  constexpr int steps = R == 1 ? 4 : 2;
  Floats16 sums[steps][R] = {};
  int64_t i = 0;
  for (; i + steps <= p.k; i += steps)
#pragma clang loop unroll(full)
    for (int step = 0; step < steps; ++step) {
      const Floats16 weights = floatsFrom(panel + (i + step) * kWidth);
#pragma clang loop unroll(full)
      for (int r = 0; r < R; ++r)
        sums[step][r] += p.x[r * p.k + i + step] * weights;
    }
  for (; i < p.k; ++i) {
    const Floats16 weights = floatsFrom(panel + i * kWidth);
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r)
      sums[0][r] += p.x[r * p.k + i] * weights;
  }
  const int64_t columns = minimum(kWidth, p.n - column);
#pragma clang loop unroll(full)
  for (int r = 0; r < R; ++r) {
    Floats16 sum = sums[0][r];
#pragma clang loop unroll(full)
    for (int step = 1; step < steps; ++step)
      sum += sums[step][r];
    float row[kWidth];
    __builtin_memcpy(row, &sum, sizeof(row));
    for (int64_t j = 0; j < columns; ++j)
      p.y[r * p.n + column + j] = row[j] + (p.add ? p.add[column + j] : 0);
  }
}

/// Multiplies by weights of 16 bits.
template <typename T> void multiplyNarrow(Context &c, const PackedProduct &p, const T *panels) {
  if (p.m > kNarrowRows)
    return multiplyExpandedPanels(
        c, p.y, p.x, p.add, p.m, p.n, p.k,
        [&](float *to, int64_t column, int64_t columns, int64_t first, int64_t depth) {
          for (int64_t j = 0; j < columns; j += kWidth, to += depth * kWidth) {
            const T *from = panels + (column + j) * p.k + first * kWidth;
            for (int64_t i = 0; i < depth; ++i) {
              const Floats16 weights = floatsFrom(from + i * kWidth);
              __builtin_memcpy(to + i * kWidth, &weights, sizeof(weights));
            }
          }
        });
  parallelIf(c, ceilDiv(p.n, kWidth), p.m * p.k * kWidth, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      const T *from = panels + panel * kWidth * p.k;
      const int64_t column = panel * kWidth;
      switch (p.m) {
      case 1:
        multiplyPanel<1>(p, from, column);
        break;
      case 2:
        multiplyPanel<2>(p, from, column);
        break;
      case 3:
        multiplyPanel<3>(p, from, column);
        break;
      case 4:
        multiplyPanel<4>(p, from, column);
        break;
      case 5:
        multiplyPanel<5>(p, from, column);
        break;
      default:
        multiplyPanel<6>(p, from, column);
      }
    }
  });
}
} // namespace

ATC_KERNEL(PackedMatMul) {
  const Tensor x = in(0), weights = in(1), bias = in(2);
  const int64_t n = integer("n", 0), k = weights.dim(1);
  if (x.rank() < 1 || x.dim(x.rank() - 1) != k)
    return fail("% columns times % rows", x.rank() ? x.dim(x.rank() - 1) : 0, k);
  if (n < 0 || weights.dim(0) != ceilDiv(n, kWidth) || weights.dim(2) != kWidth)
    return fail("% panels of weights for % columns", weights.dim(0), n);
  Dims shape = x.dims();
  shape[shape.rank - 1] = n;
  FloatResult result;
  if (!result.make(*this, 0, x.dtype(), shape))
    return;
  const PackedProduct p{result.floats(*this),
                        floatsOf(*this, x),
                        bias ? floatsOf(*this, bias) : nullptr,
                        shape.product(0, shape.rank - 1),
                        n,
                        k};
  if (!p.y || !p.x || (bias && !p.add) || n == 0 || p.m == 0)
    return;
  if (k == 0)
    for (int64_t i = 0; i < p.m * n; ++i)
      p.y[i] = p.add ? p.add[i % n] : 0;
  else if (weights.dtype() == F32)
    multiplyFloats(*this, p, weights.as<float>());
  else if (weights.dtype() == F16)
    multiplyNarrow(*this, p, weights.as<Half>());
  else if (weights.dtype() == BF16)
    multiplyNarrow(*this, p, weights.as<BFloat>());
  else
    return failType(weights.dtype());
  result.store();
}

} // namespace atc::kernels
