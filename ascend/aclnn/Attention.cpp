//===-- Attention.cpp - aclnn attention and positions --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "aclnnop/aclnn_ops.h"
#include "aclnnop/aclnn_rotary_position_embedding.h"

#include <string_view>

using namespace atc::ascend;

namespace {

/// Returns the elements of the last dim in another order, some with the other sign.
View reordered(Plan &plan, const View &x, const Dims &places, const std::vector<double> &signs) {
  if (!plan.isGood())
    return {};
  const int64_t last = int64_t(x.dims.size()) - 1;
  View moved = taken(plan, x, last, indexTensor(plan, places, {int64_t(places.size())}));
  if (signs.empty())
    return moved;
  const View factors = plan.make(ACL_DOUBLE, {int64_t(signs.size())});
  if (plan.isGood())
    std::copy(signs.begin(), signs.end(), static_cast<double *>(factors.place->data()));
  return combined(plan, "Mul", moved, plan.dense(factors, moved.type));
}

/// x * cos + (x, rotated by a quarter of a turn) * sin
View rotated(Plan &plan, const View &given, const View &cos, const View &sin, int64_t mode) {
  const int64_t parts = mode == 2 ? 4 : 2;
  if (plan.isGood() && (mode < 0 || mode > 3 || given.dims.empty() || given.dims.back() % parts))
    plan.reject("mode is %lld of 0 to 3; the last dim of x must be divisible by %lld",
                (long long)mode, (long long)parts);
  if (!plan.isGood())
    return {};
  const int64_t size = given.dims.back();
  const View x = plan.dense(given, given.type);
  Dims places;
  std::vector<double> signs;
  if (mode == 1) { // -x1, x0, -x3, x2 ...
    for (int64_t i = 0; i < size; ++i) {
      places.push_back(i ^ 1);
      signs.push_back(i % 2 ? 1 : -1);
    }
  } else if (mode == 3) { // odd elements, negative, and the even ones
    for (int64_t i = 0; i < size; ++i) {
      places.push_back(i < size / 2 ? 2 * i + 1 : 2 * (i - size / 2));
      signs.push_back(i < size / 2 ? -1 : 1);
    }
  } else { // each half, or half of a half, with the other one
    const int64_t width = size / parts;
    for (int64_t i = 0; i < size; ++i) {
      const bool isFirst = i / width % 2 == 0;
      places.push_back(isFirst ? i + width : i - width);
      signs.push_back(isFirst ? -1 : 1);
    }
  }
  View plain = x;
  if (mode == 3) {
    Dims order;
    for (int64_t i = 0; i < size; ++i)
      order.push_back(i < size / 2 ? 2 * i : 2 * (i - size / 2) + 1);
    plain = reordered(plan, x, order, {});
  }
  return combined(plan, "Add", combined(plan, "Mul", plain, cos),
                  combined(plan, "Mul", reordered(plan, x, places, signs), sin));
}

/// Holds the parameters of an attention that are no tensors.
struct AttentionForm {
  std::string_view layout;
  int64_t heads, keyHeads;
  double scale;
  int64_t before, after, sparseMode;
};

/// Returns a tensor as [batch, heads, sequence, width].
View headsOf(Plan &plan, const View &x, std::string_view layout, int64_t heads, const char *name) {
  const size_t rank = layout == "BSH" || layout == "NSD" ? 3 : 4;
  if (plan.isGood() && x.dims.size() != rank)
    plan.reject("%s %s must have %zu dims", name, textOf(x.dims).c_str(), rank);
  if (!plan.isGood())
    return {};
  View view = x;
  if (layout == "BSH") {
    if (x.dims[2] % heads) {
      plan.reject("%s %s has no %lld heads", name, textOf(x.dims).c_str(), (long long)heads);
      return {};
    }
    const int64_t width = x.dims[2] / heads;
    view.dims = {x.dims[0], x.dims[1], heads, width};
    view.strides = {x.strides[0], x.strides[1], width * x.strides[2], x.strides[2]};
  } else if (layout == "NSD") {
    view.dims.insert(view.dims.begin(), 1);
    view.strides.insert(view.strides.begin(), 0);
  }
  if (layout == "BSH" || layout == "BSND")
    view = permuted(view, {0, 2, 1, 3});
  if (view.dims[1] != heads)
    plan.reject("%s %s has %lld heads, not %lld", name, textOf(x.dims).c_str(),
                (long long)view.dims[1], (long long)heads);
  return view;
}

/// Repeats heads that several heads of the query share.
View shared(Plan &plan, const View &x, int64_t heads) {
  if (!plan.isGood() || x.dims[1] == heads)
    return x;
  View wide = x;
  wide.dims.insert(wide.dims.begin() + 2, heads / x.dims[1]);
  wide.strides.insert(wide.strides.begin() + 2, 0);
  const View result = plan.make(x.type, wide.dims);
  plan.copy(wide, result);
  return plan.reshaped(result, {x.dims[0], heads, x.dims[2], x.dims[3]});
}

/// Returns what is hidden by position: [batch, 1, rows, columns], true where it is; an empty view
/// where nothing is.
View hiddenOf(Plan &plan, const AttentionForm &form, int64_t batch, int64_t rows, int64_t columns,
              const Dims &lengths) {
  // Modes: 0 a band from the first row on, 2 and 3 a triangle from the first or to the last row.
  const int64_t shift = form.sparseMode == 3 ? columns - rows : 0;
  const int64_t before = form.sparseMode == 0 ? form.before : columns + rows;
  const int64_t after = form.sparseMode == 0 ? form.after : 0;
  if (form.sparseMode == 1 || (before >= rows && after >= columns && lengths.empty()))
    return {};
  const View hidden = plan.make(ACL_BOOL, {batch, 1, rows, columns});
  for (int64_t i = 0; plan.isGood() && i < batch * rows * columns; ++i) {
    const int64_t own = i / (rows * columns), row = i / columns % rows, column = i % columns;
    const int64_t length =
        lengths.empty() ? columns : lengths[lengths.size() == 1 ? 0 : size_t(own)];
    static_cast<bool *>(hidden.place->data())[i] =
        column > row + shift + after || column < row + shift - before || column >= length;
  }
  return hidden;
}

View attention(Plan &plan, const View &query, const View &key, const View &value, const View &shift,
               const View &mask, const Dims &lengths, const AttentionForm &form) {
  const View q = headsOf(plan, query, form.layout, form.heads, "query");
  const View k = headsOf(plan, key, form.layout, form.keyHeads, "key");
  const View v = headsOf(plan, value, form.layout, form.keyHeads, "value");
  if (plan.isGood() && (form.heads % form.keyHeads || k.dims[2] != v.dims[2] ||
                        q.dims[3] != k.dims[3] || q.dims[0] != k.dims[0] || k.dims[0] != v.dims[0]))
    plan.reject("query %s, key %s and value %s do not fit each other", textOf(query.dims).c_str(),
                textOf(key.dims).c_str(), textOf(value.dims).c_str());
  if (plan.isGood() && !lengths.empty() && lengths.size() != 1 &&
      int64_t(lengths.size()) != q.dims[0])
    plan.reject("actualSeqLengthsKv must have 1 or %lld numbers", (long long)q.dims[0]);
  if (!plan.isGood())
    return {};
  const View keys = permuted(shared(plan, k, form.heads), {0, 1, 3, 2});
  View scores = plan.dense(product(plan, q, keys), ACL_FLOAT);
  if (form.scale != 1)
    scores = withNumber(plan, "Mul", scores, form.scale);
  if (shift.place)
    scores = combined(plan, "Add", scores, plan.broadcast(shift, scores.dims));
  const View low = plan.constant(-1e30, ACL_FLOAT);
  if (mask.place && form.sparseMode < 2)
    scores = chosen(plan, plan.broadcast(mask, scores.dims), low, scores);
  const View hidden = hiddenOf(plan, form, q.dims[0], q.dims[2], k.dims[2], lengths);
  if (hidden.place)
    scores = chosen(plan, hidden, low, scores);
  const View weights = softmaxOf(plan, "SoftmaxV2", scores, 3);
  if (!plan.isGood())
    return {};
  return product(plan, plan.dense(weights, v.type), shared(plan, v, form.heads));
}

/// Writes heads to an output of a layout.
void writeHeads(Plan &plan, const View &result, std::string_view layout, const View &output) {
  if (!plan.isGood())
    return;
  View target = headsOf(plan, output, layout, result.dims[1], "attentionOut");
  plan.write(result, target);
}

} // namespace

ACLNN_FUNCTION(RotaryPositionEmbedding,
               (const aclTensor *x, const aclTensor *cos, const aclTensor *sin, int64_t mode,
                aclTensor *out),
               out, rotated(plan, IN(x), IN(cos), IN(sin), mode))

aclnnStatus aclnnFusedInferAttentionScoreV2GetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional,
    const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional,
    const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional,
    const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional,
    const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional,
    const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional,
    const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional,
    const aclTensor *keyAntiquantScaleOptional, const aclTensor *keyAntiquantOffsetOptional,
    const aclTensor *valueAntiquantScaleOptional, const aclTensor *valueAntiquantOffsetOptional,
    const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional,
    const aclIntArray *actualSharedPrefixLenOptional, int64_t numHeads, double scaleValue,
    int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
    int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode,
    bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode,
    const aclTensor *attentionOut, const aclTensor *, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View q = plan.input(query, "query");
  const std::vector<View> k = plan.inputs(key, "key"), v = plan.inputs(value, "value");
  const View shift = plan.input(pseShiftOptional, "pseShift", true),
             mask = plan.input(attenMaskOptional, "attenMask", true),
             out = plan.output(attentionOut, "attentionOut");
  for (const void *other : {static_cast<const void *>(deqScale1Optional),
                            static_cast<const void *>(quantScale1Optional),
                            static_cast<const void *>(deqScale2Optional),
                            static_cast<const void *>(quantScale2Optional),
                            static_cast<const void *>(quantOffset2Optional),
                            static_cast<const void *>(antiquantScaleOptional),
                            static_cast<const void *>(antiquantOffsetOptional),
                            static_cast<const void *>(keyAntiquantScaleOptional),
                            static_cast<const void *>(keyAntiquantOffsetOptional),
                            static_cast<const void *>(valueAntiquantScaleOptional),
                            static_cast<const void *>(valueAntiquantOffsetOptional)})
    if (other)
      plan.reject("scales and offsets must be NULL: quantized attention has no functions here");
  if (blockTableOptional || blockSize)
    plan.reject("blockTable must be NULL and blockSize 0: give key and value as whole tensors");
  if (keySharedPrefixOptional || valueSharedPrefixOptional || actualSharedPrefixLenOptional ||
      queryPaddingSizeOptional || kvPaddingSizeOptional)
    plan.reject("shared prefixes and padding in front have no functions here");
  if (antiquantMode || keyAntiquantMode || valueAntiquantMode || softmaxLseFlag ||
      innerPrecise < 0 || innerPrecise > 4)
    plan.reject("the antiquant modes and softmaxLseFlag must be 0, and innerPrecise 0 to 4");
  AttentionForm form{inputLayout ? inputLayout : "",
                     numHeads,
                     numKeyValueHeads ? numKeyValueHeads : numHeads,
                     scaleValue,
                     preTokens,
                     nextTokens,
                     sparseMode};
  if (form.layout != "BSH" && form.layout != "BSND" && form.layout != "BNSD" &&
      form.layout != "NSD")
    plan.reject("inputLayout must be BSH, BSND, BNSD or NSD here");
  if (numHeads < 1 || numKeyValueHeads < 0 || sparseMode < 0 || sparseMode > 3)
    plan.reject("numHeads must be positive, numKeyValueHeads not negative, and sparseMode 0 to 3");
  if (plan.isGood() && (k.size() != 1 || v.size() != 1))
    plan.reject("key and value must be one tensor each");
  const Dims lengths = actualSeqLengthsKvOptional
                           ? plan.numbers(actualSeqLengthsKvOptional, "actualSeqLengthsKv")
                           : Dims();
  const Dims rows = actualSeqLengthsOptional
                        ? plan.numbers(actualSeqLengthsOptional, "actualSeqLengths")
                        : Dims();
  if (plan.isGood()) {
    const View heads = headsOf(plan, q, form.layout, form.heads, "query");
    for (int64_t length : rows)
      if (plan.isGood() && length != heads.dims[2])
        plan.reject("actualSeqLengths must be the %lld rows of query: shorter ones have no "
                    "functions here",
                    (long long)heads.dims[2]);
  }
  if (plan.isGood())
    writeHeads(plan, attention(plan, q, k[0], v[0], shift, mask, lengths, form), form.layout, out);
  return plan.finish(size, executor);
}
ACLNN_RUN(FusedInferAttentionScoreV2)

aclnnStatus aclnnRecurrentGatedDeltaRuleGetWorkspaceSize(
    const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, aclTensor *,
    const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *,
    float, aclTensor *, uint64_t *, aclOpExecutor **) {
  return fail(aclnnIsInvalid, __func__, "a recurrence over tokens has no functions here");
}
ACLNN_RUN(RecurrentGatedDeltaRule)
aclnnStatus aclnnTriangularSolveGetWorkspaceSize(const aclTensor *, const aclTensor *, bool, bool,
                                                 bool, aclTensor *, aclTensor *, uint64_t *,
                                                 aclOpExecutor **) {
  return fail(aclnnIsInvalid, __func__, "equations have no functions here");
}
ACLNN_RUN(TriangularSolve)
