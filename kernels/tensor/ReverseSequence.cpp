//===-- ReverseSequence.cpp - sequences of a batch turned round -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Nibbles.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

ATC_KERNEL(ReverseSequence) {
  const Tensor data = in(0), lengths = in(1);
  const int64_t time = integer("time_axis", 0), batch = integer("batch_axis", 1);
  if ((time != 0 && time != 1) || batch != 1 - time)
    return fail("time axis % and batch axis % are not 0 and 1", time, batch);
  if (lengths.count() != data.dim(batch))
    return fail("there are % lengths for a batch of %", lengths.count(), data.dim(batch));
  const Dims dims = data.dims();
  for (int64_t i = 0; lengths.known() && i < lengths.count(); ++i)
    if (integerAt(lengths, i) < 0 || integerAt(lengths, i) > dims[time])
      return fail("length % is %, more than the % steps", i, integerAt(lengths, i), dims[time]);
  char *out = make(0, data.dtype(), dims);
  if (!out)
    return;
  const int64_t inner = dims.product(2, dims.rank);
  moveElements(*this, data.dtype(), out, data.count(), [&](auto *to, auto read) {
    auto *from = read(data);
    if (!from)
      return;
    parallelIf(*this, dims[0] * dims[1], inner, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t i = row / dims[1], j = row % dims[1];
        const int64_t length = integerAt(lengths, batch == 0 ? i : j), step = time == 0 ? i : j;
        const int64_t other = step < length ? length - 1 - step : step;
        const int64_t source = time == 0 ? other * dims[1] + j : i * dims[1] + other;
        copyBytes(to + row * inner, from + source * inner, inner * int64_t(sizeof(*to)));
      }
    });
  });
}

} // namespace atc::kernels
