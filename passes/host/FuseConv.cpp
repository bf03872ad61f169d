//===-- FuseConv.cpp - convolutions compute what follows them -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

#include <limits>

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTFUSECONV
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// The activation of a FusedConv, as its attributes.
struct FusedActivation {
  StringRef name;
  SmallVector<double> parameters;
};

bool hasActivation(HostCallOp conv) { return conv.getParameters().contains("activation"); }

/// Returns the convolution of f32 that computes `value` for `uses` uses, all of them in the block
/// of `reader`; null where there is none.
HostCallOp convOf(Value value, Operation *reader, unsigned uses = 1) {
  auto conv = value ? value.getDefiningOp<HostCallOp>() : HostCallOp();
  if (!conv || (conv.getKernel() != "Conv" && conv.getKernel() != "FusedConv") ||
      conv->getBlock() != reader->getBlock() || !value.hasNUses(uses) || !isF32(value) ||
      !hasInputs(conv, 2) || !isF32(conv.getInputs()[0]) || !isF32(conv.getInputs()[1]))
    return {};
  return conv;
}

/// Returns a bound of a Clip; nothing where it is not known.
std::optional<double> boundOf(Value bound, double fallback) {
  if (!bound)
    return fallback;
  auto elements = graph::getVectorConstant(bound);
  if (!elements || elements->size() != 1 || !isF32(bound))
    return std::nullopt;
  return elements->front();
}

/// Returns the activation that a call computes of its input 0.
std::optional<FusedActivation> activationOf(HostCallOp call) {
  const StringRef kernel = call.getKernel();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!hasInputs(call, 1) || call->getNumResults() != 1)
    return std::nullopt;
  // Clip keeps a NaN, as Relu does.
  if (kernel == "Relu")
    return FusedActivation{"Clip", {0, infinity}};
  if (kernel == "Sigmoid" || kernel == "Tanh")
    return FusedActivation{kernel, {}};
  if (kernel == "LeakyRelu")
    return FusedActivation{kernel, {numberOf(call, "alpha", 0.01)}};
  if (kernel == "HardSigmoid")
    return FusedActivation{kernel, {numberOf(call, "alpha", 0.2), numberOf(call, "beta", 0.5)}};
  if (kernel != "Clip")
    return std::nullopt;
  const SmallVector<Value> inputs = inputsOf(call, 3);
  auto low = boundOf(inputs[1], -infinity), high = boundOf(inputs[2], infinity);
  if (!low || !high)
    return std::nullopt;
  return FusedActivation{"Clip", {*low, *high}};
}

/// Replaces `last` by `conv` with other inputs and the activation, if any.
void fuse(PatternRewriter &rewriter, HostCallOp conv, HostCallOp last, ArrayRef<Value> inputs,
          const FusedActivation &activation) {
  NamedAttrList parameters(conv.getParameters());
  if (!activation.name.empty()) {
    parameters.set("activation", rewriter.getStringAttr(activation.name));
    if (!activation.parameters.empty())
      parameters.set("activation_params",
                     DenseF64ArrayAttr::get(rewriter.getContext(), activation.parameters));
  }
  HostCallOp fused =
      makeCall(rewriter, last.getLoc(), "FusedConv", inputs, last.getResult(0).getType(),
               parameters.getDictionary(rewriter.getContext()));
  rewriter.replaceOp(last, fused.getResults());
}

/// Returns the convolution whose results `value` only has in another order or under another shape,
/// in the block of `reader`; null where there is none.
HostCallOp movedConvOf(Value value, Operation *reader) {
  auto move = value ? value.getDefiningOp<HostCallOp>() : HostCallOp();
  for (; move && (move.getKernel() == "Transpose" || move.getKernel() == "Reshape");
       move = value.getDefiningOp<HostCallOp>()) {
    if (!value.hasOneUse() || move->getBlock() != reader->getBlock() || !hasInputs(move, 1))
      return {};
    reader = move;
    value = move.getInputs()[0];
  }
  return convOf(value, reader);
}

/// Fuses an activation.
struct FuseActivation : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    auto activation = activationOf(call);
    if (!activation)
      return failure();
    Value x = call.getInputs()[0];
    HostCallOp conv = movedConvOf(x, call);
    if (!conv || hasActivation(conv))
      return rewriter.notifyMatchFailure(call, "input is not a convolution of its own");
    if (conv == x.getDefiningOp()) {
      fuse(rewriter, conv, call, conv.inputsByPosition(), *activation);
      rewriter.eraseOp(conv);
    } else {
      moveInFront(rewriter, call, conv, *activation);
    }
    ++count;
    return success();
  }

  /// Computes an activation in front of what moves the results of `conv`. Only the last move has
  /// the values, and the name, of the activation; the values of the others have no name of theirs.
  static void moveInFront(PatternRewriter &rewriter, HostCallOp call, HostCallOp conv,
                          const FusedActivation &activation) {
    Operation *last = call.getInputs()[0].getDefiningOp();
    for (Operation *move = last;; move = move->getOperand(0).getDefiningOp()) {
      Location loc = move == last ? call.getLoc() : graph::derivedLoc(move->getLoc(), "activated");
      rewriter.modifyOpInPlace(move, [&] { move->setLoc(loc); });
      if (move == conv)
        break;
    }
    rewriter.setInsertionPoint(conv);
    fuse(rewriter, conv, conv, conv.inputsByPosition(), activation);
    rewriter.replaceOp(call, last->getResult(0));
  }
};

/// Fuses x * sigmoid(x).
struct FuseSilu : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    std::optional<Silu> silu = findSilu(call);
    if (!silu)
      return failure();
    Value gate = silu->sigmoid.getResult(0);
    if (silu->sigmoid.getInputs()[0] != silu->x || !gate.hasOneUse() ||
        !llvm::is_contained(call.getInputs(), silu->x) ||
        !llvm::is_contained(call.getInputs(), gate))
      return rewriter.notifyMatchFailure(call, "the sigmoid or a copy has other uses");
    HostCallOp conv = convOf(silu->x, call, /*uses=*/2);
    if (!conv || hasActivation(conv))
      return rewriter.notifyMatchFailure(call, "input is not a convolution of its own");
    fuse(rewriter, conv, call, conv.inputsByPosition(), {"Silu", {}});
    rewriter.eraseOp(silu->sigmoid);
    rewriter.eraseOp(conv);
    ++count;
    return success();
  }
};

/// Returns the operands of a sum in both orders; nothing for another call.
SmallVector<std::pair<Value, Value>, 2> operandsOfSum(HostCallOp call) {
  if (call.getKernel() != "Add" || !hasInputs(call, 2) || call->getNumResults() != 1)
    return {};
  const Value left = call.getInputs()[0], right = call.getInputs()[1];
  return {{left, right}, {right, left}};
}

/// Fuses a sum with another tensor. The kernel broadcasts where their dims differ.
struct FuseSum : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    for (auto [x, other] : operandsOfSum(call)) {
      HostCallOp conv = convOf(x, call);
      if (!conv || hasActivation(conv) || conv.inputsByPosition().size() > 3 || !isF32(other))
        continue;
      SmallVector<Value> inputs = inputsOf(conv, 4);
      inputs[3] = other;
      fuse(rewriter, conv, call, inputs, {});
      rewriter.eraseOp(conv);
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(call, "no operand is a convolution of its own");
  }
};

/// Fuses a sum behind the activation of a convolution whose images are in blocks. Those that still
/// are in planes may keep other calls from being blocked.
struct FuseBlockedSum : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    for (auto [x, other] : operandsOfSum(call)) {
      HostCallOp conv = callOf(x);
      if (!conv || !isBlocked(conv) || !x.hasOneUse() || conv->getBlock() != call->getBlock() ||
          !hasActivation(conv) || x.getType() != other.getType() ||
          x.getType() != call.getResult(0).getType())
        continue;
      SmallVector<Value> inputs = inputsOf(conv, 4);
      if (inputs[3])
        continue;
      inputs[3] = other;
      NamedAttrList parameters(conv.getParameters());
      parameters.set("sum_last", rewriter.getDenseI64ArrayAttr(1));
      HostCallOp fused = makeCall(rewriter, call.getLoc(), conv.getKernel(), inputs,
                                  call->getResultTypes(), parameters.getDictionary(getContext()));
      rewriter.replaceOp(call, fused.getResults());
      rewriter.eraseOp(conv);
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(call, "no operand is a blocked convolution of its own");
  }

  static bool isBlocked(HostCallOp conv) {
    return conv.getKernel() == "BlockedConv" || conv.getKernel() == "BlockedDepthwiseConv";
  }
};

struct HostFuseConv : impl::HostFuseConvBase<HostFuseConv> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseActivation, FuseSilu, FuseSum, FuseBlockedSum>(&getContext(), numFused);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host
