//===-- NormGradients.cpp - aclnn gradients of norms of channels ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

using namespace atc::ascend;

namespace {

View totalOver(Plan &plan, const View &x, const Dims &axes, bool keep) {
  return reduced(plan, "ReduceSumD", x, axes, keep, ACL_FLOAT);
}

/// Returns the gradient of normal = (x - mean) * spread over axes, whose values depend on x:
/// spread * (g - mean(g) - normal * mean(g * normal)).
View throughNorm(Plan &plan, const View &gradient, const View &normal, const View &spread,
                 const Dims &axes) {
  if (!plan.isGood())
    return {};
  double count = 1;
  for (int64_t axis : axes)
    count *= double(gradient.dims[size_t(axis)]);
  auto mean = [&](const View &x) {
    return withNumber(plan, "Mul", totalOver(plan, x, axes, true), 1 / count);
  };
  const View centred = combined(plan, "Sub", gradient, mean(gradient));
  return times(
      plan, spread,
      combined(plan, "Sub", centred, times(plan, normal, mean(times(plan, gradient, normal)))));
}

/// Returns a vector as floats that lie along a dim of a tensor; checks its elements.
View along(Plan &plan, const View &vector, const Dims &dims, size_t dim, const char *name) {
  if (plan.isGood() && countOf(vector.dims) != dims[dim])
    plan.reject("%s %s must have %lld elements", name, textOf(vector.dims).c_str(),
                (long long)dims[dim]);
  if (!plan.isGood())
    return {};
  Dims column(dims.size(), 1);
  column[dim] = dims[dim];
  return plan.reshaped(plan.dense(vector, ACL_FLOAT), column);
}

/// Tells which gradients a program wants.
struct Wanted {
  View ofInput, ofWeight, ofBias;

  Wanted(Plan &plan, const aclBoolArray *mask, const aclTensor *input, const aclTensor *weight,
         const aclTensor *bias) {
    const std::vector<bool> isWanted = plan.truths(mask, "outputMask");
    if (plan.isGood() && isWanted.size() != 3)
      plan.reject("outputMask must have 3 values");
    if (!plan.isGood())
      return;
    // A gradient that is wanted needs its output.
    if (isWanted[0])
      ofInput = plan.output(input, "gradInput");
    if (isWanted[1])
      ofWeight = plan.output(weight, "gradWeight");
    if (isWanted[2])
      ofBias = plan.output(bias, "gradBias");
  }
};

} // namespace

aclnnStatus aclnnBatchNormBackwardGetWorkspaceSize(
    const aclTensor *gradOut, const aclTensor *input, const aclTensor *weight,
    const aclTensor *runningMean, const aclTensor *runningVar, const aclTensor *saveMean,
    const aclTensor *saveInvstd, bool training, double eps, const aclBoolArray *outputMask,
    aclTensor *gradInput, aclTensor *gradWeight, aclTensor *gradBias, uint64_t *size,
    aclOpExecutor **executor) {
  Plan plan(__func__);
  const View gradient = plan.input(gradOut, "gradOut"), given = plan.input(input, "input"),
             factors = plan.input(weight, "weight", true),
             mean = training ? plan.input(saveMean, "saveMean")
                             : plan.input(runningMean, "runningMean"),
             spread = training ? plan.input(saveInvstd, "saveInvstd")
                               : plan.input(runningVar, "runningVar");
  const Wanted wanted(plan, outputMask, gradInput, gradWeight, gradBias);
  if (plan.isGood() && (given.dims.size() < 2 || gradient.dims != given.dims))
    plan.reject("input %s must have 2 dims or more, and gradOut %s be the same",
                textOf(given.dims).c_str(), textOf(gradient.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  Dims others;
  for (size_t i = 0; i < given.dims.size(); ++i)
    if (i != 1)
      others.push_back(int64_t(i));
  View inverse = along(plan, spread, given.dims, 1, training ? "saveInvstd" : "runningVar");
  if (!training)
    inverse = computed(plan, "Rsqrt", withNumber(plan, "Add", inverse, eps));
  const View g = plan.dense(gradient, ACL_FLOAT);
  const View normal =
      times(plan,
            combined(plan, "Sub", plan.dense(given, ACL_FLOAT),
                     along(plan, mean, given.dims, 1, training ? "saveMean" : "runningMean")),
            inverse);
  if (wanted.ofInput.memory) {
    View weighted = g;
    if (factors.memory)
      weighted = times(plan, g, along(plan, factors, given.dims, 1, "weight"));
    plan.write(training ? throughNorm(plan, weighted, normal, inverse, others)
                        : times(plan, weighted, inverse),
               wanted.ofInput);
  }
  if (wanted.ofWeight.memory)
    plan.write(totalOver(plan, times(plan, g, normal), others, false), wanted.ofWeight);
  if (wanted.ofBias.memory)
    plan.write(totalOver(plan, g, others, false), wanted.ofBias);
  return plan.finish(size, executor);
}
ACLNN_RUN(BatchNormBackward)

aclnnStatus aclnnGroupNormBackwardGetWorkspaceSize(
    const aclTensor *gradOut, const aclTensor *input, const aclTensor *mean, const aclTensor *rstd,
    const aclTensor *gamma, int64_t N, int64_t C, int64_t HxW, int64_t group,
    const aclBoolArray *outputMask, aclTensor *gradInput, aclTensor *gradGammaOut,
    aclTensor *gradBetaOut, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View gradient = plan.input(gradOut, "gradOut"), given = plan.input(input, "input"),
             average = plan.input(mean, "mean"), spread = plan.input(rstd, "rstd"),
             factors = plan.input(gamma, "gamma", true);
  const Wanted wanted(plan, outputMask, gradInput, gradGammaOut, gradBetaOut);
  constexpr int64_t max = 1 << 28;
  const bool fits =
      N >= 0 && C >= 1 && HxW >= 0 && std::max({N, C, HxW}) <= max && group >= 1 && C % group == 0;
  if (plan.isGood() && (!fits || countOf(given.dims) != N * C * HxW ||
                        countOf(gradient.dims) != countOf(given.dims) ||
                        countOf(average.dims) != N * group || countOf(spread.dims) != N * group))
    plan.reject("input and gradOut must have N * C * HxW elements, mean and rstd N * group, and "
                "group %lld divide C %lld",
                (long long)group, (long long)C);
  if (!plan.isGood())
    return plan.finish(size, executor);
  const Dims grouped{N, group, C / group, HxW}, channels{N, C, HxW}, column{N, group, 1, 1};
  auto asGroups = [&](const View &x, const Dims &dims) {
    return plan.reshaped(plan.dense(x, ACL_FLOAT), dims);
  };
  const View g = asGroups(gradient, grouped), inverse = asGroups(spread, column);
  const View normal = times(
      plan, combined(plan, "Sub", asGroups(given, grouped), asGroups(average, column)), inverse);
  if (wanted.ofInput.memory) {
    View weighted = g;
    if (factors.memory)
      weighted =
          times(plan, plan.reshaped(g, channels), along(plan, factors, channels, 1, "gamma"));
    const View result = throughNorm(plan, plan.isGood() ? plan.reshaped(weighted, grouped) : g,
                                    normal, inverse, {2, 3});
    writeOptional(plan, result, wanted.ofInput);
  }
  if (wanted.ofWeight.memory)
    plan.write(totalOver(plan, plan.reshaped(times(plan, g, normal), channels), {0, 2}, false),
               wanted.ofWeight);
  if (wanted.ofBias.memory)
    plan.write(totalOver(plan, plan.reshaped(g, channels), {0, 2}, false), wanted.ofBias);
  return plan.finish(size, executor);
}
ACLNN_RUN(GroupNormBackward)
