//===-- PackBytes.cpp - packs constant weights of 8 bits ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "kernels/core/BytePanels.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/host/expand/RecurrentCells.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTPACKBYTES
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// The weights of a kernel that can be packed.
struct WeightsInput {
  int operand = -1; ///< -1: none
  bool isConv = false;

  static WeightsInput of(StringRef kernel) {
    return llvm::StringSwitch<WeightsInput>(kernel)
        .Cases({"MatMulInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"}, {1})
        .Cases({"QLinearMatMul", "QGemm"}, {3})
        .Case("ConvInteger", {1, true})
        .Case("QLinearConv", {3, true})
        .Default({});
  }
};

/// Weights in the order of their kernel, with the dims that they had, and the sum of each output
/// channel or column.
struct PackedWeights {
  ElementsAttr elements;
  DenseI64ArrayAttr sums;
};

/// Packs a k x n matrix, stored transposed where `transposed`, in the order of BytePanels. Null
/// where it has no such order.
PackedWeights packMatrix(ArrayRef<char> from, RankedTensorType type, bool transposed) {
  if (type.getRank() != 2)
    return {};
  const kernels::BytePanels panels{type.getDimSize(transposed), type.getDimSize(!transposed)};
  if (!panels.fits())
    return {};
  const char flip = type.getElementType().isUnsignedInteger() ? char(0x80) : char(0);
  std::vector<char> bytes(from.size());
  SmallVector<int64_t> sums(panels.n);
  for (int64_t i = 0; i < panels.k; ++i)
    for (int64_t j = 0; j < panels.n; ++j) {
      const char element = from[transposed ? j * panels.k + i : i * panels.n + j] ^ flip;
      bytes[panels.at(i, j)] = element;
      sums[j] += static_cast<int8_t>(element);
    }
  return {graph::makeConstant(type, std::move(bytes), "packed"),
          DenseI64ArrayAttr::get(type.getContext(), sums)};
}

/// Packs the filters of a convolution, [output channels, channels, taps ..], in QuadOrder. Null
/// where they have no such order, and where a group has so few output channels that its kernel adds
/// rows of the image.
PackedWeights packFilters(ArrayRef<char> from, RankedTensorType type, int64_t groups) {
  if (type.getRank() < 3 || groups < 1 ||
      type.getDimSize(0) / groups <= kernels::QuadOrder::kFewRows)
    return {};
  const int64_t channels = type.getDimSize(1), rows = type.getDimSize(0);
  const kernels::QuadOrder order{channels, channels ? type.getNumElements() / rows / channels : 0};
  if (!order.fits())
    return {};
  const char flip = type.getElementType().isUnsignedInteger() ? char(0) : char(0x80);
  std::vector<char> bytes(from.size());
  SmallVector<int64_t> sums(rows);
  for (int64_t row = 0, at = 0; row < rows; ++row)
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t tap = 0; tap < order.taps; ++tap, ++at) {
        const char element = from[at] ^ flip;
        bytes[row * order.size() + order.at(channel, tap)] = element;
        sums[row] += static_cast<uint8_t>(element);
      }
  return {graph::makeConstant(type, std::move(bytes), "packed"),
          DenseI64ArrayAttr::get(type.getContext(), sums)};
}

/// Packs each weight once, however many calls read it.
class BytePacker {
public:
  /// Returns the weights of a call in the order of its kernel; null where they stay as they are.
  PackedWeights get(HostCallOp call, ElementsAttr weights, bool isConv) {
    const int64_t form = integerOf(call, isConv ? "group" : "transB", isConv);
    PackedWeights &packed = done[{weights, form, unsigned(isConv)}];
    if (packed.elements)
      return packed;
    auto data = graph::ConstantBytes::get(weights);
    if (failed(data))
      return {};
    auto type = cast<RankedTensorType>(weights.getShapedType());
    return packed = isConv ? packFilters(data->expanded(), type, form)
                           : packMatrix(data->expanded(), type, form != 0);
  }

private:
  DenseMap<std::tuple<Attribute, int64_t, unsigned>, PackedWeights> done;
};

struct PackBytes : graph::CountingPattern<HostCallOp> {
  PackBytes(MLIRContext *context, Pass::Statistic &count, BytePacker &packer)
      : CountingPattern(context, count), packer(packer) {}

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    const auto [index, isConv] = WeightsInput::of(call.getKernel());
    if (index < 0 || call.getParameters().contains(kPacked) || !hasInputs(call, index + 1))
      return failure();
    SmallVector<Value> operands = call.inputsByPosition();
    ElementsAttr weights = graph::getConstant(operands[index]);
    if (!weights || !weights.getElementType().isInteger(8))
      return rewriter.notifyMatchFailure(call, "has no constant weights of 8 bits");
    // Where the other factor or the result is of small floats the kernel computes with floats, and
    // reads weights as they are.
    auto isByte = [](Value value) {
      return value && getElementTypeOrSelf(value.getType()).isInteger(8);
    };
    if (call.getKernel() == "QLinearMatMul" &&
        (operands.size() < 8 || !isByte(operands[0]) || !isByte(operands[7])))
      return rewriter.notifyMatchFailure(call, "it is computed in floats");
    const PackedWeights packed = packer.get(call, weights, isConv);
    if (!packed.elements)
      return rewriter.notifyMatchFailure(call, "the sizes of its weights do not fill panels");
    operands[index] = graph::ConstantOp::create(
        rewriter, graph::derivedLoc(operands[index].getLoc(), "packed"), packed.elements);
    SmallVector<NamedAttribute> parameters(call.getParameters().getValue());
    parameters.push_back(rewriter.getNamedAttr(kPacked, packed.sums));
    HostCallOp made = makeCall(rewriter, call.getLoc(), call.getKernel(), operands,
                               call.getResultTypes(), rewriter.getDictionaryAttr(parameters));
    rewriter.replaceOp(call, made.getResults());
    ++count;
    return success();
  }

  BytePacker &packer;
};

struct HostPackBytes : impl::HostPackBytesBase<HostPackBytes> {
  void runOnOperation() override {
    BytePacker packer;
    RewritePatternSet patterns(&getContext());
    patterns.add<PackBytes>(&getContext(), numPacked, packer);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host
