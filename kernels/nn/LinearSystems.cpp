//===-- LinearSystems.cpp - systems of linear equations --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of TensorFlow. All compute in double precision.

#include "kernels/core/Broadcast.h"
#include "kernels/core/Rotation.h"

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

/// Exchanges rows i and j of a matrix with `length` columns.
void swapRowsOf(double *a, int64_t length, int64_t i, int64_t j) {
  for (int64_t k = 0; k < length; ++k) {
    const double kept = a[i * length + k];
    a[i * length + k] = a[j * length + k];
    a[j * length + k] = kept;
  }
}

/// Returns the row of the element of column `column` that is largest, from the diagonal on.
int64_t pivotOf(const double *a, int64_t n, int64_t column) {
  int64_t pivot = column;
  for (int64_t row = column + 1; row < n; ++row)
    if (math::abs(a[row * n + column]) > math::abs(a[pivot * n + column]))
      pivot = row;
  return pivot;
}

/// Solves a * x = b in place of b [n, columns] by Gaussian elimination with partial pivoting, which
/// destroys a [n, n]. Returns false where a is singular.
bool eliminate(double *a, double *b, int64_t n, int64_t columns) {
  for (int64_t column = 0; column < n; ++column) {
    const int64_t pivot = pivotOf(a, n, column);
    if (a[pivot * n + column] == 0)
      return false;
    swapRowsOf(a, n, column, pivot);
    swapRowsOf(b, columns, column, pivot);
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

/// Solves the system whose matrix has three diagonals (the one above, the main one, the one below,
/// n numbers each; the last of the first and the first of the last do not count) in place of b [n,
/// columns]. `work` has room for 3 * n numbers. Returns false where the matrix is singular.
bool solveTridiagonal(const double *diagonals, double *b, double *work, int64_t n, int64_t columns,
                      bool pivots) {
  // Row i of the triangle that elimination leaves: the elements at i, i + 1 and i + 2.
  auto row = [&](int64_t i) { return work + 3 * i; };
  for (int64_t i = 0; i < n; ++i) {
    row(i)[0] = diagonals[n + i];
    row(i)[1] = i + 1 < n ? diagonals[i] : 0;
    row(i)[2] = 0;
  }
  for (int64_t i = 0; i + 1 < n; ++i) {
    double *upper = row(i), *lower = row(i + 1), below = diagonals[2 * n + i + 1];
    if (pivots && math::abs(below) > math::abs(upper[0])) {
      const double first = upper[0], second = upper[1];
      upper[0] = below;
      upper[1] = lower[0];
      upper[2] = lower[1];
      below = first;
      lower[0] = second;
      lower[1] = 0;
      swapRowsOf(b, columns, i, i + 1);
    }
    if (upper[0] == 0)
      return false;
    const double factor = below / upper[0];
    lower[0] -= factor * upper[1];
    lower[1] -= factor * upper[2];
    for (int64_t k = 0; k < columns; ++k)
      b[(i + 1) * columns + k] -= factor * b[i * columns + k];
  }
  for (int64_t i = n - 1; i >= 0; --i) {
    if (row(i)[0] == 0)
      return false;
    for (int64_t k = 0; k < columns; ++k) {
      double rest = b[i * columns + k];
      for (int64_t next = 1; next <= 2 && i + next < n; ++next)
        rest -= row(i)[next] * b[(i + next) * columns + k];
      b[i * columns + k] = rest / row(i)[0];
    }
  }
  return true;
}

/// Inverts a [n, n], which this destroys, into `to`. Returns false where a is singular.
bool invert(double *a, double *to, int64_t n) {
  for (int64_t i = 0; i < n * n; ++i)
    to[i] = i % (n + 1) == 0;
  return eliminate(a, to, n, n);
}

/// Fills with what stands for no result.
void fillNan(double *x, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    x[i] = __builtin_nan("");
}

/// Makes x, a matrix [n, n], its principal square root by the iteration of Denman and Beavers.
/// `work` has room for 4 matrices. Returns false where it does not converge.
bool iterateRoot(double *x, double *work, int64_t n) {
  double *y = work, *copy = y + n * n, *inverseX = copy + n * n, *inverseY = inverseX + n * n;
  const int64_t size = n * n;
  for (int64_t i = 0; i < size; ++i)
    y[i] = i % (n + 1) == 0;
  // It converges quadratically once it is near, up to what rounding leaves.
  constexpr int kMaxSteps = 100;
  double before = __builtin_inf();
  for (int step = 0; step < kMaxSteps; ++step) {
    copyBytes(copy, x, size * int64_t(sizeof(double)));
    if (!invert(copy, inverseX, n))
      return false;
    copyBytes(copy, y, size * int64_t(sizeof(double)));
    if (!invert(copy, inverseY, n))
      return false;
    double change = 0, largest = 0;
    for (int64_t i = 0; i < size; ++i) {
      const double next = (x[i] + inverseY[i]) / 2;
      change = maximum(change, math::abs(next - x[i]));
      largest = maximum(largest, math::abs(next));
      x[i] = next;
      y[i] = (y[i] + inverseX[i]) / 2;
    }
    if (!(change > 1e-14 * largest) || (change >= before && change < 1e-6 * largest))
      return largest < __builtin_inf();
    before = change;
  }
  return false;
}

/// Makes x, a symmetric matrix [n, n], its square root; false where an eigenvalue is more negative
/// than `precision` times the largest one explains. `work` has room for 2 matrices.
bool symmetricRoot(double *x, double *work, int64_t n, double precision) {
  double *a = work, *v = a + n * n, largest = 0;
  copyBytes(a, x, n * n * int64_t(sizeof(double)));
  diagonalize(a, v, n);
  for (int64_t i = 0; i < n; ++i)
    largest = maximum(largest, math::abs(a[i * (n + 1)]));
  for (int64_t i = 0; i < n; ++i) {
    double &value = a[i * (n + 1)];
    if (value < -precision * double(n) * largest)
      return false;
    value = math::sqrt(maximum(value, 0.0));
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < n; ++k)
        sum += v[i * n + k] * a[k * (n + 1)] * v[j * n + k];
      x[i * n + j] = sum;
    }
  return true;
}

/// Makes x, a matrix [n, n], its principal square root, or NaN where it has none that is real.
/// `precision` is that of the elements; `work` has room for 4 matrices.
void squareRoot(double *x, double *work, int64_t n, double precision) {
  double norm = 0;
  bool isFinite = true, isSymmetric = true;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const double size = math::abs(x[i * n + j]);
      isFinite &= size < __builtin_inf();
      isSymmetric &= x[i * n + j] == x[j * n + i];
      norm = maximum(norm, size);
    }
  if (isFinite && norm == 0)
    return;
  // Elements of about 1 have squares and inverses in the range of double.
  for (int64_t i = 0; i < n * n; ++i)
    x[i] /= norm;
  // The iteration inverts the matrix; symmetric ones may be singular.
  if (!isFinite || !(isSymmetric ? symmetricRoot(x, work, n, precision) : iterateRoot(x, work, n)))
    return fillNan(x, n * n);
  for (int64_t i = 0; i < n * n; ++i)
    x[i] *= math::sqrt(norm);
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

/// Makes output 0 of the square matrices of input 0: `fn(a, work, n, at)` makes matrix number `at`
/// of the matrix a, in place of it, and returns false after an error. `work` has room for `squares`
/// matrices.
template <typename Fn> void mapMatrices(Context &c, int64_t squares, Fn fn) {
  const Tensor data = c.in(0);
  char *out = c.make(0, data.dtype(), data.dims());
  if (!out || data.count() == 0)
    return;
  const int64_t n = data.dim(data.rank() - 1), count = data.count() / (n * n);
  const double *from = numbersOf<double>(c, data);
  double *a = c.scratch<double>((1 + squares) * n * n);
  if (!from || !a)
    return;
  for (int64_t at = 0; at < count; ++at) {
    copyBytes(a, from + at * n * n, n * n * int64_t(sizeof(double)));
    if (!fn(a, a + n * n, n, at))
      return;
    store(c, data.dtype(), out, at * n * n, a, n * n);
  }
}

} // namespace

/// The lower triangle l with l * l^T = data. Only the lower triangles of `data` are read.
ATC_KERNEL(Cholesky) {
  mapMatrices(*this, 0, [this](double *a, double *, int64_t n, int64_t at) {
    for (int64_t i = 0; i < n; ++i) {
      double *row = a + i * n;
      for (int64_t j = 0; j <= i; ++j) {
        double rest = row[j];
        for (int64_t k = 0; k < j; ++k)
          rest -= row[k] * a[j * n + k];
        if (i == j && !(rest > 0)) {
          fail("matrix % is not positive definite", at);
          return false;
        }
        row[j] = i == j ? math::sqrt(rest) : rest / a[j * n + j];
      }
      for (int64_t j = i + 1; j < n; ++j)
        row[j] = 0;
    }
    return true;
  });
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

/// Outputs: the triangles l (its diagonal is 1) and u of each matrix with exchanged rows, as one
/// matrix, and for each of its rows which one of the matrix it is.
ATC_KERNEL(Lu) {
  const Tensor data = in(0);
  const int64_t n = data.dim(data.rank() - 1);
  char *out = wants(0) ? make(0, data.dtype(), data.dims()) : nullptr;
  int64_t *rows = wants(1) ? make<int64_t>(1, I64, Dims(data.dims().at, data.rank() - 1)) : nullptr;
  if ((wants(0) && !out) || (wants(1) && !rows) || data.count() == 0)
    return;
  const double *from = numbersOf<double>(*this, data);
  double *a = scratch<double>(n * n);
  int64_t *order = scratch<int64_t>(n);
  if (!from || !a || !order)
    return;
  const int64_t count = data.count() / (n * n);
  for (int64_t at = 0; at < count; ++at) {
    copyBytes(a, from + at * n * n, n * n * int64_t(sizeof(double)));
    for (int64_t i = 0; i < n; ++i)
      order[i] = i;
    for (int64_t column = 0; column < n; ++column) {
      const int64_t pivot = pivotOf(a, n, column), kept = order[pivot];
      if (a[pivot * n + column] == 0)
        return fail("matrix % is singular", at);
      order[pivot] = order[column];
      order[column] = kept;
      swapRowsOf(a, n, column, pivot);
      for (int64_t row = column + 1; row < n; ++row) {
        const double factor = a[row * n + column] /= a[column * n + column];
        for (int64_t k = column + 1; k < n; ++k)
          a[row * n + k] -= factor * a[column * n + k];
      }
    }
    if (out)
      store(*this, data.dtype(), out, at * n * n, a, n * n);
    if (rows)
      copyBytes(rows + at * n, order, n * int64_t(sizeof(int64_t)));
  }
}

/// The principal square roots of matrices; NaN where there is none that is real.
ATC_KERNEL(MatrixSquareRoot) {
  const double precision = in(0).dtype() == F64 ? 0x1p-52 : 0x1p-23;
  mapMatrices(*this, 4, [=](double *a, double *work, int64_t n, int64_t) {
    squareRoot(a, work, n, precision);
    return true;
  });
}

/// Solves systems whose matrices have three diagonals; without `pivots` no rows are exchanged. The
/// solutions of singular ones are NaN.
ATC_KERNEL(TridiagonalSolve) {
  const Tensor diagonals = in(0), right = in(1);
  const bool pivots = integer("pivots", 1) != 0;
  if (right.rank() != diagonals.rank() || diagonals.dtype() != right.dtype())
    return fail("diagonals of rank % and right-hand sides of rank % do not fit", diagonals.rank(),
                right.rank());
  const uint32_t outer = right.rank() - 2;
  const int64_t n = right.dim(outer), columns = right.dim(outer + 1);
  if (!(Dims(diagonals.dims().at, outer) == Dims(right.dims().at, outer)) ||
      diagonals.dim(outer) != 3 || diagonals.dim(outer + 1) != n)
    return fail("there are % diagonals of % numbers for % rows, or other batches",
                diagonals.dim(outer), diagonals.dim(outer + 1), n);
  char *out = make(0, right.dtype(), right.dims());
  if (!out || right.count() == 0)
    return;
  const double *a = numbersOf<double>(*this, diagonals), *b = numbersOf<double>(*this, right);
  double *x = scratch<double>(n * columns), *work = scratch<double>(3 * n);
  if (!a || !b || !x || !work)
    return;
  const int64_t count = right.dims().product(0, outer);
  for (int64_t at = 0; at < count; ++at) {
    copyBytes(x, b + at * n * columns, n * columns * int64_t(sizeof(double)));
    if (!solveTridiagonal(a + at * 3 * n, x, work, n, columns, pivots))
      fillNan(x, n * columns);
    store(*this, right.dtype(), out, at * n * columns, x, n * columns);
  }
}

} // namespace atc::kernels
