//===-- ContractInHalves.cpp - int8 contractions that the cube cannot store ==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/kernel/LayoutRules.h"
#include "passes/kernel/pack/PackIntegers.h"
#include "passes/npu/select/Int8Contractions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;
using atc::kernel::IntegerWeights;
using atc::kernel::tensorType;

namespace atc::npu {

namespace {

/// The weights and biases of an int8 contraction, times the scales of its accumulators.
struct ScaledWeights {
  std::vector<float> weights, bias;
  /// The weights are multiplied by 2^shift, and the inputs divided by it: so neither leaves the
  /// normal numbers of f16, although the product of two scales often does.
  int shift = 0;
};

template <typename OpT> std::optional<ScaledWeights> readWeights(OpT op, const ScaledSums &sums) {
  std::optional<IntegerWeights> weights =
      IntegerWeights::read(op.getFilter(), op.getFilterZeroPoints());
  if (!weights)
    return std::nullopt;
  std::vector<float> scales(weights->outputs, float(sums.scale));
  if (sums.scales) {
    std::optional<std::vector<float>> known =
        kernel::readNumbers<float>(op.getInputs()[*sums.scales]);
    if (!known || (known->size() != 1 && int64_t(known->size()) != weights->outputs))
      return std::nullopt;
    for (int64_t output = 0; output < weights->outputs; ++output)
      scales[output] = (*known)[known->size() == 1 ? 0 : output];
  }
  ScaledWeights result;
  result.bias.resize(weights->outputs, 0.0f);
  if (op.getBias()) {
    std::optional<std::vector<int32_t>> bias = kernel::readNumbers<int32_t>(op.getBias());
    if (!bias || int64_t(bias->size()) != weights->outputs)
      return std::nullopt;
    for (int64_t output = 0; output < weights->outputs; ++output)
      result.bias[output] = float(double((*bias)[output]) * scales[output]);
  }
  double max = 0;
  for (int64_t output = 0; output < weights->outputs; ++output)
    for (int64_t column = 0; column < weights->columns; ++column)
      max = std::max(max, std::abs(double(weights->row(output)[column]) * scales[output]));
  // f16 has normal numbers from 2^-14 to 2^16.
  constexpr int maxShift = 14;
  if (!(max < std::ldexp(1.0, maxShift)))
    return std::nullopt;
  result.shift = max > 0 ? std::clamp(maxShift - 1 - std::ilogb(max), 0, maxShift) : 0;
  result.weights.reserve(weights->outputs * weights->columns);
  for (int64_t output = 0; output < weights->outputs; ++output)
    for (int64_t column = 0; column < weights->columns; ++column)
      result.weights.push_back(
          float(std::ldexp(double(weights->row(output)[column]) * scales[output], result.shift)));
  return result;
}

/// Returns (input - zero point) / 2^shift, which f16 represents exactly.
Value createInput(OpBuilder &builder, Location loc, Value input, int64_t zeroPoint, int shift) {
  const RankedTensorType type = tensorType(input);
  Type f32 = builder.getF32Type();
  auto map = graph::MapOp::create(builder, loc, RankedTensorType::get(type.getShape(), f32), input);
  OpBuilder::InsertionGuard guard(builder);
  Block *code = builder.createBlock(&map.getBody(), {}, builder.getIntegerType(8), loc);
  Value number = type.getElementType().isUnsignedInteger()
                     ? arith::UIToFPOp::create(builder, loc, f32, code->getArgument(0)).getResult()
                     : arith::SIToFPOp::create(builder, loc, f32, code->getArgument(0)).getResult();
  auto constant = [&](double value) {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(float(value)));
  };
  if (zeroPoint)
    number = arith::SubFOp::create(builder, loc, number, constant(double(zeroPoint)));
  if (shift)
    number = arith::MulFOp::create(builder, loc, number, constant(std::ldexp(1.0, -shift)));
  graph::YieldOp::create(builder, loc, number);
  return map.getResult();
}

Value createContraction(OpBuilder &builder, graph::IntegerConvOp op, Type type, Value input,
                        Value filter, Value bias) {
  return graph::ConvOp::create(builder, graph::derivedLoc(op.getLoc(), "halves"), type, input,
                               filter, bias, /*residual=*/Value(), /*slope=*/Value(),
                               op.getStrides(), op.getPads(), op.getDilations(), op.getGroups(),
                               graph::ActivationAttr());
}

Value createContraction(OpBuilder &builder, graph::IntegerFullyConnectedOp op, Type type,
                        Value input, Value filter, Value bias) {
  return graph::FullyConnectedOp::create(builder, graph::derivedLoc(op.getLoc(), "halves"), type,
                                         input, filter, bias, graph::ActivationAttr());
}

template <typename OpT> bool rewrite(OpT op, StringRef why) {
  std::optional<ScaledSums> sums = scaledSumsOf(op);
  std::optional<ScaledWeights> scaled;
  if (sums)
    scaled = readWeights(op, *sums);
  if (!scaled)
    return false;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type f32 = builder.getF32Type();
  auto constant = [&](ArrayRef<int64_t> shape, ArrayRef<float> numbers, StringRef name) -> Value {
    auto type = RankedTensorType::get(shape, f32);
    return graph::ConstantOp::create(builder, loc, type, graph::makeConstant(type, numbers, name));
  };
  ArrayRef<int64_t> filterShape = tensorType(op.getFilter()).getShape();
  Value filter = constant(filterShape, scaled->weights, "filter"),
        bias = constant(filterShape.front(), scaled->bias, "bias");
  Value input = createInput(builder, graph::derivedLoc(loc, "input"), op.getInput(),
                            op.getZeroPoint(), scaled->shift);
  Value result = createContraction(builder, op, RankedTensorType::get(op.getType().getShape(), f32),
                                   input, filter, bias);

  result.getDefiningOp()->setAttr(kInHalvesAttr, builder.getStringAttr(why));

  // What the body computes of the scaled accumulators is a map.
  Block &body = op.getBody().front();
  SmallVector<Value> inputs{result};
  SmallVector<Type> types{f32};
  for (auto [index, value] : llvm::enumerate(op.getInputs()))
    if (index != sums->scales) {
      inputs.push_back(value);
      types.push_back(body.getArgument(index + 1).getType());
    }
  auto map = graph::MapOp::create(builder, loc, op.getType(), inputs);
  Block *code =
      builder.createBlock(&map.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
  IRMapping mapping;
  mapping.map(sums->value, code->getArgument(0));
  for (unsigned index = 0, number = 1; index < op.getInputs().size(); ++index)
    if (index != sums->scales)
      mapping.map(body.getArgument(index + 1), code->getArgument(number++));
  for (Operation &inner : body.without_terminator())
    if (inner.getResult(0) != sums->value &&
        llvm::all_of(inner.getOperands(), [&](Value value) { return mapping.contains(value); }))
      builder.clone(inner, mapping);
  graph::YieldOp::create(builder, loc, mapping.lookup(body.getTerminator()->getOperand(0)));
  op.getResult().replaceAllUsesWith(map.getResult());
  op.erase();
  return true;
}

} // namespace

bool contractInHalves(Operation *op, StringRef why) {
  if (auto conv = dyn_cast<graph::IntegerConvOp>(op))
    return rewrite(conv, why);
  if (auto product = dyn_cast<graph::IntegerFullyConnectedOp>(op))
    return rewrite(product, why);
  return false;
}

} // namespace atc::npu
