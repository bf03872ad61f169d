//===-- Orthogonal.cpp - decompositions with orthogonal matrices -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of TensorFlow. All compute in double precision.

#include "kernels/core/Math.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

namespace {

/// Turns x and y, vectors whose elements are `step` apart, towards each other.
void rotate(double *x, double *y, int64_t count, int64_t step, double cosine, double sine) {
  for (int64_t i = 0; i < count; ++i) {
    const double p = x[i * step], q = y[i * step];
    x[i * step] = cosine * p - sine * q;
    y[i * step] = sine * p + cosine * q;
  }
}

/// Makes the symmetric matrix a [n, n] diagonal by Jacobi rotations; the columns of v [n, n] become
/// its eigenvectors.
void diagonalize(double *a, double *v, int64_t n) {
  for (int64_t i = 0; i < n * n; ++i)
    v[i] = i / n == i % n;
  // Convergence is quadratic; 60 sweeps are far more than any matrix needs.
  for (int round = 0; round < 60; ++round) {
    bool done = true;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) {
        const double off = a[i * n + j];
        if (math::abs(off) <= 1e-16 * (math::abs(a[i * n + i]) + math::abs(a[j * n + j])))
          continue;
        done = false;
        const double angle = (a[j * n + j] - a[i * n + i]) / (2 * off);
        const double tangent =
            (angle < 0 ? -1 : 1) / (math::abs(angle) + math::sqrt(1 + angle * angle));
        const double cosine = 1 / math::sqrt(1 + tangent * tangent), sine = cosine * tangent;
        rotate(a + i * n, a + j * n, n, 1, cosine, sine);
        rotate(a + i, a + j, n, n, cosine, sine);
        rotate(v + i, v + j, n, n, cosine, sine);
        a[i * n + j] = a[j * n + i] = 0;
      }
    if (done)
      return;
  }
}

/// Makes a [m, n] an upper triangle by reflections, and q [m, m] the product of these.
void triangularize(double *a, double *q, int64_t m, int64_t n, double *vector) {
  for (int64_t i = 0; i < m * m; ++i)
    q[i] = i / m == i % m;
  for (int64_t k = 0; k < minimum(m, n); ++k) {
    double tail = 0;
    for (int64_t i = k + 1; i < m; ++i)
      tail += a[i * n + k] * a[i * n + k];
    if (tail == 0)
      continue; // already zero below the diagonal, whose sign stays
    const double first = a[k * n + k], length = math::sqrt(first * first + tail);
    // The sign that does not cancel.
    const double diagonal = first >= 0 ? -length : length;
    for (int64_t i = k; i < m; ++i)
      vector[i] = i == k ? first - diagonal : a[i * n + k];
    const double factor = 2 / (vector[k] * vector[k] + tail);
    for (int64_t j = k; j < n; ++j) {
      double dot = 0;
      for (int64_t i = k; i < m; ++i)
        dot += vector[i] * a[i * n + j];
      for (int64_t i = k; i < m; ++i)
        a[i * n + j] -= factor * dot * vector[i];
    }
    for (int64_t i = k + 1; i < m; ++i)
      a[i * n + k] = 0;
    for (int64_t row = 0; row < m; ++row) {
      double dot = 0;
      for (int64_t i = k; i < m; ++i)
        dot += q[row * m + i] * vector[i];
      for (int64_t i = k; i < m; ++i)
        q[row * m + i] -= factor * dot * vector[i];
    }
  }
}

} // namespace

/// Outputs: the eigenvalues of symmetric matrices, rising, and the eigenvectors as columns. Only
/// the lower triangles are read.
ATC_KERNEL(SymmetricEigen) {
  const Tensor data = in(0);
  if (data.rank() < 2)
    return fail("the input has rank %, expected matrices", data.rank());
  const Dims dims = data.dims(), values(dims.at, dims.rank - 1);
  const int64_t n = dims[dims.rank - 1];
  char *e = make(0, data.dtype(), values);
  char *vectors = e && wants(1) ? make(1, data.dtype(), dims) : nullptr;
  if (!e || (wants(1) && !vectors) || data.count() == 0)
    return;
  const double *from = numbersOf<double>(*this, data);
  double *a = scratch<double>(2 * n * n);
  int64_t *order = scratch<int64_t>(n);
  if (!from || !a || !order)
    return;
  double *v = a + n * n;
  const bool done = dispatchFloats(data.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    for (int64_t at = 0; at < values.product(0, values.rank - 1); ++at) {
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          a[i * n + j] = from[at * n * n + maximum(i, j) * n + minimum(i, j)];
      diagonalize(a, v, n);
      for (int64_t i = 0; i < n; ++i) {
        int64_t place = i;
        for (; place > 0 && a[order[place - 1] * (n + 1)] > a[i * (n + 1)]; --place)
          order[place] = order[place - 1];
        order[place] = i;
      }
      for (int64_t i = 0; i < n; ++i) {
        reinterpret_cast<T *>(e)[at * n + i] = T(Compute<T>(a[order[i] * (n + 1)]));
        for (int64_t row = 0; vectors && row < n; ++row)
          reinterpret_cast<T *>(vectors)[(at * n + row) * n + i] =
              T(Compute<T>(v[row * n + order[i]]));
      }
    }
  });
  if (!done)
    failType(data.dtype());
}

/// Outputs: an orthogonal matrix and an upper triangle whose product is the input. With
/// `full_matrices` the first one is square.
ATC_KERNEL(Qr) {
  const Tensor data = in(0);
  if (data.rank() < 2)
    return fail("the input has rank %, expected matrices", data.rank());
  Dims left = data.dims(), right = left;
  const int64_t m = left[left.rank - 2], n = left[left.rank - 1];
  const int64_t columns = integer("full_matrices", 0) ? m : minimum(m, n);
  left[left.rank - 1] = right[right.rank - 2] = columns;
  char *q = make(0, data.dtype(), left);
  char *r = q ? make(1, data.dtype(), right) : nullptr;
  if (!q || !r || (left.product() == 0 && right.product() == 0))
    return;
  const int64_t count = left.product(0, left.rank - 2);
  const double *from = numbersOf<double>(*this, data);
  double *a = scratch<double>(m * n + m * m + m);
  if (!from || !a)
    return;
  double *product = a + m * n;
  const bool done = dispatchFloats(data.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    for (int64_t at = 0; at < count; ++at) {
      copyBytes(a, from + at * m * n, m * n * int64_t(sizeof(double)));
      triangularize(a, product, m, n, product + m * m);
      T *outQ = reinterpret_cast<T *>(q) + at * m * columns,
        *outR = reinterpret_cast<T *>(r) + at * columns * n;
      for (int64_t i = 0; i < m * columns; ++i)
        outQ[i] = T(Compute<T>(product[i / columns * m + i % columns]));
      for (int64_t i = 0; i < columns * n; ++i)
        outR[i] = T(Compute<T>(a[i]));
    }
  });
  if (!done)
    failType(data.dtype());
}

} // namespace atc::kernels
