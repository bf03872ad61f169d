//===-- Window.h - attributes of sliding windows --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_OPS_WINDOW_H
#define OPENATC_FRONTENDS_TF_OPS_WINDOW_H

#include "frontends/SlidingWindow.h"
#include "frontends/tf/NodeContext.h"

namespace atc::tf_import {

using Window = SlidingWindow;

/// Reads strides, dilations and padding for an image of the dims `spatial`.
/// Nothing when the node failed. `dilations` is the name of their attribute.
std::optional<Window> readWindow(NodeContext &n, const ImageLayout &layout,
                                 llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> spatial,
                                 llvm::StringRef dilations = "dilations");

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_OPS_WINDOW_H
