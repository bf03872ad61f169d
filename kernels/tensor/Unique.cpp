//===-- Unique.cpp - different elements, and elements that are not zero ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Nibbles.h"
#include "kernels/core/Sort.h"
#include "kernels/text/Strings.h"

namespace atc::kernels {

namespace {
/// Below 0, 0, above 0. NaNs are equal and come last.
template <typename T> int order(T a, T b) {
  if constexpr (__is_same(T, String)) {
    return compare(a, b);
  } else if constexpr (__is_same(T, Complex<float>) || __is_same(T, Complex<double>)) {
    const int real = order(a.re, b.re);
    return real ? real : order(a.im, b.im);
  } else {
    const Compute<T> x = a, y = b;
    if (isNan(x) || isNan(y))
      return int(isNan(x)) - int(isNan(y));
    return x < y ? -1 : x > y;
  }
}

template <typename Fn> bool dispatchOrdered(uint8_t dtype, Fn &&fn) {
  switch (dtype) {
  case Bool:
    fn(TypeTag<uint8_t>());
    return true;
  case Str:
    fn(TypeTag<String>());
    return true;
  case C64:
    fn(TypeTag<Complex<float>>());
    return true;
  case C128:
    fn(TypeTag<Complex<double>>());
    return true;
  default:
    return dispatchNumbers(dtype, fn);
  }
}
} // namespace

ATC_KERNEL(Unique) {
  const Tensor data = in(0);
  if (!data.known())
    return;
  const bool flat = !has("axis"), sorted = integer("sorted", 1) != 0;
  const int64_t axis = flat ? 0 : normalizeAxis(*this, integer("axis", 0), data.rank());
  if (axis < 0)
    return;
  const Dims dims = flat ? Dims(data.count()) : data.dims();
  const int64_t outer = dims.product(0, uint32_t(axis)), size = dims[axis],
                inner = dims.product(uint32_t(axis) + 1, dims.rank);
  // Slices in order, then of each group of equal ones the first.
  int64_t *all = scratch<int64_t>(5 * maximum(size, int64_t(1)));
  if (!all)
    return;
  int64_t *ordered = all, *spare = all + size, *group = all + 2 * size, *first = all + 3 * size,
          *counts = all + 4 * size;
  int64_t groups = 0;
  bool done = dispatchOrdered(data.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    const T *from = data.as<T>();
    auto compareSlices = [=](int64_t i, int64_t j) {
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t k = 0; k < inner; ++k)
          if (int result =
                  order(from[(o * size + i) * inner + k], from[(o * size + j) * inner + k]))
            return result;
      return 0;
    };
    for (int64_t i = 0; i < size; ++i)
      ordered[i] = i;
    sortIndices(ordered, spare, size,
                [=](int64_t i, int64_t j) { return compareSlices(i, j) < 0; });
    // The sort is stable: the first of a group is its first occurrence.
    for (int64_t i = 0; i < size; ++i) {
      if (i == 0 || compareSlices(ordered[i - 1], ordered[i]) != 0) {
        first[groups] = ordered[i];
        counts[groups++] = 0;
      }
      ++counts[groups - 1];
      group[ordered[i]] = groups - 1;
    }
  });
  if (!done)
    return failType(data.dtype());
  // The order of the groups in the results, and where each of them is.
  int64_t *results = scratch<int64_t>(3 * maximum(groups, int64_t(1)));
  if (!results)
    return;
  int64_t *buffer = results + groups, *position = results + 2 * groups;
  for (int64_t i = 0; i < groups; ++i)
    results[i] = i;
  if (!sorted)
    sortIndices(results, buffer, groups, [=](int64_t i, int64_t j) { return first[i] < first[j]; });
  for (int64_t i = 0; i < groups; ++i)
    position[results[i]] = i;

  Dims shape = dims;
  shape[axis] = groups;
  const Dims list(groups);
  char *out = wants(0) ? make(0, data.dtype(), shape) : nullptr;
  int64_t *firsts = wants(1) ? make<int64_t>(1, I64, list) : nullptr;
  int64_t *inverse = wants(2) ? make<int64_t>(2, I64, Dims(size)) : nullptr;
  int64_t *numbers = wants(3) ? make<int64_t>(3, I64, list) : nullptr;
  if ((wants(0) && !out) || (wants(1) && !firsts) || (wants(2) && !inverse) ||
      (wants(3) && !numbers))
    return;
  for (int64_t i = 0; i < groups; ++i) {
    if (firsts)
      firsts[i] = first[results[i]];
    if (numbers)
      numbers[i] = counts[results[i]];
  }
  for (int64_t i = 0; inverse && i < size; ++i)
    inverse[i] = position[group[i]];
  if (!out)
    return;
  moveElements(*this, data.dtype(), out, shape.product(), [&](auto *to, auto read) {
    auto *from = read(data);
    for (int64_t o = 0; from && o < outer; ++o)
      for (int64_t i = 0; i < groups; ++i)
        copyBytes(to + (o * groups + i) * inner, from + (o * size + first[results[i]]) * inner,
                  inner * int64_t(sizeof(*to)));
  });
}

ATC_KERNEL(NonZero) {
  const Tensor data = in(0);
  if (!data.known())
    return;
  const int64_t rank = data.rank(), count = data.count();
  auto search = [&](auto type) {
    using T = typename decltype(type)::Type;
    const T *from = data.as<T>();
    auto isSet = [&](int64_t i) {
      if constexpr (__is_same(T, String))
        return from[i].size != 0;
      else if constexpr (__is_same(T, Complex<float>) || __is_same(T, Complex<double>))
        return from[i].re != 0 || from[i].im != 0;
      else
        return Compute<T>(from[i]) != 0;
    };
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i)
      found += isSet(i);
    int64_t *out = make<int64_t>(0, I64, Dims(rank, found));
    if (!out)
      return;
    int64_t at[host::kMaxRank] = {};
    for (int64_t i = 0, n = 0; i < count; ++i) {
      if (isSet(i)) {
        for (int64_t d = 0; d < rank; ++d)
          out[d * found + n] = at[d];
        ++n;
      }
      for (int64_t d = rank - 1; d >= 0 && ++at[d] == data.dim(d); --d)
        at[d] = 0;
    }
  };
  if (!dispatchOrdered(data.dtype(), search))
    failType(data.dtype());
}

} // namespace atc::kernels
