//===-- Broadcast.h - elementwise operations on shapes that broadcast -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_BROADCAST_H
#define OPENATC_KERNELS_CORE_BROADCAST_H

#include "kernels/core/Strided.h"

namespace atc::kernels {

/// Replaces `shape` by the shape to which `shape` and `other` broadcast. Returns false and fails
/// the call where they do not.
inline bool broadcastInto(Context &c, Dims &shape, const Dims &other) {
  const Dims from = shape;
  shape.rank = maximum(from.rank, other.rank);
#pragma clang loop vectorize(disable) unroll(disable)
  for (uint32_t i = 0; i < shape.rank; ++i) {
    const int64_t a = i < from.rank ? from[from.rank - 1 - i] : 1;
    const int64_t b = i < other.rank ? other[other.rank - 1 - i] : 1;
    if (a != b && a != 1 && b != 1) {
      c.fail("dims of % and % do not broadcast (counted from the last: dim %)", a, b, i + 1);
      return false;
    }
    shape[shape.rank - 1 - i] = a == 1 ? b : a;
  }
  return true;
}

/// Returns the strides, in elements, with which a tensor of `dims` is read over `shape` (0 in
/// broadcast dims).
inline Dims broadcastSteps(const Dims &dims, const Dims &shape) {
  const Dims strides = stridesOf(dims);
  Dims steps;
  const uint32_t extra = shape.rank - dims.rank;
#pragma clang loop vectorize(disable) unroll(disable)
  for (uint32_t i = 0; i < shape.rank; ++i)
    steps.push(i < extra || dims[i - extra] == 1 ? 0 : strides[i - extra]);
  return steps;
}

/// Returns the space in which two operands of dims `a` and `b` are read over `shape`.
inline StridedSpace broadcastSpace(const Dims &shape, const Dims &a, const Dims &b) {
  return StridedSpace(shape, broadcastSteps(a, shape), broadcastSteps(b, shape));
}

/// Computes out[i] = fn(a[i], b[i]) over the space; `out` is dense. `work` is the approximate
/// number of operations of `fn`.
template <typename A, typename B, typename R, typename Fn>
void mapPairs(Context &c, const StridedSpace &space, const A *a, const B *b, R *out, int64_t work,
              Fn fn) {
  const int64_t inner = space.inner(), stepA = space.innerStep(0), stepB = space.innerStep(1);
  space.forEachRow(c, work, [&, shared = fn](int64_t row, const int64_t *offsets) {
    // A copy on the stack, which stores of bytes cannot alias.
    const Fn fn = shared;
    const A *x = a + offsets[0];
    const B *y = b + offsets[1];
    R *to = out + row * inner;
    const int64_t n = space.length(row);
    if (stepA == 1 && stepB == 1) {
      for (int64_t i = 0; i < n; ++i)
        to[i] = fn(x[i], y[i]);
    } else if (stepA == 1 && stepB == 0) {
      const B right = *y;
      for (int64_t i = 0; i < n; ++i)
        to[i] = fn(x[i], right);
    } else if (stepA == 0 && stepB == 1) {
      const A left = *x;
      for (int64_t i = 0; i < n; ++i)
        to[i] = fn(left, y[i]);
    } else {
      for (int64_t i = 0; i < n; ++i)
        to[i] = fn(x[i * stepA], y[i * stepB]);
    }
  });
}

/// Makes output 0 of `dtype` with the shape to which inputs 0 and 1 broadcast; fails the call where
/// their element types differ. `fn(space, out)` computes the elements.
template <typename Fn> void broadcastPair(Context &c, uint8_t dtype, Fn &&fn) {
  const Tensor a = c.in(0), b = c.in(1);
  if (a.dtype() != b.dtype())
    return c.fail("the operands have element types % and %", a.dtype(), b.dtype());
  Dims shape = a.dims();
  if (!broadcastInto(c, shape, b.dims()))
    return;
  if (char *out = c.make(0, dtype, shape))
    fn(broadcastSpace(shape, a.dims(), b.dims()), out);
}

/// Computes output 0, with elements of type R, as fn(input 0, input 1) with elements of type T.
template <typename T, typename R, typename Fn>
void mapInputs(Context &c, const StridedSpace &space, void *out, int64_t work, Fn fn) {
  mapPairs(c, space, c.in(0).as<T>(), c.in(1).as<T>(), static_cast<R *>(out), work, fn);
}

/// Computes output 0, with elements of type R, as fn(element of input 0), of type T.
template <typename T, typename R, typename Fn>
void mapElements(Context &c, void *out, int64_t work, Fn fn) {
  const T *from = c.in(0).as<T>();
  R *to = static_cast<R *>(out);
  // Not inlined, so that the loop is compiled once, for one thread and for all.
  parallelIf(c, c.in(0).count(), work, [&](int64_t begin, int64_t end) __attribute__((noinline)) {
    // On the stack, which stores of bytes cannot alias.
    const T *const source = from;
    R *const target = to;
    for (int64_t i = begin; i < end; ++i)
      target[i] = fn(source[i]);
  });
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_BROADCAST_H
