//===-- KnownFunctions.cpp - operators that are formulas of standard ones -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/KnownFunctions.h"

#include "frontends/onnx/NodeWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace atc::onnx_import {

namespace {

using llvm::ArrayRef;
using llvm::SmallVector;

/// Writes the body of a function of opset 17.
class Writer {
public:
  Writer(const char *op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
    function.set_name(op);
    function.set_domain("com.microsoft");
    for (const std::string &input : inputs)
      function.add_input(input);
    for (const std::string &output : outputs)
      function.add_output(output);
    function.add_opset_import()->set_version(17);
  }

  onnx::NodeProto &add(const char *op, std::vector<std::string> inputs,
                       std::vector<std::string> outputs, const OnnxAttributes &attributes = {}) {
    onnx::NodeProto &node = addOnnxNode(graph, op, outputs.front(), inputs, attributes);
    for (const std::string &output : outputs)
      node.add_output(output);
    return node;
  }
  /// Adds integers [values] as a tensor.
  void addIntegers(const std::string &name, SmallVector<int64_t> values) {
    add("Constant", {}, {name}, {{"value_ints", std::move(values)}});
  }
  onnx::FunctionProto take() {
    for (const onnx::NodeProto &node : graph.node())
      *function.add_node() = node;
    return std::move(function);
  }

private:
  onnx::FunctionProto function;
  onnx::GraphProto graph;
};

/// Sets the attributes of the body's node to those of the call; attributes that the call leaves out
/// take the defaults of the standard operator.
void passAttributes(onnx::NodeProto &node,
                    ArrayRef<std::pair<const char *, onnx::AttributeProto::AttributeType>> names) {
  for (auto [name, type] : names) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_ref_attr_name(name);
    attribute.set_type(type);
  }
}

/// The weights [directions, inputs, gates] have scales of directions, or of directions and gates;
/// those of LSTM are [directions, gates, inputs]. The numbers that the integers stand for are
/// multiplied in f32.
onnx::FunctionProto dynamicQuantizeLstm() {
  Writer w("DynamicQuantizeLSTM",
           {"X", "W", "R", "B", "lens", "h", "c", "P", "W_scale", "W_zero", "R_scale", "R_zero"},
           {"Y", "Y_h", "Y_c"});
  w.addIntegers("shape", {0, 1, -1});
  for (const std::string name : {"W", "R"}) {
    w.add("Reshape", {name + "_scale", "shape"}, {name + "_scales"});
    w.add("Reshape", {name + "_zero", "shape"}, {name + "_zeros"});
    w.add("Cast", {name}, {name + "_cast"}, {{"to", int64_t(onnx::TensorProto::FLOAT)}});
    w.add("Cast", {name + "_zeros"}, {name + "_shift"},
          {{"to", int64_t(onnx::TensorProto::FLOAT)}});
    w.add("Sub", {name + "_cast", name + "_shift"}, {name + "_whole"});
    w.add("Mul", {name + "_whole", name + "_scales"}, {name + "_real"});
    w.add("Transpose", {name + "_real"}, {name + "_gates"},
          {{"perm", SmallVector<int64_t>{0, 2, 1}}});
  }
  onnx::NodeProto &lstm =
      w.add("LSTM", {"X", "W_gates", "R_gates", "B", "lens", "h", "c", "P"}, {"Y", "Y_h", "Y_c"});
  using Type = onnx::AttributeProto;
  passAttributes(lstm, {{"activation_alpha", Type::FLOATS},
                        {"activation_beta", Type::FLOATS},
                        {"activations", Type::STRINGS},
                        {"clip", Type::FLOAT},
                        {"direction", Type::STRING},
                        {"hidden_size", Type::INT},
                        {"input_forget", Type::INT}});
  return w.take();
}

onnx::FunctionProto qLinearWhere() {
  Writer w("QLinearWhere",
           {"condition", "x", "x_scale", "x_zero", "y", "y_scale", "y_zero", "z_scale", "z_zero"},
           {"z"});
  w.add("DequantizeLinear", {"x", "x_scale", "x_zero"}, {"x_real"});
  w.add("DequantizeLinear", {"y", "y_scale", "y_zero"}, {"y_real"});
  w.add("Where", {"condition", "x_real", "y_real"}, {"z_real"});
  w.add("QuantizeLinear", {"z_real", "z_scale", "z_zero"}, {"z"});
  return w.take();
}

/// The distances of the rows [M, N] and [K, N] of two matrices.
onnx::FunctionProto distances(bool isSquared) {
  Writer w("CDist", {"a", "b"}, {"c"});
  w.addIntegers("one", {1});
  w.addIntegers("zero", {0});
  w.addIntegers("last", {-1});
  w.add("Unsqueeze", {"a", "one"}, {"rows"});
  w.add("Unsqueeze", {"b", "zero"}, {"columns"});
  w.add("Sub", {"rows", "columns"}, {"difference"});
  w.add("Mul", {"difference", "difference"}, {"square"});
  w.add("ReduceSum", {"square", "last"}, {isSquared ? "c" : "sum"}, {{"keepdims", int64_t(0)}});
  if (!isSquared)
    w.add("Sqrt", {"sum"}, {"c"});
  return w.take();
}

std::string metricOf(const onnx::NodeProto &node) {
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.name() == "metric")
      return attribute.s();
  return "sqeuclidean";
}

} // namespace

llvm::ArrayRef<onnx::FunctionProto> knownFunctions() {
  static const std::vector<onnx::FunctionProto> functions = [] {
    std::vector<onnx::FunctionProto> made;
    made.push_back(distances(/*isSquared=*/true));
    made.push_back(dynamicQuantizeLstm());
    made.push_back(qLinearWhere());
    return made;
  }();
  return functions;
}

const onnx::FunctionProto *findKnownFunction(const onnx::NodeProto &node) {
  if (node.domain() != "com.microsoft")
    return nullptr;
  if (node.op_type() == "CDist") {
    static const onnx::FunctionProto euclidean = distances(/*isSquared=*/false);
    const std::string metric = metricOf(node);
    if (metric == "euclidean")
      return &euclidean;
    if (metric != "sqeuclidean")
      return nullptr;
  }
  for (const onnx::FunctionProto &function : knownFunctions())
    if (function.name() == node.op_type())
      return &function;
  return nullptr;
}

} // namespace atc::onnx_import
