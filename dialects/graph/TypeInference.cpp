//===-- TypeInference.cpp - shared parts of graph type inference ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/TypeInference.h"
#include "dialects/graph/QuantTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace atc::graph {

std::optional<SmallVector<int64_t>> broadcastShapes(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  SmallVector<int64_t> shape(lhs);
  size_t offset = lhs.size() - rhs.size();
  for (size_t i = 0; i < rhs.size(); ++i) {
    int64_t &dim = shape[offset + i];
    int64_t other = rhs[i];
    if (dim == other || other == 1)
      continue;
    // Beside an unknown dim a known one other than 1 decides.
    if (dim == 1 || ShapedType::isDynamic(dim))
      dim = other;
    else if (!ShapedType::isDynamic(other))
      return std::nullopt;
  }
  return shape;
}

RankedTensorType withoutEncoding(RankedTensorType type) {
  return type.getEncoding() ? RankedTensorType::get(type.getShape(), type.getElementType()) : type;
}

Type getScalarType(Type elementType) {
  elementType = getStoredType(elementType);
  if (auto integer = dyn_cast<IntegerType>(elementType); integer && !integer.isSignless())
    return IntegerType::get(integer.getContext(), integer.getWidth());
  return elementType;
}

namespace detail {

RankedTensorType rankedType(Value value) { return cast<RankedTensorType>(value.getType()); }

static bool isInClass(Type type, ElementClass elements) {
  bool isBool = type.isInteger(1);
  bool isInteger = isa<IntegerType>(type) && !isBool;
  bool isFloat = isa<FloatType>(type);
  switch (elements) {
  case ElementClass::Any:
    return isBool || isInteger || isFloat;
  case ElementClass::Numeric:
    return isInteger || isFloat;
  case ElementClass::Float:
    return isFloat;
  case ElementClass::Integral:
    return isBool || isInteger;
  case ElementClass::Bool:
    return isBool;
  }
  return false;
}

static StringRef describe(ElementClass elements) {
  switch (elements) {
  case ElementClass::Any:
    return "bool, integer or floating-point";
  case ElementClass::Numeric:
    return "integer or floating-point";
  case ElementClass::Float:
    return "floating-point";
  case ElementClass::Integral:
    return "bool or integer";
  case ElementClass::Bool:
    return "bool (i1)";
  }
  return "";
}

FailureOr<RankedTensorType> inferElementwiseType(ValueRange operands, ElementClass elements,
                                                 ResultRule rule, EmitError emitError) {
  ValueRange data = operands;
  if (rule == ResultRule::Condition) {
    if (!rankedType(operands[0]).getElementType().isInteger(1))
      return emitError() << "condition must have bool (i1) elements, but is "
                         << operands[0].getType();
    data = operands.drop_front();
  }
  Type elementType = rankedType(data[0]).getElementType();
  for (Value operand : data) {
    Type type = rankedType(operand).getElementType();
    if (!isInClass(type, elements))
      return emitError() << "expects " << describe(elements) << " elements, but an operand is "
                         << operand.getType();
    if (type != elementType)
      return emitError() << "operands must have one element type, but are " << data.getTypes();
  }
  SmallVector<int64_t> shape(rankedType(operands[0]).getShape());
  for (Value operand : operands.drop_front()) {
    auto joined = broadcastShapes(shape, rankedType(operand).getShape());
    if (!joined)
      return emitError() << "operand shapes do not broadcast: " << operands.getTypes();
    shape = std::move(*joined);
  }
  if (rule == ResultRule::Bool)
    elementType = IntegerType::get(elementType.getContext(), 1);
  return RankedTensorType::get(shape, elementType);
}

bool areCompatibleTypes(TypeRange lhs, TypeRange rhs) {
  if (lhs.size() != rhs.size())
    return false;
  for (auto [a, b] : llvm::zip_equal(lhs, rhs)) {
    auto left = dyn_cast<RankedTensorType>(a), right = dyn_cast<RankedTensorType>(b);
    if (!left || !right || left.getElementType() != right.getElementType() ||
        failed(verifyCompatibleShape(left, right)))
      return false;
  }
  return true;
}

LogicalResult verifyResultType(Value result, FailureOr<RankedTensorType> inferred,
                               EmitError emitError) {
  if (failed(inferred) || areCompatibleTypes(TypeRange(Type(*inferred)), result.getType()))
    return inferred;
  return emitError() << "result is " << result.getType() << ", expected " << *inferred;
}

InFlightDiagnostic emitInferenceError(std::optional<Location> location, StringRef opName) {
  if (!location)
    return InFlightDiagnostic();
  return emitError(*location) << "'" << opName << "' op ";
}

LogicalResult checkCount(StringRef name, ArrayRef<int64_t> values, int64_t count, StringRef things,
                         EmitError emitError) {
  if (static_cast<int64_t>(values.size()) == count)
    return success();
  return emitError() << name << " has " << values.size() << " values, expected " << count
                     << ", one for each of the " << things;
}

LogicalResult checkAxis(int64_t axis, int64_t rank, EmitError emitError) {
  if (axis >= 0 && axis < rank)
    return success();
  return emitError() << "axis " << axis << " is not in [0, " << rank << "), the dims of the input";
}

} // namespace detail
} // namespace atc::graph
