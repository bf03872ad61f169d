//===-- NodeWriter.cpp - nodes and constants of an ONNX model in memory ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/NodeWriter.h"

namespace atc {

static void setValue(onnx::AttributeProto &attribute, const OnnxValue &value) {
  if (const auto *integer = std::get_if<int64_t>(&value)) {
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(*integer);
  } else if (const auto *real = std::get_if<double>(&value)) {
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(static_cast<float>(*real));
  } else if (const auto *list = std::get_if<llvm::SmallVector<int64_t>>(&value)) {
    attribute.set_type(onnx::AttributeProto::INTS);
    for (int64_t item : *list)
      attribute.add_ints(item);
  } else if (const auto *words = std::get_if<std::vector<std::string>>(&value)) {
    attribute.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string &word : *words)
      attribute.add_strings(word);
  } else {
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(std::get<std::string>(value));
  }
}

onnx::NodeProto &addOnnxNode(onnx::GraphProto &graph, const char *op, const std::string &name,
                             llvm::ArrayRef<std::string> inputs, const OnnxAttributes &attributes) {
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(op);
  node.set_name(name);
  for (const std::string &input : inputs)
    node.add_input(input);
  for (const auto &[key, value] : attributes) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(key);
    setValue(attribute, value);
  }
  return node;
}

void addOnnxConstant(onnx::GraphProto &graph, const std::string &name, int type,
                     llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes) {
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  tensor.set_raw_data(bytes.data(), bytes.size());
}

} // namespace atc
