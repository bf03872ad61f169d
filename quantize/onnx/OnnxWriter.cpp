//===-- OnnxWriter.cpp - quantized ONNX models ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/OnnxWriter.h"

#include "passes/graph/quant/QuantizeWeights.h"

#include <cstring>

namespace atc::quantize {

uint64_t packDequantScale(float scale, uint8_t shift, int8_t offset) {
  uint32_t bits;
  std::memcpy(&bits, &scale, sizeof bits);
  return bits | uint64_t(shift) << 32 | uint64_t(uint8_t(offset)) << 40;
}

namespace {

template <typename T>
onnx::TensorProto makeTensor(const std::string &name, int32_t type, llvm::ArrayRef<int64_t> dims,
                             llvm::ArrayRef<T> values) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  tensor.set_raw_data(values.data(), values.size() * sizeof(T));
  return tensor;
}

int64_t weightAxis(const onnx::NodeProto &node) {
  if (node.op_type() == "Gemm")
    return intAttribute(node, "transB", 0) ? 0 : 1;
  return node.op_type() == "Conv" ? 0 : 1;
}

bool isLayerType(const std::string &type) {
  return type == "Conv" || type == "ConvTranspose" || type == "Gemm" || type == "MatMul";
}

/// The weights and bias of a layer as integers.
struct IntegerLayer {
  std::vector<int64_t> dims;
  int64_t axis = 0;
  std::vector<int8_t> weights;
  std::vector<float> scales;
  std::vector<int32_t> bias; ///< empty where there is none
  float inputScale = 1;
};

/// Returns the integers that calibration has chosen, in the layout of the node's weights: the
/// graph's filter of a product with a bias has its outputs in front.
std::vector<int8_t> integersOf(const onnx::NodeProto &node, const LayerEntry &entry,
                               llvm::ArrayRef<int64_t> dims) {
  if (node.op_type() != "Gemm" || intAttribute(node, "transB", 0))
    return entry.integers;
  std::vector<int8_t> transposed(entry.integers.size());
  for (size_t i = 0; i < transposed.size(); ++i)
    transposed[i] = entry.integers[i % dims[1] * dims[0] + i / dims[1]];
  return transposed;
}

/// Returns nothing where a node cannot be quantized according to the table.
std::optional<IntegerLayer> makeIntegers(OnnxModel &model, const onnx::NodeProto &node,
                                         const LayerEntry &entry, const TensorEntry &input) {
  if (!isLayerType(node.op_type()) || node.input_size() < 2)
    return std::nullopt;
  const onnx::TensorProto *weights = model.findConstant(node.input(1));
  auto values = weights ? readFloats(*weights) : std::nullopt;
  IntegerLayer layer;
  if (!values)
    return std::nullopt;
  layer.dims.assign(weights->dims().begin(), weights->dims().end());
  layer.axis = entry.weightScales.size() == 1 ? -1 : weightAxis(node);
  if (layer.axis >= int64_t(layer.dims.size()) ||
      (layer.axis >= 0 && layer.dims[layer.axis] != int64_t(entry.weightScales.size())))
    return std::nullopt;
  layer.scales = entry.weightScales;
  layer.inputScale = input.params.scale;
  layer.weights = graph::quantizeWeights({*values, layer.dims, layer.axis}, layer.scales);
  if (entry.integers.size() == layer.weights.size())
    layer.weights = integersOf(node, entry, layer.dims);

  std::vector<float> bias;
  if (node.input_size() > 2 && !node.input(2).empty()) {
    const onnx::TensorProto *constant = model.findConstant(node.input(2));
    auto known = constant ? readFloats(*constant) : std::nullopt;
    if (!known)
      return std::nullopt;
    bias = std::move(*known);
  }
  // A product has no bias input; a bias of the graph follows as an addition.
  if (node.op_type() != "MatMul" && !entry.biasCorrection.empty()) {
    if (bias.size() < entry.biasCorrection.size()) // also where one value serves all
      bias.resize(entry.biasCorrection.size(), bias.empty() ? 0 : bias[0]);
    for (size_t i = 0; i < entry.biasCorrection.size(); ++i)
      bias[i] += entry.biasCorrection[i];
  }
  layer.bias = graph::quantizeBias(bias, layer.scales, layer.inputScale);
  return layer;
}

/// The common traversal: the two forms differ in how a tensor and a layer are written, not in
/// where.
class Writer {
public:
  Writer(OnnxModel &model, const QuantTable &table, bool isDeploy)
      : model(model), table(table), isDeploy(isDeploy) {}

  /// Returns the tensors that replace those of the table, as floats.
  std::vector<std::string> run();

private:
  onnx::NodeProto &addNode(const char *type, const std::string &output,
                           std::initializer_list<std::string> inputs) {
    return *result.add_node() = makeNode(type, output + "_node", inputs, output);
  }
  std::string addScale(const std::string &name, llvm::ArrayRef<float> scales) {
    const std::string fresh = model.freshName(name);
    const bool isScalar = scales.size() == 1;
    model.addConstant(makeTensor(fresh, onnx::TensorProto::FLOAT,
                                 isScalar ? llvm::ArrayRef<int64_t>()
                                          : llvm::ArrayRef<int64_t>{int64_t(scales.size())},
                                 scales));
    return fresh;
  }
  void addPair(const TensorEntry &entry, const std::string &source);
  void addDeployPair(const TensorEntry &entry, const std::string &source);
  void addLayer(onnx::NodeProto &node, const IntegerLayer &layer);
  std::string addDeployLayer(onnx::NodeProto &node, const IntegerLayer &layer,
                             const TensorEntry &input);
  const LayerEntry *layerOf(const onnx::NodeProto &node, const TensorEntry *&input) const {
    const LayerEntry *layer = node.output_size() ? table.findLayer(node.output(0)) : nullptr;
    input = layer ? table.findTensor(layer->input) : nullptr;
    return input ? layer : nullptr;
  }

  OnnxModel &model;
  const QuantTable &table;
  const bool isDeploy;
  onnx::GraphProto result; ///< its nodes only
  /// The names of the table's tensors as floats again, and as integers.
  std::map<std::string, std::string> dequantized, quantized;
};

void Writer::addPair(const TensorEntry &entry, const std::string &source) {
  const std::string scale = addScale(entry.name + "_scale", entry.params.scale);
  const std::string zero = model.freshName(entry.name + "_zero_point");
  const auto point = static_cast<int8_t>(entry.params.zeroPoint); // u8 has the same bits
  model.addConstant(makeTensor<int8_t>(
      zero, entry.params.isSigned ? onnx::TensorProto::INT8 : onnx::TensorProto::UINT8, {}, point));
  const std::string &integers = quantized.at(entry.name);
  addNode("QuantizeLinear", integers, {source, scale, zero});
  addNode("DequantizeLinear", dequantized.at(entry.name), {integers, scale, zero});
}

/// The integers of the vendor's form are int8, whatever type the table has.
int32_t deployOffset(const TensorEntry &entry) {
  return entry.params.zeroPoint - (entry.params.isSigned ? 0 : 128);
}

void Writer::addDeployPair(const TensorEntry &entry, const std::string &source) {
  auto setNumbers = [](onnx::NodeProto &node, float scale, int32_t offset) {
    for (auto [name, value] :
         {std::pair("scale", scale), std::pair("offset", static_cast<float>(offset))}) {
      onnx::AttributeProto &attribute = *node.add_attribute();
      attribute.set_name(name);
      attribute.set_type(onnx::AttributeProto::FLOAT);
      attribute.set_f(value);
    }
  };
  const std::string &integers = quantized.at(entry.name);
  onnx::NodeProto &quant = addNode("AscendQuant", integers, {source});
  setNumbers(quant, 1 / entry.params.scale, deployOffset(entry));
  setAttribute(quant, "dst_type", std::string("INT8"));
  onnx::NodeProto &back = addNode("AscendAntiQuant", dequantized.at(entry.name), {integers});
  setNumbers(back, entry.params.scale, -deployOffset(entry));
}

void Writer::addLayer(onnx::NodeProto &node, const IntegerLayer &layer) {
  const std::string name = node.input(1);
  const std::string weights = model.freshName(name + "_quantized");
  model.addConstant(
      makeTensor<int8_t>(weights, onnx::TensorProto::INT8, layer.dims, layer.weights));
  const std::string scale = addScale(name + "_scale", layer.scales);
  const std::string zero = model.freshName(name + "_zero_point");
  const std::vector<int8_t> zeros(layer.scales.size(), 0);
  const std::vector<int64_t> dims(layer.scales.size() == 1 ? 0 : 1, layer.scales.size());
  model.addConstant(makeTensor<int8_t>(zero, onnx::TensorProto::INT8, dims, zeros));
  const std::string floats = model.freshName(name + "_DequantizeLinear_Output");
  onnx::NodeProto &expand = addNode("DequantizeLinear", floats, {weights, scale, zero});
  if (layer.axis >= 0)
    setAttribute(expand, "axis", layer.axis);
  node.set_input(1, floats);
  if (layer.bias.empty())
    return;

  std::vector<float> units;
  for (float each : layer.scales)
    units.push_back(layer.inputScale * each);
  // Where a scale serves several channels (groups of a transposed convolution) the bias still has
  // one value per channel.
  if (units.size() > 1)
    for (size_t i = units.size(); i < layer.bias.size(); ++i)
      units.push_back(units[i - layer.scales.size()]);
  const std::string bias = node.output(0) + "_bias";
  const std::string integers = model.freshName(bias + "_quantized");
  model.addConstant(makeTensor<int32_t>(integers, onnx::TensorProto::INT32,
                                        {int64_t(layer.bias.size())}, layer.bias));
  const std::string unit = addScale(bias + "_scale", units);
  const std::string biasFloats = model.freshName(bias + "_DequantizeLinear_Output");
  onnx::NodeProto &expandBias = addNode("DequantizeLinear", biasFloats, {integers, unit});
  if (units.size() > 1)
    setAttribute(expandBias, "axis", int64_t(0));
  if (node.input_size() < 3)
    node.add_input("");
  node.set_input(2, biasFloats);
}

std::vector<std::string> Writer::run() {
  std::vector<std::string> names;
  std::map<std::string, std::string> sources; // where the float values come from
  std::map<std::string, const TensorEntry *> entries;
  auto add = [&](const TensorEntry &entry, const std::string &source) {
    isDeploy ? addDeployPair(entry, source) : addPair(entry, source);
  };
  for (const TensorEntry &entry : table.tensors) {
    entries[entry.name] = &entry;
    const bool isResult = model.isOutput(entry.name) && model.findProducer(entry.name);
    const std::string to = isDeploy ? "_AscendQuant" : "_QuantizeLinear";
    const std::string from = isDeploy ? "_AscendAntiQuant" : "_DequantizeLinear";
    sources[entry.name] = isResult ? model.freshName(entry.name + to + "_Input") : entry.name;
    dequantized[entry.name] =
        isResult ? entry.name : model.freshName(entry.name + from + "_Output");
    quantized[entry.name] = model.freshName(entry.name + to + "_Output");
    names.push_back(dequantized[entry.name]);
  }
  for (const onnx::ValueInfoProto &input : model.graph().input())
    if (auto entry = entries.find(input.name()); entry != entries.end())
      add(*entry->second, input.name());
  for (onnx::NodeProto &original : *model.graph().mutable_node()) {
    onnx::NodeProto node = original;
    const TensorEntry *layerInput;
    const LayerEntry *entry = layerOf(node, layerInput);
    auto layer = entry ? makeIntegers(model, node, *entry, *layerInput) : std::nullopt;
    const std::string output = node.output_size() ? node.output(0) : "";
    std::string sumScales;
    if (layer && isDeploy)
      sumScales = addDeployLayer(node, *layer, *layerInput);
    else if (layer)
      addLayer(node, *layer);
    for (std::string &input : *node.mutable_input())
      if (auto known = dequantized.find(input); known != dequantized.end())
        input = known->second;
    onnx::NodeProto &last = *result.add_node();
    last = std::move(node);
    onnx::NodeProto *makes = &last;
    if (!sumScales.empty())
      makes = &addNode("AscendDequant", output, {last.output(0), sumScales});
    std::vector<const TensorEntry *> made;
    for (std::string &output : *makes->mutable_output())
      if (auto entry = entries.find(output); entry != entries.end()) {
        made.push_back(entry->second);
        output = sources[output];
      }
    for (const TensorEntry *entry : made)
      add(*entry, sources[entry->name]);
  }
  *model.graph().mutable_node() = std::move(*result.mutable_node());
  model.index();
  // Where only layers read a tensor, nothing needs it as floats.
  model.removeNodes([&](const onnx::NodeProto &node) {
    return node.op_type() == "AscendAntiQuant" && !model.isOutput(node.output(0)) &&
           model.findUsers(node.output(0)).empty();
  });
  return names;
}

/// Writes the layer on integers; returns the scales of its accumulators.
std::string Writer::addDeployLayer(onnx::NodeProto &node, const IntegerLayer &layer,
                                   const TensorEntry &input) {
  const std::string output = node.output(0);
  const std::string weights = model.freshName(node.input(1) + "_quantized");
  model.addConstant(
      makeTensor<int8_t>(weights, onnx::TensorProto::INT8, layer.dims, layer.weights));
  node.set_input(0, quantized.at(input.name));
  node.set_input(1, weights);
  if (!layer.bias.empty()) {
    const std::string bias = model.freshName(output + "_bias_quantized");
    model.addConstant(makeTensor<int32_t>(bias, onnx::TensorProto::INT32,
                                          {int64_t(layer.bias.size())}, layer.bias));
    if (node.input_size() < 3)
      node.add_input("");
    node.set_input(2, bias);
  }
  if (const int32_t offset = deployOffset(input))
    setAttribute(node, "offset_x", int64_t(offset));
  node.set_output(0, model.freshName(output + "_AscendDequant_Input"));

  std::vector<uint64_t> packed;
  for (float scale : layer.scales)
    packed.push_back(packDequantScale(layer.inputScale * scale));
  const std::string scales = model.freshName(output + "_deq_scale");
  model.addConstant(
      makeTensor<uint64_t>(scales, onnx::TensorProto::UINT64, {int64_t(packed.size())}, packed));
  return scales;
}

} // namespace

QdqModel writeQdq(const OnnxModel &model, const QuantTable &table) {
  QdqModel qdq(model);
  qdq.dequantized = Writer(qdq.model, table, /*isDeploy=*/false).run();
  return qdq;
}

OnnxModel writeDeploy(const OnnxModel &model, const QuantTable &table) {
  OnnxModel deploy(model);
  Writer(deploy, table, /*isDeploy=*/true).run();
  return deploy;
}

} // namespace atc::quantize
