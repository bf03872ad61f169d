//===-- ApplyOptimizer.cpp - the update of parameters and state -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/collectives/Collectives.h"
#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/train/Functions.h"
#include "passes/train/Optimizers.h"
#include "passes/train/Passes.h"
#include "support/NamePattern.h"
#include <array>

namespace atc::train {
#define GEN_PASS_DEF_TRAINAPPLYOPTIMIZER
#include "passes/train/Passes.h.inc"
} // namespace atc::train

using namespace mlir;
using namespace atc;
using namespace atc::train;
using graph::ComparePredicate;

namespace {

class ApplyOptimizer : public train::impl::TrainApplyOptimizerBase<ApplyOptimizer> {
public:
  using TrainApplyOptimizerBase::TrainApplyOptimizerBase;
  void runOnOperation() override;

private:
  /// A tensor that is trained.
  struct Trained {
    Value parameter, gradient;
    std::string name;
    int64_t ranks; ///< how many share it; 1: each rank has all of it
  };

  /// The settings of some parameters, of which the first that matches a name counts.
  struct Group {
    std::string pattern;
    double rate = 1; ///< a factor
    std::optional<double> decay;
  };

  bool readOptimizer(Optimizer &optimizer);
  bool readGroups(ArrayRef<Trained> all);
  bool zeroGradients(const GraphMath &g, MutableArrayRef<Trained> all);
  RateSchedule rateSchedule() const {
    return {schedule, rate, final, warmup, steps, llvm::to_vector(milestones), factor};
  }
  SmallVector<Trained> takeGradients();
  Value sumOfSquares(const GraphMath &g, ArrayRef<Trained> all);
  Value onAllRanks(const GraphMath &g, Value condition);
  Value addState(Type type, const std::string &name);
  void setNext(const std::string &name, Value next);
  Value addCorrection(const GraphMath &g, const std::string &name, double beta);
  void prepareGradients(const GraphMath &g, MutableArrayRef<Trained> all);
  void accumulateGradients(const GraphMath &g, MutableArrayRef<Trained> all);
  void unscaleGradients(const GraphMath &g, MutableArrayRef<Trained> all);
  void clipGradients(const GraphMath &g, MutableArrayRef<Trained> all);
  Value both(const GraphMath &g, Value first, Value second) {
    return !first ? second : !second ? first : g.make<graph::AndOp>(first, second);
  }
  Value whenUpdated(const GraphMath &g, Value next, Value now) {
    return updates ? g.select(updates, next, now) : next;
  }

  SmallVector<Group> settings;
  int64_t ranks = 1;      ///< of the module
  bool isSharded = false; ///< whether ranks share some of the parameters
  SmallVector<std::array<std::string, 2>> states;
  Value updates; ///< a bool of rank 0: whether this run changes the parameters; null: it does
};

bool ApplyOptimizer::readOptimizer(Optimizer &optimizer) {
  func::FuncOp main = getOperation();
  const auto found = Optimizer::findKind(kind);
  if (!found)
    main.emitError() << "E15006: '" << kind
                     << "' is not an optimizer; it must be sgd, adam, adamw, lamb, lars or adagrad";
  else if (accumulate < 1)
    main.emitError() << "E15006: accumulate is " << accumulate.getValue()
                     << ", expected at least 1";
  else if (nesterov && (momentum == 0 || dampening != 0))
    main.emitError() << "E15006: nesterov needs a momentum and no dampening";
  else if (const std::string reason = rateSchedule().findError(); rate != 0 && !reason.empty())
    main.emitError() << "E15006: the learning rate: " << reason;
  else {
    optimizer = {*found, momentum, dampening,   nesterov, beta1,
                 beta2,  epsilon,  weightDecay, trust,    lrDecay};
    return true;
  }
  return false;
}

/// Reads the groups; each must be about a parameter.
bool ApplyOptimizer::readGroups(ArrayRef<Trained> all) {
  settings.clear();
  for (StringRef text : groups) {
    Group group;
    auto [rateText, rest] = text.split(':');
    auto [decayText, pattern] = rest.split(':');
    double decay = 0;
    if (rateText.getAsDouble(group.rate) || group.rate < 0 ||
        (!decayText.empty() && (decayText.getAsDouble(decay) || decay < 0)) || pattern.empty()) {
      getOperation().emitError() << "E15006: '" << text
                                 << "' is no group: expected rate:decay:name";
      return false;
    }
    if (!decayText.empty())
      group.decay = decay;
    group.pattern = pattern.str();
    if (llvm::none_of(
            all, [&](const Trained &each) { return matchesPattern(group.pattern, each.name); })) {
      getOperation().emitError() << "E15002: no parameter is named '" << pattern
                                 << "', for which the optimizer has a group";
      return false;
    }
    settings.push_back(group);
  }
  return true;
}

/// Makes the gradients of rows of padding zero.
bool ApplyOptimizer::zeroGradients(const GraphMath &g, MutableArrayRef<Trained> all) {
  for (StringRef text : zeroRows) {
    auto [rowText, name] = text.split(':');
    auto each = llvm::find_if(all, [&](const Trained &trained) { return trained.name == name; });
    auto type = each == all.end() ? RankedTensorType() : typeOf(each->gradient);
    int64_t row = -1;
    if (rowText.getAsInteger(10, row) || !type || type.getRank() < 1 || row < 0 ||
        row >= type.getDimSize(0) || each->ranks > 1) {
      getOperation().emitError() << "E15006: '" << text
                                 << "' is no row of a parameter that each rank has as a whole";
      return false;
    }
    SmallVector<double> kept(type.getDimSize(0), 1);
    kept[row] = 0;
    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[0] = type.getDimSize(0);
    each->gradient = g.mul(each->gradient, g.floats(each->gradient, shape, kept));
  }
  return true;
}

/// Removes the results with gradients and returns them.
SmallVector<ApplyOptimizer::Trained> ApplyOptimizer::takeGradients() {
  func::FuncOp main = getOperation();
  auto exit = cast<func::ReturnOp>(main.front().getTerminator());
  SmallVector<Trained> all;
  for (BlockArgument argument : main.getArguments()) {
    if (!main.getArgAttr(argument.getArgNumber(), kParameterAttr))
      continue;
    const std::string name = argumentName(main, argument.getArgNumber());
    if (!typeOf(argument).getElementType().isF32()) {
      main.emitError() << "E15001: the parameter '" << name << "' is a " << argument.getType()
                       << ", but optimizers update float32 tensors";
      return {};
    }
    const std::optional<unsigned> result = findResult(main, name + ".grad");
    if (!result) {
      main.emitError() << "E15002: the parameter '" << name
                       << "' has no gradient: train-differentiate comes first";
      return {};
    }
    const bool isShare = !!main.getArgAttr(argument.getArgNumber(), kShardedAttr);
    isSharded |= isShare;
    all.push_back({argument, exit.getOperand(*result), name, isShare ? ranks : 1});
    (void)main.eraseResult(*result);
    exit.getOperandsMutable().erase(*result);
  }
  return all;
}

Value ApplyOptimizer::addState(Type type, const std::string &name) {
  return appendArgument(getOperation(), type, name);
}

void ApplyOptimizer::setNext(const std::string &name, Value next) {
  appendResult(getOperation(), next, name + ".next");
  states.push_back({name, name + ".next"});
}

/// Makes the gradient of an update the mean of those of several runs.
void ApplyOptimizer::accumulateGradients(const GraphMath &g, MutableArrayRef<Trained> all) {
  if (accumulate == 1)
    return;
  const std::string name = "train.run";
  Value run = addState(RankedTensorType::get({}, g.builder.getF32Type()), name);
  Value number = g.add(run, 1.0);
  Value isLast = g.compare(number, ComparePredicate::Ge, static_cast<double>(accumulate));
  setNext(name, g.select(isLast, g.scalar(number, 0), number));
  updates = isLast;
  for (Trained &each : all) {
    const std::string sum = each.name + ".gradient";
    Value before = addState(each.gradient.getType(), sum);
    each.gradient = g.add(before, g.mul(each.gradient, 1.0 / static_cast<double>(accumulate)));
    setNext(sum, g.select(isLast, g.scalar(each.gradient, 0), each.gradient));
  }
}

/// Returns whether a condition, a bool of rank 0, holds on all ranks.
Value ApplyOptimizer::onAllRanks(const GraphMath &g, Value condition) {
  Value min = g.allReduce(graph::ReduceKind::Min, g.cast(condition, g.builder.getF32Type()), ranks);
  return g.compare(min, ComparePredicate::Gt, 0.5);
}

/// Returns the sum of the squares of all gradients.
Value ApplyOptimizer::sumOfSquares(const GraphMath &g, ArrayRef<Trained> all) {
  Value whole, shares;
  for (const Trained &each : all) {
    Value &sum = each.ranks == 1 ? whole : shares;
    Value own = g.sumAll(g.square(each.gradient));
    sum = sum ? g.add(sum, own) : own;
  }
  if (!shares)
    return whole;
  shares = g.allReduce(graph::ReduceKind::Sum, shares, ranks);
  return whole ? g.add(whole, shares) : shares;
}

/// Divides by the loss scale, skips the update after an overflow, and adapts the scale.
void ApplyOptimizer::unscaleGradients(const GraphMath &g, MutableArrayRef<Trained> all) {
  const std::optional<unsigned> index = findArgument(getOperation(), kLossScale);
  if (!index)
    return;
  Value scale = getOperation().getArgument(*index);
  Value inverse = g.make<graph::ReciprocalOp>(scale), isFinite;
  for (Trained &each : all) {
    each.gradient = g.mul(each.gradient, inverse);
    auto axes = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(each.gradient)));
    Value largest = g.make<graph::AbsOp>(each.gradient);
    if (!axes.empty())
      largest = g.reduce(graph::ReduceKind::Max, largest, axes, /*keepdims=*/false);
    // Neither infinities nor NaN are below it.
    isFinite = both(g, isFinite, g.compare(largest, ComparePredicate::Le, 3.0e38));
  }
  // Each rank has seen its shares only.
  if (isSharded)
    isFinite = onAllRanks(g, isFinite);
  if (growthInterval > 0) {
    const std::string name = "train.finite_runs";
    Value runs = addState(scale.getType(), name);
    Value count = g.select(isFinite, g.add(runs, 1.0), g.scalar(runs, 0));
    Value grows = g.compare(count, ComparePredicate::Ge, static_cast<double>(growthInterval));
    setNext(name, g.select(grows, g.scalar(runs, 0), count));
    Value larger = g.select(grows, g.mul(scale, 2.0), scale);
    setNext(kLossScale.str(), g.select(isFinite, larger, g.mul(scale, 0.5)));
  } else {
    setNext(kLossScale.str(), g.add(scale, 0.0));
  }
  // Gradients that have overflowed are not accumulated; the other runs determine the update.
  if (accumulate == 1) {
    updates = isFinite;
    return;
  }
  for (Trained &each : all)
    each.gradient = g.keepWhere(isFinite, each.gradient);
}

void ApplyOptimizer::clipGradients(const GraphMath &g, MutableArrayRef<Trained> all) {
  if (clipNorm > 0) {
    Value sum = sumOfSquares(g, all);
    Value share = g.div(g.scalar(sum, clipNorm), g.add(g.sqrt(sum), 1e-6));
    share = g.make<graph::MinOp>(share, g.scalar(share, 1));
    for (Trained &each : all)
      each.gradient = g.mul(each.gradient, share);
  }
  if (clipValue > 0)
    for (Trained &each : all)
      each.gradient =
          g.make<graph::ClipOp>(each.gradient, APFloat(-clipValue), APFloat(double(clipValue)));
}

/// Returns 1 - beta^step as (1 - beta) times the sum of the powers below: the difference itself
/// would lose half of the digits of an f32 where beta is close to 1.
Value ApplyOptimizer::addCorrection(const GraphMath &g, const std::string &name, double beta) {
  Value before = addState(RankedTensorType::get({}, g.builder.getF32Type()), name);
  Value sum = g.add(g.mul(before, beta), 1.0);
  setNext(name, whenUpdated(g, sum, before));
  return g.mul(sum, 1 - beta);
}

void ApplyOptimizer::runOnOperation() {
  func::FuncOp main = getOperation();
  // A pass runs on several functions.
  states.clear();
  updates = {};
  isSharded = false;
  auto rankCount = main->getParentOp()->getAttrOfType<IntegerAttr>(graph::kRankCountAttr);
  ranks = rankCount ? rankCount.getInt() : 1;
  Optimizer optimizer;
  if (!readOptimizer(optimizer))
    return signalPassFailure();
  SmallVector<Trained> all = takeGradients();
  if (all.empty() || !readGroups(all))
    return signalPassFailure();

  OpBuilder builder(main.front().getTerminator());
  GraphMath g(builder, NameLoc::get(builder.getStringAttr("update")));
  auto number = RankedTensorType::get({}, builder.getF32Type());
  Value argument = rate == 0 ? appendArgument(main, number, kLearningRate.str()) : Value();
  if (!zeroGradients(g, all))
    return signalPassFailure();
  // The scale is that of single runs.
  unscaleGradients(g, all);
  accumulateGradients(g, all);
  clipGradients(g, all);
  Value done = addState(number, kStepCount.str()), step = g.add(done, 1.0);
  setNext(kStepCount.str(), whenUpdated(g, step, done));
  Optimizer::Progress progress = {argument ? argument : rateSchedule().rateAt(g, done), step, {}};
  if (optimizer.hasMeans())
    for (unsigned i = 0; i < 2; ++i)
      progress.corrections[i] = addCorrection(g, "train.beta" + std::to_string(i + 1) + "_sum",
                                              i == 0 ? optimizer.beta1 : optimizer.beta2);
  for (const Trained &each : all) {
    GraphMath own(builder, NameLoc::get(builder.getStringAttr(each.name + ".update")));
    const bool decays = llvm::none_of(
        noDecay, [&](StringRef pattern) { return matchesPattern(pattern, each.name); });
    Optimizer rule = optimizer;
    Optimizer::Progress pace = progress;
    auto group = llvm::find_if(settings, [&](const Group &candidate) {
      return matchesPattern(candidate.pattern, each.name);
    });
    if (group != settings.end()) {
      rule.weightDecay = group->decay.value_or(optimizer.weightDecay);
      if (group->rate != 1)
        pace.rate = own.mul(progress.rate, group->rate);
    }
    SmallVector<Value> slots, next;
    for (StringRef slot : optimizer.slots())
      slots.push_back(addState(each.parameter.getType(), each.name + "." + slot.str()));
    next = slots;
    Value updated = rule.update(own, each.parameter, each.gradient, pace, decays, each.ranks, next);
    setNext(each.name, whenUpdated(own, updated, each.parameter));
    for (auto [slot, before, after] : llvm::zip(optimizer.slots(), slots, next))
      setNext(each.name + "." + slot.str(), whenUpdated(own, after, before));
  }
  SmallVector<Attribute> pairs;
  auto link = [&](StringRef argument, StringRef result) {
    pairs.push_back(builder.getStrArrayAttr({argument, result}));
  };
  for (unsigned index = 0; index < main.getNumArguments(); ++index)
    if (auto result = main.getArgAttrOfType<StringAttr>(index, kStatisticAttr))
      link(argumentName(main, index), result.getValue());
  for (const auto &[argument, result] : states)
    link(argument, result);
  main->getParentOp()->setAttr(kStatesAttr, builder.getArrayAttr(pairs));
}

} // namespace
