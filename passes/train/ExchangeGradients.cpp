//===-- ExchangeGradients.cpp - gradients of all ranks --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/collectives/Collectives.h"
#include "passes/train/Functions.h"
#include "passes/train/GraphMath.h"
#include "passes/train/Passes.h"

#include "llvm/ADT/STLExtras.h"

namespace atc::train {
#define GEN_PASS_DEF_TRAINEXCHANGEGRADIENTS
#include "passes/train/Passes.h.inc"
} // namespace atc::train

using namespace mlir;
using namespace atc;
using namespace atc::train;

namespace {

class ExchangeGradients : public train::impl::TrainExchangeGradientsBase<ExchangeGradients> {
public:
  using TrainExchangeGradientsBase::TrainExchangeGradientsBase;
  void runOnOperation() override;

private:
  using Results = SmallVector<unsigned>; ///< numbers of results of the function

  bool readOptions();
  Results findGradients();
  Results findStatistics();
  SmallVector<Results> makeBuckets(Results results);
  void exchange(ArrayRef<unsigned> results, Type wire, bool average);
  Value resultValue(unsigned number) {
    return getOperation().front().getTerminator()->getOperand(number);
  }

  Type wireType; ///< of the elements of gradients on their way; null: their own
};

bool ExchangeGradients::readOptions() {
  Builder builder(&getContext());
  if (compress == "f16")
    wireType = builder.getF16Type();
  else if (compress == "bf16")
    wireType = builder.getBF16Type();
  else if (compress.empty())
    wireType = {};
  else
    getOperation().emitError() << "E15006: compress is '" << compress
                               << "', which is none of the compressions of gradients, f16 and bf16";
  if (ranks > 4096)
    getOperation().emitError() << "E15006: ranks is " << ranks << ", expected 1 to 4096";
  return (compress.empty() || wireType) && ranks <= 4096;
}

ExchangeGradients::Results ExchangeGradients::findGradients() {
  func::FuncOp main = getOperation();
  Results found;
  for (unsigned argument = 0; argument < main.getNumArguments(); ++argument)
    if (main.getArgAttr(argument, kParameterAttr))
      if (auto result = findResult(main, argumentName(main, argument) + ".grad"))
        found.push_back(*result);
  return found;
}

ExchangeGradients::Results ExchangeGradients::findStatistics() {
  func::FuncOp main = getOperation();
  Results found;
  for (unsigned argument = 0; argument < main.getNumArguments(); ++argument)
    if (auto name = main.getArgAttrOfType<StringAttr>(argument, kStatisticAttr))
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

/// Replaces results by their sum or mean over all ranks, with one all_reduce behind the op that
/// computes the last of them, so that it overlaps with what is computed later.
void ExchangeGradients::exchange(ArrayRef<unsigned> results, Type wire, bool average) {
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
  const Type element = typeOf(first).getElementType();
  SmallVector<Value> parts;
  for (unsigned result : results) {
    Value part = resultValue(result);
    parts.push_back(g.reshape(part, {typeOf(part).getNumElements()}));
  }
  Value own = parts.size() == 1 ? parts.front() : g.concat(parts, 0);
  // In front of the sum, which could overflow in a narrow type.
  if (average)
    own = g.mul(own, 1.0 / static_cast<double>(ranks));
  if (wire)
    own = g.cast(own, wire);
  const auto group = llvm::to_vector(llvm::seq<int64_t>(0, ranks));
  Value all = g.make<graph::AllReduceOp>(own.getType(), own, graph::ReduceKind::Sum, group);
  if (wire)
    all = g.cast(all, element);
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

void ExchangeGradients::runOnOperation() {
  func::FuncOp main = getOperation();
  if (!readOptions())
    return signalPassFailure();
  if (ranks <= 1 || !llvm::hasSingleElement(main.getBody()))
    return;
  for (const Results &bucket : makeBuckets(findGradients()))
    exchange(bucket, wireType, mean);
  exchange({0}, {}, mean);
  if (Results statistics = findStatistics(); !statistics.empty())
    exchange(statistics, {}, /*average=*/true);
  // All ranks run this program: none of its ops depends on the rank.
  Builder builder(&getContext());
  main->getParentOp()->setAttr(graph::kRankAttr, builder.getI64IntegerAttr(0));
  main->getParentOp()->setAttr(graph::kRankCountAttr, builder.getI64IntegerAttr(ranks));
}

} // namespace
