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
#include "passes/host/RecurrentCells.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTPACKBYTES
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// Returns the operand of a product that can be packed; -1 for other kernels.
int weightsOf(StringRef kernel) {
  return llvm::StringSwitch<int>(kernel)
      .Cases({"MatMulInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"}, 1)
      .Cases({"QLinearMatMul", "QGemm"}, 3)
      .Default(-1);
}

/// A matrix in the order of BytePanels, with the dims that it had, and the sum of each column.
struct PackedMatrix {
  ElementsAttr elements;
  DenseI64ArrayAttr sums;
};

/// Packs each weight once, however many calls read it.
class BytePacker {
public:
  /// Returns a k x n matrix, stored transposed where `transposed`; null where it has no such order
  /// or its data cannot be read.
  const PackedMatrix &get(ElementsAttr weights, bool transposed) {
    PackedMatrix &packed = done[{weights, unsigned(transposed)}];
    if (!packed.elements)
      packed = pack(weights, transposed);
    return packed;
  }

private:
  static PackedMatrix pack(ElementsAttr weights, bool transposed) {
    auto type = cast<RankedTensorType>(weights.getShapedType());
    const kernels::BytePanels panels{type.getDimSize(transposed), type.getDimSize(!transposed)};
    if (!panels.fits())
      return {};
    auto data = graph::ConstantBytes::get(weights);
    if (failed(data))
      return {};
    const char flip = type.getElementType().isUnsignedInteger() ? char(0x80) : char(0);
    ArrayRef<char> from = data->expanded();
    std::vector<char> bytes(from.size());
    SmallVector<int64_t> sums(panels.n);
    for (int64_t i = 0; i < panels.k; ++i)
      for (int64_t j = 0; j < panels.n; ++j) {
        const char element = from[transposed ? j * panels.k + i : i * panels.n + j] ^ flip;
        bytes[panels.at(i, j)] = element;
        sums[j] += static_cast<int8_t>(element);
      }
    return {graph::makeConstant(type, std::move(bytes), "packed"),
            DenseI64ArrayAttr::get(weights.getContext(), sums)};
  }

  DenseMap<std::pair<Attribute, unsigned>, PackedMatrix> done;
};

struct PackBytes : graph::CountingPattern<HostCallOp> {
  PackBytes(MLIRContext *context, Pass::Statistic &count, BytePacker &packer)
      : CountingPattern(context, count), packer(packer) {}

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    const int index = weightsOf(call.getKernel());
    if (index < 0 || call.getParameters().contains(kPacked) || !hasInputs(call, index + 1))
      return failure();
    SmallVector<Value> operands = call.inputsByPosition();
    ElementsAttr weights = graph::getConstant(operands[index]);
    if (!weights || weights.getShapedType().getRank() != 2 ||
        !weights.getElementType().isInteger(8))
      return rewriter.notifyMatchFailure(call, "has no constant matrix of 8 bits");
    const PackedMatrix &packed = packer.get(weights, integerOf(call, "transB", 0) != 0);
    if (!packed.elements)
      return rewriter.notifyMatchFailure(call, "the sizes of its matrix have no panels");
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
