//===-- Unary.h - applies a function to each element ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_UNARY_H
#define OPENATC_KERNELS_CORE_UNARY_H

#include "kernels/core/Broadcast.h"

namespace atc::kernels {

/// Computes output 0 as op(x) of the floats of input 0, in float or double. `cost` is the
/// approximate number of operations of `op`. Fails the call for other types.
template <typename Op> void mapFloats(Context &c, int64_t cost, Op op) {
  const Tensor data = c.in(0);
  char *out = c.make(0, data.dtype(), data.dims());
  if (!out)
    return;
  if (!dispatchFloats(data.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        using N = Compute<T>;
        mapElements<T, T>(c, out, cost, [=](T x) { return T(N(op(N(x)))); });
      }))
    c.failType(data.dtype());
}

/// Computes output 0 as op(x) of the floats or integers of input 0. Fails the call for other types.
template <typename Op> void mapNumbers(Context &c, Op op) {
  const Tensor data = c.in(0);
  char *out = c.make(0, data.dtype(), data.dims());
  if (!out)
    return;
  if (!dispatchNumbers(data.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        using N = Compute<T>;
        mapElements<T, T>(c, out, 1, [=](T x) { return T(converted<N>(op(N(x)))); });
      }))
    c.failType(data.dtype());
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_UNARY_H
