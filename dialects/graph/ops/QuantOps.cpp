//===-- QuantOps.cpp - quantized tensors, integer contractions -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/FoldChains.h"
#include "dialects/graph/ops/RegisterOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace atc::graph;
using namespace atc::graph::detail;

#define GET_OP_CLASSES
#include "dialects/graph/ops/QuantOps.cpp.inc"

void atc::graph::registerQuantOps(GraphDialect &dialect) {
  registerOps<
#define GET_OP_LIST
#include "dialects/graph/ops/QuantOps.cpp.inc"
      >(dialect);
}

//===----------------------------------------------------------------------===//
// quantize, dequantize, storage_cast
//===----------------------------------------------------------------------===//

static LogicalResult verifySameShape(Operation *op) {
  RankedTensorType input = rankedType(op->getOperand(0)), result = rankedType(op->getResult(0));
  if (failed(verifyCompatibleShape(input, result)))
    return op->emitOpError() << "changes elements, not the shape, but input is " << input
                             << " and result is " << result;
  return success();
}

/// Checks that one side is a float tensor and the other one a quantized tensor.
static LogicalResult verifyQuantization(Operation *op, RankedTensorType real,
                                        RankedTensorType quantized) {
  if (failed(verifySameShape(op)))
    return failure();
  if (!real.getElementType().isF32())
    return op->emitOpError() << "needs real numbers of f32, but they are " << real;
  std::optional<QuantParams> params = getQuantParams(quantized.getElementType());
  if (!params)
    return op->emitOpError() << "needs elements of a !quant.uniform type, per tensor or per axis, "
                                "but they are "
                             << quantized;
  if (params->isPerTensor())
    return success();
  if (params->axis >= quantized.getRank() ||
      !dimsAgree(quantized.getDimSize(params->axis), params->scales.size()))
    return op->emitOpError() << "has " << params->scales.size() << " scales along dim "
                             << params->axis << " of " << quantized;
  return success();
}

LogicalResult QuantizeOp::verify() {
  return verifyQuantization(*this, getInput().getType(), getType());
}

LogicalResult DequantizeOp::verify() {
  return verifyQuantization(*this, getType(), getInput().getType());
}

LogicalResult StorageCastOp::verify() {
  if (failed(verifySameShape(*this)))
    return failure();
  Type from = getStoredType(getInput().getType().getElementType());
  Type to = getStoredType(getType().getElementType());
  if (!isa<IntegerType>(from) || from != to)
    return emitOpError() << "keeps the integers, but they are " << from << " in the input and "
                         << to << " in the result";
  return success();
}

OpFoldResult StorageCastOp::fold(FoldAdaptor) { return foldChain(*this); }

//===----------------------------------------------------------------------===//
// Integer contractions
//===----------------------------------------------------------------------===//

/// Checks an integer contraction; `sums` is the shape of the accumulators and dim `channels` their
/// channels.
template <typename OpT>
static LogicalResult verifySums(OpT op, ArrayRef<int64_t> sums, int64_t channelDim) {
  for (Value value : {op.getInput(), op.getFilter()})
    if (Type element = rankedType(value).getElementType();
        !element.isInteger(8) || element.isSignedInteger())
      return op.emitOpError() << "sums products of i8 or ui8, but an operand is "
                              << value.getType();
  RankedTensorType result = op.getType();
  if (failed(verifyCompatibleShape(sums, result.getShape())))
    return op.emitOpError() << "result is " << result << ", but the sums have shape [" << sums
                            << "]";
  int64_t channels = sums[channelDim];
  if (Value bias = op.getBias()) {
    RankedTensorType type = rankedType(bias);
    if (type.getRank() != 1 || !dimsAgree(type.getDimSize(0), channels) ||
        !type.getElementType().isSignlessInteger(32))
      return op.emitOpError() << "bias must be one i32 for each of the " << channels
                              << " channels, but is " << type;
  }
  if (!op.getFilterZeroPoints().empty() &&
      failed(checkCount("filter_zero_points", op.getFilterZeroPoints(), channels, "output channels",
                        [&] { return op.emitOpError(); })))
    return failure();
  for (Value input : op.getInputs()) {
    auto both = broadcastShapes(result.getShape(), rankedType(input).getShape());
    if (!both || failed(verifyCompatibleShape(*both, result.getShape())))
      return op.emitOpError() << "input " << input.getType() << " does not broadcast to " << result;
  }

  if (op.getBody().empty()) {
    if (!op.getInputs().empty() || !result.getElementType().isSignlessInteger(32))
      return op.emitOpError() << "without a body gives sums of i32, but has a result of " << result
                              << " and " << op.getInputs().size() << " inputs";
    return success();
  }
  Block &body = op.getBody().front();
  SmallVector<Type> expected{IntegerType::get(op.getContext(), 32)};
  for (Value input : op.getInputs())
    expected.push_back(getScalarType(rankedType(input).getElementType()));
  if (body.getArgumentTypes() != TypeRange(expected))
    return op.emitOpError() << "body has arguments " << body.getArgumentTypes() << ", expected "
                            << TypeRange(expected);
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  Type wanted = getScalarType(result.getElementType());
  if (!yield || !yield.getValue() || yield.getValue().getType() != wanted)
    return op.emitOpError() << "body must end with a yield of " << wanted;
  for (Operation &inner : body.without_terminator()) {
    StringRef dialect = inner.getName().getDialectNamespace();
    if (dialect != "arith" && dialect != "math")
      return op.emitOpError() << "body may use arith and math ops only, but has '"
                              << inner.getName() << "'";
  }
  return success();
}

LogicalResult IntegerConvOp::verify() {
  RankedTensorType input = getInput().getType(), filter = getFilter().getType();
  if (input.getRank() != 4 || filter.getRank() != 4)
    return emitOpError() << "works on images: input and filter must have rank 4, but are " << input
                         << " and " << filter;
  auto emit = [&] { return emitOpError(); };
  if (failed(checkCount("strides", getStrides(), 2, "spatial dims", emit)) ||
      failed(checkCount("dilations", getDilations(), 2, "spatial dims", emit)) ||
      failed(checkCount("pads", getPads(), 4, "begins and ends of the spatial dims", emit)))
    return failure();
  int64_t groups = getGroups();
  if (groups < 1 || !dimsAgree(filter.getDimSize(1) * groups, input.getDimSize(1)) ||
      filter.getDimSize(0) % groups != 0)
    return emitOpError() << "input " << input << " and filter " << filter << " do not fit with "
                         << groups << " groups";
  SmallVector<int64_t> sums{input.getDimSize(0), filter.getDimSize(0)};
  for (int d : {0, 1}) {
    int64_t extent = (filter.getDimSize(2 + d) - 1) * getDilations()[d] + 1;
    int64_t padded = input.getDimSize(2 + d) + getPads()[d] + getPads()[2 + d];
    if (getStrides()[d] < 1 || getDilations()[d] < 1 || getPads()[d] < 0 || getPads()[2 + d] < 0 ||
        (!input.isDynamicDim(2 + d) && padded < extent))
      return emitOpError() << "has a window that does not fit its input along spatial dim " << d;
    sums.push_back(input.isDynamicDim(2 + d) ? ShapedType::kDynamic
                                             : (padded - extent) / getStrides()[d] + 1);
  }
  return verifySums(*this, sums, 1);
}

LogicalResult IntegerFullyConnectedOp::verify() {
  RankedTensorType input = getInput().getType(), filter = getFilter().getType();
  if (input.getRank() < 1 || filter.getRank() != 2 ||
      !dimsAgree(input.getShape().back(), filter.getDimSize(1)))
    return emitOpError() << "expects input [..., K] and filter [N, K], but they are " << input
                         << " and " << filter;
  SmallVector<int64_t> sums(input.getShape());
  sums.back() = filter.getDimSize(0);
  return verifySums(*this, sums, input.getRank() - 1);
}
