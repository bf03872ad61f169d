//===-- Positions.h - iterates over the positions of tensors -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_INTERPRETER_POSITIONS_H
#define OPENATC_DIALECTS_GRAPH_INTERPRETER_POSITIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace atc::graph::interpreter {

using Strides = llvm::SmallVector<int64_t, 6>;

/// Returns row-major strides in elements.
inline Strides rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  Strides strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim])
    strides[dim] = stride;
  return strides;
}

/// Returns the strides that read a tensor of `shape` at the positions of the broadcast result: 0
/// along every broadcast dim.
inline Strides broadcastStrides(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> result) {
  Strides own = rowMajorStrides(shape), strides(result.size(), 0);
  size_t lead = result.size() - shape.size();
  for (size_t dim = 0; dim < shape.size(); ++dim)
    strides[lead + dim] = shape[dim] == 1 ? 0 : own[dim];
  return strides;
}

/// Calls `visit(offsets)` at every position of `shape`, in row-major order.
/// offsets[i] is the sum of position times strides[i] over all dims.
template <typename Visit>
void forEachPosition(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Strides> strides, Visit visit) {
  if (llvm::is_contained(shape, 0))
    return;
  llvm::SmallVector<int64_t, 6> position(shape.size(), 0);
  llvm::SmallVector<int64_t, 4> offsets(strides.size(), 0);
  while (true) {
    visit(llvm::ArrayRef<int64_t>(offsets));
    size_t dim = shape.size();
    while (dim > 0) {
      --dim;
      for (size_t i = 0; i < strides.size(); ++i)
        offsets[i] += strides[i][dim];
      if (++position[dim] < shape[dim])
        break;
      for (size_t i = 0; i < strides.size(); ++i)
        offsets[i] -= strides[i][dim] * shape[dim];
      position[dim] = 0;
      if (dim == 0)
        return;
    }
    if (shape.empty())
      return;
  }
}

/// Returns the product of all values; 1 for none.
inline int64_t product(llvm::ArrayRef<int64_t> values) {
  int64_t result = 1;
  for (int64_t value : values)
    result *= value;
  return result;
}

} // namespace atc::graph::interpreter

#endif // OPENATC_DIALECTS_GRAPH_INTERPRETER_POSITIONS_H
