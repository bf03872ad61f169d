//===-- Widen.h - computes small floats in float --------------------------===//
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

/// Runs body(begin, end) over [0, count), on several threads where that pays. `cost` is the
/// approximate number of operations per step.
template <typename Body> void parallelIf(Context &c, int64_t count, int64_t cost, Body &&body) {
  int64_t work;
  if (!__builtin_mul_overflow(count, cost, &work) && work < 20000)
    body(int64_t(0), count);
  else
    c.parallel(count, body);
}

/// Runs body(begin, end) over parts of [0, count), elements that cost one operation each, on
/// several threads where that pays.
template <typename Body> void forParts(Context &c, int64_t count, Body &&body) {
  constexpr int64_t part = 4096;
  parallelIf(c, ceilDiv(count, part), part,
             [&](int64_t begin, int64_t end) { body(begin * part, minimum(end * part, count)); });
}

/// Returns the product of the sizes of a working space, in elements; fails the call and returns -1
/// where it exceeds 2^44. A size of 0 counts as 1 there: the product of any of the sizes has that
/// limit.
template <typename... Ints> int64_t spaceFor(Context &c, Ints... sizes) {
  int64_t result = 1, limited = 1;
  bool fits = true;
  ((result *= sizes > 0, fits &= sizes >= 0,
    fits &= !__builtin_mul_overflow(limited, sizes > 0 ? int64_t(sizes) : 1, &limited)),
   ...);
  if (fits && limited < int64_t(1) << 44)
    return result * limited;
  c.fail("the working space is too large");
  return -1;
}

/// Converts `count` elements.
template <typename To, typename From>
void convert(Context &c, To *to, const From *from, int64_t count) {
  parallelIf(c, count, 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      to[i] = To(Compute<To>(Compute<From>(from[i])));
  });
}

/// Returns the elements in the type in which they are computed: themselves, or a converted copy in
/// scratch memory. Null where memory could not be allocated.
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
/// Returns those of a tensor; not null for an empty one.
template <typename T> const Compute<T> *widen(Context &c, Tensor tensor) {
  if (!tensor)
    return nullptr;
  const int64_t count = tensor.count();
  return count ? widen(c, tensor.as<T>(), count)
               : reinterpret_cast<const Compute<T> *>(tensor.get());
}

/// The result of a kernel in the type in which it is computed.
template <typename T> struct WideResult {
  Compute<T> *data; ///< null where memory could not be allocated
  T *out;
  int64_t count;
  WideResult(Context &c, void *result, int64_t count)
      : out(static_cast<T *>(result)), count(count) {
    if constexpr (__is_same(T, Compute<T>))
      data = out;
    else
      data = c.scratch<Compute<T>>(maximum(count, int64_t(1)));
  }
  /// Converts the result to the output's type.
  void store(Context &c) {
    if constexpr (!__is_same(T, Compute<T>))
      convert(c, out, data, count);
  }
};

/// Calls compute(y, operands...) on operands of type T and stores y where it returns true. The
/// pointer of an omitted operand is null.
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
/// Calls computeWide for any float type, that of the first operand; fails the call for other types.
template <typename Fn, typename... Operands>
void computeFloats(Context &c, void *out, int64_t count, Fn &&compute, Tensor first,
                   Operands... others) {
  if (!dispatchFloats(first.dtype(), [&](auto type) {
        computeWide<typename decltype(type)::Type>(c, out, count, compute, first, others...);
      }))
    c.failType(first.dtype());
}

/// Returns the elements of any real tensor as floats or doubles (F). Null where memory could not be
/// allocated.
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
