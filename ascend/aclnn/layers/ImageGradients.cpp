//===-- ImageGradients.cpp - aclnn gradients of resized and padded images -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A resized or padded axis is a sum of taps; its gradient adds to the positions of the taps. It
// works on this machine, in float64.
#include "ascend/aclnn/Steps.h"
#include "ascend/aclnn/Taps.h"

#include "aclnnop/aclnn_ops.h"

using namespace atc::ascend;

namespace {

/// Returns the gradient of an axis of `from` elements, of which `gradient` has resampled ones.
View throughTaps(Plan &plan, const View &gradient, size_t axis, int64_t from,
                 const std::vector<Tap> &taps) {
  if (!plan.isGood())
    return {};
  Dims dims = gradient.dims;
  const int64_t to = dims[axis];
  dims[axis] = from;
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < dims.size(); ++i)
    if (i != axis)
      (i < axis ? outer : inner) *= dims[i];
  const View g = plan.dense(gradient, ACL_DOUBLE), result = plan.make(ACL_DOUBLE, dims);
  plan.onHost({g, result}, [=](const std::vector<char *> &at) -> aclError {
    auto *source = reinterpret_cast<const double *>(at[0]);
    auto *sum = reinterpret_cast<double *>(at[1]);
    std::fill(sum, sum + outer * from * inner, 0);
    for (int64_t o = 0; o < outer; ++o)
      for (const Tap &tap : taps)
        for (int64_t i = 0; i < to; ++i) {
          const double weight = tap.weights.empty() ? 1 : tap.weights[size_t(i)];
          const double *row = source + (o * to + i) * inner;
          double *target = sum + (o * from + tap.positions[size_t(i)]) * inner;
          for (int64_t k = 0; k < inner; ++k)
            target[k] += weight * row[k];
        }
    return ACL_SUCCESS;
  });
  return result;
}

/// Returns the gradient of images, or signals, whose axes behind the second one were resampled.
template <typename Taps>
View resizedGradient(Plan &plan, const View &gradient, const aclIntArray *outputSize,
                     const aclIntArray *inputSize, size_t axes, Taps tapsOf) {
  const Dims to = plan.numbers(outputSize, "outputSize"),
             from = plan.numbers(inputSize, "inputSize");
  for (int64_t count : from)
    plan.checkCount(count, "a number of inputSize");
  if (plan.isGood() &&
      (gradient.dims.size() != axes + 2 || from.size() != axes + 2 || to.size() != axes ||
       !std::equal(to.begin(), to.end(), gradient.dims.begin() + 2) ||
       !std::equal(from.begin(), from.begin() + 2, gradient.dims.begin()) ||
       countOf(gradient.dims) == 0 ||
       std::any_of(from.begin(), from.end(), [](int64_t n) { return n < 1; })))
    plan.reject("gradOut %s must have %zu dims with elements, of which outputSize %s are the last, "
                "and inputSize %s be its first two and %zu positive numbers",
                textOf(gradient.dims).c_str(), axes + 2, textOf(to).c_str(), textOf(from).c_str(),
                axes);
  View result = gradient;
  for (size_t i = 0; plan.isGood() && i < axes; ++i)
    result = throughTaps(plan, result, i + 2, from[i + 2], tapsOf(i, from[i + 2], to[i]));
  return result;
}

/// The rule by which a pad fills the elements before and after an axis.
enum class PadMode { Reflection, Replication, Circular };

/// Checks numbers of elements that are added to the last axes of `dims`, and adds them: `pads` has
/// both numbers of the last axis first.
Dims paddedDims(Plan &plan, const Dims &dims, const aclIntArray *padding, size_t axes,
                PadMode mode) {
  const Dims pads = plan.numbers(padding, "padding");
  Dims all = dims;
  if (plan.isGood() && (pads.size() != 2 * axes || dims.size() <= axes || dims.size() > axes + 2))
    plan.reject("padding %s must have %zu numbers, and self %s %zu or %zu dims",
                textOf(pads).c_str(), 2 * axes, textOf(dims).c_str(), axes + 1, axes + 2);
  for (size_t i = 0; plan.isGood() && i < axes; ++i) {
    const size_t position = 2 * (axes - 1 - i);
    const int64_t from = dims[dims.size() - axes + i], low = pads[position],
                  high = pads[position + 1];
    const int64_t max = mode == PadMode::Reflection ? from - 1
                        : mode == PadMode::Circular ? from
                                                    : int64_t(1) << 31;
    if (from < 1 || std::min(low, high) < 0 || std::max(low, high) > max)
      plan.reject("padding %s must be from 0 to %lld along an axis of %lld elements",
                  textOf(pads).c_str(), (long long)max, (long long)from);
    all[dims.size() - axes + i] = from + low + high;
    plan.checkCount(from + low + high, "a padded axis");
  }
  return all;
}

/// Returns the taps of the last axes of `dims`, with elements added in front and behind.
std::vector<std::vector<Tap>> padTaps(Plan &plan, const Dims &dims, const aclIntArray *padding,
                                      size_t axes, PadMode mode) {
  const Dims pads = plan.numbers(padding, "padding");
  std::vector<std::vector<Tap>> all;
  for (size_t i = 0; plan.isGood() && i < axes; ++i) {
    const size_t position = 2 * (axes - 1 - i);
    const int64_t from = dims[dims.size() - axes + i], low = pads[position],
                  high = pads[position + 1];
    Tap tap;
    for (int64_t k = -low; plan.isGood() && k < from + high; ++k) {
      const int64_t mirrored = k < 0 ? -k : k >= from ? 2 * (from - 1) - k : k;
      tap.positions.push_back(mode == PadMode::Reflection    ? mirrored
                              : mode == PadMode::Replication ? std::clamp<int64_t>(k, 0, from - 1)
                                                             : (k + from) % from);
    }
    all.push_back({tap});
  }
  return all;
}

View paddedGradient(Plan &plan, const View &gradient, const View &self, const aclIntArray *padding,
                    size_t axes, PadMode mode) {
  const Dims want = paddedDims(plan, self.dims, padding, axes, mode);
  if (plan.isGood() && gradient.dims != want)
    plan.reject("gradOutput %s must be %s", textOf(gradient.dims).c_str(), textOf(want).c_str());
  const auto taps = padTaps(plan, self.dims, padding, axes, mode);
  View result = gradient;
  for (size_t i = 0; plan.isGood() && i < axes; ++i) {
    const size_t axis = want.size() - axes + i;
    result = throughTaps(plan, result, axis, self.dims[axis], taps[i]);
  }
  return result;
}

View circularPad(Plan &plan, const View &self, const aclIntArray *padding, size_t axes) {
  paddedDims(plan, self.dims, padding, axes, PadMode::Circular);
  const auto taps = padTaps(plan, self.dims, padding, axes, PadMode::Circular);
  View result = self;
  for (size_t i = 0; plan.isGood() && i < axes; ++i)
    result = resampled(plan, result, self.dims.size() - axes + i, taps[i]);
  return result;
}

/// Adds columns of windows to the positions of images that they were taken from.
View foldedColumns(Plan &plan, const View &columns, const aclIntArray *inputSize,
                   const aclIntArray *kernelSize, const aclIntArray *dilation,
                   const aclIntArray *padding, const aclIntArray *stride) {
  const Dims from = plan.numbers(inputSize, "inputSize"),
             kernel = plan.numbers(kernelSize, "kernelSize"),
             spread = plan.numbers(dilation, "dilation"), pads = plan.numbers(padding, "padding"),
             steps = plan.numbers(stride, "stride");
  constexpr int64_t max = 1 << 24;
  auto areFrom = [](const Dims &numbers, int64_t min) {
    return numbers.size() == 2 && std::all_of(numbers.begin(), numbers.end(),
                                              [&](int64_t n) { return n >= min && n <= max; });
  };
  if (plan.isGood() && !(areFrom(from, 1) && areFrom(kernel, 1) && areFrom(spread, 1) &&
                         areFrom(pads, 0) && areFrom(steps, 1)))
    plan.reject("inputSize, kernelSize, dilation, padding and stride must have 2 numbers each, up "
                "to %lld, and only padding may be 0",
                (long long)max);
  const size_t rank = columns.dims.size();
  if (plan.isGood() && rank != 2 && rank != 3)
    plan.reject("gradOutput %s must have 2 or 3 dims", textOf(columns.dims).c_str());
  if (!plan.isGood())
    return {};
  int64_t windows[2];
  for (size_t i = 0; i < 2; ++i) {
    const int64_t free = from[i] + 2 * pads[i] - spread[i] * (kernel[i] - 1) - 1;
    windows[i] = free < 0 ? 0 : free / steps[i] + 1;
  }
  const int64_t taps = kernel[0] * kernel[1], rows = columns.dims[rank - 2];
  if (rows % taps || columns.dims[rank - 1] != windows[0] * windows[1] || rows == 0)
    plan.reject("gradOutput %s must have a multiple of %lld rows and %lld columns",
                textOf(columns.dims).c_str(), (long long)taps,
                (long long)(windows[0] * windows[1]));
  Dims dims(columns.dims.begin(), columns.dims.end() - 2);
  dims.insert(dims.end(), {rows / taps, from[0], from[1]});
  for (int64_t count : from)
    plan.checkCount(count, "a number of inputSize");
  const View g = plan.dense(columns, ACL_DOUBLE), result = plan.make(ACL_DOUBLE, dims);
  if (!plan.isGood())
    return {};
  const int64_t planes = countOf(dims) / (from[0] * from[1]), ny = windows[0], nx = windows[1];
  plan.onHost({g, result}, [=](const std::vector<char *> &at) -> aclError {
    auto *source = reinterpret_cast<const double *>(at[0]);
    auto *sum = reinterpret_cast<double *>(at[1]);
    std::fill(sum, sum + planes * from[0] * from[1], 0);
    for (int64_t row = 0; row < planes * taps; ++row)
      for (int64_t i = 0; i < ny * nx; ++i) {
        const int64_t tap = row % taps;
        const int64_t y = i / nx * steps[0] - pads[0] + tap / kernel[1] * spread[0],
                      x = i % nx * steps[1] - pads[1] + tap % kernel[1] * spread[1];
        if (y >= 0 && y < from[0] && x >= 0 && x < from[1])
          sum[(row / taps * from[0] + y) * from[1] + x] += source[row * ny * nx + i];
      }
    return ACL_SUCCESS;
  });
  return result;
}

/// Adds windows of a dim, whose elements are the last dim, to the positions that they were taken
/// from.
View unfoldGradient(Plan &plan, const View &windows, const aclIntArray *inputSizes, int64_t dim,
                    int64_t size, int64_t step) {
  const Dims dims = plan.numbers(inputSizes, "inputSizes");
  if (plan.isGood() && std::any_of(dims.begin(), dims.end(), [](int64_t n) { return n < 1; }))
    plan.reject("inputSizes %s must be positive numbers", textOf(dims).c_str());
  const int64_t axis = plan.axisOf(dim, dims.size());
  Dims want = dims;
  if (plan.isGood() && !dims.empty() && size > 0 && size <= dims[size_t(axis)] && step > 0) {
    want[size_t(axis)] = (dims[size_t(axis)] - size) / step + 1;
    want.push_back(size);
  }
  if (plan.isGood() && (want.size() == dims.size() || windows.dims != want))
    plan.reject("gradOut %s must be %s with a last dim of size %lld, which is 1 to the dim's, in "
                "steps %lld of 1 or more",
                textOf(windows.dims).c_str(), textOf(want).c_str(), (long long)size,
                (long long)step);
  if (!plan.isGood())
    return {};
  const View result = plan.make(ACL_DOUBLE, dims);
  const int64_t count = want[size_t(axis)], whole = dims[size_t(axis)];
  int64_t inner = 1;
  for (size_t i = size_t(axis) + 1; i < dims.size(); ++i)
    inner *= dims[i];
  plan.onHost({plan.dense(windows, ACL_DOUBLE), result},
              [=, all = countOf(dims)](const std::vector<char *> &at) -> aclError {
                auto *from = reinterpret_cast<const double *>(at[0]);
                auto *sum = reinterpret_cast<double *>(at[1]);
                std::fill(sum, sum + all, 0);
                for (int64_t outer = 0; outer < all / (whole * inner); ++outer)
                  for (int64_t window = 0; window < count; ++window)
                    for (int64_t i = 0; i < inner; ++i)
                      for (int64_t k = 0; k < size; ++k)
                        sum[(outer * whole + window * step + k) * inner + i] += *from++;
                return ACL_SUCCESS;
              });
  return result;
}

/// Returns the scale of axis i, of scales in the order of the axes.
template <typename... Scales> double ofAxis(size_t i, Scales... scales) {
  const double all[] = {scales...};
  return all[i];
}

} // namespace

#define RESIZED(name, axes, arguments, ...)                                                        \
  ACLNN_FUNCTION(Upsample##name##Backward,                                                         \
                 (const aclTensor *gradOut, const aclIntArray *outputSize,                         \
                  const aclIntArray *inputSize, ACLNN_UNPACK arguments, aclTensor *gradInput),     \
                 gradInput,                                                                        \
                 resizedGradient(plan, IN(gradOut), outputSize, inputSize, axes,                   \
                                 [&]([[maybe_unused]] size_t i, int64_t from, int64_t to) {        \
                                   return __VA_ARGS__;                                             \
                                 }))
RESIZED(Nearest1d, 1, (double scales), nearestTaps(from, to, false, scales))
RESIZED(Nearest2d, 2, (double scalesH, double scalesW),
        nearestTaps(from, to, false, ofAxis(i, scalesH, scalesW)))
RESIZED(Nearest3d, 3, (double scalesD, double scalesH, double scalesW),
        nearestTaps(from, to, false, ofAxis(i, scalesD, scalesH, scalesW)))
RESIZED(NearestExact1d, 1, (double scales), nearestTaps(from, to, true, scales))
RESIZED(NearestExact2d, 2, (double scalesH, double scalesW),
        nearestTaps(from, to, true, ofAxis(i, scalesH, scalesW)))
RESIZED(NearestExact3d, 3, (double scalesD, double scalesH, double scalesW),
        nearestTaps(from, to, true, ofAxis(i, scalesD, scalesH, scalesW)))
RESIZED(Linear1d, 1, (bool alignCorners, double scales), linearTaps(from, to, alignCorners, scales))
RESIZED(Bilinear2d, 2, (bool alignCorners, double scalesH, double scalesW),
        linearTaps(from, to, alignCorners, ofAxis(i, scalesH, scalesW)))
ACLNN_FUNCTION(UpsampleBilinear2dBackwardV2,
               (const aclTensor *gradOut, const aclIntArray *outputSize,
                const aclIntArray *inputSize, bool alignCorners, double scalesH, double scalesW,
                aclTensor *gradInput),
               gradInput,
               resizedGradient(plan, IN(gradOut), outputSize, inputSize, 2,
                               [&](size_t i, int64_t from, int64_t to) {
                                 return linearTaps(from, to, alignCorners,
                                                   ofAxis(i, scalesH, scalesW));
                               }))
RESIZED(Bicubic2d, 2, (bool alignCorners, double scalesH, double scalesW),
        cubicTaps(from, to, alignCorners, ofAxis(i, scalesH, scalesW)))
RESIZED(Trilinear3d, 3, (bool alignCorners, double scalesD, double scalesH, double scalesW),
        linearTaps(from, to, alignCorners, ofAxis(i, scalesD, scalesH, scalesW)))

#define PADDED(name, axes, mode)                                                                   \
  ACLNN_FUNCTION(name##axes##dBackward,                                                            \
                 (const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *padding,  \
                  aclTensor *gradInput),                                                           \
                 gradInput,                                                                        \
                 paddedGradient(plan, IN(gradOutput), IN(self), padding, axes, PadMode::mode))
PADDED(ReflectionPad, 1, Reflection)
PADDED(ReflectionPad, 2, Reflection)
PADDED(ReflectionPad, 3, Reflection)
PADDED(ReplicationPad, 1, Replication)
PADDED(ReplicationPad, 2, Replication)
PADDED(ReplicationPad, 3, Replication)
PADDED(CircularPad, 2, Circular)
PADDED(CircularPad, 3, Circular)
#define CIRCULAR(axes)                                                                             \
  ACLNN_FUNCTION(CircularPad##axes##d,                                                             \
                 (const aclTensor *self, const aclIntArray *padding, aclTensor *out), out,         \
                 circularPad(plan, IN(self), padding, axes))
CIRCULAR(2)
CIRCULAR(3)

ACLNN_FUNCTION(Im2colBackward,
               (const aclTensor *gradOutput, const aclIntArray *inputSize,
                const aclIntArray *kernelSize, const aclIntArray *dilation,
                const aclIntArray *padding, const aclIntArray *stride, aclTensor *out),
               out,
               foldedColumns(plan, IN(gradOutput), inputSize, kernelSize, dilation, padding,
                             stride))
ACLNN_FUNCTION(UnfoldGrad,
               (const aclTensor *gradOut, const aclIntArray *inputSizes, int64_t dim, int64_t width,
                int64_t step, const aclTensor *gradIn),
               gradIn, unfoldGradient(plan, IN(gradOut), inputSizes, dim, width, step))
