//===-- FuseRotary.cpp - rotary embeddings become one call ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTFUSEROTARY
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// Returns the rank of a value where it is known, by its type or by the Transpose that computes it.
std::optional<int64_t> rankOf(Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    return type.getRank();
  if (HostCallOp transpose = callOf(value, "Transpose"))
    if (auto perm = transpose.getParameters().getAs<DenseI64ArrayAttr>("perm"))
      return perm.size();
  return std::nullopt;
}

bool isLastAxis(Value value, double axis) {
  const std::optional<int64_t> rank = rankOf(value);
  return axis == -1 || (rank && axis == double(*rank - 1));
}

/// Returns `value` without calls that only change the rank of a single integer.
Value withoutRank(Value value) {
  value = sourceOf(value);
  while (HostCallOp call = callOf(value)) {
    if ((call.getKernel() != "Unsqueeze" && call.getKernel() != "Squeeze") || !hasInputs(call, 1))
      break;
    value = sourceOf(call.getInputs()[0]);
  }
  return value;
}

/// Returns whether `value` is computed as half of the last dim of `x`.
bool isHalfOfLastDim(Value value, Value x) {
  HostCallOp div = callOf(withoutRank(value), "Div");
  if (!div || !hasInputs(div, 2) || numberIn(div.getInputs()[1]) != 2.0)
    return false;
  HostCallOp gather = callOf(withoutRank(div.getInputs()[0]), "Gather");
  HostCallOp shape =
      gather && hasInputs(gather, 2) ? callOf(gather.getInputs()[0], "Shape") : HostCallOp();
  if (!shape || sourceOf(shape.getInputs()[0]) != x || integerOf(shape, "start", 0) != 0 ||
      shape.getParameters().contains("end"))
    return false;
  const std::optional<double> axis = numberIn(gather.getInputs()[1]);
  return axis && isLastAxis(x, *axis);
}

/// A Slice with step 1 along the last axis.
struct LastSlice {
  Value source, begin, end;

  static std::optional<LastSlice> find(Value value) {
    HostCallOp slice = callOf(value, "Slice");
    if (!slice || !hasInputs(slice, 4) || slice.getInputs().size() > 5)
      return std::nullopt;
    const SmallVector<Value> inputs = inputsOf(slice, 5);
    const Value source = sourceOf(inputs[0]);
    const std::optional<double> axis = numberIn(inputs[3]);
    if (!axis || !isLastAxis(source, *axis) || (inputs[4] && numberIn(inputs[4]) != 1.0))
      return std::nullopt;
    return LastSlice{source, inputs[1], inputs[2]};
  }
};

/// The input of a rotation concat(-x[split:], x[:split]); without `split` it is half of the axis.
struct Rotated {
  Value x;
  std::optional<int64_t> split;

  static std::optional<Rotated> find(Value value) {
    HostCallOp concat = callOf(value, "Concat");
    if (!concat || concat.getInputs().size() != 2)
      return std::nullopt;
    HostCallOp neg = callOf(concat.getInputs()[0], "Neg");
    const std::optional<LastSlice> back = neg ? LastSlice::find(neg.getInputs()[0]) : std::nullopt,
                                   front = LastSlice::find(concat.getInputs()[1]);
    if (!back || !front || back->source != front->source ||
        !isLastAxis(front->source, double(integerOf(concat, "axis", 0))))
      return std::nullopt;
    const Value x = front->source;
    const std::optional<double> last = numberIn(back->end), split = numberIn(front->end);
    if (numberIn(front->begin) != 0.0 || !last || *last < 1e9)
      return std::nullopt;
    if (split && *split > 0 && *split < 1e9 && numberIn(back->begin) == split)
      return Rotated{x, int64_t(*split)};
    if (!isHalfOfLastDim(front->end, x) || !isHalfOfLastDim(back->begin, x))
      return std::nullopt;
    return Rotated{x, std::nullopt};
  }
};

/// A product of a value and a table of cosines or sines.
std::optional<std::pair<Value, Value>> factorsOf(Value value) {
  HostCallOp mul = callOf(value, "Mul");
  if (!mul || !hasInputs(mul, 2))
    return std::nullopt;
  return std::pair(sourceOf(mul.getInputs()[0]), sourceOf(mul.getInputs()[1]));
}

struct FuseRotary : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (call.getKernel() != "Add" || !hasInputs(call, 2) || call->getNumResults() != 1 ||
        !isF32(call.getResult(0)))
      return failure();
    for (unsigned turnedSide : {1, 0}) {
      auto turned = factorsOf(call.getInputs()[turnedSide]);
      auto straight = factorsOf(call.getInputs()[1 - turnedSide]);
      if (!turned || !straight)
        continue;
      std::optional<Rotated> rotated = Rotated::find(turned->first);
      const Value sines = rotated ? turned->second : turned->first;
      if (!rotated)
        rotated = Rotated::find(turned->second);
      if (!rotated || (straight->first != rotated->x && straight->second != rotated->x))
        continue;
      const Value cosines = straight->first == rotated->x ? straight->second : straight->first;
      if (!isF32(rotated->x) || !isF32(cosines) || !isF32(sines))
        return rewriter.notifyMatchFailure(call, "is not computed in f32");
      NamedAttrList parameters;
      if (rotated->split)
        parameters.append("split", rewriter.getDenseI64ArrayAttr(*rotated->split));
      HostCallOp made =
          makeCall(rewriter, call.getLoc(), "RotateHalf", {rotated->x, cosines, sines},
                   call.getResult(0).getType(), parameters.getDictionary(getContext()));
      rewriter.replaceOp(call, made.getResults());
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(call, "adds no value to the same one with halves swapped");
  }
};

struct HostFuseRotary : impl::HostFuseRotaryBase<HostFuseRotary> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseRotary>(&getContext(), numFused);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace atc::host
