//===-- DynamicWindows.cpp - windows of images of dynamic size ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <limits>

#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// Returns, for each pixel of a window, the image [N, H, W, C] at that pixel of all windows, by
/// rows. `padding` stands for pixels outside the image.
SmallVector<Value> slicesOfWindows(TensorMath &m, Value image, ArrayRef<int64_t> kernel,
                                   double padding) {
  NodeContext &n = m.n;
  ImageLayout layout(n, 4);
  SmallVector<int64_t> strides = layout.spatial(n, "strides"), rates = layout.spatial(n, "rates");
  std::string mode = n.stringAttr("padding", "VALID");
  if (!n.failed() && mode != "SAME" && mode != "VALID")
    n.failAttribute("padding", "is '" + mode + "', expected SAME or VALID");
  if (n.failed())
    return {};
  int64_t extent[2];
  for (int dim : {0, 1}) {
    for (int64_t number : {kernel[dim], strides[dim], rates[dim]})
      if (number < 1 || number > maxDim) {
        n.failNode("has a window, stride or rate of " + Twine(number) + ", which is out of range");
        return {};
      }
    extent[dim] = (kernel[dim] - 1) * rates[dim] + 1;
  }
  if (kernel[0] * kernel[1] > (1 << 12)) {
    n.failNode("has a window of more than 4096 pixels, which is not supported here");
    return {};
  }
  Value zero = m.index(0), one = m.index(1);
  SmallVector<Value> lows, highs, reaches;
  for (int dim : {0, 1}) {
    Value size = m.dim(image, dim + 1), stride = m.index(strides[dim]);
    Value whole = m.index(extent[dim]);
    if (mode == "SAME") {
      // One window per started stride, centered, with the odd pad behind.
      Value windows = m.div(m.add(size, m.index(strides[dim] - 1)), stride);
      Value reach = m.mul(m.sub(windows, one), stride);
      Value pads = m.max(m.sub(m.add(reach, whole), size), zero);
      Value low = m.div(pads, m.index(2));
      lows.push_back(low);
      highs.push_back(m.sub(pads, low));
      reaches.push_back(reach);
    } else {
      Value windows = m.add(m.div(m.sub(size, whole), stride), one);
      reaches.push_back(m.mul(m.sub(windows, one), stride));
    }
  }
  if (!lows.empty())
    image = n.callHost("Pad",
                       {image, m.shapeOf({lows[0], lows[1], highs[0], highs[1]}),
                        n.scalarLike(padding, image), n.intList({1, 2})},
                       {n.hostText("mode", "constant")});
  SmallVector<Value> slices;
  for (int64_t row = 0; row < kernel[0] && !n.failed(); ++row)
    for (int64_t column = 0; column < kernel[1] && !n.failed(); ++column) {
      const int64_t at[] = {row * rates[0], column * rates[1]};
      Value last =
          m.shapeOf({m.add(reaches[0], m.index(at[0] + 1)), m.add(reaches[1], m.index(at[1] + 1))});
      slices.push_back(n.callHost("Slice", {image, n.intList({at[0], at[1]}), last,
                                            n.intList({1, 2}), n.intList(strides)}));
    }
  return slices;
}

} // namespace

void importDynamicPatches(NodeContext &n) {
  Value image = withRank(n, 0, 4);
  ImageLayout layout(n, 4);
  SmallVector<int64_t> kernel = layout.spatial(n, "ksizes");
  if (n.failed())
    return;
  TensorMath m(n);
  SmallVector<Value> slices = slicesOfWindows(m, image, kernel, 0);
  if (!n.failed())
    n.setOutput(m.concat(slices, 3));
}

void importDynamicDilation(NodeContext &n) {
  Value image = withRank(n, 0, 4), filter = withRank(n, 1, 3);
  if (n.failed())
    return;
  if (!NodeContext::isStatic(filter))
    return n.failInput(1, "has a shape that is not fixed");
  if (!n.isFloat(image))
    return n.failInput(0, "must hold floats");
  SmallVector<int64_t> shape(n.shape(filter));
  TensorMath m(n);
  // Pads never win.
  SmallVector<Value> slices = slicesOfWindows(m, image, ArrayRef(shape).take_front(2),
                                              -std::numeric_limits<double>::infinity());
  if (n.failed())
    return;
  Value rows = n.reshape(filter, {shape[0] * shape[1], shape[2]}), result;
  for (auto [number, slice] : llvm::enumerate(slices)) {
    const auto row = static_cast<int64_t>(number);
    Value sum = m.add(slice, m.slice(rows, row, row + 1, 0));
    result = result ? m.max(result, sum) : sum;
  }
  n.setOutput(result);
}

void importDynamicLrn(NodeContext &n) {
  Value image = withRank(n, 0, 4);
  const int64_t radius = n.intAttr("depth_radius", 5);
  if (!n.failed() && (radius < 0 || radius > (1 << 20)))
    n.failAttribute("depth_radius", Twine(radius) + " is out of range");
  if (n.failed())
    return;
  const int64_t size = 2 * radius + 1;
  // The kernel divides alpha by the number of channels in a window.
  Value result =
      n.callHost("LRN", {n.transpose(image, {0, 3, 1, 2})},
                 {n.hostInts("size", {size}), n.hostFloats("bias", {n.floatAttr("bias", 1)}),
                  n.hostFloats("alpha", {n.floatAttr("alpha", 1) * static_cast<double>(size)}),
                  n.hostFloats("beta", {n.floatAttr("beta", 0.5)})});
  if (!n.failed())
    n.setOutput(n.transpose(result, {0, 2, 3, 1}));
}

} // namespace atc::tf_import
