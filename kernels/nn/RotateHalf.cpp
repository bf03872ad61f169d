//===-- RotateHalf.cpp - rotary embedding as exporters write it -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Broadcast.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

/// Computes x * cos + concat(-x[split:], x[:split]) * sin along the last axis, which all three
/// share; their other dims broadcast. Without the attribute `split` it is half of the axis.
ATC_KERNEL(RotateHalf) {
  const Tensor x = in(0), cosines = in(1), sines = in(2);
  const int64_t size = x.dim(x.rank() - 1), split = integer("split", size / 2);
  if (split < 0 || split > size)
    return fail("a split at % of %", split, size);
  Dims shape = x.dims();
  if (!broadcastInto(*this, shape, cosines.dims()) || !broadcastInto(*this, shape, sines.dims()))
    return;
  float *y = make<float>(0, F32, shape);
  if (!y || shape.product() == 0)
    return;
  const Tensor operands[] = {x, cosines, sines};
  const float *data[3];
  Dims steps[3];
  for (int i = 0; i < 3; ++i) {
    data[i] = operands[i].as<float>();
    steps[i] = broadcastSteps(operands[i].dims(), shape);
  }
  const int64_t behind = size - split;
  parallelIf(*this, shape.product(0, shape.rank - 1), 4 * size, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t offsets[3] = {}, rest = row;
      for (uint32_t d = shape.rank - 1; d-- > 0; rest /= shape[d])
        for (int i = 0; i < 3; ++i)
          offsets[i] += rest % shape[d] * steps[i][d];
      const float *from = data[0] + offsets[0], *c = data[1] + offsets[1],
                  *s = data[2] + offsets[2];
      float *to = y + row * size;
      for (int64_t i = 0; i < behind; ++i)
        to[i] = from[i] * c[i] - from[split + i] * s[i];
      for (int64_t i = 0; i < split; ++i)
        to[behind + i] = from[behind + i] * c[behind + i] + from[i] * s[behind + i];
    }
  });
}

} // namespace atc::kernels
