//===-- Pools.cpp - aclnn pools ------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

#include <limits>

using namespace atc::ascend;

namespace {

/// A window over the last two dims.
struct Window {
  Dims kernel, stride, dilation;
  Dims low, high; ///< pads
  bool isCeil = false;

  /// Returns how many windows a dim has; 0 where none fits.
  int64_t count(size_t dim, int64_t size) const {
    const int64_t wide = size + low[dim] + high[dim];
    const int64_t free = wide - dilation[dim] * (kernel[dim] - 1) - 1;
    if (free < 0)
      return 0;
    int64_t result = free / stride[dim] + 1;
    // A further window begins inside the image or its front pad.
    if (isCeil && free % stride[dim] && result * stride[dim] < size + low[dim])
      ++result;
    return result;
  }
};

/// Returns one number for each of two dims.
Dims pairOf(Plan &plan, const Dims &list, const char *name) {
  if (list.size() == 1)
    return {list[0], list[0]};
  if (plan.isGood() && list.size() != 2)
    plan.reject("%s must have 1 or 2 numbers", name);
  return plan.isGood() ? list : Dims{1, 1};
}

Window windowOf(Plan &plan, const View &x, const Dims &kernel, const Dims &stride, const Dims &pads,
                const Dims &dilation, bool isCeil) {
  Window window;
  window.kernel = pairOf(plan, kernel, "the kernel");
  window.stride = stride.empty() ? window.kernel : pairOf(plan, stride, "stride");
  window.dilation = dilation.empty() ? Dims{1, 1} : pairOf(plan, dilation, "dilation");
  window.isCeil = isCeil;
  if (pads.size() == 4) { // top, bottom, left, right
    window.low = {pads[0], pads[2]};
    window.high = {pads[1], pads[3]};
  } else {
    window.low = window.high = pads.empty() ? Dims{0, 0} : pairOf(plan, pads, "padding");
  }
  if (plan.isGood() && x.dims.size() != 3 && x.dims.size() != 4)
    plan.reject("self must have 3 or 4 dims");
  for (size_t i = 0; plan.isGood() && i < 2; ++i)
    if (window.kernel[i] < 1 || window.stride[i] < 1 || window.dilation[i] < 1 ||
        window.low[i] < 0 || window.high[i] < 0 ||
        window.count(i, x.dims[x.dims.size() - 2 + i]) < 1)
      plan.reject("the window of %s, with strides %s, does not fit the image %s",
                  textOf(window.kernel).c_str(), textOf(window.stride).c_str(),
                  textOf(x.dims).c_str());
  return window;
}

/// Returns an image with 4 dims.
View imageOf(Plan &plan, const View &self) {
  View x = plan.dense(self, self.type);
  if (plan.isGood() && x.dims.size() == 3) {
    Dims dims = x.dims;
    dims.insert(dims.begin(), 1);
    x = plan.reshaped(x, dims);
  }
  return x;
}

/// Returns a result with the number of dims of `self`.
View resultOf(Plan &plan, const View &self, const View &result) {
  if (!plan.isGood() || self.dims.size() == 4)
    return result;
  return plan.reshaped(result, Dims(result.dims.begin() + 1, result.dims.end()));
}

/// Returns the elements of all windows, [N, C, kernel, windows].
View windows(Plan &plan, const View &x, const Window &window) {
  const int64_t counts[] = {window.count(0, x.dims[2]), window.count(1, x.dims[3])};
  Dims low{0, 0, window.low[0], window.low[1]}, high{0, 0, 0, 0};
  for (size_t i = 0; i < 2; ++i)
    high[i + 2] = std::max<int64_t>(0, (counts[i] - 1) * window.stride[i] +
                                           window.dilation[i] * (window.kernel[i] - 1) + 1 -
                                           x.dims[i + 2] - window.low[i]);
  const double lowest = isFloat(x.type)       ? -std::numeric_limits<double>::infinity()
                        : x.type == ACL_UINT8 ? 0
                        : x.type == ACL_INT8  ? -128
                                              : -2147483648.0;
  const View wide = padded(plan, x, low, high, lowest);
  const View result = plan.make(
      x.type, {x.dims[0], x.dims[1], window.kernel[0] * window.kernel[1], counts[0], counts[1]});
  for (int64_t i = 0; plan.isGood() && i < window.kernel[0] * window.kernel[1]; ++i) {
    View from =
        part(wide, 2, i / window.kernel[1] * window.dilation[0], counts[0], window.stride[0]);
    from = part(from, 3, i % window.kernel[1] * window.dilation[1], counts[1], window.stride[1]);
    View to = part(result, 2, i, 1);
    to.dims.erase(to.dims.begin() + 2);
    to.strides.erase(to.strides.begin() + 2);
    plan.copy(from, to);
  }
  return result;
}

View maxPool(Plan &plan, const View &self, const Window &window) {
  if (!plan.isGood())
    return {};
  const View x = imageOf(plan, self);
  const bool isPlain = window.dilation == Dims{1, 1} && !window.isCeil && isFloat(x.type);
  if (!isPlain)
    return resultOf(plan, self,
                    reduced(plan, "ReduceMaxD", windows(plan, x, window), {2}, false, x.type));
  View given = x;
  given.format = ACL_FORMAT_NCHW;
  const Dims pads{window.low[0], window.high[0], window.low[1], window.high[1]};
  const View result = plan.apply(
      "Pooling", {given},
      {{x.type, {x.dims[0], x.dims[1], window.count(0, x.dims[2]), window.count(1, x.dims[3])}}},
      Json::array({attribute("mode", "int", 0), attribute("window", "list_int", window.kernel),
                   attribute("stride", "list_int", window.stride),
                   attribute("pad", "list_int", pads), attribute("ceil_mode", "int", 1)}))[0];
  return resultOf(plan, self, result);
}

View averagePool(Plan &plan, const View &self, const Window &window, bool countsPads,
                 int64_t divisor) {
  if (plan.isGood() && divisor && window.isCeil)
    plan.reject("divisorOverride together with ceilMode has no functions here");
  if (!plan.isGood())
    return {};
  const View x = plan.dense(imageOf(plan, self), floatOf(self.type));
  const View result = plan.apply(
      "AveragePool", {x},
      {{x.type, {x.dims[0], x.dims[1], window.count(0, x.dims[2]), window.count(1, x.dims[3])}}},
      Json::array({attribute("kernel_shape", "list_int", window.kernel),
                   attribute("strides", "list_int", window.stride),
                   attribute("pads", "list_int",
                             Dims{window.low[0], window.low[1], window.high[0], window.high[1]}),
                   attribute("ceil_mode", "int", int64_t(window.isCeil)),
                   attribute("count_include_pad", "int", int64_t(countsPads || divisor))}))[0];
  const double area = double(window.kernel[0] * window.kernel[1]);
  return resultOf(plan, self,
                  divisor ? withNumber(plan, "Mul", result, area / double(divisor)) : result);
}

/// Averages parts of a dim, which overlap where its size is not divisible.
View averagedParts(Plan &plan, const View &x, size_t dim, int64_t parts) {
  Dims dims = x.dims;
  dims[dim] = parts;
  const View result = plan.make(x.type, dims);
  for (int64_t i = 0; plan.isGood() && i < parts; ++i) {
    const int64_t size = x.dims[dim], from = i * size / parts,
                  to = ((i + 1) * size + parts - 1) / parts;
    plan.copy(
        reduced(plan, "ReduceMeanD", part(x, dim, from, to - from), {int64_t(dim)}, true, x.type),
        part(result, dim, i, 1));
  }
  return result;
}

View adaptiveAverage(Plan &plan, const View &self, const aclIntArray *outputSize) {
  const Dims size = plan.numbers(outputSize, "outputSize");
  if (plan.isGood() && (size.size() != 2 || size[0] < 1 || size[1] < 1 ||
                        (self.dims.size() != 3 && self.dims.size() != 4)))
    plan.reject("self must have 3 or 4 dims, and outputSize two positive numbers");
  if (!plan.isGood())
    return {};
  const View x = plan.dense(imageOf(plan, self), floatOf(self.type));
  const View rows = averagedParts(plan, x, 2, size[0]);
  return resultOf(plan, self, averagedParts(plan, rows, 3, size[1]));
}

} // namespace

static View averageOf(Plan &plan, const View &x, const aclIntArray *kernel,
                      const aclIntArray *stride, const aclIntArray *padding, bool isCeil,
                      bool countsPads, int64_t divisor) {
  const Window window =
      windowOf(plan, x, plan.numbers(kernel, "kernelSize"), plan.numbers(stride, "stride"),
               plan.numbers(padding, "padding"), {}, isCeil);
  return averagePool(plan, x, window, countsPads, divisor);
}
ACLNN_FUNCTION(AvgPool2d,
               (const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride,
                const aclIntArray *padding, const bool ceilMode, const bool countIncludePad,
                const int64_t divisorOverride, const int8_t, aclTensor *out),
               out,
               averageOf(plan, IN(self), kernelSize, stride, padding, ceilMode, countIncludePad,
                         divisorOverride))
ACLNN_FUNCTION(AdaptiveAvgPool2d,
               (const aclTensor *self, const aclIntArray *outputSize, aclTensor *out), out,
               adaptiveAverage(plan, IN(self), outputSize))

static View maximumOf(Plan &plan, const View &x, const aclIntArray *kernel,
                      const aclIntArray *stride, int64_t autoPads, const aclIntArray *pads,
                      const aclIntArray *dilation, bool isCeil) {
  if (autoPads != 0)
    plan.reject("autoPads is %lld; it must be 0", (long long)autoPads);
  const Window window =
      windowOf(plan, x, plan.numbers(kernel, "kernelShape"), plan.numbers(stride, "strides"),
               plan.numbers(pads, "pads"), plan.numbers(dilation, "dilations"), isCeil);
  return maxPool(plan, x, window);
}
ACLNN_FUNCTION(MaxPool,
               (const aclTensor *self, const aclIntArray *kernelShape, const aclIntArray *strides,
                const int64_t autoPads, const aclIntArray *pads, const aclIntArray *dilations,
                const int64_t ceilMode, aclTensor *out),
               out,
               maximumOf(plan, IN(self), kernelShape, strides, autoPads, pads, dilations,
                         ceilMode != 0))

/// Returns the room for numbers of int32 at the beginning of bytes, the rest of which is cleared.
static View numbersIn(Plan &plan, const View &bytes, const Dims &dims) {
  if (bytes.type != ACL_INT8 || !bytes.isDense() || bytes.offset != 0 ||
      countOf(bytes.dims) < 4 * countOf(dims)) {
    plan.reject("indices must be dense bytes (int8), 4 for each element of out or more");
    return {};
  }
  plan.write(plan.broadcast(plan.constant(0, ACL_INT8), bytes.dims), bytes);
  View numbers = bytes;
  numbers.type = ACL_INT32;
  numbers.dims = dims;
  numbers.strides = denseStrides(dims);
  return numbers;
}

static aclnnStatus maxPoolWithPositions(const char *name, const aclTensor *self,
                                        const aclIntArray *kernelSize, const aclIntArray *stride,
                                        const aclIntArray *padding, const aclIntArray *dilation,
                                        bool ceilMode, aclTensor *out, aclTensor *indices,
                                        bool areBytes, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(name);
  const View given = plan.input(self, "self"), y = plan.output(out, "out");
  View positions = plan.output(indices, "indices");
  const Window window =
      windowOf(plan, given, plan.numbers(kernelSize, "kernelSize"), plan.numbers(stride, "stride"),
               plan.numbers(padding, "padding"), plan.numbers(dilation, "dilation"), ceilMode);
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View x = imageOf(plan, given);
  const View all = windows(plan, x, window);
  plan.write(resultOf(plan, given, reduced(plan, "ReduceMaxD", all, {2}, false, x.type)), y);
  // A table of the positions of all elements of all windows, and the one that the maximum has.
  const int64_t height = all.dims[3], width = all.dims[4], kernel = all.dims[2];
  Dims table;
  for (int64_t i = 0; i < kernel * height * width; ++i) {
    const int64_t element = i / (height * width), row = i / width % height, column = i % width;
    const int64_t top =
        row * window.stride[0] - window.low[0] + element / window.kernel[1] * window.dilation[0];
    const int64_t left =
        column * window.stride[1] - window.low[1] + element % window.kernel[1] * window.dilation[1];
    table.push_back(top * x.dims[3] + left);
  }
  Dims base;
  for (int64_t i = 0; i < height * width; ++i)
    base.push_back(i);
  if (areBytes) {
    Dims shape(given.dims.begin(), given.dims.end() - 2);
    shape.insert(shape.end(), {height, width});
    positions = numbersIn(plan, positions, shape);
  }
  const View own = plan.dense(positionOf(plan, "ArgMaxD", all, 2, false), ACL_INT64);
  const View position =
      combined(plan, "Add", combined(plan, "Mul", own, indexTensor(plan, {height * width}, {1})),
               indexTensor(plan, base, {height, width}));
  plan.write(resultOf(plan, given,
                      taken(plan, indexTensor(plan, table, {int64_t(table.size())}), 0, position)),
             positions);
  return plan.finish(size, executor);
}
#define ACLNN_POOL_WITH_PLACES(name, areBytes)                                                     \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride,             \
      const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode, aclTensor *out,      \
      aclTensor *indices, uint64_t *size, aclOpExecutor **executor) {                              \
    return maxPoolWithPositions(__func__, self, kernelSize, stride, padding, dilation, ceilMode,   \
                                out, indices, areBytes, size, executor);                           \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_POOL_WITH_PLACES(MaxPool2dWithIndices, false)
ACLNN_POOL_WITH_PLACES(MaxPool2dWithMask, true)
