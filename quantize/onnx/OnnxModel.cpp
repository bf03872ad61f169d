//===-- OnnxModel.cpp - an ONNX model that is being rewritten -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/OnnxModel.h"

#include "frontends/ModelFile.h"
#include "frontends/onnx/ExternalFiles.h"
#include "llvm/Support/Path.h"

#include <cstring>

namespace atc::quantize {

static constexpr FileFormat fileFormat{"an ONNX model", "ONNX",
                                       ": store the weights as external data"};

template <typename T, typename List>
static std::vector<T> readElements(const onnx::TensorProto &tensor, const List &list) {
  if (!tensor.has_raw_data())
    return {list.begin(), list.end()};
  std::vector<T> values(tensor.raw_data().size() / sizeof(T));
  std::memcpy(values.data(), tensor.raw_data().data(), values.size() * sizeof(T));
  return values;
}

int64_t countElements(const onnx::TensorProto &tensor) {
  int64_t count = 1;
  for (int64_t dim : tensor.dims())
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count))
      return -1;
  return count;
}

std::optional<std::vector<float>> readFloats(const onnx::TensorProto &tensor) {
  if (tensor.data_type() != onnx::TensorProto::FLOAT)
    return std::nullopt;
  std::vector<float> values = readElements<float>(tensor, tensor.float_data());
  if (int64_t(values.size()) != countElements(tensor))
    return std::nullopt;
  return values;
}

std::optional<std::vector<int64_t>> readInts(const onnx::TensorProto &tensor) {
  std::vector<int64_t> values;
  if (tensor.data_type() == onnx::TensorProto::INT64) {
    values = readElements<int64_t>(tensor, tensor.int64_data());
  } else if (tensor.data_type() == onnx::TensorProto::INT32) {
    const auto narrow = readElements<int32_t>(tensor, tensor.int32_data());
    values.assign(narrow.begin(), narrow.end());
  } else {
    return std::nullopt;
  }
  if (int64_t(values.size()) != countElements(tensor))
    return std::nullopt;
  return values;
}

onnx::TensorProto makeFloats(const std::string &name, const std::vector<int64_t> &dims,
                             const std::vector<float> &values) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  return tensor;
}

onnx::TensorProto makeInts(const std::string &name, const std::vector<int64_t> &values) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(values.size());
  tensor.set_raw_data(values.data(), values.size() * sizeof(int64_t));
  return tensor;
}

onnx::NodeProto makeNode(const std::string &type, const std::string &name,
                         llvm::ArrayRef<std::string> inputs, const std::string &output) {
  onnx::NodeProto node;
  node.set_op_type(type);
  node.set_name(name);
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(output);
  return node;
}

const onnx::AttributeProto *findAttribute(const onnx::NodeProto &node, const std::string &name) {
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t intAttribute(const onnx::NodeProto &node, const std::string &name, int64_t otherwise) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? attribute->i() : otherwise;
}

static onnx::AttributeProto &freshAttribute(onnx::NodeProto &node, const std::string &name) {
  removeAttribute(node, name);
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name);
  return attribute;
}

void setAttribute(onnx::NodeProto &node, const std::string &name, int64_t value) {
  onnx::AttributeProto &attribute = freshAttribute(node, name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void setAttribute(onnx::NodeProto &node, const std::string &name, const std::string &value) {
  onnx::AttributeProto &attribute = freshAttribute(node, name);
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s(value);
}

void removeAttribute(onnx::NodeProto &node, const std::string &name) {
  auto &attributes = *node.mutable_attribute();
  for (int i = attributes.size(); i-- > 0;)
    if (attributes[i].name() == name)
      attributes.DeleteSubrange(i, 1);
}

std::unique_ptr<OnnxModel> OnnxModel::read(const std::string &path, Diagnostics &diagnostics) {
  onnx::ModelProto proto;
  if (!parseFile(path, fileFormat, proto, diagnostics))
    return nullptr;
  std::unique_ptr<OnnxModel> model(new OnnxModel(std::move(proto)));
  if (!model->loadExternalData(llvm::sys::path::parent_path(path).str(), diagnostics))
    return nullptr;
  return model;
}

std::unique_ptr<OnnxModel> OnnxModel::parse(llvm::StringRef bytes, const std::string &name,
                                            const std::string &folder, Diagnostics &diagnostics) {
  onnx::ModelProto proto;
  if (!parseBytes(bytes, name, fileFormat, proto, diagnostics))
    return nullptr;
  std::unique_ptr<OnnxModel> model(new OnnxModel(std::move(proto)));
  if (!model->loadExternalData(folder, diagnostics))
    return nullptr;
  return model;
}

/// Loads external data, because the result is written as one file with all its weights.
bool OnnxModel::loadExternalData(const std::string &folder, Diagnostics &diagnostics) {
  const bool done = onnx_import::loadExternalData(graph(), folder, diagnostics);
  index();
  return done && !diagnostics.hasErrors();
}

int64_t OnnxModel::opset() const {
  for (const onnx::OperatorSetIdProto &import : proto.opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx")
      return import.version();
  return 0;
}

void OnnxModel::setOpset(int64_t version) {
  for (onnx::OperatorSetIdProto &import : *proto.mutable_opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx")
      import.set_version(version);
}

void OnnxModel::index() {
  constants.clear();
  producers.clear();
  users.clear();
  outputs.clear();
  names.clear();
  for (onnx::TensorProto &tensor : *graph().mutable_initializer()) {
    constants[tensor.name()] = &tensor;
    names.insert(tensor.name());
  }
  for (const onnx::ValueInfoProto &input : graph().input())
    names.insert(input.name());
  for (const onnx::ValueInfoProto &output : graph().output())
    outputs.insert(output.name());
  for (onnx::NodeProto &node : *graph().mutable_node()) {
    for (const std::string &output : node.output()) {
      producers[output] = &node;
      names.insert(output);
    }
    for (const std::string &input : node.input()) {
      std::vector<onnx::NodeProto *> &list = users[input];
      if (list.empty() || list.back() != &node)
        list.push_back(&node);
    }
    // Tensors that the body of an If or Loop reads from outside are read by the node.
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        for (const onnx::NodeProto &inner : attribute.g().node())
          for (const std::string &input : inner.input())
            users[input].push_back(&node);
  }
}

onnx::TensorProto *OnnxModel::findConstant(const std::string &tensor) {
  auto found = constants.find(tensor);
  return found == constants.end() ? nullptr : found->second;
}

onnx::NodeProto *OnnxModel::findProducer(const std::string &tensor) {
  auto found = producers.find(tensor);
  return found == producers.end() ? nullptr : found->second;
}

std::vector<onnx::NodeProto *> OnnxModel::findUsers(const std::string &tensor) {
  auto found = users.find(tensor);
  return found == users.end() ? std::vector<onnx::NodeProto *>() : found->second;
}

std::set<std::string> OnnxModel::variableNames() {
  std::set<std::string> result;
  for (const auto &[name, node] : producers)
    result.insert(name);
  for (const onnx::ValueInfoProto &input : graph().input())
    if (!constants.count(input.name()))
      result.insert(input.name());
  result.erase("");
  return result;
}

std::string OnnxModel::freshName(const std::string &wanted) {
  std::string name = wanted;
  for (int i = 2; !names.insert(name).second; ++i)
    name = wanted + "_" + std::to_string(i);
  return name;
}

onnx::TensorProto &OnnxModel::addConstant(onnx::TensorProto tensor) {
  onnx::TensorProto &added = *graph().add_initializer();
  added = std::move(tensor);
  constants[added.name()] = &added;
  names.insert(added.name());
  return added;
}

static constexpr const char *balancedKey = "openatc.balanced_tensors"; // one in a line

void OnnxModel::markBalanced(const std::string &tensor) {
  for (onnx::StringStringEntryProto &entry : *proto.mutable_metadata_props())
    if (entry.key() == balancedKey) {
      entry.mutable_value()->append("\n" + tensor);
      return;
    }
  onnx::StringStringEntryProto &entry = *proto.add_metadata_props();
  entry.set_key(balancedKey);
  entry.set_value(tensor);
}

std::set<std::string> OnnxModel::balancedTensors() const {
  std::set<std::string> tensors;
  for (const onnx::StringStringEntryProto &entry : proto.metadata_props())
    if (entry.key() == balancedKey) {
      llvm::SmallVector<llvm::StringRef> lines;
      llvm::StringRef(entry.value()).split(lines, '\n');
      for (llvm::StringRef line : lines)
        tensors.insert(line.str());
    }
  return tensors;
}

void OnnxModel::removeUnusedConstants() {
  index();
  auto &tensors = *graph().mutable_initializer();
  int kept = 0;
  for (int i = 0; i < tensors.size(); ++i)
    if (users.count(tensors[i].name()) || outputs.count(tensors[i].name())) {
      if (kept != i)
        tensors.SwapElements(kept, i);
      ++kept;
    }
  tensors.DeleteSubrange(kept, tensors.size() - kept);
}

} // namespace atc::quantize
