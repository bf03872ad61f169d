//===-- AttentionGradient.cpp - the gradients of an attention ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Attention.h"
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

#include <tuple>

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
  const View behind =
      dropped(plan, given, plan.dense(product(plan, dy, turned(values)), ACL_FLOAT));
  const View share =
      reduced(plan, "ReduceSumD", combined(plan, "Mul", weights, behind), {3}, true, ACL_FLOAT);
  const View ofScores = withNumber(
      plan, "Mul", combined(plan, "Mul", seen, combined(plan, "Sub", behind, share)), given.scale);
  if (!plan.isGood())
    return;
  const View slopes = plan.dense(ofScores, q.type),
             shares = plan.dense(dropped(plan, given, weights), v.type);
  plan.write(product(plan, slopes, keys), headed(ofQuery, given.heads, "dqOut"));
  plan.write(sumOfShared(plan, product(plan, turned(slopes), q), given.keyHeads),
             headed(ofKey, given.keyHeads, "dkOut"));
  plan.write(sumOfShared(plan, product(plan, turned(shares), dy), given.keyHeads),
             headed(ofValue, given.keyHeads, "dvOut"));
  plan.write(ofScores, ofShift);
}

/// Writes zeros to a gradient of tokens that nothing depends on.
void writeZeros(Plan &plan, const View &output) {
  const View zero = plan.constant(0, output.type);
  if (plan.isGood())
    plan.write(plan.broadcast(zero, output.dims), output);
}

/// Writes the gradients of sequences that lie one behind the other.
void writeSequences(Plan &plan, const Attention &given, const View &gradient, const View &ofQuery,
                    const View &ofKey, const View &ofValue) {
  for (const auto &[own, of, name] : {std::tuple{&gradient, &given.query, "dy"},
                                      {&ofKey, &given.key, "dkOut"},
                                      {&ofValue, &given.value, "dvOut"}})
    if (plan.isGood() && (own->dims.size() != 3 || of->dims.empty() || own->dims[0] != of->dims[0]))
      plan.reject("%s %s must have 3 dims with TND, and %lld tokens", name,
                  textOf(own->dims).c_str(), (long long)(of->dims.empty() ? 0 : of->dims[0]));
  forEachSequence(plan, given, [&](const Sequence &sequence) {
    const bool hasRows = sequence.rowsEnd > sequence.row, hasKeys = sequence.keysEnd > sequence.key;
    auto ofRows = [&](const View &view) {
      return sequenceOf(view, sequence.row, sequence.rowsEnd);
    };
    auto ofKeys = [&](const View &view) {
      return sequenceOf(view, sequence.key, sequence.keysEnd);
    };
    if (hasRows && hasKeys)
      return writeGradients(plan, sequence.own, ofRows(gradient), ofRows(ofQuery), ofKeys(ofKey),
                            ofKeys(ofValue), {});
    if (hasRows)
      writeZeros(plan, ofRows(ofQuery));
    if (hasKeys)
      for (const View *output : {&ofKey, &ofValue})
        writeZeros(plan, ofKeys(*output));
  });
}

/// The tensors that both functions take.
struct Given {
  const aclTensor *query, *key, *value, *dy, *shift, *mask;
  const aclTensor *ofQuery, *ofKey, *ofValue, *ofShift;
};

/// Adds the steps of both functions; `attention` holds what differs.
aclnnStatus finishGradients(Plan &plan, Attention &attention, const Given &given,
                            const char *layout, int64_t heads, int64_t sparseMode, uint64_t *size,
                            aclOpExecutor **executor) {
  attention.query = plan.input(given.query, "query");
  attention.key = plan.input(given.key, "keyIn");
  attention.value = plan.input(given.value, "value");
  const View gradient = plan.input(given.dy, "dy");
  const bool areSequences = layout && std::string_view(layout) == "TND";
  const int64_t keyHeads =
      areSequences
          ? (plan.isGood() && attention.key.dims.size() == 3 ? attention.key.dims[1] : heads)
          : keyHeadsOf(plan, attention, layout, heads);
  describeAttention(plan, attention, layout, heads, keyHeads, sparseMode);
  checkTrainingLayout(plan, attention);
  attention.shift = plan.input(given.shift, "pseShift", true);
  attention.shiftsFirst = true;
  attention.hasModeOfOneRow = true;
  attention.mask = plan.input(given.mask, "attenMask", true);
  const View ofQuery = plan.output(given.ofQuery, "dqOut"),
             ofKey = plan.output(given.ofKey, "dkOut"),
             ofValue = plan.output(given.ofValue, "dvOut"),
             ofShift = plan.output(given.ofShift, "dpseOut", true);
  attention.output = ofQuery;
  if (plan.isGood() && areSequences)
    writeSequences(plan, attention, gradient, ofQuery, ofKey, ofValue);
  else if (plan.isGood())
    writeGradients(plan, attention, gradient, ofQuery, ofKey, ofValue, ofShift);
  return plan.finish(size, executor);
}

void rejectGiven(Plan &plan, std::initializer_list<const void *> handles) {
  if (std::any_of(handles.begin(), handles.end(), [](auto *each) { return each; }))
    plan.reject("paddingMask and prefix must be NULL: they have no functions here");
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
  rejectGiven(plan, {paddingMaskOptional, prefixOptional});
  if (inputLayout && std::string_view(inputLayout) == "TND")
    plan.reject("inputLayout TND needs the lengths of the sequences, which "
                "aclnnFlashAttentionUnpaddingScoreGrad takes");
  Attention attention;
  setDropout(plan, attention, dropMaskOptional, keepProbOptional);
  attention.scale = scaleValueOptional;
  attention.before = preTokensOptional;
  attention.after = nextTokensOptional;
  return finishGradients(
      plan, attention,
      {query, keyIn, value, dy, pseShiftOptional, attenMaskOptional, dqOut, dkOut, dvOut, dpseOut},
      inputLayout, headNum, sparseModeOptional, size, executor);
}
ACLNN_RUN(FlashAttentionScoreGrad)

aclnnStatus aclnnFlashAttentionUnpaddingScoreGradGetWorkspaceSize(
    const aclTensor *query, const aclTensor *keyIn, const aclTensor *value, const aclTensor *dy,
    const aclTensor *pseShiftOptional, const aclTensor *dropMaskOptional,
    const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclTensor *,
    const aclTensor *, const aclTensor *, const aclTensor *, const aclIntArray *prefixOptional,
    const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional,
    double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum,
    char *inputLayout, int64_t, int64_t sparseMode, const aclTensor *dqOut, const aclTensor *dkOut,
    const aclTensor *dvOut, const aclTensor *dpseOut, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  rejectGiven(plan, {paddingMaskOptional, prefixOptional});
  if (!inputLayout || std::string_view(inputLayout) != "TND")
    plan.reject("inputLayout must be TND");
  Attention attention;
  setDropout(plan, attention, dropMaskOptional, keepProb);
  attention.scale = scaleValue;
  attention.before = preTokens;
  attention.after = nextTokens;
  attention.rows = plan.numbers(actualSeqQLenOptional, "actualSeqQLen");
  attention.lengths = plan.numbers(actualSeqKvLenOptional, "actualSeqKvLen");
  return finishGradients(
      plan, attention,
      {query, keyIn, value, dy, pseShiftOptional, attenMaskOptional, dqOut, dkOut, dvOut, dpseOut},
      inputLayout, headNum, sparseMode, size, executor);
}
ACLNN_RUN(FlashAttentionUnpaddingScoreGrad)

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
  if (plan.isGood() && (!fits(c.dims) || s.dims != c.dims || (x.memory && x.dims != gradient.dims)))
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
  if (x.memory && plan.isGood()) {
    const View wide = plan.dense(x, ACL_FLOAT);
    writeOptional(plan, summedTo(plan, times(plan, g, wide), c.dims), ofCos);
    writeOptional(plan, summedTo(plan, times(plan, g, turned(wide)), c.dims), ofSin);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(RotaryPositionEmbeddingGrad)
