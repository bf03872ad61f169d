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

} // namespace atc::kernels
