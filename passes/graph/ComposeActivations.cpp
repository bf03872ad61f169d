//===-- ComposeActivations.cpp - recognise spelled-out activations --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

#include <cmath>
#include <limits>

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHCOMPOSEACTIVATIONS
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool isFloat(Value value) { return isa<FloatType>(getTensorType(value).getElementType()); }

/// Models state constants like 1/sqrt(2) as f32 or with a few digits only.
bool isClose(double a, double b, double tolerance = 1e-5) {
  return std::abs(a - b) <= tolerance * std::abs(b);
}

/// Matches `value` = x op constant for a commutative op; returns x and the constant.
template <typename OpTy> std::optional<std::pair<Value, double>> matchWithConstant(Value value) {
  auto op = value.getDefiningOp<OpTy>();
  if (!op)
    return std::nullopt;
  for (auto [x, c] : {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}})
    if (auto constant = getScalarConstant(c); constant && x.getType() == value.getType())
      return std::pair(x, *constant);
  return std::nullopt;
}

/// x * c, whether written as a multiplication or a division.
std::pair<Value, double> matchScaled(Value value) {
  if (auto product = matchWithConstant<MulOp>(value))
    return *product;
  if (auto quotient = value.getDefiningOp<DivOp>())
    if (auto c = getScalarConstant(quotient.getRhs()); c && *c != 0)
      if (quotient.getLhs().getType() == value.getType())
        return {quotient.getLhs(), 1.0 / *c};
  return {value, 1.0};
}

/// A product as its factors: nested mul and div with a single use by constants and values, in any
/// order. Operands nested deeper than in any activation are factors.
struct Product {
  SmallVector<Value> factors;
  double constant = 1.0;

  explicit Product(Operation *root) { collectOperands(root); }

private:
  void collect(Value value, Type type) {
    Operation *op = value.getDefiningOp();
    if (auto scalar = getScalarConstant(value))
      constant *= *scalar;
    else if (opsLeft > 0 && isa_and_nonnull<MulOp, DivOp>(op) && op->hasOneUse() &&
             value.getType() == type)
      collectOperands(op);
    else
      factors.push_back(value);
  }
  void collectOperands(Operation *op) {
    --opsLeft;
    Type type = op->getResult(0).getType();
    if (isa<MulOp>(op)) {
      collect(op->getOperand(0), type);
      collect(op->getOperand(1), type);
      return;
    }
    auto divisor = getScalarConstant(op->getOperand(1));
    if (!divisor) {
      factors.push_back(op->getResult(0));
      return;
    }
    collect(op->getOperand(0), type);
    constant /= *divisor;
  }

  int opsLeft = 32;
};

/// hard_sigmoid(x) = clip(alpha * x + beta, 0, 1), also when the clip is scaled:
/// clip(x + 3, 0, 6) is six times hard_sigmoid(x, 1/6, 1/2).
struct HardSigmoidMatch {
  Value input;
  double alpha, beta, scale;
};

std::optional<HardSigmoidMatch> matchHardSigmoid(Value value) {
  if (auto op = value.getDefiningOp<HardSigmoidOp>())
    return HardSigmoidMatch{op.getInput(), op.getAlpha().convertToDouble(),
                            op.getBeta().convertToDouble(), 1.0};
  auto clip = value.getDefiningOp<ClipOp>();
  if (!clip || !isFloat(value) || !clip.getMin().isZero())
    return std::nullopt;
  double top = clip.getMax().convertToDouble();
  auto sum = matchWithConstant<AddOp>(clip.getInput());
  if (!sum || !std::isfinite(top) || top <= 0)
    return std::nullopt;
  auto [input, slope] = matchScaled(sum->first);
  return HardSigmoidMatch{input, slope / top, sum->second / top, top};
}

/// Matches 1 + erf(x / sqrt(2)); returns x.
Value matchErfTerm(Value value) {
  auto sum = matchWithConstant<AddOp>(value);
  if (!sum || sum->second != 1.0)
    return {};
  auto erf = sum->first.getDefiningOp<ErfOp>();
  if (!erf)
    return {};
  auto [x, scale] = matchScaled(erf.getInput());
  return isClose(scale, M_SQRT1_2, 1e-4) ? x : Value();
}

bool isCube(Value value, Value x) {
  if (auto power = value.getDefiningOp<PowOp>()) {
    auto exponent = getScalarConstant(power.getRhs());
    return power.getLhs() == x && exponent && *exponent == 3.0;
  }
  auto product = value.getDefiningOp<MulOp>();
  if (!product)
    return false;
  Product parts(product);
  return parts.constant == 1.0 && parts.factors.size() == 3 &&
         llvm::all_of(parts.factors, [&](Value factor) { return factor == x; });
}

/// Matches 1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)); returns x.
Value matchTanhTerm(Value value) {
  auto sum = matchWithConstant<AddOp>(value);
  if (!sum || sum->second != 1.0)
    return {};
  auto tanh = sum->first.getDefiningOp<TanhOp>();
  if (!tanh)
    return {};
  auto [polynomial, scale] = matchScaled(tanh.getInput());
  auto add = polynomial.getDefiningOp<AddOp>();
  if (!add || !isClose(scale, std::sqrt(2.0 / M_PI), 1e-4))
    return {};
  for (auto [x, term] : {std::pair(add.getLhs(), add.getRhs()), {add.getRhs(), add.getLhs()}}) {
    auto [cube, factor] = matchScaled(term);
    if (isClose(factor, 0.044715, 1e-4) && isCube(cube, x))
      return x;
  }
  return {};
}

/// A pattern whose result has one element type for all ops that it replaces.
template <typename OpTy> struct ComposePattern : CountingPattern<OpTy> {
  ComposePattern(MLIRContext *context, Pass::Statistic &count, const Float32Nodes &float32Nodes)
      : CountingPattern<OpTy>(context, count), float32Nodes(float32Nodes) {}

  /// Returns whether one op on `input` may compute what `root` and the ops in front of it do: all
  /// of them compute in f32 because the user wants that, or none does. Apart from constants they
  /// read nothing but `input`.
  bool mayCompose(Operation *root, Value input) const {
    // More ops than any activation has: `root` has other operands than one function of `input`.
    constexpr size_t maxOps = 64;
    SmallVector<Value> values(root->getOperands());
    llvm::SmallPtrSet<Operation *, 16> seen;
    while (float32Nodes.hasNodes() && !values.empty()) {
      Value value = values.pop_back_val();
      Operation *op = value == input ? nullptr : value.getDefiningOp();
      if (!op || isa<ConstantOp>(op) || !seen.insert(op).second)
        continue;
      if (seen.size() > maxOps || !float32Nodes.mayJoin(root, op))
        return false;
      llvm::append_range(values, op->getOperands());
    }
    return true;
  }

  const Float32Nodes &float32Nodes;
};

/// Composes activations that are products or quotients of x and a gate.
template <typename OpTy> struct ComposeProduct : ComposePattern<OpTy> {
  using ComposePattern<OpTy>::ComposePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType();
    if (!isFloat(op->getResult(0)))
      return failure();
    Product product(op);
    if (product.factors.size() != 2)
      return failure();
    for (auto [x, gate] : {std::pair(product.factors[0], product.factors[1]),
                           {product.factors[1], product.factors[0]}}) {
      if (x.getType() != type || gate.getType() != type || !this->mayCompose(op, x))
        continue;
      if (succeeded(composeGate(op, x, gate, product.constant, rewriter))) {
        ++this->count;
        return success();
      }
    }
    return failure();
  }

  /// constant * x * gate(x).
  static LogicalResult composeGate(Operation *op, Value x, Value gate, double constant,
                                   PatternRewriter &rewriter) {
    if (auto hard = matchHardSigmoid(gate);
        hard && hard->input == x && isClose(hard->alpha, 1.0 / 6.0, 1e-4) &&
        isClose(hard->beta, 0.5) && isClose(constant * hard->scale, 1.0)) {
      rewriter.replaceOpWithNewOp<HardSwishOp>(op, x.getType(), x);
      return success();
    }
    if (constant == 0.5 && (matchErfTerm(gate) == x || matchTanhTerm(gate) == x)) {
      bool approximate = matchErfTerm(gate) != x;
      rewriter.replaceOpWithNewOp<GeluOp>(op, x.getType(), x, rewriter.getBoolAttr(approximate));
      return success();
    }
    if (constant != 1.0)
      return failure();
    if (auto sigmoid = gate.getDefiningOp<SigmoidOp>(); sigmoid && sigmoid.getInput() == x) {
      rewriter.replaceOpWithNewOp<SiluOp>(op, x.getType(), x);
      return success();
    }
    auto tanh = gate.getDefiningOp<TanhOp>();
    auto softplus = tanh ? tanh.getInput().getDefiningOp<SoftplusOp>() : SoftplusOp();
    if (!softplus || softplus.getInput() != x)
      return failure();
    rewriter.replaceOpWithNewOp<MishOp>(op, x.getType(), x);
    return success();
  }
};

/// 1 / (1 + e^-x).
template <typename OpTy> struct ComposeSigmoid : ComposePattern<OpTy> {
  using ComposePattern<OpTy>::ComposePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Value denominator = op->getOperand(op->getNumOperands() - 1);
    if (op->getNumOperands() == 2 && getScalarConstant(op->getOperand(0)) != 1.0)
      return failure();
    auto sum = matchWithConstant<AddOp>(denominator);
    if (!sum || sum->second != 1.0 || denominator.getType() != op.getType())
      return failure();
    auto exp = sum->first.getDefiningOp<ExpOp>();
    auto neg = exp ? exp.getInput().getDefiningOp<NegOp>() : NegOp();
    if (!neg || !this->mayCompose(op, neg.getInput()))
      return failure();
    rewriter.replaceOpWithNewOp<SigmoidOp>(op, op.getType(), neg.getInput());
    ++this->count;
    return success();
  }
};

/// clip(a * x + b, 0, c) / c or * (1 / c).
template <typename OpTy> struct ComposeHardSigmoid : ComposePattern<OpTy> {
  using ComposePattern<OpTy>::ComposePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    auto [value, scale] = matchScaled(op.getResult());
    auto hard = matchHardSigmoid(value);
    if (!hard || !isa<ClipOp>(value.getDefiningOp()) || !isClose(hard->scale * scale, 1.0) ||
        !this->mayCompose(op, hard->input))
      return failure();
    rewriter.replaceOpWithNewOp<HardSigmoidOp>(op, op.getType(), hard->input,
                                               rewriter.getF64FloatAttr(hard->alpha),
                                               rewriter.getF64FloatAttr(hard->beta));
    ++this->count;
    return success();
  }
};

/// max(x, c), min(x, c), relu and clip as one range.
struct Range {
  Value input;
  double low = -infinity, high = infinity;
};

std::optional<Range> matchRange(Operation *op) {
  if (!op || op->getNumResults() != 1 || !isFloat(op->getResult(0)))
    return std::nullopt;
  Value result = op->getResult(0);
  if (auto relu = dyn_cast<ReluOp>(op))
    return Range{relu.getInput(), 0.0, infinity};
  if (auto clip = dyn_cast<ClipOp>(op))
    return Range{clip.getInput(), clip.getMin().convertToDouble(), clip.getMax().convertToDouble()};
  if (auto max = matchWithConstant<MaxOp>(result))
    return Range{max->first, max->second, infinity};
  if (auto min = matchWithConstant<MinOp>(result))
    return Range{min->first, -infinity, min->second};
  return std::nullopt;
}

template <typename OpTy> struct ComposeRange : ComposePattern<OpTy> {
  using ComposePattern<OpTy>::ComposePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    auto outer = matchRange(op);
    if (!outer || std::isnan(outer->low) || std::isnan(outer->high))
      return failure();
    Range range = *outer;
    auto inner = matchRange(range.input.getDefiningOp());
    if (inner && (!(inner->low <= inner->high) || !this->mayCompose(op, inner->input)))
      inner.reset();
    if (inner) {
      range = {inner->input, std::min(std::max(inner->low, range.low), range.high),
               std::min(std::max(inner->high, range.low), range.high)};
    }
    if (range.low == -infinity && range.high == infinity) {
      rewriter.replaceOp(op, range.input);
    } else if (range.low == 0.0 && range.high == infinity) {
      if (isa<ReluOp>(op) && !inner)
        return failure();
      rewriter.replaceOpWithNewOp<ReluOp>(op, op.getType(), range.input);
    } else {
      if (isa<ClipOp>(op) && !inner)
        return failure();
      rewriter.replaceOpWithNewOp<ClipOp>(op, op.getType(), range.input,
                                          rewriter.getF64FloatAttr(range.low),
                                          rewriter.getF64FloatAttr(range.high));
    }
    ++this->count;
    return success();
  }
};

/// Composes clip(a * x + b, 0, 1) to hard_sigmoid, but only where x is scaled: a plain clip of a
/// sum is left alone.
struct ClipToHardSigmoid : ComposePattern<ClipOp> {
  using ComposePattern::ComposePattern;

  LogicalResult matchAndRewrite(ClipOp op, PatternRewriter &rewriter) const override {
    auto hard = matchHardSigmoid(op.getResult());
    if (!hard || hard->scale != 1.0 || hard->alpha == 1.0 || !mayCompose(op, hard->input))
      return failure();
    rewriter.replaceOpWithNewOp<HardSigmoidOp>(op, op.getType(), hard->input,
                                               rewriter.getF64FloatAttr(hard->alpha),
                                               rewriter.getF64FloatAttr(hard->beta));
    ++count;
    return success();
  }
};

/// max(x, a * x) with 0 <= a <= 1 is leaky_relu.
struct MaxToLeakyRelu : ComposePattern<MaxOp> {
  using ComposePattern::ComposePattern;

  LogicalResult matchAndRewrite(MaxOp op, PatternRewriter &rewriter) const override {
    for (auto [x, scaled] : {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
      auto [source, alpha] = matchScaled(scaled);
      if (source == x && scaled != x && alpha >= 0 && alpha <= 1 && isFloat(x) &&
          mayCompose(op, x)) {
        rewriter.replaceOpWithNewOp<LeakyReluOp>(op, op.getType(), x,
                                                 rewriter.getF64FloatAttr(alpha));
        ++count;
        return success();
      }
    }
    return failure();
  }
};

/// Replaces a prelu with one slope for the whole tensor by a leaky relu.
struct PReluToLeakyRelu : ComposePattern<PReluOp> {
  using ComposePattern::ComposePattern;

  LogicalResult matchAndRewrite(PReluOp op, PatternRewriter &rewriter) const override {
    auto slope = getScalarConstant(op.getRhs());
    if (!slope || op.getLhs().getType() != op.getType() || !isFloat(op.getLhs()))
      return failure();
    rewriter.replaceOpWithNewOp<LeakyReluOp>(op, op.getType(), op.getLhs(),
                                             rewriter.getF64FloatAttr(*slope));
    ++count;
    return success();
  }
};

struct ComposeActivations : atc::graph::impl::GraphComposeActivationsBase<ComposeActivations> {
  void runOnOperation() override {
    const Float32Nodes float32Nodes(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<ComposeProduct<MulOp>, ComposeProduct<DivOp>, ComposeSigmoid<DivOp>,
                 ComposeSigmoid<ReciprocalOp>, ComposeHardSigmoid<DivOp>, ComposeHardSigmoid<MulOp>,
                 ComposeRange<ClipOp>, ComposeRange<MaxOp>, ComposeRange<MinOp>,
                 ComposeRange<ReluOp>, ClipToHardSigmoid, MaxToLeakyRelu, PReluToLeakyRelu>(
        &getContext(), numComposed, float32Nodes);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
