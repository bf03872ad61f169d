//===-- FusedFunctions.cpp - what ONNX Runtime's optimizers fuse for GPUs -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/FunctionWriter.h"
#include "frontends/onnx/ops/KnownFunctions.h"

namespace atc::onnx_import {

namespace {

using Ints = FunctionWriter::Ints;
using AttributeType = onnx::AttributeProto;

const OnnxAttributes channelsFirst = {{"perm", Ints{0, 3, 1, 2}}};
const OnnxAttributes channelsLast = {{"perm", Ints{0, 2, 3, 1}}};

/// Returns a parameter of the channels as a tensor [1, channels, 1, 1]. The first shape is that of
/// whole groups, which another number of channels does not fit: the node's name is in its own.
std::string perChannel(FunctionWriter &w, const onnx::NodeProto &node, const char *parameter,
                       int64_t groups) {
  const std::string name = node.name().empty() ? node.op_type() : node.name();
  const std::string values = name + ".groups." + parameter;
  w.add("Reshape", {parameter, w.integers({groups, -1})}, {values});
  return w.make("Reshape", {w.make("Cast", {values}, toReal), w.integers({1, -1, 1, 1})});
}

/// Writes y = activation(gamma * (x - mean) / deviation + beta) by groups of channels, in f32.
void writeGroupNorm(FunctionWriter &w, const onnx::NodeProto &node, std::string x,
                    std::string &problem) {
  const int64_t groups = integerOf(node, "groups", 0);
  const int64_t activation = integerOf(node, "activation", 0);
  const bool isLast = integerOf(node, "channels_last", 1) != 0;
  if (groups < 1)
    problem = "attribute 'groups' is " + std::to_string(groups) + ", expected a number above 0";
  else if (activation != 0 && activation != 1)
    problem = "attribute 'activation' is " + std::to_string(activation) +
              ", expected 0 (none) or 1 (SiLU)";
  if (!problem.empty())
    return;
  w.setDefault("epsilon", 1e-5f);
  std::string rows = w.make("Cast", {x}, toReal);
  if (isLast)
    rows = w.make("Transpose", {rows}, channelsFirst);
  const std::string shape = w.make("Shape", {rows});
  const std::string count = w.integers({groups});
  const std::string one = w.make("Expand", {w.number(1), count});
  const std::string zero = w.make("Expand", {w.number(0), count});
  const std::string grouped = w.make("Reshape", {rows, w.integers({0, groups, -1})});
  onnx::NodeProto &norm = w.add("InstanceNormalization", {grouped, one, zero}, {"normalized"});
  FunctionWriter::pass(norm, {{"epsilon", AttributeType::FLOAT}});
  std::string result = w.make(
      "Mul", {w.make("Reshape", {"normalized", shape}), perChannel(w, node, "gamma", groups)});
  result = w.make("Add", {result, perChannel(w, node, "beta", groups)});
  if (activation == 1)
    result = w.make("Mul", {result, w.make("Sigmoid", {result})});
  if (isLast)
    result = w.make("Transpose", {result}, channelsLast);
  w.add("CastLike", {result, "x"}, {"y"});
}

} // namespace

onnx::FunctionProto groupNorm(const onnx::NodeProto &node, std::string &problem) {
  FunctionWriter w({"x", "gamma", "beta"}, {"y"});
  writeGroupNorm(w, node, "x", problem);
  return w.take();
}

/// The sum of x, skip and bias is normalized, and is the second output. A skip of two dims has a
/// value per image and channel.
onnx::FunctionProto skipGroupNorm(const onnx::NodeProto &node, std::string &problem) {
  FunctionWriter w({"x", "gamma", "beta", "skip", "bias"}, {"y", "sum"});
  const bool isLast = integerOf(node, "channels_last", 1) != 0;
  // Two dims get those between them, or behind them where channels come first.
  const std::string dims = w.make("Shape", {"skip"});
  const std::string missing = w.make("Sub", {w.integers({4}), w.make("Shape", {dims})});
  const std::string ones = w.make("Slice", {w.integers({1, 1}), w.integers({0}), missing});
  FunctionWriter::Names shape = {dims, ones};
  if (isLast)
    shape = {slice(w, dims, 0, 1, 0), ones, slice(w, dims, 1, toEnd, 0)};
  const std::string skip =
      w.make("Reshape", {"skip", w.make("Concat", shape, {{"axis", int64_t(0)}})});
  std::string sum = w.make("Add", {"x", skip});
  if (hasInput(node, 4))
    sum = w.make("Add", {sum, isLast ? std::string("bias")
                                     : w.make("Reshape", {"bias", w.integers({1, -1, 1, 1})})});
  w.add("Identity", {sum}, {"sum"});
  writeGroupNorm(w, node, sum, problem);
  return w.take();
}

/// A convolution of images and weights whose channels come last.
onnx::FunctionProto nhwcConv(const onnx::NodeProto &, std::string &) {
  FunctionWriter w({"x", "weights", "bias"}, {"y"});
  onnx::NodeProto &conv = w.add("Conv",
                                {w.make("Transpose", {"x"}, channelsFirst),
                                 w.make("Transpose", {"weights"}, channelsFirst), "bias"},
                                {"first"});
  FunctionWriter::passConv(conv);
  w.add("Transpose", {"first"}, {"y"}, channelsLast);
  return w.take();
}

onnx::FunctionProto biasAdd(const onnx::NodeProto &, std::string &) {
  FunctionWriter w({"x", "bias", "skip"}, {"y"});
  w.add("Add", {w.make("Add", {"x", "bias"}), "skip"}, {"y"});
  return w.take();
}

/// x + gate * y with a gate per row; the product is rounded to the type.
onnx::FunctionProto gatedAdd(const onnx::NodeProto &node, std::string &problem) {
  FunctionWriter w({"x", "y", "gate"}, {"z"});
  if (hasInput(node, 3))
    problem = "input 'gate_weight' is not supported";
  w.add("Add", {"x", w.make("Mul", {"y", "gate"})}, {"z"});
  return w.take();
}

/// Returns the bias with the length of the last dim of x; another number of values is an error.
static std::string biasOf(FunctionWriter &w, const std::string &x) {
  return w.make("Reshape", {"bias", w.make("Shape", {x}, {{"start", int64_t(-1)}})});
}

onnx::FunctionProto biasGelu(const onnx::NodeProto &, std::string &) {
  FunctionWriter w({"x", "bias"}, {"y"});
  w.add("Gelu", {w.make("Add", {"x", biasOf(w, "x")})}, {"y"});
  return w.take();
}

/// Writes y as the approximated gelu of x, plus the bias if there is one.
static void addFastGelu(FunctionWriter &w, const std::string &x, bool hasBias) {
  w.add("Gelu", {hasBias ? w.make("Add", {x, biasOf(w, x)}) : x}, {"y"},
        {{"approximate", std::string("tanh")}});
}

onnx::FunctionProto fastGelu(const onnx::NodeProto &node, std::string &) {
  FunctionWriter w({"x", "bias"}, {"y"});
  addFastGelu(w, "x", hasInput(node, 1));
  return w.take();
}

onnx::FunctionProto gemmFastGelu(const onnx::NodeProto &node, std::string &) {
  FunctionWriter w({"x", "weights", "bias"}, {"y"});
  addFastGelu(w, w.make("MatMul", {"x", "weights"}), hasInput(node, 2));
  return w.take();
}

/// x * sigmoid(alpha * x), computed in f32.
onnx::FunctionProto quickGelu(const onnx::NodeProto &, std::string &) {
  FunctionWriter w({"x"}, {"y"});
  w.setDefault("alpha", 1.702f);
  const std::string x = w.make("Cast", {"x"}, toReal);
  const std::string gate = w.make("Sigmoid", {w.make("Mul", {x, w.real("alpha")})});
  w.add("CastLike", {w.make("Mul", {x, gate}), "x"}, {"y"});
  return w.take();
}

/// The bias of T5: pairs of positions share a row of the table, by their distance. Short distances
/// have a row each, longer ones by their logarithm.
onnx::FunctionProto relativePositionBias(const onnx::NodeProto &node, std::string &problem) {
  FunctionWriter w({"table", "queries", "keys"}, {"y"});
  const int64_t farthest = integerOf(node, "max_distance", 0);
  const bool isBoth = integerOf(node, "is_bidirectional", 0) != 0;
  if (farthest < 1)
    problem =
        "attribute 'max_distance' is " + std::to_string(farthest) + ", expected a number above 0";
  if (!problem.empty())
    return w.take();
  auto positions = [&](const std::string &length) {
    return w.make("Range", {w.number(0),
                            w.make("Cast", {w.make("Reshape", {length, w.integers({})})}, toReal),
                            w.number(1)});
  };
  const std::string distance = w.make(
      "Sub", {positions("keys"), w.make("Unsqueeze", {positions("queries"), w.integers({1})})});
  const std::string rows = w.make(
      "Cast", {w.make("Squeeze", {w.make("Shape", {"table"}, {{"end", int64_t(1)}})})}, toReal);
  // Those behind the query have the second half of the rows where there are any.
  const std::string half = w.make("Floor", {w.make("Mul", {rows, w.number(0.5)})});
  const std::string own = isBoth ? half : rows;
  const std::string span =
      isBoth ? w.make("Abs", {distance}) : w.make("Max", {w.make("Neg", {distance}), w.number(0)});
  const std::string exact = w.make("Floor", {w.make("Mul", {own, w.number(0.5)})});
  const std::string scale = w.make("Log", {w.make("Div", {w.number(double(farthest)), exact})});
  const std::string share =
      w.make("Div", {w.make("Log", {w.make("Div", {w.make("Max", {span, exact}), exact})}), scale});
  const std::string grown = w.make(
      "Add", {exact, w.make("Floor", {w.make("Mul", {share, w.make("Sub", {own, exact})})})});
  const std::string capped = w.make("Min", {grown, w.make("Sub", {own, w.number(1)})});
  std::string row = w.make("Where", {w.make("Less", {span, exact}), span, capped});
  if (isBoth)
    row = w.make("Add", {row, w.make("Where", {w.make("Greater", {distance, w.number(0)}), half,
                                               w.number(0)})});
  const std::string values = w.make("Gather", {"table", w.make("Cast", {row}, toIndex)});
  w.add("Unsqueeze", {w.make("Transpose", {values}, {{"perm", Ints{2, 0, 1}}}), w.integers({0})},
        {"y"});
  return w.take();
}

/// The bias of WavLM: one that is the same for all images, times a gate that the query opens.
onnx::FunctionProto gatedPositionBias(const onnx::NodeProto &node, std::string &problem) {
  FunctionWriter w({"query", "query_bias", "positions", "weights", "bias", "eco", "offsets"},
                   {"y"});
  const int64_t heads = integerOf(node, "num_heads", 0);
  if (heads < 1)
    problem = "attribute 'num_heads' is " + std::to_string(heads) + ", expected a number above 0";
  else if (hasInput(node, 6))
    problem = "input 'token_offset' is not supported";
  if (!problem.empty())
    return w.take();
  const std::string query = w.make(
      "Transpose",
      {w.make("Reshape", {w.make("Add", {"query", "query_bias"}), w.integers({0, 0, heads, -1})})},
      {{"perm", Ints{0, 2, 1, 3}}});
  const std::string linear = w.make("Add", {w.make("MatMul", {query, "weights"}), "bias"});
  // The last dim holds two gates, each the sum of its half.
  const std::string halves = w.make("Reshape", {linear, w.integers({0, 0, 0, 2, -1})});
  const std::string gates = w.make(
      "Sigmoid", {w.make("ReduceSum", {halves, w.integers({-1})}, {{"keepdims", int64_t(0)}})});
  w.add("Split", {gates}, {"update", "reset"},
        {{"axis", int64_t(-1)}, {"num_outputs", int64_t(2)}});
  auto like = [&](double value) { return w.make("CastLike", {w.number(value), "query"}); };
  const std::string open = w.make("Sub", {w.make("Mul", {"reset", "eco"}), like(1)});
  const std::string gate = w.make("Add", {w.make("Mul", {"update", open}), like(2)});
  w.add("Mul", {gate, "positions"}, {"y"});
  return w.take();
}

namespace {

/// Says what is wrong with the attributes of a transform along the last dim.
void checkTransform(const onnx::NodeProto &node, std::string &problem) {
  for (auto [name, expected] : {std::pair("normalized", 0), {"onesided", 1}, {"signal_ndim", 1}})
    if (const int64_t value = integerOf(node, name, expected); value != expected)
      problem = std::string("attribute '") + name + "' is " + std::to_string(value) +
                ", expected " + std::to_string(expected);
}

} // namespace

/// The first half of the spectrum of real numbers; the real and imaginary parts are a new last dim.
onnx::FunctionProto realTransform(const onnx::NodeProto &node, std::string &problem) {
  FunctionWriter w({"x"}, {"y"});
  checkTransform(node, problem);
  if (!problem.empty())
    return w.take();
  w.add("DFT", {w.make("Unsqueeze", {"x", w.integers({-1})}), "", w.integers({-2})}, {"y"},
        {{"onesided", int64_t(1)}});
  return w.take();
}

/// The even number of real numbers whose spectrum has the first half x.
onnx::FunctionProto inverseRealTransform(const onnx::NodeProto &node, std::string &problem) {
  FunctionWriter w({"x"}, {"y"});
  checkTransform(node, problem);
  if (!problem.empty())
    return w.take();
  // The second half is the first one, conjugated and backwards, without its ends.
  const std::string back =
      w.make("Slice", {"x", w.integers({-2}), w.integers({0}), w.integers({-2}), w.integers({-1})});
  const std::string signs = w.make("CastLike", {w.integers({1, -1}), "x"});
  const std::string whole =
      w.make("Concat", {"x", w.make("Mul", {back, signs})}, {{"axis", int64_t(-2)}});
  const std::string signal =
      w.make("DFT", {whole, "", w.integers({-2})}, {{"inverse", int64_t(1)}});
  w.add("Gather", {signal, w.make("Squeeze", {w.integers({0})})}, {"y"}, {{"axis", int64_t(-1)}});
  return w.take();
}

} // namespace atc::onnx_import
