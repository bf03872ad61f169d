//===-- NodeContext.cpp - one TensorFlow node while it is imported --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/NodeContext.h"

#include "dialects/graph/interpreter/Interpreter.h"

using namespace mlir;

namespace atc::tf_import {

NodeContext::NodeContext(GraphImporter &importer, pb::NodeDef &node)
    : owner(importer), node(node), opBuilder(importer.builder()) {
  for (const std::string &input : node.input())
    if (TensorName tensor = TensorName::parse(input); !tensor.isControl)
      tensors.push_back(tensor);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void NodeContext::fail(const Twine &text) {
  if (!hasFailed)
    owner.diagnostics().error("E14001", text);
  hasFailed = true;
}

void NodeContext::failAttribute(StringRef name, const Twine &reason) {
  fail("attribute '" + name + "' of " + describeNode(node) + ": " + reason);
}

void NodeContext::failInput(unsigned index, const Twine &reason) {
  std::string tensor = index < numInputs() ? " ('" + tensors[index].str() + "')" : "";
  fail("input " + Twine(index) + tensor + " of " + describeNode(node) + ": " + reason);
}

void NodeContext::failNode(const Twine &reason) { fail(describeNode(node) + ": " + reason); }

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

int64_t NodeContext::requiredInt(StringRef name) {
  if (!hasAttr(name))
    failAttribute(name, "is missing; the operator needs it");
  return intAttr(name, 0);
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

SmallVector<Value> NodeContext::inputs() {
  SmallVector<Value> all;
  for (unsigned i = 0; i < numInputs(); ++i)
    all.push_back(input(i));
  if (all.empty())
    failNode("has no inputs");
  return all;
}

ElementsAttr NodeContext::constantAttr(unsigned index) {
  Value value = input(index);
  if (!value || hasFailed)
    return {};
  ElementsAttr attr;
  if (!matchPattern(value, m_Constant(&attr))) {
    failInput(index, "must be known at compile time, but depends on the inputs of the model");
    return {};
  }
  // What is read here are shapes, axes and the like.
  constexpr int64_t most = 1 << 16;
  if (attr.getNumElements() > most) {
    failInput(index, "has " + Twine(attr.getNumElements()) + " elements, expected a short list");
    return {};
  }
  return attr;
}

SmallVector<int64_t> NodeContext::constantInts(unsigned index) {
  ElementsAttr attr = constantAttr(index);
  if (!attr)
    return {};
  if (!isa<IntegerType>(attr.getElementType())) {
    failInput(index, "must hold integers");
    return {};
  }
  return readInts(attr);
}

SmallVector<double> NodeContext::constantFloats(unsigned index) {
  ElementsAttr attr = constantAttr(index);
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
    // A value that another node made keeps its name.
    Operation *op = value.getDefiningOp();
    if (op && provisional.erase(op->getLoc()))
      op->setLoc(owner.tensorLocation(tensor.str(), node.name()));
  }
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> NodeContext::shape(Value value) {
  return value ? mlir::cast<RankedTensorType>(value.getType()).getShape() : ArrayRef<int64_t>();
}

Type NodeContext::elementType(Value value) {
  return value ? mlir::cast<RankedTensorType>(value.getType()).getElementType() : Type();
}

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

void NodeContext::requireRank(unsigned index, int64_t atLeast, int64_t atMost) {
  Value value = input(index);
  if (hasFailed || (rank(value) >= atLeast && rank(value) <= atMost))
    return;
  std::string expected = std::to_string(atLeast);
  if (atMost != atLeast)
    expected += " to " + std::to_string(atMost);
  failInput(index, "has rank " + Twine(rank(value)) + ", expected " + expected);
}

//===----------------------------------------------------------------------===//
// Graph ops
//===----------------------------------------------------------------------===//

Location NodeContext::nextLocation() {
  // Names that no tensor of the model has; what becomes an output is renamed.
  Location loc =
      owner.tensorLocation(node.name() + "#" + std::to_string(numLocations++), node.name());
  provisional.insert(loc);
  return loc;
}

bool NodeContext::checkShape(ArrayRef<int64_t> shape) {
  if (llvm::Expected<int64_t> count = countElements(shape))
    return true;
  else
    failNode("its result " + toString(count.takeError()));
  return false;
}

/// The value of an op that reads only constants, so that arithmetic on shapes is
/// known while importing. Weights are left to the passes.
Value NodeContext::tryEvaluate(Operation *op) {
  constexpr int64_t most = 1 << 12;
  int64_t elements = mlir::cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
  SmallVector<graph::Tensor> operands;
  for (Value operand : op->getOperands()) {
    ElementsAttr attr;
    if (!matchPattern(operand, m_Constant(&attr)))
      return {};
    elements += attr.getNumElements();
    if (elements > most)
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
  if (elements > most || llvm::failed(graph::evaluate(op, pointers, values, &error)))
    return {};
  auto type = mlir::cast<RankedTensorType>(op->getResult(0).getType());
  return graph::ConstantOp::create(opBuilder, op->getLoc(), std::move(values[0]).toAttribute(type));
}

Value NodeContext::finish(OperationState &state, InferFn infer) {
  MLIRContext *context = opBuilder.getContext();
  std::string message;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    message += (message.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  auto reject = [&] {
    StringRef text = message;
    text.consume_front(("'" + state.name.getStringRef() + "' op ").str());
    failNode(text.empty() ? "its inputs do not fit together" : text);
    return Value();
  };

  if (infer) {
    SmallVector<Type> types;
    if (llvm::failed(infer(context, state.location, state.operands,
                           state.attributes.getDictionary(context), state.getRawProperties(), {},
                           types)))
      return reject();
    state.types.assign(types.begin(), types.end());
  }
  for (Type type : state.types)
    if (!checkShape(mlir::cast<RankedTensorType>(type).getShape()))
      return {};
  Operation *op = opBuilder.create(state);
  if (llvm::failed(op->getName().verifyInvariants(op))) {
    op->erase();
    return reject();
  }
  if (isa<graph::ConstantOp>(op))
    return op->getResult(0);
  if (Value known = tryEvaluate(op)) {
    op->erase();
    return known;
  }
  bool readsOnlyConstants = llvm::all_of(
      op->getOperands(), [](Value operand) { return matchPattern(operand, m_Constant()); });
  SmallVector<Value> folded;
  if (!readsOnlyConstants && succeeded(opBuilder.tryFold(op, folded)) && !folded.empty()) {
    op->erase();
    return folded.front();
  }
  return op->getResult(0);
}

Value NodeContext::constant(ElementsAttr value) {
  if (hasFailed)
    return {};
  return graph::ConstantOp::create(opBuilder, nextLocation(), value);
}

Value NodeContext::intList(ArrayRef<int64_t> values, Type element) {
  if (hasFailed)
    return {};
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
  if (!element.isInteger(32))
    return constant(DenseElementsAttr::get(type, values));
  SmallVector<int32_t> narrow(values.begin(), values.end());
  return constant(DenseElementsAttr::get(type, ArrayRef(narrow)));
}

Value NodeContext::scalar(double value, Type element) {
  if (hasFailed)
    return {};
  auto type = RankedTensorType::get({}, element);
  if (auto floatType = dyn_cast<FloatType>(element))
    return constant(DenseElementsAttr::get(type, opBuilder.getFloatAttr(floatType, value)));
  auto width = element.getIntOrFloatBitWidth();
  return constant(DenseElementsAttr::get(
      type, APInt(width, static_cast<uint64_t>(static_cast<int64_t>(value)), false, true)));
}

Value NodeContext::fill(ArrayRef<int64_t> newShape, Value value) {
  if (hasFailed || shape(value) == newShape)
    return value;
  return createTyped<graph::ExpandOp>(newShape, elementType(value), value);
}

Value NodeContext::reshape(Value value, ArrayRef<int64_t> newShape) {
  if (hasFailed || shape(value) == newShape)
    return value;
  return createTyped<graph::ReshapeOp>(newShape, elementType(value), value);
}

Value NodeContext::cast(Value value, Type element) {
  if (hasFailed || elementType(value) == element)
    return value;
  return createTyped<graph::CastOp>(shape(value), element, value);
}

Value NodeContext::transpose(Value value, ArrayRef<int64_t> permutation) {
  return create<graph::TransposeOp>(value, permutation);
}

Value NodeContext::reduce(graph::ReduceKind kind, Value value, ArrayRef<int64_t> axes,
                          bool keepdims) {
  if (axes.empty())
    return value;
  return create<graph::ReduceOp>(value, kind, axes, keepdims);
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

Value ImageLayout::toCanonical(NodeContext &n, Value value) const {
  if (!channelsLast)
    return value;
  SmallVector<int64_t> permutation{0, rank - 1};
  for (int64_t dim = 1; dim + 1 < rank; ++dim)
    permutation.push_back(dim);
  return n.transpose(value, permutation);
}

Value ImageLayout::fromCanonical(NodeContext &n, Value value) const {
  if (!channelsLast)
    return value;
  SmallVector<int64_t> permutation{0};
  for (int64_t dim = 2; dim < rank; ++dim)
    permutation.push_back(dim);
  permutation.push_back(1);
  return n.transpose(value, permutation);
}

SmallVector<int64_t> ImageLayout::spatial(NodeContext &n, StringRef attribute) const {
  SmallVector<int64_t> all = n.intsAttr(attribute), some(rank - 2, 1);
  if (n.failed() || all.empty())
    return some;
  if (static_cast<int64_t>(all.size()) != rank) {
    n.failAttribute(attribute, "has " + Twine(all.size()) + " values, expected " + Twine(rank));
    return some;
  }
  constexpr int64_t most = int64_t(1) << 24;
  for (int64_t value : all)
    if (value < 1 || value > most)
      n.failAttribute(attribute, Twine(value) + " is out of range");
  if (all[0] != 1 || all[channelAxis()] != 1)
    n.failAttribute(attribute, "is not 1 for batch and channels, which is not supported");
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    some[dim] = all[spatialAxis(dim)];
  return some;
}

} // namespace atc::tf_import
