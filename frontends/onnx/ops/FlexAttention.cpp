//===-- FlexAttention.cpp - attention with graphs of the model inside -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operator is a formula of standard operators, between which the graphs of its attributes
// modify scores and probabilities. So it is imported as standard operators.

#include "frontends/onnx/ControlFlow.h"
#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/OpTable.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using onnx::AttributeProto;

namespace atc::onnx_import {

namespace {

/// Nodes of the newest opset, to be imported like the body of a function.
class Part {
public:
  Part(const onnx::NodeProto &whole, std::initializer_list<const char *> inputs) : whole(whole) {
    graph.set_name(whole.op_type());
    for (const char *input : inputs)
      graph.add_input()->set_name(input);
  }
  Part &add(const char *op, std::initializer_list<const char *> inputs, const char *output) {
    onnx::NodeProto &node = *graph.add_node();
    node.set_op_type(op);
    node.set_name(whole.name());
    for (const char *input : inputs)
      node.add_input(input);
    node.add_output(output);
    return *this;
  }
  /// Attributes of the node that was added last.
  Part &with(const char *name, int64_t value) {
    AttributeProto &made = attribute(name, AttributeProto::INT);
    made.set_i(value);
    return *this;
  }
  Part &with(const char *name, float value) {
    AttributeProto &made = attribute(name, AttributeProto::FLOAT);
    made.set_f(value);
    return *this;
  }
  Part &with(const char *name, std::initializer_list<int64_t> values) {
    AttributeProto &made = attribute(name, AttributeProto::INTS);
    for (int64_t value : values)
      made.add_ints(value);
    return *this;
  }
  /// Adds a node that returns dims [first, last) of a tensor.
  Part &dims(const char *tensor, int64_t first, int64_t last, const char *output) {
    return add("Shape", {tensor}, output).with("start", first).with("end", last);
  }
  /// The one output; null after an error.
  Value import(GraphImporter &importer, ArrayRef<Value> arguments, const char *output) {
    graph.add_output()->set_name(output);
    SmallVector<Value> results;
    return importer.importClosed(graph, latestOpset, arguments, results) ? results.front()
                                                                         : Value();
  }

private:
  AttributeProto &attribute(const char *name, AttributeProto::AttributeType type) {
    AttributeProto &made = *graph.mutable_node(graph.node_size() - 1)->add_attribute();
    made.set_name(name);
    made.set_type(type);
    return made;
  }
  const onnx::NodeProto &whole;
  onnx::GraphProto graph;
};

const AttributeProto *find(const onnx::NodeProto &node, StringRef name) {
  for (const AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

/// Returns the result of an attribute's graph for a value; the value itself where there is no
/// graph.
Value modify(GraphImporter &importer, const onnx::NodeProto &node, StringRef name, Value value) {
  const AttributeProto *attribute = find(node, name);
  if (!attribute || !value)
    return value;
  onnx::GraphProto graph = attribute->g();
  if (graph.input_size() != 1 || graph.output_size() != 1) {
    importer.diagnostics().error("E14001", describeNode(node) + ": the graph of attribute '" +
                                               name + "' has " + Twine(graph.input_size()) +
                                               " inputs and " + Twine(graph.output_size()) +
                                               " outputs, not one of each");
    return {};
  }
  SmallVector<Value> results;
  return importer.importBody(graph, {value}, results) ? results.front() : Value();
}

} // namespace

void importFlexAttention(GraphImporter &importer, onnx::NodeProto &node) {
  auto refuse = [&](const Twine &text) {
    importer.diagnostics().error("E14001", describeNode(node) + ": " + text);
  };
  if (node.input_size() != 3 || node.output_size() != 1)
    return refuse("has " + Twine(node.input_size()) + " inputs and " + Twine(node.output_size()) +
                  " outputs, not 3 and 1");
  Value q = importer.lookup(node.input(0)), k = importer.lookup(node.input(1)),
        v = importer.lookup(node.input(2));
  for (auto [i, value] : llvm::enumerate(ArrayRef{q, k, v})) {
    auto type = dyn_cast_or_null<TensorType>(value ? value.getType() : Type());
    if (!type || !isa<FloatType>(type.getElementType()) || (type.hasRank() && type.getRank() != 4))
      return refuse("input " + Twine(i) + " ('" + node.input(static_cast<int>(i)) +
                    "') is not a float tensor of rank 4");
  }
  int64_t precision =
      getElementTypeOrSelf(q).isF64() ? onnx::TensorProto::DOUBLE : onnx::TensorProto::FLOAT;
  if (const AttributeProto *stated = find(node, "softmax_precision"))
    precision = stated->i();

  // Query heads that share keys are contiguous: they are rows of one matrix.
  Part first(node, {"q", "k"});
  first.dims("k", 1, 2, "heads").dims("q", 3, 4, "size").dims("k", 2, 3, "keys");
  first.dims("q", 0, 3, "queries");
  first.add("Constant", {}, "same").with("value_ints", {0});
  first.add("Constant", {}, "rest").with("value_ints", {-1});
  if (const AttributeProto *scale = find(node, "scale")) {
    first.add("Constant", {}, "scale").with("value_float", scale->f());
  } else {
    first.add("Cast", {"size"}, "length").with("to", int64_t(onnx::TensorProto::FLOAT));
    first.add("Sqrt", {"length"}, "norm").add("Reciprocal", {"norm"}, "scale");
  }
  first.add("Sqrt", {"scale"}, "half").add("CastLike", {"half", "q"}, "factor");
  first.add("Concat", {"same", "heads", "rest", "size"}, "grouped").with("axis", int64_t(0));
  first.add("Reshape", {"q", "grouped"}, "rows").add("Mul", {"rows", "factor"}, "left");
  first.add("Mul", {"k", "factor"}, "scaled");
  first.add("Transpose", {"scaled"}, "right").with("perm", {0, 1, 3, 2});
  first.add("MatMul", {"left", "right"}, "products");
  first.add("Concat", {"queries", "keys"}, "whole").with("axis", int64_t(0));
  first.add("Reshape", {"products", "whole"}, "raw");
  first.add("Cast", {"raw"}, "scores").with("to", precision);
  Value scores = first.import(importer, {q, k}, "scores");
  scores = modify(importer, node, "score_mod", scores);
  if (!scores)
    return;

  Part second(node, {"scores"});
  second.add("Softmax", {"scores"}, "probabilities").with("axis", int64_t(-1));
  Value probabilities = second.import(importer, {scores}, "probabilities");
  probabilities = modify(importer, node, "prob_mod", probabilities);
  if (!probabilities)
    return;

  Part third(node, {"p", "q", "v"});
  third.dims("v", 1, 2, "heads").dims("p", 3, 4, "keys").dims("q", 0, 3, "queries");
  third.dims("v", 3, 4, "size");
  third.add("Constant", {}, "same").with("value_ints", {0});
  third.add("Constant", {}, "rest").with("value_ints", {-1});
  third.add("Concat", {"same", "heads", "rest", "keys"}, "grouped").with("axis", int64_t(0));
  third.add("Reshape", {"p", "grouped"}, "rows").add("CastLike", {"v", "p"}, "values");
  third.add("MatMul", {"rows", "values"}, "products");
  third.add("Concat", {"queries", "size"}, "whole").with("axis", int64_t(0));
  third.add("Reshape", {"products", "whole"}, "raw").add("CastLike", {"raw", "v"}, "y");
  if (Value y = third.import(importer, {probabilities, q, v}, "y"))
    importer.define(node.output(0), y);
}

} // namespace atc::onnx_import
