//===-- InsertQuantization.cpp - attributes become quantize, dequantize ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calibration decides, this pass expands. It creates the ops that the importer creates for a
// quantized ONNX model, so that all later passes handle both alike.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/QuantTypes.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/graph/quant/QuantizeWeights.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHINSERTQUANTIZATION
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

constexpr llvm::StringLiteral tensorAttr = "graph.quantization";
constexpr llvm::StringLiteral weightAttr = "graph.weight_quantization";

/// The parameters of an attribute; nothing, after an error, where they cannot be used.
std::optional<QuantParams> readParams(Attribute attribute, Location loc) {
  auto type = dyn_cast_or_null<TypeAttr>(attribute);
  std::optional<QuantParams> params = type ? getQuantParams(type.getValue()) : std::nullopt;
  if (!params || params->stored.getWidth() != 8) {
    emitError(loc) << "E14001: a quantization attribute must be a !quant.uniform type of 8 bits, "
                      "not "
                   << attribute;
    return std::nullopt;
  }
  return params;
}

bool isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

LogicalResult quantizeTensor(OpBuilder &builder, Value value, TypeAttr attribute) {
  std::optional<QuantParams> params = readParams(attribute, value.getLoc());
  if (!params)
    return failure();
  if (!isFloatTensor(value))
    return emitError(value.getLoc())
           << "E14001: only a tensor of f32 can be quantized, not " << value.getType();
  auto type = getTensorType(value);
  auto quantized =
      QuantizeOp::create(builder, derivedLoc(value.getLoc(), "quantized"),
                         RankedTensorType::get(type.getShape(), attribute.getValue()), value);
  auto real = DequantizeOp::create(builder, derivedLoc(value.getLoc(), "dequantized"), type,
                                   quantized.getResult());
  value.replaceAllUsesExcept(real.getResult(), quantized);
  return success();
}

/// Returns a constant of integers that represent real values.
template <typename T>
Value createDequantized(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                        ArrayRef<T> integers, Type quantType) {
  auto stored = cast<IntegerType>(getQuantParams(quantType)->stored);
  auto type = RankedTensorType::get(shape, stored);
  Value constant = ConstantOp::create(builder, loc, makeConstant<T>(type, integers, "quantized"));
  Value quantized =
      StorageCastOp::create(builder, loc, RankedTensorType::get(shape, quantType), constant);
  return DequantizeOp::create(builder, loc, RankedTensorType::get(shape, builder.getF32Type()),
                              quantized);
}

/// Returns the scale of a tensor that is dequantized with a single one; nothing for others.
std::optional<float> inputScaleOf(Value value) {
  auto dequantize = value.getDefiningOp<DequantizeOp>();
  if (!dequantize)
    return std::nullopt;
  auto params = getQuantParams(getTensorType(dequantize.getInput()).getElementType());
  return params && params->isPerTensor() ? std::optional(params->scale()) : std::nullopt;
}

Value biasOf(Operation *op) {
  if (auto conv = dyn_cast<ConvOp>(op))
    return conv.getBias();
  if (isa<ConvTransposeOp, FullyConnectedOp>(op) && op->getNumOperands() > 2)
    return op->getOperand(2);
  return {};
}

void quantizeBias(OpBuilder &builder, Operation *op, ArrayRef<float> weightScales) {
  Value bias = biasOf(op);
  std::optional<float> inputScale = inputScaleOf(op->getOperand(0));
  if (!bias || !isFloatTensor(bias) || !inputScale)
    return;
  ElementsAttr constant = getConstant(bias);
  FailureOr<ConstantBytes> bytes = failure();
  if (constant)
    bytes = ConstantBytes::get(constant);
  if (failed(bytes))
    return;
  ArrayRef<float> values = bytes->expandedAs<float>();
  SmallVector<float> scales;
  for (size_t i = 0; i < values.size(); ++i)
    scales.push_back(*inputScale * weightScales[i % weightScales.size()]);
  SmallVector<int64_t> zeros(scales.size(), 0);
  Type type = getQuantType(IntegerType::get(op->getContext(), 32), scales, zeros, /*axis=*/0);
  if (!type)
    return;
  std::vector<int32_t> integers = atc::graph::quantizeBias(values, weightScales, *inputScale);
  Value real = createDequantized<int32_t>(builder, bias.getLoc(), getTensorType(bias).getShape(),
                                          integers, type);
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == bias)
      operand.set(real);
}

LogicalResult quantizeLayer(OpBuilder &builder, Operation *op, TypeAttr attribute) {
  std::optional<QuantParams> params = readParams(attribute, op->getLoc());
  if (!params)
    return failure();
  Value filter = op->getNumOperands() > 1 ? op->getOperand(1) : Value();
  ElementsAttr constant = filter && isFloatTensor(filter) ? getConstant(filter) : ElementsAttr();
  FailureOr<ConstantBytes> bytes = failure();
  if (constant)
    bytes = ConstantBytes::get(constant);
  if (!op->hasTrait<IsContraction>() || failed(bytes))
    return op->emitError("E14001: only constant f32 weights of a conv, conv_transpose, "
                         "fully_connected or matmul can be quantized");
  ArrayRef<int64_t> shape = getTensorType(filter).getShape();
  const bool fits =
      params->stored.isSignless() &&
      llvm::all_of(params->zeroPoints, [](int64_t zero) { return zero == 0; }) &&
      (params->isPerTensor() || (params->axis < int64_t(shape.size()) &&
                                 shape[params->axis] == int64_t(params->scales.size())));
  if (!fits)
    return op->emitError("E14001: weights need symmetric i8, with a scale for each index of the "
                         "axis");
  builder.setInsertionPoint(op);
  std::vector<int8_t> integers =
      quantizeWeights({bytes->expandedAs<float>(), shape, params->axis}, params->scales);
  op->setOperand(1, createDequantized<int8_t>(builder, filter.getLoc(), shape, integers,
                                              attribute.getValue()));
  quantizeBias(builder, op, params->scales);
  return success();
}

struct InsertQuantization : atc::graph::impl::GraphInsertQuantizationBase<InsertQuantization> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    bool isValid = true;
    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(&function.getBody().front());
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto attribute = function.getArgAttrOfType<TypeAttr>(i, tensorAttr)) {
        function.removeArgAttr(i, tensorAttr);
        isValid &= succeeded(quantizeTensor(builder, function.getArgument(i), attribute));
        ++numTensors;
      }
    SmallVector<Operation *> marked;
    function.walk([&](Operation *op) {
      if (op != function && (op->hasAttr(tensorAttr) || op->hasAttr(weightAttr)))
        marked.push_back(op);
    });
    // In the order of the graph: a bias needs the scale of its layer's input.
    for (Operation *op : marked) {
      if (auto attribute = op->getAttrOfType<TypeAttr>(weightAttr)) {
        isValid &= succeeded(quantizeLayer(builder, op, attribute));
        ++numWeights;
      }
      if (auto attribute = op->getAttrOfType<TypeAttr>(tensorAttr)) {
        if (op->getNumResults() != 1) {
          op->emitError("E14001: only the result of an op with one can be quantized");
          isValid = false;
          continue;
        }
        builder.setInsertionPointAfter(op);
        isValid &= succeeded(quantizeTensor(builder, op->getResult(0), attribute));
        ++numTensors;
      }
      op->removeAttr(weightAttr);
      op->removeAttr(tensorAttr);
    }
    if (!isValid)
      signalPassFailure();
  }
};

} // namespace
