//===-- ArgMaxTopKCumSum.cpp - the largest elements, and where they are ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/GeneratedCode.h"
#include "kernels/core/Math.h"
#include "kernels/core/Sort.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

namespace {
/// The numbers of elements before, along, and behind an axis.
struct AxisLanes {
  int64_t outer, size, inner;
  AxisLanes(const Dims &dims, int64_t axis)
      : outer(dims.product(0, uint32_t(axis))), size(dims[axis]),
        inner(dims.product(uint32_t(axis) + 1, dims.rank)) {}
  int64_t count() const { return outer * inner; }
  /// The first element of a lane, where each has `length` elements.
  int64_t start(int64_t lane, int64_t length) const {
    return lane / inner * length * inner + lane % inner;
  }
};

/// Computes the index of the maximum (or minimum) of every lane. NaN counts as the maximum.
template <bool largest> void argument(Context &c) {
  const Tensor data = c.in(0);
  const int64_t axis = normalizeAxis(c, c.integer("axis", 0), data.rank());
  if (axis < 0)
    return;
  const bool keepDim = c.integer("keepdims", 1) != 0, last = c.integer("select_last_index", 0) != 0;
  Dims shape;
  for (uint32_t d = 0; d < data.rank(); ++d)
    if (d != axis || keepDim)
      shape.push(d == axis ? 1 : data.dim(d));
  int64_t *out = c.make<int64_t>(0, I64, shape);
  if (!out)
    return;
  const AxisLanes lanes(data.dims(), axis);
  if (lanes.count() == 0)
    return;
  if (lanes.size == 0)
    return c.fail("axis % is empty: it has no largest or least element", axis);
  if (!dispatchNumbers(data.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        using N = Compute<T>;
        const T *from = data.as<T>();
        parallelIf(c, lanes.count(), lanes.size, [&](int64_t begin, int64_t end) {
          for (int64_t lane = begin; lane < end; ++lane) {
            const T *at = from + lanes.start(lane, lanes.size);
            N best = at[0];
            int64_t found = 0;
            for (int64_t i = 1; i < lanes.size; ++i) {
              const N x = at[i * lanes.inner];
              if ((largest ? x > best : x < best) || (isNan(x) && !isNan(best)) ||
                  (last && (x == best || isNan(x)))) {
                best = x;
                found = i;
              }
            }
            out[lane] = found;
          }
        });
      }))
    c.failType(data.dtype());
}
} // namespace

ATC_KERNEL(ArgMax) { argument<true>(*this); }
ATC_KERNEL(ArgMin) { argument<false>(*this); }

namespace {
/// The results of TopK.
struct TopResults {
  char *values = nullptr;
  int64_t *indices = nullptr;
};

/// Returns whether `count` elements are all at most (`largest`) or at least `bound`.
template <int64_t count, typename T, typename N>
bool areBehind(const T *elements, N bound, bool largest) {
  uint32_t behind = 1;
  for (int64_t i = 0; i < count; ++i)
    behind &= largest ? N(elements[i]) <= bound : N(elements[i]) >= bound;
  return behind;
}

/// Makes the results of TopK along a valid axis. Returns false where the kernel must return.
bool makeTop(Context &c, int64_t axis, int64_t k, TopResults &results) {
  const Tensor data = c.in(0);
  Dims shape = data.dims();
  shape[axis] = k;
  if (c.wants(0) && !(results.values = c.make(0, data.dtype(), shape)))
    return false;
  return !c.wants(1) || (results.indices = c.make<int64_t>(1, I64, shape));
}
} // namespace

ATC_KERNEL_OF_CODE(TopK) {
  const Tensor data = in(0), wanted = in(1);
  if (!wanted.known())
    return;
  const int64_t axis = normalizeAxis(*this, integer("axis", -1), data.rank());
  if (axis < 0)
    return;
  if (wanted.count() != 1)
    return fail("k has % elements, not one", wanted.count());
  const int64_t k = integerAt(wanted, 0);
  if (k < 0 || k > data.dim(axis))
    return fail("% elements are wanted of a dim of %", k, data.dim(axis));
  if (k <= kMaxTop && hasFittingCode(*this))
    return runGenerated(*this, [](Context &c) {
      TopResults results;
      const int64_t rank = c.in(0).rank(), given = c.integer("axis", -1);
      makeTop(c, given < 0 ? given + rank : given, integerAt(c.in(1), 0), results);
    });
  TopResults results;
  if (!makeTop(*this, axis, k, results))
    return;
  int64_t *indices = results.indices;
  const AxisLanes lanes(data.dims(), axis);
  const int64_t count = lanes.count();
  int64_t *found = scratch<int64_t>(maximum(count * k, int64_t(1)));
  if (!found)
    return;
  const bool largest = integer("largest", 1) != 0;
  if (!dispatchNumbers(data.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        using N = Compute<T>;
        const T *from = data.as<T>();
        T *to = reinterpret_cast<T *>(results.values);
        parallelIf(*this, count, lanes.size * 8, [&](int64_t begin, int64_t end) {
          for (int64_t lane = begin; lane < end; ++lane) {
            const T *at = from + lanes.start(lane, lanes.size);
            int64_t *heap = found + lane * k;
            // Equal elements keep their order; NaN counts as the maximum.
            auto before = [&](int64_t i, int64_t j) {
              const N x = at[i * lanes.inner], y = at[j * lanes.inner];
              const bool above = x > y || (isNan(x) && !isNan(y)),
                         below = x < y || (isNan(y) && !isNan(x));
              return largest ? above || (!below && i < j) : below || (!above && i < j);
            };
            // Most elements are far behind the last one that was found; blocks of them are passed
            // at once. Comparisons with NaN do not hold, so that it is never passed.
            selectFirst(heap, k, lanes.size, before, [&](int64_t i, int64_t last) {
              constexpr int64_t kBlock = 32;
              const N bound = at[last * lanes.inner];
              auto isBehind = [&](int64_t j) {
                const N x = at[j * lanes.inner];
                return largest ? x <= bound : x >= bound;
              };
              while (i < lanes.size) {
                bool all = lanes.inner == 1 && i % kBlock == 0 && i + kBlock <= lanes.size;
                all = all && areBehind<kBlock>(at + i, bound, largest);
                if (!all && !isBehind(i))
                  return i;
                i += all ? kBlock : 1;
              }
              return i;
            });
            const int64_t start = lanes.start(lane, k);
            for (int64_t i = 0; i < k; ++i) {
              if (to)
                to[start + i * lanes.inner] = at[heap[i] * lanes.inner];
              if (indices)
                indices[start + i * lanes.inner] = heap[i];
            }
          }
        });
      }))
    failType(data.dtype());
}

ATC_KERNEL(Hardmax) {
  const Tensor data = in(0);
  const int64_t axis = normalizeAxis(*this, integer("axis", -1), data.rank());
  if (axis < 0)
    return;
  char *out = make(0, data.dtype(), data.dims());
  if (!out)
    return;
  const AxisLanes lanes(data.dims(), axis);
  if (!dispatchFloats(data.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        using N = Compute<T>;
        const T *from = data.as<T>();
        T *to = reinterpret_cast<T *>(out);
        __builtin_memset(to, 0, uint64_t(data.count()) * sizeof(T));
        for (int64_t lane = 0; lanes.size && lane < lanes.count(); ++lane) {
          const int64_t start = lanes.start(lane, lanes.size);
          int64_t best = start;
          for (int64_t i = 1; i < lanes.size; ++i)
            if (N(from[start + i * lanes.inner]) > N(from[best]))
              best = start + i * lanes.inner;
          to[best] = T(1);
        }
      }))
    failType(data.dtype());
}

namespace {
/// Computes sums or products along an axis as `op(total, x)`, with the total of nothing in front.
template <typename Op> void cumulate(Context &c, float first, Op op) {
  const Tensor data = c.in(0), axisInput = c.in(1);
  char *out = c.make(0, data.dtype(), data.dims());
  if (!out)
    return;
  if (axisInput.count() != 1)
    return c.fail("the axis has % elements, not one", axisInput.count());
  const int64_t axis = normalizeAxis(c, integerAt(axisInput, 0), data.rank());
  if (axis < 0)
    return;
  const bool exclusive = c.integer("exclusive", 0) != 0, reverse = c.integer("reverse", 0) != 0;
  const AxisLanes lanes(data.dims(), axis);
  if (!dispatchNumbers(data.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        using N = Compute<T>;
        const T *from = data.as<T>();
        T *to = reinterpret_cast<T *>(out);
        if (lanes.inner == 1)
          return parallelIf(c, lanes.outer, lanes.size, [&](int64_t begin, int64_t end) {
            for (int64_t lane = begin; lane < end; ++lane) {
              const int64_t step = reverse ? -1 : 1;
              int64_t at = lane * lanes.size + (reverse ? lanes.size - 1 : 0);
              N total = N(first);
              for (int64_t i = 0; i < lanes.size; ++i, at += step) {
                const N next = op(total, N(from[at]));
                to[at] = T(exclusive ? total : next);
                total = next;
              }
            }
          });
        // Neighbouring lanes together: they are next to each other in memory.
        constexpr int64_t kGroup = 64;
        const int64_t groups = ceilDiv(lanes.inner, kGroup);
        parallelIf(c, lanes.outer * groups, lanes.size * minimum(lanes.inner, kGroup),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t group = begin; group < end; ++group) {
                       const int64_t firstLane = group % groups * kGroup,
                                     width = minimum(kGroup, lanes.inner - firstLane);
                       const int64_t start = group / groups * lanes.size * lanes.inner + firstLane;
                       N totals[kGroup];
                       for (N &total : totals)
                         total = N(first);
                       for (int64_t i = 0; i < lanes.size; ++i) {
                         const int64_t at =
                             start + (reverse ? lanes.size - 1 - i : i) * lanes.inner;
                         for (int64_t lane = 0; lane < width; ++lane) {
                           const N next = op(totals[lane], N(from[at + lane]));
                           to[at + lane] = T(exclusive ? totals[lane] : next);
                           totals[lane] = next;
                         }
                       }
                     }
                   });
      }))
    c.failType(data.dtype());
}
} // namespace

ATC_KERNEL(CumSum) {
  cumulate(*this, 0, [](auto a, decltype(a) b) {
    if constexpr (__is_integral(decltype(a)))
      return decltype(a)(uint64_t(a) + uint64_t(b));
    else
      return a + b;
  });
}
/// The logarithm of the sum of the exponentials, which the larger one is taken out of.
ATC_KERNEL(CumLogSumExp) {
  if (!dispatchFloats(in(0).dtype(), [](auto) {}))
    return failType(in(0).dtype());
  cumulate(*this, -__builtin_inff(), [](auto a, decltype(a) b) {
    const double high = maxOrNan(double(a), double(b)), low = minOrNan(double(a), double(b));
    // Equal infinities have no difference.
    return decltype(a)(high == low ? high + 0.69314718055994530942
                                   : high + math::log1p(math::exp(low - high)));
  });
}
ATC_KERNEL(CumProd) {
  cumulate(*this, 1, [](auto a, decltype(a) b) {
    if constexpr (__is_integral(decltype(a)))
      return decltype(a)(uint64_t(a) * uint64_t(b));
    else
      return a * b;
  });
}

} // namespace atc::kernels
