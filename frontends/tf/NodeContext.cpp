//===-- NodeContext.cpp - one TensorFlow node while it is imported --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/NodeContext.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/interpreter/Interpreter.h"
#include "dialects/graph/ops/StructureOps.h"
#include "frontends/SlidingWindow.h"
#include "frontends/tf/ops/Im2Col.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace atc::tf_import {

NodeContext::NodeContext(GraphImporter &importer, pb::NodeDef &node)
    : NodeBuilder(importer.builder(), importer.diagnostics()), owner(importer), node(node) {
  for (const std::string &input : node.input())
    if (TensorName tensor = TensorName::parse(input); !tensor.isControl)
      tensors.push_back(tensor);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const pb::AttrValue *NodeContext::findAttr(StringRef name, pb::AttrValue::ValueCase kind) {
  auto found = node.attr().find(name.str());
  if (found == node.attr().end())
    return nullptr;
  if (found->second.value_case() == kind)
    return &found->second;
  failAttribute(name, "has a value of another type than the operator's");
  return nullptr;
}

int64_t NodeContext::intAttr(StringRef name, int64_t defaultValue) {
  const pb::AttrValue *value = findAttr(name, pb::AttrValue::kI);
  return value ? value->i() : defaultValue;
}

bool NodeContext::boolAttr(StringRef name, bool defaultValue) {
  const pb::AttrValue *value = findAttr(name, pb::AttrValue::kB);
  return value ? value->b() : defaultValue;
}

double NodeContext::floatAttr(StringRef name, double defaultValue) {
  const pb::AttrValue *value = findAttr(name, pb::AttrValue::kF);
  return value ? value->f() : defaultValue;
}

std::string NodeContext::stringAttr(StringRef name, StringRef defaultValue) {
  const pb::AttrValue *value = findAttr(name, pb::AttrValue::kS);
  return value ? value->s() : defaultValue.str();
}

SmallVector<int64_t> NodeContext::intsAttr(StringRef name) {
  const pb::AttrValue *value = findAttr(name, pb::AttrValue::kList);
  if (!value)
    return {};
  return SmallVector<int64_t>(value->list().i().begin(), value->list().i().end());
}

Type NodeContext::typeAttr(StringRef name, pb::DataType defaultType) {
  const pb::AttrValue *value = findAttr(name, pb::AttrValue::kType);
  pb::DataType type = value ? value->type() : defaultType;
  Type element = convertElementType(type, opBuilder.getContext());
  if (!element)
    failAttribute(name, "is " + nameElementType(type) + ", which is not supported");
  return element;
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

Value NodeContext::input(unsigned index) {
  if (index < numInputs())
    return hasFailed ? Value() : owner.lookup(tensors[index]);
  failInput(index, "is missing; the operator needs it");
  return {};
}

Value NodeContext::imaginaryInput(unsigned index) {
  input(index);
  Value imaginary = hasFailed ? Value() : owner.imaginaryOf(tensors[index]);
  if (!imaginary)
    failInput(index, "is real, expected a complex tensor");
  return imaginary;
}

SmallVector<int64_t> NodeContext::constantInts(unsigned index) {
  ElementsAttr attr = integerAttr(index, input(index));
  return attr ? readInts(attr) : SmallVector<int64_t>();
}

SmallVector<double> NodeContext::constantFloats(unsigned index) {
  ElementsAttr attr = constantAttr(index, input(index));
  return attr ? readFloats(attr) : SmallVector<double>();
}

int64_t NodeContext::constantInt(unsigned index) {
  SmallVector<int64_t> values = constantInts(index);
  if (!hasFailed && values.size() != 1)
    failInput(index, "has " + Twine(values.size()) + " elements, expected 1");
  return hasFailed ? 0 : values.front();
}

void NodeContext::setOutput(unsigned index, Value value) {
  if (index >= results.size())
    results.resize(index + 1);
  results[index] = value;
}

void NodeContext::finishOutputs() {
  if (hasFailed)
    return;
  for (auto [index, value] : llvm::enumerate(results)) {
    if (!value)
      continue;
    TensorName tensor{node.name(), static_cast<int64_t>(index)};
    owner.define(tensor, value);
    std::string name = tensor.str() + (owner.importsImaginary() ? "#imaginary" : "");
    setLocation(value, owner.tensorLocation(name, node.name()));
  }
  if (imaginaryResult) {
    TensorName tensor{node.name()};
    owner.defineImaginary(tensor, imaginaryResult);
    setLocation(imaginaryResult, owner.tensorLocation(tensor.str() + "#imaginary", node.name()));
  }
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

int64_t NodeContext::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    failNode("axis " + Twine(axis) + " is out of range for a tensor of rank " + Twine(rank));
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

SmallVector<int64_t> NodeContext::normalizeAxes(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> sorted;
  for (int64_t axis : axes)
    sorted.push_back(normalizeAxis(axis, rank));
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    failNode("names an axis twice");
  return sorted;
}

//===----------------------------------------------------------------------===//
// Graph ops
//===----------------------------------------------------------------------===//

Location NodeContext::makeLocation(unsigned number) {
  return owner.tensorLocation(node.name() + (owner.importsImaginary() ? "#imaginary#" : "#") +
                                  std::to_string(number),
                              node.name());
}

/// The value of an op that reads only constants, so that arithmetic on shapes is
/// known while importing. Weights are left to the passes.
Value NodeContext::tryEvaluate(Operation *op) {
  constexpr int64_t max = 1 << 12;
  int64_t elements = mlir::cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
  SmallVector<graph::Tensor> operands;
  for (Value operand : op->getOperands()) {
    ElementsAttr attr;
    if (!matchPattern(operand, m_Constant(&attr)))
      return {};
    elements += attr.getNumElements();
    if (elements > max)
      return {};
    FailureOr<graph::Tensor> tensor = graph::Tensor::fromAttribute(attr);
    if (llvm::failed(tensor))
      return {};
    operands.push_back(std::move(*tensor));
  }
  auto pointers = llvm::map_to_vector(
      operands, [](const graph::Tensor &tensor) -> const graph::Tensor * { return &tensor; });
  SmallVector<graph::Tensor> values;
  std::string error;
  if (elements > max || llvm::failed(graph::evaluate(op, pointers, values, &error)))
    return {};
  auto type = mlir::cast<RankedTensorType>(op->getResult(0).getType());
  return graph::ConstantOp::create(opBuilder, op->getLoc(), std::move(values[0]).toAttribute(type));
}

bool NodeContext::isAlwaysRun() {
  return owner
      .guardsOf(llvm::map_to_vector(
          node.input(), [](const std::string &input) { return TensorName::parse(input); }))
      .empty();
}

/// Returns true for ops that depend on no input, too: passes fold them, whatever the target does.
bool NodeContext::canGenerate(Operation *op) {
  return owner.canGenerate(op) || llvm::none_of(op->getOperands(), dependsOnInputs);
}

Value NodeContext::fold(Operation *op) {
  if (isa<graph::ConstantOp>(op))
    return {};
  // There is nothing to compute.
  auto type = mlir::cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getNumElements() == 0)
    return graph::ConstantOp::create(opBuilder, op->getLoc(),
                                     graph::makeConstant(type, std::vector<char>()));
  if (Value known = tryEvaluate(op))
    return known;
  bool readsOnlyConstants = llvm::all_of(
      op->getOperands(), [](Value operand) { return matchPattern(operand, m_Constant()); });
  return readsOnlyConstants ? Value() : foldOnce(op);
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

ImageLayout::ImageLayout(NodeContext &n, int64_t rank, StringRef defaultFormat) : rank(rank) {
  StringRef last = rank == 5 ? "NDHWC" : "NHWC", first = rank == 5 ? "NCDHW" : "NCHW";
  std::string format = n.stringAttr("data_format", defaultFormat.empty() ? last : defaultFormat);
  channelsLast = StringRef(format) == last;
  if (!channelsLast && StringRef(format) != first)
    n.failAttribute("data_format", "is '" + format + "', expected " + last + " or " + first);
}

static Value moveChannels(NodeContext &n, Value value, int64_t rank, bool toFront) {
  SmallVector<int64_t> permutation{0};
  if (toFront)
    permutation.push_back(rank - 1);
  for (int64_t dim = 1; dim + 1 < rank; ++dim)
    permutation.push_back(toFront ? dim : dim + 1);
  if (!toFront)
    permutation.push_back(1);
  return n.transpose(value, permutation);
}

Value ImageLayout::toCanonical(NodeContext &n, Value value) const {
  return channelsLast ? moveChannels(n, value, rank, /*toFront=*/true) : value;
}

Value ImageLayout::fromCanonical(NodeContext &n, Value value) const {
  return channelsLast ? moveChannels(n, value, rank, /*toFront=*/false) : value;
}

Value ImageLayout::toChannelsLast(NodeContext &n, Value value) const {
  return channelsLast ? value : moveChannels(n, value, rank, /*toFront=*/false);
}

Value ImageLayout::fromChannelsLast(NodeContext &n, Value value) const {
  return channelsLast ? value : moveChannels(n, value, rank, /*toFront=*/true);
}

SmallVector<int64_t> ImageLayout::spatial(NodeContext &n, StringRef attribute) const {
  SmallVector<int64_t> all = n.intsAttr(attribute), some(rank - 2, 1);
  if (n.failed() || all.empty())
    return some;
  if (static_cast<int64_t>(all.size()) != rank) {
    n.failAttribute(attribute, "has " + Twine(all.size()) + " values, expected " + Twine(rank));
    return some;
  }
  for (int64_t value : all)
    if (value < 1 || value > maxWindow)
      n.failAttribute(attribute, Twine(value) + " is out of range");
  if (all[0] != 1 || all[channelAxis()] != 1)
    n.failAttribute(attribute, "is not 1 for batch and channels, which is not supported");
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    some[dim] = all[spatialAxis(dim)];
  return some;
}

} // namespace atc::tf_import
