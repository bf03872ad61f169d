//===-- LayerNormFormula.cpp - recognizes decomposed layer norms -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/LayerNormFormula.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/ValueTypes.h"
#include "passes/kernel/BufferViews.h"
#include "passes/om/Schedule.h"

using namespace mlir;

namespace atc::kernel {

namespace {

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

  /// x, gamma, beta and epsilon such that the map writes the layer norm, or else the RMS norm, of
  /// x.
  bool match() {
    for (bool centers : {true, false}) {
      isCentered = centers;
      if (matchResult())
        return true;
    }
    return false;
  }

  Value x, gamma, beta;
  double epsilon = 0;
  bool isCentered = true;

private:
  bool matchResult() {
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

  int64_t columns() { return bufferTypeOf(map.getOutput()).getShape().back(); }

  /// Returns a weight with one value per column.
  std::optional<Value> vectorOf(Value value) {
    Value buffer = bufferOfElement(unconverted(value));
    if (!buffer || !rootOf(buffer).getDefiningOp<om::WeightOp>() || !isWhole(storageOf(buffer)))
      return std::nullopt;
    MemRefType type = bufferTypeOf(buffer);
    if (type.getShape().back() != columns() || type.getNumElements() != columns())
      return std::nullopt;
    return rootOf(buffer);
  }

  /// (x - mean(x)) * gamma / sqrt(variance + epsilon), in any order; for an RMS norm x * gamma /
  /// sqrt(mean(x * x) + epsilon).
  bool matchProduct(Value value) {
    x = centered = deviation = gamma = Value();
    visits = kMaxVisits;
    // Only the squares tell which of the factors is x, which may itself be a product.
    if (!isCentered && !findSquares(value))
      return false;
    return collect(value, /*inverse=*/false) && centered && deviation;
  }

  /// Returns whether a factor or divisor of the value is the root of a mean of squares.
  bool findSquares(Value value) {
    if (!visits--)
      return false;
    value = computed(value);
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op))
      return findSquares(op->getOperand(0)) || findSquares(op->getOperand(1));
    return isa_and_nonnull<math::SqrtOp, math::RsqrtOp>(op) && matchSquares(op->getOperand(0));
  }

  /// Takes the factor `value` for x - mean(x), or for the x of an RMS norm.
  bool matchNumerator(Value value) {
    if (centered || !(isCentered ? matchCentered(value) : isElementOf(value, x)))
      return false;
    centered = value;
    return true;
  }

  bool collect(Value value, bool inverse) {
    if (!inverse)
      if (std::optional<Value> vector = vectorOf(value)) {
        if (gamma)
          return false;
        gamma = *vector;
        return true;
      }
    if (!isCentered && !inverse && matchNumerator(value))
      return true;
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
    return !inverse && isCentered && matchNumerator(value);
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

  /// Returns whether `value` is epsilon plus the mean over rows of a product of two values that
  /// `matches` takes.
  template <typename Matches> bool matchMean(Value value, Matches matches) {
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
      if (product && matches(product.getLhs()) && matches(product.getRhs())) {
        epsilon = *small;
        return true;
      }
    }
    return false;
  }

  bool matchVariance(Value value) {
    if (!isCentered)
      return matchSquares(value);
    return matchMean(value, [&](Value factor) { return matchCentered(factor); });
  }

  /// mean(x * x) + epsilon; all of them must be of the same x.
  bool matchSquares(Value value) {
    return matchMean(value, [&](Value factor) {
      Value source = bufferOfElement(unconverted(factor));
      if (!source || !isWhole(storageOf(source)) ||
          bufferTypeOf(source).getShape() != bufferTypeOf(map.getOutput()).getShape() ||
          (x && rootOf(x) != rootOf(source)))
        return false;
      x = source;
      return true;
    });
  }

  /// The buffer whose rows' means the value is one of.
  Value meanOf(Value value) {
    Value buffer = bufferOfElement(computed(value));
    auto reduce = buffer ? dyn_cast_or_null<ReduceOp>(writerOf(buffer)) : nullptr;
    if (!reduce || reduce.getKind() != graph::ReduceKind::Mean)
      return {};
    MemRefType type = bufferTypeOf(reduce.getInput());
    bool rows = reduce.getAxes() == ArrayRef<int64_t>{type.getRank() - 1} &&
                type.getShape() == bufferTypeOf(map.getOutput()).getShape();
    return rows && isWhole(storageOf(reduce.getInput())) ? reduce.getInput() : Value();
  }

  /// Returns whether the value is the element of `buffer` at the same position.
  static bool isElementOf(Value value, Value buffer) {
    for (value = unconverted(value); Value from = bufferOfElement(value);) {
      if (rootOf(from) == rootOf(buffer))
        return bufferTypeOf(from).getNumElements() == bufferTypeOf(buffer).getNumElements();
      auto writer = dyn_cast_or_null<MapOp>(writerOf(from));
      if (!writer)
        return false;
      value = unconverted(writer.getBody().front().getTerminator()->getOperand(0));
    }
    return false;
  }

  static constexpr int kMaxVisits = 64;
  MapOp map;
  Value centered, deviation;
  int visits = 0;
};

} // namespace

std::optional<LayerNorm> matchLayerNorm(MapOp map) {
  Formula formula(map);
  if (cast<MemRefType>(map.getOutput().getType()).getRank() < 1 || !formula.match())
    return std::nullopt;
  return LayerNorm{formula.x, formula.gamma, formula.beta, formula.epsilon, formula.isCentered};
}

} // namespace atc::kernel
