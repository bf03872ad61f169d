//===-- Wrapping.h - arithmetic on elements of any type -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_WRAPPING_H
#define OPENATC_KERNELS_CORE_WRAPPING_H

#include <stdint.h>

/// Arithmetic in which integers wrap around, as in ONNX Runtime; floats are computed as usual.
namespace atc::kernels::wrapping {

template <typename T, int bytes = __is_integral(T) ? sizeof(T) : 0> struct Unsigned {
  using Type = uint32_t; // narrow ones would become int again
};
template <typename T> struct Unsigned<T, 8> {
  using Type = uint64_t;
};
template <typename T> struct Unsigned<T, 0> {
  using Type = T;
};
/// Compute modulo 2^bits on integers, and as usual on floats.
template <typename T> constexpr T add(T a, T b) {
  using U = typename Unsigned<T>::Type;
  return T(U(a) + U(b));
}
template <typename T> constexpr T subtract(T a, T b) {
  using U = typename Unsigned<T>::Type;
  return T(U(a) - U(b));
}
template <typename T> constexpr T multiply(T a, T b) {
  using U = typename Unsigned<T>::Type;
  return T(U(a) * U(b));
}

} // namespace atc::kernels::wrapping

#endif // OPENATC_KERNELS_CORE_WRAPPING_H
