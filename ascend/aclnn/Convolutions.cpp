//===-- Convolutions.cpp - aclnn convolutions ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

#include <numeric>

using namespace atc::ascend;

namespace {

/// Holds the parameters of a convolution that are no tensors.
struct Convolution {
  Dims strides, pads, dilations, outputPads;
  int64_t groups = 1;
  bool isTransposed = false;
};

/// Brings the lists to one number per spatial dim, and the pads to two; returns whether they fit.
bool complete(Plan &plan, const View &image, const View &filter, Convolution &conv) {
  const size_t rank = image.dims.size(), spatial = rank - 2;
  if (plan.isGood() && (rank < 3 || rank > 5 || filter.dims.size() != rank)) {
    plan.reject("input %s and weight %s must have 3 to 5 dims", textOf(image.dims).c_str(),
                textOf(filter.dims).c_str());
    return false;
  }
  if (!plan.isGood())
    return false;
  if (conv.outputPads.empty() || !conv.isTransposed)
    conv.outputPads.assign(spatial, 0);
  for (Dims *list : {&conv.strides, &conv.dilations, &conv.outputPads, &conv.pads})
    if (list->size() == 1)
      list->assign(spatial, (*list)[0]);
  if (conv.pads.size() == spatial) {
    Dims both;
    for (int64_t pad : conv.pads)
      both.insert(both.end(), {pad, pad});
    conv.pads = both;
  }
  if (conv.strides.size() != spatial || conv.dilations.size() != spatial ||
      conv.outputPads.size() != spatial || conv.pads.size() != 2 * spatial)
    plan.reject("stride, dilation and outputPadding must have %zu numbers, and padding %zu or %zu",
                spatial, spatial, 2 * spatial);
  const int64_t channels = conv.isTransposed ? filter.dims[0] : filter.dims[1] * conv.groups;
  if (plan.isGood() &&
      (conv.groups < 1 || image.dims[1] != channels || filter.dims[0] % conv.groups))
    plan.reject("input %s, weight %s and groups %lld do not fit each other",
                textOf(image.dims).c_str(), textOf(filter.dims).c_str(), (long long)conv.groups);
  return plan.isGood();
}

/// Returns the dims of the result.
Dims resultDims(Plan &plan, const View &image, const View &filter, const Convolution &conv) {
  Dims dims{image.dims[0], conv.isTransposed ? filter.dims[1] * conv.groups : filter.dims[0]};
  for (size_t i = 0; i + 2 < image.dims.size(); ++i) {
    const int64_t stride = conv.strides[i], dilation = conv.dilations[i];
    const int64_t reach = dilation * (filter.dims[i + 2] - 1) + 1;
    const int64_t pads = conv.pads[2 * i] + conv.pads[2 * i + 1];
    const int64_t free = image.dims[i + 2] + pads - reach;
    const int64_t size = conv.isTransposed
                             ? (image.dims[i + 2] - 1) * stride - pads + reach + conv.outputPads[i]
                         : free < 0 ? 0
                                    : free / std::max<int64_t>(stride, 1) + 1;
    if (stride < 1 || dilation < 1 || size < 1)
      plan.reject("stride, dilation and padding do not fit the image %s and the filter %s",
                  textOf(image.dims).c_str(), textOf(filter.dims).c_str());
    dims.push_back(size);
  }
  return dims;
}

View convolved(Plan &plan, const View &image, const View &filter, const View &added,
               Convolution conv) {
  if (!complete(plan, image, filter, conv))
    return {};
  const Dims dims = resultDims(plan, image, filter, conv);
  if (!plan.isGood())
    return {};
  const aclDataType type = promoted(image.type, filter.type);
  std::vector<View> given{plan.dense(image, type), plan.dense(filter, type)};
  if (added.memory)
    given.push_back(plan.dense(added, type));
  if (image.dims.size() == 4 && !conv.isTransposed) {
    for (View &view : given)
      view.format = ACL_FORMAT_NCHW;
    const Json attributes{
        attribute("strides", "list_int", Dims{1, 1, conv.strides[0], conv.strides[1]}),
        attribute("pads", "list_int", conv.pads),
        attribute("dilations", "list_int", Dims{1, 1, conv.dilations[0], conv.dilations[1]}),
        attribute("groups", "int", conv.groups), attribute("data_format", "string", "NCHW")};
    return plan.apply("Conv2D", given, {{type, dims}}, attributes)[0];
  }
  Dims low, high;
  for (size_t i = 0; i < conv.pads.size(); ++i)
    (i % 2 ? high : low).push_back(conv.pads[i]);
  low.insert(low.end(), high.begin(), high.end());
  Json attributes{
      attribute("strides", "list_int", conv.strides), attribute("pads", "list_int", low),
      attribute("dilations", "list_int", conv.dilations),
      attribute("kernel_shape", "list_int", Dims(filter.dims.begin() + 2, filter.dims.end())),
      attribute("group", "int", conv.groups)};
  if (conv.isTransposed)
    attributes.push_back(attribute("output_padding", "list_int", conv.outputPads));
  return plan.apply(conv.isTransposed ? "ConvTranspose" : "Conv", given, {{type, dims}},
                    attributes)[0];
}

/// Returns the gradient of the input: the other convolution of the gradient with the same filter.
View inputGradient(Plan &plan, const View &gradient, const View &image, const View &filter,
                   Convolution conv) {
  conv.isTransposed = !conv.isTransposed;
  conv.outputPads.assign(image.dims.size() - 2, 0);
  if (conv.isTransposed) { // elements at the end that no window covers
    const Dims dims = resultDims(plan, gradient, filter, conv);
    for (size_t i = 0; plan.isGood() && i < conv.outputPads.size(); ++i)
      conv.outputPads[i] = image.dims[i + 2] - dims[i + 2];
  }
  View result = convolved(plan, gradient, filter, {}, conv);
  // outputPadding as large as a stride leaves room for windows that no element has.
  for (size_t i = 2; plan.isGood() && i < image.dims.size(); ++i)
    result = part(result, i, 0, std::min(result.dims[i], image.dims[i]));
  return result;
}

/// Returns the gradient of the filter: the wider one of image and gradient is the image and the
/// other one the filter of a convolution, whose batch are the channels, with strides for dilations.
View filterGradient(Plan &plan, const View &gradient, const View &image, const View &filter,
                    const Convolution &conv) {
  const View result = plan.make(ACL_FLOAT, filter.dims);
  const int64_t rows = filter.dims[0] / conv.groups, columns = filter.dims[1];
  Convolution own{conv.dilations, conv.pads, conv.strides, {}, 1, false};
  Dims swapped(filter.dims.size());
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[0], swapped[1]);
  const View &wide = conv.isTransposed ? gradient : image,
             &narrow = conv.isTransposed ? image : gradient;
  for (int64_t group = 0; plan.isGood() && group < conv.groups; ++group) {
    View part0 = convolved(plan, permuted(part(wide, 1, group * columns, columns), swapped),
                           permuted(part(narrow, 1, group * rows, rows), swapped), {}, own);
    for (size_t i = 2; plan.isGood() && i < filter.dims.size(); ++i)
      part0 = part(part0, i, 0, filter.dims[i]);
    if (plan.isGood())
      plan.copy(permuted(part0, swapped), part(result, 0, group * rows, rows));
  }
  return result;
}

void checkCubeMathType(Plan &plan, int8_t type) {
  if (type < 0 || type > 3)
    plan.reject("cubeMathType is %d; give 0 to 3", int(type));
}

} // namespace

aclnnStatus aclnnConvolutionGetWorkspaceSize(const aclTensor *input, const aclTensor *weight,
                                             const aclTensor *bias, const aclIntArray *stride,
                                             const aclIntArray *padding,
                                             const aclIntArray *dilation, bool transposed,
                                             const aclIntArray *outputPadding, const int64_t groups,
                                             aclTensor *output, int8_t cubeMathType, uint64_t *size,
                                             aclOpExecutor **executor) {
  Plan plan(__func__);
  const View image = plan.input(input, "input"), filter = plan.input(weight, "weight"),
             added = plan.input(bias, "bias", true), result = plan.output(output, "output");
  Convolution conv{plan.numbers(stride, "stride"),
                   plan.numbers(padding, "padding"),
                   plan.numbers(dilation, "dilation"),
                   outputPadding ? plan.numbers(outputPadding, "outputPadding") : Dims(),
                   groups,
                   transposed};
  checkCubeMathType(plan, cubeMathType);
  plan.write(convolved(plan, image, filter, added, conv), result);
  return plan.finish(size, executor);
}
ACLNN_RUN(Convolution)

aclnnStatus aclnnConvDepthwise2dGetWorkspaceSize(const aclTensor *self, const aclTensor *weight,
                                                 const aclIntArray *kernelSize,
                                                 const aclTensor *bias, const aclIntArray *stride,
                                                 const aclIntArray *padding,
                                                 const aclIntArray *dilation, aclTensor *out,
                                                 int8_t cubeMathType, uint64_t *size,
                                                 aclOpExecutor **executor) {
  Plan plan(__func__);
  const View image = plan.input(self, "self"), filter = plan.input(weight, "weight"),
             added = plan.input(bias, "bias", true), result = plan.output(out, "out");
  const Dims kernel = plan.numbers(kernelSize, "kernelSize");
  checkCubeMathType(plan, cubeMathType);
  if (plan.isGood() && (image.dims.size() != 4 || filter.dims.size() != 4 ||
                        kernel != Dims(filter.dims.begin() + 2, filter.dims.end())))
    plan.reject("self and weight must have 4 dims, and kernelSize be the last two of weight");
  if (!plan.isGood())
    return plan.finish(size, executor);
  Convolution conv{plan.numbers(stride, "stride"),
                   plan.numbers(padding, "padding"),
                   plan.numbers(dilation, "dilation"),
                   {},
                   image.dims[1],
                   false};
  plan.write(convolved(plan, image, filter, added, conv), result);
  return plan.finish(size, executor);
}
ACLNN_RUN(ConvDepthwise2d)

aclnnStatus aclnnConvolutionBackwardGetWorkspaceSize(
    const aclTensor *gradOutput, const aclTensor *input, const aclTensor *weight,
    const aclIntArray *, const aclIntArray *stride, const aclIntArray *padding,
    const aclIntArray *dilation, bool transposed, const aclIntArray *outputPadding, int groups,
    const aclBoolArray *outputMask, int8_t cubeMathType, aclTensor *gradInput,
    aclTensor *gradWeight, aclTensor *gradBias, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View gradient = plan.input(gradOutput, "gradOutput"), image = plan.input(input, "input"),
             filter = plan.input(weight, "weight");
  const std::vector<bool> isWanted = plan.truths(outputMask, "outputMask");
  Convolution conv{plan.numbers(stride, "stride"),
                   plan.numbers(padding, "padding"),
                   plan.numbers(dilation, "dilation"),
                   outputPadding ? plan.numbers(outputPadding, "outputPadding") : Dims(),
                   groups,
                   transposed};
  checkCubeMathType(plan, cubeMathType);
  if (plan.isGood() && isWanted.size() != 3)
    plan.reject("outputMask must have 3 values");
  if (complete(plan, image, filter, conv)) {
    const Dims dims = resultDims(plan, image, filter, conv);
    if (plan.isGood() && gradient.dims != dims)
      plan.reject("gradOutput is %s, it must be %s", textOf(gradient.dims).c_str(),
                  textOf(dims).c_str());
  }
  if (!plan.isGood())
    return plan.finish(size, executor);
  if (isWanted[0]) {
    const View out = plan.output(gradInput, "gradInput");
    plan.write(inputGradient(plan, gradient, image, filter, conv), out);
  }
  if (isWanted[1]) {
    const View out = plan.output(gradWeight, "gradWeight");
    plan.write(filterGradient(plan, gradient, image, filter, conv), out);
  }
  if (isWanted[2]) {
    const View out = plan.output(gradBias, "gradBias");
    Dims axes{0};
    for (size_t i = 2; i < gradient.dims.size(); ++i)
      axes.push_back(int64_t(i));
    plan.write(reduced(plan, "ReduceSumD", gradient, axes, false, ACL_FLOAT), out);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(ConvolutionBackward)
