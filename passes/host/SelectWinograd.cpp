//===-- SelectWinograd.cpp - convolutions of host calls with fewer products ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What cpu-select-winograd does for images of known size. The size is not known here, but networks
// have few channels where images are large: their convolutions have about the same number of
// products.

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/kernel/pack/WinogradForms.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>
#include <vector>

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTSELECTWINOGRAD
#include "passes/host/Passes.h.inc"

namespace {

using cpu::DirectFilter;
using cpu::Winograd;
using cpu::WinogradForms;
using graph::HostCallOp;

constexpr int64_t kBlock = 16;
/// Pixels times channels times output channels of the images that forms are chosen for: 56 x 56 of
/// 64 channels, 7 x 7 of 512.
constexpr double kProducts = 56. * 56 * 64 * 64;

bool hasOnes(HostCallOp call, StringRef name) {
  auto list = dyn_cast_or_null<DenseI64ArrayAttr>(call.getParameters().get(name));
  return !list || llvm::all_of(list.asArrayRef(), [](int64_t number) { return number == 1; });
}

/// Returns the blocks of channels of the images of a BlockedConv; 0 where they are not known.
int64_t blocksRead(HostCallOp call) {
  int64_t blocks = 0;
  for (auto [i, image] : llvm::enumerate(call.inputsByPosition())) {
    auto type = image ? dyn_cast<RankedTensorType>(image.getType()) : RankedTensorType();
    if (i != 0 && i < 4) // weights, bias and sum
      continue;
    if (!type || type.getRank() != 5 || type.isDynamicDim(1))
      return 0;
    blocks += type.getDimSize(1);
  }
  return blocks;
}

/// Returns the weights of a BlockedConv of 3x3 and stride 1, without groups, whose image is in
/// blocks; null for other calls.
ElementsAttr filterOf(HostCallOp call) {
  if (call.getKernel() != "BlockedConv" || !hasInputs(call, 2) || !hasOnes(call, "strides") ||
      !hasOnes(call, "dilations"))
    return {};
  auto kernel = dyn_cast_or_null<DenseI64ArrayAttr>(call.getParameters().get("kernel_shape"));
  if (!kernel || kernel.asArrayRef() != ArrayRef<int64_t>({3, 3}))
    return {};
  ElementsAttr weights = graph::getConstant(call.getInputs()[1]);
  if (!weights || !weights.getElementType().isF32() || weights.getShapedType().getRank() != 5)
    return {};
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  return shape[2] == 9 && shape[3] == kBlock && blocksRead(call) == shape[1] ? weights
                                                                             : ElementsAttr();
}

/// A convolution and its forms.
struct Candidate : WinogradForms {
  HostCallOp call;
  graph::ConstantBytes bytes; ///< holds the filter's data
  DirectFilter filter = {};
};

struct HostSelectWinograd : impl::HostSelectWinogradBase<HostSelectWinograd> {
  using HostSelectWinogradBase::HostSelectWinogradBase;

  void runOnOperation() override {
    int64_t bytes = 0;
    getOperation().walk([&](graph::ConstantOp constant) {
      auto type = cast<ShapedType>(constant.getType());
      if (type.getElementType().isIntOrFloat())
        bytes += type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    });
    std::vector<Candidate> candidates;
    getOperation().walk([&](HostCallOp call) {
      if (ElementsAttr weights = filterOf(call))
        if (std::optional<Candidate> candidate = candidateOf(call, weights))
          candidates.push_back(std::move(*candidate));
    });
    cpu::limitWinogradGrowth(
        llvm::map_to_vector(candidates,
                            [](Candidate &candidate) -> WinogradForms * { return &candidate; }),
        cpu::maxWinogradGrowth(bytes));
    for (const Candidate &candidate : candidates)
      if (candidate.option().form)
        rewrite(candidate.call, candidate.filter, *candidate.option().form);
  }

private:
  /// Returns the forms of a convolution; nothing where its weights cannot be read.
  std::optional<Candidate> candidateOf(HostCallOp call, ElementsAttr weights) {
    FailureOr<graph::ConstantBytes> data = graph::ConstantBytes::get(weights);
    if (failed(data))
      return std::nullopt;
    ArrayRef<int64_t> shape = weights.getShapedType().getShape();
    Candidate result;
    result.call = call;
    result.bytes = std::move(*data);
    result.filter = {result.bytes.expandedAs<float>(), shape[0], shape[1]};
    const int64_t channels = result.filter.channels(), outputs = result.filter.outputs();
    const auto side =
        std::max<int64_t>(1, std::lround(std::sqrt(kProducts / (double(channels) * outputs))));
    static_cast<WinogradForms &>(result) =
        cpu::findWinogradForms({1, side, side, channels, outputs}, result.filter, maxError);
    return std::optional(std::move(result));
  }

  void rewrite(HostCallOp call, const DirectFilter &filter, Winograd form) {
    OpBuilder builder(call);
    SmallVector<Value> inputs = call.inputsByPosition();
    Value direct = inputs[1];
    inputs[1] = graph::ConstantOp::create(builder, graph::derivedLoc(direct.getLoc(), "winograd"),
                                          cpu::packFloatWinograd(filter, form, call.getContext()));
    HostCallOp made = makeCall(builder, call.getLoc(), "WinogradConv", inputs,
                               call->getResultTypes(), call.getParameters());
    call->replaceAllUsesWith(made);
    call.erase();
    if (Operation *constant = direct.getDefiningOp(); constant && direct.use_empty())
      constant->erase();
    ++numWinograd;
  }
};

} // namespace
} // namespace atc::host
