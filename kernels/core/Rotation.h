//===-- Rotation.h - the rotations of Jacobi's method ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_ROTATION_H
#define OPENATC_KERNELS_CORE_ROTATION_H

#include "kernels/core/Math.h"

namespace atc::kernels {

/// Convergence is quadratic; as many sweeps are far more than any matrix needs.
inline constexpr int kJacobiSweeps = 60;

/// Turns two vectors towards each other.
struct Rotation {
  double cosine, sine;

  /// Returns the rotation that makes the symmetric matrix [[xx, xy], [xy, yy]] diagonal; xy is not
  /// 0.
  static Rotation ofProducts(double xx, double xy, double yy) {
    const double angle = (yy - xx) / (2 * xy);
    const double tangent =
        (angle < 0 ? -1 : 1) / (math::abs(angle) + math::sqrt(1 + angle * angle));
    const double cosine = 1 / math::sqrt(1 + tangent * tangent);
    return {cosine, cosine * tangent};
  }

  /// Turns x and y, whose elements are `step` apart.
  void turn(double *x, double *y, int64_t count, int64_t step = 1) const {
    for (int64_t i = 0; i < count; ++i) {
      const double p = x[i * step], q = y[i * step];
      x[i * step] = cosine * p - sine * q;
      y[i * step] = sine * p + cosine * q;
    }
  }
};

/// Makes the symmetric matrix a [n, n] diagonal by Jacobi rotations; the columns of v [n, n] become
/// its eigenvectors.
inline void diagonalize(double *a, double *v, int64_t n) {
  bool isFinite = true;
  for (int64_t i = 0; i < n * n; ++i) {
    v[i] = i / n == i % n;
    isFinite &= math::abs(a[i]) < __builtin_inf();
  }
  // Rotations would go on for ever, and nothing of the result is a number.
  for (int64_t i = 0; !isFinite && i < n * n; ++i)
    a[i] = v[i] = __builtin_nan("");
  if (!isFinite)
    return;
  for (int round = 0; round < kJacobiSweeps; ++round) {
    bool done = true;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) {
        const double off = a[i * n + j];
        // Products of numbers whose squares are too large may have become NaN, and stay so.
        if (!(math::abs(off) > 1e-16 * (math::abs(a[i * n + i]) + math::abs(a[j * n + j]))))
          continue;
        done = false;
        const Rotation rotation = Rotation::ofProducts(a[i * n + i], off, a[j * n + j]);
        rotation.turn(a + i * n, a + j * n, n);
        rotation.turn(a + i, a + j, n, n);
        rotation.turn(v + i, v + j, n, n);
        a[i * n + j] = a[j * n + i] = 0;
      }
    if (done)
      return;
  }
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_ROTATION_H
