//===-- ExchangeGradients.cpp - gradients of all ranks --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/collectives/Collectives.h"
#include "passes/train/Compression.h"
#include "passes/train/Functions.h"
#include "passes/train/GraphMath.h"
#include "passes/train/Passes.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace atc::train {
#define GEN_PASS_DEF_TRAINEXCHANGEGRADIENTS
#include "passes/train/Passes.h.inc"
} // namespace atc::train

using namespace mlir;
using namespace atc;
using namespace atc::train;

namespace {

/// The default of the option `ratio`.
constexpr double kDefaultRatio = 0.01;

class ExchangeGradients : public train::impl::TrainExchangeGradientsBase<ExchangeGradients> {
public:
  using TrainExchangeGradientsBase::TrainExchangeGradientsBase;
  void runOnOperation() override;

private:
  using Results = SmallVector<unsigned>; ///< numbers of results of the function

  bool readOptions();
  Results findGradients(bool sharded);
  void averageShares();
  Results findStatistics();
  SmallVector<Results> makeBuckets(Results results);
  void exchange(ArrayRef<unsigned> results, bool isGradient, bool average);
  Value sumOverRanks(const GraphMath &g, Value own, bool isGradient);
  Value compressedSum(const GraphMath &g, Value own);
  Value resultValue(unsigned number) {
    return getOperation().front().getTerminator()->getOperand(number);
  }

  Type wireType;            ///< of the elements of gradients in an all_reduce; null: their own
  bool keepsErrors = false; ///< whether compression leaves something over
  SmallVector<std::pair<std::string, Value>> errors; ///< what it has left, by name
};

bool ExchangeGradients::readOptions() {
  Builder builder(&getContext());
  func::FuncOp main = getOperation();
  wireType = compress == "f16"    ? Type(builder.getF16Type())
             : compress == "bf16" ? Type(builder.getBF16Type())
                                  : Type();
  keepsErrors = compress == "int8" || compress == "topk";
  if (!compress.empty() && !wireType && !keepsErrors)
    main.emitError() << "E15006: compress is '" << compress
                     << "', which is none of the compressions of gradients: f16, bf16, int8, topk";
  else if (!(ratio > 0 && ratio <= 1))
    main.emitError() << "E15006: the ratio of compress is " << ratio.getValue()
                     << ", expected more than 0 and at most 1";
  else if (compress != "topk" && ratio != kDefaultRatio)
    main.emitError() << "E15006: compress '" << compress << "' has no ratio, which is for topk";
  else if (ranks > 4096)
    main.emitError() << "E15006: ranks is " << ranks.getValue() << ", expected 1 to 4096";
  else
    return true;
  return false;
}

ExchangeGradients::Results ExchangeGradients::findGradients(bool sharded) {
  func::FuncOp main = getOperation();
  Results found;
  for (unsigned argument = 0; argument < main.getNumArguments(); ++argument)
    if (main.getArgAttr(argument, kParameterAttr) &&
        sharded == !!main.getArgAttr(argument, kShardedAttr))
      if (auto result = findResult(main, argumentName(main, argument) + ".grad"))
        found.push_back(*result);
  return found;
}

ExchangeGradients::Results ExchangeGradients::findStatistics() {
  func::FuncOp main = getOperation();
  Results found;
  for (unsigned argument = 0; argument < main.getNumArguments(); ++argument)
    if (auto name = main.getArgAttrOfType<StringAttr>(argument, kStatisticAttr);
        name && argumentName(main, argument) != kRandom)
      if (auto result = findResult(main, name.getValue()))
        found.push_back(*result);
  return found;
}

/// Divides results, in the order in which they are computed, into runs of at least `bucketBytes`.
SmallVector<ExchangeGradients::Results> ExchangeGradients::makeBuckets(Results results) {
  llvm::stable_sort(results, [&](unsigned a, unsigned b) {
    Operation *first = resultValue(a).getDefiningOp(), *second = resultValue(b).getDefiningOp();
    return second && (!first || (first != second && first->isBeforeInBlock(second)));
  });
  SmallVector<Results> buckets;
  int64_t bytes = 0;
  for (unsigned result : results) {
    if (buckets.empty() || bytes >= bucketBytes) {
      buckets.emplace_back();
      bytes = 0;
    }
    buckets.back().push_back(result);
    bytes += typeOf(resultValue(result)).getNumElements() * 4;
  }
  return buckets;
}

/// Returns the sum of a vector over all ranks, with gradients compressed on their way.
Value ExchangeGradients::sumOverRanks(const GraphMath &g, Value own, bool isGradient) {
  if (isGradient && keepsErrors)
    return compressedSum(g, own);
  const Type wire = isGradient ? wireType : Type(), element = typeOf(own).getElementType();
  if (wire)
    own = g.cast(own, wire);
  Value all = g.allReduce(graph::ReduceKind::Sum, own, ranks);
  return wire ? g.cast(all, element) : all;
}

/// Returns the sum over all ranks of what compressed messages contain. The rest is a state of the
/// rank, which the next run adds to its gradients.
Value ExchangeGradients::compressedSum(const GraphMath &g, Value own) {
  const std::string name = "train.error" + std::to_string(errors.size());
  Value value = g.add(own, appendArgument(getOperation(), own.getType(), name));
  const double count = static_cast<double>(shapeOf(own)[0]);
  const CompressedSum all =
      compress == "int8"
          ? sumInBytes(g, value, ranks)
          : sumOfLargest(g, value, ranks, static_cast<int64_t>(std::ceil(count * ratio)));
  errors.emplace_back(name, all.left);
  return all.sum;
}

/// Replaces results by their sum or mean over all ranks, with one all_reduce behind the op that
/// computes the last of them, so that it overlaps with what is computed later.
void ExchangeGradients::exchange(ArrayRef<unsigned> results, bool isGradient, bool average) {
  Block &body = getOperation().front();
  Operation *last = nullptr;
  for (unsigned result : results)
    if (Operation *op = resultValue(result).getDefiningOp())
      if (!last || last->isBeforeInBlock(op))
        last = op;
  OpBuilder builder(&getContext());
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(&body);
  const Value first = resultValue(results.front());
  GraphMath g(builder, derivedName(first.getLoc(), "exchange"));
  SmallVector<Value> parts;
  for (unsigned result : results) {
    Value part = resultValue(result);
    parts.push_back(g.reshape(part, {typeOf(part).getNumElements()}));
  }
  Value own = parts.size() == 1 ? parts.front() : g.concat(parts, 0);
  // In front of the sum, which could overflow in a narrow type.
  if (average)
    own = g.mul(own, 1.0 / static_cast<double>(ranks));
  Value all = sumOverRanks(g, own, isGradient);
  int64_t at = 0;
  for (unsigned result : results) {
    Value part = resultValue(result);
    const int64_t count = typeOf(part).getNumElements();
    Value sum = results.size() == 1 ? all : g.slice(all, {at}, {count}, {1});
    body.getTerminator()->setOperand(result, g.reshape(sum, shapeOf(part)));
    at += count;
  }
  ++numExchanges;
}

/// Makes means of the gradients of shares, which the backward pass has summed over all ranks.
void ExchangeGradients::averageShares() {
  Operation *exit = getOperation().front().getTerminator();
  for (unsigned result : findGradients(/*sharded=*/true)) {
    Value sum = resultValue(result);
    OpBuilder builder(exit);
    builder.setInsertionPointAfterValue(sum);
    GraphMath g(builder, derivedName(sum.getLoc(), "mean"));
    exit->setOperand(result, g.mul(sum, 1.0 / static_cast<double>(ranks)));
  }
}

void ExchangeGradients::runOnOperation() {
  func::FuncOp main = getOperation();
  if (!readOptions())
    return signalPassFailure();
  if (ranks <= 1 || !llvm::hasSingleElement(main.getBody()))
    return;
  errors.clear();
  const Results statistics = findStatistics();
  for (const Results &bucket : makeBuckets(findGradients(/*sharded=*/false)))
    exchange(bucket, /*isGradient=*/true, mean);
  if (mean)
    averageShares();
  exchange({0}, /*isGradient=*/false, mean);
  if (!statistics.empty())
    exchange(statistics, /*isGradient=*/false, /*average=*/true);
  // States of the optimizer's kind: train-apply-optimizer lists them.
  for (const auto &[name, next] : errors) {
    main.setArgAttr(*findArgument(main, name), kStatisticAttr,
                    StringAttr::get(&getContext(), name + ".next"));
    appendResult(main, next, name + ".next");
  }
  // All ranks run this program: none of its ops depends on the rank.
  Builder builder(&getContext());
  main->getParentOp()->setAttr(graph::kRankAttr, builder.getI64IntegerAttr(0));
  main->getParentOp()->setAttr(graph::kRankCountAttr, builder.getI64IntegerAttr(ranks));
}

} // namespace
