//===-- Values.h - looks at the numbers in a tensor -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_VALUES_H
#define OPENATC_TOOLS_OMRUN_VALUES_H

#include "openatc/om.hpp"

#include <vector>

namespace atc::tools {

/// The element at a flat index of a dense tensor.
double valueAt(om_dtype dtype, const void *data, uint64_t index);

struct Range {
  double min = 0, max = 0;
  uint64_t notFinite = 0; ///< NaN or infinite, not part of the range
};
Range rangeOf(const om::Tensor &tensor, const void *data);

/// Indices of the largest values, largest first.
std::vector<uint64_t> largest(const om::Tensor &tensor, const void *data, size_t count);

} // namespace atc::tools

#endif
