//===-- ConvertQdq.cpp - models that were trained with quantization -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/ConvertQdq.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace atc::quantize {

namespace {

/// Returns the elements of an integer constant of 8 or 32 bits; nothing for other types.
std::optional<std::vector<int32_t>> readSmallInts(const onnx::TensorProto &tensor) {
  const std::string &raw = tensor.raw_data();
  std::vector<int32_t> values(tensor.int32_data().begin(), tensor.int32_data().end());
  switch (tensor.data_type()) {
  case onnx::TensorProto::INT8:
    for (char byte : raw)
      values.push_back(static_cast<int8_t>(byte));
    break;
  case onnx::TensorProto::UINT8:
    for (char byte : raw)
      values.push_back(static_cast<uint8_t>(byte));
    break;
  case onnx::TensorProto::INT32:
    for (size_t at = 0; at + 4 <= raw.size(); at += 4) {
      int32_t value;
      std::memcpy(&value, raw.data() + at, 4);
      values.push_back(value);
    }
    break;
  default:
    return std::nullopt;
  }
  if (int64_t(values.size()) != countElements(tensor))
    return std::nullopt;
  return values;
}

/// Holds the constants of a QuantizeLinear or DequantizeLinear.
struct Step {
  std::vector<float> scales;
  std::vector<int32_t> zeroPoints; ///< One per scale.
  bool isSigned = false;
  int64_t axis = 1;
};

class Converter {
public:
  Converter(OnnxModel &model, Diagnostics &diagnostics) : model(model), diagnostics(diagnostics) {}

  bool run(QuantTable &table);

private:
  std::optional<Step> readStep(const onnx::NodeProto &node);
  bool expandWeights(const onnx::NodeProto &node);
  bool expandConstant(const onnx::NodeProto &node, const std::vector<double> &integers,
                      const onnx::TensorProto &shape, const Step &step);
  void readActivation(const onnx::NodeProto &quantize, QuantTable &table);
  void rename(const std::string &from, const std::string &to);
  void addLayers(QuantTable &table);

  OnnxModel &model;
  Diagnostics &diagnostics;
  std::map<std::string, std::vector<float>> weightScales; ///< By the tensor that layers read.
  std::set<std::string> done;                             ///< Outputs of nodes to remove.
};

std::optional<Step> Converter::readStep(const onnx::NodeProto &node) {
  if (node.input_size() < 2)
    return std::nullopt;
  const onnx::TensorProto *scale = model.findConstant(node.input(1));
  auto scales = scale ? readFloats(*scale) : std::nullopt;
  if (!scales || scales->empty())
    return std::nullopt;
  Step step;
  step.scales = std::move(*scales);
  step.axis = intAttribute(node, "axis", 1);
  if (node.input_size() < 3 || node.input(2).empty()) {
    step.zeroPoints.assign(step.scales.size(), 0);
    return step;
  }
  const onnx::TensorProto *zero = model.findConstant(node.input(2));
  auto points = zero ? readSmallInts(*zero) : std::nullopt;
  if (!points || points->size() != step.scales.size())
    return std::nullopt;
  step.zeroPoints = std::move(*points);
  step.isSigned = zero->data_type() != onnx::TensorProto::UINT8;
  return step;
}

/// Replaces the dequantized values of integers by a constant with the name of the node's output.
bool Converter::expandConstant(const onnx::NodeProto &node, const std::vector<double> &integers,
                               const onnx::TensorProto &shape, const Step &step) {
  const std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  const int64_t axis = step.axis < 0 ? step.axis + int64_t(dims.size()) : step.axis;
  int64_t inner = 1;
  if (step.scales.size() > 1) {
    if (axis < 0 || axis >= int64_t(dims.size()) || dims[axis] != int64_t(step.scales.size())) {
      diagnostics.error("E10055", "'" + node.name() + "' has " + llvm::Twine(step.scales.size()) +
                                      " scales, which do not fit its constant");
      return false;
    }
    for (size_t at = axis + 1; at < dims.size(); ++at)
      inner *= dims[at];
  }
  std::vector<float> values(integers.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t channel = step.scales.size() > 1 ? (i / inner) % step.scales.size() : 0;
    values[i] = float((integers[i] - step.zeroPoints[channel]) * step.scales[channel]);
  }
  const std::string &output = node.output(0);
  model.addConstant(makeFloats(output, dims, values));
  weightScales[output] = step.scales;
  done.insert(output);
  return true;
}

/// Folds a DequantizeLinear of a constant: of integers, or of floats through QuantizeLinear.
/// Returns false after an error; nodes that it does not know stay.
bool Converter::expandWeights(const onnx::NodeProto &node) {
  const auto step = readStep(node);
  if (!step || node.input_size() < 1)
    return true;
  std::vector<double> integers;
  if (const onnx::TensorProto *constant = model.findConstant(node.input(0))) {
    auto values = readSmallInts(*constant);
    if (!values)
      return true;
    integers.assign(values->begin(), values->end());
    return expandConstant(node, integers, *constant, *step);
  }
  const onnx::NodeProto *quantize = model.findProducer(node.input(0));
  if (!quantize || quantize->op_type() != "QuantizeLinear" || quantize->input_size() < 1)
    return true;
  const onnx::TensorProto *floats = model.findConstant(quantize->input(0));
  auto values = floats ? readFloats(*floats) : std::nullopt;
  if (!values)
    return true;
  const double min = step->isSigned ? -128 : 0, max = step->isSigned ? 127 : 255;
  const Step &used = *step;
  int64_t inner = 1;
  const int64_t axis = used.axis < 0 ? used.axis + floats->dims_size() : used.axis;
  for (int at = int(axis) + 1; used.scales.size() > 1 && at < floats->dims_size(); ++at)
    inner *= floats->dims(at);
  for (size_t i = 0; i < values->size(); ++i) {
    const size_t channel = used.scales.size() > 1 ? (i / inner) % used.scales.size() : 0;
    const double stepped = std::nearbyint(double((*values)[i]) / used.scales[channel]);
    integers.push_back(std::clamp(stepped + used.zeroPoints[channel], min, max));
  }
  return expandConstant(node, integers, *floats, used);
}

void Converter::rename(const std::string &from, const std::string &to) {
  for (onnx::NodeProto &node : *model.graph().mutable_node())
    for (std::string &input : *node.mutable_input())
      if (input == from)
        input = to;
}

/// Reads the scale of an activation and leads its readers around the pair.
void Converter::readActivation(const onnx::NodeProto &quantize, QuantTable &table) {
  const auto step = readStep(quantize);
  if (!step || step->scales.size() != 1 || model.findConstant(quantize.input(0)))
    return;
  // Copies: rename() changes the node.
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const std::string source = quantize.input(0), integers = quantize.output(0);
  std::vector<std::string> floats;
  for (const onnx::NodeProto *user : model.findUsers(integers))
    if (user->op_type() == "DequantizeLinear")
      floats.push_back(user->output(0));
    else
      return; // something reads the integers themselves
  TensorEntry entry;
  entry.name = source;
  entry.params = {step->scales[0], step->zeroPoints[0], step->isSigned};
  entry.chosen = {entry.params.dequantize(entry.params.min()),
                  entry.params.dequantize(entry.params.max())};
  entry.seen = entry.chosen;
  for (const std::string &each : floats) {
    if (model.isOutput(each))
      return; // the pair rounds a result of the model
  }
  for (const std::string &each : floats) {
    rename(each, source);
    done.insert(each);
  }
  done.insert(integers);
  if (!table.findTensor(source))
    table.tensors.push_back(entry);
}

void Converter::addLayers(QuantTable &table) {
  for (const onnx::NodeProto &node : model.graph().node()) {
    const std::string &type = node.op_type();
    const bool isLayer =
        type == "Conv" || type == "ConvTranspose" || type == "Gemm" || type == "MatMul";
    if (!isLayer || node.input_size() < 2 || !table.findTensor(node.input(0)))
      continue;
    auto scales = weightScales.find(node.input(1));
    if (scales != weightScales.end())
      table.layers.push_back(
          {node.name(), type, node.input(0), node.output(0), scales->second, {}});
  }
}

bool Converter::run(QuantTable &table) {
  // Names first: the graph changes below.
  std::vector<onnx::NodeProto> quantizes, dequantizes;
  for (const onnx::NodeProto &node : model.graph().node()) {
    if (node.op_type() == "QuantizeLinear")
      quantizes.push_back(node);
    if (node.op_type() == "DequantizeLinear")
      dequantizes.push_back(node);
  }
  for (const onnx::NodeProto &node : dequantizes)
    if (!expandWeights(node))
      return false;
  for (const onnx::NodeProto &node : quantizes)
    readActivation(node, table);
  model.removeNodes([&](const onnx::NodeProto &node) {
    return node.output_size() == 1 && done.count(node.output(0)) != 0;
  });
  // Quantizers that are left without a reader have quantized only constants, which are gone.
  model.removeNodes([&](const onnx::NodeProto &node) {
    return node.op_type() == "QuantizeLinear" && !model.isOutput(node.output(0)) &&
           model.findUsers(node.output(0)).empty();
  });
  addLayers(table);
  return true;
}

} // namespace

std::unique_ptr<Quantization> convertQdq(const OnnxModel &model, const std::string &name,
                                         Diagnostics &diagnostics) {
  OnnxModel floats(model);
  auto result = std::make_unique<Quantization>();
  QuantTable &table = result->calibration.table;
  if (!upgradeOpset(floats, diagnostics) || !Converter(floats, diagnostics).run(table))
    return nullptr;
  if (table.layers.empty()) {
    diagnostics.error("E10055", "'" + name +
                                    "' has no convolution or matrix product whose input and "
                                    "weights go through QuantizeLinear and DequantizeLinear with "
                                    "constant scales; a float model is quantized by `amct "
                                    "calibrate`");
    return nullptr;
  }
  result->qdq = std::make_unique<QdqModel>(writeQdq(floats, table));
  result->deploy = std::make_unique<OnnxModel>(writeDeploy(floats, table));
  result->report.model = name;
  return result;
}

} // namespace atc::quantize
