//===-- SingleOpQuantized.cpp - quantized operators as ONNX models --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operators between which layers of the Ascend toolchain compute in integers, and those layers.
// Each alone computes what its formula says: a graph of them is a graph of integer tensors.

#include "frontends/onnx/singleop/SingleOpGraph.h"

#include <cmath>
#include <cstring>

using namespace llvm;

namespace atc::single_op {

namespace {

using Graph = SingleOpGraph;

std::string castTo(Graph &g, const std::string &input, int type) {
  const std::string result = g.fresh();
  Graph::setInt(g.node("Cast", {input}, {result}), "to", type);
  return result;
}

/// Adds a f32 constant; returns its name.
std::string floats(Graph &g, const Ints &dims, const std::vector<float> &values) {
  onnx::TensorProto &tensor = *g.graph.add_initializer();
  tensor.set_name(g.fresh());
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  for (float value : values)
    tensor.add_float_data(value);
  return tensor.name();
}

/// Makes the output of a result, in the type that the operator states.
void finishTyped(Graph &g, const std::string &result) {
  Graph::setInt(g.node("Cast", {result}, {g.y[0]}), "to", onnxType(g.op.outputs[0].type));
}

/// Returns the attribute "scale", squared where "sqrt_mode" says so.
float scaleOf(const Graph &g) {
  const auto scale = static_cast<float>(g.getFloat("scale", 1));
  return g.getBool("sqrt_mode") ? scale * scale : scale;
}

/// q = clamp(round_half_even(x * scale) + offset, -128, 127)
void buildQuant(Graph &g) {
  const auto offset = static_cast<float>(g.getFloat("offset", 0));
  const float scale = scaleOf(g);
  if (onnxType(g.op.outputs[0].type) != onnx::TensorProto::INT8)
    return g.fail("its result must be int8");
  if (!std::isnormal(scale) || scale < 0 || offset < -128 || offset > 127 ||
      offset != std::nearbyint(offset))
    return g.fail("\"scale\" must be positive, and \"offset\" an integer from -128 to 127");
  if (const std::string mode = g.getText("round_mode", "Round"); mode != "Round")
    return g.fail("\"round_mode\" must be Round, not " + mode);
  onnx::TensorProto &zero = *g.graph.add_initializer();
  zero.set_name(g.fresh());
  zero.set_data_type(onnx::TensorProto::INT8);
  zero.add_int32_data(static_cast<int32_t>(offset));
  const std::string x = castTo(g, g.x[0], onnx::TensorProto::FLOAT);
  const std::string divisor = floats(g, {}, {1 / scale});
  g.finish(g.value("QuantizeLinear", {x, divisor, zero.name()}));
}

/// x = (q + offset) * scale
void buildAntiQuant(Graph &g) {
  const std::string q = castTo(g, g.x[0], onnx::TensorProto::FLOAT);
  const std::string shifted =
      g.value("Add", {q, floats(g, {}, {static_cast<float>(g.getFloat("offset", 0))})});
  finishTyped(g, g.value("Mul", {shifted, floats(g, {}, {scaleOf(g)})}));
}

/// x = accumulator * scale, whose bits are the lower half of an uint64 per channel.
void buildDequant(Graph &g) {
  const SingleOpTensor &packed = g.op.inputs[1];
  if (!packed.isConstant || packed.values.empty())
    return g.fail("the scales must be a constant");
  std::vector<float> scales;
  for (double value : packed.values) {
    float scale = 0;
    if (value >= 0 && value < 4294967296.0) {
      const auto bits = static_cast<uint32_t>(value);
      std::memcpy(&scale, &bits, sizeof scale);
    }
    if (!std::isnormal(scale) || scale < 0)
      return g.fail("a scale is no positive number, or has a shift or an offset of weights (bits "
                    "32 to 47), which are not supported");
    scales.push_back(g.getBool("sqrt_mode") ? scale * scale : scale);
  }
  Ints dims;
  if (const auto count = static_cast<int64_t>(scales.size()); count > 1) {
    const int64_t rank = g.rankOf(0);
    const bool isChannelLast = rank < 3 || g.op.inputs[0].format == kNHWC;
    dims.assign(rank, 1);
    dims[isChannelLast ? rank - 1 : 1] = count;
  }
  const std::string x = castTo(g, g.x[0], onnx::TensorProto::FLOAT);
  std::string result = g.value("Mul", {x, floats(g, dims, scales)});
  if (g.getBool("relu_flag"))
    result = g.value("Relu", {result});
  finishTyped(g, result);
}

} // namespace

ArrayRef<OperatorRow> quantizedRows() {
  static constexpr OperatorRow rows[] = {
      {"AscendAntiQuant", 1, buildAntiQuant},
      {"AscendDequant", 2, buildDequant},
      {"AscendQuant", 1, buildQuant},
  };
  return rows;
}

} // namespace atc::single_op
