//===-- TensorValues.h - looks at the elements of a tensor ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_TENSORVALUES_H
#define OPENATC_SUPPORT_TENSORVALUES_H

#include "openatc/om.hpp"

#include <vector>

namespace atc {

/// Returns whether valueAt knows the type: not complex numbers, strings and tiny floats.
bool hasValues(om_dtype dtype);
/// Returns the element at a flat index of a dense tensor.
double valueAt(om_dtype dtype, const void *data, uint64_t index);

/// The finite elements of a tensor lie between `min` and `max`.
struct Range {
  double min = 0, max = 0;
  uint64_t notFinite = 0; ///< NaN or infinite, not part of the range
};
/// Returns the range of a dense tensor of a type that hasValues.
Range rangeOf(const ::om::Tensor &tensor, const void *data);

/// The distance of a dense tensor from the right one.
struct Difference {
  double maxAbs = 0;  ///< infinite where only one side is NaN or infinite
  double ofRange = 0; ///< maxAbs over the right one's max - min
  double cosine = 1;  ///< of the angle between both
};
/// Compares two dense tensors of the shape and type of `tensor`.
Difference differenceOf(const ::om::Tensor &tensor, const void *ours, const void *right);

/// Returns the flat indices of the `count` largest elements, largest first.
std::vector<uint64_t> largest(const ::om::Tensor &tensor, const void *data, size_t count);

} // namespace atc

#endif
