//===-- Widen.h - small floats computed as floats -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with heavy arithmetic are written once for float and double. Tensors of
// f16 and bf16 are converted before and after:
//
//   auto compute = [&]<typename F>(F *y, const F *x, const F *w) { ...; return true; };
//   computeFloats(*this, out, count, compute, x, w);

#ifndef OPENATC_KERNELS_CORE_WIDEN_H
#define OPENATC_KERNELS_CORE_WIDEN_H

#include "kernels/core/Numbers.h"

namespace atc::kernels {

/// Runs body(begin, end) over [0, count), on several threads where that pays.
/// `cost` is about the operations of one step.
template <typename Body> void parallelIf(Context &c, int64_t count, int64_t cost, Body &&body) {
  int64_t work;
  if (!__builtin_mul_overflow(count, cost, &work) && work < 20000)
    body(int64_t(0), count);
  else
    c.parallel(count, body);
}

/// The product of sizes that working space is asked for with; -1 (and a failed call)
/// where that is more than there can be.
template <typename... Ints> int64_t spaceFor(Context &c, Ints... sizes) {
  int64_t result = 1;
  bool fits = true;
  ((fits &= !__builtin_mul_overflow(result, int64_t(sizes), &result)), ...);
  if (fits && result >= 0 && result < int64_t(1) << 44)
    return result;
  c.fail("the working space is too large");
  return -1;
}

template <typename To, typename From>
void convert(Context &c, To *to, const From *from, int64_t count) {
  parallelIf(c, count, 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      to[i] = To(Compute<To>(Compute<From>(from[i])));
  });
}

/// Elements as numbers to compute with: themselves, or a converted copy. Null when
/// there is no memory.
template <typename T> const Compute<T> *widen(Context &c, const T *elements, int64_t count) {
  if constexpr (__is_same(T, Compute<T>)) {
    return elements;
  } else {
    Compute<T> *copy = c.scratch<Compute<T>>(maximum(count, int64_t(1)));
    if (copy)
      convert(c, copy, elements, count);
    return copy;
  }
}
/// Those of a tensor; of an empty one not null.
template <typename T> const Compute<T> *widen(Context &c, Tensor tensor) {
  if (!tensor)
    return nullptr;
  const int64_t count = tensor.count();
  return count ? widen(c, tensor.as<T>(), count)
               : reinterpret_cast<const Compute<T> *>(tensor.get());
}

/// Where a kernel writes what `widen` reads.
template <typename T> struct WideResult {
  Compute<T> *data; ///< null when there is no memory
  T *out;
  int64_t count;
  WideResult(Context &c, void *result, int64_t count)
      : out(static_cast<T *>(result)), count(count) {
    if constexpr (__is_same(T, Compute<T>))
      data = out;
    else
      data = c.scratch<Compute<T>>(maximum(count, int64_t(1)));
  }
  void store(Context &c) {
    if constexpr (!__is_same(T, Compute<T>))
      convert(c, out, data, count);
  }
};

/// Stores what compute(y, operands...) makes of elements of type T, where that says that
/// it got through. Of an operand that was left out the pointer is null.
template <typename T, typename Fn, typename... Operands>
void computeWide(Context &c, void *out, int64_t count, Fn &&compute, Operands... operands) {
  WideResult<T> y(c, out, count);
  bool complete = y.data != nullptr;
  auto load = [&](Tensor operand) {
    const Compute<T> *elements = widen<T>(c, operand);
    complete &= elements || !operand;
    return elements;
  };
  auto run = [&](auto... elements) {
    if (complete && compute(y.data, elements...))
      y.store(c);
  };
  run(load(operands)...);
}
/// The same for all types of floats: that of the first operand.
template <typename Fn, typename... Operands>
void computeFloats(Context &c, void *out, int64_t count, Fn &&compute, Tensor first,
                   Operands... others) {
  if (!dispatchFloats(first.dtype(), [&](auto type) {
        computeWide<typename decltype(type)::Type>(c, out, count, compute, first, others...);
      }))
    c.failType(first.dtype());
}

/// Any real tensor as floats or doubles (F).
template <typename F> const F *numbersOf(Context &c, Tensor tensor) {
  const F *result = nullptr;
  auto copy = [&](auto type) {
    using T = typename decltype(type)::Type;
    if constexpr (__is_same(T, F)) {
      result = widen<T>(c, tensor);
    } else {
      F *to = c.scratch<F>(maximum(tensor.count(), int64_t(1)));
      if (to)
        convert(c, to, tensor.as<T>(), tensor.count());
      result = to;
    }
  };
  if (dispatchNumbers(tensor.dtype(), copy))
    return result;
  F *to = c.scratch<F>(maximum(tensor.count(), int64_t(1)));
  if (to)
    for (int64_t i = 0, count = tensor.count(); i < count; ++i)
      to[i] = F(numberAt(tensor, i));
  return to;
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_WIDEN_H
