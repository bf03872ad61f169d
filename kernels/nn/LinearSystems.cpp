//===-- LinearSystems.cpp - systems of linear equations --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of TensorFlow. All compute in double precision.

#include "kernels/core/Broadcast.h"
#include "kernels/core/Math.h"

namespace atc::kernels {

namespace {

/// Writes `count` numbers as elements of `dtype` from element `first` on.
void store(Context &c, uint8_t dtype, char *out, int64_t first, const double *numbers,
           int64_t count) {
  if (!dispatchFloats(dtype, [&](auto type) {
        using T = typename decltype(type)::Type;
        T *to = reinterpret_cast<T *>(out) + first;
        for (int64_t i = 0; i < count; ++i)
          to[i] = T(Compute<T>(numbers[i]));
      }))
    c.failType(dtype);
}

/// Solves l * x = b, or u * x = b with an upper triangle, in place of b [n, columns]. Element (i,
/// j) of the matrix is a[i * rowStep + j * columnStep].
void substitute(const double *a, int64_t rowStep, int64_t columnStep, bool isLower, double *b,
                int64_t n, int64_t columns) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = isLower ? step : n - 1 - step;
    const int64_t begin = isLower ? 0 : i + 1, end = isLower ? i : n;
    for (int64_t j = begin; j < end; ++j) {
      const double factor = a[i * rowStep + j * columnStep];
      for (int64_t k = 0; k < columns; ++k)
        b[i * columns + k] -= factor * b[j * columns + k];
    }
    const double diagonal = a[i * rowStep + i * columnStep];
    for (int64_t k = 0; k < columns; ++k)
      b[i * columns + k] /= diagonal;
  }
}

/// Solves a * x = b in place of b [n, columns] by Gaussian elimination with partial pivoting, which
/// destroys a [n, n]. Returns false where a is singular.
bool eliminate(double *a, double *b, int64_t n, int64_t columns) {
  auto swapRows = [](double *of, int64_t length, int64_t i, int64_t j) {
    for (int64_t k = 0; k < length; ++k) {
      const double kept = of[i * length + k];
      of[i * length + k] = of[j * length + k];
      of[j * length + k] = kept;
    }
  };
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < n; ++row)
      if (math::abs(a[row * n + column]) > math::abs(a[pivot * n + column]))
        pivot = row;
    if (a[pivot * n + column] == 0)
      return false;
    swapRows(a, n, column, pivot);
    swapRows(b, columns, column, pivot);
    for (int64_t row = column + 1; row < n; ++row) {
      const double factor = a[row * n + column] / a[column * n + column];
      for (int64_t k = column; k < n; ++k)
        a[row * n + k] -= factor * a[column * n + k];
      for (int64_t k = 0; k < columns; ++k)
        b[row * columns + k] -= factor * b[column * columns + k];
    }
  }
  substitute(a, n, 1, /*isLower=*/false, b, n, columns);
  return true;
}

/// Solves matrix * x = right, inputs 0 and 1, for each of the matrices [..,n,n] and right-hand
/// sides
/// [..,n,k], whose outer dims broadcast. `solve(a, b, n, k)` may change a [n, n], leaves x in b
/// [n, k] and returns whether there is a solution.
template <typename Fn> void solveAll(Context &c, Fn solve) {
  const Tensor matrix = c.in(0), right = c.in(1);
  if (matrix.rank() < 2 || right.rank() < 2)
    return c.fail("inputs of rank % and % are no matrices", matrix.rank(), right.rank());
  if (matrix.dtype() != right.dtype())
    return c.fail("the operands have element types % and %", matrix.dtype(), right.dtype());
  const int64_t n = right.dim(right.rank() - 2), columns = right.dim(right.rank() - 1);
  if (matrix.dim(matrix.rank() - 1) != n || matrix.dim(matrix.rank() - 2) != n)
    return c.fail("a right-hand side has % rows, but the matrices are not of that size", n);
  const Dims outerA(matrix.dims().at, matrix.rank() - 2), outerB(right.dims().at, right.rank() - 2);
  Dims outer = outerA;
  if (!broadcastInto(c, outer, outerB))
    return;
  Dims shape = outer;
  if (!shape.push(n) || !shape.push(columns))
    return c.fail("the result has too many dims");
  char *out = c.make(0, matrix.dtype(), shape);
  if (!out || shape.product() == 0)
    return;
  const double *a = numbersOf<double>(c, matrix), *b = numbersOf<double>(c, right);
  double *work = c.scratch<double>(n * n + n * columns);
  if (!a || !b || !work)
    return;
  const Dims stepsA = broadcastSteps(outerA, outer), stepsB = broadcastSteps(outerB, outer);
  const int64_t count = outer.product();
  for (int64_t at = 0; at < count; ++at) {
    int64_t offsetA = 0, offsetB = 0, rest = at;
    for (uint32_t d = outer.rank; d-- > 0; rest /= outer[d]) {
      offsetA += rest % outer[d] * stepsA[d];
      offsetB += rest % outer[d] * stepsB[d];
    }
    copyBytes(work, a + offsetA * n * n, n * n * int64_t(sizeof(double)));
    copyBytes(work + n * n, b + offsetB * n * columns, n * columns * int64_t(sizeof(double)));
    if (!solve(work, work + n * n, n, columns))
      return c.fail("matrix % is singular", at);
    store(c, matrix.dtype(), out, at * n * columns, work + n * n, n * columns);
  }
}

/// Transposes a matrix [n, n] in place.
void transposeSquare(double *a, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) {
      const double kept = a[i * n + j];
      a[i * n + j] = a[j * n + i];
      a[j * n + i] = kept;
    }
}

} // namespace

/// The lower triangle l with l * l^T = data. Only the lower triangles of `data` are read.
ATC_KERNEL(Cholesky) {
  const Tensor data = in(0);
  if (data.rank() < 2)
    return fail("the input has rank %, expected matrices", data.rank());
  char *out = make(0, data.dtype(), data.dims());
  if (!out || data.count() == 0)
    return;
  const int64_t n = data.dim(data.rank() - 1), count = data.count() / (n * n);
  const double *from = numbersOf<double>(*this, data);
  double *l = scratch<double>(n * n);
  if (!from || !l)
    return;
  for (int64_t at = 0; at < count; ++at) {
    const double *a = from + at * n * n;
    for (int64_t i = 0; i < n; ++i) {
      double *row = l + i * n;
      for (int64_t j = 0; j <= i; ++j) {
        double rest = a[i * n + j];
        for (int64_t k = 0; k < j; ++k)
          rest -= row[k] * l[j * n + k];
        if (i == j && !(rest > 0))
          return fail("matrix % is not positive definite", at);
        row[j] = i == j ? math::sqrt(rest) : rest / l[j * n + j];
      }
      for (int64_t j = i + 1; j < n; ++j)
        row[j] = 0;
    }
    store(*this, data.dtype(), out, at * n * n, l, n * n);
  }
}

/// With `adjoint`, the transposed matrices are solved.
ATC_KERNEL(MatrixSolve) {
  const bool adjoint = integer("adjoint", 0) != 0;
  solveAll(*this, [=](double *a, double *b, int64_t n, int64_t columns) {
    if (adjoint)
      transposeSquare(a, n);
    return eliminate(a, b, n, columns);
  });
}

/// Only the lower triangles of the matrices are read, or with `lower` = 0 the upper ones.
ATC_KERNEL(TriangularSolve) {
  const bool isLower = integer("lower", 1) != 0, adjoint = integer("adjoint", 0) != 0;
  solveAll(*this, [=](double *a, double *b, int64_t n, int64_t columns) {
    substitute(a, adjoint ? 1 : n, adjoint ? n : 1, isLower != adjoint, b, n, columns);
    return true;
  });
}

} // namespace atc::kernels
