//===-- Fused.cpp - aclnn functions of grids, samples and training ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "acl/acl_rt.h"
#include "aclnnop/aclnn_ops.h"

#include <cmath>
#include <cstring>
#include <numeric>

using namespace atc::ascend;

aclnnStatus aclnnRmsNormQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma,
                                              const aclTensor *beta, const aclTensor *scale,
                                              const aclTensor *offset, double epsilon, aclTensor *y,
                                              uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = IN(x), factors = IN(gamma), added = IN(beta), unit = IN(scale),
             shift = IN(offset), result = plan.output(y, "y");
  if (plan.isGood() &&
      (given.dims.empty() || countOf(factors.dims) != given.dims.back() ||
       countOf(added.dims) != given.dims.back() || countOf(unit.dims) != 1 ||
       countOf(shift.dims) != 1 || result.dims != given.dims || result.type != ACL_INT8))
    plan.reject("gamma and beta must have the last dim of x %s, scale and offset one element, and "
                "y be int8 with the dims of x",
                textOf(given.dims).c_str());
  if (!plan.isGood() || countOf(given.dims) == 0)
    return plan.finish(size, executor);
  const int64_t last = int64_t(given.dims.size()) - 1;
  auto vector = [&](const View &view) {
    return plan.reshaped(plan.dense(view, ACL_FLOAT), {countOf(view.dims)});
  };
  const View wide = plan.dense(given, ACL_FLOAT);
  const View mean = reduced(plan, "ReduceMeanD", times(plan, wide, wide), {last}, true, ACL_FLOAT);
  const View root = unary(plan, "Sqrt", withNumber(plan, "Add", mean, epsilon));
  const View normed = combined(plan, "RealDiv", wide, root);
  View value = combined(plan, "Add", times(plan, normed, vector(factors)), vector(added));
  value = combined(plan, "Add", times(plan, value, vector(unit)), vector(shift));
  plan.write(computed(plan, "Round", value), result);
  return plan.finish(size, executor);
}
ACLNN_RUN(RmsNormQuant)

aclnnStatus aclnnGroupedMatmulAddGetWorkspaceSize(const aclTensor *x, const aclTensor *weight,
                                                  const aclTensor *groupList, aclTensor *yRef,
                                                  bool transposeX, bool transposeWeight,
                                                  int64_t groupType, uint64_t *size,
                                                  aclOpExecutor **executor) {
  Plan plan(__func__);
  const View left = IN(x), right = IN(weight), list = IN(groupList), before = IN(yRef),
             y = plan.output(yRef, "yRef");
  if (!transposeX || transposeWeight || groupType != 2)
    plan.reject("transposeX must be true, transposeWeight false and groupType 2");
  if (plan.isGood() &&
      (left.dims.size() != 2 || right.dims.size() != 2 || left.dims[0] != right.dims[0] ||
       list.dims.size() != 1 || list.type != ACL_INT64 || !list.isDense() || !y.isDense() ||
       (y.dims != Dims{list.dims[0] * left.dims[1], right.dims[1]} &&
        y.dims != Dims{list.dims[0], left.dims[1], right.dims[1]})))
    plan.reject(
        "x %s must be [rows, m], weight %s [rows, n], groupList int64 [groups], and yRef %s "
        "dense [groups * m, n] or [groups, m, n]",
        textOf(left.dims).c_str(), textOf(right.dims).c_str(), textOf(y.dims).c_str());
  Dims ends(plan.isGood() ? size_t(list.dims[0]) : 0);
  if (!plan.read(list, "groupList", ends.data()))
    return plan.finish(size, executor);
  const Dims all = {list.dims[0], left.dims[1], right.dims[1]};
  const View sums = plan.make(ACL_FLOAT, all);
  plan.copy(plan.reshaped(before, all), sums);
  int64_t at = 0;
  for (size_t i = 0; plan.isGood() && i < ends.size(); ++i) {
    if (ends[i] < at || ends[i] > left.dims[0])
      plan.reject("groupList has %lld; it must hold the ends of groups of %lld rows, none before "
                  "another",
                  (long long)ends[i], (long long)left.dims[0]);
    else if (ends[i] > at) {
      // Sums stay wide until they are added: those of halves may exceed what a half holds.
      const View rows = permuted(part(left, 0, at, ends[i] - at), {1, 0});
      const View own = product(plan, plan.dense(rows, ACL_FLOAT),
                               plan.dense(part(right, 0, at, ends[i] - at), ACL_FLOAT));
      const View target = part(sums, 0, int64_t(i), 1);
      if (plan.isGood())
        plan.copy(combined(plan, "Add", plan.dense(target, ACL_FLOAT),
                           plan.reshaped(own, {1, all[1], all[2]})),
                  target);
    }
    at = std::max(at, ends[i]);
  }
  if (plan.isGood())
    plan.write(plan.reshaped(sums, y.dims), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(GroupedMatmulAdd)

aclnnStatus aclnnForeachNonFiniteCheckAndUnscaleGetWorkspaceSize(const aclTensorList *scaledGrads,
                                                                 const aclTensor *foundInf,
                                                                 const aclTensor *inScale,
                                                                 uint64_t *size,
                                                                 aclOpExecutor **executor) {
  Plan plan(__func__);
  const std::vector<View> given = plan.inputs(scaledGrads, "scaledGrads"),
                          results = plan.outputs(scaledGrads, "scaledGrads");
  const View before = IN(foundInf), factor = IN(inScale), found = plan.output(foundInf, "foundInf");
  if (plan.isGood() && (countOf(before.dims) != 1 || countOf(factor.dims) != 1))
    plan.reject("foundInf and inScale must have one element");
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View flag = plan.make(ACL_DOUBLE, before.dims);
  plan.copy(before, flag);
  std::vector<View> views = {flag, plan.dense(factor, ACL_DOUBLE)};
  std::vector<int64_t> counts;
  for (const View &view : given) {
    views.push_back(plan.make(ACL_DOUBLE, view.dims));
    plan.copy(view, views.back());
    counts.push_back(countOf(view.dims));
  }
  plan.onHost(views, [counts](const std::vector<char *> &at) -> aclError {
    const double by = *reinterpret_cast<double *>(at[1]);
    for (size_t i = 0; i < counts.size(); ++i) {
      auto *x = reinterpret_cast<double *>(at[i + 2]);
      for (int64_t j = 0; j < counts[i]; ++j) {
        if (!std::isfinite(x[j]))
          *reinterpret_cast<double *>(at[0]) = 1;
        x[j] *= by;
      }
    }
    return ACL_SUCCESS;
  });
  for (size_t i = 0; i < given.size(); ++i)
    plan.write(views[i + 2], results[i]);
  plan.write(flag, found);
  return plan.finish(size, executor);
}
ACLNN_RUN(ForeachNonFiniteCheckAndUnscale)

aclnnStatus aclnnEmbeddingRenormGetWorkspaceSize(aclTensor *selfRef, const aclTensor *indices,
                                                 double maxNorm, double normType, uint64_t *size,
                                                 aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = IN(selfRef), names = IN(indices), result = plan.output(selfRef, "selfRef");
  if (plan.isGood() && (given.dims.size() != 2 || isFloat(names.type) || !(normType > 0)))
    plan.reject("selfRef %s must have 2 dims, indices be whole numbers, and normType positive",
                textOf(given.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View rows = plan.make(ACL_DOUBLE, given.dims);
  plan.copy(given, rows);
  plan.onHost({plan.dense(names, ACL_INT64), rows},
              [=, count = countOf(names.dims), height = given.dims[0],
               width = given.dims[1]](const std::vector<char *> &at) -> aclError {
                auto *name = reinterpret_cast<const int64_t *>(at[0]);
                std::vector<bool> isDone(static_cast<size_t>(height));
                for (int64_t i = 0; i < count; ++i) {
                  if (name[i] < 0 || name[i] >= height)
                    return fail(ACL_ERROR_INVALID_PARAM, "aclnnEmbeddingRenorm",
                                "indices has %lld; selfRef has %lld rows", (long long)name[i],
                                (long long)height);
                  if (isDone[size_t(name[i])])
                    continue;
                  isDone[size_t(name[i])] = true;
                  double *row = reinterpret_cast<double *>(at[1]) + name[i] * width, norm = 0;
                  for (int64_t j = 0; j < width; ++j)
                    norm = std::isinf(normType) ? std::max(norm, std::abs(row[j]))
                                                : norm + std::pow(std::abs(row[j]), normType);
                  if (!std::isinf(normType))
                    norm = std::pow(norm, 1 / normType);
                  for (int64_t j = 0; norm > maxNorm && j < width; ++j)
                    row[j] *= maxNorm / (norm + 1e-7);
                }
                return ACL_SUCCESS;
              });
  plan.write(rows, result);
  return plan.finish(size, executor);
}
ACLNN_RUN(EmbeddingRenorm)

aclnnStatus aclnnGcdGetWorkspaceSize(const aclTensor *self, const aclTensor *other, aclTensor *out,
                                     uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View left = IN(self), right = IN(other), y = plan.output(out, "out");
  const auto dims = broadcastDims(left.dims, right.dims);
  if (plan.isGood() && (isFloat(left.type) || isFloat(right.type) || !dims || *dims != y.dims))
    plan.reject("self %s and other %s must be whole numbers, and out %s have the dims of both",
                textOf(left.dims).c_str(), textOf(right.dims).c_str(), textOf(y.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  auto whole = [&](const View &view) {
    return plan.dense(plan.broadcast(view, y.dims), ACL_INT64);
  };
  const View result = plan.make(ACL_INT64, y.dims);
  plan.onHost({whole(left), whole(right), result},
              [count = countOf(y.dims)](const std::vector<char *> &at) -> aclError {
                // Unsigned: the least number has no opposite.
                auto size = [](int64_t value) {
                  return value < 0 ? 0 - uint64_t(value) : uint64_t(value);
                };
                for (int64_t i = 0; i < count; ++i)
                  reinterpret_cast<uint64_t *>(at[2])[i] =
                      std::gcd(size(reinterpret_cast<int64_t *>(at[0])[i]),
                               size(reinterpret_cast<int64_t *>(at[1])[i]));
                return ACL_SUCCESS;
              });
  plan.write(result, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Gcd)

aclnnStatus aclnnAffineGridGetWorkspaceSize(const aclTensor *theta, const aclIntArray *size,
                                            bool alignCorners, aclTensor *out,
                                            uint64_t *workspaceSize, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = IN(theta), y = plan.output(out, "out");
  const Dims sizes = plan.numbers(size, "size");
  const int64_t axes = int64_t(sizes.size()) - 2;
  Dims dims;
  if (plan.isGood() && (axes == 2 || axes == 3)) {
    dims = {sizes[0]};
    dims.insert(dims.end(), sizes.begin() + 2, sizes.end());
    dims.push_back(axes);
  }
  if (plan.isGood() &&
      (dims.empty() || y.dims != dims || given.dims != Dims{dims[0], axes, axes + 1}))
    plan.reject("size %s must have 4 or 5 numbers, theta %s be [batch, 2, 3] or [batch, 3, 4], and "
                "out %s [batch, height, width, 2] or [batch, depth, height, width, 3]",
                textOf(sizes).c_str(), textOf(given.dims).c_str(), textOf(y.dims).c_str());
  if (!plan.isGood())
    return plan.finish(workspaceSize, executor);
  const View result = plan.make(ACL_DOUBLE, dims);
  plan.onHost({plan.dense(given, ACL_DOUBLE), result},
              [=](const std::vector<char *> &at) -> aclError {
                auto *grid = reinterpret_cast<double *>(at[1]);
                const int64_t points = countOf(dims) / axes;
                for (int64_t point = 0; point < points; ++point) {
                  // x, y and z of the point in the image that is made, from -1 to 1.
                  double own[4] = {0, 0, 0, 0};
                  own[axes] = 1;
                  int64_t rest = point;
                  for (int64_t i = 0; i < axes; ++i) {
                    const int64_t count = dims[size_t(axes - i)];
                    const auto step = double(rest % count);
                    own[i] = alignCorners ? (count > 1 ? 2 * step / double(count - 1) - 1 : 0)
                                          : (2 * step + 1) / double(count) - 1;
                    rest /= count;
                  }
                  auto *matrix = reinterpret_cast<double *>(at[0]) + rest * axes * (axes + 1);
                  for (int64_t i = 0; i < axes; ++i)
                    grid[point * axes + i] =
                        std::inner_product(own, own + axes + 1, matrix + i * (axes + 1), 0.0);
                }
                return ACL_SUCCESS;
              });
  plan.write(result, y);
  return plan.finish(workspaceSize, executor);
}
ACLNN_RUN(AffineGrid)

namespace {

/// An image sampled at positions that a tensor shifts, for the windows of a convolution.
struct Sampling {
  int64_t batch, channels, height, width; ///< of the image
  int64_t kernelHeight, kernelWidth, outHeight, outWidth;
  int64_t strideHeight, strideWidth, top, left, stepHeight, stepWidth;
  int64_t groups; ///< of channels with offsets of their own

  /// Returns the value between the elements of a plane; it is 0 around it.
  double at(const double *plane, double y, double x) const {
    const double low = std::floor(y), front = std::floor(x);
    double sum = 0;
    for (int i = 0; i < 4; ++i) {
      const double row = low + i / 2, column = front + i % 2;
      // In floating point: offsets may lead anywhere.
      if (!(row >= 0 && row < double(height) && column >= 0 && column < double(width)))
        continue;
      sum += (1 - std::abs(y - row)) * (1 - std::abs(x - column)) *
             plane[int64_t(row) * width + int64_t(column)];
    }
    return sum;
  }

  /// Writes samples [batch, channels, outHeight * kernelHeight, outWidth * kernelWidth].
  void sample(const double *image, const double *offsets, double *result) const {
    const int64_t taps = kernelHeight * kernelWidth, positions = outHeight * outWidth;
    for (int64_t plane = 0; plane < batch * channels; ++plane) {
      const int64_t group = plane % channels / (channels / groups);
      const double *own = offsets + plane / channels * 3 * groups * taps * positions;
      for (int64_t i = 0; i < positions * taps; ++i) {
        const int64_t tap = i / positions, position = i % positions;
        const int64_t row = position / outWidth, column = position % outWidth,
                      down = tap / kernelWidth, right = tap % kernelWidth;
        auto offset = [&](int64_t kind) {
          return own[((kind * groups + group) * taps + tap) * positions + position];
        };
        const double y = double(row * strideHeight - top + down * stepHeight) + offset(1),
                     x = double(column * strideWidth - left + right * stepWidth) + offset(0);
        result[((plane * outHeight + row) * kernelHeight + down) * outWidth * kernelWidth +
               column * kernelWidth + right] = offset(2) * at(image + plane * height * width, y, x);
      }
    }
  }
};

} // namespace

aclnnStatus aclnnDeformableConv2dGetWorkspaceSize(
    const aclTensor *x, const aclTensor *weight, const aclTensor *offset,
    const aclTensor *biasOptional, const aclIntArray *kernelSize, const aclIntArray *stride,
    const aclIntArray *padding, const aclIntArray *dilation, int64_t groups,
    int64_t deformableGroups, bool modulated, aclTensor *out, aclTensor *deformOutOptional,
    uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View image = IN(x), filter = IN(weight), shifts = IN(offset),
             bias = plan.input(biasOptional, "bias", true), y = plan.output(out, "out"),
             sampled = plan.output(deformOutOptional, "deformOut", true);
  const Dims kernel = plan.numbers(kernelSize, "kernelSize"), step = plan.numbers(stride, "stride"),
             pads = plan.numbers(padding, "padding"), apart = plan.numbers(dilation, "dilation");
  constexpr int64_t max = 1 << 20;
  auto areSizes = [&](const Dims &list, size_t count, int64_t min) {
    return list.size() == count && std::all_of(list.begin(), list.end(), [&](int64_t number) {
             return number >= min && number <= max;
           });
  };
  if (!modulated)
    plan.reject("modulated must be true");
  if (plan.isGood() &&
      (image.dims.size() != 4 || filter.dims.size() != 4 || shifts.dims.size() != 4 ||
       y.dims.size() != 4 || !areSizes(kernel, 2, 1) || !areSizes(step, 4, 1) ||
       !areSizes(pads, 4, 0) || !areSizes(apart, 4, 1) || step[0] != 1 || step[1] != 1 ||
       apart[0] != 1 || apart[1] != 1 || groups < 1 || groups > max || deformableGroups < 1 ||
       deformableGroups > max || image.dims[1] % groups || image.dims[1] % deformableGroups ||
       filter.dims[0] % groups ||
       filter.dims != Dims{filter.dims[0], image.dims[1] / groups, kernel[0], kernel[1]}))
    plan.reject("x %s, weight %s and offset %s must have 4 dims that fit %lld groups, kernelSize 2 "
                "positive numbers, stride and dilation 4 of which the first two are 1, and padding "
                "4 that are not negative",
                textOf(image.dims).c_str(), textOf(filter.dims).c_str(),
                textOf(shifts.dims).c_str(), (long long)groups);
  if (!plan.isGood())
    return plan.finish(size, executor);
  Sampling all{image.dims[0],
               image.dims[1],
               image.dims[2],
               image.dims[3],
               kernel[0],
               kernel[1],
               0,
               0,
               step[2],
               step[3],
               pads[0],
               pads[2],
               apart[2],
               apart[3],
               deformableGroups};
  // How far the kernel can move.
  const int64_t down = all.height + pads[0] + pads[1] - (kernel[0] - 1) * apart[2] - 1,
                right = all.width + pads[2] + pads[3] - (kernel[1] - 1) * apart[3] - 1;
  if (down < 0 || right < 0)
    plan.reject("kernelSize [%lld, %lld] with its dilation is larger than x %s with its padding",
                (long long)kernel[0], (long long)kernel[1], textOf(image.dims).c_str());
  all.outHeight = down / step[2] + 1;
  all.outWidth = right / step[3] + 1;
  const Dims positions = {all.batch, 3 * deformableGroups * kernel[0] * kernel[1], all.outHeight,
                          all.outWidth};
  if (plan.isGood() && (shifts.dims != positions ||
                        y.dims != Dims{all.batch, filter.dims[0], all.outHeight, all.outWidth} ||
                        (bias.memory && bias.dims != Dims{filter.dims[0]})))
    plan.reject("offset %s must be %s, out %s [%lld, %lld, %lld, %lld], and bias have an element "
                "for each of its channels",
                textOf(shifts.dims).c_str(), textOf(positions).c_str(), textOf(y.dims).c_str(),
                (long long)all.batch, (long long)filter.dims[0], (long long)all.outHeight,
                (long long)all.outWidth);
  if (!plan.isGood())
    return plan.finish(size, executor);
  const Dims dims = {all.batch, all.channels, all.outHeight * kernel[0], all.outWidth * kernel[1]};
  const View samples = plan.make(ACL_DOUBLE, dims), sums = plan.make(ACL_DOUBLE, y.dims);
  plan.onHost({plan.dense(image, ACL_DOUBLE), plan.dense(shifts, ACL_DOUBLE), samples},
              [all](const std::vector<char *> &at) {
                all.sample(reinterpret_cast<double *>(at[0]), reinterpret_cast<double *>(at[1]),
                           reinterpret_cast<double *>(at[2]));
                return ACL_SUCCESS;
              });
  plan.onHost(
      {samples, plan.dense(filter, ACL_DOUBLE),
       bias.memory ? plan.dense(bias, ACL_DOUBLE) : plan.constant(0, ACL_DOUBLE), sums},
      [all, groups, hasBias = bias.memory != nullptr,
       outputs = filter.dims[0]](const std::vector<char *> &at) -> aclError {
        auto number = [&](size_t i) { return reinterpret_cast<double *>(at[i]); };
        const int64_t inputs = all.channels / groups, rows = all.outHeight * all.kernelHeight,
                      columns = all.outWidth * all.kernelWidth;
        double *to = number(3);
        for (int64_t i = 0; i < all.batch * outputs * all.outHeight * all.outWidth; ++i) {
          const int64_t column = i % all.outWidth, row = i / all.outWidth % all.outHeight,
                        channel = i / all.outWidth / all.outHeight % outputs,
                        image = i / all.outWidth / all.outHeight / outputs;
          const double *taps = number(1) + channel * inputs * all.kernelHeight * all.kernelWidth;
          double sum = hasBias ? number(2)[channel] : 0;
          for (int64_t c = 0; c < inputs; ++c) {
            const int64_t plane = image * all.channels + channel / (outputs / groups) * inputs + c;
            for (int64_t k = 0; k < all.kernelHeight; ++k)
              for (int64_t j = 0; j < all.kernelWidth; ++j)
                sum += *taps++ * number(0)[(plane * rows + row * all.kernelHeight + k) * columns +
                                           column * all.kernelWidth + j];
          }
          to[i] = sum;
        }
        return ACL_SUCCESS;
      });
  plan.write(sums, y);
  writeOptional(plan, samples, sampled);
  return plan.finish(size, executor);
}
ACLNN_RUN(DeformableConv2d)
