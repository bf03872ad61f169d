//===-- ExpertFunctions.cpp - parts of language models as functions -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/FunctionWriter.h"
#include "frontends/onnx/ops/KnownFunctions.h"

namespace atc::onnx_import {

namespace {

using Ints = FunctionWriter::Ints;

//===----------------------------------------------------------------------===//
// Mixture of experts
//===----------------------------------------------------------------------===//

/// Returns gate * sigmoid(alpha * gate) * (linear + beta), of what an expert makes twice as wide;
/// gates stand beside the linear parts, or in front of them.
std::string gatedUnit(FunctionWriter &w, const std::string &wide, const std::string &like,
                      bool isInterleaved, bool isLimited) {
  std::string gate, linear;
  if (isInterleaved) {
    const std::string pairs = w.make("Reshape", {wide, w.integers({0, 0, -1, 2})});
    gate = w.make("Gather", {pairs, w.make("Squeeze", {w.integers({0})})}, {{"axis", int64_t(3)}});
    linear =
        w.make("Gather", {pairs, w.make("Squeeze", {w.integers({1})})}, {{"axis", int64_t(3)}});
  } else {
    gate = "gates";
    linear = "linears";
    w.add("Split", {wide}, {gate, linear}, {{"axis", int64_t(-1)}, {"num_outputs", int64_t(2)}});
  }
  auto real = [&](const char *attribute) { return w.make("CastLike", {w.real(attribute), like}); };
  if (isLimited) {
    const std::string limit = real("swiglu_limit");
    gate = w.make("Min", {gate, limit});
    linear = w.make("Clip", {linear, w.make("Neg", {limit}), limit});
  }
  const std::string open = w.make("Sigmoid", {w.make("Mul", {real("activation_alpha"), gate})});
  return w.make("Mul",
                {w.make("Mul", {gate, open}), w.make("Add", {linear, real("activation_beta")})});
}

} // namespace

/// Every expert computes all tokens; the tokens of each are weighted by what the router says of
/// the `k` that it chooses, which is zero for the others.
onnx::FunctionProto mixtureOfExperts(const onnx::NodeProto &node, std::string &problem) {
  const onnx::AttributeProto *activation = findAttribute(node, "activation_type");
  const std::string kind = activation ? activation->s() : "relu";
  const int64_t fusion = integerOf(node, "swiglu_fusion", 0);
  if (kind != "relu" && kind != "gelu" && kind != "silu" && kind != "identity" && kind != "swiglu")
    problem = "attribute 'activation_type' is '" + kind +
              "', expected relu, gelu, silu, swiglu or identity";
  if (kind == "swiglu" && fusion != 1 && fusion != 2)
    problem = "attribute 'swiglu_fusion' is " + std::to_string(fusion) + ", expected 1 or 2";
  if (integerOf(node, "use_sparse_mixer", 0) != 0)
    problem = "attribute 'use_sparse_mixer' is set, which is not supported";
  if (hasInput(node, 6))
    problem = "input 6 (fc3_experts_weights) is given, which is not supported";

  FunctionWriter w({"x", "router", "weights1", "bias1", "weights2", "bias2"}, {"y"});
  w.setDefault("k", int64_t(1));
  w.setDefault("activation_alpha", 1.0f);
  w.setDefault("activation_beta", 0.0f);

  const std::string odds = w.make("Softmax", {"router"}, {{"axis", int64_t(-1)}});
  const std::string count = w.make("Reshape", {w.integer("k"), w.integers({1})});
  w.add("TopK", {odds, count}, {"chosen", "experts"});
  std::string chosen = "chosen";
  if (integerOf(node, "normalize_routing_weights", 0) != 0)
    chosen = w.make("Div", {chosen, w.make("ReduceSum", {chosen, w.integers({-1})})});
  const std::string none =
      w.make("CastLike", {w.make("ConstantOfShape", {w.make("Shape", {odds})}), odds});
  const std::string shares =
      w.make("ScatterElements", {none, "experts", chosen}, {{"axis", int64_t(1)}});

  const OnnxAttributes turned = {{"perm", Ints{0, 2, 1}}};
  const std::string width = w.make("Shape", {"x"}, {{"start", int64_t(-1)}});
  const std::string rows = w.make(
      "Reshape", {"x", w.make("Concat", {w.integers({1, -1}), width}, {{"axis", int64_t(0)}})});
  auto layer = [&](const std::string &input, const std::string &weights, const std::string &bias,
                   bool hasBias) {
    const std::string product = w.make("MatMul", {input, w.make("Transpose", {weights}, turned)});
    return hasBias ? w.make("Add", {product, w.make("Unsqueeze", {bias, w.integers({1})})})
                   : product;
  };
  std::string inner = layer(rows, "weights1", "bias1", hasInput(node, 3));
  if (kind == "swiglu")
    inner = gatedUnit(w, inner, "x", fusion == 1, findAttribute(node, "swiglu_limit") != nullptr);
  else if (kind == "silu")
    inner = w.make("Mul", {inner, w.make("Sigmoid", {inner})});
  else if (kind != "identity")
    inner = kind == "relu" ? w.make("Relu", {inner})
                           : w.make("Gelu", {inner}, {{"approximate", std::string("tanh")}});
  const std::string all = layer(inner, "weights2", "bias2", hasInput(node, 5));
  const std::string weights = w.make("Unsqueeze", {w.make("Transpose", {shares}), w.integers({2})});
  const std::string sum = w.make("ReduceSum", {w.make("Mul", {all, weights}), w.integers({0})},
                                 {{"keepdims", int64_t(0)}});
  w.add("Reshape", {sum, w.make("Shape", {"x"})}, {"y"});
  return w.take();
}

//===----------------------------------------------------------------------===//
// Mixture of experts of integers
//===----------------------------------------------------------------------===//

namespace {

/// Returns the integers of bytes as floats, two along the last axis for a byte of 4 bits, of which
/// the lower half is the first.
std::string unpackIntegers(FunctionWriter &w, const std::string &bytes, int64_t bits) {
  const std::string whole = w.make("Cast", {bytes}, toReal);
  if (bits == 8)
    return whole;
  const std::string upper = w.make("Floor", {w.make("Mul", {whole, w.number(1.0 / 16)})});
  const std::string lower = w.make("Sub", {whole, w.make("Mul", {upper, w.number(16)})});
  const std::string last = w.integers({-1});
  const std::string pairs =
      w.make("Concat", {w.make("Unsqueeze", {lower, last}), w.make("Unsqueeze", {upper, last})},
             {{"axis", int64_t(-1)}});
  const std::string shape = w.make(
      "Concat", {w.make("Shape", {bytes}, {{"end", int64_t(-1)}}), last}, {{"axis", int64_t(0)}});
  return w.make("Reshape", {pairs, shape});
}

/// Returns the weights [experts, rows, columns] of packed integers. A scale, and a zero where there
/// are any, belongs to a row, or to a block of a row's columns.
std::string realWeights(FunctionWriter &w, const FunctionWriter::Names &packed, bool hasZero,
                        int64_t bits, int64_t block) {
  const std::string scale = w.make("Cast", {packed[1]}, toReal), last = w.integers({-1});
  std::string zero = w.number(bits == 8 ? 128 : 8);
  if (hasZero) {
    // The last byte of a row may hold one that belongs to no scale.
    const std::string count = w.make("Shape", {scale}, {{"start", int64_t(-1)}});
    const std::string zeros = unpackIntegers(w, packed[2], bits);
    zero = w.make("Unsqueeze", {w.make("Slice", {zeros, w.integers({0}), count, last}), last});
  }
  std::string weights = unpackIntegers(w, packed[0], bits);
  if (block > 0)
    weights = w.make("Reshape", {weights, w.integers({0, 0, -1, block})});
  weights = w.make("Mul", {w.make("Sub", {weights, zero}), w.make("Unsqueeze", {scale, last})});
  if (block > 0)
    weights = w.make("Reshape", {weights, w.integers({0, 0, -1})});
  return w.make("CastLike", {weights, "x"});
}

} // namespace

/// The mixture of experts of the weights that the integers stand for.
onnx::FunctionProto mixtureOfIntegers(const onnx::NodeProto &node, std::string &problem) {
  FunctionWriter w({"x", "router", "packed1", "scale1", "bias1", "packed2", "scale2", "bias2",
                    "packed3", "scale3", "bias3", "zero1", "zero2"},
                   {"y"});
  const onnx::AttributeProto *type = findAttribute(node, "quant_type");
  const int64_t block = integerOf(node, "block_size", 0);
  const int64_t common = integerOf(node, "expert_weight_bits", 4);
  const int64_t bits[] = {integerOf(node, "fc1_expert_weight_bits", common),
                          integerOf(node, "fc2_expert_weight_bits", common)};
  if (type && type->s() != "int")
    problem = "attribute 'quant_type' is '" + type->s() + "', expected int";
  for (int64_t width : bits)
    if (width != 4 && width != 8)
      problem = "attribute 'expert_weight_bits' is " + std::to_string(width) + ", expected 4 or 8";
  if (integerOf(node, "weights_prepacked", 0) == 1)
    problem = "attribute 'weights_prepacked' is 1, which is the layout of one device";
  if (integerOf(node, "swiglu_limit_after_activation", 0) != 0)
    problem = "attribute 'swiglu_limit_after_activation' is set, which is not supported";
  if (block < 0)
    problem =
        "attribute 'block_size' is " + std::to_string(block) + ", expected no negative number";
  if (!hasInput(node, 3) || !hasInput(node, 6))
    problem = "the scales of the weights are missing";
  for (int input : {8, 13, 14})
    if (hasInput(node, input))
      problem = "input " + std::to_string(input) + " is given, which is not supported";
  if (!problem.empty())
    return w.take();

  const std::string first =
      realWeights(w, {"packed1", "scale1", "zero1"}, hasInput(node, 11), bits[0], block);
  const std::string second =
      realWeights(w, {"packed2", "scale2", "zero2"}, hasInput(node, 12), bits[1], block);
  onnx::NodeProto &mixture = w.add("MoE",
                                   {"x", "router", first, hasInput(node, 4) ? "bias1" : "", second,
                                    hasInput(node, 7) ? "bias2" : ""},
                                   {"y"});
  mixture.set_domain("com.microsoft");
  for (const char *name : {"activation_alpha", "activation_beta", "activation_type", "k",
                           "swiglu_fusion", "swiglu_limit", "use_sparse_mixer"})
    if (const onnx::AttributeProto *attribute = findAttribute(node, name))
      *mixture.add_attribute() = *attribute;
  // The shares of the chosen experts sum up to 1, whatever the attribute for that says.
  onnx::AttributeProto &shares = *mixture.add_attribute();
  shares.set_name("normalize_routing_weights");
  shares.set_type(onnx::AttributeProto::INT);
  shares.set_i(1);
  return w.take();
}

//===----------------------------------------------------------------------===//
// Weights of 4 bits by a table
//===----------------------------------------------------------------------===//

/// The weights [N, K] are numbers of a table, two in a byte, the first one in the upper half, times
/// a factor for each block of them.
onnx::FunctionProto productOfTable(const onnx::NodeProto &node, std::string &problem) {
  // A sign, two bits of exponent and one of mantissa, the greatest number being 1.
  static constexpr float floats[] = {
      0, 0.0052083333F,  0.66666667F,  1,  0.33333333F,  0.5F,  0.16666667F,  0.25F,
      0, -0.0052083333F, -0.66666667F, -1, -0.33333333F, -0.5F, -0.16666667F, -0.25F};
  // The quantiles of a normal distribution, the greatest one being 1.
  static constexpr float quantiles[] = {-1,           -0.69619280F, -0.52507305F, -0.39491749F,
                                        -0.28444138F, -0.18477343F, -0.09105004F, 0,
                                        0.07958030F,  0.16093020F,  0.24611230F,  0.33791524F,
                                        0.44070983F,  0.56261700F,  0.72295684F,  1};
  const int64_t type = integerOf(node, "quant_type", 1);
  if (type != 0 && type != 1)
    problem = "attribute 'quant_type' is " + std::to_string(type) + ", expected 0 or 1";
  if (integerOf(node, "transB", 1) != 1)
    problem = "attribute 'transB' is 0, expected 1";
  FunctionWriter w({"a", "b", "absmax"}, {"y"});
  onnx::NodeProto &table = w.add("Constant", {}, {"table"});
  onnx::AttributeProto &values = *table.add_attribute();
  values.set_name("value_floats");
  values.set_type(onnx::AttributeProto::FLOATS);
  for (float value : type == 0 ? floats : quantiles)
    values.add_floats(value);

  const std::string last = w.integers({-1}), zero = w.integers({0}), one = w.integers({1});
  const OnnxAttributes first = {{"axis", int64_t(0)}}, second = {{"axis", int64_t(1)}};
  auto vector = [&](const char *attribute) {
    return w.make("Reshape", {w.integer(attribute), one});
  };
  const std::string bytes = w.make("Cast", {w.make("Reshape", {"b", w.integers({-1, 1})})},
                                   {{"to", int64_t(onnx::TensorProto::INT32)}});
  const std::string sixteen =
      w.make("Cast", {w.number(16)}, {{"to", int64_t(onnx::TensorProto::INT32)}});
  const std::string halves =
      w.make("Concat", {w.make("Div", {bytes, sixteen}), w.make("Mod", {bytes, sixteen})}, second);
  const std::string numbers = w.make("Gather", {"table", w.make("Reshape", {halves, last})}, first);

  // The last block may be of fewer numbers.
  const std::string rows = vector("N"), columns = vector("K"), block = vector("block_size");
  const std::string count = w.make("Mul", {rows, columns});
  const std::string whole = w.make("Mul", {w.make("Shape", {"absmax"}), block});
  const std::string used = w.make("Slice", {numbers, zero, count, zero});
  const std::string rest = w.make("Concat", {zero, w.make("Sub", {whole, count})}, first);
  const std::string blocks =
      w.make("Reshape", {w.make("Pad", {used, rest}), w.make("Concat", {last, block}, first)});
  const std::string scaled =
      w.make("Mul", {blocks, w.make("Unsqueeze", {w.make("Cast", {"absmax"}, toReal), one})});
  const std::string flat = w.make("Slice", {w.make("Reshape", {scaled, last}), zero, count, zero});
  const std::string weights =
      w.make("Transpose", {w.make("Reshape", {flat, w.make("Concat", {rows, columns}, first)})});
  w.add("MatMul", {"a", w.make("CastLike", {weights, "a"})}, {"y"});
  return w.take();
}

} // namespace atc::onnx_import
