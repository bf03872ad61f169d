//===-- Products.cpp - aclnn functions of matrices and images -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Plan.h"
#include "ascend/src/Buffers.h"

#include "aclnnop/aclnn_ops.h"

#include <algorithm>

using namespace atc::ascend;

namespace {

using Json = nlohmann::ordered_json;

/// Multiplies matrices, or vectors, with broadcast dims in front.
View product(Plan &plan, const View &left, const View &right) {
  if (!plan.isGood())
    return {};
  if (left.dims.empty() || right.dims.empty()) {
    plan.reject("a matrix product takes tensors with at least 1 dim");
    return {};
  }
  const bool isRow = left.dims.size() == 1, isColumn = right.dims.size() == 1;
  const aclDataType type = promoted(left.type, right.type);
  View a = plan.dense(left, type), b = plan.dense(right, type);
  if (isRow)
    a = plan.reshaped(a, {1, a.dims[0]});
  if (isColumn)
    b = plan.reshaped(b, {b.dims[0], 1});
  const int64_t depth = a.dims.back(), other = b.dims[b.dims.size() - 2];
  auto dims =
      broadcastDims(Dims(a.dims.begin(), a.dims.end() - 2), Dims(b.dims.begin(), b.dims.end() - 2));
  if (depth != other || !dims) {
    plan.reject("%s and %s cannot be multiplied", textOf(left.dims).c_str(),
                textOf(right.dims).c_str());
    return {};
  }
  dims->push_back(a.dims[a.dims.size() - 2]);
  dims->push_back(b.dims.back());
  View result =
      plan.apply(dims->size() > 2 ? "BatchMatMulV2" : "MatMulV2", {a, b}, {{type, *dims}})[0];
  Dims shown = *dims;
  if (isColumn)
    shown.pop_back();
  if (isRow)
    shown.erase(shown.end() - (isColumn ? 1 : 2));
  return plan.isGood() ? plan.reshaped(result, shown) : result;
}

void checkCubeMathType(Plan &plan, int8_t type) {
  if (type < 0 || type > 3)
    plan.reject("cubeMathType is %d; give 0 to 3", int(type));
}

aclnnStatus productPlan(const char *function, const aclTensor *self, const aclTensor *mat2,
                        aclTensor *out, int8_t cubeMathType, size_t rank, uint64_t *size,
                        aclOpExecutor **executor) {
  Plan plan(function);
  const View left = plan.input(self, "self"), right = plan.input(mat2, "mat2");
  checkCubeMathType(plan, cubeMathType);
  if (plan.isGood() && rank && (left.dims.size() != rank || right.dims.size() != rank))
    plan.reject("self and mat2 must have %zu dims", rank);
  plan.write(product(plan, left, right), plan.output(out, "out"));
  return plan.finish(size, executor);
}

} // namespace

#define ACLNN_PRODUCT(name, rank)                                                                  \
  aclnnStatus aclnn##name##GetWorkspaceSize(const aclTensor *self, const aclTensor *mat2,          \
                                            aclTensor *out, int8_t cubeMathType, uint64_t *size,   \
                                            aclOpExecutor **executor) {                            \
    return productPlan(__func__, self, mat2, out, cubeMathType, rank, size, executor);             \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_PRODUCT(Matmul, 0)
ACLNN_PRODUCT(Mm, 2)
ACLNN_PRODUCT(BatchMatMul, 3)

aclnnStatus aclnnAddmmGetWorkspaceSize(const aclTensor *self, const aclTensor *mat1,
                                       const aclTensor *mat2, const aclScalar *beta,
                                       const aclScalar *alpha, aclTensor *out, int8_t cubeMathType,
                                       uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View base = plan.input(self, "self"), left = plan.input(mat1, "mat1"),
             right = plan.input(mat2, "mat2");
  checkCubeMathType(plan, cubeMathType);
  const double byBase = plan.number(beta, "beta"), byProduct = plan.number(alpha, "alpha");
  View result = product(plan, left, right);
  if (plan.isGood() && byProduct != 1)
    result = plan.map("Mul", {result, plan.constant(byProduct, result.type)});
  if (plan.isGood() && byBase != 0) {
    View scaled = plan.dense(base, result.type);
    if (byBase != 1)
      scaled = plan.map("Mul", {scaled, plan.constant(byBase, result.type)});
    result = plan.map("Add", {result, scaled});
  }
  plan.write(result, plan.output(out, "out"));
  return plan.finish(size, executor);
}
ACLNN_RUN(Addmm)

aclnnStatus aclnnConvolutionGetWorkspaceSize(const aclTensor *input, const aclTensor *weight,
                                             const aclTensor *bias, const aclIntArray *stride,
                                             const aclIntArray *padding,
                                             const aclIntArray *dilation, bool transposed,
                                             const aclIntArray *, const int64_t groups,
                                             aclTensor *output, int8_t cubeMathType, uint64_t *size,
                                             aclOpExecutor **executor) {
  Plan plan(__func__);
  const View image = plan.input(input, "input"), filter = plan.input(weight, "weight"),
             added = plan.input(bias, "bias", true), result = plan.output(output, "output");
  const Dims strides = plan.numbers(stride, "stride"), pads = plan.numbers(padding, "padding"),
             dilations = plan.numbers(dilation, "dilation");
  checkCubeMathType(plan, cubeMathType);
  if (plan.isGood() &&
      (transposed || image.dims.size() != 4 || filter.dims.size() != 4 || strides.size() != 2 ||
       dilations.size() != 2 || (pads.size() != 2 && pads.size() != 4)))
    plan.reject("convolutions of images with 4 dims, which are not transposed, run here, with 2 "
                "strides, 2 dilations and 2 or 4 pads");
  if (!plan.isGood())
    return plan.finish(size, executor);
  // The operator takes top, bottom, left, right.
  const Dims all = pads.size() == 4 ? pads : Dims{pads[0], pads[0], pads[1], pads[1]};
  Dims dims{image.dims[0], filter.dims[0], 0, 0};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = dilations[i] * (filter.dims[i + 2] - 1) + 1;
    const int64_t free = image.dims[i + 2] + all[2 * i] + all[2 * i + 1] - reach;
    if (strides[i] < 1 || dilations[i] < 1 || free < 0)
      plan.reject("stride, dilation and padding do not fit the image %s and the filter %s",
                  textOf(image.dims).c_str(), textOf(filter.dims).c_str());
    else
      dims[i + 2] = free / strides[i] + 1;
  }
  const aclDataType type = promoted(image.type, filter.type);
  std::vector<View> given{plan.dense(image, type), plan.dense(filter, type)};
  if (added.place)
    given.push_back(plan.dense(added, type));
  for (View &view : given)
    view.format = ACL_FORMAT_NCHW;
  const Json attributes{
      {{"name", "strides"}, {"type", "list_int"}, {"value", {1, 1, strides[0], strides[1]}}},
      {{"name", "pads"}, {"type", "list_int"}, {"value", all}},
      {{"name", "dilations"}, {"type", "list_int"}, {"value", {1, 1, dilations[0], dilations[1]}}},
      {{"name", "groups"}, {"type", "int"}, {"value", groups}},
      {{"name", "data_format"}, {"type", "string"}, {"value", "NCHW"}}};
  plan.write(plan.apply("Conv2D", given, {{type, dims}}, attributes)[0], result);
  return plan.finish(size, executor);
}
ACLNN_RUN(Convolution)
