//===-- Window.cpp - attributes of sliding windows ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/Window.h"

using namespace mlir;

namespace atc::onnx_import {

/// Reads a list of `count` values of at least `min`; all are `otherwise` where it is omitted.
static SmallVector<int64_t> readList(NodeContext &n, StringRef name, size_t count, int64_t min,
                                     int64_t otherwise) {
  std::optional<SmallVector<int64_t>> values = n.intsAttr(name);
  if (!values)
    return SmallVector<int64_t>(count, otherwise);
  if (values->size() != count)
    n.failAttribute(name, "has " + Twine(values->size()) + " values, expected " + Twine(count));
  for (int64_t value : *values)
    if (value < min || value > maxWindow)
      n.failAttribute(name, Twine(value) + " is out of range, expected " + Twine(min) + " to " +
                                Twine(maxWindow));
  return *values;
}

std::optional<Window> readWindow(NodeContext &n, unsigned numDims, ArrayRef<int64_t> kernel) {
  Window window;
  if (kernel.empty() && !n.hasAttr("kernel_shape"))
    n.failAttribute("kernel_shape", "is missing; the operator needs it");
  window.kernel = readList(n, "kernel_shape", numDims, 1, 1);
  if (!kernel.empty()) {
    if (n.hasAttr("kernel_shape") && !n.failed() && ArrayRef(window.kernel) != kernel)
      n.failAttribute("kernel_shape", "differs from the shape of the filter");
    window.kernel.assign(kernel.begin(), kernel.end());
  }
  window.strides = readList(n, "strides", numDims, 1, 1);
  window.dilations = readList(n, "dilations", numDims, 1, 1);
  window.autoPad = n.choiceAttr("auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
  window.pads.assign(2 * numDims, 0);
  if (window.autoPad == "NOTSET")
    window.pads = readList(n, "pads", 2 * numDims, 0, 0);
  if (n.failed())
    return std::nullopt;
  return window;
}

void resolveAutoPad(Window &window, ArrayRef<int64_t> spatial) {
  if (!StringRef(window.autoPad).starts_with("SAME"))
    return;
  for (auto [dim, size] : llvm::enumerate(spatial))
    window.padSame(dim, size, window.moreAtEnd());
}

std::optional<Window> readPoolWindow(NodeContext &n, Value images) {
  if (n.failed())
    return std::nullopt;
  ArrayRef<int64_t> spatial = n.shape(images).drop_front(2);
  std::optional<Window> window = readWindow(n, spatial.size(), {});
  if (window)
    resolveAutoPad(*window, spatial);
  return window;
}

bool readCeilMode(NodeContext &n, const Window &window) {
  const bool ceilMode = n.boolAttr("ceil_mode", false);
  return ceilMode && !StringRef(window.autoPad).starts_with("SAME");
}

} // namespace atc::onnx_import
