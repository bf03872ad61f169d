//===-- CaffeImport.cpp - Caffe models to the graph dialect ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/caffe/CaffeImport.h"

#include "frontends/UnsupportedOps.h"
#include "frontends/caffe/LayerTable.h"
#include "frontends/onnx/OnnxModel.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace atc::caffe {

namespace {

constexpr int64_t opset = 13;

/// Makes an ONNX model of a net.
class NetConverter {
public:
  NetConverter(Net &net, const OnnxImportOptions &options, Diagnostics &diagnostics)
      : net(net), options(options), inputShapes(options.inputShapes), diagnostics(diagnostics),
        graph(*model.mutable_graph()) {}

  /// Returns false after an error.
  bool run() {
    const unsigned before = diagnostics.numErrors();
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
    graph.set_name(net.name);
    findProducers();
    for (auto [name, shape] : llvm::zip(net.inputs, net.inputShapes))
      addInput(name, shape);
    for (size_t i = 0; i < net.layers.size(); ++i)
      if (needed[i])
        importLayer(i);
    if (!unsupported.empty())
      diagnostics.error("E13010", "there is no importer for these layers: " + unsupported.str());
    addOutputs();
    return diagnostics.numErrors() == before;
  }

  onnx::ModelProto &result() { return model; }
  const InputShapes &shapes() const { return inputShapes; }

private:
  //===--- Blobs and their producers ----------------------------------------===//

  static bool isInput(const pb::Layer &layer) { return layer.type() == "Input"; }

  /// Finds the layers that the asked outputs need, and the last of them that makes each blob
  /// (layers may work in place).
  void findProducers() {
    std::vector<SmallVector<size_t>> sources(net.layers.size());
    llvm::StringMap<size_t> current;
    for (auto [index, layer] : llvm::enumerate(net.layers)) {
      for (const std::string &bottom : layer.bottom())
        if (auto found = current.find(bottom); found != current.end())
          sources[index].push_back(found->second);
      for (const std::string &top : layer.top())
        current[top] = index;
    }
    needed.assign(net.layers.size(), options.outputs.empty());
    SmallVector<size_t> work;
    for (const std::string &output : options.outputs) {
      auto blob = current.find(output);
      if (blob != current.end())
        work.push_back(blob->second);
      for (auto [index, layer] : llvm::enumerate(net.layers))
        if (layer.name() == StringRef(output).rsplit(':').first || layer.name() == output)
          work.push_back(index);
    }
    while (!work.empty()) {
      const size_t index = work.pop_back_val();
      if (needed[index])
        continue;
      needed[index] = true;
      work.append(sources[index]);
    }
    // Inputs stay inputs, whoever reads them.
    for (auto [index, layer] : llvm::enumerate(net.layers))
      if (isInput(layer))
        needed[index] = true;
    // Layers that work in place behind the asked ones are not there.
    for (auto [index, layer] : llvm::enumerate(net.layers))
      if (needed[index])
        for (const std::string &top : layer.top())
          lastProducer[top] = index;
  }

  //===--- Inputs and outputs -----------------------------------------------===//

  void addInput(const std::string &name, Dims dims) {
    auto given = llvm::find_if(inputShapes, [&](const auto &item) { return item.first == name; });
    if (given != inputShapes.end())
      dims.assign(given->second.begin(), given->second.end());
    if (dims.empty() && given == inputShapes.end()) {
      diagnostics.error("E10002", "input '" + name +
                                      "' has no shape in the .prototxt: give it "
                                      "with --input_shape=\"" +
                                      name + ":1,3,224,224\"");
      failed.insert(name);
      return;
    }
    if (const auto *wrong = llvm::find_if(dims, [](int64_t dim) { return dim < -1; });
        wrong != dims.end()) {
      diagnostics.error("E14001", "input '" + name + "' has the dim " + Twine(*wrong) +
                                      ": expected a size, or -1 for a dynamic one");
      failed.insert(name);
      return;
    }
    onnx::ValueInfoProto &info = *graph.add_input();
    info.set_name(name);
    onnx::TypeProto::Tensor &type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    type.mutable_shape();
    for (int64_t &dim : dims) {
      dim = dim > 0 ? dim : -1;
      onnx::TensorShapeProto::Dimension &stated = *type.mutable_shape()->add_dim();
      if (dim > 0)
        stated.set_dim_value(dim);
    }
    values[name] = {name, dims};
  }

  void importInput(const pb::Layer &layer) {
    const pb::InputParameter &p = layer.input_param();
    for (int i = 0; i < layer.top_size(); ++i) {
      // Commands may name the layer where its blob has another name.
      if (layer.top_size() == 1)
        for (auto &[name, shape] : inputShapes)
          if (name == layer.name())
            name = layer.top(0);
      Dims dims;
      if (p.shape_size()) {
        const pb::Shape &shape = p.shape(p.shape_size() == 1 ? 0 : std::min(i, p.shape_size() - 1));
        dims.assign(shape.dim().begin(), shape.dim().end());
      }
      addInput(layer.top(i), dims);
    }
  }

  void addOutputs() {
    llvm::StringSet<> listed;
    for (auto [index, layer] : llvm::enumerate(net.layers))
      for (const std::string &top : layer.top()) {
        auto value = values.find(top);
        if (!needed[index] || isInput(layer) || lastProducer[top] != index ||
            value == values.end() || consumed.contains(value->second.name) ||
            !listed.insert(top).second)
          continue;
        onnx::ValueInfoProto &info = *graph.add_output();
        info.set_name(value->second.name);
      }
    if (graph.output().empty() && !diagnostics.hasErrors())
      diagnostics.error("E16004", "the net has no result: every blob is read by a layer");
  }

  //===--- Layers -----------------------------------------------------------===//

  void importLayer(size_t index) {
    const pb::Layer &layer = net.layers[index];
    if (isInput(layer))
      return importInput(layer);
    const LayerRow *row = findLayer(layer.type());
    const bool isSilence = layer.type() == "Silence";
    if (!row && !isSilence)
      unsupported.add(layer.type(), layer.name(), whyNoImporter(layer.type()));
    std::vector<Tensor> bottoms;
    bool isComplete = row != nullptr;
    for (const std::string &bottom : layer.bottom()) {
      auto value = values.find(bottom);
      if (value != values.end()) {
        consumed.insert(value->second.name);
        bottoms.push_back(value->second);
        continue;
      }
      isComplete = false;
      if (!failed.contains(bottom))
        diagnostics.error("E16001", "bottom '" + bottom + "' of layer '" + layer.name() +
                                        "' is made by no layer in front of it");
    }
    if (isSilence)
      return;
    if (!isComplete)
      return drop(layer);
    LayerContext context(graph, layer, net.blobs[layer.name()], std::move(bottoms), diagnostics);
    row->import(context);
    if (!context.failed())
      nameTops(context, index);
    if (context.failed())
      drop(layer);
    // The model holds a copy of the weights now.
    net.blobs.erase(layer.name());
  }

  void drop(const pb::Layer &layer) {
    for (const std::string &top : layer.top()) {
      values.erase(top);
      failed.insert(top);
    }
  }

  /// Names the results of a layer as its tops, and its last node as the layer.
  void nameTops(LayerContext &context, size_t index) {
    const pb::Layer &layer = net.layers[index];
    std::vector<Tensor> tops = context.takeTops();
    if (layer.top_size() > static_cast<int>(tops.size()))
      return context.fail("has " + Twine(layer.top_size()) + " tops, expected " +
                          Twine(tops.size()));
    for (int i = 0; i < layer.top_size(); ++i) {
      Tensor value = tops[i];
      if (!context.isOwn(value))
        value = context.node("Identity", {value}, value.dims);
      const std::string &top = layer.top(i);
      const std::string name = lastProducer[top] == index ? top : top + "@" + layer.name();
      rename(value.name, name, layer.name(), i);
      values[top] = {name, value.dims};
      failed.erase(top);
    }
  }

  void rename(const std::string &from, const std::string &to, const std::string &layer, int top) {
    for (onnx::NodeProto &node : llvm::reverse(*graph.mutable_node()))
      for (std::string &output : *node.mutable_output())
        if (output == from) {
          output = to;
          // Nodes with several results have been named with the first one.
          if (top == 0)
            node.set_name(layer);
          return;
        }
  }

  Net &net;
  const OnnxImportOptions &options;
  InputShapes inputShapes; ///< by the names of blobs
  Diagnostics &diagnostics;
  onnx::ModelProto model;
  onnx::GraphProto &graph;
  llvm::StringMap<size_t> lastProducer; ///< of blobs
  std::vector<bool> needed;             ///< layers, for the outputs that are asked for
  llvm::StringMap<Tensor> values;       ///< what blobs are where the import stands
  llvm::StringSet<> consumed;           ///< tensors that a layer reads
  llvm::StringSet<> failed;             ///< blobs that an error left without a value
  UnsupportedOps unsupported;
};

} // namespace

} // namespace atc::caffe

FailureOr<OwningOpRef<ModuleOp>> atc::importCaffe(StringRef prototxt, StringRef caffemodel,
                                                  const OnnxImportOptions &options,
                                                  MLIRContext &context, Diagnostics &diagnostics) {
  std::optional<caffe::Net> net = caffe::readNet(prototxt, caffemodel, diagnostics);
  if (!net)
    return failure();
  caffe::NetConverter converter(*net, options, diagnostics);
  if (!converter.run())
    return failure();
  OnnxImportOptions onnxOptions = options;
  onnxOptions.inputShapes = converter.shapes();
  return importOnnxModel(converter.result(), prototxt, onnxOptions, context, diagnostics);
}
