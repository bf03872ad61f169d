//===-- FusedQuantizedNodes.cpp - products of bytes and what follows ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operators that oneDNN brought to TensorFlow. An integer stands for its product with a scale,
// so that 0 is 0; `MIN_FIRST` is the exception. Filters may have one range per channel.

#include "frontends/tf/decompose/QuantizedArithmetic.h"
#include "frontends/tf/decompose/QuantizedNodes.h"

using namespace llvm;

namespace atc::tf_import {
namespace {

/// The form of a product, which the name of its operator spells out.
struct Form {
  explicit Form(StringRef name) {
    isMatMul = name.consume_front("QuantizedMatMul");
    isDepthwise = !isMatMul && name.consume_front("QuantizedDepthwiseConv2D");
    name.consume_front("QuantizedConv2D");
    name.consume_front("PerChannel");
    hasBias = name.consume_front("WithBias");
    hasSummand = name.consume_front("SignedSum") || name.consume_front("Sum");
    name.consume_front("And");
    hasRelu = name.consume_front("Relu");
    name.consume_front("And");
    dequantizes = name == "Dequantize";
    requantizes = name == "Requantize";
  }
  bool isMatMul, isDepthwise, hasBias, hasSummand, hasRelu, dequantizes, requantizes;
};

/// Returns the largest integer of a type, which stands for the end of a range.
Name highest(Arithmetic &f, const Integers &of) { return f.number(of.highest); }

/// Returns the larger one of the absolute values of both ends.
Name sizeOf(Arithmetic &f, const Range &range) { return f.max(f.abs(range.min), f.abs(range.max)); }

/// Returns the product of integers, as floats: sums below 2^24 are exact.
Name productOf(GraphRewriter &r, const Form &form, const Name &x, const Name &filter) {
  if (form.isMatMul)
    return r.add(
        "MatMul", {x, filter},
        {{"transpose_a", r.attribute("transpose_a")}, {"transpose_b", r.attribute("transpose_b")}});
  const pb::AttrValue *pads = r.attribute("padding_list");
  const bool hasPads = pads && pads->list().i_size() != 0;
  pb::AttrValue isStated;
  isStated.set_s("EXPLICIT");
  return r.add(form.isDepthwise ? "DepthwiseConv2dNative" : "Conv2D", {x, filter},
               {{"strides", r.attribute("strides")},
                {"padding", hasPads ? &isStated : r.attribute("padding")},
                {"explicit_paddings", hasPads ? pads : nullptr},
                {"dilations", r.attribute("dilations")}});
}

} // namespace

/// Inputs: x, the filter, perhaps a bias, the ranges of x and filter, perhaps that of the result,
/// and perhaps a summand with its range.
void multiplyFused(GraphRewriter &r, const Inputs &in) {
  const Form form{r.op()};
  const bool isScaled = !form.isMatMul || textOf(r, "input_quant_mode", "MIN_FIRST") == "SCALED",
             hasResultRange = form.requantizes || form.dequantizes;
  const std::optional<Integers> ofX = integersOf(r, form.isMatMul ? "T1" : "Tinput"),
                                ofFilter = integersOf(r, form.isMatMul ? "T2" : "Tfilter");
  const pb::AttrValue *result = r.attribute(form.isMatMul ? "Toutput" : "out_type"),
                      *biasType = r.attribute("Tbias");
  const size_t count = 6 + form.hasBias + 2 * hasResultRange + 3 * form.hasSummand;
  if (!ofX || !ofFilter || ofFilter->type != pb::DT_QINT8 || !result || in.size() != count)
    return;
  const std::optional<Integers> ofResult = integersOf(result->type()),
                                ofSummand = integersOf(r, "Tsummand");
  if (form.dequantizes ? result->type() != pb::DT_FLOAT
                       : !ofResult || form.requantizes == (ofResult->type == pb::DT_QINT32))
    return;

  Arithmetic f(r, pb::DT_FLOAT);
  auto next = in.begin() + 2;
  auto readRange = [&] {
    next += 2;
    return Range{next[-2], next[-1]};
  };
  const Name bias = form.hasBias ? *next++ : "";
  const Range rangeX = readRange(), rangeFilter = readRange();
  Name x = f.of(in[0]), step = f.div(sizeOf(f, rangeX), highest(f, *ofX));
  if (!isScaled) {
    step = f.div(f.sub(rangeX.max, rangeX.min), f.number(ofX->steps() - 1));
    x = f.add(x, f.sub(f.div(rangeX.min, step), f.number(ofX->lowest)));
  }
  const Name filterSteps = f.div(sizeOf(f, rangeFilter), highest(f, *ofFilter)),
             scale = f.mul(step, filterSteps);
  Name value = productOf(r, form, x, f.of(in[1]));
  const bool isBiasInteger = biasType && biasType->type() == pb::DT_QINT32;
  if (form.hasBias && isBiasInteger)
    value = f.add(value, f.of(bias));
  value = f.mul(value, scale);
  if (form.hasBias && !isBiasInteger)
    value = f.add(value, bias);
  const Range stated = hasResultRange ? readRange() : Range{};
  if (form.hasSummand) {
    if (!ofSummand)
      return;
    const Range ofIt = {next[1], next[2]};
    value = f.add(value, f.mul(f.of(next[0]), f.div(sizeOf(f, ofIt), highest(f, *ofSummand))));
  }
  if (form.hasRelu)
    value = f.max(value, f.number(0));
  if (form.dequantizes)
    return r.become("Identity", {value});

  const SmallVector<pb::DataType> types = {ofResult->type, pb::DT_FLOAT, pb::DT_FLOAT};
  if (form.requantizes) {
    Name whole = r.add("Round", {f.mul(value, f.div(highest(f, *ofResult), sizeOf(f, stated)))});
    whole = f.clamp(whole, f.number(ofResult->lowest), highest(f, *ofResult));
    return r.becomeAll({f.as(whole, ofResult->type), stated.min, stated.max}, types);
  }
  // Sums of all channels get the scale of the widest one, while their ranges stay those of each.
  const int32_t rest = -1;
  const Name widest = r.add(
                 "Max", {r.add("Reshape", {filterSteps, r.constant(ArrayRef(rest))}), r.number(0)}),
             whole = r.add("Round", {f.div(value, f.mul(step, widest))});
  auto level = [&](const Range &range, const Integers &of) {
    return f.div(f.sub(range.max, range.min),
                 f.number(of.highest - std::max(of.lowest, -of.highest)));
  };
  const Name end =
      f.mul(f.mul(level(rangeX, *ofX), level(rangeFilter, *ofFilter)), highest(f, sums()));
  r.becomeAll({f.as(whole, pb::DT_INT32), f.sub(f.number(0), end), end}, types);
}

ArrayRef<Decomposed> fusedQuantizedNodes() {
  static constexpr StringLiteral ofConv = "Conv2D and what follows; sums of f32",
                                 ofDepthwise =
                                     "DepthwiseConv2dNative and what follows; sums of f32",
                                 ofMatMul = "MatMul and what follows; sums of f32";
  static const Decomposed rows[] = {
      {"QuantizedConv2DAndRelu", 6, multiplyFused, ofConv},
      {"QuantizedConv2DAndReluAndRequantize", 8, multiplyFused, ofConv},
      {"QuantizedConv2DAndRequantize", 8, multiplyFused, ofConv},
      {"QuantizedConv2DPerChannel", 6, multiplyFused, ofConv},
      {"QuantizedConv2DWithBias", 7, multiplyFused, ofConv},
      {"QuantizedConv2DWithBiasAndRelu", 7, multiplyFused, ofConv},
      {"QuantizedConv2DWithBiasAndReluAndRequantize", 9, multiplyFused, ofConv},
      {"QuantizedConv2DWithBiasAndRequantize", 9, multiplyFused, ofConv},
      {"QuantizedConv2DWithBiasSignedSumAndReluAndRequantize", 12, multiplyFused, ofConv},
      {"QuantizedConv2DWithBiasSumAndReluAndRequantize", 12, multiplyFused, ofConv},
      {"QuantizedDepthwiseConv2D", 6, multiplyFused, ofDepthwise},
      {"QuantizedDepthwiseConv2DWithBias", 7, multiplyFused, ofDepthwise},
      {"QuantizedDepthwiseConv2DWithBiasAndRelu", 7, multiplyFused, ofDepthwise},
      {"QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", 9, multiplyFused, ofDepthwise},
      {"QuantizedMatMulWithBias", 7, multiplyFused, ofMatMul},
      {"QuantizedMatMulWithBiasAndDequantize", 9, multiplyFused, ofMatMul},
      {"QuantizedMatMulWithBiasAndRelu", 7, multiplyFused, ofMatMul},
      {"QuantizedMatMulWithBiasAndReluAndRequantize", 9, multiplyFused, ofMatMul},
      {"QuantizedMatMulWithBiasAndRequantize", 9, multiplyFused, ofMatMul},
  };
  return rows;
}

} // namespace atc::tf_import
