//===-- Orthogonal.cpp - decompositions with orthogonal matrices -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of TensorFlow. All compute in double precision.

#include "kernels/core/Rotation.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

namespace {

/// A reflection I - factor * v * v^T; `v` is 0 in front of element `first`.
struct Reflection {
  const double *v;
  double factor;
  int64_t first, size;

  /// Reflects the columns [begin, end) of a matrix of `width` columns.
  void apply(double *matrix, int64_t width, int64_t begin, int64_t end) const {
    for (int64_t j = begin; j < end; ++j) {
      double dot = 0;
      for (int64_t i = first; i < size; ++i)
        dot += v[i] * matrix[i * width + j];
      for (int64_t i = first; i < size; ++i)
        matrix[i * width + j] -= factor * dot * v[i];
    }
  }
};

/// Makes a [m, n] an upper triangle by reflections, and q [m, columns] the first columns of the
/// product of these, whose vectors are kept in `vectors` [min(m, n), m + 1].
void triangularize(double *a, double *q, double *vectors, int64_t m, int64_t n, int64_t columns) {
  const int64_t count = minimum(m, n);
  auto reflection = [&](int64_t k) {
    const double *vector = vectors + k * (m + 1);
    return Reflection{vector, vector[m], k, m};
  };
  for (int64_t k = 0; k < count; ++k) {
    double *vector = vectors + k * (m + 1), tail = 0;
    for (int64_t i = k + 1; i < m; ++i)
      tail += a[i * n + k] * a[i * n + k];
    vector[m] = 0;
    if (tail == 0)
      continue; // already zero below the diagonal, whose sign stays
    const double first = a[k * n + k], length = math::sqrt(first * first + tail);
    // The sign that does not cancel.
    const double diagonal = first >= 0 ? -length : length;
    for (int64_t i = k; i < m; ++i)
      vector[i] = i == k ? first - diagonal : a[i * n + k];
    vector[m] = 2 / (vector[k] * vector[k] + tail);
    reflection(k).apply(a, n, k, n);
    for (int64_t i = k + 1; i < m; ++i)
      a[i * n + k] = 0;
  }
  for (int64_t i = 0; i < m * columns; ++i)
    q[i] = i / columns == i % columns;
  for (int64_t k = count; k-- > 0;)
    if (reflection(k).factor != 0)
      reflection(k).apply(q, columns, k, columns);
}

} // namespace

/// Outputs: the eigenvalues of symmetric matrices, rising, and the eigenvectors as columns. Only
/// the lower triangles are read.
ATC_KERNEL(SymmetricEigen) {
  const Tensor data = in(0);
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
        int64_t position = i;
        for (; position > 0 && a[order[position - 1] * (n + 1)] > a[i * (n + 1)]; --position)
          order[position] = order[position - 1];
        order[position] = i;
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
  double *a = scratch<double>(m * n + m * columns + minimum(m, n) * (m + 1));
  if (!from || !a)
    return;
  double *product = a + m * n;
  const bool done = dispatchFloats(data.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    for (int64_t at = 0; at < count; ++at) {
      copyBytes(a, from + at * m * n, m * n * int64_t(sizeof(double)));
      triangularize(a, product, product + m * columns, m, n, columns);
      T *outQ = reinterpret_cast<T *>(q) + at * m * columns,
        *outR = reinterpret_cast<T *>(r) + at * columns * n;
      for (int64_t i = 0; i < m * columns; ++i)
        outQ[i] = T(Compute<T>(product[i]));
      for (int64_t i = 0; i < columns * n; ++i)
        outR[i] = T(Compute<T>(a[i]));
    }
  });
  if (!done)
    failType(data.dtype());
}

} // namespace atc::kernels
