//===-- ReshapeDims.h - the shape that a Reshape asks for -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_RESHAPEDIMS_H
#define OPENATC_KERNELS_CORE_RESHAPEDIMS_H

#include "kernels/core/Support.h"

namespace atc::kernels {

/// Computes the shape that data of dims `from` have after a Reshape to `wanted`, int64 elements
/// that are known: -1 stands for what remains and 0 for the dim of the data, unless `allowsZero`.
/// Returns false and fails the call where the elements do not fit.
inline bool reshapeDims(Context &c, const Dims &from, Tensor wanted, bool allowsZero, Dims &shape) {
  shape = Dims();
  int64_t unknown = -1, rest = 1;
  for (int64_t i = 0; i < wanted.count(); ++i) {
    int64_t size = wanted.as<int64_t>()[i];
    if (size == 0 && !allowsZero) {
      if (i >= from.rank)
        return c.fail("dim % of the shape is 0, but the input has rank %", i, from.rank), false;
      size = from[uint32_t(i)];
    }
    if (size == -1 && unknown < 0)
      unknown = i;
    else if (size < 0)
      return c.fail("dim % of the shape is %", i, size), false;
    else if (__builtin_mul_overflow(rest, size, &rest))
      return c.fail("the shape has too many elements"), false;
    if (!shape.push(size))
      return c.fail("the shape has % dims", wanted.count()), false;
  }
  const int64_t count = from.product();
  if (unknown >= 0 ? rest == 0 || count % rest : count != rest)
    return c.fail("% elements do not fit the shape (% without -1)", count, rest), false;
  if (unknown >= 0)
    shape[uint32_t(unknown)] = count / rest;
  return true;
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_RESHAPEDIMS_H
