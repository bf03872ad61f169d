//===-- ImportElementwise.cpp - functions of elements ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/caffe/LayerTable.h"

#include <cmath>

using llvm::Twine;

namespace atc::caffe {
namespace {

Tensor unary(LayerContext &c, const char *op, const Tensor &value, const Attrs &attributes = {}) {
  return c.node(op, {value}, value.dims, attributes);
}

template <const char *op> void importUnary(LayerContext &c) { c.setTop(unary(c, op, c.bottom())); }

constexpr char abs[] = "Abs", sigmoid[] = "Sigmoid", tanh[] = "Tanh", softplus[] = "Softplus",
               identity[] = "Identity";

void importRelu(LayerContext &c) {
  const float slope = c.layer().relu_param().negative_slope();
  c.setTop(slope == 0 ? unary(c, "Relu", c.bottom())
                      : unary(c, "LeakyRelu", c.bottom(), {{"alpha", double(slope)}}));
}

Tensor clip(LayerContext &c, const Tensor &value, double low, double high) {
  return c.node("Clip", {value, c.scalar(low), c.scalar(high)}, value.dims);
}

void importRelu6(LayerContext &c) { c.setTop(clip(c, c.bottom(), 0, 6)); }

void importClip(LayerContext &c) {
  const pb::ClipParameter &p = c.layer().clip_param();
  if (!p.has_min() || !p.has_max())
    c.fail("clip_param must have min and max");
  c.setTop(clip(c, c.bottom(), p.min(), p.max()));
}

/// Returns the dims that let values of `count` along axis 1 broadcast over `rank` dims.
Dims alongChannels(int64_t count, int64_t rank) {
  Dims dims(std::max<int64_t>(rank - 1, 0), 1);
  if (!dims.empty())
    dims[0] = count;
  return dims;
}

void importPRelu(LayerContext &c) {
  const bool shared = c.layer().prelu_param().channel_shared();
  const int64_t channels = shared ? 1 : c.knownDim(0, 1, "the slopes");
  const Tensor &input = c.bottom();
  if (c.failed())
    return;
  Tensor slope = c.weights(0, alongChannels(channels, input.rank()));
  c.setTop(c.node("PRelu", {input, slope}, input.dims));
}

void importElu(LayerContext &c) {
  c.setTop(unary(c, "Elu", c.bottom(), {{"alpha", double(c.layer().elu_param().alpha())}}));
}

void importSwish(LayerContext &c) {
  const float beta = c.layer().swish_param().beta();
  Tensor scaled = beta == 1 ? c.bottom() : c.mul(c.bottom(), c.scalar(beta));
  c.setTop(c.mul(c.bottom(), unary(c, "Sigmoid", scaled)));
}

/// x * tanh(ln(1 + e^x)).
void importMish(LayerContext &c) {
  c.setTop(c.mul(c.bottom(), unary(c, "Tanh", unary(c, "Softplus", c.bottom()))));
}

/// shift + scale * x.
Tensor affine(LayerContext &c, double scale, double shift) {
  Tensor value = c.bottom();
  if (scale != 1)
    value = c.mul(value, c.scalar(scale));
  return shift == 0 ? value : c.add(value, c.scalar(shift));
}

void importPower(LayerContext &c) {
  const pb::PowerParameter &p = c.layer().power_param();
  // Without the input, whatever it is: 0 ^ 0 is 1 there.
  if (p.power() == 0)
    return c.setTop(c.add(c.mul(c.bottom(), c.scalar(0)), c.scalar(1)));
  Tensor value = affine(c, p.scale(), p.shift());
  if (p.power() != 1)
    value = c.node("Pow", {value, c.scalar(p.power())}, value.dims);
  c.setTop(c.isOwn(value) ? value : unary(c, "Identity", value));
}

double logOfBase(LayerContext &c, const pb::ExponentParameter &p) {
  if (p.base() != -1 && p.base() <= 0)
    c.fail("base " + std::to_string(p.base()) + " must be positive, or -1 for e");
  return p.base() == -1 ? 1 : std::log(p.base());
}

void importExp(LayerContext &c) {
  const pb::ExponentParameter &p = c.layer().exp_param();
  const double factor = logOfBase(c, p);
  c.setTop(unary(c, "Exp", affine(c, factor * p.scale(), factor * p.shift())));
}

void importLog(LayerContext &c) {
  const pb::ExponentParameter &p = c.layer().log_param();
  const double factor = logOfBase(c, p);
  if (factor == 0)
    c.fail("base 1 has no logarithm");
  Tensor result = unary(c, "Log", affine(c, p.scale(), p.shift()));
  c.setTop(factor == 1 ? result : c.mul(result, c.scalar(1 / factor)));
}

void importThreshold(LayerContext &c) {
  const Tensor &value = c.bottom();
  Tensor above =
      c.node("Greater", {value, c.scalar(c.layer().threshold_param().threshold())}, value.dims);
  c.setTop(c.node("Cast", {above}, value.dims, {{"to", int64_t(onnx::TensorProto::FLOAT)}}));
}

void importEltwise(LayerContext &c) {
  const pb::EltwiseParameter &p = c.layer().eltwise_param();
  if (c.numBottoms() < 2)
    return c.fail("has " + Twine(c.numBottoms()) + " bottoms, expected two or more");
  for (unsigned i = 1; i < c.numBottoms(); ++i)
    if (c.bottom(i).dims != c.bottom(0).dims)
      return c.fail("bottoms have the shapes " + printShape(c.bottom(0).dims) + " and " +
                    printShape(c.bottom(i).dims) + ", expected equal ones");
  const bool isSum = p.operation() == pb::EltwiseParameter::SUM;
  if (p.coeff_size() && (!isSum || p.coeff_size() != int(c.numBottoms())))
    return c.fail("coeff must have a value for each bottom, and belongs to SUM");
  const char *op = isSum ? "Add" : p.operation() == pb::EltwiseParameter::PROD ? "Mul" : "Max";
  Tensor result;
  for (unsigned i = 0; i < c.numBottoms(); ++i) {
    Tensor item = c.bottom(i);
    if (p.coeff_size() && p.coeff(i) != 1)
      item = c.mul(item, c.scalar(p.coeff(i)));
    result = i ? c.node(op, {result, item}, item.dims) : item;
  }
  c.setTop(result);
}

/// scale [n, c] or [n, c, 1, 1] times x plus y.
void importAxpy(LayerContext &c) {
  const Tensor &scale = c.bottom(0), &x = c.bottom(1), &y = c.bottom(2);
  if (c.failed())
    return;
  if (x.rank() != 4 || y.dims != x.dims || (scale.rank() != 2 && scale.rank() != 4))
    return c.fail("bottoms have the shapes " + printShape(scale.dims) + ", " + printShape(x.dims) +
                  " and " + printShape(y.dims) + ", expected [n, c], [n, c, h, w] twice");
  Tensor wide = scale.rank() == 4 ? scale : c.reshape(scale, {scale.dims[0], scale.dims[1], 1, 1});
  c.setTop(c.add(c.mul(x, wide), y));
}

/// The values of Scale and Bias: weights or the second bottom, whose dims stand behind
/// `axis` of the first one's.
Tensor broadcastOperand(LayerContext &c, int64_t stated, int64_t numAxes, unsigned blob,
                        bool isBottom) {
  const Tensor &input = c.bottom();
  const int64_t rank = input.rank();
  if (c.failed() || (!isBottom && numAxes == 0))
    return c.failed() ? Tensor() : c.weights(blob, {});
  const int64_t axis = c.axis(stated, rank);
  if (isBottom) {
    const Tensor &other = c.bottom(1);
    if (axis + other.rank() > rank)
      c.fail("bottom '" + c.layer().bottom(1) + "' of shape " + printShape(other.dims) +
             " does not fit into " + printShape(input.dims) + " from axis " + Twine(axis));
    Dims dims = other.dims;
    dims.resize(rank - axis, 1);
    return dims == other.dims ? other : c.reshape(other, dims);
  }
  const int64_t end = numAxes < 0 ? rank : axis + numAxes;
  if (end > rank)
    c.fail("num_axes " + Twine(numAxes) + " from axis " + Twine(axis) + " is more than the " +
           Twine(rank) + " dims of its bottom");
  Dims dims;
  for (int64_t i = axis; i < rank && !c.failed(); ++i)
    dims.push_back(i < end ? c.knownDim(0, i, "the weights") : 1);
  return c.failed() ? Tensor() : c.weights(blob, dims);
}

void importScale(LayerContext &c) {
  const pb::ScaleParameter &p = c.layer().scale_param();
  const bool isBottom = c.numBottoms() > 1;
  Tensor result = c.mul(c.bottom(), broadcastOperand(c, p.axis(), p.num_axes(), 0, isBottom));
  if (p.bias_term() && !c.failed()) {
    // The bias has the shape of the factors, those of the second bottom too.
    int64_t axes = isBottom ? c.bottom(1).rank() : p.num_axes();
    result = c.add(result, broadcastOperand(c, p.axis(), axes, isBottom ? 0 : 1, false));
  }
  c.setTop(result);
}

void importBias(LayerContext &c) {
  const pb::BiasParameter &p = c.layer().bias_param();
  c.setTop(c.add(c.bottom(), broadcastOperand(c, p.axis(), p.num_axes(), 0, c.numBottoms() > 1)));
}

} // namespace

llvm::ArrayRef<LayerRow> elementwiseLayers() {
  static const LayerRow rows[] = {{"AbsVal", importUnary<abs>},
                                  {"Axpy", importAxpy},
                                  {"BNLL", importUnary<softplus>},
                                  {"Bias", importBias},
                                  {"Clip", importClip},
                                  {"Dropout", importUnary<identity>},
                                  {"ELU", importElu},
                                  {"Eltwise", importEltwise},
                                  {"Exp", importExp},
                                  {"Log", importLog},
                                  {"Mish", importMish},
                                  {"PReLU", importPRelu},
                                  {"Power", importPower},
                                  {"ReLU", importRelu},
                                  {"ReLU6", importRelu6},
                                  {"Scale", importScale},
                                  {"Sigmoid", importUnary<sigmoid>},
                                  {"Swish", importSwish},
                                  {"TanH", importUnary<tanh>},
                                  {"Threshold", importThreshold}};
  return rows;
}

} // namespace atc::caffe
