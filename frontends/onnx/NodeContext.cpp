//===-- NodeContext.cpp - one ONNX node while it is imported --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/NodeContext.h"

#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h" // IWYU pragma: keep
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace atc::onnx_import {

NodeContext::NodeContext(GraphImporter &importer, onnx::NodeProto &node, int64_t opset)
    : NodeBuilder(importer.builder(), importer.diagnostics()), owner(importer), node(node),
      opsetVersion(opset), results(node.output_size()) {
  // An attribute of the first operators that never affected the result.
  if (opsetVersion < firstTableOpset)
    ignoreAttr("consumed_inputs");
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

bool NodeContext::hasInput(unsigned index) const {
  numAsked = std::max(numAsked, index + 1);
  return index < numInputs() && !node.input(index).empty();
}

Value NodeContext::optionalInput(unsigned index) {
  return hasInput(index) ? owner.lookup(node.input(index)) : Value();
}

Value NodeContext::input(unsigned index) {
  if (!hasInput(index))
    failInput(index, "is missing; the operator needs it");
  return optionalInput(index);
}

bool NodeContext::isConstantInput(unsigned index) {
  Value value = optionalInput(index);
  return value && matchPattern(value, m_Constant());
}

std::optional<SmallVector<int64_t>> NodeContext::constantInts(unsigned index) {
  ElementsAttr attr = integerAttr(index, optionalInput(index));
  if (!attr)
    return std::nullopt;
  return readInts(attr);
}

std::optional<SmallVector<double>> NodeContext::constantFloats(unsigned index) {
  ElementsAttr attr = constantAttr(index, optionalInput(index));
  if (!attr)
    return std::nullopt;
  return readFloats(attr);
}

std::optional<SmallVector<int64_t>> NodeContext::declaredShape(unsigned index, unsigned output) {
  if (hasFailed)
    return std::nullopt;
  std::optional<SmallVector<int64_t>> shape;
  if (wantsOutput(output))
    shape = owner.declaredShape(node.output(output));
  if (!shape) {
    failInput(index, "must be known at compile time, but depends on the inputs of the model");
    return std::nullopt;
  }
  diags.warning("W11001", "input " + Twine(index) + " ('" + node.input(index) + "') of " +
                              describeNode(node) +
                              " is not known at compile time: its result has the "
                              "shape that the model declares for it");
  return shape;
}

bool NodeContext::wantsOutput(unsigned index) const {
  return index < numOutputs() && !node.output(index).empty();
}

void NodeContext::setOutput(unsigned index, Value value) {
  if (index < results.size())
    results[index] = value;
}

void NodeContext::refuseOutput(unsigned index, StringRef what) {
  if (wantsOutput(index))
    failNode("output '" + node.output(index) + "' (" + what + ") is not supported");
}

void NodeContext::finishOutputs() {
  checkAttrsKnown();
  if (hasFailed)
    return;
  // A builder reads all inputs that its operator has.
  for (unsigned i = numAsked; i < numInputs(); ++i)
    if (!node.input(i).empty())
      failInput(i, "is one too many: the operator takes " + Twine(numAsked));
  for (unsigned i = 0; i < numOutputs(); ++i) {
    if (!wantsOutput(i))
      continue;
    if (!results[i])
      failNode("output '" + node.output(i) + "' is not made by this operator");
    if (hasFailed)
      return;
  }
  for (unsigned i = 0; i < numOutputs(); ++i) {
    if (!wantsOutput(i))
      continue;
    const std::string &name = node.output(i);
    owner.define(name, results[i]);
    setLocation(results[i], owner.tensorLocation(name, node.name()));
  }
}

void NodeContext::requireFloats(unsigned index) {
  if (Value value = input(index); !hasFailed && !isFloat(value))
    failInput(index, "must be of a floating-point type");
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

int64_t NodeContext::normalizeAxis(int64_t axis, int64_t rank, StringRef name) {
  if (axis < -rank || axis >= rank) {
    failAttribute(name, Twine(axis) + " is out of range for a tensor of rank " + Twine(rank));
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

SmallVector<int64_t> NodeContext::normalizeAxes(ArrayRef<int64_t> axes, int64_t rank,
                                                StringRef name) {
  SmallVector<int64_t> sorted;
  for (int64_t axis : axes)
    sorted.push_back(normalizeAxis(axis, rank, name));
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    failAttribute(name, "names an axis twice");
  return sorted;
}

//===----------------------------------------------------------------------===//
// Graph ops
//===----------------------------------------------------------------------===//

Location NodeContext::makeLocation(unsigned number) {
  std::string name = node.output_size() > 0 ? node.output(0) : "";
  return owner.tensorLocation(name + "#" + std::to_string(number), node.name());
}

/// Folds an op, except evaluators that visit every element on large operands.
Value NodeContext::fold(Operation *op) {
  constexpr int64_t max = 1 << 20;
  int64_t elements = 0;
  for (Value operand : op->getOperands()) {
    if (!matchPattern(operand, m_Constant()))
      return foldOnce(op);
    elements += mlir::cast<RankedTensorType>(operand.getType()).getNumElements();
    if (elements > max)
      return {};
  }
  return foldOnce(op);
}

} // namespace atc::onnx_import
