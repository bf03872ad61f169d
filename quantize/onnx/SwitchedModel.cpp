//===-- SwitchedModel.cpp - layers in int8 or float by switches -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/SwitchedModel.h"

#include "quantize/onnx/OnnxHost.h"

#include <cstring>

namespace atc::quantize {

namespace {

/// Writes a float model in which every layer is there twice: as it is, and as a copy that reads
/// its input through an identity. A table of the identities and the copies then makes the usual
/// writer quantize the copies only.
class SwitchWriter {
public:
  SwitchWriter(const OnnxModel &floats, const QuantTable &table) : model(floats), table(table) {}

  onnx::ModelProto run() {
    onnx::GraphProto result;
    for (const onnx::NodeProto &node : model.graph().node()) {
      const LayerEntry *layer = node.output_size() ? table.findLayer(node.output(0)) : nullptr;
      if (layer)
        addLayer(node, *layer, result);
      else
        *result.add_node() = node;
    }
    *model.graph().mutable_node() = std::move(*result.mutable_node());
    // Inputs in the order of the table, whatever the order of the nodes.
    for (const LayerEntry &layer : table.layers)
      addSwitch(switches.at(layer.output));
    model.index();
    return writeQdq(model, copies).model.proto;
  }

private:
  static onnx::NodeProto &addNode(const char *type, std::initializer_list<std::string> inputs,
                                  const std::string &output, onnx::GraphProto &result) {
    return *result.add_node() = makeNode(type, output + "_node", inputs, output);
  }

  void addSwitch(const std::string &name) {
    onnx::ValueInfoProto &input = *model.graph().add_input();
    input.set_name(name);
    auto &type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    type.mutable_shape()->add_dim()->set_dim_value(1);
  }

  /// Returns the identity of a tensor that the copies of its layers read.
  const std::string &identityOf(const std::string &tensor, onnx::GraphProto &result) {
    auto [known, isNew] = identities.try_emplace(tensor);
    if (isNew) {
      known->second = model.freshName(tensor + "_copied");
      addNode("Identity", {tensor}, known->second, result);
      TensorEntry entry = *table.findTensor(tensor);
      entry.name = known->second;
      copies.tensors.push_back(std::move(entry));
    }
    return known->second;
  }

  void addLayer(const onnx::NodeProto &node, const LayerEntry &layer, onnx::GraphProto &result) {
    const std::string &output = layer.output;
    const std::string inFloat = model.freshName(output + "_float");
    const std::string inInt8 = model.freshName(output + "_int8");
    const std::string error = model.freshName(output + "_error");
    const std::string switched = model.freshName(output + "_switched");
    const std::string &flag = switches[output] = model.freshName(output + "_switch");
    LayerEntry entry = layer;
    entry.input = identityOf(layer.input, result);
    entry.output = inInt8;

    onnx::NodeProto copy = node;
    copy.set_input(0, entry.input);
    copy.set_output(0, inInt8);
    copy.set_name(inInt8 + "_node");
    *result.add_node() = std::move(copy);
    onnx::NodeProto &original = *result.add_node();
    original = node;
    original.set_output(0, inFloat);
    addNode("Sub", {inInt8, inFloat}, error, result);
    addNode("Mul", {error, flag}, switched, result);
    addNode("Add", {inFloat, switched}, output, result);
    copies.layers.push_back(std::move(entry));
  }

  OnnxModel model;
  const QuantTable &table;
  QuantTable copies;
  std::map<std::string, std::string> identities, switches;
};

} // namespace

std::unique_ptr<SwitchedModel> SwitchedModel::compile(const Quantization &all,
                                                      const std::string &name,
                                                      mlir::MLIRContext &context,
                                                      Diagnostics &diagnostics) {
  std::unique_ptr<SwitchedModel> switched(new SwitchedModel());
  InputShapes shapes;
  for (const ::om::Tensor &input : all.calibration.host->inputs())
    shapes.emplace_back(input.name, input.dims);
  switched->numInputs = shapes.size();
  const QuantTable &table = all.calibration.table;
  switched->host =
      compileOnnx(SwitchWriter(*all.floats, table).run(), name, shapes, context, diagnostics);
  if (!switched->host)
    return nullptr;
  switched->inputs = switched->host->makeInputs();
  if (switched->inputs.size() == switched->numInputs + table.layers.size())
    return switched;
  diagnostics.error("E19999", "the layers of '" + name + "' cannot be measured one by one");
  return nullptr;
}

bool SwitchedModel::run(const std::vector<::om::Buffer> &sample, Diagnostics &diagnostics) {
  for (size_t i = 0; i < numInputs; ++i)
    std::memcpy(inputs[i].data(), sample[i].data(), inputs[i].size());
  return host->run(inputs, diagnostics);
}

bool SwitchedModel::setSamples(const std::vector<std::vector<::om::Buffer>> &all, size_t count,
                               Diagnostics &diagnostics) {
  samples = llvm::ArrayRef(all).take_front(count);
  floats.clear();
  for (size_t i = numInputs; i < inputs.size(); ++i)
    *inputs[i].data<float>() = 0;
  for (const std::vector<::om::Buffer> &sample : samples) {
    if (!run(sample, diagnostics))
      return false;
    auto &outputs = floats.emplace_back();
    for (size_t i = 0; i < host->outputs().size(); ++i)
      outputs.push_back(host->floats(i).vec());
  }
  return true;
}

std::optional<std::vector<double>> SwitchedModel::measure(const std::vector<bool> &isInt8,
                                                          Diagnostics &diagnostics) {
  for (size_t i = 0; i < isInt8.size(); ++i)
    *inputs[numInputs + i].data<float>() = isInt8[i] ? 1 : 0;
  std::vector<ComparisonSums> sums(host->outputs().size());
  for (size_t at = 0; at < samples.size(); ++at) {
    if (!run(samples[at], diagnostics))
      return std::nullopt;
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i].add(floats[at][i], host->floats(i));
  }
  std::vector<double> cosines;
  for (size_t i = 0; i < sums.size(); ++i)
    if (host->outputs()[i].dtype == OM_F32)
      cosines.push_back(sums[i].result("").cosine);
  return cosines;
}

} // namespace atc::quantize
