//===-- Softmax.cpp - Softmax and LogSoftmax ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/nn/SoftmaxRow.h"
#include "kernels/tensor/Reduce.h"

namespace atc::kernels {

namespace {
void softmax(Context &c, bool logarithmic) {
  const Tensor x = c.in(0);
  const Dims dims = x.dims();
  // A scalar is treated as a row of one element.
  const int64_t rank = maximum(dims.rank, 1u);
  const int64_t axis = normalizeAxis(c, c.integer("axis", -1), rank);
  const int64_t count = dims.product();
  if (axis < 0)
    return;
  void *out = c.makeBytes(0, x.dtype(), dims);
  if (!out || count == 0)
    return;
  ReducePlan p;
  bool chosen[host::kMaxRank] = {};
  chosen[axis] = true;
  p.find(dims, chosen, true);
  const int64_t length = dims.rank ? dims[axis] : 1, results = count / length;
  const int64_t inner = dims.rank ? dims.product(uint32_t(axis) + 1, dims.rank) : 1;
  auto compute = [&]<typename F>(F *y, const F *data) {
    if (inner == 1 && !logarithmic) {
      parallelIf(c, results, length * 10, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row)
          softmaxRow(y + row * length, data + row * length, length);
      });
      return true;
    }
    const F *none = nullptr;
    F *max = c.scratch<F>(results), *sum = c.scratch<F>(results);
    if (!max || !sum)
      return false;
    reduce<reduction::Max>(c, max, data, p, none);
    reduce<reduction::Exp>(c, sum, data, p, static_cast<const F *>(max));
    for (int64_t i = 0; i < results; ++i)
      sum[i] = logarithmic ? F(math::log(double(sum[i]))) : 1 / sum[i];
    parallelIf(c, count / inner, inner * 10, [&](int64_t begin, int64_t end) {
      // Rows of `inner` elements that belong to neighbouring results, or to one.
      for (int64_t row = begin; row < end;) {
        const int64_t first = row / length * inner;
        const F *from = data + row * inner;
        F *to = y + row * inner;
        if (inner == 1) {
          const int64_t n = minimum(end, (row / length + 1) * length) - row;
          const F shift = max[first], by = sum[first];
          for (int64_t j = 0; j < n; ++j)
            to[j] = from[j] - shift - by;
          row += n;
          continue;
        }
        if (logarithmic)
          for (int64_t j = 0; j < inner; ++j)
            to[j] = from[j] - max[first + j] - sum[first + j];
        else
          for (int64_t j = 0; j < inner; ++j)
            to[j] = fast::exp(from[j] - max[first + j]) * sum[first + j];
        ++row;
      }
    });
    return true;
  };
  computeFloats(c, out, count, compute, x);
}
} // namespace

ATC_KERNEL(Softmax) { softmax(*this, false); }
ATC_KERNEL(LogSoftmax) { softmax(*this, true); }

} // namespace atc::kernels
