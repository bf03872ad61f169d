//===-- BatchStatistics.cpp - aclnn norms of batches that several devices hold -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each device computes the statistics of its part; they are gathered, and the norm and its
// gradient use those of all.
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

using namespace atc::ascend;

namespace {

/// Returns all axes but the one of the channels.
Dims besideChannels(Plan &plan, const View &x) {
  if (plan.isGood() && (x.dims.size() < 2 || countOf(x.dims) == 0))
    plan.reject("input %s must have 2 dims or more, of which the second are the channels, and "
                "elements",
                textOf(x.dims).c_str());
  Dims axes;
  for (size_t i = 0; plan.isGood() && i < x.dims.size(); ++i)
    if (i != 1)
      axes.push_back(int64_t(i));
  return axes;
}

/// Returns a number per channel as a tensor that combines with `like`; nothing for nothing.
View perChannel(Plan &plan, const View &vector, const View &like, const char *name) {
  if (!vector.memory || !plan.isGood())
    return {};
  if (countOf(vector.dims) != like.dims[1])
    plan.reject("%s %s must have %lld elements", name, textOf(vector.dims).c_str(),
                (long long)like.dims[1]);
  if (!plan.isGood())
    return {};
  Dims dims(like.dims.size(), 1);
  dims[1] = like.dims[1];
  return plan.reshaped(plan.dense(vector, ACL_FLOAT), dims);
}

View centred(Plan &plan, const View &x, const View &mean) {
  return combined(plan, "Sub", plan.dense(x, ACL_FLOAT), perChannel(plan, mean, x, "mean"));
}

View square(Plan &plan, const View &x) { return times(plan, x, x); }

} // namespace

aclnnStatus aclnnBatchNormStatsGetWorkspaceSize(const aclTensor *input, double eps, aclTensor *mean,
                                                aclTensor *invstd, uint64_t *size,
                                                aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = IN(input), means = plan.output(mean, "mean"),
             spreads = plan.output(invstd, "invstd");
  const Dims axes = besideChannels(plan, given);
  if (plan.isGood()) {
    const View x = plan.dense(given, ACL_FLOAT);
    const View average = reduced(plan, "ReduceMeanD", x, axes, true, ACL_FLOAT);
    const View variance =
        reduced(plan, "ReduceMeanD", square(plan, combined(plan, "Sub", x, average)), axes, true,
                ACL_FLOAT);
    writeOptional(plan, average, means);
    writeOptional(plan, computed(plan, "Rsqrt", withNumber(plan, "Add", variance, eps)), spreads);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(BatchNormStats)

aclnnStatus aclnnBatchNormReduceGetWorkspaceSize(const aclTensor *x, aclTensor *sum,
                                                 aclTensor *squareSum, uint64_t *size,
                                                 aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = IN(x), total = plan.output(sum, "sum"),
             squares = plan.output(squareSum, "squareSum");
  const Dims axes = besideChannels(plan, given);
  if (plan.isGood()) {
    const View wide = plan.dense(given, ACL_FLOAT);
    plan.write(reduced(plan, "ReduceSumD", wide, axes, false, ACL_FLOAT), total);
    plan.write(reduced(plan, "ReduceSumD", square(plan, wide), axes, false, ACL_FLOAT), squares);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(BatchNormReduce)

aclnnStatus aclnnBatchNormGatherStatsWithCountsGetWorkspaceSize(
    const aclTensor *input, const aclTensor *mean, const aclTensor *invstd, aclTensor *runningMean,
    aclTensor *runningVar, double momentum, double eps, const aclTensor *counts, aclTensor *meanAll,
    aclTensor *invstdAll, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = IN(input), means = IN(mean), spreads = IN(invstd), elements = IN(counts),
             oldMean = plan.input(runningMean, "runningMean", true),
             oldVariance = plan.input(runningVar, "runningVar", true),
             newMean = plan.output(runningMean, "runningMean", true),
             newVariance = plan.output(runningVar, "runningVar", true),
             outMean = plan.output(meanAll, "meanAll"),
             outSpread = plan.output(invstdAll, "invstdAll");
  besideChannels(plan, x);
  if (plan.isGood() && (means.dims.size() != 2 || means.dims[1] != x.dims[1] ||
                        spreads.dims != means.dims || countOf(elements.dims) != means.dims[0]))
    plan.reject("mean %s and invstd %s must be [devices, %lld], and counts %s have a number of "
                "elements per device",
                textOf(means.dims).c_str(), textOf(spreads.dims).c_str(), (long long)x.dims[1],
                textOf(elements.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View weights = plan.reshaped(plan.dense(elements, ACL_FLOAT), {means.dims[0], 1});
  const View all = reduced(plan, "ReduceSumD", weights, {0}, true, ACL_FLOAT);
  auto weighted = [&](const View &values) {
    return combined(plan, "RealDiv",
                    reduced(plan, "ReduceSumD", times(plan, weights, values), {0}, true, ACL_FLOAT),
                    all);
  };
  // The variance on one device is 1 / invstd^2 - eps.
  const View each = plan.dense(means, ACL_FLOAT), average = weighted(each);
  const View inside =
      withNumber(plan, "Add",
                 computed(plan, "Reciprocal", square(plan, plan.dense(spreads, ACL_FLOAT))), -eps);
  const View variance =
      weighted(combined(plan, "Add", inside, square(plan, combined(plan, "Sub", each, average))));
  writeOptional(plan, average, outMean);
  writeOptional(plan, computed(plan, "Rsqrt", withNumber(plan, "Add", variance, eps)), outSpread);
  auto follow = [&](const View &before, const View &now, const View &target) {
    if (target.memory && plan.isGood())
      writeOptional(plan,
                    sum(plan, "Add",
                        withNumber(plan, "Mul", plan.dense(before, ACL_FLOAT), 1 - momentum),
                        plan.reshaped(now, {x.dims[1]}), momentum),
                    target);
  };
  follow(oldMean, average, newMean);
  // The running variance is that of a sample.
  follow(oldVariance,
         times(plan, variance, combined(plan, "RealDiv", all, withNumber(plan, "Add", all, -1))),
         newVariance);
  return plan.finish(size, executor);
}
ACLNN_RUN(BatchNormGatherStatsWithCounts)

static View normOfElements(Plan &plan, const View &x, const View &weight, const View &bias,
                           const View &mean, const View &spread) {
  besideChannels(plan, x);
  View result = times(plan, centred(plan, x, mean), perChannel(plan, spread, x, "invstd"));
  if (weight.memory)
    result = times(plan, result, perChannel(plan, weight, x, "weight"));
  if (bias.memory)
    result = combined(plan, "Add", result, perChannel(plan, bias, x, "bias"));
  return result;
}
ACLNN_FUNCTION(BatchNormElemt,
               (const aclTensor *input, const aclTensor *weight, const aclTensor *bias,
                aclTensor *mean, aclTensor *invstd, double, aclTensor *output),
               output,
               normOfElements(plan, IN(input), plan.input(weight, "weight", true),
                              plan.input(bias, "bias", true), IN(mean), IN(invstd)))

aclnnStatus aclnnBatchNormReduceBackwardGetWorkspaceSize(
    const aclTensor *gradOut, const aclTensor *input, const aclTensor *mean,
    const aclTensor *invstd, const aclTensor *, const bool inputG, const bool weightG,
    const bool biasG, aclTensor *sumDy, aclTensor *sumDyXmu, aclTensor *gradWeight,
    aclTensor *gradBias, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View g = IN(gradOut), x = IN(input), average = IN(mean), spread = IN(invstd);
  const View outs[] = {
      plan.output(sumDy, "sumDy", !inputG), plan.output(sumDyXmu, "sumDyXmu", !inputG),
      plan.output(gradWeight, "gradWeight", !weightG), plan.output(gradBias, "gradBias", !biasG)};
  const Dims axes = besideChannels(plan, x);
  if (plan.isGood() && g.dims != x.dims)
    plan.reject("gradOut %s must be %s", textOf(g.dims).c_str(), textOf(x.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  auto total = [&](const View &values) {
    return reduced(plan, "ReduceSumD", values, axes, true, ACL_FLOAT);
  };
  const View wide = plan.dense(g, ACL_FLOAT);
  const View ofGradient = total(wide),
             ofProduct = total(times(plan, wide, centred(plan, x, average)));
  if (inputG) {
    writeOptional(plan, ofGradient, outs[0]);
    writeOptional(plan, ofProduct, outs[1]);
  }
  if (weightG)
    writeOptional(plan, times(plan, ofProduct, perChannel(plan, spread, x, "invstd")), outs[2]);
  if (biasG)
    writeOptional(plan, ofGradient, outs[3]);
  return plan.finish(size, executor);
}
ACLNN_RUN(BatchNormReduceBackward)

/// Returns (g - sumDy / n - (x - mean) * invstd^2 * sumDyXmu / n) * invstd * weight.
static View gradientOfElements(Plan &plan, const View &g, const View &x, const View &mean,
                               const View &invstd, const View &weight, const View &ofGradient,
                               const View &ofProduct, const View &counter) {
  besideChannels(plan, x);
  if (plan.isGood() && g.dims != x.dims)
    plan.reject("gradOut %s must be %s", textOf(g.dims).c_str(), textOf(x.dims).c_str());
  if (!plan.isGood())
    return {};
  const View all =
      reduced(plan, "ReduceSumD", plan.dense(counter, ACL_FLOAT), {}, false, ACL_FLOAT);
  const View spread = perChannel(plan, invstd, x, "invstd");
  auto mean1 = [&](const View &sums, const char *name) {
    return combined(plan, "RealDiv", perChannel(plan, sums, x, name), all);
  };
  const View slope = times(plan, square(plan, spread), mean1(ofProduct, "sumDyXmu"));
  View result = combined(
      plan, "Sub", combined(plan, "Sub", plan.dense(g, ACL_FLOAT), mean1(ofGradient, "sumDy")),
      times(plan, centred(plan, x, mean), slope));
  result = times(plan, result, spread);
  return weight.memory ? times(plan, result, perChannel(plan, weight, x, "weight")) : result;
}
ACLNN_FUNCTION(BatchNormElemtBackward,
               (const aclTensor *gradOut, const aclTensor *input, const aclTensor *mean,
                const aclTensor *invstd, const aclTensor *weight, const aclTensor *sumDy,
                const aclTensor *sumDyXmu, aclTensor *counter, aclTensor *gradInput),
               gradInput,
               gradientOfElements(plan, IN(gradOut), IN(input), IN(mean), IN(invstd),
                                  plan.input(weight, "weight", true), IN(sumDy), IN(sumDyXmu),
                                  IN(counter)))
