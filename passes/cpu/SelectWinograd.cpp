//===-- SelectWinograd.cpp - convolutions of f32 with fewer products ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides per convolution between the direct form and Winograd's with tiles of 2x2 or 4x4 outputs,
// by a model of the vector operations and of the weights that are read, which are 1.8 and 4 times
// as many. It does not depend on the CPU level: the code of all levels reads the same weights.
//
//===----------------------------------------------------------------------===//

#include "dialects/cpu/FloatWinograd.h"
#include "dialects/graph/ConstantData.h"
#include "dialects/om/Om.h"
#include "passes/Choices.h"
#include "passes/Remarks.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/WinogradWeights.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUSELECTWINOGRAD
#include "passes/cpu/Passes.h.inc"

namespace {

constexpr int64_t kBlock = 16;
/// The maximum part of the direct form's cost. Forms that are predicted to cost more have been
/// measured as slower: F(2x2, 3x3) of 512 channels on 7 x 7 pixels, predicted 0.76, took 1.16.
constexpr double kMaxCost = 0.7;
/// The bytes of weights that a core reads from beyond L2 in the time of one vector operation.
constexpr double kBytesPerOperation = 8;
/// The target in keys of choices: weights, and so this choice, are those of all CPU levels.
constexpr llvm::StringLiteral kChoiceTarget = "cpu";

/// The vector operations of a form per tile and block of 16 channels, loads and stores included.
struct TransformCosts {
  double input, output;
};
TransformCosts transformCosts(Winograd form) {
  return form.outputs == 2 ? TransformCosts{80, 60} : TransformCosts{300, 250};
}

ArrayRef<int64_t> bufferShape(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getShape();
}

/// The sizes of a convolution.
struct Sizes {
  int64_t images, height, width, channels, outputs;

  explicit Sizes(Conv2DOp op) {
    ArrayRef<int64_t> out = bufferShape(op.getOutput());
    images = out[0];
    height = out[2];
    width = out[3];
    channels = op.getChannels();
    outputs = out[1] * out[4];
  }
  double weightTraffic(int64_t taps) const {
    return double(taps) * channels * outputs * sizeof(float) / kBytesPerOperation;
  }
  /// Returns the vector operations of the direct form.
  double directCost() const {
    return double(images) * height * width * 9 * channels * outputs / kBlock + weightTraffic(9);
  }
  /// Returns those of a Winograd form.
  double cost(Winograd form) const {
    const double tiles = double(images) * form.tilesOf(height, width);
    const TransformCosts costs = transformCosts(form);
    return tiles *
               (double(form.places()) * channels * outputs + costs.input * channels +
                costs.output * outputs) /
               kBlock +
           weightTraffic(form.places());
  }
};

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
std::optional<int64_t> placesOf(StringRef choice) {
  if (choice == "direct")
    return 0;
  if (choice == "2x2")
    return 16;
  if (choice == "4x4")
    return 36;
  return std::nullopt;
}

struct CpuSelectWinogradPass : impl::CpuSelectWinogradBase<CpuSelectWinogradPass> {
  using CpuSelectWinogradBase::CpuSelectWinogradBase;

  void runOnOperation() override {
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<Conv2DOp>()))
      if (StringRef why = whyDirect(op); why.empty())
        select(op);
      else
        remarkMissed(getArgument(), op.getLoc(), "Direct") << why;
  }

private:
  void select(Conv2DOp op) {
    auto weight = op.getFilter().getDefiningOp<om::WeightOp>();
    FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(weight.getValue());
    if (failed(bytes) || !bytes->getType().getElementType().isF32())
      return;
    ArrayRef<int64_t> shape = bufferShape(op.getFilter());
    const DirectFilter filter{bytes->expandedAs<float>(), shape[0], shape[1]};

    std::string key;
    const std::optional<int64_t> given = givenPlaces(op, key);
    const Sizes sizes(op);
    const double direct = sizes.directCost();
    double bestCost = kMaxCost * direct, bestError = 0;
    std::optional<Winograd> best;
    std::string inexact;
    for (int64_t places : {16, 36}) {
      const Winograd form = *Winograd::ofPlaces(places);
      const double cost = sizes.cost(form);
      if (given ? *given != places : cost >= bestCost)
        continue;
      const double error = estimateWinogradError(filter, form);
      if (error > maxError) {
        inexact += llvm::formatv("; the estimated error of tiles of {0}x{0} is {1:E} of the range",
                                 form.outputs, error);
        continue;
      }
      best = form;
      bestCost = cost;
      bestError = error;
    }
    const std::string choice = best ? llvm::formatv("{0}x{0}", best->outputs).str() : "direct";
    if (!key.empty())
      remarkChoice(getArgument(), op.getLoc(), key, choice);
    if (!best) {
      remarkMissed(getArgument(), op.getLoc(), "Direct")
          << remark::add("{0}: {1} vector operations{2}", given ? "as chosen" : "no form is faster",
                         int64_t(direct), inexact);
      return;
    }
    remarkPassed(getArgument(), op.getLoc(), "Winograd")
        << remark::add("tiles of {0} outputs: {1} vector operations instead of {2}; the estimated "
                       "error is {3:E} of the range",
                       choice, int64_t(sizes.cost(*best)), int64_t(direct), bestError);
    rewrite(op, filter, *best);
    if (weight.use_empty())
      weight.erase();
  }

  /// Returns what the table of choices has for a convolution; `key` is empty where nobody asks.
  std::optional<int64_t> givenPlaces(Conv2DOp op, std::string &key) {
    if (!usesChoices(op))
      return std::nullopt;
    key = choiceKey(getArgument(), kChoiceTarget, identify(op));
    std::optional<StringRef> choice = givenChoice(op, key);
    if (!choice)
      return std::nullopt;
    std::optional<int64_t> places = placesOf(*choice);
    if (!places)
      reportUnfit(op, key, *choice, "it must be direct, 2x2 or 4x4");
    return places;
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
