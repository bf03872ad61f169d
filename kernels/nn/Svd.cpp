//===-- Svd.cpp - singular values ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Broadcast.h"
#include "kernels/core/Rotation.h"

namespace atc::kernels {

namespace {

/// The decomposition a = u * diag(s) * v^T of one matrix by one-sided Jacobi rotations: the
/// columns of `a` are turned until any two of them are orthogonal; their lengths are then the
/// singular values.
struct Jacobi {
  int64_t rows, columns; ///< rows >= columns
  double *a;             ///< [columns][rows]: columns one behind the other; becomes u
  double *v;             ///< [columns][columns], likewise
  double *s;             ///< [columns]

  /// Turns each pair of columns once; returns whether all were orthogonal before.
  bool sweep() {
    bool done = true;
    for (int64_t i = 0; i < columns; ++i)
      for (int64_t j = i + 1; j < columns; ++j) {
        double *x = a + i * rows, *y = a + j * rows, xx = 0, yy = 0, xy = 0;
        for (int64_t k = 0; k < rows; ++k) {
          xx += x[k] * x[k];
          yy += y[k] * y[k];
          xy += x[k] * y[k];
        }
        // Products of numbers whose squares are too large may have become NaN, and stay so.
        if (!(math::abs(xy) > 1e-15 * math::sqrt(xx * yy)))
          continue;
        done = false;
        const Rotation rotation = Rotation::ofProducts(xx, xy, yy);
        rotation.turn(x, y, rows);
        rotation.turn(v + i * columns, v + j * columns, columns);
      }
    return done;
  }

  void swapColumns(double *of, int64_t length, int64_t i, int64_t j) {
    for (int64_t k = 0; k < length; ++k) {
      const double kept = of[i * length + k];
      of[i * length + k] = of[j * length + k];
      of[j * length + k] = kept;
    }
  }

  void run() {
    bool isFinite = true;
    for (int64_t i = 0; i < columns * rows; ++i)
      isFinite &= math::abs(a[i]) < __builtin_inf();
    for (int64_t i = 0; i < columns; ++i)
      for (int64_t k = 0; k < columns; ++k)
        v[i * columns + k] = isFinite ? i == k : __builtin_nan("");
    if (!isFinite) {
      // Rotations would go on for ever, and nothing of the result is a number.
      for (int64_t i = 0; i < columns * rows; ++i)
        a[i] = __builtin_nan("");
      for (int64_t i = 0; i < columns; ++i)
        s[i] = __builtin_nan("");
      return;
    }
    for (int round = 0; round < kJacobiSweeps && !sweep(); ++round) {
    }
    for (int64_t i = 0; i < columns; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < rows; ++k)
        sum += a[i * rows + k] * a[i * rows + k];
      s[i] = math::sqrt(sum);
    }
    for (int64_t i = 0; i < columns; ++i) {
      int64_t best = i;
      for (int64_t j = i + 1; j < columns; ++j)
        if (s[j] > s[best])
          best = j;
      const double kept = s[i];
      s[i] = s[best];
      s[best] = kept;
      swapColumns(a, rows, i, best);
      swapColumns(v, columns, i, best);
    }
    // A singular value of nothing but rounding has no direction of its own.
    for (int64_t i = 0; i < columns; ++i)
      for (int64_t k = 0; k < rows; ++k)
        a[i * rows + k] = s[i] > 1e-14 * s[0] ? a[i * rows + k] / s[i] : 0;
  }
};

/// Fills columns of zeros among `count` columns of length `rows`, whose others are
/// orthonormal, by unit vectors that are orthogonal to all before them.
void complete(double *columns, int64_t rows, int64_t count) {
  int64_t candidate = 0;
  for (int64_t i = 0; i < count; ++i) {
    double *column = columns + i * rows, length = 0;
    for (int64_t k = 0; k < rows; ++k)
      length += column[k] * column[k];
    while (length < 0.25 && candidate < rows) {
      for (int64_t k = 0; k < rows; ++k)
        column[k] = k == candidate;
      ++candidate;
      // Twice: the first subtraction leaves what it rounded.
      for (int pass = 0; pass < 2; ++pass)
        for (int64_t j = 0; j < count; ++j) {
          double dot = 0;
          for (int64_t k = 0; j != i && k < rows; ++k)
            dot += columns[j * rows + k] * column[k];
          for (int64_t k = 0; j != i && k < rows; ++k)
            column[k] -= dot * columns[j * rows + k];
        }
      length = 0;
      for (int64_t k = 0; k < rows; ++k)
        length += column[k] * column[k];
      const bool isNew = length > 1e-10;
      for (int64_t k = 0; k < rows; ++k)
        column[k] = isNew ? column[k] / math::sqrt(length) : 0;
      length = isNew;
    }
  }
}

/// Writes columns [count][rows] as a row-major matrix [rows, count].
template <typename T> void storeColumns(T *to, const double *columns, int64_t rows, int64_t count) {
  for (int64_t k = 0; k < rows; ++k)
    for (int64_t i = 0; i < count; ++i)
      to[k * count + i] = T(Compute<T>(columns[i * rows + k]));
}

} // namespace

/// Outputs: singular values, falling, and where they are asked for U and V of
/// data = U * diag(s) * V^T. With `full_matrices` U and V are square.
ATC_KERNEL(Svd) {
  const Tensor data = in(0);
  const Dims dims = data.dims();
  const int64_t m = dims[dims.rank - 2], n = dims[dims.rank - 1];
  const int64_t rank = minimum(m, n), longer = maximum(m, n);
  const bool isFull = integer("full_matrices", 0);
  const int64_t columnsU = isFull ? m : rank, columnsV = isFull ? n : rank;
  Dims values(dims.at, dims.rank - 2), left = values, right = values;
  if (!values.push(rank) || !left.push(m) || !left.push(columnsU) || !right.push(n) ||
      !right.push(columnsV))
    return fail("the input has rank %", dims.rank);
  char *s = make(0, data.dtype(), values);
  char *u = s && wants(1) ? make(1, data.dtype(), left) : nullptr;
  char *v = s && wants(2) ? make(2, data.dtype(), right) : nullptr;
  if (!s || (wants(1) && !u) || (wants(2) && !v))
    return;
  const int64_t count = values.product(0, values.rank - 1);
  const double *from = numbersOf<double>(*this, data);
  const int64_t sizeOfFirst = longer * (isFull ? longer : rank), size = sizeOfFirst + rank * rank;
  double *work = scratch<double>(size + rank + 1);
  if (!from || !work)
    return;
  double *first = work, *second = work + sizeOfFirst, *lengths = second + rank * rank;
  const bool done = dispatchFloats(data.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    for (int64_t at = 0; at < count; ++at) {
      const double *matrix = from + at * m * n;
      for (int64_t i = 0; i < size; ++i)
        work[i] = 0;
      // A wide matrix is decomposed in transposed form, with U and V exchanged.
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
          (m >= n ? first[j * m + i] : first[i * n + j]) = matrix[i * n + j];
      Jacobi jacobi{longer, rank, first, second, lengths};
      jacobi.run();
      complete(first, longer, isFull ? longer : rank);
      T *out = reinterpret_cast<T *>(s) + at * rank;
      for (int64_t i = 0; i < rank; ++i)
        out[i] = T(Compute<T>(lengths[i]));
      if (u)
        storeColumns(reinterpret_cast<T *>(u) + at * m * columnsU, m >= n ? first : second, m,
                     columnsU);
      if (v)
        storeColumns(reinterpret_cast<T *>(v) + at * n * columnsV, m >= n ? second : first, n,
                     columnsV);
    }
  });
  if (!done)
    failType(data.dtype());
}

} // namespace atc::kernels
