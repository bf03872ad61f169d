//===-- Norms.cpp - aclnn norms of layers, groups and batches ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

#include <numeric>
#include <optional>

using namespace atc::ascend;

namespace {

/// Returns 1 / sqrt(mean(x * x) + epsilon) along axes, which are kept.
View inverseDeviation(Plan &plan, const View &x, const Dims &axes, double epsilon) {
  if (!plan.isGood())
    return {};
  const View mean = reduced(plan, "ReduceMeanD", plan.map("Mul", {x, x}), axes, true, x.type);
  return computed(plan, "Rsqrt", withNumber(plan, "Add", mean, epsilon));
}

Dims lastAxes(const Dims &dims, size_t count) {
  Dims axes;
  for (size_t i = dims.size() - count; i < dims.size(); ++i)
    axes.push_back(int64_t(i));
  return axes;
}

/// Combines with a weight, where there is one.
View weighted(Plan &plan, const char *op, const View &x, const View &weight) {
  return weight.memory && plan.isGood() ? plan.map(op, {x, plan.dense(weight, x.type)}) : x;
}

/// Returns a vector as a tensor that is broadcast along the second of `rank` dims.
View alongChannels(Plan &plan, const View &vector, size_t rank) {
  if (!vector.memory || !plan.isGood())
    return {};
  Dims dims(rank, 1);
  dims[1] = countOf(vector.dims);
  return plan.reshaped(plan.dense(vector, ACL_FLOAT), dims);
}

/// Computes the norm by the root of the mean square of what is given.
void rmsNorm(Plan &plan, const View &given, const View &weight, double epsilon, const View &y,
             const View &rstd) {
  if (plan.isGood() && (weight.dims.empty() || weight.dims.size() > given.dims.size()))
    plan.reject("gamma %s must have the last dims of x %s", textOf(weight.dims).c_str(),
                textOf(given.dims).c_str());
  if (!plan.isGood())
    return;
  const View wide = plan.dense(given, ACL_FLOAT);
  const View by = inverseDeviation(plan, wide, lastAxes(wide.dims, weight.dims.size()), epsilon);
  plan.write(weighted(plan, "Mul", plan.map("Mul", {wide, by}), weight), y);
  writeOptional(plan, by, rstd);
}

/// Computes the norm of the last dims by their mean and variance.
void layerNorm(Plan &plan, const View &given, size_t dims, double epsilon, const View &weight,
               const View &bias, const View &y, const View &meanOut, const View &rstdOut) {
  // Sums of squares do not fit float16.
  const View x = plan.dense(given, ACL_FLOAT);
  if (!plan.isGood())
    return;
  const Dims axes = lastAxes(x.dims, dims);
  const View mean = reduced(plan, "ReduceMeanD", x, axes, true, ACL_FLOAT);
  const View centered = combined(plan, "Sub", x, mean);
  const View rstd = inverseDeviation(plan, centered, axes, epsilon);
  View result = combined(plan, "Mul", centered, rstd);
  result = weighted(plan, "Add", weighted(plan, "Mul", result, weight), bias);
  plan.write(result, y);
  writeOptional(plan, mean, meanOut);
  writeOptional(plan, rstd, rstdOut);
}

} // namespace

aclnnStatus aclnnLayerNormGetWorkspaceSize(
    const aclTensor *input, const aclIntArray *normalizedShape, const aclTensor *weightOptional,
    const aclTensor *biasOptional, double eps, aclTensor *out, aclTensor *meanOutOptional,
    aclTensor *rstdOutOptional, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = plan.input(input, "input"),
             weight = plan.input(weightOptional, "weight", true),
             bias = plan.input(biasOptional, "bias", true), y = plan.output(out, "out"),
             meanOut = plan.output(meanOutOptional, "meanOut", true),
             rstdOut = plan.output(rstdOutOptional, "rstdOut", true);
  const Dims shape = plan.numbers(normalizedShape, "normalizedShape");
  if (plan.isGood() && !areLastDims(shape, given.dims))
    plan.reject("normalizedShape %s must be the last dims of the input %s", textOf(shape).c_str(),
                textOf(given.dims).c_str());
  if (plan.isGood()) {
    layerNorm(plan, given, shape.size(), eps, weight, bias, y, meanOut, rstdOut);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(LayerNorm)

aclnnStatus aclnnDeepNormGetWorkspaceSize(const aclTensor *x, const aclTensor *gx,
                                          const aclTensor *beta, const aclTensor *gamma,
                                          double alpha, double epsilon, const aclTensor *meanOut,
                                          const aclTensor *rstdOut, const aclTensor *yOut,
                                          uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = plan.input(x, "x"), second = plan.input(gx, "gx"),
             bias = plan.input(beta, "beta"), weight = plan.input(gamma, "gamma"),
             y = plan.output(yOut, "yOut"), means = plan.output(meanOut, "meanOut"),
             deviations = plan.output(rstdOut, "rstdOut");
  if (plan.isGood() && (!areLastDims(weight.dims, given.dims) || bias.dims != weight.dims ||
                        second.dims != given.dims))
    plan.reject("gamma %s and beta must have the last dims of x %s, whose dims gx has",
                textOf(weight.dims).c_str(), textOf(given.dims).c_str());
  if (plan.isGood())
    layerNorm(plan,
              sum(plan, "Add", withNumber(plan, "Mul", plan.dense(given, ACL_FLOAT), alpha),
                  plan.dense(second, ACL_FLOAT)),
              weight.dims.size(), epsilon, weight, bias, y, means, deviations);
  return plan.finish(size, executor);
}
ACLNN_RUN(DeepNorm)

aclnnStatus aclnnAddLayerNormGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2,
                                              const aclTensor *gamma, const aclTensor *beta,
                                              const aclTensor *biasOptional, double epsilon,
                                              bool additionalOutput, const aclTensor *yOut,
                                              const aclTensor *meanOut, const aclTensor *rstdOut,
                                              const aclTensor *xOut, uint64_t *size,
                                              aclOpExecutor **executor) {
  Plan plan(__func__);
  const View first = plan.input(x1, "x1"), second = plan.input(x2, "x2"),
             weight = plan.input(gamma, "gamma"), offset = plan.input(beta, "beta"),
             bias = plan.input(biasOptional, "bias", true), y = plan.output(yOut, "yOut"),
             means = plan.output(meanOut, "meanOut", true),
             deviations = plan.output(rstdOut, "rstdOut", true),
             both = plan.output(xOut, "xOut", !additionalOutput);
  if (plan.isGood() && (weight.dims.size() != 1 || first.dims.empty() ||
                        weight.dims[0] != first.dims.back() || offset.dims != weight.dims))
    plan.reject("gamma %s and beta %s must have the last dim of x1 %s", textOf(weight.dims).c_str(),
                textOf(offset.dims).c_str(), textOf(first.dims).c_str());
  if (plan.isGood()) {
    View x = sum(plan, "Add", plan.dense(first, ACL_FLOAT), second);
    if (bias.memory)
      x = combined(plan, "Add", x, bias);
    layerNorm(plan, x, 1, epsilon, weight, offset, y, means, deviations);
    if (additionalOutput)
      plan.write(x, both);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(AddLayerNorm)

aclnnStatus aclnnRmsNormGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma, double epsilon,
                                         const aclTensor *yOut, const aclTensor *rstdOut,
                                         uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = plan.input(x, "x"), weight = plan.input(gamma, "gamma"),
             y = plan.output(yOut, "yOut"), rstd = plan.output(rstdOut, "rstdOut", true);
  rmsNorm(plan, given, weight, epsilon, y, rstd);
  return plan.finish(size, executor);
}
ACLNN_RUN(RmsNorm)

aclnnStatus aclnnGemmaRmsNormGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma,
                                              double epsilon, const aclTensor *yOut,
                                              const aclTensor *rstdOut, uint64_t *size,
                                              aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = plan.input(x, "x"), weight = plan.input(gamma, "gamma"),
             y = plan.output(yOut, "yOut"), rstd = plan.output(rstdOut, "rstdOut", true);
  View factors = plan.isGood() ? plan.dense(weight, ACL_FLOAT) : weight;
  if (plan.isGood())
    factors = plan.map("Add", {factors, plan.constant(1, ACL_FLOAT)});
  rmsNorm(plan, given, factors, epsilon, y, rstd);
  return plan.finish(size, executor);
}
ACLNN_RUN(GemmaRmsNorm)

static aclnnStatus addRmsNorm(const char *function, const aclTensor *x1, const aclTensor *x2,
                              const aclTensor *gamma, double epsilon, const aclTensor *yOut,
                              const aclTensor *rstdOut, const aclTensor *xOut, uint64_t *size,
                              aclOpExecutor **executor) {
  Plan plan(function);
  const View first = plan.input(x1, "x1"), second = plan.input(x2, "x2"),
             weight = plan.input(gamma, "gamma"), y = plan.output(yOut, "yOut"),
             rstd = plan.output(rstdOut, "rstdOut", true), both = plan.output(xOut, "xOut");
  const View x = sum(plan, "Add", first, second);
  rmsNorm(plan, x, weight, epsilon, y, rstd);
  plan.write(x, both);
  return plan.finish(size, executor);
}

aclnnStatus aclnnAddRmsNormGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2,
                                            const aclTensor *gamma, double epsilon,
                                            const aclTensor *yOut, const aclTensor *rstdOut,
                                            const aclTensor *xOut, uint64_t *size,
                                            aclOpExecutor **executor) {
  return addRmsNorm(__func__, x1, x2, gamma, epsilon, yOut, rstdOut, xOut, size, executor);
}
ACLNN_RUN(AddRmsNorm)
aclnnStatus aclnnInplaceAddRmsNormGetWorkspaceSize(aclTensor *x1Ref, aclTensor *x2Ref,
                                                   const aclTensor *gamma, double epsilon,
                                                   const aclTensor *rstdOut, uint64_t *size,
                                                   aclOpExecutor **executor) {
  return addRmsNorm(__func__, x1Ref, x2Ref, gamma, epsilon, x1Ref, rstdOut, x2Ref, size, executor);
}
ACLNN_RUN(InplaceAddRmsNorm)

/// Returns x / sqrt(mean(x * x) + epsilon) * gamma of a sum, which is written as well.
static View normOfSum(Plan &plan, const View &first, const View &second, const View &weight,
                      double epsilon, const View &both) {
  if (plan.isGood() && (weight.dims.empty() || weight.dims.size() > first.dims.size()))
    plan.reject("gamma %s must have the last dims of x1 %s", textOf(weight.dims).c_str(),
                textOf(first.dims).c_str());
  if (!plan.isGood())
    return {};
  const View x = sum(plan, "Add", first, second);
  plan.write(x, both);
  const View wide = plan.isGood() ? plan.dense(x, ACL_FLOAT) : x;
  return weighted(
      plan, "Mul",
      times(plan, wide,
            inverseDeviation(plan, wide, lastAxes(wide.dims, weight.dims.size()), epsilon)),
      weight);
}

aclnnStatus aclnnAddRmsNormCastGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2,
                                                const aclTensor *gamma, double epsilon,
                                                const aclTensor *y1Out, const aclTensor *y2Out,
                                                const aclTensor *rstdOut, const aclTensor *xOut,
                                                uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View first = plan.input(x1, "x1"), second = plan.input(x2, "x2"),
             weight = plan.input(gamma, "gamma"), wide = plan.output(y1Out, "y1Out"),
             narrow = plan.output(y2Out, "y2Out"), rstd = plan.output(rstdOut, "rstdOut"),
             both = plan.output(xOut, "xOut");
  const View normal = normOfSum(plan, first, second, weight, epsilon, both);
  if (!plan.isGood())
    return plan.finish(size, executor);
  // The first result is the second one in float32: it has no more digits.
  const View rounded = plan.dense(normal, narrow.type);
  plan.write(rounded, narrow);
  plan.write(rounded, wide);
  const View x = plan.dense(sum(plan, "Add", first, second), ACL_FLOAT);
  if (plan.isGood())
    writeOptional(plan, inverseDeviation(plan, x, lastAxes(x.dims, weight.dims.size()), epsilon),
                  rstd);
  return plan.finish(size, executor);
}
ACLNN_RUN(AddRmsNormCast)

/// The arguments that both norms of sums have whose results are quantized. `beta` and `rmsNormOut`
/// may be null.
struct QuantizedNorm {
  const aclTensor *x1, *x2, *gamma, *beta;
  double epsilon;
  const aclTensor *y1Out, *y2Out, *xOut, *rmsNormOut;
};

/// Returns the norm of a sum, with what is added to it; its outputs are checked and written but for
/// those of int8.
static View shiftedNorm(Plan &plan, const QuantizedNorm &given, const View &y1, const View &y2) {
  const View first = plan.input(given.x1, "x1"), second = plan.input(given.x2, "x2"),
             weight = plan.input(given.gamma, "gamma"), beta = plan.input(given.beta, "beta", true),
             both = plan.output(given.xOut, "xOut"),
             rmsNorm = plan.output(given.rmsNormOut, "rmsNormOut", true);
  if (plan.isGood() && (y1.type != ACL_INT8 || (y2.memory && y2.type != ACL_INT8)))
    plan.reject("y1Out and y2Out must be of int8");
  if (plan.isGood() && beta.memory && beta.dims != weight.dims)
    plan.reject("beta %s must have the dims of gamma %s", textOf(beta.dims).c_str(),
                textOf(weight.dims).c_str());
  const View normal = normOfSum(plan, first, second, weight, given.epsilon, both);
  writeOptional(plan, normal, rmsNorm);
  return beta.memory && plan.isGood() ? weighted(plan, "Add", normal, beta) : normal;
}

static aclnnStatus addRmsNormQuant(const char *name, const QuantizedNorm &given,
                                   const aclTensor *scales1, const aclTensor *scales2,
                                   const aclTensor *zeroPoints1, const aclTensor *zeroPoints2,
                                   int64_t axis, bool divMode, uint64_t *size,
                                   aclOpExecutor **executor) {
  Plan plan(name);
  const View scale1 = plan.input(scales1, "scales1"), scale2 = plan.input(scales2, "scales2", true),
             zero1 = plan.input(zeroPoints1, "zeroPoints1", true),
             zero2 = plan.input(zeroPoints2, "zeroPoints2", true),
             y1 = plan.output(given.y1Out, "y1Out"),
             y2 = scale2.memory ? plan.output(given.y2Out, "y2Out") : View();
  const View normal = shiftedNorm(plan, given, y1, y2);
  if (plan.isGood() && plan.axisOf(axis, normal.dims.size()) + 1 != int64_t(normal.dims.size()))
    plan.reject("axis is %lld; it must be the last one", (long long)axis);
  auto quantized = [&](const View &scale, const View &zero, const View &target) {
    if (!scale.memory || !plan.isGood())
      return;
    View values = combined(plan, divMode ? "RealDiv" : "Mul", normal, plan.dense(scale, ACL_FLOAT));
    if (zero.memory && plan.isGood())
      values = combined(plan, "Add", values, plan.dense(zero, ACL_FLOAT));
    plan.write(computed(plan, "Round", values), target);
  };
  quantized(scale1, zero1, y1);
  quantized(scale2, zero2, y2);
  return plan.finish(size, executor);
}

aclnnStatus aclnnAddRmsNormQuantGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, const aclTensor *scales1,
    const aclTensor *scales2Optional, const aclTensor *zeroPoints1Optional,
    const aclTensor *zeroPoints2Optional, int64_t axis, double epsilon, bool divMode,
    const aclTensor *y1Out, const aclTensor *y2Out, const aclTensor *xOut, uint64_t *size,
    aclOpExecutor **executor) {
  return addRmsNormQuant(__func__, {x1, x2, gamma, nullptr, epsilon, y1Out, y2Out, xOut, nullptr},
                         scales1, scales2Optional, zeroPoints1Optional, zeroPoints2Optional, axis,
                         divMode, size, executor);
}
ACLNN_RUN(AddRmsNormQuant)
aclnnStatus aclnnAddRmsNormQuantV2GetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, const aclTensor *scales1,
    const aclTensor *scales2Optional, const aclTensor *zeroPoints1Optional,
    const aclTensor *zeroPoints2Optional, const aclTensor *betaOptional, int64_t axis,
    double epsilon, bool divMode, aclTensor *y1Out, aclTensor *y2Out, aclTensor *xOut,
    aclTensor *rmsNormOut, uint64_t *size, aclOpExecutor **executor) {
  return addRmsNormQuant(
      __func__, {x1, x2, gamma, betaOptional, epsilon, y1Out, y2Out, xOut, rmsNormOut}, scales1,
      scales2Optional, zeroPoints1Optional, zeroPoints2Optional, axis, divMode, size, executor);
}
ACLNN_RUN(AddRmsNormQuantV2)

static aclnnStatus addRmsNormDynamicQuant(const char *name, const QuantizedNorm &given,
                                          const aclTensor *smoothScale1,
                                          const aclTensor *smoothScale2,
                                          const aclBoolArray *outputMask,
                                          const aclTensor *scale1Out, const aclTensor *scale2Out,
                                          uint64_t *size, aclOpExecutor **executor) {
  Plan plan(name);
  const View smooth1 = plan.input(smoothScale1, "smoothScale1", true),
             smooth2 = plan.input(smoothScale2, "smoothScale2", true),
             y1 = plan.output(given.y1Out, "y1Out"),
             y2 = smooth2.memory ? plan.output(given.y2Out, "y2Out") : View(),
             scale1 = plan.output(scale1Out, "scale1Out"),
             scale2 = smooth2.memory ? plan.output(scale2Out, "scale2Out") : View();
  if (outputMask &&
      plan.truths(outputMask, "outputMask") != std::vector<bool>{true, bool(smooth2.memory)})
    plan.reject(
        "outputMask must be true for y1Out, and true for y2Out where smoothScale2 is given");
  if (smooth2.memory && !smooth1.memory)
    plan.reject("smoothScale2 needs smoothScale1");
  const View normal = shiftedNorm(plan, given, y1, y2);
  // The largest element of a row becomes 127.
  auto quantized = [&](const View &smooth, const View &target, const View &scaleTarget) {
    if (!plan.isGood())
      return;
    const View values = weighted(plan, "Mul", normal, smooth);
    const View scale = withNumber(plan, "Mul",
                                  reduced(plan, "ReduceMaxD", computed(plan, "Abs", values),
                                          {int64_t(values.dims.size()) - 1}, true, ACL_FLOAT),
                                  1.0 / 127);
    plan.write(computed(plan, "Round", combined(plan, "RealDiv", values, scale)), target);
    writeOptional(plan, scale, scaleTarget);
  };
  quantized(smooth1, y1, scale1);
  if (smooth2.memory)
    quantized(smooth2, y2, scale2);
  return plan.finish(size, executor);
}

aclnnStatus aclnnAddRmsNormDynamicQuantGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
    const aclTensor *smoothScale1Optional, const aclTensor *smoothScale2Optional, double epsilon,
    const aclTensor *y1Out, const aclTensor *y2Out, const aclTensor *xOut,
    const aclTensor *scale1Out, const aclTensor *scale2Out, uint64_t *size,
    aclOpExecutor **executor) {
  return addRmsNormDynamicQuant(
      __func__, {x1, x2, gamma, nullptr, epsilon, y1Out, y2Out, xOut, nullptr},
      smoothScale1Optional, smoothScale2Optional, nullptr, scale1Out, scale2Out, size, executor);
}
ACLNN_RUN(AddRmsNormDynamicQuant)
aclnnStatus aclnnAddRmsNormDynamicQuantV2GetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
    const aclTensor *smoothScale1Optional, const aclTensor *smoothScale2Optional,
    const aclTensor *betaOptional, double epsilon, const aclBoolArray *outputMask,
    const aclTensor *y1Out, const aclTensor *y2Out, const aclTensor *xOut,
    const aclTensor *scale1Out, const aclTensor *scale2Out, uint64_t *size,
    aclOpExecutor **executor) {
  return addRmsNormDynamicQuant(
      __func__, {x1, x2, gamma, betaOptional, epsilon, y1Out, y2Out, xOut, nullptr},
      smoothScale1Optional, smoothScale2Optional, outputMask, scale1Out, scale2Out, size, executor);
}
ACLNN_RUN(AddRmsNormDynamicQuantV2)

/// The arguments of norms of groups of channels.
struct GroupNorm {
  const aclTensor *self, *gamma, *beta;
  int64_t N, C, HxW, group;
  double eps;
  const aclTensor *out, *meanOut, *rstdOut;
  std::optional<double> swish = {}; ///< y / (1 + exp(-swish * y)) follows where it is given
};

static aclnnStatus groupNorm(const char *function, const GroupNorm &given, uint64_t *size,
                             aclOpExecutor **executor) {
  Plan plan(function);
  const auto [self, gamma, beta, N, C, HxW, group, eps, out, meanOut, rstdOut, swish] = given;
  const View x = plan.input(self, "self"), weight = plan.input(gamma, "gamma", true),
             bias = plan.input(beta, "beta", true), y = plan.output(out, "out"),
             means = plan.output(meanOut, "meanOut", true),
             deviations = plan.output(rstdOut, "rstdOut", true);
  if (plan.isGood() &&
      (group < 1 || N < 1 || C < 1 || HxW < 1 || C % group || countOf(x.dims) != N * C * HxW))
    plan.reject("N %lld, C %lld and HxW %lld must be the elements of self %s, and C be divisible "
                "by group %lld",
                (long long)N, (long long)C, (long long)HxW, textOf(x.dims).c_str(),
                (long long)group);
  if (plan.isGood()) {
    const View groups = plan.reshaped(plan.dense(x, ACL_FLOAT), {N, group, C / group * HxW});
    const View mean = reduced(plan, "ReduceMeanD", groups, {2}, true, ACL_FLOAT);
    const View centered = plan.map("Sub", {groups, mean});
    const View rstd = inverseDeviation(plan, centered, {2}, eps);
    View result = plan.reshaped(plan.map("Mul", {centered, rstd}), {N, C, HxW});
    result = weighted(plan, "Mul", result, alongChannels(plan, weight, 3));
    result = weighted(plan, "Add", result, alongChannels(plan, bias, 3));
    if (swish)
      result =
          times(plan, result, computed(plan, "Sigmoid", withNumber(plan, "Mul", result, *swish)));
    plan.write(plan.isGood() ? plan.reshaped(result, x.dims) : result, y);
    writeOptional(plan, plan.reshaped(mean, {N, group}), means);
    writeOptional(plan, plan.reshaped(rstd, {N, group}), deviations);
  }
  return plan.finish(size, executor);
}

aclnnStatus aclnnGroupNormGetWorkspaceSize(const aclTensor *self, const aclTensor *gamma,
                                           const aclTensor *beta, int64_t N, int64_t C, int64_t HxW,
                                           int64_t group, double eps, aclTensor *out,
                                           aclTensor *meanOut, aclTensor *rstdOut, uint64_t *size,
                                           aclOpExecutor **executor) {
  return groupNorm(__func__, {self, gamma, beta, N, C, HxW, group, eps, out, meanOut, rstdOut},
                   size, executor);
}
ACLNN_RUN(GroupNorm)

/// Norms of images, whose dims are those of the tensor.
static aclnnStatus groupNormOfImages(const char *function, GroupNorm given, uint64_t *size,
                                     aclOpExecutor **executor) {
  Plan plan(function);
  const View x = plan.input(given.self, "self");
  if (plan.isGood() && (x.dims.size() < 2 || countOf(x.dims) == 0))
    plan.reject("self %s must have 2 dims or more, and elements", textOf(x.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  given.N = x.dims[0];
  given.C = x.dims[1];
  given.HxW = countOf(x.dims) / (given.N * given.C);
  return groupNorm(function, given, size, executor);
}

aclnnStatus aclnnGroupNormSiluGetWorkspaceSize(const aclTensor *self, const aclTensor *gamma,
                                               const aclTensor *beta, int64_t group, double eps,
                                               aclTensor *out, aclTensor *meanOut,
                                               aclTensor *rstdOut, uint64_t *size,
                                               aclOpExecutor **executor) {
  return groupNormOfImages(__func__,
                           {self, gamma, beta, 0, 0, 0, group, eps, out, meanOut, rstdOut, 1.0},
                           size, executor);
}
ACLNN_RUN(GroupNormSilu)
aclnnStatus aclnnGroupNormSiluV2GetWorkspaceSize(const aclTensor *self, const aclTensor *gamma,
                                                 const aclTensor *beta, int64_t group, double eps,
                                                 bool activateSilu, aclTensor *out,
                                                 aclTensor *meanOut, aclTensor *rstdOut,
                                                 uint64_t *size, aclOpExecutor **executor) {
  return groupNormOfImages(__func__,
                           {self, gamma, beta, 0, 0, 0, group, eps, out, meanOut, rstdOut,
                            activateSilu ? std::optional(1.0) : std::nullopt},
                           size, executor);
}
ACLNN_RUN(GroupNormSiluV2)
aclnnStatus aclnnGroupNormSwishGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma,
                                                const aclTensor *beta, int64_t numGroups,
                                                char *dataFormatOptional, double eps,
                                                bool activateSwish, double swishScale,
                                                const aclTensor *yOut, const aclTensor *meanOut,
                                                const aclTensor *rstdOut, uint64_t *size,
                                                aclOpExecutor **executor) {
  if (dataFormatOptional && *dataFormatOptional && std::string_view(dataFormatOptional) != "NCHW") {
    Plan plan(__func__);
    plan.reject("dataFormat must be NCHW");
    return plan.finish(size, executor);
  }
  return groupNormOfImages(__func__,
                           {x, gamma, beta, 0, 0, 0, numGroups, eps, yOut, meanOut, rstdOut,
                            activateSwish ? std::optional(swishScale) : std::nullopt},
                           size, executor);
}
ACLNN_RUN(GroupNormSwish)

aclnnStatus aclnnBatchNormGetWorkspaceSize(const aclTensor *input, const aclTensor *weight,
                                           const aclTensor *bias, aclTensor *runningMean,
                                           aclTensor *runningVar, bool training, double momentum,
                                           double eps, aclTensor *output, aclTensor *saveMean,
                                           aclTensor *saveInvstd, uint64_t *size,
                                           aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = plan.input(input, "input"), scale = plan.input(weight, "weight", true),
             offset = plan.input(bias, "bias", true),
             runMean = plan.input(runningMean, "runningMean", true),
             runVar = plan.input(runningVar, "runningVar", true), y = plan.output(output, "output"),
             meanOut = plan.output(saveMean, "saveMean", true),
             deviationOut = plan.output(saveInvstd, "saveInvstd", true);
  const View newMean = plan.output(runningMean, "runningMean", true),
             newVar = plan.output(runningVar, "runningVar", true);
  if (plan.isGood() && (given.dims.size() < 2 || given.dims.size() > 5))
    plan.reject("input must have 2 to 5 dims, of which the second are the channels");
  if (plan.isGood() && !training && (!runMean.memory || !runVar.memory))
    plan.reject("runningMean and runningVar must be given unless training");
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View x = plan.dense(given, ACL_FLOAT);
  const size_t rank = x.dims.size();
  View mean = alongChannels(plan, runMean, rank), variance = alongChannels(plan, runVar, rank);
  if (training) {
    Dims axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    axes.erase(axes.begin() + 1);
    mean = reduced(plan, "ReduceMeanD", x, axes, true, ACL_FLOAT);
    const View centered = plan.map("Sub", {x, mean});
    variance =
        reduced(plan, "ReduceMeanD", plan.map("Mul", {centered, centered}), axes, true, ACL_FLOAT);
    // The running variance is that of a sample.
    const double count = double(countOf(x.dims)) / double(x.dims[1]);
    auto follow = [&](const View &before, const View &batch, double factor, const View &target) {
      if (target.memory)
        writeOptional(plan,
                      sum(plan, "Add",
                          withNumber(plan, "Mul", alongChannels(plan, before, rank), 1 - momentum),
                          batch, momentum * factor),
                      target);
    };
    follow(runMean, mean, 1, newMean);
    follow(runVar, variance, count > 1 ? count / (count - 1) : 1, newVar);
  }
  const View rstd = computed(plan, "Rsqrt", withNumber(plan, "Add", variance, eps));
  View result = combined(plan, "Mul", combined(plan, "Sub", x, mean), rstd);
  result = weighted(plan, "Mul", result, alongChannels(plan, scale, rank));
  plan.write(weighted(plan, "Add", result, alongChannels(plan, offset, rank)), y);
  if (training) {
    writeOptional(plan, mean, meanOut);
    writeOptional(plan, rstd, deviationOut);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(BatchNorm)

aclnnStatus aclnnInstanceNormGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma,
                                              const aclTensor *beta, const char *dataFormat,
                                              double eps, aclTensor *y, aclTensor *mean,
                                              aclTensor *variance, uint64_t *size,
                                              aclOpExecutor **executor) {
  Plan plan(__func__);
  View given = plan.input(x, "x");
  const View weight = plan.input(gamma, "gamma"), bias = plan.input(beta, "beta");
  View out = plan.output(y, "y");
  const View means = plan.output(mean, "mean", true),
             variances = plan.output(variance, "variance", true);
  const std::string_view format = dataFormat ? dataFormat : "";
  if (format != "NCHW" && format != "NHWC")
    plan.reject("dataFormat must be NCHW or NHWC");
  if (plan.isGood() && (given.dims.size() != 4 || out.dims.size() != 4))
    plan.reject("x and y must have 4 dims");
  if (!plan.isGood())
    return plan.finish(size, executor);
  if (format == "NHWC") {
    given = permuted(given, {0, 3, 1, 2});
    out = permuted(out, {0, 3, 1, 2});
  }
  if (weight.dims != Dims{given.dims[1]} || bias.dims != weight.dims)
    plan.reject("gamma and beta must have %lld elements", (long long)given.dims[1]);
  const View wide = plan.dense(given, ACL_FLOAT);
  if (plan.isGood()) {
    const View average = reduced(plan, "ReduceMeanD", wide, {2, 3}, true, ACL_FLOAT);
    const View centered = combined(plan, "Sub", wide, average);
    const View spread = reduced(plan, "ReduceMeanD", combined(plan, "Mul", centered, centered),
                                {2, 3}, true, ACL_FLOAT);
    View result = combined(plan, "Mul", centered,
                           computed(plan, "Rsqrt", withNumber(plan, "Add", spread, eps)));
    result = weighted(plan, "Mul", result, alongChannels(plan, weight, 4));
    plan.write(weighted(plan, "Add", result, alongChannels(plan, bias, 4)), out);
    writeOptional(plan, average, means);
    writeOptional(plan, spread, variances);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(InstanceNorm)
