//===-- Optimizers.cpp - update rules and learning rates ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/Optimizers.h"

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace atc::graph;

namespace atc::train {

std::optional<Optimizer::Kind> Optimizer::findKind(StringRef name) {
  return llvm::StringSwitch<std::optional<Kind>>(name)
      .Case("sgd", Kind::Sgd)
      .Case("adam", Kind::Adam)
      .Case("adamw", Kind::AdamW)
      .Case("lamb", Kind::Lamb)
      .Case("lars", Kind::Lars)
      .Case("adagrad", Kind::Adagrad)
      .Default(std::nullopt);
}

SmallVector<StringRef> Optimizer::slots() const {
  switch (kind) {
  case Kind::Sgd:
    return momentum == 0 ? SmallVector<StringRef>() : SmallVector<StringRef>{"momentum"};
  case Kind::Lars:
    return {"momentum"};
  case Kind::Adagrad:
    return {"sum"};
  case Kind::Adam:
  case Kind::AdamW:
  case Kind::Lamb:
    return {"mean", "variance"};
  }
  return {};
}

/// Returns a + b * factor.
static Value addScaled(const GraphMath &g, Value a, Value b, double factor) {
  return factor == 0 ? a : g.add(a, g.mul(b, factor));
}

/// Returns from * share + to * (1 - share).
static Value mix(const GraphMath &g, Value from, Value to, double share) {
  return g.add(g.mul(from, share), g.mul(to, 1 - share));
}

/// Returns the norm of a tensor that `ranks` ranks share.
static Value norm(const GraphMath &g, Value value, int64_t ranks) {
  return g.sqrt(g.allReduce(ReduceKind::Sum, g.sumAll(g.square(value)), ranks));
}

/// Returns above / below, or 1 where either is 0.
static Value ratioOf(const GraphMath &g, Value above, Value below) {
  Value one = g.scalar(above, 1);
  Value known = g.compare(g.mul(above, below), ComparePredicate::Gt, 0.0);
  return g.select(known, g.div(above, g.select(known, below, one)), one);
}

Value Optimizer::sgd(const GraphMath &g, Value parameter, Value gradient, const Progress &progress,
                     MutableArrayRef<Value> slots) const {
  Value rate = progress.rate, step = progress.step;
  if (momentum == 0)
    return g.sub(parameter, g.mul(gradient, rate));
  Value moved = g.add(g.mul(slots[0], momentum), g.mul(gradient, 1 - dampening));
  // The first momentum is the gradient itself.
  slots[0] = dampening == 0 ? moved
                            : g.select(g.compare(step, ComparePredicate::Eq, 1.0), gradient, moved);
  Value move = nesterov ? addScaled(g, gradient, slots[0], momentum) : slots[0];
  return g.sub(parameter, g.mul(move, rate));
}

/// Returns the mean of the gradients over the root of the mean of their squares, both corrected
/// for their start at 0.
Value Optimizer::adamMove(const GraphMath &g, Value gradient, const Progress &progress,
                          MutableArrayRef<Value> slots) const {
  slots[0] = mix(g, slots[0], gradient, beta1);
  slots[1] = mix(g, slots[1], g.square(gradient), beta2);
  Value root = g.sqrt(g.div(slots[1], progress.corrections[1]));
  return g.div(g.div(slots[0], progress.corrections[0]), g.add(root, epsilon));
}

Value Optimizer::lars(const GraphMath &g, Value parameter, Value gradient, Value rate, bool decays,
                      int64_t ranks, MutableArrayRef<Value> slots) const {
  Value move = addScaled(g, gradient, parameter, decays ? weightDecay : 0);
  if (decays) {
    Value length = norm(g, parameter, ranks), slope = norm(g, gradient, ranks);
    Value bound = g.add(addScaled(g, slope, length, weightDecay), epsilon);
    // Where the gradient is 0, so is what the ratio multiplies, except for the decay.
    Value ratio = g.mul(ratioOf(g, length, bound), trust);
    Value known = g.compare(g.mul(length, slope), ComparePredicate::Gt, 0.0);
    move = g.mul(move, g.select(known, ratio, g.scalar(ratio, 1)));
  }
  slots[0] = g.add(g.mul(slots[0], momentum), g.mul(move, rate));
  return g.sub(parameter, slots[0]);
}

Value Optimizer::update(const GraphMath &g, Value parameter, Value gradient,
                        const Progress &progress, bool decays, int64_t ranks,
                        MutableArrayRef<Value> slots) const {
  const double decay = decays ? weightDecay : 0;
  Value rate = progress.rate, step = progress.step;
  switch (kind) {
  case Kind::Sgd:
    return sgd(g, parameter, addScaled(g, gradient, parameter, decay), progress, slots);
  case Kind::Lars:
    return lars(g, parameter, gradient, rate, decays, ranks, slots);
  case Kind::Adagrad: {
    gradient = addScaled(g, gradient, parameter, decay);
    Value slowed = g.div(rate, g.add(g.mul(g.add(step, -1.0), lrDecay), 1.0));
    slots[0] = g.add(slots[0], g.square(gradient));
    Value move = g.div(gradient, g.add(g.sqrt(slots[0]), epsilon));
    return g.sub(parameter, g.mul(move, lrDecay == 0 ? rate : slowed));
  }
  case Kind::Adam:
    gradient = addScaled(g, gradient, parameter, decay);
    return g.sub(parameter, g.mul(adamMove(g, gradient, progress, slots), rate));
  case Kind::AdamW:
  case Kind::Lamb: {
    Value move = addScaled(g, adamMove(g, gradient, progress, slots), parameter, decay);
    if (kind == Kind::Lamb && decays)
      move = g.mul(move, ratioOf(g, norm(g, parameter, ranks), norm(g, move, ranks)));
    return g.sub(parameter, g.mul(move, rate));
  }
  }
  return {};
}

std::string RateSchedule::findError() const {
  const bool falls = kind == "linear" || kind == "cosine";
  if (!falls && kind != "constant" && kind != "steps")
    return "'" + kind + "' is not a schedule; it must be constant, linear, cosine or steps";
  if (falls && steps < 1)
    return kind + " needs 'steps', the update at which it ends";
  if (kind == "steps" && milestones.empty())
    return "steps needs 'milestones', the updates at which it multiplies by 'factor'";
  if (!falls && (warmup || steps || final != 0))
    return "'warmup', 'steps' and 'final' are settings of linear and cosine, not of " + kind;
  return "";
}

Value RateSchedule::rateAt(const GraphMath &g, Value updates) const {
  if (kind == "constant")
    return g.scalar(updates, peak);
  if (kind == "steps") {
    Value rate = g.scalar(updates, peak);
    for (int64_t milestone : milestones) {
      Value reached = g.compare(updates, ComparePredicate::Ge, static_cast<double>(milestone));
      rate = g.select(reached, g.mul(rate, factor), rate);
    }
    return rate;
  }
  const auto length = static_cast<double>(std::max<int64_t>(1, steps - warmup));
  Value done = g.mul(g.add(updates, -static_cast<double>(warmup)), 1 / length);
  done = g.make<graph::MinOp>(done, g.scalar(done, 1));
  if (kind == "cosine") // rises from 0 to 1 along half a cosine
    done = g.sub(0.5, g.mul(g.make<graph::CosOp>(g.mul(done, llvm::numbers::pi)), 0.5));
  Value rate = g.add(g.mul(done, final - peak), peak);
  if (warmup == 0)
    return rate;
  Value rising = g.mul(g.add(updates, 1.0), peak / static_cast<double>(warmup));
  return g.select(g.compare(updates, ComparePredicate::Lt, static_cast<double>(warmup)), rising,
                  rate);
}

} // namespace atc::train
