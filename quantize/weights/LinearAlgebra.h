//===-- LinearAlgebra.h - factors of symmetric matrices -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_WEIGHTS_LINEARALGEBRA_H
#define OPENATC_QUANTIZE_WEIGHTS_LINEARALGEBRA_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace atc::quantize {

/// A square matrix, row-major.
struct SquareMatrix {
  explicit SquareMatrix(int64_t size) : size(size), values(size * size) {}
  int64_t size;
  std::vector<double> values;

  double *row(int64_t i) { return values.data() + i * size; }
  const double *row(int64_t i) const { return values.data() + i * size; }
};

/// Returns a symmetric matrix whose diagonal is increased by `damping` times its mean, so that it
/// has an inverse: where the mean is not positive, the identity is added.
SquareMatrix dampedMatrix(llvm::ArrayRef<float> symmetric, int64_t size, double damping);

/// Replaces a positive definite matrix by its lower factor L, L L^T, with zeros above. Returns
/// false where it is not positive definite.
bool factorize(SquareMatrix &matrix);

/// Solves L L^T x = b in place.
void solve(const SquareMatrix &lower, double *b);

/// Replaces a positive definite matrix by the upper factor U of its inverse, U^T U. Returns false
/// where it is not positive definite.
bool factorizeInverse(SquareMatrix &matrix);

/// The eigenvalues of a symmetric matrix, the largest first, and its eigenvectors as rows.
struct Eigen {
  std::vector<double> values;
  SquareMatrix vectors;
};

/// Returns the eigenvalues and eigenvectors of a symmetric matrix.
Eigen findEigen(SquareMatrix matrix);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_WEIGHTS_LINEARALGEBRA_H
