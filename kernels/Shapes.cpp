//===-- Shapes.cpp - shapes as values, and values under other shapes ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/Support.h"

namespace atc::kernels {

ATC_KERNEL(Identity) { forward(0, in(0)); }

ATC_KERNEL(Shape) {
  const int64_t rank = in(0).rank();
  auto clamp = [&](int64_t at) {
    at = at < 0 ? at + rank : at;
    return minimum(maximum(at, int64_t(0)), rank);
  };
  const int64_t start = clamp(integer("start", 0)), end = clamp(integer("end", rank));
  int64_t *out = make<int64_t>(0, I64, Dims(maximum(end - start, int64_t(0))));
  if (!out)
    return;
  for (int64_t i = start; i < end; ++i)
    out[i - start] = in(0).dim(i);
}

ATC_KERNEL(Reshape) {
  const Tensor data = in(0), wanted = in(1);
  if (!wanted.known())
    return;
  Dims shape;
  int64_t unknown = -1, rest = 1;
  for (int64_t i = 0; i < wanted.count(); ++i) {
    int64_t size = wanted.as<int64_t>()[i];
    if (size == 0 && !integer("allowzero", 0)) {
      if (i >= data.rank())
        return fail("dim % of the shape is 0, but the input has rank %", i, data.rank());
      size = data.dim(i);
    }
    if (size == -1 && unknown < 0)
      unknown = i;
    else if (size < 0)
      return fail("dim % of the shape is %", i, size);
    else
      rest *= size;
    if (!shape.push(size))
      return fail("the shape has % dims", wanted.count());
  }
  const int64_t count = data.count();
  if (unknown >= 0 ? rest == 0 || count % rest : count != rest)
    return fail("% elements do not fit the shape (% without -1)", count, rest);
  if (unknown >= 0)
    shape[unknown] = count / rest;
  share(0, data, shape);
}

} // namespace atc::kernels
