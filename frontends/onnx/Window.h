//===-- Window.h - attributes of sliding windows --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_WINDOW_H
#define OPENATC_FRONTENDS_ONNX_WINDOW_H

#include "frontends/onnx/NodeContext.h"

namespace atc::onnx_import {

/// No stride, dilation or pad may be larger.
constexpr int64_t maxWindow = int64_t(1) << 24;

/// The window of a convolution or pool, one number for each spatial dim; `pads`
/// are all begins, then all ends.
struct Window {
  llvm::SmallVector<int64_t> kernel, strides, dilations, pads;
  std::string autoPad;

  int64_t numDims() const { return kernel.size(); }
  /// The pixels that the dilated kernel spans.
  int64_t extent(unsigned dim) const { return (kernel[dim] - 1) * dilations[dim] + 1; }
};

/// Reads kernel_shape, strides, dilations, pads and auto_pad. `kernel` is what
/// the filter says; where it is empty, kernel_shape is required. Nothing when
/// the node failed.
std::optional<Window> readWindow(NodeContext &n, unsigned numDims, llvm::ArrayRef<int64_t> kernel);

/// Replaces auto_pad by the pads that it means for an input of these dims.
void resolveAutoPad(Window &window, llvm::ArrayRef<int64_t> spatial);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_WINDOW_H
