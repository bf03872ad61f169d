//===-- Experts.cpp - aclnn functions of mixtures of experts --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "acl/acl_rt.h"
#include "aclnnop/aclnn_ops.h"

#include <cstring>
#include <numeric>

using namespace atc::ascend;

namespace {

//===--- Products of groups of rows -----------------------------------------===//

/// Holds the arguments of the versions of GroupedMatmul.
struct Groups {
  const aclTensorList *x, *weight, *bias, *y;
  const aclIntArray *ends; ///< where groups of rows end
  const aclTensor *list;   ///< the same, or, where `isCounts`, how many rows there are
  bool isCounts = false;
  int64_t splitItem, groupType;
  std::initializer_list<const void *> quantized; ///< must be NULL
};

Dims differences(Plan &plan, const Dims &ends, size_t groups) {
  if (plan.isGood() && ends.size() != groups)
    plan.reject("groupList must have a number for each of %zu weights", groups);
  Dims counts;
  for (size_t i = 0; i < ends.size(); ++i)
    counts.push_back(ends[i] - (i ? ends[i - 1] : 0));
  return counts;
}

/// Reads the list of groups at once: sizes of tensors depend on it.
Dims countsOf(Plan &plan, const Groups &given, size_t groups) {
  const View list = plan.input(given.list, "groupList");
  if (plan.isGood() && (list.type != ACL_INT64 || list.dims.size() != 1 || !list.isDense() ||
                        list.dims[0] != int64_t(groups)))
    plan.reject("groupList must be int64, with a number for each of %zu weights", groups);
  Dims values(groups);
  plan.read(list, "groupList", values.data());
  return given.isCounts ? values : differences(plan, values, groups);
}

aclnnStatus groupedProducts(Plan &plan, const Groups &given, uint64_t *size,
                            aclOpExecutor **executor) {
  std::vector<View> rows = plan.inputs(given.x, "x"), weights = plan.inputs(given.weight, "weight"),
                    results = plan.outputs(given.y, "y"),
                    biases = given.bias ? plan.inputs(given.bias, "bias") : std::vector<View>();
  for (const void *handle : given.quantized)
    if (handle)
      plan.reject("quantized groups, and activations, have no functions here");
  if (given.splitItem < 0 || given.splitItem > 3 || given.groupType < -1 || given.groupType > 0)
    plan.reject("splitItem must be 0 to 3, and groupType -1 or 0: other dims are not divided here");
  // One weight of 3 dims is a list of its matrices.
  if (plan.isGood() && weights.size() == 1 && weights[0].dims.size() == 3) {
    std::vector<View> matrices;
    for (int64_t i = 0; i < weights[0].dims[0]; ++i) {
      View matrix = part(weights[0], 0, i, 1);
      matrix.dims.erase(matrix.dims.begin());
      matrix.strides.erase(matrix.strides.begin());
      matrices.push_back(matrix);
    }
    weights = matrices;
  }
  const size_t groups = weights.size();
  const Dims counts = given.list ? countsOf(plan, given, groups)
                      : given.ends
                          ? differences(plan, plan.numbers(given.ends, "groupList"), groups)
                          : Dims();
  // Splits what is one tensor, by rows.
  auto divide = [&](std::vector<View> &views, const char *name) {
    if (!plan.isGood() || views.size() == groups)
      return;
    if (views.size() != 1 || views[0].dims.size() != 2 || counts.empty())
      return plan.reject("%s must be one tensor of 2 dims with a groupList, or one for each of %zu "
                         "weights",
                         name, groups);
    std::vector<View> parts;
    int64_t at = 0;
    for (int64_t count : counts) {
      if (count < 0 || at + count > views[0].dims[0])
        return plan.reject("groupList does not fit %s with %lld rows", name,
                           (long long)views[0].dims[0]);
      parts.push_back(part(views[0], 0, at, count));
      at += count;
    }
    views = parts;
  };
  divide(rows, "x");
  divide(results, "y");
  if (plan.isGood() && given.bias && biases.size() == 1 && groups > 1 &&
      biases[0].dims.size() == 2) {
    const View all = biases[0];
    biases.clear();
    for (int64_t i = 0; i < all.dims[0]; ++i)
      biases.push_back(part(all, 0, i, 1));
  }
  if (plan.isGood() && given.bias && biases.size() != groups)
    plan.reject("there must be a bias for each of %zu weights", groups);
  for (size_t i = 0; plan.isGood() && i < groups; ++i) {
    if (countOf(results[i].dims) == 0)
      continue;
    View result = product(plan, rows[i], weights[i]);
    if (given.bias)
      result = combined(plan, "Add", plan.dense(result, ACL_FLOAT), biases[i]);
    plan.write(result, results[i]);
  }
  return plan.finish(size, executor);
}

//===--- Tokens and their experts -------------------------------------------===//

View rowsOf(Plan &plan, const View &view, int64_t start, int64_t count) {
  return plan.reshaped(plan.dense(part(view, 0, start, count), view.type), {count});
}

bool isIndex(const View &view) { return view.type == ACL_INT32 && view.isDense(); }

} // namespace

aclnnStatus aclnnGroupedMatmulGetWorkspaceSize(
    const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional,
    const aclTensorList *scaleOptional, const aclTensorList *offsetOptional,
    const aclTensorList *antiquantScaleOptional, const aclTensorList *antiquantOffsetOptional,
    const aclIntArray *groupListOptional, int64_t splitItem, const aclTensorList *y, uint64_t *size,
    aclOpExecutor **executor) {
  Plan plan(__func__);
  return groupedProducts(
      plan,
      {x,
       weight,
       biasOptional,
       y,
       groupListOptional,
       nullptr,
       false,
       splitItem,
       groupListOptional ? 0 : -1,
       {scaleOptional, offsetOptional, antiquantScaleOptional, antiquantOffsetOptional}},
      size, executor);
}
ACLNN_RUN(GroupedMatmul)
aclnnStatus aclnnGroupedMatmulV2GetWorkspaceSize(
    const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional,
    const aclTensorList *scaleOptional, const aclTensorList *offsetOptional,
    const aclTensorList *antiquantScaleOptional, const aclTensorList *antiquantOffsetOptional,
    const aclIntArray *groupListOptional, int64_t splitItem, int64_t groupType,
    const aclTensorList *y, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  return groupedProducts(
      plan,
      {x,
       weight,
       biasOptional,
       y,
       groupListOptional,
       nullptr,
       false,
       splitItem,
       groupType,
       {scaleOptional, offsetOptional, antiquantScaleOptional, antiquantOffsetOptional}},
      size, executor);
}
ACLNN_RUN(GroupedMatmulV2)
aclnnStatus aclnnGroupedMatmulV3GetWorkspaceSize(
    const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional,
    const aclTensorList *scaleOptional, const aclTensorList *offsetOptional,
    const aclTensorList *antiquantScaleOptional, const aclTensorList *antiquantOffsetOptional,
    const aclTensor *groupListOptional, int64_t splitItem, int64_t groupType,
    const aclTensorList *y, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  return groupedProducts(
      plan,
      {x,
       weight,
       biasOptional,
       y,
       nullptr,
       groupListOptional,
       false,
       splitItem,
       groupType,
       {scaleOptional, offsetOptional, antiquantScaleOptional, antiquantOffsetOptional}},
      size, executor);
}
ACLNN_RUN(GroupedMatmulV3)
aclnnStatus aclnnGroupedMatmulV4GetWorkspaceSize(
    const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional,
    const aclTensorList *scaleOptional, const aclTensorList *offsetOptional,
    const aclTensorList *antiquantScaleOptional, const aclTensorList *antiquantOffsetOptional,
    const aclTensorList *perTokenScaleOptional, const aclTensor *groupListOptional,
    const aclTensorList *activationInputOptional, const aclTensorList *activationQuantScaleOptional,
    const aclTensorList *activationQuantOffsetOptional, int64_t splitItem, int64_t groupType,
    int64_t groupListType, int64_t actType, aclTensorList *out,
    aclTensorList *activationFeatureOutOptional, aclTensorList *dynQuantScaleOutOptional,
    uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  if (groupListType < 0 || groupListType > 1 || actType != 0)
    plan.reject("groupListType must be 0 or 1, and actType 0");
  return groupedProducts(
      plan,
      {x,
       weight,
       biasOptional,
       out,
       nullptr,
       groupListOptional,
       groupListType == 1,
       splitItem,
       groupType,
       {scaleOptional, offsetOptional, antiquantScaleOptional, antiquantOffsetOptional,
        perTokenScaleOptional, activationInputOptional, activationQuantScaleOptional,
        activationQuantOffsetOptional, activationFeatureOutOptional, dynQuantScaleOutOptional}},
      size, executor);
}
ACLNN_RUN(GroupedMatmulV4)

aclnnStatus aclnnMoeGatingTopKSoftmaxGetWorkspaceSize(const aclTensor *x,
                                                      const aclTensor *finishedOptional, int64_t k,
                                                      const aclTensor *yOut,
                                                      const aclTensor *expertIdxOut,
                                                      const aclTensor *rowIdxOut, uint64_t *size,
                                                      aclOpExecutor **executor) {
  Plan plan(__func__);
  const View scores = plan.input(x, "x"), finished = plan.input(finishedOptional, "finished", true),
             shares = plan.output(yOut, "yOut"),
             experts = plan.output(expertIdxOut, "expertIdxOut"),
             places = plan.output(rowIdxOut, "rowIdxOut");
  if (plan.isGood() && (scores.dims.size() < 2 || k < 1 || k > scores.dims.back()))
    plan.reject("x %s must have 2 dims or more, and k %lld be 1 to the last of them",
                textOf(scores.dims).c_str(), (long long)k);
  if (!plan.isGood())
    return plan.finish(size, executor);
  const int64_t last = int64_t(scores.dims.size()) - 1;
  Dims dims = scores.dims;
  dims.back() = k;
  const View all = softmaxOf(plan, "SoftmaxV2", plan.dense(scores, ACL_FLOAT), last);
  const auto best = plan.apply(
      "TopKD", {all}, {{ACL_FLOAT, dims}, {ACL_INT32, dims}},
      Json::array({attribute("k", "int", k), attribute("dim", "int", last),
                   attribute("largest", "bool", true), attribute("sorted", "bool", true)}));
  plan.write(best[0], shares);
  if (finished.place && plan.isGood()) { // a row that is done has no expert
    Dims column = finished.dims;
    column.push_back(1);
    plan.write(chosen(plan, plan.reshaped(plan.dense(finished, ACL_BOOL), column),
                      plan.constant(double(scores.dims.back()), ACL_INT32), best[1]),
               experts);
  } else {
    plan.write(best[1], experts);
  }
  // Row i of choice j is i + j * rows.
  const int64_t rows = countOf(dims) / k;
  Dims numbers;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < k; ++j)
      numbers.push_back(i + j * rows);
  plan.write(indexTensor(plan, numbers, dims), places);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeGatingTopKSoftmax)

aclnnStatus aclnnMoeInitRoutingGetWorkspaceSize(const aclTensor *x, const aclTensor *rowIdx,
                                                const aclTensor *expertIdx, int64_t activeNum,
                                                const aclTensor *expandedXOut,
                                                const aclTensor *expandedRowIdxOut,
                                                const aclTensor *expandedExpertIdxOut,
                                                uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View tokens = plan.input(x, "x"), rows = plan.input(rowIdx, "rowIdx"),
             experts = plan.input(expertIdx, "expertIdx"),
             expanded = plan.output(expandedXOut, "expandedXOut"),
             places = plan.output(expandedRowIdxOut, "expandedRowIdxOut"),
             sorted = plan.output(expandedExpertIdxOut, "expandedExpertIdxOut");
  const int64_t all = countOf(rows.dims);
  if (plan.isGood() &&
      (tokens.dims.size() != 2 || rows.dims.size() != 2 || !isIndex(rows) || !isIndex(experts) ||
       rows.dims != experts.dims || rows.dims[0] != tokens.dims[0] || activeNum < 0))
    plan.reject("x must have 2 dims, rowIdx and expertIdx be int32 with the rows of x, and "
                "activeNum not be negative");
  if (!plan.isGood())
    return plan.finish(size, executor);
  const int64_t kept = std::min(tokens.dims[0], activeNum) * rows.dims[1];
  const View given = plan.dense(tokens, tokens.type),
             moved = plan.make(tokens.type, {kept, tokens.dims[1]}),
             order = plan.make(ACL_INT32, {all}), named = plan.make(ACL_INT32, {all});
  const size_t bytes = size_t(tokens.dims[1]) * bitsOf(tokens.type) / 8;
  plan.onHost({given, rows, experts, moved, order, named},
              [=, count = tokens.dims[0]](const std::vector<char *> &at) -> aclError {
                auto *row = reinterpret_cast<const int32_t *>(at[1]),
                     *expert = reinterpret_cast<const int32_t *>(at[2]);
                auto *to = reinterpret_cast<int32_t *>(at[4]),
                     *name = reinterpret_cast<int32_t *>(at[5]);
                std::vector<int64_t> by(static_cast<size_t>(all));
                std::iota(by.begin(), by.end(), 0);
                std::stable_sort(by.begin(), by.end(),
                                 [&](int64_t a, int64_t b) { return expert[a] < expert[b]; });
                for (int64_t i = 0; i < all; ++i) {
                  const int64_t from = row[by[size_t(i)]];
                  if (from < 0 || from >= all)
                    return ACL_ERROR_INVALID_PARAM;
                  to[from] = int32_t(i);
                  name[i] = expert[by[size_t(i)]];
                  if (i < kept)
                    memcpy(at[3] + bytes * size_t(i), at[0] + bytes * size_t(from % count), bytes);
                }
                return ACL_SUCCESS;
              });
  plan.write(moved, expanded);
  plan.write(order, places);
  plan.write(named, sorted);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeInitRouting)

aclnnStatus aclnnMoeComputeExpertTokensGetWorkspaceSize(const aclTensor *sortedExperts,
                                                        int64_t numExperts, const aclTensor *out,
                                                        uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View experts = plan.input(sortedExperts, "sortedExperts"), y = plan.output(out, "out");
  if (plan.isGood() && (experts.dims.size() != 1 || numExperts < 1))
    plan.reject("sortedExperts must have one dim, and numExperts be positive");
  plan.checkCount(numExperts, "numExperts");
  if (!plan.isGood())
    return plan.finish(size, executor);
  // How many tokens there are of each expert and those before it.
  Dims names(static_cast<size_t>(numExperts));
  std::iota(names.begin(), names.end(), 0);
  const View isBelow =
      comparison(plan, "Le", plan.reshaped(plan.dense(experts, ACL_INT32), {1, experts.dims[0]}),
                 plan.dense(indexTensor(plan, names, {numExperts, 1}), ACL_INT32));
  plan.write(reduced(plan, "ReduceSumD", isBelow, {1}, false, ACL_INT32), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeComputeExpertTokens)

aclnnStatus aclnnMoeFinalizeRoutingGetWorkspaceSize(const aclTensor *expandedX, const aclTensor *x1,
                                                    const aclTensor *x2Optional,
                                                    const aclTensor *bias, const aclTensor *scales,
                                                    const aclTensor *expandedRowIdx,
                                                    const aclTensor *expandedExpertIdx,
                                                    const aclTensor *out, uint64_t *size,
                                                    aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = plan.input(expandedX, "expandedX"), first = plan.input(x1, "x1"),
             second = plan.input(x2Optional, "x2", true), biases = plan.input(bias, "bias"),
             factors = plan.input(scales, "scales"),
             places = plan.input(expandedRowIdx, "expandedRowIdx"),
             experts = plan.input(expandedExpertIdx, "expandedExpertIdx"),
             y = plan.output(out, "out");
  if (plan.isGood() &&
      (given.dims.size() != 2 || factors.dims.size() != 2 || experts.dims != factors.dims ||
       places.dims != Dims{countOf(factors.dims)} || first.dims != y.dims || y.dims.size() != 2 ||
       y.dims[0] != factors.dims[0]))
    plan.reject("expandedX and out must have 2 dims, scales and expandedExpertIdx a row for each "
                "of out, and expandedRowIdx as many elements as they");
  if (!plan.isGood())
    return plan.finish(size, executor);
  const int64_t rows = factors.dims[0];
  View result = plan.dense(first, ACL_FLOAT);
  if (second.place)
    result = combined(plan, "Add", result, second);
  for (int64_t i = 0; plan.isGood() && i < factors.dims[1]; ++i) {
    const View expert = plan.reshaped(plan.dense(part(experts, 1, i, 1), experts.type), {rows});
    const View token =
        combined(plan, "Add",
                 plan.dense(taken(plan, given, 0, rowsOf(plan, places, i * rows, rows)), ACL_FLOAT),
                 taken(plan, biases, 0, expert));
    result = combined(plan, "Add", result, combined(plan, "Mul", token, part(factors, 1, i, 1)));
  }
  plan.write(result, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeFinalizeRouting)
