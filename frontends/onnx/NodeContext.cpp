//===-- NodeContext.cpp - one ONNX node while it is imported --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/NodeContext.h"

#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h"

using namespace mlir;

namespace atc::onnx_import {

NodeContext::NodeContext(GraphImporter &importer, onnx::NodeProto &node, int64_t opset)
    : owner(importer), node(node), opBuilder(importer.builder()), opsetVersion(opset),
      results(node.output_size()) {
  // Of the first operators; it never had a meaning for the result.
  if (opsetVersion < firstTableOpset)
    ignoreAttr("consumed_inputs");
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void NodeContext::fail(StringRef code, const Twine &text) {
  if (!hasFailed)
    owner.diagnostics().error(code, text);
  hasFailed = true;
}

void NodeContext::failAttribute(StringRef name, const Twine &reason) {
  fail("E14001", "attribute '" + name + "' of " + describeNode(node) + ": " + reason);
}

void NodeContext::failInput(unsigned index, const Twine &reason) {
  std::string tensor =
      index < numInputs() && !node.input(index).empty() ? " ('" + node.input(index) + "')" : "";
  fail("E14001", "input " + Twine(index) + tensor + " of " + describeNode(node) + ": " + reason);
}

void NodeContext::failNode(const Twine &reason) {
  fail("E14001", describeNode(node) + ": " + reason);
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

SmallVector<Value> NodeContext::inputs() {
  SmallVector<Value> all;
  for (unsigned i = 0; i < numInputs(); ++i)
    all.push_back(input(i));
  if (all.empty())
    failNode("has no inputs");
  return all;
}

ElementsAttr NodeContext::constantAttr(unsigned index) {
  Value value = optionalInput(index);
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

bool NodeContext::isConstantInput(unsigned index) {
  Value value = optionalInput(index);
  return value && matchPattern(value, m_Constant());
}

std::optional<SmallVector<int64_t>> NodeContext::constantInts(unsigned index) {
  ElementsAttr attr = constantAttr(index);
  if (!attr)
    return std::nullopt;
  if (!isa<IntegerType>(attr.getElementType())) {
    failInput(index, "must hold integers");
    return std::nullopt;
  }
  return readInts(attr);
}

std::optional<SmallVector<double>> NodeContext::constantFloats(unsigned index) {
  ElementsAttr attr = constantAttr(index);
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
  owner.diagnostics().warning("W11001", "input " + Twine(index) + " ('" + node.input(index) +
                                            "') of " + describeNode(node) +
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
  // A builder asks for all inputs that its operator has.
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
    // A value that another node made keeps its name.
    Operation *op = results[i].getDefiningOp();
    if (op && provisional.erase(op->getLoc()))
      op->setLoc(owner.tensorLocation(name, node.name()));
  }
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> NodeContext::shape(Value value) {
  return value ? cast<RankedTensorType>(value.getType()).getShape() : ArrayRef<int64_t>();
}

Type NodeContext::elementType(Value value) {
  return value ? cast<RankedTensorType>(value.getType()).getElementType() : Type();
}

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

void NodeContext::requireRank(unsigned index, int64_t atLeast, int64_t atMost) {
  Value value = input(index);
  if (failed())
    return;
  if (rank(value) >= atLeast && rank(value) <= atMost)
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
  std::string name = node.output_size() > 0 ? node.output(0) : "";
  name += "#" + std::to_string(numLocations++);
  Location loc = owner.tensorLocation(name, node.name());
  provisional.insert(loc);
  return loc;
}

bool NodeContext::checkLimits(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape()) {
    failNode("the shape of its result cannot be determined");
    return false;
  }
  if (llvm::Expected<int64_t> count = countElements(tensor.getShape()))
    return true;
  else
    failNode("its result " + toString(count.takeError()));
  return false;
}

/// Whether folding costs little: what looks at every element of its operands
/// must not do so for the large ones.
static bool isCheapToFold(Operation *op) {
  constexpr int64_t most = 1 << 20;
  int64_t elements = 0;
  for (Value operand : op->getOperands()) {
    if (!matchPattern(operand, m_Constant()))
      return true;
    elements += cast<RankedTensorType>(operand.getType()).getNumElements();
    if (elements > most)
      return false;
  }
  return true;
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
    if (!checkLimits(type))
      return {};
  Operation *op = opBuilder.create(state);
  if (llvm::failed(op->getName().verifyInvariants(op))) {
    op->erase();
    return reject();
  }
  SmallVector<Value> folded;
  if (isCheapToFold(op) && succeeded(opBuilder.tryFold(op, folded)) && !folded.empty()) {
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

Value NodeContext::intList(ArrayRef<int64_t> values) {
  auto type = tensor({static_cast<int64_t>(values.size())}, opBuilder.getI64Type());
  return constant(DenseElementsAttr::get(type, values));
}

Value NodeContext::scalar(double value, Type element) {
  if (hasFailed)
    return {};
  auto type = tensor({}, element);
  if (auto floatType = dyn_cast<FloatType>(element))
    return constant(DenseElementsAttr::get(type, opBuilder.getFloatAttr(floatType, value)));
  auto width = element.getIntOrFloatBitWidth();
  return constant(DenseElementsAttr::get(
      type, APInt(width, static_cast<uint64_t>(static_cast<int64_t>(value)), false, true)));
}

Value NodeContext::reshape(Value value, ArrayRef<int64_t> newShape) {
  if (hasFailed || shape(value) == newShape)
    return value;
  return createTyped<graph::ReshapeOp>(tensor(newShape, elementType(value)), value);
}

Value NodeContext::cast(Value value, Type element) {
  if (hasFailed || elementType(value) == element)
    return value;
  return createTyped<graph::CastOp>(tensor(shape(value), element), value);
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

} // namespace atc::onnx_import
