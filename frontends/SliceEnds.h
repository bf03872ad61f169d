//===-- SliceEnds.h - ends of strided slices as ONNX has them -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_SLICEENDS_H
#define OPENATC_FRONTENDS_SLICEENDS_H

#include <cstdint>
#include <limits>

namespace atc {

/// Returns the largest end that an axis of ONNX's Slice may get for a StridedSlice of TensorFlow,
/// TensorFlow Lite or Ascend, whose ends are clamped to it.
///
/// ONNX takes the largest integers of 32 and 64 bits for an end that is left out, also backward,
/// where the slice then reaches the first element. For StridedSlice they are ends as any other: one
/// behind the last element, from which a slice backward is empty.
inline int64_t maxSliceEnd(int64_t stride) {
  return stride > 0 ? std::numeric_limits<int64_t>::max()
                    : int64_t(std::numeric_limits<int32_t>::max()) - 1;
}

} // namespace atc

#endif // OPENATC_FRONTENDS_SLICEENDS_H
