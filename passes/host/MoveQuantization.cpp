//===-- MoveQuantization.cpp - integers move through host programs --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// graph-propagate-qdq for values whose shapes are not known: calls that only
// move or compare elements run on the stored integers, DequantizeLinear sinks below
// them, QuantizeLinear rises above them, and where the two meet both go.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ops/HostOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTMOVEQUANTIZATION
#include "passes/host/Passes.h.inc"

namespace {

using graph::derivedLoc;
using graph::HostCallOp;

enum class Move {
  None,
  Some, ///< the result has some of the elements
  All   ///< every element gets into the result
};

/// Returns how a call moves the elements of its first input. Its result has no other elements,
/// except for the zeros of a pad.
Move moveOf(HostCallOp call) {
  if (!hasInputs(call, 1) || call->getNumResults() == 0)
    return Move::None;
  StringRef kernel = call.getKernel();
  SmallVector<Value> inputs = call.inputsByPosition();
  if (kernel == "MaxPool")
    return call.getNumResults() == 1 || call.getResult(1).use_empty() ? Move::All : Move::None;
  if (kernel == "Pad") {
    auto mode = call.getParameters().getAs<StringAttr>("mode");
    bool constant = !mode || mode.getValue() == "constant";
    bool zeros = inputs.size() < 3 || !inputs[2] || graph::getScalarConstant(inputs[2]) == 0.0;
    return !constant || zeros ? Move::All : Move::None;
  }
  if (kernel == "Resize") {
    auto mode = call.getParameters().getAs<StringAttr>("mode");
    auto transform = call.getParameters().getAs<StringAttr>("coordinate_transformation_mode");
    bool crops = transform && transform.getValue() == "tf_crop_and_resize";
    return (!mode || mode.getValue() == "nearest") && !crops ? Move::Some : Move::None;
  }
  return llvm::StringSwitch<Move>(kernel)
      .Cases({"Concat", "DepthToSpace", "Expand", "Flatten", "Reshape", "SpaceToDepth", "Split",
              "Squeeze", "Tile", "Transpose", "Unsqueeze"},
             Move::All)
      .Cases({"Compress", "Gather", "GatherElements", "GatherND", "ReverseSequence", "Slice"},
             Move::Some)
      .Default(Move::None);
}

/// Returns how many of the inputs, from the first on, are moved.
unsigned movedInputs(HostCallOp call) {
  return call.getKernel() == "Concat" ? call.getInputs().size() : 1;
}

/// `call` on the integers in `stored`, which are those of `like`.
HostCallOp makeMoved(PatternRewriter &rewriter, HostCallOp call, ArrayRef<Value> stored,
                     const Quantized &like) {
  SmallVector<Value> inputs = call.inputsByPosition();
  llvm::copy(stored, inputs.begin());
  if (call.getKernel() == "Pad") {
    auto mode = call.getParameters().getAs<StringAttr>("mode");
    if (!mode || mode.getValue() == "constant") {
      inputs.resize(std::max<size_t>(inputs.size(), 3));
      inputs[2] = scalarConstant(rewriter, derivedLoc(call.getLoc(), "zero"), like.integer,
                                 like.params->zeroPoint());
    }
  }
  SmallVector<Type> types(call.getResultTypes());
  for (Type &type :
       MutableArrayRef(types).take_front(call.getKernel() == "Split" ? types.size() : 1))
    type = withElement(type, like.integer);
  return makeCall(rewriter, derivedLoc(call.getLoc(), "quantized"), call.getKernel(), inputs, types,
                  call.getParameters());
}

struct SinkDequantize : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (moveOf(call) == Move::None)
      return failure();
    SmallVector<Quantized> operands;
    for (Value input : call.getInputs().take_front(movedInputs(call))) {
      Quantized operand = dequantizedFrom(input);
      if (!operand || !operand.params || !operand.perTensor || !operand.is8Bit() ||
          (!operands.empty() && !operand.isLike(operands.front())))
        return rewriter.notifyMatchFailure(call, "operands are not quantized alike");
      // Weights stay as they are: what multiplies them looks for them. Rows of a table are none,
      // and to dequantize the whole table takes longer than all that the rows go through.
      if (operand.isConstant() && call.getKernel() != "Concat" &&
          !call.getKernel().starts_with("Gather"))
        return rewriter.notifyMatchFailure(call, "a constant");
      operands.push_back(operand);
    }
    if (operands.empty())
      return failure();
    SmallVector<Value> stored;
    for (const Quantized &operand : operands)
      stored.push_back(storedOf(rewriter, operand));
    const Quantized &like = operands.front();
    HostCallOp moved = makeMoved(rewriter, call, stored, like);
    Value scale = like.scaleValue(rewriter), zero = like.zeroValue(rewriter);
    SmallVector<Value> results(moved.getResults());
    for (auto [result, old] : llvm::zip_equal(results, call.getResults()))
      if (!old.use_empty())
        result = makeCall(rewriter, call.getLoc(), "DequantizeLinear", {result, scale, zero},
                          old.getType())
                     .getResult(0);
    // A result without readers needs no value of the old type.
    for (auto [result, old] : llvm::zip_equal(results, call.getResults()))
      if (!old.use_empty())
        rewriter.replaceAllUsesWith(old, result);
    rewriter.eraseOp(call);
    ++count;
    return success();
  }
};

struct RaiseQuantize : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    Quantized result = quantizedBy(call);
    if (!result || !result.is8Bit())
      return failure();
    Value input = call.getInputs()[0];
    if (Quantized before = dequantizedFrom(input);
        before && before.isLike(result) && before.stored.getType() == result.stored.getType()) {
      rewriter.replaceOp(call, before.stored);
      ++count;
      return success();
    }
    auto move = callOf(input);
    if (!move || !input.hasOneUse() || !move->hasOneUse())
      return rewriter.notifyMatchFailure(call, "others read what is quantized");
    if (move.getKernel() == "Relu" || move.getKernel() == "Clip")
      return bound(call, move, result, rewriter);
    if (moveOf(move) != Move::All || move.getKernel() == "Split")
      return rewriter.notifyMatchFailure(call, "no move of elements before it");
    if (move.getKernel() == "Concat" && llvm::all_of(move.getInputs(), [&](Value operand) {
          Quantized part = dequantizedFrom(operand);
          return part && part.perTensor && part.integer == result.integer;
        }))
      return rewriter.notifyMatchFailure(call, "QLinearConcat does both");
    SmallVector<Value> stored;
    for (Value operand : move.getInputs().take_front(movedInputs(move)))
      stored.push_back(quantize(rewriter, operand, call, result));
    HostCallOp moved = makeMoved(rewriter, move, stored, result);
    moved->setLoc(call.getLoc());
    moved.getResult(0).setType(call.getResult(0).getType());
    rewriter.replaceOp(call, moved.getResult(0));
    ++count;
    return success();
  }

private:
  static Value quantize(PatternRewriter &rewriter, Value value, HostCallOp like,
                        const Quantized &result) {
    SmallVector<Value> inputs = like.inputsByPosition();
    inputs[0] = value;
    return makeCall(rewriter, derivedLoc(value.getLoc(), "quantized"), like.getKernel(), inputs,
                    withElement(value.getType(), result.integer), like.getParameters())
        .getResult(0);
  }

  /// Rounding keeps the order of numbers: bounds become bounds of the integers, or
  /// none where these cannot be beyond them anyway.
  LogicalResult bound(HostCallOp call, HostCallOp clip, const Quantized &result,
                      PatternRewriter &rewriter) const {
    const graph::QuantParams &params = *result.params;
    auto quantized = [&](double real) {
      // As the kernel computes it.
      double value =
          std::nearbyint(static_cast<double>(static_cast<float>(real) / params.scale())) +
          static_cast<double>(params.zeroPoint());
      return static_cast<int64_t>(
          std::clamp(value, static_cast<double>(params.min), static_cast<double>(params.max)));
    };
    int64_t min = params.min, max = params.max;
    if (clip.getKernel() == "Relu") {
      min = params.zeroPoint();
    } else {
      SmallVector<Value> inputs = clip.inputsByPosition();
      inputs.resize(3);
      std::optional<double> low, high;
      if ((inputs[1] && !(low = graph::getScalarConstant(inputs[1]))) ||
          (inputs[2] && !(high = graph::getScalarConstant(inputs[2]))) ||
          (low && high && *low > *high) || (low && std::isnan(*low)) || (high && std::isnan(*high)))
        return rewriter.notifyMatchFailure(call, "the bounds are not known");
      min = low ? quantized(*low) : min;
      max = high ? quantized(*high) : max;
    }
    Value value = clip.getInputs()[0];
    if (min == params.min && max == params.max) {
      rewriter.modifyOpInPlace(call, [&] { call.getInputsMutable()[0].set(value); });
      ++count;
      return success();
    }
    Value free = quantize(rewriter, value, call, result);
    auto limit = [&](int64_t number, int64_t range) {
      return number == range ? Value()
                             : scalarConstant(rewriter, derivedLoc(clip.getLoc(), "bound"),
                                              result.integer, number);
    };
    Value low = limit(min, params.min), high = limit(max, params.max);
    auto bounded =
        makeCall(rewriter, call.getLoc(), "Clip", {free, low, high}, call.getResultTypes());
    rewriter.replaceOp(call, bounded.getResult(0));
    ++count;
    return success();
  }
};

struct MoveQuantization : impl::HostMoveQuantizationBase<MoveQuantization> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkDequantize, RaiseQuantize>(&getContext(), numMoved);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host
