//===-- NarrowGates.cpp - narrows constant weights of recurrent cells -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/nn/gates/NarrowGates.h"
#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "kernels/nn/gates/ByteGates.h"
#include "kernels/nn/gates/IntegerGates.h"
#include "passes/Remarks.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/host/expand/RecurrentCells.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTNARROWGATES
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;
using kernels::ByteGates;
using kernels::CellLayout;
using kernels::GateStorage;
using kernels::IntegerGates;
using kernels::NarrowGates;

static_assert(int64_t(GateStorage::Bytes) == kPackedBytes);

constexpr StringLiteral kNarrowPass = "host-narrow-gates";

/// Weights of fewer bytes per direction are read from a first cache.
constexpr int64_t kMinBytes = 64 << 10;

/// Returns packed weights [directions, gates * hidden, depth] in the storage of
/// `layout`; flat ones are [directions, 1, words], from which no contract reads the number of
/// units. `convert` is called for each direction, as convert(to, from).
ElementsAttr store(ArrayRef<float> weights, ElementsAttr constant, const CellLayout &layout,
                   llvm::function_ref<void(uint32_t *, const float *)> convert,
                   bool isFlat = false) {
  const int64_t directions = constant.getShapedType().getDimSize(0);
  const int64_t size = layout.gates * layout.hidden * layout.depth;
  std::vector<char> words(directions * layout.size() * sizeof(uint32_t));
  for (int64_t direction = 0; direction < directions; ++direction)
    convert(reinterpret_cast<uint32_t *>(words.data()) + direction * layout.size(),
            weights.data() + direction * size);
  auto type = RankedTensorType::get(
      {directions, isFlat ? 1 : layout.columns(), isFlat ? layout.size() : layout.depth},
      constant.getElementType());
  return graph::makeConstant(type, std::move(words), "gates");
}

/// Returns whether each weight of all directions has a close narrow one.
bool haveNarrow(ArrayRef<float> weights, int64_t directions) {
  // Written so that a NaN is none that fits.
  if (!llvm::all_of(weights,
                    [](float weight) { return std::abs(weight) <= NarrowGates::kLargest; }))
    return false;
  const size_t size = weights.size() / directions;
  for (; !weights.empty(); weights = weights.drop_front(size))
    // The error of tiny weights is far below that of the others.
    if (!llvm::any_of(weights.take_front(size), [](float weight) {
          return std::abs(weight) >= NarrowGates::kTiny * 0x1p24f;
        }))
      return false;
  return true;
}

/// Returns packed weights as bytes, if those are exact and there are whole panels of them; else
/// null.
ElementsAttr asBytes(ElementsAttr constant, CellLayout layout, bool isFlat = false) {
  if (!ByteGates::areFor(layout.depth) || layout.hidden < layout.together().units())
    return {};
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(constant);
  if (failed(bytes))
    return {};
  ArrayRef<float> weights = bytes->expandedAs<float>();
  if (!llvm::all_of(weights, [](float weight) { return std::isfinite(weight); }))
    return {};
  layout.storage = GateStorage::Bytes;
  bool fit = true;
  ElementsAttr words = store(
      weights, constant, layout,
      [&](uint32_t *to, const float *from) { fit = fit && ByteGates::convert(to, from, layout); },
      isFlat);
  return fit ? words : ElementsAttr();
}

/// Returns the weights in as few bits as their accuracy allows, and sets `layout` to what it has
/// chosen; null where a weight has no close narrow one.
ElementsAttr narrow(HostCallOp call, ElementsAttr constant, CellLayout &layout) {
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(constant);
  if (failed(bytes))
    return {};
  ArrayRef<float> weights = bytes->expandedAs<float>();
  if (!haveNarrow(weights, constant.getShapedType().getDimSize(0)))
    return {};
  if (IntegerGates::areFor(layout.depth)) {
    layout.storage = GateStorage::Integers;
    double error = 0;
    ElementsAttr words = store(weights, constant, layout, [&](uint32_t *to, const float *from) {
      error = std::max(error, IntegerGates::convert(to, from, layout));
    });
    if (error <= IntegerGates::kMaxError) {
      remarkPassed(kNarrowPass, call.getLoc(), "Narrowed") << remark::add(
          "weights of the state have 16 bits: the expected error of a gate is {0:e1}", error);
      return words;
    }
    remarkMissed(kNarrowPass, call.getLoc(), "NotIntegers")
        << remark::add("weights of the state have 24 bits: with 16, the expected error of a gate "
                       "would be {0:e1}, above {1:e1}",
                       error, IntegerGates::kMaxError);
  }
  layout.storage = GateStorage::Narrow;
  return store(weights, constant, layout,
               [&](uint32_t *to, const float *from) { NarrowGates::convert(to, from, layout); });
}

struct NarrowWeights : graph::CountingPattern<HostCallOp> {
  NarrowWeights(MLIRContext *context, Pass::Statistic &count, bool bytes)
      : CountingPattern(context, count), bytes(bytes) {}
  bool bytes;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    const int64_t gates = gatesOf(call.getKernel());
    if (!gates || !hasInputs(call, 3) || integerOf(call, kPacked, 0) != 1)
      return failure();
    SmallVector<Value> operands = inputsOf(call, 3);
    ElementsAttr constant = graph::getConstant(operands[2]);
    if (!constant || !constant.getElementType().isF32() || constant.getShapedType().getRank() != 3)
      return rewriter.notifyMatchFailure(call, "weights are not constant f32");
    const int64_t hidden = constant.getShapedType().getDimSize(2);
    CellLayout layout{gates, hidden, hidden};
    if (layout.size() * int64_t(sizeof(float)) < kMinBytes)
      return rewriter.notifyMatchFailure(call, "weights stay in the first cache");
    int64_t order = int64_t(GateStorage::Bytes);
    ElementsAttr words = bytes ? asBytes(constant, layout) : ElementsAttr(), data;
    if (words) {
      ElementsAttr input = graph::getConstant(operands[1]);
      if (input && input.getElementType().isF32() && input.getShapedType().getRank() == 3)
        data =
            asBytes(input, {gates, hidden, input.getShapedType().getDimSize(2)}, /*isFlat=*/true);
      if (data)
        order = kernels::kPackedAllBytes;
      remarkPassed(kNarrowPass, call.getLoc(), "Bytes") << remark::add(
          "weights of the state{0} are exact in 8 bits", data ? " and of the data" : "");
    } else {
      auto type = dyn_cast<RankedTensorType>(operands[0].getType());
      const int64_t batchDim = integerOf(call, "layout", 0) ? 0 : 1;
      if (!type || type.getRank() != 3 || type.getDimSize(batchDim) != 1)
        return rewriter.notifyMatchFailure(call, "weights are read for several sequences at once");
      if (!(words = narrow(call, constant, layout)))
        return rewriter.notifyMatchFailure(call, "weights are not finite, or tiny");
      order = int64_t(layout.storage);
    }
    if (data)
      operands[1] = graph::ConstantOp::create(rewriter, operands[1].getLoc(), data);
    operands[2] = graph::ConstantOp::create(rewriter, operands[2].getLoc(), words);
    NamedAttrList parameters(call.getParameters());
    parameters.set(kPacked, rewriter.getDenseI64ArrayAttr(order));
    HostCallOp made = makeCall(rewriter, call.getLoc(), call.getKernel(), operands,
                               call.getResultTypes(), parameters.getDictionary(getContext()));
    rewriter.replaceOp(call, made.getResults());
    ++count;
    return success();
  }
};

struct HostNarrowGates : impl::HostNarrowGatesBase<HostNarrowGates> {
  using HostNarrowGatesBase::HostNarrowGatesBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<NarrowWeights>(&getContext(), numNarrowed, bytes);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host
