//===-- LayerNormFormula.cpp - recognizes decomposed layer norms -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/LayerNormFormula.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/kernel/BufferViews.h"
#include "passes/om/Schedule.h"

using namespace mlir;

namespace atc::kernel {

namespace {

MemRefType typeOf(Value buffer) { return cast<MemRefType>(buffer.getType()); }
Value rootOf(Value buffer) { return om::resolveViews(buffer).root; }

/// The buffer that a value of a map's body is an element of, or null.
Value bufferOfElement(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto map = argument ? dyn_cast<MapOp>(argument.getOwner()->getParentOp()) : nullptr;
  return map ? Value(map.getInputs()[argument.getArgNumber()]) : Value();
}

class Formula {
public:
  explicit Formula(MapOp map) : map(map) {}

  /// x, gamma, beta and epsilon such that the map writes the layer norm of x.
  bool match() {
    Value result = unconverted(map.getBody().front().getTerminator()->getOperand(0));
    if (auto add = result.getDefiningOp<arith::AddFOp>())
      for (auto [product, other] :
           {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())})
        if (std::optional<Value> vector = vectorOf(other);
            (vector || numberOf(other) == 0.0) && matchProduct(product)) {
          beta = vector.value_or(Value());
          return true;
        }
    return matchProduct(result);
  }

  Value x, gamma, beta;
  double epsilon = 0;

private:
  /// Returns the value that an element was computed from, looking through conversions and maps.
  static Value unconverted(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
        break;
      value = op->getOperand(0);
    }
    return value;
  }
  static Value computed(Value value) {
    for (value = unconverted(value); Value buffer = bufferOfElement(value);) {
      auto writer = dyn_cast_or_null<MapOp>(writerOf(buffer));
      if (!writer || !isWhole(storageOf(buffer)) || !isWhole(storageOf(writer.getOutput())))
        break;
      value = unconverted(writer.getBody().front().getTerminator()->getOperand(0));
    }
    return value;
  }

  static std::optional<double> numberOf(Value value) {
    auto constant = unconverted(value).getDefiningOp<arith::ConstantOp>();
    auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : nullptr;
    return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
  }

  int64_t columns() { return typeOf(map.getOutput()).getShape().back(); }

  /// Returns a weight with one value per column.
  std::optional<Value> vectorOf(Value value) {
    Value buffer = bufferOfElement(unconverted(value));
    if (!buffer || !rootOf(buffer).getDefiningOp<om::WeightOp>() || !isWhole(storageOf(buffer)))
      return std::nullopt;
    MemRefType type = typeOf(buffer);
    if (type.getShape().back() != columns() || type.getNumElements() != columns())
      return std::nullopt;
    return rootOf(buffer);
  }

  /// (x - mean(x)) * gamma / sqrt(variance + epsilon), in any order.
  bool matchProduct(Value value) {
    centered = deviation = Value();
    gamma = Value();
    return collect(value, /*inverse=*/false) && centered && deviation;
  }

  bool collect(Value value, bool inverse) {
    if (!inverse)
      if (std::optional<Value> vector = vectorOf(value)) {
        if (gamma)
          return false;
        gamma = *vector;
        return true;
      }
    value = computed(value);
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<arith::MulFOp>(op))
      return collect(op->getOperand(0), inverse) && collect(op->getOperand(1), inverse);
    if (isa_and_nonnull<arith::DivFOp>(op))
      return collect(op->getOperand(0), inverse) && collect(op->getOperand(1), !inverse);
    if (numberOf(value) == 1.0)
      return true;
    if (isa_and_nonnull<math::SqrtOp>(op) ? inverse
                                          : isa_and_nonnull<math::RsqrtOp>(op) && !inverse)
      return !deviation && matchVariance(op->getOperand(0)) && (deviation = value);
    return !inverse && !centered && matchCentered(value) && (centered = value);
  }

  /// x - mean(x); all of them must be of the same x.
  bool matchCentered(Value value) {
    auto sub = computed(value).getDefiningOp<arith::SubFOp>();
    Value source = sub ? meanOf(sub.getRhs()) : Value();
    if (!source || (x && rootOf(x) != rootOf(source)) || !isElementOf(sub.getLhs(), source))
      return false;
    x = source;
    return true;
  }

  bool matchVariance(Value value) {
    auto add = computed(value).getDefiningOp<arith::AddFOp>();
    if (!add)
      return false;
    for (auto [variance, number] :
         {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
      std::optional<double> small = numberOf(number);
      Value squares = small ? meanOf(variance) : Value();
      auto square = squares ? dyn_cast_or_null<MapOp>(writerOf(squares)) : nullptr;
      if (!square)
        continue;
      auto product = unconverted(square.getBody().front().getTerminator()->getOperand(0))
                         .getDefiningOp<arith::MulFOp>();
      if (product && matchCentered(product.getLhs()) && matchCentered(product.getRhs())) {
        epsilon = *small;
        return true;
      }
    }
    return false;
  }

  /// The buffer whose rows' means the value is one of.
  Value meanOf(Value value) {
    Value buffer = bufferOfElement(computed(value));
    auto reduce = buffer ? dyn_cast_or_null<ReduceOp>(writerOf(buffer)) : nullptr;
    if (!reduce || reduce.getKind() != graph::ReduceKind::Mean)
      return {};
    MemRefType type = typeOf(reduce.getInput());
    bool rows = reduce.getAxes() == ArrayRef<int64_t>{type.getRank() - 1} &&
                type.getShape() == typeOf(map.getOutput()).getShape();
    return rows && isWhole(storageOf(reduce.getInput())) ? reduce.getInput() : Value();
  }

  /// Returns whether the value is the element of `buffer` at the same position.
  static bool isElementOf(Value value, Value buffer) {
    for (value = unconverted(value); Value from = bufferOfElement(value);) {
      if (rootOf(from) == rootOf(buffer))
        return typeOf(from).getNumElements() == typeOf(buffer).getNumElements();
      auto writer = dyn_cast_or_null<MapOp>(writerOf(from));
      if (!writer)
        return false;
      value = unconverted(writer.getBody().front().getTerminator()->getOperand(0));
    }
    return false;
  }

  MapOp map;
  Value centered, deviation;
};

} // namespace

std::optional<LayerNorm> matchLayerNorm(MapOp map) {
  Formula formula(map);
  if (cast<MemRefType>(map.getOutput().getType()).getRank() < 1 || !formula.match())
    return std::nullopt;
  return LayerNorm{formula.x, formula.gamma, formula.beta, formula.epsilon};
}

} // namespace atc::kernel
