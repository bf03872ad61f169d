//===-- OnnxOpset.cpp - models of old opsets in the words of opset 13 -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/OnnxModel.h"

namespace atc::quantize {

namespace {

constexpr int64_t targetOpset = 13;

/// Rewrites one node after the other in place; added nodes are inserted before or after the node.
class Upgrade {
public:
  Upgrade(OnnxModel &model, Diagnostics &diagnostics)
      : model(model), diagnostics(diagnostics), from(model.opset()) {}

  bool run() {
    onnx::GraphProto result;
    for (onnx::NodeProto &node : *model.graph().mutable_node()) {
      before.clear();
      after.clear();
      upgrade(node);
      for (onnx::NodeProto &added : before)
        *result.add_node() = std::move(added);
      *result.add_node() = node;
      for (onnx::NodeProto &added : after)
        *result.add_node() = std::move(added);
    }
    if (diagnostics.hasErrors())
      return false;
    *model.graph().mutable_node() = std::move(*result.mutable_node());
    model.setOpset(targetOpset);
    model.index();
    return true;
  }

private:
  void upgrade(onnx::NodeProto &node);
  void fail(const onnx::NodeProto &node, const std::string &reason) {
    diagnostics.error("E10055", "node '" + (node.name().empty() ? node.output(0) : node.name()) +
                                    "' (" + node.op_type() + ") of opset " + std::to_string(from) +
                                    " " + reason +
                                    ": convert the model to opset 13 with "
                                    "onnx.version_converter first");
  }

  std::string addInts(const onnx::NodeProto &node, const std::string &what,
                      const std::vector<int64_t> &values) {
    const std::string name = model.freshName(node.output(0) + "_" + what);
    model.addConstant(makeInts(name, values));
    return name;
  }
  std::string addFloats(const onnx::NodeProto &node, const std::string &what,
                        const std::vector<int64_t> &dims, const std::vector<float> &values) {
    const std::string name = model.freshName(node.output(0) + "_" + what);
    model.addConstant(makeFloats(name, dims, values));
    return name;
  }
  /// The list that an attribute is becomes the next input of the node.
  void listToInput(onnx::NodeProto &node, const std::string &name) {
    const onnx::AttributeProto *attribute = findAttribute(node, name);
    if (!attribute)
      return;
    const std::vector<int64_t> values(attribute->ints().begin(), attribute->ints().end());
    node.add_input(addInts(node, name, values));
    removeAttribute(node, name);
  }
  void upgradeClip(onnx::NodeProto &node);
  void upgradePad(onnx::NodeProto &node);
  void upgradeSlice(onnx::NodeProto &node);
  void upgradeResize(onnx::NodeProto &node);
  void upgradeSoftmax(onnx::NodeProto &node);

  OnnxModel &model;
  Diagnostics &diagnostics;
  const int64_t from;
  std::vector<onnx::NodeProto> before, after;
};

void Upgrade::upgradeClip(onnx::NodeProto &node) {
  const onnx::AttributeProto *min = findAttribute(node, "min"), *max = findAttribute(node, "max");
  const std::string minValue = min ? addFloats(node, "min", {}, {min->f()}) : "";
  const std::string maxValue = max ? addFloats(node, "max", {}, {max->f()}) : "";
  if (min || max)
    node.add_input(minValue);
  if (max)
    node.add_input(maxValue);
  removeAttribute(node, "min");
  removeAttribute(node, "max");
}

void Upgrade::upgradePad(onnx::NodeProto &node) {
  if (!findAttribute(node, "pads"))
    return fail(node, "has no pads");
  listToInput(node, "pads");
  if (const onnx::AttributeProto *value = findAttribute(node, "value"))
    node.add_input(addFloats(node, "value", {}, {value->f()}));
  removeAttribute(node, "value");
}

void Upgrade::upgradeSlice(onnx::NodeProto &node) {
  if (!findAttribute(node, "starts") || !findAttribute(node, "ends"))
    return fail(node, "has no starts and ends");
  listToInput(node, "starts");
  listToInput(node, "ends");
  listToInput(node, "axes");
}

/// Resize of opset 10, and Upsample before it: pixels at x / scale, rounded down.
void Upgrade::upgradeResize(onnx::NodeProto &node) {
  std::string scales = node.input_size() > 1 ? node.input(1) : "";
  if (const onnx::AttributeProto *attribute = findAttribute(node, "scales"))
    scales = addFloats(node, "scales", {attribute->floats_size()},
                       {attribute->floats().begin(), attribute->floats().end()});
  if (scales.empty())
    return fail(node, "has no scales");
  const onnx::AttributeProto *mode = findAttribute(node, "mode");
  const std::string how = !mode || mode->s() == "nearest" ? "nearest" : "linear";
  const std::string input = node.input(0);
  node.set_op_type("Resize");
  node.clear_input();
  for (const std::string &name : {input, std::string(), scales})
    node.add_input(name);
  removeAttribute(node, "scales");
  setAttribute(node, "mode", how);
  setAttribute(node, "coordinate_transformation_mode", std::string("asymmetric"));
  if (how == "nearest")
    setAttribute(node, "nearest_mode", std::string("floor"));
}

/// Rewrites a softmax that treats all dims from `axis` on as one.
void Upgrade::upgradeSoftmax(onnx::NodeProto &node) {
  const int64_t axis = intAttribute(node, "axis", 1);
  if (axis == -1)
    return setAttribute(node, "axis", int64_t(-1));
  const std::string input = node.input(0), output = node.output(0);
  const std::string shape = model.freshName(output + "_shape");
  const std::string flat = model.freshName(output + "_flat");
  const std::string result = model.freshName(output + "_of_rows");
  auto make = [&](std::vector<onnx::NodeProto> &list, const char *op, const std::string &to,
                  std::vector<std::string> inputs) {
    list.push_back(makeNode(op, to, inputs, to));
  };
  make(before, "Shape", shape, {input});
  make(before, "Flatten", flat, {input});
  setAttribute(before.back(), "axis", axis);
  make(after, "Reshape", output, {result, shape});
  node.set_input(0, flat);
  node.set_output(0, result);
  setAttribute(node, "axis", int64_t(-1));
}

void Upgrade::upgrade(onnx::NodeProto &node) {
  const std::string &op = node.op_type();
  if (!node.domain().empty() && node.domain() != "ai.onnx")
    return;
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.has_g() || attribute.graphs_size() > 0)
      return fail(node, "has a body of nodes, whose opset is not changed here");
  if (op == "Upsample" || (op == "Resize" && from < 11))
    return upgradeResize(node);
  if (op == "Slice" && from < 10)
    return upgradeSlice(node);
  if ((op == "Clip" || op == "Pad") && from < 11)
    return op == "Clip" ? upgradeClip(node) : upgradePad(node);
  if (op == "TopK" && from < 10) {
    node.add_input(addInts(node, "k", {intAttribute(node, "k", 1)}));
    return removeAttribute(node, "k");
  }
  if (op == "Softmax" || op == "LogSoftmax" || op == "Hardmax")
    return upgradeSoftmax(node);
  if (op == "Squeeze" || op == "Unsqueeze" || op == "ReduceSum")
    return listToInput(node, "axes");
  if (op == "Split")
    return listToInput(node, "split");
  if (op == "Dropout" && findAttribute(node, "ratio"))
    return removeAttribute(node, "ratio"); // nothing is dropped at inference
  if (op == "BatchNormalization" && from < 9)
    return removeAttribute(node, "spatial");
  if (op == "Scan" || (op == "Gemm" && findAttribute(node, "broadcast")))
    fail(node, "is written in another way in opset 13");
}

} // namespace

bool upgradeOpset(OnnxModel &model, Diagnostics &diagnostics) {
  // Constants need not be inputs from this version of the format on.
  constexpr int64_t irVersion = 7;
  if (model.proto.ir_version() < irVersion)
    model.proto.set_ir_version(irVersion);
  if (model.opset() >= targetOpset)
    return true;
  return Upgrade(model, diagnostics).run();
}

} // namespace atc::quantize
