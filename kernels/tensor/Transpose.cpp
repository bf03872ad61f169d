//===-- Transpose.cpp - dims in another order -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Numbers.h"

namespace atc::kernels {

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
  const int64_t rows = inner ? shape.product() / inner : 0;
  bool done = dispatchSizes(data.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    const T *from = data.as<T>();
    parallel(rows, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t offset = 0;
        for (int64_t d = rank - 2, rest = row; d >= 0; --d) {
          offset += rest % shape[d] * steps[d];
          rest /= shape[d];
        }
        T *to = reinterpret_cast<T *>(out) + row * inner;
        for (int64_t i = 0; i < inner; ++i)
          to[i] = from[offset + i * step];
      }
    });
  });
  if (!done)
    failType(data.dtype());
}

} // namespace atc::kernels
