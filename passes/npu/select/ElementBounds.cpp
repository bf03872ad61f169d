//===-- ElementBounds.cpp - between which numbers elements are ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/select/ElementBounds.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/IndexBound.h"
#include "dialects/graph/ops/ImageOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "dialects/graph/scalar/ScalarMath.h"
#include "passes/ValueTypes.h"
#include "passes/npu/select/ScalarBounds.h"
#include "runtime-lite/abi/SmallFloats.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace atc::npu {

namespace {

/// Calls `visit` with each element of a constant; returns false for types that no layer has.
template <typename Visit> bool forEachElement(ElementsAttr value, Visit visit) {
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(value);
  if (failed(bytes) || bytes->getType().getNumElements() == 0)
    return false;
  Type element = value.getElementType();
  auto all = [&]<typename T>(T) {
    for (T number : bytes->expandedAs<T>())
      visit(double(number));
    return true;
  };
  if (element.isF16()) {
    for (uint16_t bits : bytes->expandedAs<uint16_t>())
      visit(double(halfToFloat(bits)));
    return true;
  }
  if (element.isF32())
    return all(float());
  if (element.isSignlessInteger(64))
    return all(int64_t());
  if (element.isSignlessInteger(32))
    return all(int32_t());
  if (element.isUnsignedInteger(8) || element.isInteger(1))
    return all(uint8_t());
  return element.isSignlessInteger(8) && all(int8_t());
}

ElementBounds ofConstant(graph::ConstantOp constant) {
  ElementBounds bounds;
  bounds.all = {Interval::kInfinity, -Interval::kInfinity};
  bool hasNan = false;
  const bool isRead = forEachElement(constant.getValue(), [&](double number) {
    hasNan |= std::isnan(number);
    bounds.all.min = std::min(bounds.all.min, number);
    bounds.all.max = std::max(bounds.all.max, number);
    // Numbers that are infinite in the model are none that f16 loses.
    if (std::isfinite(number)) {
      bounds.top = std::max(bounds.top, number);
      bounds.bottom = std::min(bounds.bottom, number);
    }
  });
  return isRead && !hasNan ? bounds : ElementBounds();
}

ElementBounds ofArgument(BlockArgument argument) {
  Type element = cast<ShapedType>(argument.getType()).getElementType();
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto bound = function ? function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                                 graph::kIndicesBelowAttr)
                        : IntegerAttr();
  if (bound)
    return Interval{0, double(bound.getInt() - 1)};
  return boundsOfType(element, element.isUnsignedInteger() || element.isInteger(1));
}

/// Returns the bounds of the elements of several tensors together.
ElementBounds joined(ArrayRef<ElementBounds> parts) {
  ElementBounds whole = parts.front();
  for (const ElementBounds &part : parts.drop_front()) {
    whole.all = join(whole.all, part.all);
    whole.top = std::max(whole.top, part.top);
    whole.bottom = std::min(whole.bottom, part.bottom);
  }
  return whole;
}

ElementBounds ofPreprocess(graph::PreprocessOp op) {
  SmallVector<ElementBounds> planes;
  for (auto [mean, min, factor] : llvm::zip(op.getMeans(), op.getMins(), op.getFactors())) {
    const double offset = double(mean) + double(min);
    planes.push_back(product({-offset, 255 - offset}, {factor, factor}));
  }
  return planes.empty() ? ElementBounds() : joined(planes);
}

} // namespace

ElementBounds BoundsAnalysis::of(Value tensor) {
  auto [entry, isNew] = known.try_emplace(tensor);
  if (!isNew)
    return entry->second;
  if (auto constant = tensor.getDefiningOp<graph::ConstantOp>())
    entry->second = ofConstant(constant);
  else if (auto argument = dyn_cast<BlockArgument>(tensor);
           argument && isa<RankedTensorType>(tensor.getType()))
    entry->second = ofArgument(argument);
  return entry->second;
}

void BoundsAnalysis::note(Operation &op) {
  // Constants are read once somebody asks for them.
  if (op.getNumResults() != 1 || isa<graph::ConstantOp>(op) ||
      !llvm::all_of(op.getOperandTypes(), llvm::IsaPred<RankedTensorType>))
    return;
  ElementBounds bounds = ofResult(op);
  known[op.getResult(0)] = bounds;
}

ElementBounds BoundsAnalysis::inBody(graph::MapOp map, Value number) {
  SmallVector<ElementBounds> inputs;
  for (Value input : map.getInputs())
    inputs.push_back(of(input));
  return boundsOfScalar(map.getBody().front(), inputs, number);
}

ElementBounds BoundsAnalysis::ofReduce(graph::ReduceOp op) {
  const ElementBounds input = of(op.getInput());
  const double count = double(tensorTypeOf(op.getInput()).getNumElements()) /
                       double(tensorTypeOf(op.getResult()).getNumElements());
  auto sum = [&](const ElementBounds &terms, double factor) {
    auto scaled = [&](Interval a) { return product(a, {factor, factor}); };
    // One term is as large as the largest, and the others are as large as they must be.
    Interval others = product(terms.all, {count - 1, count - 1});
    ElementBounds bounds = scaled(product(terms.all, {count, count}));
    bounds.top = scaled(addition(others, terms.topPart())).min;
    bounds.bottom = scaled(addition(others, terms.bottomPart())).max;
    return bounds;
  };
  switch (op.getKind()) {
  case graph::ReduceKind::Sum:
    return sum(input, 1);
  case graph::ReduceKind::Mean:
    return sum(input, 1 / count);
  case graph::ReduceKind::SumSquare:
    return sum(combine(input, square), 1);
  case graph::ReduceKind::L1:
    return sum(combine(input, magnitude), 1);
  case graph::ReduceKind::Max: {
    ElementBounds bounds = input.all;
    bounds.top = input.top;
    return bounds;
  }
  case graph::ReduceKind::Min: {
    ElementBounds bounds = input.all;
    bounds.bottom = input.bottom;
    return bounds;
  }
  default:
    return {};
  }
}

ElementBounds BoundsAnalysis::ofRows(Value weights, Value bias, Interval input) {
  auto constant = weights.getDefiningOp<graph::ConstantOp>();
  // Most tensors have no bounds, and their weights need not be read.
  if (!constant || !std::isfinite(input.min) || !std::isfinite(input.max) ||
      !constant.getType().hasRank() || constant.getType().getRank() == 0)
    return {};
  const int64_t numRows = constant.getType().getShape().front();
  const int64_t size = constant.getType().getNumElements() / std::max<int64_t>(numRows, 1);
  std::vector<double> biases(numRows, 0);
  Interval others{0, 0};
  auto biasConstant = bias ? bias.getDefiningOp<graph::ConstantOp>() : graph::ConstantOp();
  if (biasConstant && biasConstant.getType().getNumElements() == numRows) {
    int64_t row = 0;
    if (!forEachElement(biasConstant.getValue(), [&](double b) { biases[row++] = b; }))
      return {};
  } else if (bias) {
    others = of(bias).all;
  }
  std::vector<ElementBounds> rows;
  // Sums of the weights above and below 0: large layers have millions.
  double positive = 0, negative = 0;
  int64_t left = size;
  if (!forEachElement(constant.getValue(), [&](double weight) {
        positive += std::max(weight, 0.0);
        negative += std::min(weight, 0.0);
        if (--left)
          return;
        const double own = biases[rows.size()];
        Interval row =
            addition(product(input, {positive, positive}), product(input, {negative, negative}));
        rows.push_back(addition(addition(row, {own, own}), others));
        positive = negative = 0;
        left = size;
      }))
    return {};
  return joined(rows);
}

/// Evaluates a formula that is built of floats with the given bounds.
template <typename Build>
static ElementBounds ofFormula(Operation *op, ArrayRef<ElementBounds> inputs, ArrayRef<Type> types,
                               Build build) {
  Block body;
  for (Type type : types)
    body.addArgument(type, op->getLoc());
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&body);
  return boundsOfScalar(body, inputs, build(builder, body.getArguments()));
}

ElementBounds BoundsAnalysis::activated(Operation *op, graph::ActivationAttr activation,
                                        const ElementBounds &bounds) {
  if (!activation)
    return bounds;
  // The slopes of a prelu are other numbers in each channel.
  if (activation.getKind() == graph::ActivationKind::PRelu)
    return {};
  return ofFormula(op, bounds, Type(Float32Type::get(op->getContext())),
                   [&](OpBuilder &builder, ValueRange x) {
                     return graph::buildActivation(builder, op->getLoc(), activation, x[0]);
                   });
}

ElementBounds BoundsAnalysis::ofConv(graph::ConvOp op) {
  Interval input = of(op.getInput()).all;
  if (llvm::any_of(op.getPads(), [](int64_t pad) { return pad != 0; }))
    input = join(input, {0, 0});
  ElementBounds sum = ofRows(op.getFilter(), op.getBias(), input);
  Value residual = op.getResidual();
  auto addResidual = [&] {
    if (residual)
      sum = combine({sum, of(residual)},
                    [](ArrayRef<Interval> parts) { return addition(parts[0], parts[1]); });
  };
  if (!op.getResidualLast())
    addResidual();
  sum = activated(op, op.getActivationAttr(), sum);
  if (op.getResidualLast())
    addResidual();
  return sum;
}

ElementBounds BoundsAnalysis::ofFullyConnected(graph::FullyConnectedOp op) {
  return activated(op, op.getActivationAttr(),
                   ofRows(op.getFilter(), op.getBias(), of(op.getInput()).all));
}

ElementBounds BoundsAnalysis::ofResult(Operation &op) {
  SmallVector<ElementBounds> inputs;
  if (isa<graph::ElementwiseOpInterface, graph::ConcatOp>(op))
    for (Value operand : op.getOperands())
      inputs.push_back(of(operand));
  return llvm::TypeSwitch<Operation *, ElementBounds>(&op)
      .Case([&](graph::MapOp map) {
        return inBody(map, map.getBody().front().getTerminator()->getOperand(0));
      })
      .Case([&](graph::ElementwiseOpInterface elementwise) -> ElementBounds {
        SmallVector<Type> types;
        for (Value operand : op.getOperands()) {
          Type element = tensorTypeOf(operand).getElementType();
          if (!element.isIntOrFloat())
            return {};
          types.push_back(isa<IntegerType>(element)
                              ? IntegerType::get(op.getContext(), element.getIntOrFloatBitWidth())
                              : element);
        }
        return ofFormula(&op, inputs, types, [&](OpBuilder &builder, ValueRange arguments) {
          return elementwise.buildScalar(builder, op.getLoc(), arguments);
        });
      })
      .Case([&](graph::ReduceOp reduce) { return ofReduce(reduce); })
      .Case([&](graph::ConvOp conv) { return ofConv(conv); })
      .Case([&](graph::FullyConnectedOp product) { return ofFullyConnected(product); })
      .Case([&](graph::MatMulOp op) -> ElementBounds {
        const double count = double(tensorTypeOf(op.getLhs()).getShape().back());
        return product(product(of(op.getLhs()).all, of(op.getRhs()).all), {count, count});
      })
      .Case([&](graph::PreprocessOp preprocess) { return ofPreprocess(preprocess); })
      .Case<graph::SoftmaxOp>([](auto) -> ElementBounds { return Interval{0, 1}; })
      .Case<graph::LogSoftmaxOp>(
          [](auto) -> ElementBounds { return Interval{-Interval::kInfinity, 0}; })
      .Case([&](graph::ConcatOp) { return joined(inputs); })
      .Case<graph::ReshapeOp, graph::TransposeOp, graph::ExpandOp, graph::TileOp,
            graph::DepthToSpaceOp, graph::SpaceToDepthOp>(
          [&](auto move) { return of(move->getOperand(0)); })
      // Parts of a tensor need not have its largest element.
      .Case<graph::SliceOp, graph::GatherOp, graph::MaxPoolOp>(
          [&](auto part) -> ElementBounds { return of(part->getOperand(0)).all; })
      .Case([&](graph::AveragePoolOp pool) -> ElementBounds {
        Interval input = of(pool.getInput()).all;
        return pool.getCountIncludePad() ? join(input, {0, 0}) : input;
      })
      .Case([&](graph::PadOp pad) -> ElementBounds {
        Interval input = of(pad.getInput()).all;
        const double value = pad.getValue().convertToDouble();
        return pad.getMode() == graph::PadMode::Constant ? join(input, {value, value}) : input;
      })
      .Default([](Operation *) { return ElementBounds(); });
}

} // namespace atc::npu
