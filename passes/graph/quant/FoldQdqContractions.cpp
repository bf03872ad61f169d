//===-- FoldQdqContractions.cpp - products of quantized tensors in integers -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// conv(dequantize(x), dequantize(w)) is integer_conv(x, w) times the product of the scales,
// exactly. Where only a clamp is between that product and a quantize, the three scales are combined
// into one factor.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/Graph.h"
#include "dialects/graph/interpreter/Interpreter.h"
#include "passes/Remarks.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"
#include <cmath>

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHFOLDQDQCONTRACTIONS
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

/// A quantized tensor that is read as real values.
struct Quantized {
  Value stored; ///< a tensor of i8 or ui8, or null
  QuantParams params;
  explicit operator bool() const { return stored != nullptr; }
};

Quantized quantizedBehind(PatternRewriter &rewriter, Value value) {
  auto dequantize = value.getDefiningOp<DequantizeOp>();
  if (!dequantize)
    return {};
  RankedTensorType type = getTensorType(dequantize.getInput());
  std::optional<QuantParams> params = getQuantParams(type.getElementType());
  if (!params || params->stored.getWidth() != 8)
    return {};
  Value stored = rewriter.createOrFold<StorageCastOp>(value.getLoc(), getStoredType(type),
                                                      dequantize.getInput());
  return {stored, *params};
}

/// Constant weights with their output channels first and one scale per channel or for all.
struct Weights {
  ElementsAttr integers;
  QuantParams params;

  static std::optional<Weights> get(Value value, bool channelsLast) {
    bool isTransposed = channelsLast;
    if (auto transpose = value.getDefiningOp<TransposeOp>();
        transpose && transpose.getPermutation() == ArrayRef<int64_t>{1, 0}) {
      value = transpose.getInput();
      isTransposed = !isTransposed;
    }
    auto [integers, params] = getQuantizedConstant(value);
    if (!integers || params.stored.getWidth() != 8)
      return std::nullopt;
    int64_t axis = isTransposed ? 1 : 0;
    if (!params.isPerTensor() && params.axis != axis)
      return std::nullopt;
    if (isTransposed)
      integers = transposeConstant(integers, {1, 0});
    if (!integers)
      return std::nullopt;
    return Weights{integers, params};
  }

  int64_t channels() const { return integers.getShapedType().getDimSize(0); }
  float scale(int64_t channel) const { return params.scales[params.isPerTensor() ? 0 : channel]; }
  SmallVector<int64_t> zeroPoints() const {
    if (llvm::all_of(params.zeroPoints, [](int64_t zero) { return zero == 0; }))
      return {};
    SmallVector<int64_t> zeros(params.zeroPoints);
    zeros.resize(channels(), zeros.back());
    return zeros;
  }
};

/// The steps that replace a product and what follows it.
class SumRewrite {
public:
  SumRewrite(PatternRewriter &rewriter, Operation *op, const Quantized &input,
             const Weights &weights, int64_t channelDim)
      : rewriter(rewriter), op(op), loc(op->getLoc()), input(input), weights(weights),
        type(getTensorType(op->getResult(0))), channelDim(channelDim) {}

  RankedTensorType sumType() const {
    return RankedTensorType::get(type.getShape(), rewriter.getI32Type());
  }
  Location sumLoc() const { return derivedLoc(loc, "sums"); }

  Value filter() {
    return ConstantOp::create(rewriter, derivedLoc(loc, "weight"), weights.integers);
  }

  /// Returns the bias in units of the accumulators, where the model has it in that form; otherwise
  /// it is added to the real values.
  Value integerBias(Value bias) {
    auto [integers, params] =
        bias ? getQuantizedConstant(bias) : std::pair<ElementsAttr, QuantParams>();
    if (!integers || params.stored.getWidth() != 32)
      return {};
    for (int64_t channel = 0; channel < weights.channels(); ++channel) {
      size_t index = params.isPerTensor() ? 0 : channel;
      double wanted = double(input.params.scale()) * weights.scale(channel);
      if (params.zeroPoints[index] != 0 || std::abs(params.scales[index] - wanted) > 1e-5 * wanted)
        return {};
    }
    return ConstantOp::create(rewriter, derivedLoc(loc, "bias"), integers);
  }

  /// Replaces the op by the real values of the accumulators `sums`.
  void finish(Value sums, Value realBias) {
    Value real = CastOp::create(rewriter, derivedLoc(loc, "real"), type, sums);
    // With no more than a bound before a quantize its scale joins the factor.
    QuantizeOp quantize = realBias ? nullptr : followingQuantize();
    double divisor = quantize ? paramsOf(quantize).scale() : 1.0;
    SmallVector<double> factors;
    int64_t count = weights.params.isPerTensor() ? 1 : weights.channels();
    for (int64_t channel = 0; channel < count; ++channel)
      factors.push_back(double(input.params.scale()) * weights.scale(channel) / divisor);
    Location inner = quantize ? derivedLoc(loc, "scaled") : loc;
    Value scaled =
        MulOp::create(rewriter, inner, real, channelConstant(derivedLoc(loc, "scale"), factors));
    if (realBias) {
      SmallVector<int64_t> shape(type.getRank() - channelDim, 1);
      shape.front() = weights.channels();
      auto biasType = RankedTensorType::get(shape, type.getElementType());
      scaled = AddOp::create(rewriter, loc, scaled,
                             ReshapeOp::create(rewriter, loc, biasType, realBias));
    }
    if (quantize)
      scaleBounds(divisor, quantize);
    rewriter.replaceOp(op, scaled);
  }

private:
  static QuantParams paramsOf(QuantizeOp quantize) {
    return *getQuantParams(quantize.getType().getElementType());
  }

  Value channelConstant(Location at, ArrayRef<double> values) {
    SmallVector<int64_t> shape;
    if (values.size() > 1) {
      shape.assign(type.getRank() - channelDim, 1);
      shape.front() = values.size();
    }
    auto constant = RankedTensorType::get(shape, type.getElementType());
    return createConstant(rewriter, at, constant, values);
  }

  /// The quantize that reads the result, with relu and clip between; null where
  /// there is something else, too.
  QuantizeOp followingQuantize() {
    Operation *at = op;
    while (at->hasOneUse()) {
      Operation *user = *at->getUsers().begin();
      if (auto quantize = dyn_cast<QuantizeOp>(user))
        return paramsOf(quantize).isPerTensor() ? quantize : nullptr;
      if (!isa<ReluOp, ClipOp>(user))
        return nullptr;
      at = user;
    }
    return nullptr;
  }

  /// Scales the bounds of ops that now work on values divided by the scale.
  void scaleBounds(double divisor, QuantizeOp quantize) {
    for (Operation *at = *op->getUsers().begin(); at != quantize; at = *at->getUsers().begin()) {
      rewriter.modifyOpInPlace(at, [&] {
        at->setLoc(derivedLoc(at->getLoc(), "scaled"));
        auto clip = dyn_cast<ClipOp>(at);
        if (!clip)
          return;
        clip.setMin(APFloat(clip.getMin().convertToDouble() / divisor));
        clip.setMax(APFloat(clip.getMax().convertToDouble() / divisor));
      });
    }
    useUnitScale(rewriter, quantize);
  }

public:
  /// Gives the quantize of values that are already divided by its scale a scale of 1.
  static void useUnitScale(PatternRewriter &rewriter, QuantizeOp quantize) {
    QuantParams params = paramsOf(quantize);
    rewriter.setInsertionPoint(quantize);
    Type unit = getQuantType(params.stored, {1.0f}, params.zeroPoints);
    auto unitType = RankedTensorType::get(quantize.getType().getShape(), unit);
    Value integers = QuantizeOp::create(rewriter, quantize.getLoc(), unitType, quantize.getInput());
    rewriter.replaceOpWithNewOp<StorageCastOp>(quantize, quantize.getType(), integers);
    rewriter.setInsertionPointAfterValue(integers);
  }

private:
  PatternRewriter &rewriter;
  Operation *op;
  Location loc;
  const Quantized &input;
  const Weights &weights;
  RankedTensorType type;
  int64_t channelDim;
};

bool isF32(Operation *op) { return getTensorType(op->getResult(0)).getElementType().isF32(); }

constexpr StringLiteral kPass = "graph-fold-qdq-contractions";

/// Says that a contraction is computed on integers.
void remarkFolded(Location location) {
  atc::remarkPassed(kPass, location, "Folded") << "the contraction is computed on stored integers";
}

/// Says what keeps a contraction with one quantized operand in floats.
void remarkHalf(Operation *op, bool input, bool weights) {
  if (input != weights)
    atc::remarkMissed(kPass, op->getLoc(), "NotFolded")
        << (input ? "the contraction is computed in floats: its weights are not quantized constants"
                  : "the contraction is computed in floats: its input is not quantized");
}

struct SumConv : CountingPattern<ConvOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    int64_t rank = type.getRank();
    if (op.getResidual() || op.getActivation() || !isF32(op) || rank > 4)
      return rewriter.notifyMatchFailure(op, "something is fused behind it");
    Quantized input = quantizedBehind(rewriter, op.getInput());
    std::optional<Weights> weights = Weights::get(op.getFilter(), /*channelsLast=*/false);
    if (!input || !input.params.isPerTensor() || !weights) {
      remarkHalf(op, bool(input), bool(weights));
      return rewriter.notifyMatchFailure(op, "operands are not quantized");
    }
    const Location location = op.getLoc();
    SumRewrite rewrite(rewriter, op, input, *weights, /*channelDim=*/1);

    // A single spatial dim is treated as two, with a height of 1.
    bool isRow = rank == 3;
    auto windows = [&](ArrayRef<int64_t> values, int64_t unit, bool isPads) {
      SmallVector<int64_t> all(values);
      if (isRow && isPads)
        all = {0, values[0], 0, values[1]};
      else if (isRow)
        all = {unit, values[0]};
      return all;
    };
    auto asImage = [&](Value value) -> Value {
      if (!isRow)
        return value;
      RankedTensorType own = getTensorType(value);
      SmallVector<int64_t> shape(own.getShape());
      shape.insert(shape.begin() + 2, 1);
      return rewriter.createOrFold<ReshapeOp>(derivedLoc(op.getLoc(), "image"),
                                              RankedTensorType::get(shape, own.getElementType()),
                                              value);
    };
    RankedTensorType sumType = rewrite.sumType();
    SmallVector<int64_t> imageShape(sumType.getShape());
    if (isRow)
      imageShape.insert(imageShape.begin() + 2, 1);
    Value bias = rewrite.integerBias(op.getBias());
    Value sums = IntegerConvOp::create(
        rewriter, rewrite.sumLoc(), RankedTensorType::get(imageShape, rewriter.getI32Type()),
        asImage(input.stored), asImage(rewrite.filter()), bias, ValueRange(),
        input.params.zeroPoint(), weights->zeroPoints(), windows(op.getStrides(), 1, false),
        windows(op.getPads(), 0, true), windows(op.getDilations(), 1, false), op.getGroups());
    if (isRow)
      sums = ReshapeOp::create(rewriter, rewrite.sumLoc(), sumType, sums);
    rewrite.finish(sums, bias ? Value() : op.getBias());
    remarkFolded(location);
    ++count;
    return success();
  }
};

/// matmul by known weights and fully_connected.
template <typename OpT> struct SumProduct : CountingPattern<OpT> {
  using CountingPattern<OpT>::CountingPattern;

  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    constexpr bool isMatMul = std::is_same_v<OpT, MatMulOp>;
    Value lhs = op->getOperand(0), rhs = op->getOperand(1), bias;
    if (!isF32(op) || getTensorType(rhs).getRank() != 2 || getTensorType(lhs).getRank() < 2)
      return rewriter.notifyMatchFailure(op, "not a product by a matrix");
    if constexpr (!isMatMul) {
      bias = op.getBias();
      if (op.getActivation())
        return rewriter.notifyMatchFailure(op, "something is fused behind it");
    }
    Quantized input = quantizedBehind(rewriter, lhs);
    std::optional<Weights> weights = Weights::get(rhs, /*channelsLast=*/isMatMul);
    if (!input || !input.params.isPerTensor() || !weights) {
      remarkHalf(op, bool(input), bool(weights));
      return rewriter.notifyMatchFailure(op, "operands are not quantized");
    }
    int64_t channelDim = getTensorType(op->getResult(0)).getRank() - 1;
    const Location location = op.getLoc();

    // The bias of a matmul is an addition behind it.
    Operation *replaced = op;
    if (isMatMul && op->hasOneUse())
      if (auto add = dyn_cast<AddOp>(*op->getUsers().begin());
          add && add.getType() == op->getResult(0).getType()) {
        Value addend = add.getLhs() == op->getResult(0) ? add.getRhs() : add.getLhs();
        SumRewrite whole(rewriter, add, input, *weights, channelDim);
        if (addend != op->getResult(0) && getTensorType(addend).getRank() == 1 &&
            getTensorType(addend).getDimSize(0) == weights->channels() &&
            getQuantizedConstant(addend).first) {
          bias = addend;
          replaced = add;
        }
      }
    rewriter.setInsertionPoint(replaced);
    SumRewrite rewrite(rewriter, replaced, input, *weights, channelDim);
    Value integerBias = rewrite.integerBias(bias);
    Value sums = IntegerFullyConnectedOp::create(
        rewriter, rewrite.sumLoc(), rewrite.sumType(), input.stored, rewrite.filter(), integerBias,
        ValueRange(), input.params.zeroPoint(), weights->zeroPoints());
    rewrite.finish(sums, integerBias ? Value() : bias);
    if (replaced != op)
      rewriter.eraseOp(op);
    remarkFolded(location);
    ++this->count;
    return success();
  }
};

/// Returns whether the sum of two bytes, in real numbers, is the same integer whether it is divided
/// by the scale of the result or multiplied by `factor`: `value` is such a sum, perhaps behind a
/// relu.
bool keepsSumsOfBytes(Value value, float scale, float factor) {
  if (auto relu = value.getDefiningOp<ReluOp>())
    value = relu.getInput();
  auto sum = value.getDefiningOp<AddOp>();
  if (!sum)
    return false;
  float numbers[2][256];
  for (auto [operand, of] : llvm::zip_equal(sum->getOperands(), numbers)) {
    auto real = operand.getDefiningOp<DequantizeOp>();
    std::optional<QuantParams> params =
        real ? getQuantParams(getTensorType(real.getInput()).getElementType()) : std::nullopt;
    if (!params || !params->isPerTensor() || params->max - params->min > 255)
      return false;
    // As the formula of a dequantize: each operation is rounded.
    for (int64_t i = 0; i < 256; ++i)
      of[i] = static_cast<float>(params->min + i - params->zeroPoint()) * params->scale();
  }
  for (float a : numbers[0])
    for (float b : numbers[1]) {
      const float both = a + b;
      if (std::nearbyint(both / scale) != std::nearbyint(both * factor))
        return false;
    }
  return true;
}

/// Replaces the division in a quantize behind contractions in integers by a multiplication with the
/// inverse scale, which instructions that add residuals have, and in one behind a sum of bytes
/// where all sums stay the same. Other quantizes divide, as the standard requires: functions of
/// bytes give the integers of ONNX Runtime and of host kernels.
struct UseFactor : CountingPattern<QuantizeOp> {
  using CountingPattern::CountingPattern;

  static bool isFromContraction(Value value, unsigned depth) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<IntegerConvOp, IntegerFullyConnectedOp>(op))
      return true;
    return depth > 0 && isa_and_nonnull<ElementwiseOpInterface>(op) &&
           llvm::any_of(op->getOperands(),
                        [&](Value operand) { return isFromContraction(operand, depth - 1); });
  }

  static bool isFromIntegers(Value value, unsigned depth) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<DequantizeOp>(op))
      return true;
    if (!isa_and_nonnull<ElementwiseOpInterface>(op) || depth == 0)
      return false;
    return llvm::any_of(op->getOperands(),
                        [&](Value operand) { return isFromIntegers(operand, depth - 1); });
  }

  LogicalResult matchAndRewrite(QuantizeOp op, PatternRewriter &rewriter) const override {
    std::optional<QuantParams> params = getQuantParams(op.getType().getElementType());
    if (!params || !params->isPerTensor() || params->scale() == 1.0f ||
        !isFromIntegers(op.getInput(), /*depth=*/4))
      return failure();
    const auto inverse = static_cast<float>(1.0 / params->scale());
    if (!isFromContraction(op.getInput(), /*depth=*/6) &&
        !keepsSumsOfBytes(op.getInput(), params->scale(), inverse))
      return failure();
    auto scalar = RankedTensorType::get({}, rewriter.getF32Type());
    Value factor = createConstant(rewriter, derivedLoc(op.getLoc(), "scale"), scalar, {inverse});
    Value scaled =
        MulOp::create(rewriter, derivedLoc(op.getLoc(), "scaled"), op.getInput(), factor);
    rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().assign(scaled); });
    SumRewrite::useUnitScale(rewriter, op);
    ++count;
    return success();
  }
};

struct FoldQdqContractions : atc::graph::impl::GraphFoldQdqContractionsBase<FoldQdqContractions> {
  void runOnOperation() override {
    RewritePatternSet sums(&getContext());
    sums.add<SumConv>(&getContext(), numSums);
    sums.add<SumProduct<MatMulOp>, SumProduct<FullyConnectedOp>>(&getContext(), numSums);
    RewritePatternSet factors(&getContext());
    factors.add<UseFactor>(&getContext(), numFactors);
    rewriteToFixpoint(getOperation(), std::move(sums));
    rewriteToFixpoint(getOperation(), std::move(factors));
    foldConstants();
  }

  /// Folds weights that are still read as real values.
  void foldConstants() {
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<DequantizeOp>())) {
      auto [integers, params] = getQuantizedConstant(op);
      if (!integers || op->use_empty())
        continue;
      FailureOr<Tensor> tensor = Tensor::fromAttribute(integers);
      SmallVector<Tensor> results;
      std::string error;
      if (failed(tensor) || failed(evaluate(op, {&*tensor}, results, &error)))
        continue;
      OpBuilder builder(op);
      ElementsAttr value = std::move(results[0]).toAttribute(op.getType());
      op.replaceAllUsesWith(ConstantOp::create(builder, op.getLoc(), value).getResult());
      op.erase();
    }
  }
};

} // namespace
