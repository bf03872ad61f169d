//===-- Strided.cpp - iterates over strided elements ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Strided.h"

namespace atc::kernels {

StridedSpace::StridedSpace(const Dims &shape, const Dims &first)
    : shape(shape), steps{first}, operands(1) {
  collapse();
}
StridedSpace::StridedSpace(const Dims &shape, const Dims &first, const Dims &second)
    : shape(shape), steps{first, second}, operands(2) {
  collapse();
}
StridedSpace::StridedSpace(const Dims &shape, const Dims &first, const Dims &second,
                           const Dims &third)
    : shape(shape), steps{first, second, third}, operands(3) {
  collapse();
}

/// Drops dims of 1 and joins dims that every operand walks as one, so that the
/// innermost loop is long.
void StridedSpace::collapse() {
  count = shape.product();
  uint32_t rank = 0;
  for (uint32_t d = 0; d < shape.rank; ++d) {
    if (shape[d] == 1)
      continue;
    bool joins = rank > 0;
    for (uint32_t n = 0; n < operands && joins; ++n)
      joins = steps[n][rank - 1] == steps[n][d] * shape[d];
    const uint32_t to = joins ? rank - 1 : rank++;
    shape[to] = joins ? shape[to] * shape[d] : shape[d];
    for (uint32_t n = 0; n < operands; ++n)
      steps[n][to] = steps[n][d];
  }
  shape.rank = rank;
  if (rank > 1)
    return;
  // A single long row is divided among threads.
  constexpr int64_t kPart = 4096;
  for (uint32_t n = 0; n < operands; ++n) {
    const int64_t step = rank ? steps[n][0] : 0;
    steps[n] = Dims(step * kPart, step);
  }
  shape = Dims(ceilDiv(count, kPart), kPart);
}

bool StridedSpace::repeatsBlocks() const {
  if (innerStep(0) != 1)
    return false;
  for (uint32_t d = 0; d + 1 < shape.rank; ++d)
    if (steps[0][d] == 0)
      return true;
  return false;
}

void StridedSpace::walk(Context &c, int64_t work, RowBody body, void *arg) const {
  if (count > 0)
    parallelIf(c, shape.product(0, shape.rank - 1), inner() * work,
               [&](int64_t begin, int64_t end) { walkPart(begin, end, body, arg); });
}

void StridedSpace::walkPart(int64_t begin, int64_t end, RowBody body, void *arg) const {
  const int64_t outer = int64_t(shape.rank) - 1;
  int64_t at[host::kMaxRank] = {}, offsets[kMaxOperands] = {};
  for (int64_t d = outer - 1, rest = begin; d >= 0; --d) {
    at[d] = rest % shape[d];
    rest /= shape[d];
    for (uint32_t n = 0; n < operands; ++n)
      offsets[n] += at[d] * steps[n][d];
  }
  for (int64_t row = begin; row < end; ++row) {
    body(arg, row, offsets);
    for (int64_t d = outer - 1; d >= 0; --d) {
      const bool carry = ++at[d] == shape[d];
      for (uint32_t n = 0; n < operands; ++n)
        offsets[n] += carry ? steps[n][d] * (1 - shape[d]) : steps[n][d];
      if (!carry)
        break;
      at[d] = 0;
    }
  }
}

namespace {
/// Writes the elements of dims [d, rank), which are `sizes[d]` bytes.
void copyDims(char *to, const char *from, const Dims &shape, const Dims &steps, const Dims &sizes,
              uint32_t d) {
  if (d + 1 == shape.rank)
    return copyBytes(to, from, sizes[d]);
  const int64_t size = sizes[d + 1];
  if (steps[d] != 0) {
    for (int64_t i = 0; i < shape[d]; ++i)
      copyDims(to + i * size, from + i * steps[d], shape, steps, sizes, d + 1);
    return;
  }
  // Twice as much each time, as long as it stays in the first cache.
  constexpr int64_t kMaxBytes = 1 << 14;
  copyDims(to, from, shape, steps, sizes, d + 1);
  for (int64_t done = size, next; done < sizes[d]; done += next) {
    next = minimum(done, sizes[d] - done);
    if (next > maximum(size, kMaxBytes))
      next = maximum(size, kMaxBytes / size * size);
    copyBytes(to + done, to, next);
  }
}
} // namespace

void copyRepeated(Context &c, char *to, const char *from, const StridedSpace &space,
                  int64_t width) {
  const Dims &shape = space.dims();
  Dims steps = space.stepsOf(0), sizes = shape;
  int64_t size = width;
  for (uint32_t d = shape.rank; d-- > 0; steps[d] *= width)
    sizes[d] = size *= shape[d];
  if (size == 0)
    return;
  // Threads share the first dim.
  const int64_t part = sizes[0] / shape[0];
  parallelIf(c, shape[0], part / width, [&](int64_t begin, int64_t end) {
    if (steps[0] == 0) {
      Dims own = shape, bytes = sizes;
      own[0] = end - begin;
      bytes[0] = part * own[0];
      return copyDims(to + begin * part, from, own, steps, bytes, 0);
    }
    for (int64_t i = begin; i < end; ++i)
      copyDims(to + i * part, from + i * steps[0], shape, steps, sizes, 1);
  });
}

} // namespace atc::kernels
