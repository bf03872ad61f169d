//===-- FunctionWriter.h - writes functions of standard operators ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_OPS_FUNCTIONWRITER_H
#define OPENATC_FRONTENDS_ONNX_OPS_FUNCTIONWRITER_H

#include <limits>

#include <google/protobuf/unknown_field_set.h>

#include "frontends/onnx/NodeWriter.h"
#include "frontends/onnx/ops/FunctionAttributes.h"

namespace atc::onnx_import {

/// Returns whether the node has the input, by its number.
inline bool hasInput(const onnx::NodeProto &node, int index) {
  return index < node.input_size() && !node.input(index).empty();
}

/// Returns an attribute of the node, or null.
inline const onnx::AttributeProto *findAttribute(const onnx::NodeProto &node,
                                                 llvm::StringRef name) {
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

/// Returns an integer attribute of the node, or `fallback` where it is left out.
inline int64_t integerOf(const onnx::NodeProto &node, llvm::StringRef name, int64_t fallback) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? attribute->i() : fallback;
}

/// Writes the body of a function of opset 20.
class FunctionWriter {
public:
  using Names = std::vector<std::string>;
  using Ints = llvm::SmallVector<int64_t>;

  FunctionWriter(const Names &inputs, const Names &outputs) {
    for (const std::string &input : inputs)
      function.add_input(input);
    for (const std::string &output : outputs)
      function.add_output(output);
    function.add_opset_import()->set_version(20);
  }

  /// Adds a node of one or more outputs.
  onnx::NodeProto &add(const char *op, const Names &inputs, const Names &outputs,
                       const OnnxAttributes &attributes = {}) {
    onnx::NodeProto &node = addOnnxNode(graph, op, outputs.front(), inputs, attributes);
    for (const std::string &output : outputs)
      node.add_output(output);
    return node;
  }
  /// Adds a node of one output and returns that output's name.
  std::string make(const char *op, const Names &inputs, const OnnxAttributes &attributes = {}) {
    const std::string output = "value" + std::to_string(graph.node_size());
    add(op, inputs, {output}, attributes);
    return output;
  }

  /// Return constants: a vector, or a scalar.
  std::string integers(Ints values) {
    return make("Constant", {}, {{"value_ints", std::move(values)}});
  }
  std::string number(double value) { return make("Constant", {}, {{"value_float", value}}); }

  /// Return an attribute of the call as a constant.
  std::string integer(const char *attribute) {
    return parameter(attribute, "value_int", Type::INT);
  }
  std::string integerList(const char *attribute) {
    return parameter(attribute, "value_ints", Type::INTS);
  }
  std::string real(const char *attribute) {
    return parameter(attribute, "value_float", Type::FLOAT);
  }
  std::string realList(const char *attribute) {
    return parameter(attribute, "value_floats", Type::FLOATS);
  }

  /// Sets what an attribute is where the call leaves it out.
  void setDefault(const char *name, int64_t value) {
    onnx::AttributeProto attribute;
    attribute.set_type(Type::INT);
    attribute.set_i(value);
    setDefault(name, attribute);
  }
  void setDefault(const char *name, float value) {
    onnx::AttributeProto attribute;
    attribute.set_type(Type::FLOAT);
    attribute.set_f(value);
    setDefault(name, attribute);
  }

  /// Sets attributes of the body's node to those of the call; what the call leaves out takes the
  /// default of the function, else of the standard operator.
  static void
  pass(onnx::NodeProto &node,
       llvm::ArrayRef<std::pair<const char *, onnx::AttributeProto::AttributeType>> names) {
    for (auto [name, type] : names)
      refer(node, name, name, type);
  }

  /// Passes the attributes that all forms of Conv have.
  static void passConv(onnx::NodeProto &conv) {
    pass(conv, {{"auto_pad", Type::STRING},
                {"dilations", Type::INTS},
                {"group", Type::INT},
                {"kernel_shape", Type::INTS},
                {"pads", Type::INTS},
                {"strides", Type::INTS}});
  }

  /// Returns the function; nothing can be added after that.
  onnx::FunctionProto take() {
    for (const onnx::NodeProto &node : graph.node())
      *function.add_node() = node;
    return std::move(function);
  }

private:
  using Type = onnx::AttributeProto;

  static void refer(onnx::NodeProto &node, const char *name, const char *of,
                    onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_ref_attr_name(of);
    attribute.set_type(type);
  }
  std::string parameter(const char *of, const char *name,
                        onnx::AttributeProto::AttributeType type) {
    const std::string output = make("Constant", {});
    refer(*graph.mutable_node(graph.node_size() - 1), name, of, type);
    return output;
  }
  void setDefault(const char *name, onnx::AttributeProto &attribute) {
    attribute.set_name(name);
    function.GetReflection()->MutableUnknownFields(&function)->AddLengthDelimited(
        kDefaultAttributesField, attribute.SerializeAsString());
  }

  onnx::FunctionProto function;
  onnx::GraphProto graph;
};

/// The end of a slice that takes all that is left.
constexpr int64_t toEnd = std::numeric_limits<int64_t>::max();

/// Returns x[..., begin:end, ...] along an axis.
inline std::string slice(FunctionWriter &w, const std::string &x, int64_t begin, int64_t end,
                         int64_t axis) {
  return w.make("Slice", {x, w.integers({begin}), w.integers({end}), w.integers({axis})});
}

/// The attributes of casts to f32 and to the type of indices.
inline const OnnxAttributes toReal = {{"to", int64_t(onnx::TensorProto::FLOAT)}};
inline const OnnxAttributes toIndex = {{"to", int64_t(onnx::TensorProto::INT64)}};

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_OPS_FUNCTIONWRITER_H
