//===-- ImportNorm.cpp - normalizations -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/caffe/LayerTable.h"

using llvm::Twine;

namespace atc::caffe {
namespace {

/// The weights are sums of means and variances, and the number that both are divided by.
void importBatchNorm(LayerContext &c) {
  const pb::BatchNormParameter &p = c.layer().batch_norm_param();
  if (p.has_use_global_stats() && !p.use_global_stats())
    c.fail("use_global_stats: false computes statistics of the batch, which is for training");
  const Blob *mean = c.blob(0), *variance = c.blob(1), *count = c.blob(2);
  const int64_t channels = c.knownDim(0, 1, "the weights");
  if (c.failed())
    return;
  for (const Blob *blob : {mean, variance})
    if (static_cast<int64_t>(blob->values.size()) != channels)
      return c.fail("its weights have " + Twine(blob->values.size()) + " elements, expected " +
                    Twine(channels));
  if (count->values.size() != 1)
    return c.fail("its weights 2 have " + Twine(count->values.size()) + " elements, expected 1");
  const float factor = count->values[0] == 0 ? 0 : 1 / count->values[0];
  auto scaled = [&](const Blob &blob) {
    std::vector<float> values = blob.values;
    for (float &value : values)
      value *= factor;
    return c.constant({channels}, values);
  };
  Tensor ones = c.constant({channels}, std::vector<float>(channels, 1));
  Tensor zeros = c.constant({channels}, std::vector<float>(channels, 0));
  c.setTop(c.node("BatchNormalization", {c.bottom(), ones, zeros, scaled(*mean), scaled(*variance)},
                  c.bottom().dims, {{"epsilon", double(p.eps())}}));
}

/// With two weights per channel scale and shift, which the statistics are part of; with four slope,
/// bias, mean and variance.
void importBn(LayerContext &c) {
  const pb::BnParameter &p = c.layer().bn_param();
  const int64_t channels = c.knownDim(0, 1, "the weights");
  if (c.numBlobs() != 2 && c.numBlobs() != 4)
    c.fail("it has " + Twine(c.numBlobs()) +
           " weights in the .caffemodel, expected 2 (scale and "
           "shift) or 4 (slope, bias, mean and variance)");
  if (c.numBlobs() == 2 && p.bn_mode() != pb::BnParameter::INFERENCE)
    c.fail("bn_mode: LEARN computes statistics of the batch, which is for training; compute those "
           "of the training data into the weights and state bn_mode: INFERENCE");
  if (c.failed())
    return;
  auto weights = [&](unsigned index) { return c.weights(index, {channels}); };
  Tensor mean = c.constant({channels}, std::vector<float>(channels, 0)),
         variance = c.constant({channels}, std::vector<float>(channels, 1));
  if (c.numBlobs() == 4)
    mean = weights(2), variance = weights(3);
  c.setTop(c.node("BatchNormalization", {c.bottom(), weights(0), weights(1), mean, variance},
                  c.bottom().dims, {{"epsilon", c.numBlobs() == 4 ? double(p.eps()) : 0.0}}));
}

void importLrn(LayerContext &c) {
  const pb::LrnParameter &p = c.layer().lrn_param();
  const Tensor &input = c.bottom();
  const int64_t size = p.local_size();
  c.requireRank(0, 4);
  if (size % 2 == 0)
    c.fail("local_size " + Twine(size) + " must be odd");
  if (c.failed())
    return;
  if (p.norm_region() == pb::LrnParameter::ACROSS_CHANNELS)
    return c.setTop(c.node("LRN", {input}, input.dims,
                           {{"size", size},
                            {"alpha", double(p.alpha())},
                            {"beta", double(p.beta())},
                            {"bias", double(p.k())}}));
  // x / (1 + alpha * mean of the squares around)^beta
  const int64_t pad = (size - 1) / 2;
  Tensor mean = c.node("AveragePool", {c.mul(input, input)}, input.dims,
                       {{"kernel_shape", Dims{size, size}},
                        {"pads", Dims{pad, pad, pad, pad}},
                        {"strides", Dims{1, 1}},
                        {"count_include_pad", int64_t(1)}});
  Tensor sum = c.add(c.mul(mean, c.scalar(p.alpha())), c.scalar(1));
  c.setTop(c.mul(input, c.node("Pow", {sum, c.scalar(-p.beta())}, input.dims)));
}

void importMvn(LayerContext &c) {
  const pb::MvnParameter &p = c.layer().mvn_param();
  const Tensor &input = c.bottom();
  c.requireRank(0, 4);
  if (c.failed())
    return;
  const Dims axes = p.across_channels() ? Dims{1, 2, 3} : Dims{2, 3};
  Dims reduced = input.dims;
  for (int64_t axis : axes)
    reduced[axis] = 1;
  auto mean = [&](const Tensor &value) {
    return c.node("ReduceMean", {value}, reduced, {{"axes", axes}, {"keepdims", int64_t(1)}});
  };
  Tensor centred = c.node("Sub", {input, mean(input)}, input.dims);
  if (!p.normalize_variance())
    return c.setTop(centred);
  Tensor deviation = c.node("Sqrt", {mean(c.mul(centred, centred))}, reduced);
  c.setTop(c.node("Div", {centred, c.add(deviation, c.scalar(p.eps()))}, input.dims));
}

/// x / sqrt(sum of the squares of a pixel or an image + eps), times a factor.
void importNormalize(LayerContext &c) {
  const pb::NormalizeParameter &p =
      c.layer().has_norm_param() ? c.layer().norm_param() : c.layer().normalize_param();
  const Tensor &input = c.bottom();
  c.requireRank(0, 4);
  const int64_t channels = p.channel_shared() ? 1 : c.knownDim(0, 1, "the weights");
  if (c.failed())
    return;
  const Dims axes = p.across_spatial() ? Dims{1, 2, 3} : Dims{1};
  Dims reduced = input.dims;
  for (int64_t axis : axes)
    reduced[axis] = 1;
  Tensor sum =
      c.node("ReduceSumSquare", {input}, reduced, {{"axes", axes}, {"keepdims", int64_t(1)}});
  Tensor norm = c.node("Sqrt", {c.add(sum, c.scalar(p.eps()))}, reduced);
  Tensor unit = c.node("Div", {input, norm}, input.dims);
  c.setTop(c.mul(unit, c.weights(0, {channels, 1, 1})));
}

void importSoftmax(LayerContext &c) {
  const Tensor &input = c.bottom();
  const int64_t axis = c.axis(c.layer().softmax_param().axis(), input.rank());
  c.setTop(c.node("Softmax", {input}, input.dims, {{"axis", axis}}));
}

} // namespace

llvm::ArrayRef<LayerRow> normLayers() {
  static const LayerRow rows[] = {
      {"BN", importBn},   {"BatchNorm", importBatchNorm}, {"LRN", importLrn},
      {"MVN", importMvn}, {"Normalize", importNormalize}, {"Softmax", importSoftmax}};
  return rows;
}

} // namespace atc::caffe
