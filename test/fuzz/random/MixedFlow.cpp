//===-- MixedFlow.cpp - branches, loops and sequences ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/random/MixedGraph.h"

namespace atc::fuzz {

using onnx::TensorProto;

/// Both branches compute from x, one of them also from a constant outside; the condition is an
/// element of a value, so that the compiler does not know it.
void MixedMaker::addIf(const Value &x) {
  const Value *source = nullptr;
  for (const Value &value : values)
    if (isExact(value) && value.type != TensorProto::BOOL && count(value.dims) > 0 &&
        !value.dims.empty())
      source = &value;
  if (!source || x.type == TensorProto::BOOL)
    return addUnary(x);
  const Value from = *source;
  const Value flat = result(node("Reshape", {from.name, integers({-1})}), from.type,
                            {count(from.dims)}, from.largest, from.grain);
  onnx::NodeProto &first = node("Gather", {flat.name, numbers(TensorProto::INT64, {}, {0})});
  const Value element = result(first, from.type, {}, from.largest, from.grain);
  onnx::NodeProto &cast = node("Cast", {element.name});
  setInt(cast, "to", TensorProto::BOOL);
  const Value condition = result(cast, TensorProto::BOOL, {}, 1, 1);
  const Value addend = constant(x.type, {}, 1, 1);
  read.insert(x.name);
  // The branches are made inside the node, whose address stays.
  onnx::NodeProto &made = node("If", {condition.name});
  auto branch = [&](const char *name, const char *op, const Names &inputs) {
    auto &attribute = *made.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    onnx::GraphProto &inside = *attribute.mutable_g();
    inside.set_name(name);
    onnx::NodeProto &only = *inside.add_node();
    only.set_op_type(op);
    for (const std::string &input : inputs)
      only.add_input(input);
    const std::string output = newName() + "b";
    only.add_output(output);
    addPort(*inside.add_output(), {output, x.type, x.dims}, false);
    // Branches may have other shapes for a compiler that does not compute them.
    if (chance(30))
      inside.mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  };
  branch("then_branch", "Add", {x.name, addend.name});
  branch("else_branch", isFloat(x.type) ? "Neg" : "Identity", {x.name});
  result(made, x.type, x.dims, isFloat(x.type) ? x.largest + 1 : 1e18, x.grain);
}

/// A carried value, and one that is collected where the loop has trips: ONNX does not say which
/// shape a value has that no iteration has made.
void MixedMaker::addLoop(const Value &x) {
  if (!isFloat(x.type) || count(x.dims) > 3000 || x.dims.size() > 4)
    return addUnary(x);
  const int64_t trips = below(5);
  const std::string bound = numbers(TensorProto::INT64, {}, {double(trips)});
  const Value step = constant(x.type, {}, 1, 0.5);
  onnx::NodeProto &made = node("Loop", {bound, "", x.name});
  auto &attribute = *made.add_attribute();
  attribute.set_name("body");
  attribute.set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto &body = *attribute.mutable_g();
  body.set_name("body");
  const std::string p = newName() + "_";
  addPort(*body.add_input(), {p + "i", TensorProto::INT64, {}}, false);
  addPort(*body.add_input(), {p + "k", TensorProto::BOOL, {}}, false);
  addPort(*body.add_input(), {p + "x", x.type, x.dims}, false);
  auto inside = [&](const char *op, const Names &inputs, const std::string &output) {
    onnx::NodeProto &one = *body.add_node();
    one.set_op_type(op);
    for (const std::string &input : inputs)
      one.add_input(input);
    one.add_output(output);
  };
  inside("Identity", {p + "k"}, p + "g");
  inside(chance(50) ? "Add" : "Mul", {p + "x", step.name}, p + "s");
  inside("Tanh", {p + "s"}, p + "t");
  inside("Relu", {p + "s"}, p + "r");
  addPort(*body.add_output(), {p + "g", TensorProto::BOOL, {}}, false);
  addPort(*body.add_output(), {p + "t", x.type, x.dims}, false);
  addPort(*body.add_output(), {p + "r", x.type, x.dims}, false);
  result(made, x.type, x.dims, x.largest + 1, 0);
  if (!trips)
    return;
  Dims collected = x.dims;
  collected.insert(collected.begin(), trips);
  result(made, x.type, collected);
}

/// A running sum over the first dim.
void MixedMaker::addScan(const Value &x) {
  if (!isFloat(x.type) || x.dims.empty() || !count(x.dims))
    return addMovement(x);
  const Dims row(x.dims.begin() + 1, x.dims.end());
  const Value start = constant(x.type, row, 1, 0.25);
  onnx::NodeProto &made = node("Scan", {start.name, x.name});
  setInt(made, "num_scan_inputs", 1);
  if (chance(30))
    setInts(made, "scan_input_directions", {1});
  auto &attribute = *made.add_attribute();
  attribute.set_name("body");
  attribute.set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto &body = *attribute.mutable_g();
  body.set_name("scan");
  const std::string p = newName() + "_";
  addPort(*body.add_input(), {p + "s", x.type, row}, false);
  addPort(*body.add_input(), {p + "x", x.type, row}, false);
  onnx::NodeProto &sum = *body.add_node();
  sum.set_op_type("Add");
  sum.add_input(p + "s");
  sum.add_input(p + "x");
  sum.add_output(p + "t");
  onnx::NodeProto &out = *body.add_node();
  out.set_op_type("Abs");
  out.add_input(p + "t");
  out.add_output(p + "o");
  addPort(*body.add_output(), {p + "t", x.type, row}, false);
  addPort(*body.add_output(), {p + "o", x.type, row}, false);
  const double largest = x.largest * double(x.dims[0]) + 1;
  result(made, x.type, row, largest, std::min(x.grain, start.grain));
  result(made, x.type, x.dims, largest, std::min(x.grain, start.grain));
}

/// A sequence that is made, changed and joined again.
void MixedMaker::addSequence(const Value &x) {
  if (x.dims.empty() || x.type == TensorProto::UINT8 || x.type == TensorProto::INT8 ||
      count(x.dims) > 5000)
    return addReshape(x);
  const int64_t rank = int64_t(x.dims.size()), axis = below(rank);
  auto sequence = [&](onnx::NodeProto &made) {
    made.add_output(newName() + "q");
    return made.output(0);
  };
  Dims dims = x.dims;
  std::string list;
  if (chance(50)) {
    onnx::NodeProto &made = node("SplitToSequence", {x.name});
    setInt(made, "axis", axis);
    list = sequence(made);
    if (!dims[size_t(axis)])
      return;
  } else {
    Names parts{x.name};
    for (int64_t i = below(3); i > 0; --i)
      parts.push_back(x.name);
    list = sequence(node("SequenceConstruct", parts));
    dims[size_t(axis)] *= int64_t(parts.size());
  }
  if (chance(30)) {
    Dims one = x.dims;
    list = sequence(node("SequenceInsert", {list, constant(x.type, one, 1, 1).name,
                                            numbers(TensorProto::INT64, {}, {0})}));
    dims[size_t(axis)] += one[size_t(axis)];
  }
  if (chance(30))
    result(node("SequenceLength", {list}), TensorProto::INT64, {}, 20, 1);
  onnx::NodeProto &made = node("ConcatFromSequence", {list});
  setInt(made, "axis", axis);
  result(made, x.type, dims, std::max(x.largest, 1.0), std::min(x.grain, 1.0));
}

} // namespace atc::fuzz
