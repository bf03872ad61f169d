//===-- KnownFunctions.cpp - operators that are formulas of standard ones -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/KnownFunctions.h"

#include "frontends/onnx/ops/FunctionWriter.h"
#include "llvm/ADT/STLExtras.h"

namespace atc::onnx_import {

namespace {

using llvm::SmallVector;
using llvm::StringRef;
using Ints = FunctionWriter::Ints;
using Names = FunctionWriter::Names;
using onnx::FunctionProto;
using onnx::NodeProto;
using AttributeType = onnx::AttributeProto;

//===----------------------------------------------------------------------===//
// com.microsoft: quantized values
//===----------------------------------------------------------------------===//

/// The weights [directions, inputs, gates] have scales of directions, or of directions and gates;
/// those of LSTM are [directions, gates, inputs]. The numbers that the integers stand for are
/// multiplied in f32, or as the same integers, with activations of 16 bits (host-narrow-gates).
/// ONNX Runtime rounds activations to 8 bits, of one range per step, from which results differ by
/// some thousandths.
FunctionProto dynamicQuantizeLstm(const NodeProto &, std::string &) {
  FunctionWriter w(
      {"X", "W", "R", "B", "lens", "h", "c", "P", "W_scale", "W_zero", "R_scale", "R_zero"},
      {"Y", "Y_h", "Y_c"});
  const std::string shape = w.integers({0, 1, -1});
  std::string gates[2];
  for (int i : {0, 1}) {
    const std::string name = i == 0 ? "W" : "R";
    const std::string scales = w.make("Reshape", {name + "_scale", shape});
    const std::string zeros = w.make("Reshape", {name + "_zero", shape});
    const std::string whole =
        w.make("Sub", {w.make("Cast", {name}, toReal), w.make("Cast", {zeros}, toReal)});
    gates[i] = w.make("Transpose", {w.make("Mul", {whole, scales})}, {{"perm", Ints{0, 2, 1}}});
  }
  NodeProto &lstm =
      w.add("LSTM", {"X", gates[0], gates[1], "B", "lens", "h", "c", "P"}, {"Y", "Y_h", "Y_c"});
  FunctionWriter::pass(lstm, {{"activation_alpha", AttributeType::FLOATS},
                              {"activation_beta", AttributeType::FLOATS},
                              {"activations", AttributeType::STRINGS},
                              {"clip", AttributeType::FLOAT},
                              {"direction", AttributeType::STRING},
                              {"hidden_size", AttributeType::INT},
                              {"input_forget", AttributeType::INT}});
  return w.take();
}

FunctionProto qLinearWhere(const NodeProto &, std::string &) {
  FunctionWriter w(
      {"condition", "x", "x_scale", "x_zero", "y", "y_scale", "y_zero", "z_scale", "z_zero"},
      {"z"});
  const std::string x = w.make("DequantizeLinear", {"x", "x_scale", "x_zero"});
  const std::string y = w.make("DequantizeLinear", {"y", "y_scale", "y_zero"});
  w.add("QuantizeLinear", {w.make("Where", {"condition", x, y}), "z_scale", "z_zero"}, {"z"});
  return w.take();
}

/// With channels_last, images have their channels last, the weights do not.
FunctionProto qLinearConv(const NodeProto &node, std::string &problem) {
  FunctionWriter w({"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero", "b"},
                   {"y"});
  const AttributeType *last = findAttribute(node, "channels_last");
  const AttributeType *window = findAttribute(node, "kernel_shape");
  const bool isLast = last && last->i() != 0;
  const int64_t rank = window ? window->ints_size() + 2 : 4;
  if (rank < 3 || rank > 5)
    problem = "attribute 'kernel_shape' has " + std::to_string(rank - 2) + " dims, expected 1 to 3";
  Ints first{0, rank - 1}, back{0};
  for (int64_t dim = 1; dim < rank - 1; ++dim) {
    first.push_back(dim);
    back.push_back(dim + 1);
  }
  back.push_back(1);
  const std::string image = isLast ? w.make("Transpose", {"x"}, {{"perm", first}}) : "x";
  NodeProto &conv =
      w.add("QLinearConv",
            {image, "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero", "b"},
            {isLast ? "planes" : "y"});
  FunctionWriter::passConv(conv);
  if (isLast)
    w.add("Transpose", {"planes"}, {"y"}, {{"perm", back}});
  return w.take();
}

/// Rows of tables are chosen as integers; what they stand for is added and normalized. Segments and
/// the mask may be left out.
FunctionProto qEmbedLayerNormalization(const NodeProto &node, std::string &) {
  FunctionWriter w({"ids", "segments", "words", "positions", "kinds", "gamma", "beta", "mask",
                    "words_scale", "positions_scale", "kinds_scale", "gamma_scale", "beta_scale",
                    "words_zero", "positions_zero", "kinds_zero", "gamma_zero", "beta_zero"},
                   {"y", "lengths"});
  w.setDefault("epsilon", 1e-12f);
  auto real = [&](const std::string &table, const std::string &rows) {
    return w.make("DequantizeLinear", {rows, table + "_scale", table + "_zero"});
  };
  const std::string length = w.make("Shape", {"ids"}, {{"start", int64_t(1)}});
  const std::string zero = w.integers({0});
  std::string sum =
      w.make("Add", {real("words", w.make("Gather", {"words", "ids"})),
                     real("positions", w.make("Slice", {"positions", zero, length, zero}))});
  if (hasInput(node, 1) && hasInput(node, 4))
    sum = w.make("Add", {sum, real("kinds", w.make("Gather", {"kinds", "segments"}))});
  NodeProto &norm =
      w.add("LayerNormalization", {sum, real("gamma", "gamma"), real("beta", "beta")}, {"y"});
  FunctionWriter::pass(norm, {{"epsilon", AttributeType::FLOAT}});
  const OnnxAttributes toInt = {{"to", int64_t(onnx::TensorProto::INT32)}};
  if (!hasInput(node, 7)) {
    const std::string batch = w.make("Shape", {"ids"}, {{"end", int64_t(1)}});
    w.add("Cast", {w.make("ConstantOfShape", {batch})}, {"lengths"}, toInt);
    return w.take();
  }
  const std::string one = w.make("Cast", {w.number(1)}, toInt);
  const std::string isWord = w.make("Cast", {w.make("Equal", {"mask", one})}, toInt);
  w.add("ReduceSum", {isWord, w.integers({1})}, {"lengths"}, {{"keepdims", int64_t(0)}});
  return w.take();
}

FunctionProto matMulInteger16(const NodeProto &, std::string &) {
  FunctionWriter w({"a", "b"}, {"c"});
  const OnnxAttributes wide = {{"to", int64_t(onnx::TensorProto::INT32)}};
  w.add("MatMul", {w.make("Cast", {"a"}, wide), w.make("Cast", {"b"}, wide)}, {"c"});
  return w.take();
}

//===----------------------------------------------------------------------===//
// com.microsoft: tensors
//===----------------------------------------------------------------------===//

/// The distances of the rows [M, N] and [K, N] of two matrices.
FunctionProto distances(const NodeProto &node, std::string &problem) {
  const AttributeType *metric = findAttribute(node, "metric");
  const std::string name = metric ? metric->s() : "sqeuclidean";
  if (name != "euclidean" && name != "sqeuclidean")
    problem = "attribute 'metric' is '" + name + "', expected euclidean or sqeuclidean";
  FunctionWriter w({"a", "b"}, {"c"});
  const std::string rows = w.make("Unsqueeze", {"a", w.integers({1})});
  const std::string columns = w.make("Unsqueeze", {"b", w.integers({0})});
  const std::string difference = w.make("Sub", {rows, columns});
  const std::string square = w.make("Mul", {difference, difference});
  const std::string sum =
      w.make("ReduceSum", {square, w.integers({-1})}, {{"keepdims", int64_t(0)}});
  w.add(name == "euclidean" ? "Sqrt" : "Identity", {sum}, {"c"});
  return w.take();
}

FunctionProto expandDims(const NodeProto &, std::string &) {
  FunctionWriter w({"x", "axis"}, {"y"});
  const std::string axis = w.make("Cast", {"axis"}, {{"to", int64_t(onnx::TensorProto::INT64)}});
  w.add("Unsqueeze", {"x", w.make("Reshape", {axis, w.integers({1})})}, {"y"});
  return w.take();
}

/// The step may be left out.
FunctionProto range(const NodeProto &node, std::string &) {
  FunctionWriter w({"start", "limit", "delta"}, {"y"});
  const std::string step = hasInput(node, 2) ? "delta" : w.make("CastLike", {w.number(1), "start"});
  w.add("Range", {"start", "limit", step}, {"y"});
  return w.take();
}

/// The values in the order of their first position, the number of each element's value, and the
/// counts.
FunctionProto unique(const NodeProto &, std::string &) {
  FunctionWriter w({"x"}, {"y", "idx", "counts"});
  w.add("Unique", {"x"}, {"y", "first", "idx", "counts"}, {{"sorted", int64_t(0)}});
  return w.take();
}

//===----------------------------------------------------------------------===//
// Operators that were once tried in the standard domain
//===----------------------------------------------------------------------===//

FunctionProto affine(const NodeProto &, std::string &) {
  FunctionWriter w({"x"}, {"y"});
  w.setDefault("alpha", 1.0f);
  w.setDefault("beta", 0.0f);
  w.add("Add",
        {w.make("Mul", {"x", w.make("CastLike", {w.real("alpha"), "x"})}),
         w.make("CastLike", {w.real("beta"), "x"})},
        {"y"});
  return w.take();
}

FunctionProto scale(const NodeProto &, std::string &) {
  FunctionWriter w({"x"}, {"y"});
  w.setDefault("scale", 1.0f);
  w.add("Mul", {"x", w.make("CastLike", {w.real("scale"), "x"})}, {"y"});
  return w.take();
}

/// Returns alpha * f(beta * x).
template <bool isTanh> FunctionProto scaledActivation(const NodeProto &, std::string &) {
  FunctionWriter w({"x"}, {"y"});
  const std::string inner = w.make("Mul", {"x", w.make("CastLike", {w.real("beta"), "x"})});
  w.add("Mul",
        {w.make(isTanh ? "Tanh" : "Softplus", {inner}), w.make("CastLike", {w.real("alpha"), "x"})},
        {"y"});
  return w.take();
}

/// Images [n, c, h, w] times a factor, plus a number for each channel.
FunctionProto imageScaler(const NodeProto &, std::string &) {
  FunctionWriter w({"x"}, {"y"});
  w.setDefault("scale", 1.0f);
  const std::string scaled = w.make("Mul", {"x", w.make("CastLike", {w.real("scale"), "x"})});
  const std::string shift = w.make("CastLike", {w.realList("bias"), "x"});
  w.add("Add", {scaled, w.make("Unsqueeze", {shift, w.integers({1, 2})})}, {"y"});
  return w.take();
}

/// Cuts a border of (left, top, right, bottom) off images [n, c, h, w]; with a size, `scale`, as
/// much as that is kept.
FunctionProto crop(const NodeProto &node, std::string &) {
  FunctionWriter w({"x"}, {"y"});
  const std::string border = w.integerList("border");
  const std::string starts = w.make("Gather", {border, w.integers({1, 0})});
  const std::string size = w.make("Shape", {"x"}, {{"start", int64_t(2)}});
  const std::string ends =
      findAttribute(node, "scale")
          ? w.make("Add", {starts, w.integerList("scale")})
          : w.make("Sub", {size, w.make("Gather", {border, w.integers({3, 2})})});
  w.add("Slice", {"x", starts, ends, w.integers({2, 3})}, {"y"});
  return w.take();
}

/// Hashes have no sign, or are the same bits with one.
FunctionProto murmurHash(const NodeProto &node, std::string &) {
  FunctionWriter w({"x"}, {"y"});
  const bool isUnsigned = integerOf(node, "positive", 1) != 0;
  NodeProto &hash = w.add("MurmurHash", {"x"}, {isUnsigned ? "y" : "hash"});
  FunctionWriter::pass(hash, {{"seed", AttributeType::INT}});
  if (!isUnsigned)
    w.add("BitCast", {"hash"}, {"y"}, {{"to", int64_t(onnx::TensorProto::INT32)}});
  return w.take();
}

FunctionProto sampleOp(const NodeProto &, std::string &) {
  FunctionWriter w({"x"}, {"y"});
  w.add("Identity", {"x"}, {"y"});
  return w.take();
}

FunctionProto dynamicSlice(const NodeProto &, std::string &) {
  FunctionWriter w({"x", "starts", "ends", "axes"}, {"y"});
  w.add("Slice", {"x", "starts", "ends", "axes"}, {"y"});
  return w.take();
}

constexpr llvm::StringLiteral microsoft = "com.microsoft", standard = "", deploy = "mmdeploy";
constexpr llvm::StringLiteral ofBatchNms =
    "change_coordinate_frame image_size iou_threshold max_size_per_class max_total_size "
    "score_threshold transpose_box";
constexpr KnownFunction functions[] = {
    {microsoft, "BiasAdd", "", biasAdd},
    {microsoft, "BiasGelu", "", biasGelu},
    {microsoft, "CDist", "metric", distances},
    {microsoft, "ConvTransposeWithDynamicPads",
     "auto_pad dilations group kernel_shape output_padding strides", convTransposeWithPads},
    {microsoft, "CropAndResize", "extrapolation_value mode", cropAndResize},
    {microsoft, "DecoderMaskedMultiHeadAttention",
     "mask_filter_value num_heads output_qk past_present_share_buffer scale", decoderAttention},
    {microsoft, "DynamicQuantizeLSTM",
     "activation_alpha activation_beta activations clip direction hidden_size input_forget",
     dynamicQuantizeLstm},
    {microsoft, "ExpandDims", "", expandDims},
    {microsoft, "FastGelu", "", fastGelu},
    {microsoft, "GatedAdd", "", gatedAdd},
    {microsoft, "GatedRelativePositionBias", "num_heads", gatedPositionBias},
    {microsoft, "GemmFastGelu", "", gemmFastGelu},
    {microsoft, "GroupNorm", "activation channels_last epsilon groups", groupNorm},
    {microsoft, "Irfft", "normalized onesided signal_ndim", inverseRealTransform},
    {microsoft, "MRotaryEmbedding",
     "interleaved is_packed_batching mrope_layout mrope_section num_heads rotary_embedding_dim "
     "scale",
     multimodalRotaryEmbedding},
    {microsoft, "MatMulBnb4", "K N block_size quant_type training_mode transB", productOfTable},
    {microsoft, "MatMulInteger16", "", matMulInteger16},
    {microsoft, "MaxpoolWithMask", "auto_pad kernel_shape pads storage_order strides",
     maskedMaxPool},
    {microsoft, "MoE",
     "activation_alpha activation_beta activation_type k normalize_routing_weights swiglu_fusion "
     "swiglu_limit use_sparse_mixer",
     mixtureOfExperts},
    {microsoft, "MurmurHash3", "positive seed", murmurHash},
    {microsoft, "NGramRepeatBlock", "ngram_size", ngramRepeatBlock},
    {microsoft, "NhwcConv", "auto_pad dilations group kernel_shape pads strides", nhwcConv},
    {microsoft, "QEmbedLayerNormalization", "epsilon", qEmbedLayerNormalization},
    {microsoft, "QLinearConv", "auto_pad channels_last dilations group kernel_shape pads strides",
     qLinearConv},
    {microsoft, "QLinearWhere", "", qLinearWhere},
    {microsoft, "QMoE",
     "accuracy_level activation_alpha activation_beta activation_type block_size "
     "expert_weight_bits fc1_expert_weight_bits fc2_expert_weight_bits k "
     "normalize_routing_weights quant_type swiglu_fusion swiglu_limit "
     "swiglu_limit_after_activation use_sparse_mixer weights_prepacked",
     mixtureOfIntegers},
    {microsoft, "QuickGelu", "alpha", quickGelu},
    {microsoft, "Range", "", range},
    {microsoft, "RelativePositionBias", "is_bidirectional max_distance", relativePositionBias},
    {microsoft, "Rfft", "normalized onesided signal_ndim", realTransform},
    {microsoft, "SampleOp", "", sampleOp},
    {microsoft, "ScaledSiLU", "alpha", scaledSilu},
    {microsoft, "SkipGroupNorm", "activation channels_last epsilon groups", skipGroupNorm},
    {microsoft, "SparseAttention",
     "do_rotary kv_num_heads num_heads rotary_interleaved scale sparse_block_size",
     sparseAttention},
    {microsoft, "UnfoldTensor", "dim size step", unfoldTensor},
    {microsoft, "Unique", "", unique},
    {microsoft, "WordConvEmbedding", "char_embedding_size conv_window_size embedding_size",
     wordEmbedding},
    {standard, "Affine", "alpha beta", affine},
    {standard, "BatchMultiClassNMS", ofBatchNms, batchMultiClassNms},
    {standard, "Crop", "border scale", crop},
    {standard, "DynamicSlice", "", dynamicSlice},
    {standard, "ImageScaler", "bias scale", imageScaler},
    {standard, "ParametricSoftplus", "alpha beta", scaledActivation<false>},
    {standard, "Scale", "scale", scale},
    {standard, "ScaledTanh", "alpha beta", scaledActivation<true>},
    {deploy, "BatchMultiClassNMS", ofBatchNms, batchMultiClassNms},
};

} // namespace

llvm::ArrayRef<KnownFunction> knownFunctions() { return functions; }

const KnownFunction *findKnownFunction(const NodeProto &node) {
  const StringRef domain = node.domain() == "ai.onnx" ? "" : StringRef(node.domain());
  const KnownFunction *found = llvm::find_if(functions, [&](const KnownFunction &one) {
    return one.op == node.op_type() && one.domain == domain;
  });
  return found == std::end(functions) ? nullptr : found;
}

FunctionProto makeFunction(const KnownFunction &known, const NodeProto &node,
                           std::string &problem) {
  SmallVector<StringRef> read;
  known.attributes.split(read, ' ', -1, /*KeepEmpty=*/false);
  for (const AttributeType &attribute : node.attribute())
    if (!llvm::is_contained(read, StringRef(attribute.name())))
      problem = "attribute '" + attribute.name() + "' is not known for this operator";
  return known.make(node, problem);
}

} // namespace atc::onnx_import
