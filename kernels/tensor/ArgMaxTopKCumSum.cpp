//===-- ArgMaxTopKCumSum.cpp - the largest elements, and where they are ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Math.h"
#include "kernels/core/Sort.h"
#include "kernels/core/TransposeSquare.h"
#include "kernels/core/Widen.h"
#include "kernels/tensor/TopKeys.h"

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

/// The most elements of a lane whose numbers and indices are one integer.
constexpr int64_t kMaxKeyed = int64_t(1) << 32;

/// Returns the index of the maximum (or minimum) of neighbours, or of a NaN; of equal ones the
/// first (or last). Elements and their indices are combined, so that the greatest integer is the
/// result.
template <bool largest, bool last, typename T> int64_t indexOf(const T *elements, int64_t count) {
  using N = Compute<T>;
  uint64_t max = 0;
  for (int64_t i = 0; i < count; ++i) {
    const N x = elements[i];
    const uint32_t order = orderOf(x);
    const uint64_t high = largest || isNan(x) ? order : ~order;
    max = maximum(max, high << 32 | (last ? uint32_t(i) : ~uint32_t(i)));
  }
  return last ? uint32_t(max) : uint32_t(~uint32_t(max));
}

/// Returns the index of the maximum (or minimum) of a lane of at least one element, or of a NaN;
/// of equal ones the first (or last).
template <bool largest, typename T>
int64_t indexInLane(const T *at, const AxisLanes &lanes, bool last) {
  using N = Compute<T>;
  if constexpr (sizeof(T) <= sizeof(uint32_t))
    if (lanes.inner == 1 && lanes.size <= kMaxKeyed)
      return last ? indexOf<largest, true>(at, lanes.size)
                  : indexOf<largest, false>(at, lanes.size);
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
  return found;
}

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
        const T *from = data.as<T>();
        parallelIf(c, lanes.count(), lanes.size, [&](int64_t begin, int64_t end) {
          for (int64_t lane = begin; lane < end; ++lane)
            out[lane] = indexInLane<largest>(from + lanes.start(lane, lanes.size), lanes, last);
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

/// The parameters of a call of TopK.
struct TopPlan {
  AxisLanes lanes;
  int64_t k;
  bool largest;
  TopResults results;

  template <typename T> void store(const T *from, int64_t lane, int64_t i, int64_t found) const {
    const int64_t to = lanes.start(lane, k) + i * lanes.inner;
    if (results.values)
      reinterpret_cast<T *>(results.values)[to] =
          from[lanes.start(lane, lanes.size) + found * lanes.inner];
    if (results.indices)
      results.indices[to] = found;
  }
};

/// Finds the first elements as the greatest keys.
template <typename T, bool largest>
void findByKeys(Context &c, const TopPlan &plan, const T *from) {
  const AxisLanes &lanes = plan.lanes;
  const T *rows = from;
  if (lanes.inner > 1) {
    T *turned = c.scratch<T>(lanes.count() * lanes.size);
    if (!turned)
      return;
    parallelIf(c, lanes.outer, lanes.inner * lanes.size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * lanes.size * lanes.inner; begin < end;
           ++begin, i += lanes.size * lanes.inner)
        transposeRows(turned + i, lanes.size, from + i, lanes.inner, lanes.size, lanes.inner);
    });
    rows = turned;
  }
  // Lanes that are found one after the other share their keys.
  constexpr int64_t kMaxGroups = 16;
  using Keys = TopKeys<T, largest>;
  const int64_t count = lanes.count(), groups = minimum(count, kMaxGroups),
                room = Keys::roomOf(plan.k, lanes.size);
  uint64_t *keys = c.scratch<uint64_t>(2 * groups * room + 1);
  if (!keys)
    return;
  parallelIf(c, groups, ceilDiv(count, groups) * lanes.size * 2, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      uint64_t *own = keys + 2 * group * room;
      for (int64_t lane = group * count / groups; lane < (group + 1) * count / groups; ++lane) {
        Keys found(own, own + room, plan.k, lanes.size);
        found.find(rows + lane * lanes.size, lanes.size);
        for (int64_t i = 0; i < plan.k; ++i)
          plan.store(from, lane, i, Keys::indexOf(own[i]));
      }
    }
  });
}

/// Finds the first elements of any type with a heap of their indices.
template <typename T> void findByHeap(Context &c, const TopPlan &plan, const T *from) {
  using N = Compute<T>;
  const AxisLanes &lanes = plan.lanes;
  const int64_t count = lanes.count(), k = plan.k;
  int64_t *found = c.scratch<int64_t>(maximum(count * k, int64_t(1)));
  if (!found)
    return;
  parallelIf(c, count, lanes.size * 8, [&](int64_t begin, int64_t end) {
    for (int64_t lane = begin; lane < end; ++lane) {
      const T *at = from + lanes.start(lane, lanes.size);
      int64_t *heap = found + lane * k;
      auto before = [&](int64_t i, int64_t j) {
        const N x = at[i * lanes.inner], y = at[j * lanes.inner];
        const bool above = x > y || (isNan(x) && !isNan(y)),
                   below = x < y || (isNan(y) && !isNan(x));
        return plan.largest ? above || (!below && i < j) : below || (!above && i < j);
      };
      selectFirst(heap, k, lanes.size, before);
      for (int64_t i = 0; i < k; ++i)
        plan.store(from, lane, i, heap[i]);
    }
  });
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

ATC_KERNEL(TopK) {
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
  TopPlan plan{AxisLanes(data.dims(), axis), k, integer("largest", 1) != 0, {}};
  if (!makeTop(*this, axis, k, plan.results) || plan.lanes.count() == 0 || k == 0)
    return;
  if (!dispatchNumbers(data.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        const T *from = data.as<T>();
        if constexpr (sizeof(T) <= sizeof(uint32_t)) {
          if (plan.lanes.size <= TopKeys<T, true>::kMaxSize)
            return plan.largest ? findByKeys<T, true>(*this, plan, from)
                                : findByKeys<T, false>(*this, plan, from);
        }
        findByHeap(*this, plan, from);
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
        const T *from = data.as<T>();
        T *to = reinterpret_cast<T *>(out);
        __builtin_memset(to, 0, uint64_t(data.count()) * sizeof(T));
        if (lanes.size == 0)
          return;
        parallelIf(*this, lanes.count(), lanes.size, [&](int64_t begin, int64_t end) {
          for (int64_t lane = begin; lane < end; ++lane) {
            const int64_t start = lanes.start(lane, lanes.size);
            const int64_t best = indexInLane<true>(from + start, lanes, /*last=*/false);
            to[start + best * lanes.inner] = T(1);
          }
        });
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
