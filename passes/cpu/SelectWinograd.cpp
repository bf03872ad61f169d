//===-- SelectWinograd.cpp - convolutions of f32 with fewer products ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides per convolution between the direct form and Winograd's with tiles of 2x2 or 4x4 outputs,
// by a model of the vector operations and of the weights that are read, which are 1.8 and 4 times
// as many. It does not depend on the CPU level: the code of all levels reads the same weights.
// Where weights would make the model much larger, forms that save the least per byte give way.
//
//===----------------------------------------------------------------------===//

#include "dialects/cpu/FloatWinograd.h"
#include "dialects/graph/ConstantData.h"
#include "dialects/om/Om.h"
#include "passes/Choices.h"
#include "passes/Remarks.h"
#include "passes/cpu/ChoiceTargets.h"
#include "passes/cpu/Passes.h"
#include "passes/kernel/pack/WinogradForms.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUSELECTWINOGRAD
#include "passes/cpu/Passes.h.inc"

namespace {

constexpr int64_t kBlock = 16;
ArrayRef<int64_t> bufferShape(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getShape();
}

WinogradSizes sizesOf(Conv2DOp op) {
  ArrayRef<int64_t> out = bufferShape(op.getOutput());
  return {out[0], out[2], out[3], int64_t(op.getChannels()), out[1] * out[4]};
}

/// Returns why a convolution has no Winograd form; empty: it has.
StringRef whyDirect(Conv2DOp op) {
  auto all = [](ArrayRef<int64_t> list) {
    return llvm::all_of(list, [](int64_t number) { return number == 1; });
  };
  ArrayRef<int64_t> filter = bufferShape(op.getFilter());
  if (filter[2] != 3 || filter[3] != 3)
    return "the window is not 3x3";
  if (!all(op.getStrides()) || !all(op.getDilations()))
    return "the stride or the dilation is not 1";
  if (op.getGroups() != 1)
    return "it has groups";
  // Lanes past the last channel hold anything.
  if (filter[4] != kBlock || filter[5] != kBlock || int64_t(op.getChannels()) != filter[1] * kBlock)
    return "its channels are no whole blocks of 16";
  if (!op.getFilter().getDefiningOp<om::WeightOp>())
    return "its weights are not constant";
  return "";
}

/// Returns the number of positions of a choice, 0 for the direct form; nothing if it is none.
std::optional<int64_t> pointsOf(StringRef choice) {
  if (choice == "direct")
    return 0;
  if (choice == "2x2")
    return 16;
  if (choice == "4x4")
    return 36;
  return std::nullopt;
}

/// A convolution and its forms.
struct Candidate : WinogradForms {
  Conv2DOp op;
  graph::ConstantBytes bytes; ///< holds the filter's data
  DirectFilter filter = {};
  std::string key; ///< of the choice; empty where nobody asks
};

struct CpuSelectWinogradPass : impl::CpuSelectWinogradBase<CpuSelectWinogradPass> {
  using CpuSelectWinogradBase::CpuSelectWinogradBase;

  void runOnOperation() override {
    std::vector<Candidate> candidates;
    for (auto op : getOperation().getOps<Conv2DOp>())
      if (StringRef why = whyDirect(op); !why.empty())
        remarkMissed(getArgument(), op.getLoc(), "Direct") << why;
      else if (std::optional<Candidate> candidate = candidateOf(op))
        candidates.push_back(std::move(*candidate));
    int64_t weights = 0;
    for (auto weight : getOperation().getOps<om::WeightOp>()) {
      auto type = cast<MemRefType>(weight.getType());
      weights += type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    }
    limitWinogradGrowth(
        llvm::map_to_vector(candidates,
                            [](Candidate &candidate) -> WinogradForms * { return &candidate; }),
        maxWinogradGrowth(weights));
    for (const Candidate &candidate : candidates)
      apply(candidate);
  }

private:
  /// Returns the forms of a convolution, with the fastest as its choice; nothing where the weights
  /// are not of f32.
  std::optional<Candidate> candidateOf(Conv2DOp op) {
    auto weight = op.getFilter().getDefiningOp<om::WeightOp>();
    FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(weight.getValue());
    if (failed(bytes) || !bytes->getType().getElementType().isF32())
      return std::nullopt;
    ArrayRef<int64_t> shape = bufferShape(op.getFilter());
    Candidate result;
    result.op = op;
    result.bytes = std::move(*bytes);
    result.filter = {result.bytes.expandedAs<float>(), shape[0], shape[1]};
    const std::optional<int64_t> given = givenPoints(op, result.key);
    static_cast<WinogradForms &>(result) =
        findWinogradForms(sizesOf(op), result.filter, maxError, given);
    return std::optional(std::move(result));
  }

  /// Returns what the table of choices has for a convolution; `key` is empty where nobody asks.
  std::optional<int64_t> givenPoints(Conv2DOp op, std::string &key) {
    if (!usesChoices(op))
      return std::nullopt;
    key = choiceKey(getArgument(), kAllLevels, identify(op));
    std::optional<StringRef> choice = givenChoice(op, key);
    if (!choice)
      return std::nullopt;
    std::optional<int64_t> points = pointsOf(*choice);
    if (!points)
      reportUnfit(op, key, *choice, "it must be direct, 2x2 or 4x4");
    return points;
  }

  /// Rewrites a convolution to its form, and remarks on it.
  void apply(const Candidate &candidate) {
    Conv2DOp op = candidate.op;
    const WinogradOption &option = candidate.option();
    const int64_t direct = candidate.options.front().cost;
    const std::string choice =
        option.form ? llvm::formatv("{0}x{0}", option.form->outputs).str() : "direct";
    const StringRef limited =
        candidate.isLimited ? "; a faster form would make the model's weights too large" : "";
    if (!candidate.key.empty())
      remarkChoice(getArgument(), op.getLoc(), candidate.key, choice);
    if (!option.form) {
      remarkMissed(getArgument(), op.getLoc(), "Direct")
          << remark::add("{0}: {1} vector operations{2}{3}",
                         candidate.isGiven     ? "as chosen"
                         : candidate.isLimited ? "smaller"
                                               : "no form is faster",
                         direct, candidate.inexact, limited);
      return;
    }
    remarkPassed(getArgument(), op.getLoc(), "Winograd")
        << remark::add("tiles of {0} outputs: {1} vector operations instead of {2}; the estimated "
                       "error is {3:E} of the range{4}",
                       choice, int64_t(option.cost), direct, option.error, limited);
    auto weight = op.getFilter().getDefiningOp<om::WeightOp>();
    rewrite(op, candidate.filter, *option.form);
    if (weight.use_empty())
      weight.erase();
  }

  void rewrite(Conv2DOp op, const DirectFilter &filter, Winograd form) {
    OpBuilder builder(op);
    ElementsAttr packed = packFloatWinograd(filter, form, op.getContext());
    auto type = MemRefType::get(packed.getShapedType().getShape(), builder.getF32Type());
    auto weight = om::WeightOp::create(builder, op.getLoc(), type, packed);
    auto winograd = FloatWinogradOp::create(
        builder, op.getLoc(), op.getInput(), weight, op.getBias(), op.getResidual(), op.getSlope(),
        op.getOutput(), op.getActivation().value_or(graph::ActivationAttr()), op.getResidualLast(),
        TileAttr());
    winograd->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op.erase();
    ++numWinograd;
  }
};

} // namespace
} // namespace atc::cpu
