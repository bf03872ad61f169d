//===-- GenerateLoss.cpp - losses of classes, dims known at run time ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/Generators.h"

#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

#include <limits>

using namespace mlir;

namespace atc::cpu {

namespace {

/// Builds NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: scores [n, classes, ...], targets
/// [n, ...], and a weight per class.
class Loss {
public:
  Loss(RowBuilder &b, graph::HostCallOp call, bool takesScores)
      : b(b), call(call), x(b.in(0)), targets(b.in(1)), takesScores(takesScores),
        wide(RowBuilder::computeType(x.element)),
        ignored(call.getParameters().get("ignore_index")
                    ? std::optional(host::integerOf(call, "ignore_index", 0))
                    : std::nullopt) {}

  bool build() {
    const bool isNone = hasText(call, "reduction", "mean", "none");
    const bool isMean = hasText(call, "reduction", "mean", "mean");
    if (x.rank() < 2 || !x.isFloat() || !b.has(1) || targets.rank() + 1 != x.rank() || !b.out() ||
        isa<FloatType>(targets.element) || b.out().rank() != (isNone ? targets.rank() : 0) ||
        (b.has(2) && b.in(2).element != x.element))
      return false;
    inner = b.product(ArrayRef(x.dims).drop_front(2));
    classes = x.dims[1];
    if (isNone) {
      b.forEachRow([&](ArrayRef<Value>, Value row, Value length) {
        b.loop(length, [&](Value j) {
          Value at = b.add(row, j);
          b.storeWide(b.out(), one(at).first, at);
        });
      });
      return true;
    }
    b.forEachRow([&](ArrayRef<Value>, Value row, Value) {
      Value zero = b.constant(wide, 0);
      auto sums =
          b.fold(b.product(targets.dims), {zero, zero}, [&](Value at, ValueRange in) -> Indices {
            auto [loss, weight] = one(at);
            return {arith::AddFOp::create(b, in[0], loss), arith::AddFOp::create(b, in[1], weight)};
          });
      Value result = isMean ? arith::DivFOp::create(b, sums[0], sums[1]).getResult() : sums[0];
      b.storeWide(b.out(), result, row);
    });
    return true;
  }

private:
  /// Returns the loss and the weight of target `at`, 0 where it is ignored.
  std::pair<Value, Value> one(Value at) {
    Value first = b.add(b.mul(b.div(at, inner), b.mul(classes, inner)), b.rem(at, inner));
    Value shift = takesScores ? normalize(first) : Value();
    Value target = b.loadIndex(targets, at), isIgnored;
    if (ignored) {
      isIgnored = b.compare(arith::CmpIPredicate::eq, target, b.index(*ignored));
      target = b.select(isIgnored, b.index(0), target);
    }
    target = b.checkedClass(target, classes);
    Value score = b.loadWide(x, b.add(first, b.mul(target, inner)));
    if (shift)
      score = arith::SubFOp::create(b, score, shift);
    Value weight = b.has(2) ? b.loadWide(b.in(2), target) : b.constant(wide, 1);
    Value loss = arith::MulFOp::create(b, arith::NegFOp::create(b, score), weight);
    if (!ignored)
      return {loss, weight};
    Value zero = b.constant(wide, 0);
    return {b.select(isIgnored, zero, loss), b.select(isIgnored, zero, weight)};
  }

  /// Returns log(sum(exp(x))) of the classes from element `first` on; writes the logarithms of the
  /// probabilities where they are wanted.
  Value normalize(Value first) {
    auto at = [&](Value k) { return b.add(first, b.mul(k, inner)); };
    Value lowest = b.constant(wide, -std::numeric_limits<double>::infinity());
    Value max = b.fold(classes, lowest, [&](Value k, ValueRange best) -> Indices {
      return {arith::MaximumFOp::create(b, best.front(), b.loadWide(x, at(k)))};
    })[0];
    Value sum = b.fold(classes, b.constant(wide, 0), [&](Value k, ValueRange in) -> Indices {
      Value moved = arith::SubFOp::create(b, b.loadWide(x, at(k)), max);
      return {arith::AddFOp::create(b, in.front(), math::ExpOp::create(b, moved))};
    })[0];
    Value shift = arith::AddFOp::create(b, max, math::LogOp::create(b, sum).getResult());
    if (b.numOutputs() > 1 && b.out(1))
      b.loop(classes, [&](Value k) {
        b.storeWide(b.out(1), arith::SubFOp::create(b, b.loadWide(x, at(k)), shift), at(k));
      });
    return shift;
  }

  RowBuilder &b;
  graph::HostCallOp call;
  const Port &x, &targets;
  bool takesScores;
  Type wide;
  std::optional<int64_t> ignored;
  Value inner, classes;
};

template <bool takesScores> bool lossOf(RowBuilder &b, graph::HostCallOp call) {
  return b.numInputs() >= 2 && b.has(0) && b.has(1) && Loss(b, call, takesScores).build();
}

} // namespace

Generator findLossGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {
      {"NegativeLogLikelihoodLoss", lossOf<false>},
      {"SoftmaxCrossEntropyLoss", lossOf<true>},
  };
  return generators.lookup(kernel);
}

} // namespace atc::cpu
