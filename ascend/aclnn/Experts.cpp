//===-- Experts.cpp - aclnn functions of mixtures of experts --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "acl/acl_rt.h"
#include "aclnnop/aclnn_ops.h"

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
  const aclTensorList *scale = nullptr, *rowScale = nullptr;
  int64_t activation = 0;
};

Dims differences(Plan &plan, const Dims &ends, size_t groups) {
  if (plan.isGood() && ends.size() != groups)
    plan.reject("groupList must have a number for each of %zu weights", groups);
  Dims counts;
  for (size_t i = 0; i < ends.size(); ++i) {
    const int64_t begin = i ? ends[i - 1] : 0;
    if (plan.isGood() && (begin < 0 || ends[i] < begin))
      plan.reject("groupList %s must hold the ends of groups, none before another",
                  textOf(ends).c_str());
    counts.push_back(plan.isGood() ? ends[i] - begin : 0);
  }
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

/// Computes the activations that GroupedMatmul numbers.
View activated(Plan &plan, int64_t number, const View &x) {
  switch (number) {
  case 0:
    return x;
  case 1:
    return unary(plan, "Relu", x);
  case 2:
    return computed(plan, "Gelu", x);
  case 4:
    return computed(plan, "FastGelu", x);
  case 5:
    return unary(plan, "Silu", x);
  default:
    plan.reject("actType is %lld; give 0, 1 (relu), 2 (gelu), 4 (fastgelu) or 5 (silu)",
                (long long)number);
    return {};
  }
}

/// Returns a tensor for each group: those of a list, or the rows of its only one.
std::vector<View> ofGroups(Plan &plan, const aclTensorList *list, const char *name, size_t groups) {
  std::vector<View> all = plan.inputs(list, name);
  if (plan.isGood() && all.size() == 1 && groups > 1 && all[0].dims.size() == 2 &&
      all[0].dims[0] == int64_t(groups)) {
    const View whole = all[0];
    all.clear();
    for (size_t i = 0; i < groups; ++i)
      all.push_back(part(whole, 0, int64_t(i), 1));
  }
  if (plan.isGood() && all.size() != groups)
    plan.reject("there must be a %s for each of %zu weights", name, groups);
  return all;
}

/// Multiplies parts of columns with parts of rows, as gradients of weights need.
aclnnStatus productsOfParts(Plan &plan, const Groups &given, uint64_t *size,
                            aclOpExecutor **executor) {
  const std::vector<View> left = plan.inputs(given.x, "x"),
                          right = plan.inputs(given.weight, "weight"),
                          results = plan.outputs(given.y, "y");
  for (const void *handle : given.quantized)
    if (handle)
      plan.reject("with groupType 2 there are no scales, offsets and activations");
  const bool isOne = left.size() == 1 && right.size() == 1 && results.size() == 1;
  if (plan.isGood() && (!isOne || left[0].dims.size() != 2 || right[0].dims.size() != 2 ||
                        results[0].dims.size() != 3 || given.bias || given.scale ||
                        given.rowScale || given.activation || left[0].dims[1] != right[0].dims[0]))
    plan.reject("with groupType 2, x must be one tensor [rows, depth], weight [depth, columns] and "
                "y [groups, rows, columns]");
  if (!plan.isGood())
    return plan.finish(size, executor);
  const size_t groups = size_t(results[0].dims[0]);
  const Dims counts = given.list ? countsOf(plan, given, groups)
                                 : differences(plan, plan.numbers(given.ends, "groupList"), groups);
  const View all = plan.make(ACL_FLOAT, results[0].dims);
  if (plan.isGood())
    plan.copy(plan.broadcast(plan.constant(0, ACL_FLOAT), all.dims), all);
  int64_t at = 0;
  for (size_t i = 0; plan.isGood() && i < groups; ++i) {
    if (counts[i] < 0 || counts[i] > left[0].dims[1] - at)
      plan.reject("groupList does not fit the %lld columns of x", (long long)left[0].dims[1]);
    else if (counts[i] > 0) {
      const View result =
          product(plan, part(left[0], 1, at, counts[i]), part(right[0], 0, at, counts[i]));
      if (plan.isGood())
        plan.copy(plan.reshaped(result, {1, result.dims[0], result.dims[1]}),
                  part(all, 0, int64_t(i), 1));
    }
    at += counts[i];
  }
  plan.write(all, results[0]);
  return plan.finish(size, executor);
}

/// Returns the weights of the groups; one tensor of 3 dims is a list of its matrices.
std::vector<View> weightsOf(Plan &plan, const aclTensorList *list) {
  const std::vector<View> weights = plan.inputs(list, "weight");
  if (!plan.isGood() || weights.size() != 1 || weights[0].dims.size() != 3)
    return weights;
  std::vector<View> matrices;
  for (int64_t i = 0; i < weights[0].dims[0]; ++i) {
    View matrix = part(weights[0], 0, i, 1);
    matrix.dims.erase(matrix.dims.begin());
    matrix.strides.erase(matrix.strides.begin());
    matrices.push_back(matrix);
  }
  return matrices;
}

/// Splits what is one tensor into the rows of the groups, which have `counts` of them.
void divideRows(Plan &plan, std::vector<View> &views, const char *name, size_t groups,
                const Dims &counts) {
  if (!plan.isGood() || views.size() == groups)
    return;
  if (views.size() != 1 || views[0].dims.size() != 2 || counts.empty())
    return plan.reject("%s must be one tensor of 2 dims with a groupList, or one for each of %zu "
                       "weights",
                       name, groups);
  std::vector<View> parts;
  int64_t at = 0;
  for (int64_t count : counts) {
    if (count < 0 || count > views[0].dims[0] - at)
      return plan.reject("groupList does not fit %s with %lld rows", name,
                         (long long)views[0].dims[0]);
    parts.push_back(part(views[0], 0, at, count));
    at += count;
  }
  views = parts;
}

/// Returns a bias per group, which a tensor of 2 dims has in its rows.
std::vector<View> biasesOf(Plan &plan, const aclTensorList *list, size_t groups) {
  std::vector<View> biases = plan.inputs(list, "bias");
  if (plan.isGood() && biases.size() == 1 && groups > 1 && biases[0].dims.size() == 2) {
    const View all = biases[0];
    biases.clear();
    for (int64_t i = 0; i < all.dims[0]; ++i)
      biases.push_back(part(all, 0, i, 1));
  }
  if (plan.isGood() && biases.size() != groups)
    plan.reject("there must be a bias for each of %zu weights", groups);
  return biases;
}

/// The operands of one group; null where a call has none.
struct Group {
  const View &rows, &weight;
  const View *scale, *rowScale, *bias;
};

/// Computes the product of one group, in f32 once it is scaled, and adds the bias.
View productOf(Plan &plan, const Group &group) {
  const bool isQuantized = group.rows.type == ACL_INT8;
  if (!isQuantized && (group.scale || group.rowScale)) {
    plan.reject("scale and perTokenScale are for x and weights of int8");
    return {};
  }
  View result = isQuantized ? integerProduct(plan, group.rows, group.weight)
                            : product(plan, group.rows, group.weight);
  auto asFloat = [&] { return plan.isGood() ? plan.dense(result, ACL_FLOAT) : View(); };
  // Biases of int32 are in the unit of the accumulators.
  const bool addsFirst = group.bias && isQuantized && !isFloat(group.bias->type);
  if (addsFirst)
    result = combined(plan, "Add", result, *group.bias);
  if (group.scale)
    result = combined(plan, "Mul", asFloat(), floatScales(plan, *group.scale));
  if (group.rowScale)
    result = combined(plan, "Mul", asFloat(), *group.rowScale);
  if (group.bias && !addsFirst)
    result = combined(plan, "Add", asFloat(), *group.bias);
  return result;
}

aclnnStatus groupedProducts(Plan &plan, const Groups &given, uint64_t *size,
                            aclOpExecutor **executor) {
  if (given.groupType == 2)
    return productsOfParts(plan, given, size, executor);
  std::vector<View> rows = plan.inputs(given.x, "x"), weights = weightsOf(plan, given.weight),
                    results = plan.outputs(given.y, "y");
  for (const void *handle : given.quantized)
    if (handle)
      plan.reject("offsets, weights alone that are quantized, and inputs of activations have no "
                  "functions here");
  if (given.splitItem < 0 || given.splitItem > 3 || given.groupType < -1 || given.groupType > 0)
    plan.reject("splitItem must be 0 to 3, and groupType -1, 0 or 2");
  const size_t groups = weights.size();
  const Dims counts = given.list ? countsOf(plan, given, groups)
                      : given.ends
                          ? differences(plan, plan.numbers(given.ends, "groupList"), groups)
                          : Dims();
  divideRows(plan, rows, "x", groups, counts);
  divideRows(plan, results, "y", groups, counts);
  std::vector<View> biases, scales, rowScales;
  if (given.bias)
    biases = biasesOf(plan, given.bias, groups);
  if (given.scale)
    scales = ofGroups(plan, given.scale, "scale", groups);
  if (given.rowScale) {
    rowScales = plan.inputs(given.rowScale, "perTokenScale");
    for (View &scale : rowScales)
      if (plan.isGood() && scale.dims.size() == 1)
        scale = plan.reshaped(plan.dense(scale, ACL_FLOAT), {scale.dims[0], int64_t{1}});
    divideRows(plan, rowScales, "perTokenScale", groups, counts);
  }
  for (size_t i = 0; plan.isGood() && i < groups; ++i) {
    if (countOf(results[i].dims) == 0)
      continue;
    const View result = productOf(plan, {rows[i], weights[i], given.scale ? &scales[i] : nullptr,
                                         given.rowScale ? &rowScales[i] : nullptr,
                                         given.bias ? &biases[i] : nullptr});
    if (plan.isGood())
      plan.write(activated(plan, given.activation, result), results[i]);
  }
  return plan.finish(size, executor);
}

//===--- Tokens and their experts -------------------------------------------===//

View rowsOf(Plan &plan, const View &view, int64_t start, int64_t count) {
  return plan.reshaped(plan.dense(part(view, 0, start, count), view.type), {count});
}

} // namespace

// The versions without activations. Groups are given by `ends` or by `list`; the parameters behind
// splitItem follow the kind of groups.
#define ACLNN_GROUPED_LISTS(name, List, ends, list, kind, ...)                                     \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional,      \
      const aclTensorList *scaleOptional, const aclTensorList *offsetOptional,                     \
      const aclTensorList *antiquantScaleOptional, const aclTensorList *antiquantOffsetOptional,   \
      const List *groupListOptional, int64_t splitItem, __VA_ARGS__ const aclTensorList *y,        \
      uint64_t *size, aclOpExecutor **executor) {                                                  \
    Plan plan(__func__);                                                                           \
    return groupedProducts(                                                                        \
        plan,                                                                                      \
        {x,                                                                                        \
         weight,                                                                                   \
         biasOptional,                                                                             \
         y,                                                                                        \
         ends,                                                                                     \
         list,                                                                                     \
         false,                                                                                    \
         splitItem,                                                                                \
         kind,                                                                                     \
         {scaleOptional, offsetOptional, antiquantScaleOptional, antiquantOffsetOptional}},        \
        size, executor);                                                                           \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_GROUPED_LISTS(GroupedMatmul, aclIntArray, groupListOptional, nullptr,
                    groupListOptional ? 0 : -1, )
ACLNN_GROUPED_LISTS(GroupedMatmulV2, aclIntArray, groupListOptional, nullptr, groupType,
                    int64_t groupType, )
ACLNN_GROUPED_LISTS(GroupedMatmulV3, aclTensor, nullptr, groupListOptional, groupType,
                    int64_t groupType, )
#define ACLNN_GROUPED_PRODUCT(name, ...)                                                           \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional,      \
      const aclTensorList *scaleOptional, const aclTensorList *offsetOptional,                     \
      const aclTensorList *antiquantScaleOptional, const aclTensorList *antiquantOffsetOptional,   \
      const aclTensorList *perTokenScaleOptional, const aclTensor *groupListOptional,              \
      const aclTensorList *activationInputOptional,                                                \
      const aclTensorList *activationQuantScaleOptional,                                           \
      const aclTensorList *activationQuantOffsetOptional, int64_t splitItem, int64_t groupType,    \
      int64_t groupListType, int64_t actType, __VA_ARGS__ aclTensorList *out,                      \
      aclTensorList *activationFeatureOutOptional, aclTensorList *dynQuantScaleOutOptional,        \
      uint64_t *size, aclOpExecutor **executor) {                                                  \
    Plan plan(__func__);                                                                           \
    if (groupListType < 0 || groupListType > 1)                                                    \
      plan.reject("groupListType must be 0 or 1");                                                 \
    return groupedProducts(                                                                        \
        plan,                                                                                      \
        {x,                                                                                        \
         weight,                                                                                   \
         biasOptional,                                                                             \
         out,                                                                                      \
         nullptr,                                                                                  \
         groupListOptional,                                                                        \
         groupListType == 1,                                                                       \
         splitItem,                                                                                \
         groupType,                                                                                \
         {offsetOptional, antiquantScaleOptional, antiquantOffsetOptional,                         \
          activationInputOptional, activationQuantScaleOptional, activationQuantOffsetOptional,    \
          activationFeatureOutOptional, dynQuantScaleOutOptional},                                 \
         scaleOptional,                                                                            \
         perTokenScaleOptional,                                                                    \
         actType},                                                                                 \
        size, executor);                                                                           \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_GROUPED_PRODUCT(GroupedMatmulV4, )
ACLNN_GROUPED_PRODUCT(GroupedMatmulV5, aclIntArray *, )

aclnnStatus aclnnGroupedMatmulSwigluQuantGetWorkspaceSize(
    const aclTensor *x, const aclTensor *weight, const aclTensor *bias, const aclTensor *offset,
    const aclTensor *weightScale, const aclTensor *xScale, const aclTensor *groupList,
    aclTensor *output, aclTensor *outputScale, aclTensor *outputOffset, uint64_t *size,
    aclOpExecutor **executor) {
  Plan plan(__func__);
  const View rows = plan.input(x, "x"), matrices = plan.input(weight, "weight"),
             scales = plan.input(weightScale, "weightScale"),
             rowScales = plan.input(xScale, "xScale"), y = plan.output(output, "output"),
             factors = plan.output(outputScale, "outputScale");
  if (bias || offset || outputOffset)
    plan.reject("bias, offset and outputOffset must be NULL: they have no functions here");
  if (plan.isGood() &&
      (rows.type != ACL_INT8 || matrices.type != ACL_INT8 || y.type != ACL_INT8 ||
       rows.dims.size() != 2 || matrices.dims.size() != 3 || matrices.dims[1] != rows.dims[1] ||
       rows.dims[1] == 0 || matrices.dims[2] == 0 || matrices.dims[2] % 2 != 0 ||
       scales.dims != Dims{matrices.dims[0], matrices.dims[2]} ||
       rowScales.dims != Dims{rows.dims[0]} || y.dims != Dims{rows.dims[0], matrices.dims[2] / 2} ||
       factors.dims != Dims{rows.dims[0]}))
    plan.reject(
        "x must be int8 [rows, depth], weight int8 [groups, depth, 2 * width], weightScale "
        "[groups, 2 * width], xScale and outputScale [rows], output int8 [rows, width], with a "
        "depth and a width above 0");
  if (!plan.isGood())
    return plan.finish(size, executor);
  const int64_t groups = matrices.dims[0], width = matrices.dims[2] / 2;
  Groups given{};
  given.list = groupList;
  const Dims counts = countsOf(plan, given, size_t(groups));
  int64_t at = 0;
  for (int64_t i = 0; plan.isGood() && i < groups; at += counts[i++]) {
    if (counts[i] < 0 || counts[i] > rows.dims[0] - at)
      plan.reject("groupList does not fit x with %lld rows", (long long)rows.dims[0]);
    if (!plan.isGood() || counts[i] == 0)
      continue;
    View matrix = part(matrices, 0, i, 1);
    matrix.dims.erase(matrix.dims.begin());
    matrix.strides.erase(matrix.strides.begin());
    const View scale = part(scales, 0, i, 1),
               rowScale = plan.reshaped(plan.dense(part(rowScales, 0, at, counts[i]), ACL_FLOAT),
                                        {counts[i], 1});
    const View values =
        productOf(plan, {part(rows, 0, at, counts[i]), matrix, &scale, &rowScale, nullptr});
    if (!plan.isGood())
      break;
    auto half = [&](int64_t start) { return plan.dense(part(values, 1, start, width), ACL_FLOAT); };
    const View gated = combined(plan, "Mul", unary(plan, "Silu", half(0)), half(width));
    const View factor = withNumber(
        plan, "Mul",
        reduced(plan, "ReduceMaxD", computed(plan, "Abs", gated), {1}, true, ACL_FLOAT), 1.0 / 127);
    plan.write(computed(plan, "Round", combined(plan, "RealDiv", gated, factor)),
               part(y, 0, at, counts[i]));
    if (plan.isGood())
      plan.write(plan.reshaped(factor, {counts[i]}), part(factors, 0, at, counts[i]));
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(GroupedMatmulSwigluQuant)

namespace {

/// The experts that the softmax of scores chooses.
struct Gates {
  View shares, experts, all;
};

/// Chooses the k largest shares of each row; a row that is finished has no expert. Where `divides`,
/// the shares of a row that are chosen are divided by their sum.
Gates gates(Plan &plan, const aclTensor *x, const aclTensor *finishedOptional, int64_t k,
            bool divides) {
  const View scores = plan.input(x, "x"), finished = plan.input(finishedOptional, "finished", true);
  if (plan.isGood() && (scores.dims.size() < 2 || k < 1 || k > scores.dims.back()))
    plan.reject("x %s must have 2 dims or more, and k %lld be 1 to the last of them",
                textOf(scores.dims).c_str(), (long long)k);
  if (!plan.isGood())
    return {};
  const int64_t last = int64_t(scores.dims.size()) - 1;
  Dims dims = scores.dims;
  dims.back() = k;
  const View values = plan.dense(scores, ACL_FLOAT),
             all = softmaxOf(plan, "SoftmaxV2", values, last);
  const auto best = plan.apply(
      "TopKD", {divides ? values : all}, {{ACL_FLOAT, dims}, {ACL_INT32, dims}},
      Json::array({attribute("k", "int", k), attribute("dim", "int", last),
                   attribute("largest", "bool", true), attribute("sorted", "bool", true)}));
  if (!plan.isGood())
    return {};
  const View shares = divides ? softmaxOf(plan, "SoftmaxV2", best[0], last) : best[0];
  if (!finished.memory)
    return {shares, best[1], all};
  Dims column = finished.dims;
  column.push_back(1);
  return {shares,
          chosen(plan, plan.reshaped(plan.dense(finished, ACL_BOOL), column),
                 plan.constant(double(scores.dims.back()), ACL_INT32), best[1]),
          all};
}

} // namespace

aclnnStatus aclnnMoeGatingTopKSoftmaxGetWorkspaceSize(const aclTensor *x,
                                                      const aclTensor *finishedOptional, int64_t k,
                                                      const aclTensor *yOut,
                                                      const aclTensor *expertIdxOut,
                                                      const aclTensor *rowIdxOut, uint64_t *size,
                                                      aclOpExecutor **executor) {
  Plan plan(__func__);
  const View shares = plan.output(yOut, "yOut"),
             experts = plan.output(expertIdxOut, "expertIdxOut"),
             positions = plan.output(rowIdxOut, "rowIdxOut");
  const Gates found = gates(plan, x, finishedOptional, k, false);
  plan.write(found.shares, shares);
  plan.write(found.experts, experts);
  if (!plan.isGood())
    return plan.finish(size, executor);
  // Row i of choice j is i + j * rows.
  const Dims &dims = found.shares.dims;
  const int64_t rows = countOf(dims) / k;
  Dims numbers;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < k; ++j)
      numbers.push_back(i + j * rows);
  plan.write(indexTensor(plan, numbers, dims), positions);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeGatingTopKSoftmax)

aclnnStatus aclnnMoeGatingTopKSoftmaxV2GetWorkspaceSize(
    const aclTensor *x, const aclTensor *finishedOptional, int64_t k, int64_t renorm,
    bool outputSoftmaxResultFlag, const aclTensor *yOut, const aclTensor *expertIdxOut,
    const aclTensor *softmaxResultOutOptional, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  // The softmax of all scores is a result only where its largest elements are the shares.
  const bool writesAll = outputSoftmaxResultFlag && renorm == 0;
  const View shares = plan.output(yOut, "yOut"),
             experts = plan.output(expertIdxOut, "expertIdxOut"),
             all = plan.output(softmaxResultOutOptional, "softmaxResultOut", !writesAll);
  if (renorm < 0 || renorm > 1)
    plan.reject("renorm is %lld; give 0 or 1", (long long)renorm);
  const Gates found = gates(plan, x, finishedOptional, k, renorm == 1);
  plan.write(found.shares, shares);
  plan.write(found.experts, experts);
  if (writesAll)
    plan.write(found.all, all);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeGatingTopKSoftmaxV2)

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
  // Counts the tokens of each expert and of all experts before it.
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
             positions = plan.input(expandedRowIdx, "expandedRowIdx"),
             experts = plan.input(expandedExpertIdx, "expandedExpertIdx"),
             y = plan.output(out, "out");
  if (plan.isGood() &&
      (given.dims.size() != 2 || factors.dims.size() != 2 || experts.dims != factors.dims ||
       positions.dims != Dims{countOf(factors.dims)} || first.dims != y.dims ||
       y.dims.size() != 2 || y.dims[0] != factors.dims[0]))
    plan.reject("expandedX and out must have 2 dims, scales and expandedExpertIdx a row for each "
                "of out, and expandedRowIdx as many elements as they");
  if (!plan.isGood())
    return plan.finish(size, executor);
  const int64_t rows = factors.dims[0];
  View result = plan.dense(first, ACL_FLOAT);
  if (second.memory)
    result = combined(plan, "Add", result, second);
  for (int64_t i = 0; plan.isGood() && i < factors.dims[1]; ++i) {
    const View expert = plan.reshaped(plan.dense(part(experts, 1, i, 1), experts.type), {rows});
    const View token = combined(
        plan, "Add",
        plan.dense(taken(plan, given, 0, rowsOf(plan, positions, i * rows, rows)), ACL_FLOAT),
        taken(plan, biases, 0, expert));
    result = combined(plan, "Add", result, combined(plan, "Mul", token, part(factors, 1, i, 1)));
  }
  plan.write(result, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeFinalizeRouting)
