//===-- Transpose.cpp - dims in another order -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Nibbles.h"
#include "kernels/core/Strided.h"
#include "kernels/core/TransposeSquare.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

namespace {
/// Copies `count` groups of few elements that are `step` apart in the source and neighbours in the
/// result, or in the source (joins = false). Their number is known when compiling, so that loads,
/// permutations and stores of vectors are what these loops become.
template <int group, bool joins, typename T>
void copyGroups(T *to, const T *from, int64_t step, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < group; ++j) {
      const int64_t together = i * group + j, apart = j * step + i;
      to[joins ? together : apart] = from[joins ? apart : together];
    }
}
template <bool joins, typename T>
void copyGroups(int64_t group, T *to, const T *from, int64_t step, int64_t count) {
  if (group == 2)
    copyGroups<2, joins>(to, from, step, count);
  else if (group == 3)
    copyGroups<3, joins>(to, from, step, count);
  else
    copyGroups<4, joins>(to, from, step, count);
}

/// Copies elements where dim `column` of the result, not its last one, is contiguous in the source:
/// in squares, so that each line of either side is met once.
template <typename T>
void transposePlanes(Context &c, T *to, const T *from, const Dims &shape, const Dims &steps,
                     int64_t column) {
  constexpr int64_t side = 16, kFew = 4, kMany = 512, kLines = 64;
  const int64_t last = int64_t(shape.rank) - 1, inner = shape[last], step = steps[last];
  const Dims strides = stridesOf(shape);
  const int64_t columns = shape[column];
  const bool joins = inner <= kFew && strides[column] == inner,
             parts = columns <= kFew && step == columns;
  // Each task has a group of columns: lines next to each other are read by one.
  const int64_t groups = parts ? 1 : maximum(columns / (joins ? kMany : kLines), int64_t(1));
  Dims outer = shape; // of the tasks: groups of columns instead of columns
  outer[column] = groups;
  const int64_t tasks = outer.product(0, uint32_t(last));
  parallelIf(c, tasks, ceilDiv(columns, groups) * inner, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      int64_t source = 0, target = 0, count = 0;
      for (int64_t d = last - 1, rest = task; d >= 0; rest /= outer[d], --d) {
        int64_t at = rest % outer[d];
        if (d == column) {
          count = (at + 1) * columns / groups;
          at = at * columns / groups;
          count -= at;
        }
        source += at * steps[d];
        target += at * strides[d];
      }
      if (joins)
        copyGroups<true>(inner, to + target, from + source, step, count);
      else if (parts)
        copyGroups<false>(columns, to + target, from + source, strides[column], inner);
      else if constexpr (sizeof(T) <= sizeof(uint32_t))
        transposeRows(to + target, strides[column], from + source, step, inner, count);
      else
        for (int64_t j0 = 0; j0 < inner; j0 += side)
          for (int64_t i = 0; i < count; ++i)
            for (int64_t j = j0, stop = minimum(j0 + side, inner); j < stop; ++j)
              to[target + i * strides[column] + j] = from[source + i + j * step];
    }
  });
}
} // namespace

ATC_KERNEL(Transpose) {
  const Tensor data = in(0);
  const int64_t rank = data.rank();
  const List<int64_t> perm = integers("perm");
  Dims shape, strides = stridesOf(data.dims()), steps;
  if (perm.given && perm.size != rank)
    return fail("attribute perm has % axes for a tensor of rank %", perm.size, rank);
  uint32_t seen = 0;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t from = perm.given ? normalizeAxis(*this, perm[i], rank) : rank - 1 - i;
    if (from < 0)
      return;
    if (seen >> from & 1)
      return fail("attribute perm names axis % twice", from);
    seen |= uint32_t(1) << from;
    shape.push(data.dim(from));
    steps.push(strides[from]);
  }
  char *out = make(0, data.dtype(), shape);
  if (!out || shape.product() == 0)
    return;
  moveElements(*this, data.dtype(), out, shape.product(), [&](auto *result, auto read) {
    const auto *from = read(data);
    if (!from)
      return;
    const StridedSpace space(shape, steps);
    const Dims &dims = space.dims(), &walk = space.stepsOf(0);
    if (space.innerStep(0) != 1)
      for (int64_t d = 0; d < int64_t(dims.rank) - 1; ++d)
        if (walk[d] == 1)
          return transposePlanes(*this, result, from, dims, walk, d);
    copyStrided(*this, result, from, shape, steps);
  });
}

} // namespace atc::kernels
