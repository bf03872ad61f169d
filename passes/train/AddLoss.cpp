//===-- AddLoss.cpp - losses ----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/train/Functions.h"
#include "passes/train/GraphMath.h"
#include "passes/train/Passes.h"

#include "llvm/ADT/StringExtras.h"

namespace atc::train {
#define GEN_PASS_DEF_TRAINADDLOSS
#include "passes/train/Passes.h.inc"
} // namespace atc::train

using namespace mlir;
using namespace atc;
using namespace atc::train;
using graph::ComparePredicate;

namespace {

class AddLoss : public train::impl::TrainAddLossBase<AddLoss> {
public:
  using TrainAddLossBase::TrainAddLossBase;
  void runOnOperation() override;

private:
  Value compute(const GraphMath &g, Value output);
  Value elementLoss(const GraphMath &g, Value output, Value wanted);
  Value crossEntropy(const GraphMath &g, Value scores);
  Value reduceElements(const GraphMath &g, Value losses);
  Value fail(const Twine &text) {
    getOperation().emitError() << "E15005: " << text;
    return {};
  }
};

Value AddLoss::reduceElements(const GraphMath &g, Value losses) {
  Value sum = g.sumAll(losses);
  return reduction == "sum"
             ? sum
             : g.mul(sum, 1.0 / static_cast<double>(typeOf(losses).getNumElements()));
}

Value AddLoss::elementLoss(const GraphMath &g, Value output, Value wanted) {
  if (kind == "mse")
    return g.square(g.sub(output, wanted));
  if (kind == "l1")
    return g.make<graph::AbsOp>(g.sub(output, wanted));
  if (kind == "bce_logits")
    return g.sub(g.make<graph::SoftplusOp>(output), g.mul(output, wanted));
  // The logarithm of 0 has no gradient: probabilities are bounded by the least f32 for which both
  // are normal numbers.
  auto log = [&](Value p) {
    return g.make<graph::LogOp>(g.make<graph::ClipOp>(p, APFloat(1e-30), APFloat(1.0)));
  };
  Value hit = g.mul(wanted, log(output));
  return g.neg(g.add(hit, g.mul(g.sub(1.0, wanted), log(g.sub(1.0, output)))));
}

Value AddLoss::crossEntropy(const GraphMath &g, Value scores) {
  const int64_t rank = rankOf(scores);
  const int64_t classAxis = axis < 0 ? axis + rank : axis;
  if (classAxis < 0 || classAxis >= rank)
    return fail("the loss softmax_cross_entropy has axis " + Twine(axis) +
                ", but the model's output has rank " + Twine(rank));
  SmallVector<int64_t> shape(shapeOf(scores)), kept = shape, along(rank, 1);
  const int64_t classes = shape[classAxis];
  shape.erase(shape.begin() + classAxis);
  kept[classAxis] = 1;
  along[classAxis] = classes;
  Type index = g.builder.getI64Type();
  Value labels =
      g.reshape(appendArgument(getOperation(), RankedTensorType::get(shape, index), target), kept);
  Value logits = g.make<graph::LogSoftmaxOp>(scores, classAxis);
  Value isLabel = g.compare(labels, ComparePredicate::Eq, g.range(index, along));
  Value losses = g.neg(g.sum(g.keepWhere(isLabel, logits), {classAxis}));
  if (smoothing > 0)
    losses = g.sub(g.mul(losses, 1 - smoothing),
                   g.mul(g.sum(logits, {classAxis}), smoothing / static_cast<double>(classes)));
  Value counts = g.compare(labels, ComparePredicate::Ne, static_cast<double>(ignoreIndex));
  Value sum = g.sumAll(g.keepWhere(counts, losses));
  if (reduction == "sum")
    return sum;
  Value number = g.sumAll(g.indicator(counts, losses));
  return g.div(sum, g.make<graph::MaxOp>(number, g.scalar(number, 1)));
}

Value AddLoss::compute(const GraphMath &g, Value output) {
  auto type = dyn_cast<RankedTensorType>(output.getType());
  if (!type || !type.hasStaticShape() || !isa<FloatType>(type.getElementType()))
    return fail("the loss needs a float output of static shape, not " +
                Twine(resultName(getOperation(), 0)));
  if (kind == "output")
    return reduceElements(g, output);
  Value wide = g.cast(output, g.builder.getF32Type());
  if (kind == "softmax_cross_entropy")
    return crossEntropy(g, wide);
  Value wanted = appendArgument(getOperation(), wide.getType(), target);
  return reduceElements(g, elementLoss(g, wide, wanted));
}

void AddLoss::runOnOperation() {
  func::FuncOp main = getOperation();
  static constexpr llvm::StringLiteral kinds[] = {
      "softmax_cross_entropy", "mse", "l1", "bce", "bce_logits", "output"};
  const std::optional<unsigned> index = output.empty() && main.getNumResults()
                                            ? std::optional<unsigned>(0)
                                            : findResult(main, output);
  if (!llvm::is_contained(kinds, kind))
    fail("'" + kind + "' is not a loss; it must be one of " + llvm::join(ArrayRef(kinds), ", "));
  else if (reduction != "mean" && reduction != "sum")
    fail("'" + reduction + "' is not a reduction of a loss; it must be mean or sum");
  else if (!index)
    fail("the model has no output '" + output + "' for the loss");
  else if (kind != "output" && findArgument(main, target))
    fail("the model has an input '" + target + "' already: give the targets another name");
  else {
    auto exit = cast<func::ReturnOp>(main.front().getTerminator());
    OpBuilder builder(exit);
    GraphMath g(builder, NameLoc::get(builder.getStringAttr("loss")));
    if (Value loss = compute(g, exit.getOperand(*index)))
      return appendResult(main, loss, "loss", 0);
  }
  signalPassFailure();
}

} // namespace
