//===-- ByteFilters.h - packed filters of 8-bit convolutions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_BYTEFILTERS_H
#define OPENATC_PASSES_HOST_BYTEFILTERS_H

#include "dialects/graph/ops/HostOps.h"

namespace atc::host {

/// What a QLinearConv of images in blocks of 16 channels reads, in the order of
/// kernels/conv/ByteBlocks.h.
struct ByteFilters {
  mlir::ElementsAttr weights, bias, factors; ///< weights: null where there is no such form
  int64_t groups = 1;                        ///< of whole blocks
  bool isDepthwise = false;

  explicit operator bool() const { return weights != nullptr; }
};

/// Returns the filters of a QLinearConv of `groups` groups whose operands other than the data are
/// constant, with signed weights of zero point 0 or unsigned ones of 128. Groups whose channels do
/// not fill blocks are joined, with zeros between them.
ByteFilters packByteFilters(graph::HostCallOp call, int64_t groups);

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_BYTEFILTERS_H
