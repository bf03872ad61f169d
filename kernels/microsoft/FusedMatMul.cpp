//===-- FusedMatMul.cpp - com.microsoft: products with something around them -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Floats.h"
#include "kernels/core/Math.h"
#include "kernels/core/TransposeSquare.h"
#include "kernels/nn/FusedActivation.h"
#include "kernels/nn/GemmPlan.h"

namespace atc::kernels {

namespace {

/// The last two dims exchanged, by a copy; `dims` too. Null without memory.
const float *transposed(Context &c, const float *data, Dims &dims) {
  const int64_t rows = dims[dims.rank - 2], columns = dims[dims.rank - 1];
  const int64_t count = dims.product();
  float *out = c.scratch<float>(count + 1);
  for (int64_t at = 0; out && at < count; at += rows * columns)
    transposeRows(out + at, rows, data + at, columns, rows, columns);
  dims[dims.rank - 2] = columns;
  dims[dims.rank - 1] = rows;
  return out;
}

/// Returns the dims of matrices whose rows are dim 0, in front of the batch: dim 0 moves behind it.
Dims behindBatch(Dims dims) {
  const int64_t rows = dims[0];
  for (uint32_t d = 0; d + 2 < dims.rank; ++d)
    dims[d] = dims[d + 1];
  dims[dims.rank - 2] = rows;
  return dims;
}

/// Moves dim 0 behind the batch by a copy. Null without memory.
const float *rowsBehindBatch(Context &c, const float *data, const Dims &dims) {
  const int64_t rows = dims[0], columns = dims[dims.rank - 1];
  const int64_t count = dims.product(), batch = count ? count / (rows * columns) : 0;
  float *out = c.scratch<float>(count + 1);
  for (int64_t row = 0; out && row < rows; ++row)
    for (int64_t at = 0; at < batch; ++at)
      copyBytes(out + (at * rows + row) * columns, data + (row * batch + at) * columns,
                columns * int64_t(sizeof(float)));
  return out;
}

void fusedMatMul(Context &c) {
  const Tensor a = c.in(0), b = c.in(1);
  // A vector cannot be transposed, and a matrix has no batch.
  const bool transA = c.integer("transA", 0) && a.rank() > 1;
  const bool transB = c.integer("transB", 0) && b.rank() > 1;
  const bool batchA = c.integer("transBatchA", 0) && a.rank() > 2;
  const bool batchB = c.integer("transBatchB", 0) && b.rank() > 2;
  Dims dimsA = batchA ? behindBatch(a.dims()) : a.dims();
  Dims dimsB = batchB ? behindBatch(b.dims()) : b.dims();
  auto swapped = [](Dims dims, bool swap) {
    const int64_t rows = swap ? dims[dims.rank - 2] : 0;
    if (swap) {
      dims[dims.rank - 2] = dims[dims.rank - 1];
      dims[dims.rank - 1] = rows;
    }
    return dims;
  };
  MatMulPlan plan;
  if (!plan.find(c, swapped(dimsA, transA), swapped(dimsB, transB)))
    return;
  FloatResult result;
  if (!result.make(c, 0, a.dtype(), plan.result))
    return;
  float *out = result.floats(c);
  const float *x = floatsOf(c, a), *w = floatsOf(c, b);
  if (x && batchA)
    x = rowsBehindBatch(c, x, a.dims());
  if (w && batchB)
    w = rowsBehindBatch(c, w, b.dims());
  if (x && transA)
    x = transposed(c, x, dimsA);
  if (out && x && w && plan.run(c, out, x, w, transB, float(c.number("alpha", 1))))
    result.store();
}

} // namespace

ATC_KERNEL(FusedMatMul) { fusedMatMul(*this); }
ATC_KERNEL(TransposeMatMul) { fusedMatMul(*this); }

ATC_KERNEL(FusedGemm) {
  const Tensor a = in(0), b = in(1), bias = in(2);
  FusedActivation activation;
  GemmPlan plan;
  if (!activation.read(*this) || !plan.find(*this, a, b, bias))
    return;
  FloatResult result;
  if (!result.make(*this, 0, a.dtype(), plan.result()))
    return;
  float *out = result.floats(*this);
  const float *x = floatsOf(*this, a), *w = floatsOf(*this, b);
  const float *add = bias ? floatsOf(*this, bias) : nullptr;
  if (!out || !x || !w || (bias && !add) ||
      !plan.run(*this, out, x, w, add, number("alpha", 1), number("beta", 1)))
    return;
  activation.apply(out, plan.m * plan.n);
  result.store();
}

ATC_KERNEL(Inverse) {
  const Tensor data = in(0);
  const int64_t rank = data.rank(), n = rank ? data.dim(rank - 1) : 0;
  if (rank < 2 || data.dim(rank - 2) != n)
    return fail("the input has rank % and no square matrices", rank);
  char *out = make(0, data.dtype(), data.dims());
  double *w = out ? scratch<double>(2 * n * n + 1) : nullptr;
  if (!w)
    return;
  const int64_t count = n ? data.count() / (n * n) : 0, width = 2 * n;
  for (int64_t at = 0; at < count; ++at) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        w[i * width + j] = numberAt(data, (at * n + i) * n + j);
        w[i * width + n + j] = i == j;
      }
    for (int64_t column = 0; column < n; ++column) {
      int64_t best = column;
      for (int64_t i = column + 1; i < n; ++i)
        if (math::abs(w[i * width + column]) > math::abs(w[best * width + column]))
          best = i;
      for (int64_t j = 0; j < width; ++j) {
        const double kept = w[best * width + j];
        w[best * width + j] = w[column * width + j];
        w[column * width + j] = kept;
      }
      const double pivot = 1 / w[column * width + column];
      for (int64_t j = 0; j < width; ++j)
        w[column * width + j] *= pivot;
      for (int64_t i = 0; i < n; ++i) {
        const double factor = w[i * width + column];
        for (int64_t j = 0; i != column && j < width; ++j)
          w[i * width + j] -= factor * w[column * width + j];
      }
    }
    if (!dispatchFloats(data.dtype(), [&](auto type) {
          using T = typename decltype(type)::Type;
          for (int64_t i = 0; i < n * n; ++i)
            reinterpret_cast<T *>(out)[at * n * n + i] =
                T(Compute<T>(w[i / n * width + n + i % n]));
        }))
      return failType(data.dtype());
  }
}

} // namespace atc::kernels
