//===-- PackGates.cpp - packs constant weights of recurrent cells ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "kernels/nn/gates/GateLayout.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/host/expand/RecurrentCells.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTPACKGATES
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// Returns constant f32 weights [directions, gates * hidden, depth] in the order of CellLayout;
/// null where they are no such constant.
ElementsAttr pack(Value weights, int64_t gates, int64_t hidden) {
  ElementsAttr constant = graph::getConstant(weights);
  if (!constant || !constant.getElementType().isF32())
    return {};
  ArrayRef<int64_t> shape = constant.getShapedType().getShape();
  if (shape.size() != 3 || shape[1] != gates * hidden)
    return {};
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(constant);
  if (failed(bytes))
    return {};
  const kernels::CellLayout layout{gates, hidden, shape[2]};
  ArrayRef<float> from = bytes->expandedAs<float>();
  std::vector<char> packed(from.size() * sizeof(float));
  for (int64_t direction = 0; direction < shape[0]; ++direction)
    layout.pack(reinterpret_cast<float *>(packed.data()) + direction * layout.size(),
                from.data() + direction * layout.size());
  return graph::makeConstant(cast<RankedTensorType>(constant.getShapedType()), std::move(packed),
                             "gates");
}

struct PackGates : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    const int64_t gates = gatesOf(call.getKernel());
    if (!gates || !hasInputs(call, 3) || call.getParameters().contains(kPacked))
      return failure();
    SmallVector<Value> operands = inputsOf(call, 3);
    auto state = dyn_cast<RankedTensorType>(operands[2].getType());
    if (!state || state.getRank() != 3 || state.isDynamicDim(2))
      return rewriter.notifyMatchFailure(call, "the number of hidden units is not known");
    ElementsAttr packed[2];
    for (unsigned i : {0u, 1u})
      if (!(packed[i] = pack(operands[1 + i], gates, state.getDimSize(2))))
        return rewriter.notifyMatchFailure(call, "weights are not constant f32");
    for (unsigned i : {0u, 1u})
      operands[1 + i] = graph::ConstantOp::create(rewriter, operands[1 + i].getLoc(), packed[i]);
    SmallVector<NamedAttribute> parameters(call.getParameters().getValue());
    parameters.push_back(rewriter.getNamedAttr(kPacked, rewriter.getDenseI64ArrayAttr(int64_t(1))));
    HostCallOp made = makeCall(rewriter, call.getLoc(), call.getKernel(), operands,
                               call.getResultTypes(), rewriter.getDictionaryAttr(parameters));
    rewriter.replaceOp(call, made.getResults());
    ++count;
    return success();
  }
};

struct HostPackGates : impl::HostPackGatesBase<HostPackGates> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<PackGates>(&getContext(), numPacked);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host
