//===-- AscendNodes.cpp - quantized models of the Ascend toolchain --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In these models a layer works on the integers of AscendQuant, with int8 weights and an int32
// bias, and AscendDequant has the scales of its accumulators: those of the input times those of the
// weights. This file moves the scales to the weights, so that all tensors are real values that are
// integers times a scale, as in every other quantized ONNX model.

#include "frontends/onnx/AscendNodes.h"

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

namespace atc::onnx_import {
namespace {

using llvm::StringRef;
using onnx::AttributeProto;
using onnx::NodeProto;
using onnx::TensorProto;

bool isAscend(StringRef op) {
  return op == "AscendQuant" || op == "AscendAntiQuant" || op == "AscendDequant" ||
         op == "AscendWeightQuant";
}

/// x = (q - zero) * scale
struct Params {
  float scale = 1;
  int64_t zero = 0;
};

class Expansion {
public:
  Expansion(onnx::GraphProto &graph, Diagnostics &diagnostics);
  bool run();

private:
  void fail(const NodeProto &node, const llvm::Twine &reason) {
    diagnostics.error("E14001", describeNode(node) + ": " + reason);
    isFine = false;
  }
  std::string freshName(StringRef wanted) {
    std::string name = wanted.str();
    for (int i = 1; !names.insert(name).second; ++i)
      name = (wanted + "_" + std::to_string(i)).str();
    return name;
  }
  std::string add(StringRef name, int32_t type, llvm::ArrayRef<int64_t> dims, const void *data,
                  size_t bytes);
  std::string addScales(StringRef name, llvm::ArrayRef<float> scales);
  NodeProto &addDequantize(const std::string &output, const std::string &integers,
                           const std::string &scale, const std::string &zero = "");
  const TensorProto *constant(StringRef tensor, int32_t type) const;

  std::optional<Params> readParams(const NodeProto &node);
  std::optional<std::vector<float>> readScales(const NodeProto &dequant);
  const Params *quantBehind(StringRef tensor) const;
  void expandQuant(NodeProto &node);
  void expandAntiQuant(NodeProto &node);
  bool expandLayer(NodeProto &dequant);
  bool checkOffset(NodeProto &layer, const Params &input);

  /// The dim of output channels in a layer's weights, and one scale for all of them or one each.
  struct Channels {
    int64_t axis;
    llvm::ArrayRef<float> scales;
  };
  /// Returns the tensor with a layer's integers, which AscendWeightQuant may stand behind.
  std::optional<std::string> findWeights(const NodeProto &layer);
  /// Returns the channels to which the scales of a layer's AscendDequant belong.
  std::optional<Channels> findChannels(const NodeProto &layer, const TensorProto &weights,
                                       llvm::ArrayRef<float> scales);
  /// Dequantizes integers in place of the layer's input `input`; returns the new tensor's name.
  std::string addFloats(const std::string &input, const std::string &integers,
                        llvm::ArrayRef<float> scales, int64_t axis);
  /// Dequantize weights and bias of a layer. Return false after an error.
  bool expandWeights(NodeProto &layer, const Params &input, llvm::ArrayRef<float> scales);
  bool expandBias(NodeProto &layer, llvm::ArrayRef<float> scales);

  onnx::GraphProto &graph;
  Diagnostics &diagnostics;
  bool isFine = true;
  llvm::StringMap<NodeProto *> producers;
  llvm::StringMap<int> readers;
  llvm::StringMap<const TensorProto *> constants;
  llvm::StringSet<> names;
  std::map<std::string, Params> quants; ///< by the tensor that AscendQuant makes
};

Expansion::Expansion(onnx::GraphProto &graph, Diagnostics &diagnostics)
    : graph(graph), diagnostics(diagnostics) {
  for (const TensorProto &tensor : graph.initializer()) {
    constants[tensor.name()] = &tensor;
    names.insert(tensor.name());
  }
  for (const onnx::ValueInfoProto &input : graph.input())
    names.insert(input.name());
  for (const onnx::ValueInfoProto &output : graph.output())
    ++readers[output.name()];
  for (NodeProto &node : *graph.mutable_node()) {
    for (const std::string &input : node.input())
      ++readers[input];
    for (const std::string &output : node.output()) {
      producers[output] = &node;
      names.insert(output);
    }
    if (node.op_type() == "Constant")
      for (const AttributeProto &attribute : node.attribute())
        if (attribute.name() == "value" && attribute.has_t() && node.output_size())
          constants[node.output(0)] = &attribute.t();
  }
}

std::string Expansion::add(StringRef name, int32_t type, llvm::ArrayRef<int64_t> dims,
                           const void *data, size_t bytes) {
  TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(freshName(name));
  tensor.set_data_type(type);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  tensor.set_raw_data(data, bytes);
  return tensor.name();
}

std::string Expansion::addScales(StringRef name, llvm::ArrayRef<float> scales) {
  const auto count = static_cast<int64_t>(scales.size());
  return add(name, TensorProto::FLOAT,
             count == 1 ? llvm::ArrayRef<int64_t>() : llvm::ArrayRef<int64_t>(count), scales.data(),
             scales.size() * sizeof(float));
}

NodeProto &Expansion::addDequantize(const std::string &output, const std::string &integers,
                                    const std::string &scale, const std::string &zero) {
  NodeProto &node = *graph.add_node();
  node.set_op_type("DequantizeLinear");
  node.set_name(output);
  node.add_input(integers);
  node.add_input(scale);
  if (!zero.empty())
    node.add_input(zero);
  node.add_output(output);
  return node;
}

/// Returns a constant of this type; null for other tensors.
const TensorProto *Expansion::constant(StringRef tensor, int32_t type) const {
  auto found = constants.find(tensor);
  return found != constants.end() && found->second->data_type() == type ? found->second : nullptr;
}

//===----------------------------------------------------------------------===//
// AscendQuant and AscendAntiQuant
//===----------------------------------------------------------------------===//

std::optional<Params> Expansion::readParams(const NodeProto &node) {
  const unsigned before = diagnostics.numErrors();
  double scale = 0, offset = 0;
  if (node.input_size() != 1 || node.output_size() != 1)
    fail(node, "must have one input and one output");
  for (const AttributeProto &attribute : node.attribute()) {
    const std::string &name = attribute.name();
    const double number = attribute.type() == AttributeProto::INT     ? double(attribute.i())
                          : attribute.type() == AttributeProto::FLOAT ? attribute.f()
                                                                      : NAN;
    if (name == "scale")
      scale = number;
    else if (name == "offset")
      offset = number;
    else if ((name == "dst_type" && attribute.s() != "INT8") ||
             (name == "quant_bits" && number != 8) || (name == "sqrt_mode" && number != 0) ||
             (name == "relu_flag" && number != 0) ||
             (name == "round_mode" && attribute.s() != "Round"))
      fail(node, "attribute '" + name +
                     "' has a value that is not supported: quantized models "
                     "have 8 bits, rounded to even");
    else if (name != "dst_type" && name != "quant_bits" && name != "sqrt_mode" &&
             name != "relu_flag" && name != "round_mode" && name != "dtype" &&
             name != "fakequant_precision_mode")
      fail(node, "attribute '" + name + "' is not supported");
  }
  const bool isAnti = node.op_type() == "AscendAntiQuant";
  if (!std::isnormal(static_cast<float>(scale)) || scale < 0 ||
      !std::isnormal(1 / static_cast<float>(scale)))
    fail(node, "attribute 'scale' must be a positive number");
  const double zero = isAnti ? -offset : offset;
  if (!(zero >= -128 && zero <= 127) || zero != std::nearbyint(zero))
    fail(node, llvm::Twine("attribute 'offset' must be an integer ") +
                   (isAnti ? "from -127 to 128" : "from -128 to 127"));
  if (diagnostics.numErrors() != before)
    return std::nullopt;
  const auto given = static_cast<float>(scale);
  return Params{isAnti ? given : 1 / given, static_cast<int64_t>(zero)};
}

/// Returns the parameters with which a tensor was quantized: those of an AscendQuant, looking
/// through operators that only move or select elements.
const Params *Expansion::quantBehind(StringRef tensor) const {
  for (int steps = 0; steps < 100; ++steps) {
    if (auto known = quants.find(tensor.str()); known != quants.end())
      return &known->second;
    auto producer = producers.find(tensor);
    if (producer == producers.end())
      return nullptr;
    const NodeProto &node = *producer->second;
    const bool moves = llvm::StringSwitch<bool>(node.op_type())
                           .Cases({"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze",
                                   "Transpose", "MaxPool", "Slice", "Split"},
                                  true)
                           .Default(false);
    if (!moves || node.input_size() == 0)
      return nullptr;
    tensor = node.input(0);
  }
  return nullptr;
}

void Expansion::expandQuant(NodeProto &node) {
  const std::optional<Params> params = readParams(node);
  if (!params)
    return;
  const std::string output = node.output(0);
  quants[output] = *params;
  const std::string scale = addScales(output + "_scale", params->scale);
  const auto point = static_cast<int8_t>(params->zero);
  const std::string zero = add(output + "_zero_point", TensorProto::INT8, {}, &point, 1);
  const std::string integers = freshName(output + "_integers");
  node.set_op_type("QuantizeLinear");
  node.clear_attribute();
  node.add_input(scale);
  node.add_input(zero);
  node.set_output(0, integers);
  addDequantize(output, integers, scale, zero);
}

void Expansion::expandAntiQuant(NodeProto &node) {
  const std::optional<Params> params = readParams(node);
  if (!params)
    return;
  node.clear_attribute();
  const Params *source = quantBehind(node.input(0));
  if (!source) { // integers from elsewhere
    node.set_op_type("DequantizeLinear");
    node.add_input(addScales(node.output(0) + "_scale", params->scale));
    const auto point = static_cast<int8_t>(params->zero);
    node.add_input(add(node.output(0) + "_zero_point", TensorProto::INT8, {}, &point, 1));
    return;
  }
  // These are real values already.
  node.set_op_type("Identity");
  if (source->zero != params->zero ||
      std::fabs(source->scale - params->scale) > 1e-6f * source->scale)
    fail(node, "the scale and offset must be those of the AscendQuant in front of it");
}

//===----------------------------------------------------------------------===//
// Layers and AscendDequant
//===----------------------------------------------------------------------===//

/// Returns the scales of the accumulators.
std::optional<std::vector<float>> Expansion::readScales(const NodeProto &dequant) {
  const TensorProto *packed =
      dequant.input_size() == 2 ? constant(dequant.input(1), TensorProto::UINT64) : nullptr;
  std::vector<uint64_t> values;
  if (packed && packed->has_raw_data()) {
    values.resize(packed->raw_data().size() / sizeof(uint64_t));
    std::memcpy(values.data(), packed->raw_data().data(), values.size() * sizeof(uint64_t));
  } else if (packed) {
    values.assign(packed->uint64_data().begin(), packed->uint64_data().end());
  }
  int64_t count = 1;
  for (int i = 0; packed && i < packed->dims_size(); ++i)
    if (__builtin_mul_overflow(count, packed->dims(i), &count))
      count = -1;
  if (values.empty() || count != int64_t(values.size())) {
    fail(dequant, "the second input must be a constant of uint64 with the scales");
    return std::nullopt;
  }
  std::vector<float> scales;
  for (uint64_t value : values) {
    const auto bits = static_cast<uint32_t>(value);
    float scale;
    std::memcpy(&scale, &bits, sizeof scale);
    if (!std::isnormal(scale) || scale < 0) {
      fail(dequant, "a scale in the second input is no positive number");
      return std::nullopt;
    }
    if (value >> 32) {
      fail(dequant, "shifts and offsets of weights (bits 32 to 47 of the second input) are not "
                    "supported");
      return std::nullopt;
    }
    scales.push_back(scale);
  }
  return scales;
}

/// Checks the padding, which is the real value 0 and so must equal the integers' offset.
bool Expansion::checkOffset(NodeProto &layer, const Params &input) {
  auto &attributes = *layer.mutable_attribute();
  int64_t offset = 0;
  for (int i = attributes.size() - 1; i >= 0; --i)
    if (attributes[i].name() == "offset_x") {
      offset = attributes[i].i();
      attributes.DeleteSubrange(i, 1);
    }
  if (offset == input.zero)
    return true;
  fail(layer, "attribute 'offset_x' is " + llvm::Twine(offset) +
                  ", but the offset of its AscendQuant is " + llvm::Twine(input.zero));
  return false;
}

std::optional<std::string> Expansion::findWeights(const NodeProto &layer) {
  const std::string &weights = layer.input(1);
  auto producer = producers.find(weights);
  if (producer == producers.end() || producer->second->op_type() != "AscendWeightQuant")
    return weights;
  const NodeProto &quant = *producer->second;
  const TensorProto *offsets =
      quant.input_size() == 2 ? constant(quant.input(1), TensorProto::INT8) : nullptr;
  bool isZero = offsets && (offsets->has_raw_data() || offsets->int32_data_size());
  if (isZero)
    isZero = llvm::all_of(offsets->raw_data(), [](char offset) { return offset == 0; }) &&
             llvm::all_of(offsets->int32_data(), [](int32_t offset) { return offset == 0; });
  if (!isZero) {
    fail(quant, "the second input must be a constant of int8 that is 0: offsets of weights are "
                "not supported");
    return std::nullopt;
  }
  return quant.input(0);
}

std::optional<Expansion::Channels> Expansion::findChannels(const NodeProto &layer,
                                                           const TensorProto &weights,
                                                           llvm::ArrayRef<float> scales) {
  const std::string &op = layer.op_type();
  bool isTransposed = op == "Conv"; // the output channels come first
  int64_t groups = 1;
  for (const AttributeProto &attribute : layer.attribute()) {
    isTransposed |= attribute.name() == "transB" && attribute.i() != 0;
    if (attribute.name() == "group")
      groups = attribute.i();
  }
  const int64_t axis = isTransposed ? 0 : op == "MatMul" ? weights.dims_size() - 1 : 1;
  auto count = static_cast<int64_t>(scales.size());
  const int64_t channels = axis >= 0 && axis < weights.dims_size() ? weights.dims(axis) : -1;
  // The groups of a transposed convolution share the scales of their channels.
  if (op == "ConvTranspose" && groups > 1 && channels > 0 && count % channels == 0 &&
      count / channels == groups) {
    for (int64_t i = channels; i < count; ++i)
      if (scales[i] != scales[i - channels]) {
        fail(layer, "the groups must have the same scales");
        return std::nullopt;
      }
    count = channels;
  }
  if (count != 1 && count != channels) {
    fail(layer, "there are " + llvm::Twine(count) + " scales, but " + llvm::Twine(channels) +
                    " output channels");
    return std::nullopt;
  }
  return Channels{axis, scales.take_front(count)};
}

std::string Expansion::addFloats(const std::string &input, const std::string &integers,
                                 llvm::ArrayRef<float> scales, int64_t axis) {
  std::string floats = freshName(input + "_floats");
  NodeProto &expand = addDequantize(floats, integers, addScales(integers + "_scale", scales));
  if (scales.size() > 1) {
    AttributeProto &attribute = *expand.add_attribute();
    attribute.set_name("axis");
    attribute.set_type(AttributeProto::INT);
    attribute.set_i(axis);
  }
  return floats;
}

bool Expansion::expandWeights(NodeProto &layer, const Params &input, llvm::ArrayRef<float> scales) {
  const std::optional<std::string> weights = findWeights(layer);
  if (!weights)
    return false;
  const TensorProto *integers = constant(*weights, TensorProto::INT8);
  if (!integers) {
    fail(layer, "the weights '" + *weights + "' must be a constant of int8");
    return false;
  }
  const std::optional<Channels> channels = findChannels(layer, *integers, scales);
  if (!channels)
    return false;
  std::vector<float> own;
  for (float scale : channels->scales) {
    own.push_back(scale / input.scale);
    if (!std::isnormal(own.back())) {
      fail(layer, "the scale of the weights is too large or too small");
      return false;
    }
  }
  layer.set_input(1, addFloats(layer.input(1), *weights, own, channels->axis));
  return layer.input_size() < 3 || layer.input(2).empty() || expandBias(layer, channels->scales);
}

bool Expansion::expandBias(NodeProto &layer, llvm::ArrayRef<float> scales) {
  const auto count = static_cast<int64_t>(scales.size());
  const TensorProto *bias = constant(layer.input(2), TensorProto::INT32);
  const int64_t length = bias && bias->dims_size() == 1 ? bias->dims(0) : -1;
  const int64_t stored = !bias                  ? 0
                         : bias->has_raw_data() ? int64_t(bias->raw_data().size() / 4)
                                                : bias->int32_data_size();
  if (length < 1 || length != stored || (count > 1 && length % count)) {
    fail(layer, "the bias '" + layer.input(2) + "' must be a constant vector of int32");
    return false;
  }
  std::vector<float> units(scales.begin(), scales.end());
  // The channels of each group of a transposed convolution.
  while (count > 1 && int64_t(units.size()) < length)
    units.push_back(units[units.size() - count]);
  layer.set_input(2, addFloats(layer.input(2), layer.input(2), units, 0));
  return true;
}

/// True where the layer makes what AscendDequant made.
bool Expansion::expandLayer(NodeProto &dequant) {
  const std::optional<std::vector<float>> scales = readScales(dequant);
  auto producer = dequant.input_size() ? producers.find(dequant.input(0)) : producers.end();
  NodeProto *layer = producer == producers.end() ? nullptr : producer->second;
  const bool isLayer = layer && layer->input_size() >= 2 && layer->output_size() == 1 &&
                       llvm::StringSwitch<bool>(layer->op_type())
                           .Cases({"Conv", "ConvTranspose", "Gemm", "MatMul"}, true)
                           .Default(false);
  const Params *input = isLayer ? quantBehind(layer->input(0)) : nullptr;
  if (!input || readers.lookup(dequant.input(0)) != 1 || dequant.output_size() != 1) {
    fail(dequant, "it must stand alone behind a Conv, ConvTranspose, Gemm or MatMul that reads "
                  "from an AscendQuant");
    return false;
  }
  if (!scales || !checkOffset(*layer, *input) || !expandWeights(*layer, *input, *scales))
    return false;
  layer->set_output(0, dequant.output(0));
  return true;
}

bool Expansion::run() {
  // Added nodes are appended after these.
  const int count = graph.node_size();
  auto forEach = [&](StringRef op, auto &&expand) {
    for (int i = 0; i < count; ++i)
      if (graph.node(i).op_type() == op)
        expand(*graph.mutable_node(i));
  };
  forEach("AscendQuant", [&](NodeProto &node) { expandQuant(node); });
  if (!isFine) // later checks would report the same errors again
    return false;
  forEach("AscendAntiQuant", [&](NodeProto &node) { expandAntiQuant(node); });
  std::set<const NodeProto *> done;
  forEach("AscendDequant", [&](NodeProto &node) {
    if (expandLayer(node))
      done.insert(&node);
  });
  auto &nodes = *graph.mutable_node();
  int kept = 0;
  for (int i = 0; i < nodes.size(); ++i)
    if (!done.count(&nodes[i])) {
      if (kept != i)
        nodes.SwapElements(kept, i);
      ++kept;
    }
  nodes.DeleteSubrange(kept, nodes.size() - kept);
  return isFine;
}

/// Rejects these operators in the body of a control flow op, or AscendWeightQuant without its
/// layer.
void refuseAlone(NodeContext &n) {
  n.failNode("must be in the main graph of a quantized model, with the other nodes of its layer");
}

} // namespace

bool expandAscendNodes(onnx::GraphProto &graph, Diagnostics &diagnostics) {
  bool hasAny = false;
  for (NodeProto &node : *graph.mutable_node())
    if (isAscend(node.op_type())) {
      node.clear_domain(); // whatever an exporter calls it
      hasAny = true;
    }
  return !hasAny || Expansion(graph, diagnostics).run();
}

llvm::ArrayRef<OpRow> ascendRows() {
  static constexpr llvm::StringLiteral bits = "int8";
  static constexpr llvm::StringLiteral behind =
      "behind Conv, ConvTranspose, Gemm or MatMul; no shifts and offsets of weights";
  static const OpRow rows[] = {
      {"AscendAntiQuant", firstTableOpset, latestOpset, refuseAlone, bits},
      {"AscendDequant", firstTableOpset, latestOpset, refuseAlone, behind},
      {"AscendQuant", firstTableOpset, latestOpset, refuseAlone, bits},
      {"AscendWeightQuant", firstTableOpset, latestOpset, refuseAlone, "offsets of 0"},
  };
  return rows;
}

} // namespace atc::onnx_import
