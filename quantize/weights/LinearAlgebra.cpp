//===-- LinearAlgebra.cpp - factors of symmetric matrices -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/weights/LinearAlgebra.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace atc::quantize {

/// Returns the sum of products, in lanes that a CPU adds at once.
static double dot(const double *a, const double *b, int64_t count) {
  constexpr int kLanes = 8;
  double sums[kLanes] = {};
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes)
    for (int lane = 0; lane < kLanes; ++lane)
      sums[lane] += a[k + lane] * b[k + lane];
  for (; k < count; ++k)
    sums[0] += a[k] * b[k];
  double sum = 0;
  for (double lane : sums)
    sum += lane;
  return sum;
}

SquareMatrix dampedMatrix(llvm::ArrayRef<float> symmetric, int64_t size, double damping) {
  SquareMatrix matrix(size);
  std::copy(symmetric.begin(), symmetric.end(), matrix.values.begin());
  double mean = 0;
  for (int64_t i = 0; i < size; ++i)
    mean += matrix.row(i)[i] / static_cast<double>(size);
  for (int64_t i = 0; i < size; ++i)
    matrix.row(i)[i] += mean > 0 ? damping * mean : 1;
  return matrix;
}

bool factorize(SquareMatrix &matrix) {
  const int64_t n = matrix.size;
  for (int64_t i = 0; i < n; ++i) {
    double *row = matrix.row(i);
    for (int64_t j = 0; j <= i; ++j) {
      const double *other = matrix.row(j);
      const double sum = row[j] - dot(row, other, j);
      if (i > j)
        row[j] = sum / other[j];
      else if (sum > 0 && std::isfinite(sum))
        row[i] = std::sqrt(sum);
      else
        return false;
    }
    std::fill(row + i + 1, row + n, 0.0);
  }
  return true;
}

void solve(const SquareMatrix &lower, double *b) {
  const int64_t n = lower.size;
  for (int64_t i = 0; i < n; ++i) {
    const double *row = lower.row(i);
    b[i] = (b[i] - dot(row, b, i)) / row[i];
  }
  for (int64_t i = n; i-- > 0;) {
    const double *row = lower.row(i);
    b[i] /= row[i];
    for (int64_t k = 0; k < i; ++k)
      b[k] -= row[k] * b[i];
  }
}

bool factorizeInverse(SquareMatrix &matrix) {
  // Reversed in both dims, the lower factor of the reversed matrix is an upper one of the matrix:
  // A = R R^T. Its inverse is U.
  const int64_t n = matrix.size;
  std::reverse(matrix.values.begin(), matrix.values.end());
  if (!factorize(matrix))
    return false;
  SquareMatrix inverse(n);
  for (int64_t i = 0; i < n; ++i) {
    double *to = inverse.row(i);
    const double *row = matrix.row(i);
    for (int64_t k = 0; k < i; ++k) {
      const double *from = inverse.row(k);
      for (int64_t j = 0; j <= k; ++j)
        to[j] -= row[k] * from[j];
    }
    to[i] = 1;
    for (int64_t j = 0; j <= i; ++j)
      to[j] /= row[i];
  }
  matrix.values = std::move(inverse.values);
  std::reverse(matrix.values.begin(), matrix.values.end());
  return true;
}

namespace {

/// Reduces a symmetric matrix to tridiagonal form by reflections, which it collects in the matrix.
void reduce(SquareMatrix &a, std::vector<double> &diagonal, std::vector<double> &side) {
  const int64_t n = a.size;
  for (int64_t i = n - 1; i > 0; --i) {
    double *row = a.row(i);
    double scale = 0, h = 0;
    for (int64_t k = 0; k < i; ++k)
      scale += std::fabs(row[k]);
    if (i == 1 || scale == 0) {
      side[i] = row[i - 1];
      diagonal[i] = 0;
      continue;
    }
    for (int64_t k = 0; k < i; ++k) {
      row[k] /= scale;
      h += row[k] * row[k];
    }
    const double f = row[i - 1], g = f >= 0 ? -std::sqrt(h) : std::sqrt(h);
    side[i] = scale * g;
    h -= f * g;
    row[i - 1] = f - g;
    // The product of the rest, of which only the lower triangle is kept, with the reflector.
    std::fill(side.begin(), side.begin() + i, 0.0);
    for (int64_t j = 0; j < i; ++j) {
      const double *other = a.row(j);
      double sum = other[j] * row[j];
      for (int64_t k = 0; k < j; ++k) {
        sum += other[k] * row[k];
        side[k] += other[k] * row[j];
      }
      side[j] += sum;
    }
    double product = 0;
    for (int64_t j = 0; j < i; ++j) {
      side[j] /= h;
      product += side[j] * row[j];
    }
    for (int64_t j = 0; j < i; ++j) {
      side[j] -= product / (h + h) * row[j];
      double *other = a.row(j);
      for (int64_t k = 0; k <= j; ++k)
        other[k] -= row[j] * side[k] + side[j] * row[k];
    }
    diagonal[i] = h;
  }
  side[0] = diagonal[0] = 0;
  // The product of the reflections.
  std::vector<double> sums(n);
  for (int64_t i = 0; i < n; ++i) {
    double *row = a.row(i);
    if (diagonal[i] != 0) {
      std::fill(sums.begin(), sums.begin() + i, 0.0);
      for (int64_t k = 0; k < i; ++k) {
        const double *other = a.row(k);
        for (int64_t j = 0; j < i; ++j)
          sums[j] += row[k] * other[j];
      }
      for (int64_t k = 0; k < i; ++k) {
        double *other = a.row(k);
        const double factor = row[k] / diagonal[i];
        for (int64_t j = 0; j < i; ++j)
          other[j] -= factor * sums[j];
      }
    }
    diagonal[i] = row[i];
    row[i] = 1;
    for (int64_t j = 0; j < i; ++j)
      row[j] = a.row(j)[i] = 0;
  }
}

/// Diagonalizes a tridiagonal matrix by implicit shifts; `vectors` has the basis as rows.
void diagonalize(std::vector<double> &diagonal, std::vector<double> &side, SquareMatrix &vectors) {
  const int64_t n = vectors.size;
  for (int64_t i = 1; i < n; ++i)
    side[i - 1] = side[i];
  side[n - 1] = 0;
  for (int64_t first = 0; first < n; ++first)
    for (int round = 0; round < 60; ++round) {
      int64_t last = first;
      for (; last < n - 1; ++last) {
        const double size = std::fabs(diagonal[last]) + std::fabs(diagonal[last + 1]);
        if (std::fabs(side[last]) <= std::numeric_limits<double>::epsilon() * size)
          break;
      }
      if (last == first)
        break;
      double g = (diagonal[first + 1] - diagonal[first]) / (2 * side[first]);
      double r = std::hypot(g, 1.0);
      g = diagonal[last] - diagonal[first] + side[first] / (g + std::copysign(r, g));
      double sine = 1, cosine = 1, p = 0;
      int64_t i = last - 1;
      for (; i >= first; --i) {
        const double f = sine * side[i], b = cosine * side[i];
        r = std::hypot(f, g);
        side[i + 1] = r;
        if (r == 0) {
          diagonal[i + 1] -= p;
          side[last] = 0;
          break;
        }
        sine = f / r;
        cosine = g / r;
        g = diagonal[i + 1] - p;
        r = (diagonal[i] - g) * sine + 2 * cosine * b;
        p = sine * r;
        diagonal[i + 1] = g + p;
        g = cosine * r - b;
        double *upper = vectors.row(i + 1), *lower = vectors.row(i);
        for (int64_t k = 0; k < n; ++k) {
          const double value = upper[k];
          upper[k] = sine * lower[k] + cosine * value;
          lower[k] = cosine * lower[k] - sine * value;
        }
      }
      if (r == 0 && i >= first)
        continue;
      diagonal[first] -= p;
      side[first] = g;
      side[last] = 0;
    }
}

} // namespace

Eigen findEigen(SquareMatrix matrix) {
  const int64_t n = matrix.size;
  std::vector<double> diagonal(n), side(n);
  if (n)
    reduce(matrix, diagonal, side);
  SquareMatrix basis(n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      basis.row(j)[i] = matrix.row(i)[j];
  if (n)
    diagonalize(diagonal, side, basis);
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return diagonal[a] > diagonal[b]; });
  Eigen result{{}, SquareMatrix(n)};
  for (int64_t i = 0; i < n; ++i) {
    result.values.push_back(diagonal[order[i]]);
    std::copy(basis.row(order[i]), basis.row(order[i]) + n, result.vectors.row(i));
  }
  return result;
}

} // namespace atc::quantize
