//===-- Transpose.cpp - dims in another order -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Nibbles.h"
#include "kernels/core/Strided.h"
#include "kernels/core/TransposeSquare.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

/// Copies elements where dim `column` of the result, not its last one, is contiguous in the source:
/// in squares, so that each line of either side is met once.
template <typename T>
static void transposePlanes(Context &c, T *to, const T *from, const Dims &shape, const Dims &steps,
                            int64_t column) {
  constexpr int64_t side = 16;
  const int64_t last = int64_t(shape.rank) - 1, inner = shape[last], step = steps[last];
  const Dims strides = stridesOf(shape);
  const int64_t columns = shape[column], groups = ceilDiv(columns, side);
  Dims outer = shape; // of the tasks: groups of columns instead of columns
  outer[column] = groups;
  parallelIf(c, outer.product(0, uint32_t(last)), side * inner, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      int64_t source = 0, target = 0, count = 0;
      for (int64_t d = last - 1, rest = task; d >= 0; rest /= outer[d], --d) {
        const int64_t at = rest % outer[d] * (d == column ? side : 1);
        source += at * steps[d];
        target += at * strides[d];
        if (d == column)
          count = minimum(side, columns - at);
      }
      for (int64_t j0 = 0; j0 < inner; j0 += side) {
        if constexpr (sizeof(T) <= 2)
          if (count == side && j0 + side <= inner) {
            transposeSquare(to + target + j0, strides[column], from + source + j0 * step, step);
            continue;
          }
        for (int64_t i = 0; i < count; ++i)
          for (int64_t j = j0, stop = minimum(j0 + side, inner); j < stop; ++j)
            to[target + i * strides[column] + j] = from[source + i + j * step];
      }
    }
  });
}

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
  if (!out)
    return;
  const int64_t inner = rank ? shape[rank - 1] : 1, step = rank ? steps[rank - 1] : 1;
  moveElements(*this, data.dtype(), out, shape.product(), [&](auto *result, auto read) {
    const auto *from = read(data);
    if (!from)
      return;
    for (int64_t d = 0; d < rank - 1; ++d)
      if (steps[d] == 1 && shape[d] > 1 && step != 1 && inner > 1)
        return transposePlanes(*this, result, from, shape, steps, d);
    copyStrided(*this, result, from, shape, steps);
  });
}

} // namespace atc::kernels
