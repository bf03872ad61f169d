//===-- NarrowGates.cpp - narrows constant weights of recurrent cells -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/nn/NarrowGates.h"
#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
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
using kernels::CellLayout;
using kernels::NarrowGates;

/// Weights of fewer bytes per direction are read from a first cache.
constexpr int64_t kMinBytes = 64 << 10;

/// Returns packed f32 weights of the state [directions, gates * hidden, hidden] as narrow ones;
/// null where a weight has no close narrow one.
ElementsAttr narrow(ElementsAttr constant, const CellLayout &packed) {
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(constant);
  if (failed(bytes))
    return {};
  ArrayRef<float> from = bytes->expandedAs<float>();
  // Written so that a NaN is none that fits.
  if (!llvm::all_of(from, [](float weight) { return std::abs(weight) <= NarrowGates::kLargest; }))
    return {};
  const int64_t directions = constant.getShapedType().getDimSize(0);
  CellLayout layout = packed;
  layout.isNarrow = true;
  std::vector<char> words(directions * layout.size() * sizeof(uint32_t));
  for (int64_t direction = 0; direction < directions; ++direction) {
    const float *weights = from.data() + direction * packed.size();
    // The error of tiny weights is far below that of the others.
    if (!llvm::any_of(ArrayRef(weights, packed.size()), [](float weight) {
          return std::abs(weight) >= NarrowGates::kTiny * 0x1p24f;
        }))
      return {};
    NarrowGates::convert(reinterpret_cast<uint32_t *>(words.data()) + direction * layout.size(),
                         weights, layout);
  }
  auto type = RankedTensorType::get({directions, layout.columns(), layout.depth},
                                    constant.getElementType());
  return graph::makeConstant(type, std::move(words), "gates");
}

struct NarrowWeights : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    const int64_t gates = gatesOf(call.getKernel());
    if (!gates || !hasInputs(call, 3) || integerOf(call, kPacked, 0) != 1)
      return failure();
    SmallVector<Value> operands = inputsOf(call, 3);
    auto data = dyn_cast<RankedTensorType>(operands[0].getType());
    const int64_t batchDim = integerOf(call, "layout", 0) ? 0 : 1;
    if (!data || data.getRank() != 3 || data.getDimSize(batchDim) != 1)
      return rewriter.notifyMatchFailure(call, "weights are read for several sequences at once");
    ElementsAttr constant = graph::getConstant(operands[2]);
    if (!constant || !constant.getElementType().isF32() || constant.getShapedType().getRank() != 3)
      return rewriter.notifyMatchFailure(call, "weights are not constant f32");
    const int64_t hidden = constant.getShapedType().getDimSize(2);
    const CellLayout layout{gates, hidden, hidden};
    if (layout.size() * int64_t(sizeof(float)) < kMinBytes)
      return rewriter.notifyMatchFailure(call, "weights stay in the first cache");
    ElementsAttr words = narrow(constant, layout);
    if (!words)
      return rewriter.notifyMatchFailure(call, "weights are not finite, or tiny");
    operands[2] = graph::ConstantOp::create(rewriter, operands[2].getLoc(), words);
    NamedAttrList parameters(call.getParameters());
    parameters.set(kPacked, rewriter.getDenseI64ArrayAttr(int64_t(2)));
    HostCallOp made = makeCall(rewriter, call.getLoc(), call.getKernel(), operands,
                               call.getResultTypes(), parameters.getDictionary(getContext()));
    rewriter.replaceOp(call, made.getResults());
    ++count;
    return success();
  }
};

struct HostNarrowGates : impl::HostNarrowGatesBase<HostNarrowGates> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<NarrowWeights>(&getContext(), numNarrowed);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host
