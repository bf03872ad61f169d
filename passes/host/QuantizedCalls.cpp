//===-- QuantizedCalls.cpp - host calls on quantized tensors --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/host/QuantizedCalls.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"

using namespace mlir;

namespace atc::host {

using graph::HostCallOp;

static Type elementOf(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return type ? type.getElementType() : Type();
}

bool hasInputs(HostCallOp call, size_t count) {
  if (call.getInputs().size() < count)
    return false;
  std::optional<ArrayRef<int32_t>> positions = call.getPositions();
  return !positions || count == 0 || (*positions)[count - 1] == static_cast<int32_t>(count) - 1;
}

bool isF32(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type && type.getElementType().isF32();
}

bool isByte(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type && type.getElementType().isInteger(8);
}

std::optional<double> numberIn(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1 || type.getRank() > 1)
    return std::nullopt;
  return graph::getScalarConstant(value);
}

Value sourceOf(Value value) {
  while (auto call = value.getDefiningOp<HostCallOp>()) {
    StringRef kernel = call.getKernel();
    bool copies = (kernel == "Identity" || kernel == "Cast") && call.getInputs().size() == 1 &&
                  elementOf(call.getInputs()[0]) == elementOf(value);
    if (!copies || !elementOf(value))
      break;
    value = call.getInputs()[0];
  }
  return value;
}

HostCallOp callOf(Value value, StringRef kernel) {
  auto call = sourceOf(value).getDefiningOp<HostCallOp>();
  return call && (kernel.empty() || call.getKernel() == kernel) && hasInputs(call, 1)
             ? call
             : HostCallOp();
}

std::optional<Silu> findSilu(HostCallOp call) {
  if (call.getKernel() != "Mul" || !hasInputs(call, 2) || call->getNumResults() != 1)
    return std::nullopt;
  for (unsigned gate : {1, 0}) {
    const Value x = sourceOf(call.getInputs()[1 - gate]);
    HostCallOp sigmoid = callOf(call.getInputs()[gate], "Sigmoid");
    if (sigmoid && sourceOf(sigmoid.getInputs()[0]) == x)
      return Silu{x, sigmoid};
  }
  return std::nullopt;
}

SmallVector<Value> inputsOf(HostCallOp call, size_t count) {
  SmallVector<Value> inputs = call.inputsByPosition();
  inputs.resize(std::max(inputs.size(), count));
  return inputs;
}

ArrayRef<int64_t> integersOf(HostCallOp call, StringRef name) {
  auto list = call.getParameters().getAs<DenseI64ArrayAttr>(name);
  return list ? list.asArrayRef() : ArrayRef<int64_t>();
}

int64_t integerOf(HostCallOp call, StringRef name, int64_t fallback) {
  auto value = call.getParameters().getAs<DenseI64ArrayAttr>(name);
  return value && value.size() == 1 ? value[0] : fallback;
}

double numberOf(HostCallOp call, StringRef name, double fallback) {
  auto value = call.getParameters().getAs<DenseF64ArrayAttr>(name);
  return value && value.size() == 1 ? value[0] : fallback;
}

std::optional<int64_t> axisOf(HostCallOp call, int64_t fallback, int64_t rank) {
  const int64_t axis = integerOf(call, "axis", fallback);
  if (axis < -rank || axis >= rank)
    return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

/// One number, whatever the shape of the tensor that holds it.
static bool isOneNumber(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (type && type.hasStaticShape())
    return type.getNumElements() == 1;
  // Its scale and zero point are scalars, which the types of calls do not say.
  return callOf(value, "DynamicQuantizeLinear") != nullptr;
}

/// Reads scale and zero point of a call: inputs 1 and 2.
static Quantized readParameters(HostCallOp call, IntegerType integer) {
  Quantized result(call.getLoc());
  SmallVector<Value> inputs = call.inputsByPosition();
  if (integerOf(call, "block_size", 0) != 0 || !hasInputs(call, 2) || !integer ||
      !isOneNumber(inputs[1]) || !elementOf(inputs[1]).isF32())
    return result;
  result.integer = integer;
  result.scale = inputs[1];
  result.zero = inputs.size() > 2 ? inputs[2] : Value();
  result.perTensor = true;
  std::optional<double> scale = graph::getScalarConstant(result.scale), zero = 0;
  if (result.zero)
    zero = graph::getScalarConstant(result.zero);
  if (scale && zero)
    if (Type type =
            graph::getQuantType(integer, static_cast<float>(*scale), static_cast<int64_t>(*zero)))
      result.params = graph::getQuantParams(type);
  return result;
}

Quantized dequantizedFrom(Value value) {
  value = sourceOf(value);
  Quantized none(value.getLoc());
  if (!elementOf(value) || !elementOf(value).isF32())
    return none;
  if (auto call = callOf(value, "DequantizeLinear")) {
    Quantized result = readParameters(call, dyn_cast<IntegerType>(elementOf(call.getInputs()[0])));
    if (result.perTensor)
      result.stored = sourceOf(call.getInputs()[0]);
    return result;
  }
  auto op = value.getDefiningOp<graph::DequantizeOp>();
  if (!op)
    return none;
  Quantized result(op.getLoc());
  result.params = graph::getQuantParams(elementOf(op.getInput()));
  if (!result.params)
    return none;
  result.stored = op.getInput();
  result.integer = result.params->stored;
  result.perTensor = result.params->isPerTensor();
  return result;
}

Quantized quantizedBy(HostCallOp call) {
  Quantized none(call.getLoc());
  if (call.getKernel() != "QuantizeLinear" || !hasInputs(call, 2) ||
      !elementOf(call.getInputs()[0]) || !elementOf(call.getInputs()[0]).isF32() ||
      integerOf(call, "precision", 0) != 0)
    return none;
  Quantized result = readParameters(call, dyn_cast<IntegerType>(elementOf(call.getResult(0))));
  if (!result.perTensor || !result.params)
    return none;
  result.stored = call.getResult(0);
  return result;
}

bool Quantized::isConstant() const {
  auto cast = stored.getDefiningOp<graph::StorageCastOp>();
  return graph::getConstant(cast ? cast.getInput() : stored) != nullptr;
}

bool Quantized::isLike(const Quantized &other) const {
  return params && other.params && perTensor && other.perTensor && integer == other.integer &&
         params->scale() == other.params->scale() &&
         params->zeroPoint() == other.params->zeroPoint();
}

Value storedOf(OpBuilder &builder, const Quantized &quantized) {
  auto type = dyn_cast<RankedTensorType>(quantized.stored.getType());
  if (!type || type.getElementType() == quantized.integer)
    return quantized.stored;
  return builder.createOrFold<graph::StorageCastOp>(quantized.loc, graph::getStoredType(type),
                                                    quantized.stored);
}

Value scalarConstant(OpBuilder &builder, Location loc, IntegerType type, int64_t value) {
  auto bytes = ArrayRef(reinterpret_cast<const char *>(&value), sizeof(value))
                   .take_front(graph::getElementBytes(type));
  return graph::ConstantOp::create(
      builder, loc, graph::makeConstant(RankedTensorType::get({}, type), std::vector<char>(bytes)));
}

/// One number, or one for each index of an axis.
static RankedTensorType parameterType(const graph::QuantParams &params, Type element) {
  SmallVector<int64_t> shape;
  if (!params.isPerTensor())
    shape.push_back(static_cast<int64_t>(params.scales.size()));
  return RankedTensorType::get(shape, element);
}

Value Quantized::scaleValue(OpBuilder &builder) const {
  if (scale)
    return scale;
  SmallVector<double> scales(params->scales.begin(), params->scales.end());
  return graph::createConstant(builder, loc, parameterType(*params, builder.getF32Type()), scales);
}

Value Quantized::zeroValue(OpBuilder &builder) const {
  if (zero)
    return zero;
  if (scale || params->isPerTensor())
    return scalarConstant(builder, loc, integer, scale ? 0 : params->zeroPoint());
  std::vector<char> bytes;
  for (int64_t point : params->zeroPoints)
    llvm::append_range(bytes, ArrayRef(reinterpret_cast<const char *>(&point), sizeof(point))
                                  .take_front(graph::getElementBytes(integer)));
  return graph::ConstantOp::create(
      builder, loc, graph::makeConstant(parameterType(*params, integer), std::move(bytes)));
}

Type withElement(Type type, Type element) {
  if (auto ranked = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(ranked.getShape(), element);
  return UnrankedTensorType::get(element);
}

HostCallOp makeCall(OpBuilder &builder, Location loc, StringRef kernel, ArrayRef<Value> inputs,
                    TypeRange results, DictionaryAttr parameters) {
  SmallVector<Value> operands;
  SmallVector<int32_t> positions;
  for (auto [i, input] : llvm::enumerate(inputs))
    if (input) {
      operands.push_back(input);
      positions.push_back(static_cast<int32_t>(i));
    }
  bool leavesOut = !positions.empty() && positions.back() + 1 != static_cast<int>(positions.size());
  return HostCallOp::create(builder, loc, results, builder.getStringAttr(kernel), operands,
                            leavesOut ? builder.getDenseI32ArrayAttr(positions)
                                      : DenseI32ArrayAttr(),
                            parameters ? parameters : builder.getDictionaryAttr({}));
}

} // namespace atc::host
