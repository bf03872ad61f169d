//===-- Quantized.cpp - aclnn functions of quantized tensors --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

#include <string_view>

using namespace atc::ascend;

namespace {

/// Returns the scales of a weight [rows, columns], with a row for each of its groups of rows:
/// [groups, 1, columns].
View scalesOf(Plan &plan, const View &scales, const Dims &weight, int64_t groupSize) {
  if (!plan.isGood())
    return {};
  const int64_t count = countOf(scales.dims);
  const int64_t groups = groupSize > 0 ? (weight[0] + groupSize - 1) / groupSize : 1;
  if (count != 1 && count != groups * weight[1]) {
    plan.reject("scales and offsets must have 1, or %lld x %lld elements", (long long)groups,
                (long long)weight[1]);
    return {};
  }
  const View wide = plan.dense(scales, ACL_FLOAT);
  return plan.reshaped(wide, count == 1 ? Dims{1, 1, 1} : Dims{groups, 1, weight[1]});
}

/// (weight + offset) * scale
View dequantized(Plan &plan, const View &weight, const View &scale, const View &offset,
                 int64_t groupSize) {
  if (plan.isGood() && (weight.dims.size() != 2 || weight.type != ACL_INT8))
    plan.reject("weight must have 2 dims, of int8 or int4");
  if (plan.isGood() && groupSize > 0 && weight.dims[0] % groupSize)
    plan.reject("antiquantGroupSize %lld must divide the %lld rows of the weight",
                (long long)groupSize, (long long)weight.dims[0]);
  const View scales = scalesOf(plan, scale, weight.dims, groupSize);
  const View offsets = offset.place ? scalesOf(plan, offset, weight.dims, groupSize) : View{};
  if (!plan.isGood())
    return {};
  const int64_t rows = groupSize > 0 ? groupSize : weight.dims[0];
  View values =
      plan.reshaped(plan.dense(weight, ACL_FLOAT), {weight.dims[0] / rows, rows, weight.dims[1]});
  if (offsets.place)
    values = plan.map("Add", {values, offsets});
  return plan.reshaped(plan.map("Mul", {values, scales}), weight.dims);
}

} // namespace

aclnnStatus aclnnWeightQuantBatchMatmulV2GetWorkspaceSize(
    const aclTensor *x, const aclTensor *weight, const aclTensor *antiquantScale,
    const aclTensor *antiquantOffsetOptional, const aclTensor *quantScaleOptional,
    const aclTensor *quantOffsetOptional, const aclTensor *biasOptional, int antiquantGroupSize,
    const aclTensor *y, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View rows = plan.input(x, "x"), matrix = plan.input(weight, "weight"),
             scale = plan.input(antiquantScale, "antiquantScale"),
             offset = plan.input(antiquantOffsetOptional, "antiquantOffset", true),
             bias = plan.input(biasOptional, "bias", true), result = plan.output(y, "y");
  if (quantScaleOptional || quantOffsetOptional)
    plan.reject("quantScale and quantOffset must be NULL: results that are quantized have no "
                "functions here");
  const View values = dequantized(plan, matrix, scale, offset, antiquantGroupSize);
  View out = product(plan, rows, plan.dense(values, rows.type));
  if (bias.place)
    out = combined(plan, "Add", plan.dense(out, ACL_FLOAT), bias);
  plan.write(out, result);
  return plan.finish(size, executor);
}
ACLNN_RUN(WeightQuantBatchMatmulV2)

aclnnStatus aclnnAscendQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *scale,
                                             const aclTensor *offset, bool sqrtMode,
                                             const char *roundMode, int32_t dstType,
                                             const aclTensor *y, uint64_t *size,
                                             aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = plan.input(x, "x"), factor = plan.input(scale, "scale"),
             added = plan.input(offset, "offset", true), result = plan.output(y, "y");
  static constexpr std::pair<std::string_view, const char *> modes[] = {
      {"round", "Round"}, {"floor", "Floor"}, {"ceil", "Ceil"}, {"trunc", nullptr}};
  const std::string_view mode = roundMode && *roundMode ? roundMode : "round";
  const auto *found = std::find_if(std::begin(modes), std::end(modes),
                                   [&](const auto &row) { return row.first == mode; });
  if (found == std::end(modes))
    plan.reject("roundMode must be round, floor, ceil or trunc");
  if (dstType != ACL_INT8 || (plan.isGood() && result.type != ACL_INT8))
    plan.reject("dstType is %d; it must be 2, and y of int8", int(dstType));
  View values = combined(plan, "Mul", plan.dense(given, ACL_FLOAT), factor);
  if (sqrtMode)
    values = combined(plan, "Mul", values, factor);
  if (added.place)
    values = combined(plan, "Add", values, added);
  if (plan.isGood() && found->second)
    values = computed(plan, found->second, values);
  // The conversion itself cuts digits and clamps to the type.
  plan.write(values, result);
  return plan.finish(size, executor);
}
ACLNN_RUN(AscendQuant)

aclnnStatus aclnnDynamicQuantGetWorkspaceSize(const aclTensor *x,
                                              const aclTensor *smoothScalesOptional,
                                              const aclTensor *yOut, const aclTensor *scaleOut,
                                              uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = plan.input(x, "x"),
             smooth = plan.input(smoothScalesOptional, "smoothScales", true),
             result = plan.output(yOut, "yOut"), scales = plan.output(scaleOut, "scaleOut");
  if (plan.isGood() && (given.dims.empty() || result.type != ACL_INT8))
    plan.reject("x must have a dim, and yOut be of int8");
  if (!plan.isGood())
    return plan.finish(size, executor);
  View values = plan.dense(given, ACL_FLOAT);
  if (smooth.place)
    values = combined(plan, "Mul", values, smooth);
  const int64_t last = int64_t(values.dims.size()) - 1;
  const View largest =
      reduced(plan, "ReduceMaxD", unary(plan, "Abs", values), {last}, true, ACL_FLOAT);
  const View scale = withNumber(plan, "RealDiv", largest, 127);
  plan.write(computed(plan, "Round", combined(plan, "RealDiv", values, scale)), result);
  writeOptional(plan, scale, scales);
  return plan.finish(size, executor);
}
ACLNN_RUN(DynamicQuant)
