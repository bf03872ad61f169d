//===-- TensorValues.h - reads the elements of a tensor -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_TENSORVALUES_H
#define OPENATC_SUPPORT_TENSORVALUES_H

#include "openatc/om.hpp"

#include <vector>

namespace atc {

/// Returns whether valueAt supports the type: all but complex numbers, strings and 8-bit or
/// narrower floats.
bool hasValues(om_dtype dtype);
/// Returns the element at a flat row-major index of a dense tensor of a type that hasValues.
double valueAt(om_dtype dtype, const void *data, uint64_t index);

/// The range of the finite elements of a tensor.
struct Range {
  double min = 0, max = 0;
  uint64_t notFinite = 0; ///< NaN or infinite, not part of the range
};
/// Returns the range of a dense tensor of a type that hasValues.
Range rangeOf(const ::om::Tensor &tensor, const void *data);

/// The difference between a dense tensor and its reference.
struct Difference {
  double maxAbs = 0;  ///< infinite where only one of both elements is NaN or infinite
  double ofRange = 0; ///< maxAbs over the reference's max - min
  double cosine = 1;  ///< cosine similarity of both
};
/// Compares two dense tensors of the shape and type of `tensor`; `right` is the reference.
Difference differenceOf(const ::om::Tensor &tensor, const void *ours, const void *right);

/// Returns the flat indices of the `count` largest elements, in descending order.
std::vector<uint64_t> largest(const ::om::Tensor &tensor, const void *data, size_t count);

} // namespace atc

#endif
