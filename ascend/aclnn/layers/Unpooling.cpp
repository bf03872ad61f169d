//===-- Unpooling.cpp - aclnn functions that undo pools, and sample volumes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They work on this machine: which element goes where depends on values.
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "acl/acl_rt.h"
#include "aclnnop/aclnn_ops.h"

#include <array>
#include <cmath>
#include <cstring>

using namespace atc::ascend;

namespace {

/// Checks that `small` are pooled images, of `axes` dims behind one or two others, and `large` the
/// images; returns how many elements one image of each has.
std::pair<int64_t, int64_t> planes(Plan &plan, const View &small, const View &indices,
                                   const View &large, const aclIntArray *outputSize, size_t axes) {
  const Dims size = plan.numbers(outputSize, "outputSize");
  if (!plan.isGood())
    return {};
  const size_t rank = small.dims.size();
  Dims want = small.dims;
  if (size.size() == axes && rank > axes)
    std::copy(size.begin(), size.end(), want.end() - int64_t(axes));
  if (size.size() != axes || rank < axes + 1 || rank > axes + 2 || indices.dims != small.dims ||
      isFloat(indices.type) || large.dims != want || small.type != large.type) {
    plan.reject("self %s must have %zu or %zu dims, indices %s its dims, and the large image %s "
                "those with outputSize %s at their end",
                textOf(small.dims).c_str(), axes + 1, axes + 2, textOf(indices.dims).c_str(),
                textOf(large.dims).c_str(), textOf(size).c_str());
    return {};
  }
  const int64_t from = countOf({small.dims.end() - int64_t(axes), small.dims.end()}),
                to = countOf(size);
  return {from, to};
}

/// Moves elements between pooled images and large ones, of which indices name the positions.
View moved(Plan &plan, const View &given, const View &indices, const Dims &dims, int64_t small,
           int64_t large, bool isGradient) {
  if (!plan.isGood())
    return {};
  const size_t bytes = size_t(bitsOf(given.type)) / 8;
  const View result = plan.make(given.type, dims);
  const int64_t images = small ? countOf(indices.dims) / small : 0;
  plan.onHost({plan.dense(given, given.type), plan.dense(indices, ACL_INT64), result},
              [=, all = countOf(dims)](const std::vector<char *> &at) -> aclError {
                auto *index = reinterpret_cast<const int64_t *>(at[1]);
                memset(at[2], 0, size_t(all) * bytes);
                for (int64_t image = 0; image < images; ++image)
                  for (int64_t i = 0; i < small; ++i) {
                    const int64_t own = image * small + i, position = index[own];
                    if (position < 0 || position >= large)
                      return ACL_ERROR_INVALID_PARAM;
                    const int64_t other = image * large + position, from = isGradient ? other : own,
                                  to = isGradient ? own : other;
                    memcpy(at[2] + size_t(to) * bytes, at[0] + size_t(from) * bytes, bytes);
                  }
                return ACL_SUCCESS;
              });
  return result;
}

aclnnStatus unpooled(const char *name, const aclTensor *self, const aclTensor *indices,
                     const aclIntArray *outputSize, size_t axes, const aclTensor *out,
                     uint64_t *size, aclOpExecutor **executor) {
  Plan plan(name);
  const View x = IN(self), positions = IN(indices), y = plan.output(out, "out");
  const auto [small, large] = planes(plan, x, positions, y, outputSize, axes);
  plan.write(moved(plan, x, positions, y.dims, small, large, false), y);
  return plan.finish(size, executor);
}

aclnnStatus pooledGradient(const char *name, const aclTensor *gradOutput, const aclTensor *self,
                           const aclTensor *indices, const aclIntArray *outputSize, size_t axes,
                           const aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(name);
  const View gradient = IN(gradOutput), x = IN(self), positions = IN(indices),
             y = plan.output(out, "out");
  const auto [small, large] = planes(plan, x, positions, gradient, outputSize, axes);
  plan.write(moved(plan, gradient, positions, x.dims, small, large, true), y);
  return plan.finish(size, executor);
}

//===--- Sampled volumes ----------------------------------------------------===//

struct Sampling {
  int64_t batch = 0, channels = 0, points = 0;
  std::array<int64_t, 3> size = {}; ///< depth, height, width
  bool isNearest = false, alignsCorners = false;
  int64_t padding = 0; ///< 0 zeros, 1 the border, 2 reflection

  /// Returns the position on an axis that a number of the grid, of -1 to 1, names.
  double position(double number, int64_t count) const {
    double at = alignsCorners ? (number + 1) / 2 * double(count - 1)
                              : ((number + 1) * double(count) - 1) / 2;
    if (padding == 2)
      at = reflected(at, count);
    if (padding > 0)
      at = std::isnan(at) ? 0 : std::clamp(at, 0.0, double(count - 1));
    return at;
  }

private:
  double reflected(double at, int64_t count) const {
    const double low = alignsCorners ? 0 : -0.5, span = double(alignsCorners ? count - 1 : count);
    if (span == 0)
      return 0;
    const double turned = std::fmod(std::abs(at - low), 2 * span);
    return low + (turned <= span ? turned : 2 * span - turned);
  }
};

/// Returns the element at a position; 0 outside.
double elementAt(const Sampling &all, const double *volume, const std::array<int64_t, 3> &at) {
  int64_t position = 0;
  for (size_t i = 0; i < 3; ++i) {
    if (at[i] < 0 || at[i] >= all.size[i])
      return 0;
    position = position * all.size[i] + at[i];
  }
  return volume[position];
}

double sample(const Sampling &all, const double *volume, const std::array<double, 3> &at) {
  // Far outside, and where there is no number, nothing has a share.
  for (size_t i = 0; i < 3; ++i)
    if (!(at[i] > -2 && at[i] < double(all.size[i]) + 1))
      return 0;
  if (all.isNearest)
    return elementAt(all, volume,
                     {int64_t(std::nearbyint(at[0])), int64_t(std::nearbyint(at[1])),
                      int64_t(std::nearbyint(at[2]))});
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    std::array<int64_t, 3> position;
    double weight = 1;
    for (size_t i = 0; i < 3; ++i) {
      const int64_t low = int64_t(std::floor(at[i])), step = corner >> i & 1;
      position[i] = low + step;
      weight *= step ? at[i] - double(low) : 1 - (at[i] - double(low));
    }
    if (weight > 0)
      sum += weight * elementAt(all, volume, position);
  }
  return sum;
}

View sampledVolume(Plan &plan, const View &input, const View &grid, int64_t interpolation,
                   int64_t padding, bool alignCorners) {
  if (plan.isGood() && (interpolation < 0 || interpolation > 1 || padding < 0 || padding > 2))
    plan.reject("interpolationMode must be 0 (linear) or 1 (nearest), and paddingMode 0 to 2");
  if (plan.isGood() && (input.dims.size() != 5 || grid.dims.size() != 5 || grid.dims[4] != 3 ||
                        grid.dims[0] != input.dims[0] || countOf(input.dims) == 0))
    plan.reject("input %s must have 5 dims, and grid %s be [N, depth, height, width, 3]",
                textOf(input.dims).c_str(), textOf(grid.dims).c_str());
  if (!plan.isGood())
    return {};
  const Sampling all{input.dims[0],
                     input.dims[1],
                     grid.dims[1] * grid.dims[2] * grid.dims[3],
                     {input.dims[2], input.dims[3], input.dims[4]},
                     interpolation == 1,
                     alignCorners,
                     padding};
  const View result = plan.make(
      ACL_DOUBLE, {input.dims[0], input.dims[1], grid.dims[1], grid.dims[2], grid.dims[3]});
  plan.onHost({plan.dense(input, ACL_DOUBLE), plan.dense(grid, ACL_DOUBLE), result},
              [all](const std::vector<char *> &at) -> aclError {
                auto *volume = reinterpret_cast<const double *>(at[0]),
                     *number = reinterpret_cast<const double *>(at[1]);
                auto *to = reinterpret_cast<double *>(at[2]);
                const int64_t whole = all.size[0] * all.size[1] * all.size[2];
                for (int64_t n = 0; n < all.batch; ++n)
                  for (int64_t point = 0; point < all.points; ++point) {
                    // x, y, z of the grid are width, height and depth.
                    const double *xyz = number + (n * all.points + point) * 3;
                    const std::array<double, 3> position = {all.position(xyz[2], all.size[0]),
                                                            all.position(xyz[1], all.size[1]),
                                                            all.position(xyz[0], all.size[2])};
                    for (int64_t c = 0; c < all.channels; ++c) {
                      const int64_t image = n * all.channels + c;
                      to[image * all.points + point] =
                          sample(all, volume + image * whole, position);
                    }
                  }
                return ACL_SUCCESS;
              });
  return result;
}

} // namespace

ACLNN_FUNCTION(GridSampler3D,
               (const aclTensor *input, const aclTensor *grid, int64_t interpolationMode,
                int64_t paddingMode, bool alignCorners, aclTensor *out),
               out,
               sampledVolume(plan, IN(input), IN(grid), interpolationMode, paddingMode,
                             alignCorners))

aclnnStatus aclnnMaxUnpool2dGetWorkspaceSize(const aclTensor *self, const aclTensor *indices,
                                             const aclIntArray *outputSize, aclTensor *out,
                                             uint64_t *size, aclOpExecutor **executor) {
  return unpooled(__func__, self, indices, outputSize, 2, out, size, executor);
}
ACLNN_RUN(MaxUnpool2d)
aclnnStatus aclnnMaxUnpool3dGetWorkspaceSize(const aclTensor *self, const aclTensor *indices,
                                             const aclIntArray *outputSize, const aclIntArray *,
                                             const aclIntArray *, aclTensor *outRef, uint64_t *size,
                                             aclOpExecutor **executor) {
  // The stride and the padding are in outputSize already.
  return unpooled(__func__, self, indices, outputSize, 3, outRef, size, executor);
}
ACLNN_RUN(MaxUnpool3d)
aclnnStatus aclnnMaxUnpool2dBackwardGetWorkspaceSize(const aclTensor *gradOutput,
                                                     const aclTensor *self,
                                                     const aclTensor *indices,
                                                     const aclIntArray *outputSize, aclTensor *out,
                                                     uint64_t *size, aclOpExecutor **executor) {
  return pooledGradient(__func__, gradOutput, self, indices, outputSize, 2, out, size, executor);
}
ACLNN_RUN(MaxUnpool2dBackward)
aclnnStatus
aclnnMaxUnpool3dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,
                                         const aclTensor *indices, const aclIntArray *outputSize,
                                         const aclIntArray *, const aclIntArray *, aclTensor *out,
                                         uint64_t *size, aclOpExecutor **executor) {
  return pooledGradient(__func__, gradOutput, self, indices, outputSize, 3, out, size, executor);
}
ACLNN_RUN(MaxUnpool3dBackward)
