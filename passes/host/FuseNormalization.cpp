//===-- FuseNormalization.cpp - formulas of exporters become one call -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

#include <cmath>

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTFUSENORMALIZATION
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

bool isNumber(Value value, double wanted) {
  std::optional<double> number = numberIn(value);
  return number && std::abs(*number - wanted) <= 1e-6 * std::abs(wanted);
}

/// Calls `match(a, b)` with the operands of a commutative call in both orders until it returns
/// true.
template <typename Match> bool eitherWay(HostCallOp call, Match match) {
  if (!call || !hasInputs(call, 2) || call.getInputs().size() != 2)
    return false;
  const Value a = sourceOf(call.getInputs()[0]), b = sourceOf(call.getInputs()[1]);
  return match(a, b) || match(b, a);
}

/// Returns the input of a square, x * x or x^2; null for any other value.
Value squared(Value value) {
  HostCallOp pow = callOf(value, "Pow"), mul = callOf(value, "Mul");
  if (pow && hasInputs(pow, 2) && isNumber(pow.getInputs()[1], 2))
    return sourceOf(pow.getInputs()[0]);
  if (mul && hasInputs(mul, 2) && sourceOf(mul.getInputs()[0]) == sourceOf(mul.getInputs()[1]))
    return sourceOf(mul.getInputs()[0]);
  return {};
}

/// A value that is sqrt(mean(x^2, last axis) + epsilon).
struct RootMeanSquare {
  Value x;
  double epsilon = 0;

  static std::optional<RootMeanSquare> find(Value value) {
    HostCallOp root = callOf(value, "Sqrt");
    RootMeanSquare result;
    bool found =
        root && eitherWay(callOf(root.getInputs()[0], "Add"), [&](Value mean, Value eps) {
          HostCallOp reduce = callOf(mean, "ReduceMean");
          std::optional<double> number = numberIn(eps);
          if (!reduce || !number || !hasInputs(reduce, 2) ||
              integerOf(reduce, "keepdims", 1) == 0 || !isNumber(reduce.getInputs()[1], -1))
            return false;
          result.x = squared(reduce.getInputs()[0]);
          result.epsilon = *number;
          return result.x != nullptr;
        });
    return found ? std::optional(result) : std::nullopt;
  }
};

/// Finds what x / rms(x) normalizes: x * (1 / rms), x * reciprocal(rms) or x / rms.
std::optional<RootMeanSquare> normalizedOf(Value value) {
  std::optional<RootMeanSquare> found;
  if (HostCallOp div = callOf(value, "Div"); div && hasInputs(div, 2)) {
    found = RootMeanSquare::find(div.getInputs()[1]);
    return found && sourceOf(div.getInputs()[0]) == found->x ? found : std::nullopt;
  }
  eitherWay(callOf(value, "Mul"), [&](Value x, Value factor) {
    HostCallOp inverse = callOf(factor, "Reciprocal"), div = callOf(factor, "Div");
    if (inverse)
      found = RootMeanSquare::find(inverse.getInputs()[0]);
    else if (div && hasInputs(div, 2) && isNumber(div.getInputs()[0], 1))
      found = RootMeanSquare::find(div.getInputs()[1]);
    if (found && found->x != x)
      found.reset();
    return found.has_value();
  });
  return found;
}

struct FuseRmsNorm : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    std::optional<RootMeanSquare> found;
    Value scale;
    if (call.getKernel() != "Mul" || call->getNumResults() != 1)
      return failure();
    eitherWay(call, [&](Value weights, Value normalized) {
      ElementsAttr constant = graph::getConstant(weights);
      if (!constant || constant.getShapedType().getRank() != 1 || constant.getNumElements() < 2)
        return false;
      found = normalizedOf(normalized);
      scale = weights;
      return found.has_value();
    });
    if (!found)
      return failure();
    auto type = dyn_cast<ShapedType>(found->x.getType());
    if (!type || type.getElementType() != cast<ShapedType>(scale.getType()).getElementType())
      return rewriter.notifyMatchFailure(call, "is scaled in another type");
    NamedAttrList parameters;
    parameters.append("axis", rewriter.getDenseI64ArrayAttr(-1));
    parameters.append("epsilon", rewriter.getDenseF64ArrayAttr(found->epsilon));
    HostCallOp made = makeCall(rewriter, call.getLoc(), "RMSNormalization", {found->x, scale},
                               call.getResult(0).getType(), parameters.getDictionary(getContext()));
    rewriter.replaceOp(call, made.getResults());
    ++count;
    return success();
  }
};

/// Fuses x * sigmoid(x), the SiLU of gated networks, to Swish.
struct FuseSwish : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    std::optional<Silu> silu = findSilu(call);
    if (!silu)
      return failure();
    HostCallOp made = makeCall(rewriter, call.getLoc(), "Swish", {silu->x},
                               call.getResult(0).getType(), rewriter.getDictionaryAttr({}));
    rewriter.replaceOp(call, made.getResults());
    ++count;
    return success();
  }
};

/// Fuses the approximation 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) to Gelu.
struct FuseTanhGelu : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  /// Returns whether `value` is x + 0.044715 * x^3.
  static bool isCubic(Value value, Value x) {
    return eitherWay(callOf(value, "Add"), [&](Value first, Value rest) {
      return first == x && eitherWay(callOf(rest, "Mul"), [&](Value factor, Value cube) {
               HostCallOp pow = callOf(cube, "Pow");
               return isNumber(factor, 0.044715) && pow && hasInputs(pow, 2) &&
                      sourceOf(pow.getInputs()[0]) == x && isNumber(pow.getInputs()[1], 3);
             });
    });
  }

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    Value x;
    if (call.getKernel() != "Mul" || call->getNumResults() != 1)
      return failure();
    const bool found = eitherWay(call, [&](Value half, Value sum) {
      const bool isHalf = eitherWay(callOf(half, "Mul"), [&](Value input, Value factor) {
        x = input;
        return isNumber(factor, 0.5);
      });
      return isHalf && eitherWay(callOf(sum, "Add"), [&](Value one, Value curve) {
               HostCallOp tanh = callOf(curve, "Tanh");
               return isNumber(one, 1) && tanh &&
                      eitherWay(callOf(tanh.getInputs()[0], "Mul"), [&](Value factor, Value cubic) {
                        return isNumber(factor, 0.7978845608028654) && isCubic(cubic, x);
                      });
             });
    });
    if (!found)
      return failure();
    NamedAttrList parameters;
    parameters.append("approximate", rewriter.getStringAttr("tanh"));
    HostCallOp made = makeCall(rewriter, call.getLoc(), "Gelu", {x}, call.getResult(0).getType(),
                               parameters.getDictionary(getContext()));
    rewriter.replaceOp(call, made.getResults());
    ++count;
    return success();
  }
};

struct HostFuseNormalization : impl::HostFuseNormalizationBase<HostFuseNormalization> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseRmsNorm, FuseSwish, FuseTanhGelu>(&getContext(), numFused);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host
