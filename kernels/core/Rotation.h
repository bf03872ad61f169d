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

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_ROTATION_H
