//===-- Sampling.cpp - aclnn functions that sample images at computed positions -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "acl/acl_rt.h"
#include "aclnnop/aclnn_ops.h"

#include <array>
#include <cmath>

using namespace atc::ascend;

namespace {

/// Holds what grids are applied to.
struct Grids {
  int64_t batch = 0, channels = 0, height = 0, width = 0, points = 0;
  int64_t interpolation = 0, padding = 0;
  bool alignCorners = false, wantsInput = false, wantsGrid = false;
};

/// A position on an axis, and its slope by the number of the grid.
struct Spot {
  double at = 0, slope = 0;
};

Spot clipped(Spot position, int64_t size) {
  // Also where it is no number, as in PyTorch.
  if (!(position.at > 0))
    return {0, 0};
  return position.at >= double(size - 1) ? Spot{double(size - 1), 0} : position;
}

/// Mirrors at the edges of an axis.
Spot mirrored(Spot position, double low, double high) {
  if (low == high)
    return {0, 0};
  const double span = high - low;
  double at = position.at - low, sign = 1;
  if (at < 0) {
    at = -at;
    sign = -1;
  }
  const double rest = std::fmod(at, span);
  if (std::fmod(std::floor(at / span), 2) == 0)
    return {rest + low, position.slope * sign};
  return {span - rest + low, -position.slope * sign};
}

Spot padded(const Grids &all, Spot position, int64_t size) {
  if (all.padding == 2)
    position = all.alignCorners ? mirrored(position, 0, double(size - 1))
                                : mirrored(position, -.5, double(size) - .5);
  return all.padding == 0 ? position : clipped(position, size);
}

Spot onAxis(const Grids &all, double number, int64_t size) {
  if (all.alignCorners)
    return {(number + 1) / 2 * double(size - 1), double(size - 1) / 2};
  return {((number + 1) * double(size) - 1) / 2, double(size) / 2};
}

/// The elements of an axis that a position reads, with their weights and the slopes of these.
struct Taps {
  int count = 0;
  std::array<double, 4> index = {}, weight = {}, slope = {};
};

Taps tapsOf(const Grids &all, double number, int64_t size) {
  Taps taps;
  if (all.interpolation == 2) {
    const Spot position = onAxis(all, number, size);
    const double first = std::floor(position.at), t = position.at - first, a = -.75;
    taps.count = 4;
    for (int i = 0; i < 4; ++i) {
      taps.index[size_t(i)] = padded(all, {first - 1 + i, 0}, size).at;
      // The distance, which grows with t for the elements in front of the position.
      const double d = i < 2 ? t + 1 - i : i - 1 - t, sign = i < 2 ? 1 : -1;
      const bool isNear = i == 1 || i == 2;
      taps.weight[size_t(i)] =
          isNear ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
      taps.slope[size_t(i)] =
          position.slope * sign *
          (isNear ? (3 * (a + 2) * d - 2 * (a + 3)) * d : (3 * a * d - 10 * a) * d + 8 * a);
    }
    return taps;
  }
  const Spot position = padded(all, onAxis(all, number, size), size);
  if (all.interpolation == 1) {
    taps.count = 1;
    taps.index[0] = std::nearbyint(position.at);
    taps.weight[0] = 1;
    return taps;
  }
  const double first = std::floor(position.at), t = position.at - first;
  taps.count = 2;
  taps.index = {first, first + 1};
  taps.weight = {1 - t, t};
  taps.slope = {-position.slope, position.slope};
  return taps;
}

bool isOn(double index, int64_t size) { return index >= 0 && index < double(size); }

/// at[0] gradients of the results, at[1] images, at[2] grids, at[3] gradients of images, at[4] of
/// grids.
aclError gridGradients(const Grids &all, const std::vector<char *> &at) {
  auto *given = reinterpret_cast<const double *>(at[0]),
       *image = reinterpret_cast<const double *>(at[1]),
       *grid = reinterpret_cast<const double *>(at[2]);
  auto *ofImage = reinterpret_cast<double *>(at[3]), *ofGrid = reinterpret_cast<double *>(at[4]);
  const int64_t whole = all.height * all.width;
  if (all.wantsInput)
    std::fill(ofImage, ofImage + all.batch * all.channels * whole, 0.);
  for (int64_t n = 0; n < all.batch; ++n)
    for (int64_t point = 0; point < all.points; ++point) {
      const double *xy = grid + (n * all.points + point) * 2;
      const Taps x = tapsOf(all, xy[0], all.width), y = tapsOf(all, xy[1], all.height);
      double byX = 0, byY = 0;
      for (int j = 0; j < y.count; ++j)
        for (int i = 0; i < x.count; ++i) {
          const size_t iy = size_t(j), ix = size_t(i);
          if (!isOn(y.index[iy], all.height) || !isOn(x.index[ix], all.width))
            continue;
          const int64_t position = int64_t(y.index[iy]) * all.width + int64_t(x.index[ix]);
          for (int64_t c = 0; c < all.channels; ++c) {
            const int64_t plane = n * all.channels + c;
            const double gradient = given[plane * all.points + point];
            if (all.wantsInput)
              ofImage[plane * whole + position] += gradient * x.weight[ix] * y.weight[iy];
            const double value = image[plane * whole + position] * gradient;
            byX += value * x.slope[ix] * y.weight[iy];
            byY += value * x.weight[ix] * y.slope[iy];
          }
        }
      if (all.wantsGrid) {
        ofGrid[(n * all.points + point) * 2] = byX;
        ofGrid[(n * all.points + point) * 2 + 1] = byY;
      }
    }
  return ACL_SUCCESS;
}

/// Holds the dims of an attention that samples images of several sizes.
struct Levels {
  int64_t batch = 0, positions = 0, heads = 0, channels = 0, queries = 0, levels = 0, points = 0;
};

/// at[0] values, at[1] sizes and at[2] starts of levels, at[3] positions, at[4] weights, at[5]
/// sums.
aclError attend(const Levels &all, const std::vector<char *> &at) {
  auto *value = reinterpret_cast<const double *>(at[0]),
       *where = reinterpret_cast<const double *>(at[3]),
       *weight = reinterpret_cast<const double *>(at[4]);
  auto *sizes = reinterpret_cast<const int64_t *>(at[1]),
       *starts = reinterpret_cast<const int64_t *>(at[2]);
  auto *sum = reinterpret_cast<double *>(at[5]);
  for (int64_t l = 0; l < all.levels; ++l) {
    const int64_t height = sizes[2 * l], width = sizes[2 * l + 1];
    if (height < 1 || width < 1 || height > all.positions || width > all.positions ||
        starts[l] < 0 || starts[l] > all.positions - height * width)
      return ACL_ERROR_INVALID_PARAM;
  }
  std::fill(sum, sum + all.batch * all.queries * all.heads * all.channels, 0.);
  for (int64_t row = 0; row < all.batch * all.queries * all.heads; ++row) {
    const int64_t head = row % all.heads, n = row / (all.heads * all.queries);
    for (int64_t i = 0; i < all.levels * all.points; ++i) {
      const int64_t l = i / all.points, sample = row * all.levels * all.points + i,
                    height = sizes[2 * l], width = sizes[2 * l + 1];
      const double x = where[2 * sample] * double(width) - .5,
                   y = where[2 * sample + 1] * double(height) - .5, left = std::floor(x),
                   top = std::floor(y);
      for (int corner = 0; corner < 4; ++corner) {
        const double column = left + corner % 2, line = top + corner / 2;
        if (!isOn(column, width) || !isOn(line, height))
          continue;
        const double share =
            weight[sample] * (1 - std::fabs(x - column)) * (1 - std::fabs(y - line));
        const int64_t position =
            n * all.positions + starts[l] + int64_t(line) * width + int64_t(column);
        const double *from = value + (position * all.heads + head) * all.channels;
        for (int64_t c = 0; c < all.channels; ++c)
          sum[row * all.channels + c] += share * from[c];
      }
    }
  }
  return ACL_SUCCESS;
}

} // namespace

aclnnStatus aclnnGridSampler2DBackwardGetWorkspaceSize(
    const aclTensor *gradOutput, const aclTensor *input, const aclTensor *grid,
    int64_t interpolationMode, int64_t paddingMode, bool alignCorners,
    const aclBoolArray *outputMask, aclTensor *inputGrad, aclTensor *gridGrad, uint64_t *size,
    aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = IN(gradOutput), images = IN(input), grids = IN(grid);
  const std::vector<bool> isWanted = plan.truths(outputMask, "outputMask");
  if (plan.isGood() && isWanted.size() != 2)
    plan.reject("outputMask has %zu elements; give 2", isWanted.size());
  const bool wantsInput = plan.isGood() && isWanted[0], wantsGrid = plan.isGood() && isWanted[1];
  const View ofInput = plan.output(inputGrad, "inputGrad", !wantsInput),
             ofGrid = plan.output(gridGrad, "gridGrad", !wantsGrid);
  if (interpolationMode < 0 || interpolationMode > 2 || paddingMode < 0 || paddingMode > 2)
    plan.reject("interpolationMode is %lld and paddingMode %lld; each must be 0 to 2",
                (long long)interpolationMode, (long long)paddingMode);
  if (plan.isGood() &&
      (images.dims.size() != 4 || grids.dims.size() != 4 || given.dims.size() != 4 ||
       grids.dims[3] != 2 || grids.dims[0] != images.dims[0] || countOf(images.dims) == 0 ||
       given.dims != Dims{images.dims[0], images.dims[1], grids.dims[1], grids.dims[2]}))
    plan.reject("input %s must have 4 dims, grid %s be [N, height, width, 2], and gradOutput %s "
                "[N, C, height, width]",
                textOf(images.dims).c_str(), textOf(grids.dims).c_str(),
                textOf(given.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  const Grids all{images.dims[0],
                  images.dims[1],
                  images.dims[2],
                  images.dims[3],
                  grids.dims[1] * grids.dims[2],
                  interpolationMode,
                  paddingMode,
                  alignCorners,
                  wantsInput,
                  wantsGrid};
  const View toInput = plan.make(ACL_DOUBLE, wantsInput ? images.dims : Dims{1}),
             toGrid = plan.make(ACL_DOUBLE, wantsGrid ? grids.dims : Dims{1});
  plan.onHost({plan.dense(given, ACL_DOUBLE), plan.dense(images, ACL_DOUBLE),
               plan.dense(grids, ACL_DOUBLE), toInput, toGrid},
              [all](const std::vector<char *> &at) { return gridGradients(all, at); });
  if (wantsInput)
    plan.write(toInput, ofInput);
  if (wantsGrid)
    plan.write(toGrid, ofGrid);
  return plan.finish(size, executor);
}
ACLNN_RUN(GridSampler2DBackward)

aclnnStatus aclnnMultiScaleDeformableAttnFunctionGetWorkspaceSize(
    const aclTensor *value, const aclTensor *spatialShape, const aclTensor *levelStartIndex,
    const aclTensor *location, const aclTensor *attnWeight, aclTensor *output, uint64_t *size,
    aclOpExecutor **executor) {
  Plan plan(__func__);
  const View values = IN(value), sizes = IN(spatialShape), starts = IN(levelStartIndex),
             positions = IN(location), weights = IN(attnWeight), y = plan.output(output, "output");
  bool fits = plan.isGood() && values.dims.size() == 4 && positions.dims.size() == 6 &&
              weights.dims == Dims(positions.dims.begin(), positions.dims.end() - 1) &&
              positions.dims[5] == 2 && positions.dims[0] == values.dims[0] &&
              positions.dims[2] == values.dims[2] && sizes.dims == Dims{positions.dims[3], 2} &&
              countOf(starts.dims) == positions.dims[3];
  if (plan.isGood() && !fits)
    plan.reject(
        "value %s must be [batch, positions, heads, channels], location %s [batch, queries, "
        "heads, levels, points, 2], attnWeight %s the same without its last dim, and "
        "spatialShape %s [levels, 2]",
        textOf(values.dims).c_str(), textOf(positions.dims).c_str(), textOf(weights.dims).c_str(),
        textOf(sizes.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  const Levels all{values.dims[0],    values.dims[1],    values.dims[2],   values.dims[3],
                   positions.dims[1], positions.dims[3], positions.dims[4]};
  const Dims dims{all.batch, all.queries, all.heads * all.channels};
  if (y.dims != dims && y.dims != Dims{all.batch, all.queries, all.heads, all.channels})
    plan.reject("output %s must be %s", textOf(y.dims).c_str(), textOf(dims).c_str());
  const View sums = plan.make(ACL_DOUBLE, y.dims);
  if (!plan.isGood())
    return plan.finish(size, executor);
  plan.onHost({plan.dense(values, ACL_DOUBLE), plan.dense(sizes, ACL_INT64),
               plan.dense(starts, ACL_INT64), plan.dense(positions, ACL_DOUBLE),
               plan.dense(weights, ACL_DOUBLE), sums},
              [all](const std::vector<char *> &at) { return attend(all, at); });
  plan.write(sums, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(MultiScaleDeformableAttnFunction)
