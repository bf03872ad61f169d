//===-- Images.cpp - aclnn functions that resample images ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"
#include "ascend/aclnn/Taps.h"

#include "aclnnop/aclnn_ops.h"

#include <cmath>

namespace atc::ascend {

View resampled(Plan &plan, const View &self, size_t axis, const std::vector<Tap> &taps) {
  View result;
  for (const Tap &tap : taps) {
    if (!plan.isGood())
      return {};
    const int64_t count = int64_t(tap.positions.size());
    View moved = taken(plan, self, int64_t(axis), indexTensor(plan, tap.positions, {count}));
    if (taps.size() == 1)
      return moved;
    Dims dims(self.dims.size() - axis, 1);
    dims[0] = count;
    const View weights = plan.make(ACL_DOUBLE, dims);
    if (plan.isGood())
      std::copy(tap.weights.begin(), tap.weights.end(),
                static_cast<double *>(weights.memory->data()));
    moved = combined(plan, "Mul", plan.dense(moved, ACL_FLOAT), plan.dense(weights, ACL_FLOAT));
    result = result.memory ? combined(plan, "Add", result, moved) : moved;
  }
  return result;
}

/// Returns where the centre of an element lies on the old axis.
static double sourceOf(int64_t at, int64_t from, int64_t to, bool alignCorners, double scale) {
  if (alignCorners)
    return to > 1 ? double(at) * double(from - 1) / double(to - 1) : 0;
  const double step = scale > 0 ? 1 / scale : double(from) / double(to);
  // Behind the last element all are like it; positions that far are no whole numbers of 64 bits.
  return std::min((double(at) + 0.5) * step - 0.5, double(from) + 1);
}

std::vector<Tap> nearestTaps(int64_t from, int64_t to, bool isExact, double scale) {
  Tap tap;
  const double step = scale > 0 ? 1 / scale : double(from) / double(to);
  for (int64_t i = 0; i < to; ++i)
    // A tiny scale leads far beyond the axis, or to 0 * infinity.
    tap.positions.push_back(int64_t(std::fmin(
        std::fmax(std::floor((double(i) + (isExact ? 0.5 : 0)) * step), 0), double(from - 1))));
  return {tap};
}

std::vector<Tap> linearTaps(int64_t from, int64_t to, bool alignCorners, double scale) {
  std::vector<Tap> taps(2);
  for (int64_t i = 0; i < to; ++i) {
    const double source = std::max(sourceOf(i, from, to, alignCorners, scale), 0.0);
    const int64_t low = std::min(int64_t(source), from - 1);
    const double share = std::min(source - double(low), 1.0);
    taps[0].positions.push_back(low);
    taps[1].positions.push_back(std::min(low + 1, from - 1));
    taps[0].weights.push_back(1 - share);
    taps[1].weights.push_back(share);
  }
  return taps;
}

std::vector<Tap> filterTaps(int64_t from, int64_t to, bool alignCorners, double scale,
                            bool isCubic) {
  double step = scale > 0 ? 1 / scale : double(from) / double(to);
  if (alignCorners)
    step = to > 1 ? double(from - 1) / double(to - 1) : 0;
  const double stretch = std::max(step, 1.0), reach = (isCubic ? 2 : 1) * stretch;
  auto filter = [&](double x) {
    constexpr double a = -0.5; // as in PyTorch, where it differs from that without a filter
    x = std::abs(x);
    if (!isCubic)
      return x < 1 ? 1 - x : 0;
    return x < 1   ? ((a + 2) * x - (a + 3)) * x * x + 1
           : x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a
                   : 0;
  };
  std::vector<Tap> taps;
  for (int64_t i = 0; i < to; ++i) {
    const double centre = std::min(step * (double(i) + 0.5), double(from) + reach);
    const int64_t low = std::clamp<int64_t>(int64_t(centre - reach + 0.5), 0, from - 1),
                  high = std::clamp<int64_t>(int64_t(centre + reach + 0.5), low + 1, from);
    double total = 0;
    for (int64_t at = low; at < high; ++at)
      total += filter((double(at) - centre + 0.5) / stretch);
    while (int64_t(taps.size()) < std::max<int64_t>(high - low, 2)) {
      taps.emplace_back();
      taps.back().positions.assign(size_t(i), 0);
      taps.back().weights.assign(size_t(i), 0);
    }
    for (size_t tap = 0; tap < taps.size(); ++tap) {
      const int64_t at = low + int64_t(tap);
      taps[tap].positions.push_back(std::min(at, from - 1));
      taps[tap].weights.push_back(
          at < high && total != 0 ? filter((double(at) - centre + 0.5) / stretch) / total : 0);
    }
  }
  return taps;
}

std::vector<Tap> cubicTaps(int64_t from, int64_t to, bool alignCorners, double scale) {
  constexpr double a = -0.75; // as in PyTorch
  std::vector<Tap> taps(4);
  for (int64_t i = 0; i < to; ++i) {
    const double source = sourceOf(i, from, to, alignCorners, scale);
    const int64_t low = int64_t(std::floor(source));
    for (int64_t tap = 0; tap < 4; ++tap) {
      const double x = std::abs(source - double(low + tap - 1));
      taps[size_t(tap)].weights.push_back(x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1
                                                 : ((x - 5) * x + 8) * x * a - 4 * a);
      taps[size_t(tap)].positions.push_back(std::clamp<int64_t>(low + tap - 1, 0, from - 1));
    }
  }
  return taps;
}

} // namespace atc::ascend

using namespace atc::ascend;

namespace {

/// Returns images, or signals, with the axes behind the second one resampled.
template <typename Taps>
View resizedBy(Plan &plan, const View &self, const aclIntArray *outputSize, size_t axes,
               Taps tapsOf) {
  const Dims size = plan.numbers(outputSize, "outputSize");
  if (plan.isGood() &&
      (self.dims.size() != axes + 2 || size.size() != axes || countOf(self.dims) == 0 ||
       std::any_of(size.begin(), size.end(), [](int64_t n) { return n < 1; })))
    plan.reject("self %s must have %zu dims with elements, and outputSize %zu positive numbers",
                textOf(self.dims).c_str(), axes + 2, axes);
  for (int64_t count : size)
    plan.checkCount(count, "a number of outputSize");
  View result = self;
  for (size_t i = 0; plan.isGood() && i < axes; ++i)
    result = resampled(plan, result, i + 2, tapsOf(i, self.dims[i + 2], size[i]));
  return result;
}

View sampled(Plan &plan, const View &input, const View &grid, int64_t interpolation,
             int64_t padding, bool alignCorners) {
  static constexpr const char *modes[] = {"bilinear", "nearest", "bicubic"};
  static constexpr const char *paddings[] = {"zeros", "border", "reflection"};
  if (plan.isGood() && (interpolation < 0 || interpolation > 2 || padding < 0 || padding > 2))
    plan.reject("interpolationMode and paddingMode must be 0 to 2");
  if (plan.isGood() && (input.dims.size() != 4 || grid.dims.size() != 4 || grid.dims[3] != 2 ||
                        grid.dims[0] != input.dims[0]))
    plan.reject("input %s must have 4 dims, and grid %s be [N, height, width, 2]",
                textOf(input.dims).c_str(), textOf(grid.dims).c_str());
  if (!plan.isGood())
    return {};
  return plan.apply("GridSample", {plan.dense(input, ACL_FLOAT), plan.dense(grid, ACL_FLOAT)},
                    {{ACL_FLOAT, {input.dims[0], input.dims[1], grid.dims[1], grid.dims[2]}}},
                    Json::array({attribute("mode", "string", modes[interpolation]),
                                 attribute("padding_mode", "string", paddings[padding]),
                                 attribute("align_corners", "int", int64_t(alignCorners))}))[0];
}

} // namespace

ACLNN_FUNCTION(UpsampleBicubic2d,
               (const aclTensor *self, const aclIntArray *outputSize, const bool alignCorners,
                const double scalesH, const double scalesW, aclTensor *out),
               out,
               resizedBy(plan, IN(self), outputSize, 2, [&](size_t i, int64_t from, int64_t to) {
                 return cubicTaps(from, to, alignCorners, i ? scalesW : scalesH);
               }))
#define ACLNN_FILTERED(name, isCubic)                                                              \
  ACLNN_FUNCTION(                                                                                  \
      name,                                                                                        \
      (const aclTensor *input, const aclIntArray *outputSize, bool alignCorners, double scalesH,   \
       double scalesW, aclTensor *out),                                                            \
      out, resizedBy(plan, IN(input), outputSize, 2, [&](size_t i, int64_t from, int64_t to) {     \
        plan.checkCount(from / to * 4, "the elements under a filter");                             \
        return filterTaps(from, to, alignCorners, i ? scalesW : scalesH, isCubic);                 \
      }))
ACLNN_FILTERED(UpsampleBilinear2dAA, false)
ACLNN_FILTERED(UpsampleBicubic2dAA, true)
ACLNN_FUNCTION(UpsampleNearest1dV2,
               (const aclTensor *self, const aclIntArray *outputSize, float scaleL, aclTensor *out),
               out, resizedBy(plan, IN(self), outputSize, 1, [&](size_t, int64_t from, int64_t to) {
                 return nearestTaps(from, to, false, double(scaleL));
               }))
ACLNN_FUNCTION(
    UpsampleNearest3dV2,
    (const aclTensor *self, const aclIntArray *outputSize, float scalesD, float scalesH,
     float scalesW, aclTensor *out),
    out, resizedBy(plan, IN(self), outputSize, 3, [&](size_t i, int64_t from, int64_t to) {
      return nearestTaps(from, to, false, double(i == 0 ? scalesD : i == 1 ? scalesH : scalesW));
    }))
ACLNN_FUNCTION(UpsampleNearest2dV2,
               (const aclTensor *self, const aclIntArray *outputSize, float scalesH, float scalesW,
                aclTensor *out),
               out,
               resizedBy(plan, IN(self), outputSize, 2, [&](size_t i, int64_t from, int64_t to) {
                 // The scale is that of the image: its inverse is the step.
                 return nearestTaps(from, to, false, double(i ? scalesW : scalesH));
               }))
ACLNN_FUNCTION(UpsampleNearestExact2d,
               (const aclTensor *self, const aclIntArray *outputSize, double scalesH,
                double scalesW, aclTensor *out),
               out,
               resizedBy(plan, IN(self), outputSize, 2, [&](size_t i, int64_t from, int64_t to) {
                 return nearestTaps(from, to, true, i ? scalesW : scalesH);
               }))
ACLNN_FUNCTION(UpsampleNearestExact1d,
               (const aclTensor *self, const aclIntArray *outputSize, double scales,
                aclTensor *out),
               out, resizedBy(plan, IN(self), outputSize, 1, [&](size_t, int64_t from, int64_t to) {
                 return nearestTaps(from, to, true, scales);
               }))
#define ACLNN_NEAREST_OF_VOLUMES(name, isExact)                                                    \
  ACLNN_FUNCTION(                                                                                  \
      name,                                                                                        \
      (const aclTensor *self, const aclIntArray *outputSize, double scalesD, double scalesH,       \
       double scalesW, aclTensor *out),                                                            \
      out, resizedBy(plan, IN(self), outputSize, 3, [&](size_t i, int64_t from, int64_t to) {      \
        return nearestTaps(from, to, isExact, i == 0 ? scalesD : i == 1 ? scalesH : scalesW);      \
      }))
ACLNN_NEAREST_OF_VOLUMES(UpsampleNearest3d, false)
ACLNN_NEAREST_OF_VOLUMES(UpsampleNearestExact3d, true)
ACLNN_FUNCTION(UpsampleNearest1d,
               (const aclTensor *self, const aclIntArray *outputSize, aclTensor *out), out,
               resizedBy(plan, IN(self), outputSize, 1, [](size_t, int64_t from, int64_t to) {
                 return nearestTaps(from, to, false, 0);
               }))
ACLNN_FUNCTION(UpsampleLinear1d,
               (const aclTensor *self, const aclIntArray *outputSize, const bool alignCorners,
                const double scales, aclTensor *out),
               out, resizedBy(plan, IN(self), outputSize, 1, [&](size_t, int64_t from, int64_t to) {
                 return linearTaps(from, to, alignCorners, scales);
               }))
ACLNN_FUNCTION(
    UpsampleTrilinear3d,
    (const aclTensor *self, const aclIntArray *outputSize, bool alignCorners, double scalesD,
     double scalesH, double scalesW, aclTensor *out),
    out, resizedBy(plan, IN(self), outputSize, 3, [&](size_t i, int64_t from, int64_t to) {
      return linearTaps(from, to, alignCorners, i == 0 ? scalesD : i == 1 ? scalesH : scalesW);
    }))
ACLNN_FUNCTION(GridSampler2D,
               (const aclTensor *input, const aclTensor *grid, int64_t interpolationMode,
                int64_t paddingMode, bool alignCorners, aclTensor *out),
               out,
               sampled(plan, IN(input), IN(grid), interpolationMode, paddingMode, alignCorners))
