//===-- Indices.h - tensors whose elements are indices --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_TENSOR_INDICES_H
#define OPENATC_KERNELS_TENSOR_INDICES_H

#include "kernels/core/Support.h"

namespace atc::kernels {

/// Returns an index in -size <= index < size as 0 <= index < size; otherwise fails the call and
/// returns -1.
inline int64_t normalizeIndex(Context &c, int64_t index, int64_t size) {
  if (index < -size || index >= size) {
    c.fail("index % is out of the range of a dim of %", index, size);
    return -1;
  }
  return index < 0 ? index + size : index;
}

/// Returns all elements of `indices`, each checked against a dim of `size`. Null (and a failed
/// call) on error.
inline const int64_t *readIndices(Context &c, Tensor indices, int64_t size) {
  const int64_t count = indices.count();
  int64_t *result = c.scratch<int64_t>(maximum(count, int64_t(1)));
  if (result && indices.dtype() == I64) {
    // Vectors of them; where one is bad, it is looked for below.
    const int64_t *from = indices.as<int64_t>();
    uint64_t bad = 0;
    for (int64_t i = 0; i < count; ++i) {
      result[i] = from[i] + (from[i] < 0 ? size : 0);
      bad |= uint64_t(result[i] < 0) | uint64_t(result[i] >= size);
    }
    if (!bad)
      return result;
  }
  for (int64_t i = 0; result && i < count; ++i)
    if ((result[i] = normalizeIndex(c, integerAt(indices, i), size)) < 0)
      return nullptr;
  return result;
}

/// Returns the offset in elements of each tuple of `indices`, which has tuples of `depth` indices
/// along its last dim, into dims [first, first + depth) of `dims`. Null (and a failed call) on
/// error.
inline const int64_t *readTuples(Context &c, Tensor indices, const Dims &dims, int64_t first,
                                 int64_t depth) {
  const int64_t count = depth ? indices.count() / depth : 0;
  const Dims steps = stridesOf(dims);
  int64_t *result = c.scratch<int64_t>(maximum(count, int64_t(1)));
  for (int64_t i = 0; result && i < count; ++i) {
    result[i] = 0;
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t at = normalizeIndex(c, integerAt(indices, i * depth + k), dims[first + k]);
      if (at < 0)
        return nullptr;
      result[i] += at * steps[first + k];
    }
  }
  return result;
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_TENSOR_INDICES_H
