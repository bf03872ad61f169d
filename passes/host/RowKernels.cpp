//===-- RowKernels.cpp - host kernels that compute row by row -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/host/RowKernels.h"

#include "dialects/graph/Graph.h"
#include "passes/ValueTypes.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

#include <limits>

using namespace mlir;

namespace atc::host {

namespace {

using Operands = const RowOperands &;

int64_t widthOf(Value value) { return tensorTypeOf(value).getShape().back(); }

/// Returns whether a constant broadcasts to rows of f32 without adding dims to them.
bool isRowConstant(Value value) {
  return graph::isConstant(value) && tensorTypeOf(value).getRank() <= 1 &&
         tensorTypeOf(value).getElementType().isF32();
}

/// Returns the elements of a small constant of integers.
std::optional<SmallVector<int64_t>> integersOf(Value value) {
  auto constant = value ? value.getDefiningOp<graph::ConstantOp>() : graph::ConstantOp();
  auto dense = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
  if (!dense)
    return std::nullopt;
  SmallVector<int64_t> elements;
  for (const APInt &element : dense.getValues<APInt>())
    elements.push_back(element.getSExtValue());
  return elements;
}

template <typename Op> Value buildBinary(OpBuilder &builder, Operands in) {
  if (in.values.size() != 2)
    return {};
  for (Value value : in.values)
    if (!value || (graph::isConstant(value) && !isRowConstant(value)))
      return {};
  // All operands have the width of the widest tensor, or 1. A constant must not widen the rows.
  int64_t width = 1, rows = 1;
  for (Value value : in.values) {
    if (graph::isConstant(value))
      continue;
    rows = tensorTypeOf(value).getDimSize(0);
    width = std::max(width, widthOf(value));
  }
  for (Value value : in.values) {
    const int64_t size = tensorTypeOf(value).getRank() == 0 ? 1 : widthOf(value);
    if (size != 1 && size != width)
      return {};
  }
  return Op::create(builder, in.call.getLoc(),
                    RankedTensorType::get({rows, width}, builder.getF32Type()), in.values[0],
                    in.values[1]);
}

template <typename Op> Value buildUnary(OpBuilder &builder, Operands in) {
  if (in.values.size() != 1 || !in.values[0])
    return {};
  return Op::create(builder, in.call.getLoc(), in.values[0].getType(), in.values[0]);
}

Value buildGelu(OpBuilder &builder, Operands in) {
  Attribute given = in.call.getParameters().get("approximate");
  auto approximate = dyn_cast_or_null<StringAttr>(given);
  if (in.values.size() != 1 || (given && !approximate))
    return {};
  const bool isTanh = approximate && approximate.getValue() == "tanh";
  return graph::GeluOp::create(builder, in.call.getLoc(), in.values[0].getType(), in.values[0],
                               isTanh);
}

Value buildLeakyRelu(OpBuilder &builder, Operands in) {
  return graph::LeakyReluOp::create(builder, in.call.getLoc(), in.values[0].getType(), in.values[0],
                                    APFloat(numberOf(in.call, "alpha", 0.01)));
}

Value buildHardSigmoid(OpBuilder &builder, Operands in) {
  return graph::HardSigmoidOp::create(builder, in.call.getLoc(), in.values[0].getType(),
                                      in.values[0], APFloat(numberOf(in.call, "alpha", 0.2)),
                                      APFloat(numberOf(in.call, "beta", 0.5)));
}

Value buildClip(OpBuilder &builder, Operands in) {
  // Without a limit.
  double limits[] = {-std::numeric_limits<double>::infinity(),
                     std::numeric_limits<double>::infinity()};
  for (size_t i = 1; i < in.values.size() && i < 3; ++i)
    if (Value given = in.values[i]) {
      std::optional<double> number = numberIn(given);
      if (!number)
        return {};
      limits[i - 1] = *number;
    }
  if (graph::isConstant(in.values[0]))
    return {};
  return graph::ClipOp::create(builder, in.call.getLoc(), in.values[0].getType(), in.values[0],
                               APFloat(limits[0]), APFloat(limits[1]));
}

Value buildMatMul(OpBuilder &builder, Operands in) {
  Value lhs = in.values[0], rhs = in.values.size() == 2 ? in.values[1] : Value();
  if (graph::isConstant(lhs) || !graph::isConstant(rhs) || tensorTypeOf(rhs).getRank() != 2 ||
      !tensorTypeOf(rhs).getElementType().isF32() ||
      tensorTypeOf(rhs).getDimSize(0) != widthOf(lhs))
    return {};
  return graph::MatMulOp::create(builder, in.call.getLoc(), lhs, rhs);
}

/// Returns whether a Gemm is a product of rows with a matrix, plus a bias per column.
bool isPlainGemm(graph::HostCallOp call) {
  return integerOf(call, "transA", 0) == 0 && numberOf(call, "alpha", 1) == 1 &&
         numberOf(call, "beta", 1) == 1;
}

Value buildGemm(OpBuilder &builder, Operands in) {
  Value lhs = in.values[0], rhs = in.values.size() > 1 ? in.values[1] : Value();
  Value bias = in.values.size() > 2 ? in.values[2] : Value();
  if (!isPlainGemm(in.call) || graph::isConstant(lhs) || !graph::isConstant(rhs) ||
      tensorTypeOf(rhs).getRank() != 2 || !tensorTypeOf(rhs).getElementType().isF32())
    return {};
  const bool transposed = integerOf(in.call, "transB", 0) != 0;
  const int64_t columns = tensorTypeOf(rhs).getDimSize(transposed ? 0 : 1);
  if (tensorTypeOf(rhs).getDimSize(transposed ? 1 : 0) != widthOf(lhs) ||
      (bias && (!isRowConstant(bias) || (tensorTypeOf(bias).getNumElements() != 1 &&
                                         tensorTypeOf(bias).getNumElements() != columns))))
    return {};
  Location loc = in.call.getLoc();
  if (transposed)
    rhs = graph::TransposeOp::create(builder, loc, rhs, ArrayRef<int64_t>{1, 0});
  Value product = graph::MatMulOp::create(builder, loc, lhs, rhs);
  if (!bias)
    return product;
  return graph::AddOp::create(builder, loc, product, bias);
}

Value mean(OpBuilder &builder, Location loc, Value value) {
  return graph::ReduceOp::create(builder, loc, value, graph::ReduceKind::Mean, ArrayRef<int64_t>{1},
                                 /*keepdims=*/true);
}

Value buildReduceMean(OpBuilder &builder, Operands in) {
  if (in.values.size() != 2 || graph::isConstant(in.values[0]) ||
      !graph::isConstant(in.values[1]) || integerOf(in.call, "keepdims", 1) != 1)
    return {};
  auto axes = integersOf(in.values[1]);
  // A dim that is counted from the front is the last one for one rank only.
  if (!axes || axes->size() != 1 || axes->front() != -1)
    return {};
  return mean(builder, in.call.getLoc(), in.values[0]);
}

Value buildLayerNormalization(OpBuilder &builder, Operands in) {
  if (in.values.size() < 2 || integerOf(in.call, "axis", -1) != -1 ||
      graph::isConstant(in.values[0]))
    return {};
  for (Value value : ArrayRef(in.values).drop_front())
    if (value &&
        (!isRowConstant(value) || tensorTypeOf(value).getNumElements() != widthOf(in.values[0])))
      return {};
  Location loc = in.call.getLoc();
  Value input = in.values[0];
  Value centered = graph::SubOp::create(builder, loc, input, mean(builder, loc, input));
  Value square = graph::MulOp::create(builder, loc, centered, centered);
  Value variance = mean(builder, loc, square);
  Value epsilon =
      graph::createConstant(builder, loc, RankedTensorType::get({1, 1}, builder.getF32Type()),
                            {numberOf(in.call, "epsilon", 1e-5f)});
  Value inverse = graph::RsqrtOp::create(
      builder, loc, graph::AddOp::create(builder, loc, variance, epsilon).getResult());
  Value result = graph::MulOp::create(builder, loc, centered, inverse);
  result = graph::MulOp::create(builder, loc, result, in.values[1]);
  if (in.values.size() > 2 && in.values[2])
    result = graph::AddOp::create(builder, loc, result, in.values[2]);
  return result;
}

using Build = Value (*)(OpBuilder &, Operands);

Build findBuild(StringRef kernel) {
  static const llvm::StringMap<Build> builds = {
      {"Add", buildBinary<graph::AddOp>},
      {"Sub", buildBinary<graph::SubOp>},
      {"Mul", buildBinary<graph::MulOp>},
      {"Div", buildBinary<graph::DivOp>},
      {"Pow", buildBinary<graph::PowOp>},
      {"Erf", buildUnary<graph::ErfOp>},
      {"Exp", buildUnary<graph::ExpOp>},
      {"Clip", buildClip},
      {"HardSigmoid", buildHardSigmoid},
      {"LeakyRelu", buildLeakyRelu},
      {"Relu", buildUnary<graph::ReluOp>},
      {"Sigmoid", buildUnary<graph::SigmoidOp>},
      {"Sqrt", buildUnary<graph::SqrtOp>},
      {"Tanh", buildUnary<graph::TanhOp>},
      {"Gelu", buildGelu},
      {"Gemm", buildGemm},
      {"MatMul", buildMatMul},
      {"ReduceMean", buildReduceMean},
      {"LayerNormalization", buildLayerNormalization},
  };
  return builds.lookup(kernel);
}

/// Returns the last element of an integer vector that is a constant or ends with one.
int64_t lastOf(Value vector) {
  if (!vector)
    return 0;
  if (auto call = vector.getDefiningOp<graph::HostCallOp>())
    return call.getKernel() == "Concat" && !call.getInputs().empty()
               ? lastOf(call.getInputs().back())
               : 0;
  auto elements = integersOf(vector);
  return elements && !elements->empty() ? elements->back() : 0;
}

bool isElementwise(StringRef kernel) {
  return llvm::is_contained({"Add", "Sub", "Mul", "Div", "Pow"}, kernel);
}

bool keepsShape(StringRef kernel) {
  return llvm::is_contained({"Erf", "Exp", "Relu", "Sigmoid", "Sqrt", "Tanh", "Gelu", "Identity",
                             "Clip", "HardSigmoid", "LeakyRelu", "LayerNormalization", "Softmax"},
                            kernel);
}

} // namespace

Value buildRows(OpBuilder &builder, const RowOperands &operands) {
  graph::HostCallOp call = operands.call;
  Build build = findBuild(call.getKernel());
  for (OpResult result : call.getResults())
    if (result.getResultNumber() > 0 && !result.use_empty())
      return {};
  return build && !operands.values.empty() && operands.values[0] ? build(builder, operands)
                                                                 : Value();
}

int64_t rowWidthOf(graph::HostCallOp call, ArrayRef<int64_t> widths) {
  const StringRef kernel = call.getKernel();
  const SmallVector<Value> inputs = call.inputsByPosition();
  if (keepsShape(kernel))
    return widths.empty() ? 0 : widths[0];
  if (isElementwise(kernel)) {
    // The other operand then has this width or 1.
    const int64_t width = widths.empty() ? 0 : *llvm::max_element(widths);
    return width > 1 ? width : 0;
  }
  auto ofMatrix = [&](Value value) {
    auto type = graph::isConstant(value) ? tensorTypeOf(value) : RankedTensorType();
    return type && type.getRank() == 2 ? type.getDimSize(1) : 0;
  };
  if (kernel == "MatMul" && inputs.size() == 2)
    return ofMatrix(inputs[1]);
  if (kernel == "Gather" && inputs.size() == 2 && integerOf(call, "axis", 0) == 0)
    return ofMatrix(inputs[0]);
  if (kernel == "Reshape" && inputs.size() == 2)
    return std::max<int64_t>(0, lastOf(inputs[1]));
  return 0;
}

int64_t requiredRowWidth(graph::HostCallOp call, unsigned index) {
  const SmallVector<Value> inputs = call.inputsByPosition();
  const bool isGemm = call.getKernel() == "Gemm" && isPlainGemm(call);
  if ((call.getKernel() != "MatMul" && !isGemm) || index != 0 || inputs.size() < 2 ||
      !graph::isConstant(inputs[1]) || tensorTypeOf(inputs[1]).getRank() != 2)
    return 0;
  return tensorTypeOf(inputs[1]).getDimSize(isGemm && integerOf(call, "transB", 0) ? 1 : 0);
}

} // namespace atc::host
