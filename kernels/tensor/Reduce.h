//===-- Reduce.h - reductions over axes -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_TENSOR_REDUCE_H
#define OPENATC_KERNELS_TENSOR_REDUCE_H

#include "kernels/core/VectorMath.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

/// A reduction over some dims; adjacent dims of the same kind are merged.
struct ReducePlan {
  Dims result;              ///< dims of the output
  Dims kept, keptStep;      ///< without an innermost kept dim that is contiguous
  Dims reduced, reduceStep; ///< without an innermost reduced dim that is contiguous
  int64_t inner = 1;        ///< the innermost dim
  bool innerReduced = false;
  int64_t count = 1; ///< elements per result

  /// Computes the plan for `dims`; reduce[d] says whether dim d is reduced, `keep` whether it stays
  /// as 1.
  void find(const Dims &dims, const bool *reduce, bool keep) {
    const Dims strides = stridesOf(dims);
    int last = -1; // 0 kept, 1 reduced
    Dims sizes, steps;
    bool kind[host::kMaxRank];
    for (int64_t d = 0; d < dims.rank; ++d) {
      if (!reduce[d] || keep)
        result.push(reduce[d] ? 1 : dims[d]);
      if (reduce[d])
        count *= dims[d];
      if (dims[d] == 1)
        continue;
      if (last == int(reduce[d])) {
        sizes[sizes.rank - 1] *= dims[d];
        steps[steps.rank - 1] = strides[d];
        continue;
      }
      last = reduce[d];
      kind[sizes.rank] = last;
      sizes.push(dims[d]);
      steps.push(strides[d]);
    }
    for (int64_t d = 0; d < sizes.rank; ++d) {
      if (d + 1 == sizes.rank) {
        inner = sizes[d];
        innerReduced = kind[d];
      } else {
        (kind[d] ? reduced : kept).push(sizes[d]);
        (kind[d] ? reduceStep : keptStep).push(steps[d]);
      }
    }
  }
};

/// Returns the offset of flat index `index` of `dims` under the strides `steps`.
inline int64_t offsetOf(const Dims &dims, const Dims &steps, int64_t index) {
  int64_t offset = 0;
  for (int64_t d = int64_t(dims.rank) - 1; d > 0; index /= dims[d], --d)
    offset += index % dims[d] * steps[d];
  return dims.rank ? offset + index * steps[0] : 0;
}

/// Returns the reduction of the rows that start at `from`; `lanes` results of parts are joined.
template <typename Op, int64_t lanes, typename A, typename T>
A reduceRows(const T *from, const ReducePlan &p, A shift) {
  A sums[lanes];
  for (int64_t l = 0; l < lanes; ++l)
    sums[l] = Op::template start<A>();
  for (int64_t s = 0, steps = p.reduced.product(); s < steps; ++s) {
    const T *row = from + offsetOf(p.reduced, p.reduceStep, s);
    // All places of a copy are constants, so that it is in registers until the row ends.
    A own[lanes];
    for (int64_t l = 0; l < lanes; ++l)
      own[l] = sums[l];
    int64_t j = 0;
    for (; j + lanes <= p.inner; j += lanes)
      for (int64_t l = 0; l < lanes; ++l)
        own[l] = Op::step(own[l], A(row[j + l]), shift);
    for (int64_t l = 0; l < lanes; ++l)
      sums[l] = own[l];
    for (; j < p.inner; ++j)
      sums[j % lanes] = Op::step(sums[j % lanes], A(row[j]), shift);
  }
  for (int64_t half = lanes / 2; half; half /= 2)
    for (int64_t l = 0; l < half; ++l)
      sums[l] = Op::join(sums[l], sums[l + half]);
  return sums[0];
}

/// Computes y as the reduction of x: step(accumulator, element, shift) from Op::start on, with
/// lanes joined by join(a, b). `shift` has one value per result, or is null.
template <typename Op, typename A, typename T>
void reduce(Context &c, A *y, const T *x, const ReducePlan &p, const A *shift) {
  const int64_t outer = p.kept.product(), steps = p.reduced.product();
  if (p.innerReduced) {
    parallelIf(c, outer, steps * p.inner, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T *from = x + offsetOf(p.kept, p.keptStep, i);
        const A by = shift ? shift[i] : A(0);
        // The sums of long rows do not wait for each other.
        y[i] = p.inner >= 256 ? reduceRows<Op, 32>(from, p, by) : reduceRows<Op, 16>(from, p, by);
      }
    });
    return;
  }
  // The rows are results; chunks of long rows are tasks of their own.
  const int64_t part = 512, parts = maximum(int64_t(1), ceilDiv(p.inner, part));
  parallelIf(c, outer * parts, steps * minimum(p.inner, part), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t i = task / parts, first = task % parts * part;
      const int64_t width = minimum(part, p.inner - first);
      A *to = y + i * p.inner + first;
      const A *by = shift ? shift + i * p.inner + first : nullptr;
      const T *from = x + offsetOf(p.kept, p.keptStep, i) + first;
      for (int64_t j = 0; j < width; ++j)
        to[j] = Op::template start<A>();
      for (int64_t s = 0; s < steps; ++s) {
        const T *row = from + offsetOf(p.reduced, p.reduceStep, s);
        if (by)
          for (int64_t j = 0; j < width; ++j)
            to[j] = Op::step(to[j], A(row[j]), by[j]);
        else
          for (int64_t j = 0; j < width; ++j)
            to[j] = Op::step(to[j], A(row[j]), A(0));
      }
    }
  });
}

namespace reduction {
struct Sum {
  /// Return the accumulator before the first element, after one more element `x`, and of two parts.
  template <typename A> static A start() { return A(0); }
  template <typename A> static A step(A sum, A x, A) { return wrapping::add(sum, x); }
  template <typename A> static A join(A a, A b) { return wrapping::add(a, b); }
};
struct Absolute : Sum {
  /// Adds the magnitude of `x`.
  template <typename A> static A step(A sum, A x, A) { return wrapping::add(sum, fast::abs(x)); }
};
struct Square : Sum {
  /// Adds the square of `x`.
  template <typename A> static A step(A sum, A x, A) {
    return wrapping::add(sum, wrapping::multiply(x, x));
  }
};
struct Deviation : Sum {
  /// Adds the square of the distance from the mean.
  template <typename A> static A step(A sum, A x, A mean) { return sum + (x - mean) * (x - mean); }
};
struct Exp : Sum {
  /// Adds e^(x - max), which does not overflow.
  template <typename A> static A step(A sum, A x, A max) { return sum + fast::exp(x - max); }
};
struct Product {
  /// Return the accumulator before the first element, after one more element `x`, and of two parts.
  template <typename A> static A start() { return A(1); }
  template <typename A> static A step(A product, A x, A) { return wrapping::multiply(product, x); }
  template <typename A> static A join(A a, A b) { return wrapping::multiply(a, b); }
};
/// NaN is propagated.
struct Max {
  /// Return the accumulator before the first element, after one more element `x`, and of two parts.
  template <typename A> static A start() { return lowest<A>(); }
  template <typename A> static A step(A max, A x, A) { return join(max, x); }
  template <typename A> static A join(A a, A b) { return maxOrNan(a, b); }
};
struct Min {
  /// Return the accumulator before the first element, after one more element `x`, and of two parts.
  template <typename A> static A start() { return highest<A>(); }
  template <typename A> static A step(A min, A x, A) { return join(min, x); }
  template <typename A> static A join(A a, A b) { return minOrNan(a, b); }
};
} // namespace reduction

} // namespace atc::kernels

#endif // OPENATC_KERNELS_TENSOR_REDUCE_H
