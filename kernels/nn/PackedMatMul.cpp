//===-- PackedMatMul.cpp - products with weights that are packed ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler packs constant weights as multiplyPacked reads them, so that a product with a few
// rows is bound by the bandwidth of memory and one with many rows packs nothing.

#include "kernels/core/Widen.h"
#include "kernels/nn/Gemm.h"

namespace atc::kernels {

ATC_KERNEL(PackedMatMul) {
  const Tensor x = in(0), weights = in(1), bias = in(2);
  constexpr int64_t width = kPanel<float>;
  const int64_t n = integer("n", 0), k = weights.dim(1);
  if (x.rank() < 1 || x.dim(x.rank() - 1) != k)
    return fail("% columns times % rows", x.rank() ? x.dim(x.rank() - 1) : 0, k);
  if (n < 0 || weights.dim(0) != ceilDiv(n, width) || weights.dim(2) != width)
    return fail("% panels of weights for % columns", weights.dim(0), n);
  Dims shape = x.dims();
  shape[shape.rank - 1] = n;
  float *y = make<float>(0, F32, shape);
  if (!y || n == 0)
    return;
  const int64_t m = shape.product(0, shape.rank - 1);
  // Few panels per task: with few rows they are what is read from memory.
  constexpr int64_t rowBlock = 48;
  const int64_t panels = m <= rowBlock ? 4 : 32;
  const int64_t rowBlocks = ceilDiv(m, rowBlock), columnBlocks = ceilDiv(n, panels * width);
  const float *a = x.as<float>(), *w = weights.as<float>(),
              *add = bias ? bias.as<float>() : nullptr;
  parallelIf(*this, rowBlocks * columnBlocks, minimum(m, rowBlock) * minimum(n, panels * width) * k,
             [&](int64_t begin, int64_t end) {
               for (int64_t task = begin; task < end; ++task) {
                 const int64_t row = task % rowBlocks * rowBlock;
                 const int64_t column = task / rowBlocks * panels * width;
                 const int64_t rows = minimum(rowBlock, m - row);
                 const int64_t columns = minimum(panels * width, n - column);
                 float *to = y + row * n + column;
                 for (int64_t i = 0; add && i < rows; ++i)
                   copyBytes(to + i * n, add + column, columns * 4);
                 multiplyPacked(to, n, a + row * k, k, 1, w + column * k, rows, columns, k,
                                add != nullptr);
               }
             });
}

} // namespace atc::kernels
