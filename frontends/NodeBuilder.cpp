//===-- NodeBuilder.cpp - graph ops from one node of a model --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/NodeBuilder.h"

#include "dialects/graph/IndexBound.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/HostEquivalents.h"
#include "frontends/Tensors.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace atc {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void NodeBuilder::fail(ErrorCode code, const Twine &text) {
  if (!hasFailed)
    diags.error(code, text);
  hasFailed = true;
}

void NodeBuilder::failAttribute(StringRef name, const Twine &reason) {
  fail("E14001", "attribute '" + name + "' of " + describe() + ": " + reason);
}

void NodeBuilder::failInput(unsigned index, const Twine &reason) {
  std::string tensor = inputName(index);
  if (!tensor.empty())
    tensor = " ('" + tensor + "')";
  fail("E14001", "input " + Twine(index) + tensor + " of " + describe() + ": " + reason);
}

void NodeBuilder::failNode(const Twine &reason) { fail("E14001", describe() + ": " + reason); }

//===----------------------------------------------------------------------===//
// Attributes and inputs
//===----------------------------------------------------------------------===//

int64_t NodeBuilder::requiredInt(StringRef name) {
  if (!hasAttr(name))
    failAttribute(name, "is missing; the operator needs it");
  return intAttr(name, 0);
}

SmallVector<Value> NodeBuilder::inputs() {
  SmallVector<Value> all;
  for (unsigned i = 0; i < numInputs(); ++i)
    all.push_back(input(i));
  if (all.empty())
    failNode("has no inputs");
  return all;
}

ElementsAttr NodeBuilder::constantAttr(unsigned index, Value value) {
  if (!value || hasFailed)
    return {};
  ElementsAttr attr;
  if (!matchPattern(value, m_Constant(&attr))) {
    leaveToHost();
    failInput(index, "must be known at compile time, but depends on the inputs of the model");
    return {};
  }
  // Constants that are read here are shapes, axes and the like.
  constexpr int64_t max = 1 << 16;
  if (attr.getNumElements() > max) {
    failInput(index, "has " + Twine(attr.getNumElements()) + " elements, expected a short list");
    return {};
  }
  return attr;
}

ElementsAttr NodeBuilder::integerAttr(unsigned index, Value value) {
  ElementsAttr attr = constantAttr(index, value);
  if (!attr || isa<IntegerType>(attr.getElementType()))
    return attr;
  failInput(index, "must hold integers");
  return {};
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> NodeBuilder::shape(Value value) {
  return hasRank(value) ? mlir::cast<RankedTensorType>(value.getType()).getShape()
                        : ArrayRef<int64_t>();
}

Type NodeBuilder::elementType(Value value) {
  return value ? getElementTypeOrSelf(value.getType()) : Type();
}

void NodeBuilder::requireRank(unsigned index, int64_t atLeast, int64_t atMost) {
  Value value = input(index);
  if (hasFailed || (rank(value) >= atLeast && rank(value) <= atMost))
    return;
  std::string expected = std::to_string(atLeast);
  if (atMost != atLeast)
    expected += " to " + std::to_string(atMost);
  failInput(index, "has rank " + Twine(rank(value)) + ", expected " + expected);
}

void NodeBuilder::requireIndices(unsigned index, bool wraps, ArrayRef<int64_t> sizes,
                                 int64_t first) {
  Value indices = input(index);
  ElementsAttr known;
  if (hasFailed || sizes.empty() || !matchPattern(indices, m_Constant(&known)))
    return;
  for (auto [position, at] : llvm::enumerate(readInts(known))) {
    const size_t which = position % sizes.size();
    if (at >= sizes[which] || at < (wraps ? -sizes[which] : 0))
      return failInput(index, "has the index " + Twine(at) + ", out of range for axis " +
                                  Twine(first + static_cast<int64_t>(which)) + " of " +
                                  Twine(sizes[which]) + " elements");
  }
}

void NodeBuilder::requireGathered(unsigned index, bool wraps, ArrayRef<int64_t> sizes,
                                  int64_t first) {
  requireIndices(index, wraps, sizes, first);
  Block *block = opBuilder.getInsertionBlock();
  if (!hasFailed && isAlwaysRun() && block && isa_and_nonnull<func::FuncOp>(block->getParentOp()))
    graph::IndexRange{wraps, llvm::to_vector(sizes)}.require(input(index));
}

//===----------------------------------------------------------------------===//
// Graph ops
//===----------------------------------------------------------------------===//

Location NodeBuilder::nextLocation() {
  // The location of an output is replaced later.
  Location loc = makeLocation(numLocations++);
  provisional.insert(loc);
  return loc;
}

void NodeBuilder::setLocation(Value value, Location loc) {
  Operation *op = value.getDefiningOp();
  if (op && provisional.erase(op->getLoc()))
    op->setLoc(loc);
}

bool NodeBuilder::checkShape(ArrayRef<int64_t> shape) {
  if (llvm::Expected<int64_t> count = countElements(shape))
    return true;
  else
    failNode("its result " + toString(count.takeError()));
  return false;
}

bool NodeBuilder::checkLimits(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && tensor.hasStaticShape())
    return checkShape(tensor.getShape());
  failNode("the shape of its result cannot be determined");
  return false;
}

/// Makes the host calls of an op that only ever exists to hold its attributes.
Value NodeBuilder::finishOnHost(OperationState &state) {
  Operation *op = Operation::create(state);
  HostCallBuilder calls(opBuilder, state.location, HostTypes::Probed);
  Value result = makeHostEquivalent(op, calls);
  op->destroy();
  if (!result)
    failNode(calls.message().empty() ? "has no form for inputs of dynamic shape" : calls.message());
  return result;
}

Value NodeBuilder::callHost(StringRef kernel, ArrayRef<Value> inputs,
                            ArrayRef<NamedAttribute> parameters) {
  if (hasFailed || llvm::is_contained(inputs, Value()))
    return {};
  SmallVector<Value> results = callHost(
      graph::HostCall{kernel, SmallVector<Value>(inputs), opBuilder.getDictionaryAttr(parameters)});
  return results.empty() ? Value() : results.front();
}

SmallVector<Value> NodeBuilder::callHost(const graph::HostCall &call) {
  if (hasFailed)
    return {};
  std::string error;
  SmallVector<Value> results =
      HostCallBuilder(opBuilder, nextLocation(), HostTypes::Probed).call(call, error);
  if (results.empty())
    failNode(error);
  return results;
}

NamedAttribute NodeBuilder::hostInts(StringRef name, ArrayRef<int64_t> values) {
  return HostCallBuilder(opBuilder, opBuilder.getUnknownLoc()).ints(name, values);
}

NamedAttribute NodeBuilder::hostFloats(StringRef name, ArrayRef<double> values) {
  return HostCallBuilder(opBuilder, opBuilder.getUnknownLoc()).floats(name, values);
}

NamedAttribute NodeBuilder::hostText(StringRef name, StringRef value) {
  return HostCallBuilder(opBuilder, opBuilder.getUnknownLoc()).text(name, value);
}

Value NodeBuilder::finish(OperationState &state, InferFn infer) {
  if (llvm::is_contained(state.operands, Value())) {
    failNode("needs a value that it does not have");
    return {};
  }
  // Graph ops know no strings.
  auto isOperand = [](Value value) {
    return isStatic(value) && !isa<graph::StringType>(elementType(value));
  };
  if (!llvm::all_of(state.operands, isOperand))
    return finishOnHost(state);
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
  if (Value known = fold(op)) {
    op->erase();
    return known;
  }
  if (!canGenerate(op)) {
    HostCallBuilder calls(opBuilder, op->getLoc(), HostTypes::Probed);
    if (Value result = makeHostEquivalent(op, calls)) {
      op->erase();
      return result;
    }
  }
  return op->getResult(0);
}

Value NodeBuilder::foldOnce(Operation *op) {
  SmallVector<Value> folded;
  if (llvm::failed(opBuilder.tryFold(op, folded)) || folded.empty())
    return {};
  return folded.front();
}

Value NodeBuilder::constant(ElementsAttr value) {
  if (hasFailed)
    return {};
  return graph::ConstantOp::create(opBuilder, nextLocation(), value);
}

Value NodeBuilder::intList(ArrayRef<int64_t> values, Type element) {
  if (hasFailed)
    return {};
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    element ? element : opBuilder.getI64Type());
  if (!type.getElementType().isInteger(32))
    return constant(DenseElementsAttr::get(type, values));
  SmallVector<int32_t> narrow(values.begin(), values.end());
  return constant(DenseElementsAttr::get(type, ArrayRef(narrow)));
}

Value NodeBuilder::scalar(double value, Type element) {
  if (hasFailed)
    return {};
  if (!element.isIntOrFloat()) {
    failNode("needs numbers, but its elements are none");
    return {};
  }
  auto type = RankedTensorType::get({}, element);
  if (auto floatType = dyn_cast<FloatType>(element))
    return constant(DenseElementsAttr::get(type, opBuilder.getFloatAttr(floatType, value)));
  auto width = element.getIntOrFloatBitWidth();
  return constant(DenseElementsAttr::get(
      type, APInt(width, static_cast<uint64_t>(toInteger(value)), false, true)));
}

Value NodeBuilder::fill(ArrayRef<int64_t> newShape, Value value) {
  if (hasFailed || shape(value) == newShape)
    return value;
  return createTyped<graph::ExpandOp>(newShape, elementType(value), value);
}

Value NodeBuilder::reshape(Value value, ArrayRef<int64_t> newShape) {
  if (hasFailed || shape(value) == newShape)
    return value;
  return createTyped<graph::ReshapeOp>(newShape, elementType(value), value);
}

Value NodeBuilder::reshapeAs(Value value, ArrayRef<int64_t> stated, bool copyZeros) {
  if (hasFailed)
    return {};
  ArrayRef<int64_t> from = shape(value);
  auto mismatch = [&](const Twine &reason) {
    failInput(1, "shape " + printDims(stated) + " " + reason + " for an input of shape " +
                     printDims(from));
    return Value();
  };
  SmallVector<int64_t> to(stated);
  int64_t *open = nullptr;
  for (auto [index, dim] : llvm::enumerate(to)) {
    if (dim == 0 && copyZeros) {
      if (index >= from.size())
        return mismatch("copies dim " + Twine(index) + ", which is not there,");
      dim = from[index];
    } else if (dim == -1) {
      if (open)
        return mismatch("has more than one dim of -1");
      open = &dim;
      dim = 1;
    }
  }
  llvm::Expected<int64_t> count = countElements(to);
  if (!count)
    return mismatch(toString(count.takeError()));
  int64_t elements = mlir::cast<RankedTensorType>(value.getType()).getNumElements();
  if (open && (*count == 0 || elements % *count != 0))
    return mismatch("leaves no whole number for the dim of -1");
  if (open)
    *open = elements / *count;
  else if (*count != elements)
    return mismatch("has " + Twine(*count) + " elements, expected " + Twine(elements));
  return reshape(value, to);
}

Value NodeBuilder::cast(Value value, Type element) {
  if (hasFailed || elementType(value) == element)
    return value;
  if (!isStatic(value))
    return callHost("Cast", {value}, {hostInts("to", {graph::dtypeOf(element)})});
  return createTyped<graph::CastOp>(shape(value), element, value);
}

Value NodeBuilder::transpose(Value value, ArrayRef<int64_t> permutation) {
  return create<graph::TransposeOp>(value, permutation);
}

Value NodeBuilder::reduce(graph::ReduceKind kind, Value value, ArrayRef<int64_t> axes,
                          bool keepdims) {
  if (axes.empty())
    return value;
  return create<graph::ReduceOp>(value, kind, axes, keepdims);
}

} // namespace atc
