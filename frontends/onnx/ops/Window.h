//===-- Window.h - attributes of sliding windows --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_OPS_WINDOW_H
#define OPENATC_FRONTENDS_ONNX_OPS_WINDOW_H

#include "frontends/SlidingWindow.h"
#include "frontends/onnx/NodeContext.h"

namespace atc::onnx_import {

/// A window with the mode of its pads.
struct Window : SlidingWindow {
  std::string autoPad;

  /// Returns whether an odd pad goes to the end.
  bool moreAtEnd() const { return autoPad == "SAME_UPPER"; }
};

/// Reads kernel_shape, strides, dilations, pads and auto_pad. `kernel` is the shape of the filter;
/// where it is empty, kernel_shape is required. Returns nothing when the node failed.
std::optional<Window> readWindow(NodeContext &n, unsigned numDims, llvm::ArrayRef<int64_t> kernel);

/// Replaces auto_pad by its pads for an input with these spatial dims.
void resolveAutoPad(Window &window, llvm::ArrayRef<int64_t> spatial);

/// Reads the window of a pool over images whose channels are behind the batch, with its pads.
std::optional<Window> readPoolWindow(NodeContext &n, mlir::Value images);

/// Reads ceil_mode. Pads of auto_pad SAME_* are made so that nothing is left over to round up.
bool readCeilMode(NodeContext &n, const Window &window);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_OPS_WINDOW_H
