//===-- AttentionGradient.cpp - the gradients of an attention ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Attention.h"
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

using namespace atc::ascend;

namespace {

/// Sums heads that share one: the gradient of sharedHeads.
View sumOfShared(Plan &plan, const View &x, int64_t heads) {
  if (!plan.isGood() || x.dims[1] == heads)
    return x;
  const View groups = plan.reshaped(plan.dense(x, ACL_FLOAT),
                                    {x.dims[0], heads, x.dims[1] / heads, x.dims[2], x.dims[3]});
  return reduced(plan, "ReduceSumD", groups, {2}, false, ACL_FLOAT);
}

View turned(const View &x) { return permuted(x, {0, 1, 3, 2}); }

/// Writes the gradients of query, key, value and shift for that of the result.
void writeGradients(Plan &plan, const Attention &given, const View &gradient, const View &ofQuery,
                    const View &ofKey, const View &ofValue, const View &ofShift) {
  auto headed = [&](const View &x, int64_t heads, const char *name) {
    return headsOf(plan, x, given.layout, heads, name);
  };
  const View q = headed(given.query, given.heads, "query"),
             k = headed(given.key, given.keyHeads, "keyIn"),
             v = headed(given.value, given.keyHeads, "value"),
             dy = headed(gradient, given.heads, "dy");
  if (plan.isGood() &&
      (given.keyHeads < 1 || given.heads % given.keyHeads || k.dims[2] != v.dims[2] ||
       q.dims[3] != k.dims[3] || q.dims[0] != k.dims[0] || k.dims[0] != v.dims[0] ||
       dy.dims != Dims{q.dims[0], q.dims[1], q.dims[2], v.dims[3]}))
    plan.reject("query %s, keyIn %s, value %s and dy %s do not fit each other",
                textOf(given.query.dims).c_str(), textOf(given.key.dims).c_str(),
                textOf(given.value.dims).c_str(), textOf(gradient.dims).c_str());
  if (!plan.isGood())
    return;
  const View keys = sharedHeads(plan, k, given.heads), values = sharedHeads(plan, v, given.heads);
  const View scores = scoresOf(plan, given, q, k),
             weights = softmaxOf(plan, "SoftmaxV2", scores, 3);
  if (!plan.isGood())
    return;
  // A row that is hidden whole has weights, but they do not depend on its scores.
  const View seen = chosen(plan, comparison(plan, "Le", scores, plan.constant(-1e30, ACL_FLOAT)),
                           plan.constant(0, ACL_FLOAT), weights);
  // Behind the softmax, whose rows add to 1: p * (d - sum(p * d)).
  const View behind = plan.dense(product(plan, dy, turned(values)), ACL_FLOAT);
  const View share =
      reduced(plan, "ReduceSumD", combined(plan, "Mul", weights, behind), {3}, true, ACL_FLOAT);
  const View ofScores = withNumber(
      plan, "Mul", combined(plan, "Mul", seen, combined(plan, "Sub", behind, share)), given.scale);
  if (!plan.isGood())
    return;
  const View slopes = plan.dense(ofScores, q.type), shares = plan.dense(weights, v.type);
  plan.write(product(plan, slopes, keys), headed(ofQuery, given.heads, "dqOut"));
  plan.write(sumOfShared(plan, product(plan, turned(slopes), q), given.keyHeads),
             headed(ofKey, given.keyHeads, "dkOut"));
  plan.write(sumOfShared(plan, product(plan, turned(shares), dy), given.keyHeads),
             headed(ofValue, given.keyHeads, "dvOut"));
  plan.write(ofScores, ofShift);
}

} // namespace

aclnnStatus aclnnFlashAttentionScoreGradGetWorkspaceSize(
    const aclTensor *query, const aclTensor *keyIn, const aclTensor *value, const aclTensor *dy,
    const aclTensor *pseShiftOptional, const aclTensor *dropMaskOptional,
    const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclTensor *,
    const aclTensor *, const aclTensor *, const aclTensor *, const aclIntArray *prefixOptional,
    double scaleValueOptional, double keepProbOptional, int64_t preTokensOptional,
    int64_t nextTokensOptional, int64_t headNum, char *inputLayout, int64_t,
    int64_t sparseModeOptional, const aclTensor *dqOut, const aclTensor *dkOut,
    const aclTensor *dvOut, const aclTensor *dpseOut, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  if (dropMaskOptional || paddingMaskOptional || prefixOptional || keepProbOptional != 1)
    plan.reject("dropMask, paddingMask and prefix must be NULL and keepProb 1: they have no "
                "functions here");
  Attention attention;
  attention.query = plan.input(query, "query");
  attention.key = plan.input(keyIn, "keyIn");
  attention.value = plan.input(value, "value");
  const View gradient = plan.input(dy, "dy");
  describeAttention(plan, attention, inputLayout, headNum,
                    keyHeadsOf(plan, attention, inputLayout, headNum), sparseModeOptional);
  if (attention.layout == "TND")
    plan.reject("inputLayout TND has no gradients here; give each sequence as a batch");
  attention.scale = scaleValueOptional;
  attention.before = preTokensOptional;
  attention.after = nextTokensOptional;
  attention.shift = plan.input(pseShiftOptional, "pseShift", true);
  attention.shiftsFirst = true;
  attention.hasModeOfOneRow = true;
  attention.mask = plan.input(attenMaskOptional, "attenMask", true);
  const View ofQuery = plan.output(dqOut, "dqOut"), ofKey = plan.output(dkOut, "dkOut"),
             ofValue = plan.output(dvOut, "dvOut"), ofShift = plan.output(dpseOut, "dpseOut", true);
  if (plan.isGood())
    writeGradients(plan, attention, gradient, ofQuery, ofKey, ofValue, ofShift);
  return plan.finish(size, executor);
}
ACLNN_RUN(FlashAttentionScoreGrad)

/// Returns the sum over the dims that were broadcast.
static View summedTo(Plan &plan, const View &x, const Dims &dims) {
  Dims axes;
  for (size_t i = 0; plan.isGood() && i < dims.size(); ++i)
    if (dims[i] == 1 && x.dims[i] != 1)
      axes.push_back(int64_t(i));
  return axes.empty() ? x : reduced(plan, "ReduceSumD", x, axes, true, ACL_FLOAT);
}

aclnnStatus aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(
    const aclTensor *dy, const aclTensor *cos, const aclTensor *sin, const aclTensor *xOptional,
    int64_t mode, const aclTensor *dxOut, const aclTensor *dcosOut, const aclTensor *dsinOut,
    uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View gradient = plan.input(dy, "dy"), c = plan.input(cos, "cos"),
             s = plan.input(sin, "sin"), x = plan.input(xOptional, "x", true),
             ofInput = plan.output(dxOut, "dxOut"), ofCos = plan.output(dcosOut, "dcosOut", true),
             ofSin = plan.output(dsinOut, "dsinOut", true);
  if (mode < 0 || mode > 2)
    plan.reject("mode is %lld; give 0 to 2", (long long)mode);
  auto fits = [&](const Dims &dims) {
    bool all = dims.size() == gradient.dims.size();
    for (size_t i = 0; all && i < dims.size(); ++i)
      all = dims[i] == 1 || dims[i] == gradient.dims[i];
    return all;
  };
  if (plan.isGood() && (!fits(c.dims) || s.dims != c.dims || (x.place && x.dims != gradient.dims)))
    plan.reject("cos %s and sin %s must be broadcast to dy %s, and x %s have its dims",
                textOf(c.dims).c_str(), textOf(s.dims).c_str(), textOf(gradient.dims).c_str(),
                textOf(x.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  // The turned elements alone: those that the sine is multiplied with.
  const View none = plan.constant(0, ACL_FLOAT), one = plan.constant(1, ACL_FLOAT);
  auto turned = [&](const View &values) { return rotated(plan, values, none, one, mode); };
  const View g = plan.dense(gradient, ACL_FLOAT);
  // Turning twice is a change of the sign.
  plan.write(combined(plan, "Sub", times(plan, g, c), turned(times(plan, g, s))), ofInput);
  if (x.place && plan.isGood()) {
    const View wide = plan.dense(x, ACL_FLOAT);
    writeOptional(plan, summedTo(plan, times(plan, g, wide), c.dims), ofCos);
    writeOptional(plan, summedTo(plan, times(plan, g, turned(wide)), c.dims), ofSin);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(RotaryPositionEmbeddingGrad)
