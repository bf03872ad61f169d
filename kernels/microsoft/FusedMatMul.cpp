//===-- FusedMatMul.cpp - com.microsoft: products with something around them -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Floats.h"
#include "kernels/core/Math.h"
#include "kernels/nn/FusedActivation.h"
#include "kernels/nn/GemmPlan.h"
#include "kernels/nn/IntegerProducts.h"
#include "kernels/nn/Quantize.h"

namespace atc::kernels {

namespace {

/// The last two dims exchanged, by a copy; `dims` too. Null without memory.
const float *transposed(Context &c, const float *data, Dims &dims) {
  const int64_t rows = dims[dims.rank - 2], columns = dims[dims.rank - 1];
  const int64_t count = dims.product();
  float *out = c.scratch<float>(count + 1);
  for (int64_t at = 0; out && at < count; at += rows * columns)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        out[at + j * rows + i] = data[at + i * columns + j];
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
  if (w && transB)
    w = transposed(c, w, dimsB);
  if (!out || !x || !w || !plan.run(c, out, x, w))
    return;
  const float alpha = float(c.number("alpha", 1));
  const int64_t count = plan.result.product();
  for (int64_t i = 0; alpha != 1 && i < count; ++i)
    out[i] *= alpha;
  result.store();
}

/// out[i][j] = (a - zeroA)(b - zeroB). b is [K, N], or [N, K] with transB. Null after a
/// failure.
const int32_t *integerProduct(Context &c, Tensor a, Tensor zeroA, Tensor b, Tensor zeroB, int64_t m,
                              int64_t k, int64_t n, bool transA, bool transB) {
  ByteProduct p;
  if (!isByte(a) || !isByte(b) || !p.zeroA.read(zeroA) || !p.zeroB.read(zeroB) ||
      p.zeroA.count > 1) {
    c.fail("operands have element types % and %, expected 8 bits and one zero point", a.dtype(),
           b.dtype());
    return nullptr;
  }
  p.a = {a.bytes(), a.dtype() == I8, transA ? 1 : k, transA ? m : 1};
  p.b = {b.bytes(), b.dtype() == I8, transB ? 1 : n, transB ? k : 1};
  p.m = m;
  p.n = n;
  p.k = k;
  int32_t *out = c.scratch<int32_t>(m * n + 1);
  auto store = [=](int64_t, int64_t row, int64_t column, int64_t count, const int32_t *sums) {
    copyBytes(out + row * n + column, sums, count * int64_t(sizeof(int32_t)));
  };
  return out && multiplyBytes(c, p, sinkOf(store)) ? out : nullptr;
}

/// Dims of a product [.., K] x [K, N].
bool findRows(Context &c, Tensor a, Tensor b, Dims &shape, int64_t &m, int64_t &k, int64_t &n) {
  if (a.rank() < 1 || b.rank() != 2 || a.dim(a.rank() - 1) != b.dim(0)) {
    c.fail("operands of rank % and % do not fit", a.rank(), b.rank());
    return false;
  }
  shape = a.dims();
  k = b.dim(0);
  n = b.dim(1);
  m = shape.product(0, a.rank() - 1);
  shape[a.rank() - 1] = n;
  return true;
}

bool isPerColumn(Context &c, Tensor tensor, int64_t n) {
  if (!tensor || tensor.count() == 1 || tensor.count() == n)
    return true;
  c.fail("% scales or zero points for % columns", tensor.count(), n);
  return false;
}
double columnAt(Tensor tensor, int64_t column) {
  return numberAt(tensor, tensor.count() == 1 ? 0 : column);
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

ATC_KERNEL(DynamicQuantizeMatMul) {
  const Tensor a = in(0), b = in(1), scales = in(2), zeros = in(3), bias = in(4);
  Dims shape;
  int64_t m, k, n;
  if (!findRows(*this, a, b, shape, m, k, n) || !isPerColumn(*this, scales, n) ||
      !isPerColumn(*this, zeros, n))
    return;
  if (bias && bias.count() != n)
    return fail("% biases for % columns", bias.count(), n);
  float *out = make<float>(0, F32, shape);
  if (!out)
    return;
  const int64_t count = a.count();
  float low = 0, high = 0;
  for (int64_t i = 0; i < count; ++i) {
    low = minimum(low, a.as<float>()[i]);
    high = maximum(high, a.as<float>()[i]);
  }
  const float scale = high == low ? 1 : (high - low) / 255;
  const float zero = float(math::rint(minimum(maximum(-low / scale, 0.0f), 255.0f)));
  double *x = scratch<double>(count + 1), *sums = scratch<double>(m * n + 1);
  const double *w = centered(*this, b, zeros, 1, zeros && zeros.count() > 1 ? n : 1, b.count());
  if (!x || !sums || !w)
    return;
  for (int64_t i = 0; i < count; ++i) {
    const double rounded = math::rint(a.as<float>()[i] / scale) + zero;
    x[i] = minimum(maximum(rounded, 0.0), 255.0) - zero;
  }
  if (!multiply(*this, Product<double>{sums, x, w, m, n, k, n, k, 1, n, 1}))
    return;
  for (int64_t i = 0; i < m * n; ++i)
    out[i] = float(sums[i] * scale * columnAt(scales, i % n)) +
             (bias ? float(numberAt(bias, i % n)) : 0);
}

ATC_KERNEL(MatMulIntegerToFloat) {
  const Tensor a = in(0), b = in(1), scaleA = in(2), scaleB = in(3), bias = in(6);
  Dims shape;
  int64_t m, k, n;
  if (!findRows(*this, a, b, shape, m, k, n) || !isPerColumn(*this, scaleB, n) ||
      !isPerColumn(*this, in(5), n))
    return;
  if (scaleA.count() != 1 || (bias && bias.count() != n))
    return fail("% scales of the rows, % biases", scaleA.count(), bias ? bias.count() : 0);
  FloatResult result;
  if (!result.make(*this, 0, scaleA.dtype(), shape))
    return;
  float *out = result.floats(*this);
  const int32_t *sums = integerProduct(*this, a, in(4), b, in(5), m, k, n, false, false);
  if (!out || !sums)
    return;
  float *factors = scratch<float>(2 * n + 1), *added = factors + n;
  if (!factors)
    return;
  for (int64_t j = 0; j < n; ++j) {
    factors[j] = float(numberAt(scaleA, 0) * columnAt(scaleB, j));
    added[j] = bias ? float(numberAt(bias, j)) : 0;
  }
  parallelIf(*this, m, n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < n; ++j)
        out[i * n + j] = float(sums[i * n + j]) * factors[j] + added[j];
  });
  result.store();
}

ATC_KERNEL(QGemm) {
  const Tensor a = in(0), scaleA = in(1), b = in(3), scaleB = in(4), bias = in(6), scaleY = in(7),
               zeroY = in(8);
  GemmPlan plan;
  if (!plan.find(*this, a, b, bias) || !isPerColumn(*this, scaleB, plan.n) ||
      !isPerColumn(*this, in(5), plan.n))
    return;
  const int64_t m = plan.m, n = plan.n;
  const uint8_t dtype = !scaleY ? uint8_t(F32) : zeroY ? zeroY.dtype() : a.dtype();
  char *out = make(0, dtype, Dims(m, n));
  if (!out)
    return;
  const int32_t *sums =
      integerProduct(*this, a, in(2), b, in(5), m, plan.k, n, plan.transA, plan.transB);
  if (!sums)
    return;
  const double scale = number("alpha", 1) * numberAt(scaleA, 0);
  auto value = [&](int64_t i) {
    const int64_t row = i / n, column = i % n;
    const double added = bias ? numberAt(bias, plan.biasAt(row, column)) : 0;
    return (sums[i] + added) * scale * columnAt(scaleB, column);
  };
  if (!scaleY) {
    for (int64_t i = 0; i < m * n; ++i)
      reinterpret_cast<float *>(out)[i] = float(value(i));
    return;
  }
  const double step = numberAt(scaleY, 0), zero = zeroY ? numberAt(zeroY, 0) : 0;
  storeEach(*this, out, dtype, m * n,
            [&](int64_t i) { return math::rint(value(i) / step) + zero; });
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
