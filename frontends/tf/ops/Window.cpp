//===-- Window.cpp - attributes of sliding windows ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/ops/Window.h"

using namespace mlir;

namespace atc::tf_import {

/// explicit_paddings has a begin and an end for each dim of the tensor.
static void readExplicitPads(NodeContext &n, const ImageLayout &layout, Window &window) {
  SmallVector<int64_t> all = n.intsAttr("explicit_paddings");
  if (static_cast<int64_t>(all.size()) != 2 * layout.rank)
    return n.failAttribute("explicit_paddings", "has " + Twine(all.size()) + " values, expected " +
                                                    Twine(2 * layout.rank));
  for (int64_t value : all)
    if (value < 0 || value > maxWindow)
      return n.failAttribute("explicit_paddings", Twine(value) + " is out of range");
  int64_t dims = layout.rank - 2;
  for (int64_t dim = 0; dim < dims; ++dim) {
    window.pads[dim] = all[2 * layout.spatialAxis(dim)];
    window.pads[dims + dim] = all[2 * layout.spatialAxis(dim) + 1];
  }
}

std::optional<Window> readWindow(NodeContext &n, const ImageLayout &layout,
                                 ArrayRef<int64_t> kernel, ArrayRef<int64_t> spatial,
                                 StringRef dilations) {
  Window window;
  window.kernel.assign(kernel.begin(), kernel.end());
  window.strides = layout.spatial(n, "strides");
  window.dilations = layout.spatial(n, dilations);
  window.pads.assign(2 * kernel.size(), 0);
  std::string padding = n.stringAttr("padding", "VALID");
  if (n.failed())
    return std::nullopt;
  if (padding == "EXPLICIT")
    readExplicitPads(n, layout, window);
  else if (padding != "SAME" && padding != "VALID")
    n.failAttribute("padding", "is '" + padding + "', expected SAME, VALID or EXPLICIT");
  for (size_t i = 0; i < kernel.size() && padding == "SAME"; ++i)
    window.padSame(i, spatial[i], /*moreAtEnd=*/true);
  if (n.failed())
    return std::nullopt;
  return window;
}

} // namespace atc::tf_import
