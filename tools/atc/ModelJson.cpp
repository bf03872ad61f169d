//===-- ModelJson.cpp - the graph of a model file as JSON -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/ModelFile.h"
#include "frontends/tf/SavedModel.h"
#include "frontends/tf/schema/tensorflow.pb.h"
#include "tools/atc/GraphJson.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <map>
#include <onnx/onnx_pb.h>

using Json = nlohmann::ordered_json;

namespace atc::tools {

namespace {

//===--- ONNX -------------------------------------------------------------===//

struct Description {
  om_dtype type = OM_UNDEFINED;
  std::vector<int64_t> dims;
  bool isKnown = false;
};

class OnnxGraph {
public:
  explicit OnnxGraph(const onnx::GraphProto &source) : source(source) {}

  Json run() {
    for (const onnx::TensorProto &tensor : source.initializer())
      tensors[tensor.name()] = {om_dtype(tensor.data_type()),
                                {tensor.dims().begin(), tensor.dims().end()},
                                /*isKnown=*/true};
    for (const auto *list : {&source.value_info(), &source.output(), &source.input()})
      for (const onnx::ValueInfoProto &info : *list)
        if (!tensors.count(info.name()))
          tensors[info.name()] = describe(info);
    for (const onnx::ValueInfoProto &input : source.input())
      addSource(input.name(), "Data");
    for (const onnx::TensorProto &tensor : source.initializer())
      addSource(tensor.name(), "Const");
    // Who makes what first: the nodes of a file need not be in order.
    std::vector<std::string> names;
    for (const onnx::NodeProto &node : source.node()) {
      names.push_back(nameOf(node, names.size()));
      for (int i = 0; i < node.output_size(); ++i)
        makers[node.output(i)] = {names.back(), i};
    }
    for (int i = 0; i < source.node_size(); ++i)
      addNode(source.node(i), names[i]);
    Json &end = graph.add("NetOutput", "NetOutput");
    for (const onnx::ValueInfoProto &output : source.output())
      addInput(end, output.name());
    return std::move(graph).finish(source.name());
  }

private:
  static Description describe(const onnx::ValueInfoProto &info) {
    const auto &type = info.type().tensor_type();
    Description result = {om_dtype(type.elem_type()), {}, type.has_shape()};
    for (const auto &dim : type.shape().dim())
      result.dims.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    return result;
  }

  static std::string nameOf(const onnx::NodeProto &node, size_t number) {
    if (!node.name().empty())
      return node.name();
    return node.op_type() + "_" + std::to_string(number);
  }

  Json tensor(const std::string &name) {
    const Description &known = tensors[name];
    return describeTensor(name, known.type, known.dims, known.dims.size() == 4 ? "NCHW" : "ND",
                          known.isKnown);
  }

  void addSource(const std::string &name, const char *type) {
    if (!makers.try_emplace(name, name, 0).second)
      return; // an initializer that is listed as an input too
    GraphJson::addOutput(graph.add(name, type), tensor(name));
  }

  void addInput(Json &op, const std::string &name) {
    if (name.empty())
      return;
    auto maker = makers.find(name);
    GraphJson::addInput(op, maker == makers.end() ? name : maker->second.first,
                        maker == makers.end() ? 0 : maker->second.second, tensor(name));
  }

  void addNode(const onnx::NodeProto &node, const std::string &name) {
    Json &op = graph.add(name, node.op_type());
    for (const std::string &input : node.input())
      addInput(op, input);
    for (const std::string &output : node.output())
      GraphJson::addOutput(op, tensor(output));
    for (const onnx::AttributeProto &attribute : node.attribute())
      GraphJson::addAttribute(op, attribute.name(), valueOf(attribute));
  }

  static Json valueOf(const onnx::AttributeProto &attribute) {
    switch (attribute.type()) {
    case onnx::AttributeProto::INT:
      return {{"i", attribute.i()}};
    case onnx::AttributeProto::FLOAT:
      return {{"f", attribute.f()}};
    case onnx::AttributeProto::STRING:
      return {{"s", attribute.s()}};
    case onnx::AttributeProto::INTS:
      return {{"list",
               {{"i", std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end())}}}};
    case onnx::AttributeProto::FLOATS:
      return {{"list",
               {{"f", std::vector<float>(attribute.floats().begin(), attribute.floats().end())}}}};
    case onnx::AttributeProto::STRINGS:
      return {{"list",
               {{"s", std::vector<std::string>(attribute.strings().begin(),
                                               attribute.strings().end())}}}};
    case onnx::AttributeProto::TENSOR:
      return {
          {"t", describeTensor(attribute.t().name(), om_dtype(attribute.t().data_type()),
                               {attribute.t().dims().begin(), attribute.t().dims().end()}, "ND")}};
    default: // graphs and sparse tensors, which only the model file describes
      return Json::object();
    }
  }

  const onnx::GraphProto &source;
  GraphJson graph;
  std::map<std::string, Description> tensors;
  std::map<std::string, std::pair<std::string, size_t>> makers;
};

//===--- TensorFlow -------------------------------------------------------===//

namespace pb = tf::pb;

om_dtype typeOf(pb::DataType type) {
  switch (type) {
  case pb::DT_FLOAT:
    return OM_F32;
  case pb::DT_DOUBLE:
    return OM_F64;
  case pb::DT_INT32:
    return OM_I32;
  case pb::DT_UINT8:
    return OM_U8;
  case pb::DT_INT16:
    return OM_I16;
  case pb::DT_INT8:
    return OM_I8;
  case pb::DT_STRING:
    return OM_STRING;
  case pb::DT_INT64:
    return OM_I64;
  case pb::DT_BOOL:
    return OM_BOOL;
  case pb::DT_BFLOAT16:
    return OM_BF16;
  case pb::DT_HALF:
    return OM_F16;
  case pb::DT_UINT16:
    return OM_U16;
  case pb::DT_UINT32:
    return OM_U32;
  case pb::DT_UINT64:
    return OM_U64;
  default:
    return OM_UNDEFINED;
  }
}

std::vector<int64_t> dimsOf(const pb::TensorShapeProto &shape) {
  std::vector<int64_t> dims;
  for (const auto &dim : shape.dim())
    dims.push_back(dim.size());
  return dims;
}

Json listOf(const pb::AttrValue::ListValue &list) {
  Json result = Json::object();
  auto add = [&](const char *key, const auto &values) {
    for (const auto &value : values)
      result[key].push_back(value);
  };
  add("s", list.s());
  add("i", list.i());
  add("f", list.f());
  add("b", list.b());
  for (int type : list.type())
    result["dt"].push_back(dataTypeName(typeOf(pb::DataType(type))));
  for (const auto &shape : list.shape())
    result["shape"].push_back({{"dim", dimsOf(shape)}});
  return result;
}

Json valueOf(const pb::AttrValue &value) {
  switch (value.value_case()) {
  case pb::AttrValue::kS:
    return {{"s", value.s()}};
  case pb::AttrValue::kI:
    return {{"i", value.i()}};
  case pb::AttrValue::kF:
    return {{"f", value.f()}};
  case pb::AttrValue::kB:
    return {{"b", value.b()}};
  case pb::AttrValue::kType:
    return {{"dt", dataTypeName(typeOf(value.type()))}};
  case pb::AttrValue::kShape:
    return {{"shape", {{"dim", dimsOf(value.shape())}}}};
  case pb::AttrValue::kTensor:
    return {{"t", describeTensor("", typeOf(value.tensor().dtype()),
                                 dimsOf(value.tensor().tensor_shape()), "ND")}};
  case pb::AttrValue::kList:
    return {{"list", listOf(value.list())}};
  default:
    return Json::object();
  }
}

class TfGraph {
public:
  explicit TfGraph(const pb::GraphDef &source) : source(source) {}

  Json run(const std::string &name) {
    for (const pb::NodeDef &node : source.node())
      nodes[node.name()] = &node;
    for (const pb::NodeDef &node : source.node())
      addNode(node);
    return std::move(graph).finish(name);
  }

private:
  /// Returns output 0 of a node, as far as its attributes describe it.
  Json output(const pb::NodeDef &node) {
    Description known;
    for (const char *key : {"dtype", "DstT", "T"})
      if (auto found = node.attr().find(key); found != node.attr().end() && !known.type)
        known.type = typeOf(found->second.type());
    auto take = [&](const pb::TensorShapeProto &shape) {
      known.dims = dimsOf(shape);
      known.isKnown = !shape.unknown_rank();
    };
    if (auto shape = node.attr().find("shape");
        shape != node.attr().end() && shape->second.has_shape())
      take(shape->second.shape());
    if (auto shapes = node.attr().find("_output_shapes");
        shapes != node.attr().end() && shapes->second.list().shape_size() > 0)
      take(shapes->second.list().shape(0));
    if (auto value = node.attr().find("value"); node.op() == "Const" && value != node.attr().end())
      take(value->second.tensor().tensor_shape());
    return describeTensor(node.name(), known.type, known.dims,
                          known.dims.size() == 4 ? "NHWC" : "ND", known.isKnown);
  }

  void addNode(const pb::NodeDef &node) {
    Json &op = graph.add(node.name(), node.op());
    for (const std::string &text : node.input()) {
      llvm::StringRef input = text;
      if (input.starts_with("^")) {
        op["input"].push_back(input.drop_front().str() + ":-1"); // an order, no tensor
        continue;
      }
      auto [name, number] = input.rsplit(':');
      unsigned index = 0;
      if (number.empty() || number.getAsInteger(10, index))
        name = input;
      auto maker = nodes.find(name.str());
      GraphJson::addInput(op, name.str(), index,
                          maker == nodes.end() ? Json::object() : output(*maker->second));
    }
    GraphJson::addOutput(op, output(node));
    std::map<std::string, const pb::AttrValue *> sorted;
    for (const auto &[key, value] : node.attr())
      sorted[key] = &value;
    for (const auto &[key, value] : sorted)
      GraphJson::addAttribute(op, key, valueOf(*value));
  }

  const pb::GraphDef &source;
  GraphJson graph;
  std::map<std::string, const pb::NodeDef *> nodes;
};

} // namespace

Json describeModelFile(const driver::ModelSource &source, Diagnostics &diagnostics) {
  if (source.format == driver::ModelFormat::Caffe)
    return describeTextMessage(source.path, diagnostics); // {"name": ..., "layer": [...]}
  if (source.format == driver::ModelFormat::Air)
    return describeAirFile(source.path, diagnostics);
  if (source.format != driver::ModelFormat::TensorFlow) {
    onnx::ModelProto model;
    if (!parseFile(source.path, {"an ONNX model", "ONNX"}, model, diagnostics))
      return nullptr;
    if (!model.has_graph()) {
      diagnostics.error("E16004", "'" + source.path + "' holds no graph");
      return nullptr;
    }
    return OnnxGraph(model.graph()).run();
  }
  const std::string name = llvm::sys::path::stem(llvm::StringRef(source.path).rtrim('/')).str();
  if (llvm::sys::fs::is_directory(source.path)) {
    auto model = tf_import::readSavedModel(source.path, diagnostics, source.signature);
    return model ? TfGraph(model->graph).run(name) : Json(nullptr);
  }
  pb::GraphDef graph;
  if (!parseFile(source.path, {"a frozen GraphDef", "GraphDef"}, graph, diagnostics))
    return nullptr;
  return TfGraph(graph).run(name);
}

} // namespace atc::tools
