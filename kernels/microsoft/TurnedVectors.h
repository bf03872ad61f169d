//===-- TurnedVectors.h - vectors of heads, normalized and rotated --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_MICROSOFT_TURNEDVECTORS_H
#define OPENATC_KERNELS_MICROSOFT_TURNEDVECTORS_H

#include "kernels/core/Math.h"
#include "kernels/core/Support.h"

namespace atc::kernels {

/// Rotates pairs of one vector, which lie side by side or half of the rotated elements apart.
inline void rotate(float *to, const float *x, int64_t size, int64_t rotated, bool interleaved,
                   const float *cosines, const float *sines) {
  const int64_t half = rotated / 2;
  // The pairs of whole vectors are independent: without knowing that the tables do not overlap the
  // result, the compiler would compute them one by one.
  typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));
  auto load = [](const float *from) { return *reinterpret_cast<const Eight *>(from); };
  int64_t i = 0;
  for (; !interleaved && i + 8 <= half; i += 8) {
    const Eight a = load(x + i), b = load(x + half + i), c = load(cosines + i), s = load(sines + i);
    *reinterpret_cast<Eight *>(to + i) = a * c - b * s;
    *reinterpret_cast<Eight *>(to + half + i) = b * c + a * s;
  }
  for (; i < half; ++i) {
    const int64_t first = interleaved ? 2 * i : i, second = interleaved ? 2 * i + 1 : i + half;
    const float a = x[first], b = x[second];
    to[first] = a * cosines[i] - b * sines[i];
    to[second] = b * cosines[i] + a * sines[i];
  }
  copyBytes(to + rotated, x + rotated, (size - rotated) * 4);
}

/// The RMS normalization of vectors before their rotation.
struct VectorNorm {
  const float *scale = nullptr; ///< null: there is none
  float epsilon = 0;

  /// Writes the normalized vector.
  void apply(float *to, const float *x, int64_t size) const {
    float sum = 0;
    for (int64_t i = 0; i < size; ++i)
      sum += x[i] * x[i];
    const float factor = 1 / math::sqrt(sum / float(size) + epsilon);
    for (int64_t i = 0; i < size; ++i)
      to[i] = x[i] * factor * scale[i];
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_MICROSOFT_TURNEDVECTORS_H
