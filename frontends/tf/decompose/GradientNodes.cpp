//===-- GradientNodes.cpp - operators that gradients are made of ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/decompose/GradientNodes.h"

#include "frontends/tf/decompose/Arithmetic.h"

using namespace llvm;

namespace atc::tf_import {
namespace {

/// Returns arithmetic in the element type of the current node.
Arithmetic arithmeticOf(GraphRewriter &r) {
  const pb::AttrValue *type = r.attribute("T");
  return {r, type ? type->type() : pb::DT_FLOAT};
}

/// Makes the current node `value`, but 0 where `gradient` is, whatever `value` is there.
void becomeUnlessZero(Arithmetic &f, const Name &gradient, const Name &value) {
  const Name zero = f.number(0);
  f.r.become("SelectV2", {f.equal(gradient, zero), zero, value});
}

//===----------------------------------------------------------------------===//
// Functions of one number. Inputs: the gradient of the result, and the argument or the result
//===----------------------------------------------------------------------===//

void reluGradient(GraphRewriter &r, const Inputs &in) {
  Arithmetic f = arithmeticOf(r);
  // A product, so that infinities do not become 0: as TensorFlow computes it.
  r.become("Mul", {in[0], f.of(f.greater(in[1], f.number(0)))});
}

void relu6Gradient(GraphRewriter &r, const Inputs &in) {
  Arithmetic f = arithmeticOf(r);
  const Name rises =
      r.add("LogicalAnd", {f.greater(in[1], f.number(0)), f.greater(f.number(6), in[1])});
  r.become("Mul", {in[0], f.of(rises)});
}

void leakyReluGradient(GraphRewriter &r, const Inputs &in) {
  Arithmetic f = arithmeticOf(r);
  const pb::AttrValue *alpha = r.attribute("alpha");
  const std::string slope = f.number(alpha ? alpha->f() : 0.2F);
  r.become("SelectV2", {f.greater(in[1], f.number(0)), in[0], f.mul(in[0], slope)});
}

/// Input 1 is the result.
void eluGradient(GraphRewriter &r, const Inputs &in) {
  Arithmetic f = arithmeticOf(r);
  const std::string below = f.mul(in[0], f.add(in[1], f.number(1)));
  r.become("SelectV2", {f.greater(f.number(0), in[1]), below, in[0]});
}

/// Input 1 is the result.
void seluGradient(GraphRewriter &r, const Inputs &in) {
  Arithmetic f = arithmeticOf(r);
  constexpr double scale = 1.0507009873554804934, scaledAlpha = 1.7580993408473768600;
  const std::string below = f.mul(in[0], f.add(in[1], f.number(scaledAlpha)));
  r.become("SelectV2", {f.greater(f.number(0), in[1]), below, f.mul(in[0], f.number(scale))});
}

void softplusGradient(GraphRewriter &r, const Inputs &in) {
  r.become("Mul", {in[0], r.add("Sigmoid", {in[1]})});
}

void softsignGradient(GraphRewriter &r, const Inputs &in) {
  Arithmetic f = arithmeticOf(r);
  r.become("RealDiv", {in[0], f.square(f.add(f.number(1), f.abs(in[1])))});
}

//===----------------------------------------------------------------------===//
// Functions of one number. Inputs: the result, and its gradient
//===----------------------------------------------------------------------===//

void sigmoidGradient(GraphRewriter &r, const Inputs &in) {
  Arithmetic f = arithmeticOf(r);
  r.become("Mul", {f.mul(in[1], in[0]), f.sub(f.number(1), in[0])});
}

void tanhGradient(GraphRewriter &r, const Inputs &in) {
  Arithmetic f = arithmeticOf(r);
  r.become("Mul", {in[1], f.sub(f.number(1), f.square(in[0]))});
}

void sqrtGradient(GraphRewriter &r, const Inputs &in) {
  Arithmetic f = arithmeticOf(r);
  becomeUnlessZero(f, in[1], f.div(f.mul(in[1], f.number(0.5)), in[0]));
}

void rsqrtGradient(GraphRewriter &r, const Inputs &in) {
  Arithmetic f = arithmeticOf(r);
  const Name cube = f.mul(in[0], f.square(in[0]));
  becomeUnlessZero(f, in[1], f.mul(f.mul(in[1], f.number(-0.5)), cube));
}

void reciprocalGradient(GraphRewriter &r, const Inputs &in) {
  Arithmetic f = arithmeticOf(r);
  becomeUnlessZero(f, in[1], f.mul(f.neg(in[1]), f.square(in[0])));
}

//===----------------------------------------------------------------------===//
// Operators on tensors
//===----------------------------------------------------------------------===//

/// Sums over all dims but the channels.
void biasGradient(GraphRewriter &r, const Inputs &in) {
  const pb::AttrValue *format = r.attribute("data_format");
  const std::string rank = r.add("Rank", {in[0]}), zero = r.number(0), one = r.number(1);
  if (!format || !StringRef(format->s()).starts_with("NC"))
    return r.become("Sum", {in[0], r.add("Range", {zero, r.add("Sub", {rank, one}), one})});
  pb::AttrValue count;
  count.set_i(2);
  const int32_t batch = 0;
  const std::string axes =
      r.add("ConcatV2",
            {r.constant(ArrayRef<int32_t>(batch)), r.add("Range", {r.number(2), rank, one}), zero},
            {{"N", &count}});
  r.become("Sum", {in[0], axes});
}

/// Inputs: the gradient of the result, x, the scale, mean and variance. Outputs: the gradients of
/// x, scale and offset, and two that are empty.
void normGradient(GraphRewriter &r, const Inputs &in) {
  const pb::AttrValue *training = r.attribute("is_training"), *type = r.attribute("T"),
                      *epsilon = r.attribute("epsilon"), *format = r.attribute("data_format");
  if (!training || training->b() || !type || type->type() != pb::DT_FLOAT ||
      (format && format->s() != "NHWC"))
    return;
  Arithmetic f = arithmeticOf(r);
  const std::string root = r.add("Rsqrt", {f.add(in[4], f.number(epsilon ? epsilon->f() : 1e-4F))});
  const std::string axes = r.constant({0, 1, 2}), none = r.constant(ArrayRef<int32_t>{0});
  const std::string byScale = r.add("Sum", {f.mul(in[0], f.mul(f.sub(in[1], in[3]), root)), axes});
  const std::string byOffset = r.add("Sum", {in[0], axes}), byX = f.mul(in[0], f.mul(in[2], root)),
                    empty = r.add("Fill", {none, r.constant(0.0F)});
  r.becomeAll({byX, byScale, byOffset, empty, empty},
              {pb::DT_FLOAT, pb::DT_FLOAT, pb::DT_FLOAT, pb::DT_FLOAT, pb::DT_FLOAT});
}

/// Inputs: the shapes of two operands. Outputs: the axes along which each was repeated to the other
/// one's size. As for TensorFlow, an axis of size 1 of both counts as well, but equal shapes have
/// no axes.
void broadcastAxes(GraphRewriter &r, const Inputs &in) {
  const pb::AttrValue *type = r.attribute("T");
  const pb::DataType index = type ? type->type() : pb::DT_INT32;
  Arithmetic f(r, index);
  pb::AttrValue count;
  count.set_i(2);
  const int32_t one = 1, first = 0, rest = -1;
  const Name zero = r.number(0), size = f.of(r.number(1));
  const Name ranks[] = {r.add("Size", {in[0]}), r.add("Size", {in[1]})};
  const Name rank = f.max(ranks[0], ranks[1]);
  std::vector<Name> shapes, axes;
  for (int operand : {0, 1}) {
    const Name missing =
        r.add("Fill",
              {r.add("Reshape", {f.sub(rank, ranks[operand]), r.constant(ArrayRef<int32_t>(one))}),
               size});
    shapes.push_back(r.add("ConcatV2", {missing, in[operand], zero}, {{"N", &count}}));
  }
  const Name differs = r.add("LogicalOr", {r.add("NotEqual", {ranks[0], ranks[1]}),
                                           r.add("Any", {r.add("NotEqual", {shapes[0], shapes[1]}),
                                                         r.constant(ArrayRef<int32_t>(first))})});
  for (const Name &shape : shapes)
    axes.push_back(f.of(
        r.add("Reshape", {r.add("Where", {r.add("LogicalAnd", {f.equal(shape, size), differs})}),
                          r.constant(ArrayRef<int32_t>(rest))})));
  r.becomeAll(axes, {index, index});
}

/// Inputs: the shape of what was sliced, begin, end, strides, and the gradient of the slice.
void sliceGradient(GraphRewriter &r, const Inputs &in) {
  const int32_t rest = -1, first = 0;
  const std::string shape = Arithmetic(r, pb::DT_INT32).of(in[0]),
                    all = r.constant(ArrayRef<int32_t>(rest)),
                    count = r.add("Prod", {shape, r.constant(ArrayRef<int32_t>(first))});
  const std::string numbers =
      r.add("Reshape", {r.add("Range", {r.number(0), count, r.number(1)}), shape});
  const std::string chosen = r.addSliceOf(numbers, {in[1], in[2], in[3]});
  const std::string flat =
      r.add("ScatterNd", {r.add("Reshape", {chosen, r.constant({-1, 1})}),
                          r.add("Reshape", {in[4], all}), r.add("Reshape", {count, all})});
  r.become("Reshape", {flat, shape});
}

/// Inputs: the axis and the shapes of the parts. Outputs: where each part begins.
void partOffsets(GraphRewriter &r, const Inputs &in) {
  const pb::AttrValue *type = r.attribute("shape_type");
  const pb::DataType index = type ? type->type() : pb::DT_INT32;
  Arithmetic f(r, index);
  const Name zero = f.of(r.number(0)), one = f.of(r.number(1));
  const std::string rank = r.add("Size", {in[1]});
  const std::string axis = r.add("FloorMod", {in[0], rank});
  const std::string isAxis = r.add("OneHot", {axis, rank, one, zero});
  std::vector<std::string> offsets = {f.mul(in[1], zero)};
  for (size_t part = 1; part + 1 < in.size(); ++part)
    offsets.push_back(f.add(offsets.back(), f.mul(in[part], isAxis)));
  r.becomeAll(offsets, std::vector<pb::DataType>(offsets.size(), index));
}

} // namespace

ArrayRef<Decomposed> gradientNodes() {
  static const Decomposed rows[] = {
      {"BiasAddGrad", 1, biasGradient, "Sum"},
      {"BroadcastGradientArgs", 2, broadcastAxes, "Equal, Any, Where"},
      {"ConcatOffset", 2, partOffsets, "OneHot, Mul, Add"},
      {"EluGrad", 2, eluGradient, "Mul, Select"},
      {"FusedBatchNormGradV3", 5, normGradient, "Sub, Mul, Sum; of floats, NHWC, not training"},
      {"InvGrad", 2, reciprocalGradient, "Neg, Mul, Select"},
      {"LeakyReluGrad", 2, leakyReluGradient, "Mul, Select"},
      {"ReciprocalGrad", 2, reciprocalGradient, "Neg, Mul, Select"},
      {"Relu6Grad", 2, relu6Gradient, "Greater, Mul"},
      {"ReluGrad", 2, reluGradient, "Greater, Mul"},
      {"RsqrtGrad", 2, rsqrtGradient, "Mul, Select"},
      {"SeluGrad", 2, seluGradient, "Mul, Select"},
      {"SigmoidGrad", 2, sigmoidGradient, "Sub, Mul"},
      {"SoftplusGrad", 2, softplusGradient, "Sigmoid, Mul"},
      {"SoftsignGrad", 2, softsignGradient, "Abs, RealDiv"},
      {"SqrtGrad", 2, sqrtGradient, "Mul, RealDiv, Select"},
      {"StridedSliceGrad", 5, sliceGradient, "StridedSlice, ScatterNd"},
      {"TanhGrad", 2, tanhGradient, "Sub, Mul"},
  };
  return rows;
}

} // namespace atc::tf_import
