//===-- ImportTraining.cpp - optimizers of ai.onnx.preview.training -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/gradient/Gradient.h"
#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"

using namespace mlir;

namespace atc::onnx_import {
namespace {

/// The tensors of an optimizer's node: the learning rate, the number of updates before, and groups
/// of as many tensors each: parameters, gradients and one or two kinds of state.
struct Update {
  /// Fails the node where its inputs are not `groups` groups behind rate and count.
  Update(NodeContext &n, unsigned groups) : n(n), rate(n.input(0)), count(n.input(1)) {
    if (n.numInputs() < 2 + groups || (n.numInputs() - 2) % groups != 0)
      n.failNode("has " + Twine(n.numInputs()) + " inputs, expected a learning rate, a count and " +
                 Twine(groups) + " tensors per parameter");
    else
      tensors = (n.numInputs() - 2) / groups;
  }

  Value get(unsigned group, unsigned index) { return n.input(2 + group * tensors + index); }
  void set(unsigned group, unsigned index, Value value) {
    n.setOutput(group * tensors + index, value);
  }
  Value times(Value value, double factor) { return n.mul(value, n.scalarLike(factor, value)); }
  /// Returns the gradient with the regularization that the node asks for.
  Value gradient(unsigned index) {
    const double share = n.floatAttr("norm_coefficient", 0.0f);
    Value own = get(1, index);
    return share == 0 ? own : n.add(times(get(0, index), share), own);
  }
  /// Returns whether there were updates before.
  Value isLater() { return n.compare(count, n.scalarLike(0, count), graph::ComparePredicate::Gt); }
  Value select(Value condition, Value yes, Value no) {
    return n.create<graph::WhereOp>(condition, yes, no);
  }

  NodeContext &n;
  Value rate, count;
  unsigned tensors = 0;
};

void importAdagrad(NodeContext &n) {
  Update u(n, 3);
  const double decay = n.floatAttr("decay_factor", 0.0f), epsilon = n.floatAttr("epsilon", 1e-6f);
  if (n.failed())
    return;
  Value slowed =
      n.add(u.times(n.cast(u.count, n.elementType(u.rate)), decay), n.scalarLike(1, u.rate));
  Value rate = n.div(u.rate, slowed);
  for (unsigned i = 0; i < u.tensors && !n.failed(); ++i) {
    Value gradient = u.gradient(i), sum = n.add(u.get(2, i), n.mul(gradient, gradient));
    Value root = n.create<graph::SqrtOp>(sum);
    Value move = n.div(n.mul(rate, gradient), n.add(root, n.scalarLike(epsilon, root)));
    u.set(0, i, n.sub(u.get(0, i), move));
    u.set(1, i, sum);
  }
}

void importAdam(NodeContext &n) {
  Update u(n, 4);
  const double alpha = n.floatAttr("alpha", 0.9f), beta = n.floatAttr("beta", 0.999f),
               epsilon = n.floatAttr("epsilon", 1e-6f),
               post = n.floatAttr("norm_coefficient_post", 0.0f);
  if (n.failed())
    return;
  Value count = n.cast(u.count, n.elementType(u.rate)), one = n.scalarLike(1, u.rate);
  auto rest = [&](double base) {
    return n.sub(one, n.create<graph::PowOp>(n.scalarLike(base, u.rate), count));
  };
  // Where the count is 0, both are 0 and not used.
  Value adjusted = n.div(n.mul(u.rate, n.create<graph::SqrtOp>(rest(beta))), rest(alpha));
  Value rate = u.select(u.isLater(), adjusted, u.rate);
  for (unsigned i = 0; i < u.tensors && !n.failed(); ++i) {
    Value gradient = u.gradient(i);
    Value mean = n.add(u.times(u.get(2, i), alpha), u.times(gradient, 1 - alpha));
    Value square = n.add(u.times(u.get(3, i), beta), u.times(n.mul(gradient, gradient), 1 - beta));
    Value root = n.create<graph::SqrtOp>(square);
    Value move = n.div(n.mul(rate, mean), n.add(root, n.scalarLike(epsilon, root)));
    u.set(0, i, u.times(n.sub(u.get(0, i), move), 1 - post));
    u.set(1, i, mean);
    u.set(2, i, square);
  }
}

void importMomentum(NodeContext &n) {
  Update u(n, 3);
  const double alpha = n.floatAttr("alpha", 0.0f), beta = n.floatAttr("beta", 0.0f);
  const bool nesterov = n.choiceAttr("mode", {"standard", "nesterov"}) == "nesterov";
  if (n.failed())
    return;
  Value share = u.select(u.isLater(), n.scalarLike(beta, u.rate), n.scalarLike(1, u.rate));
  for (unsigned i = 0; i < u.tensors && !n.failed(); ++i) {
    Value gradient = u.gradient(i);
    Value moved = n.add(u.times(u.get(2, i), alpha), n.mul(gradient, share));
    Value move = nesterov ? n.add(gradient, u.times(moved, alpha)) : moved;
    u.set(0, i, n.sub(u.get(0, i), n.mul(move, u.rate)));
    u.set(1, i, moved);
  }
}

/// Appends the tensors that an attribute names to `values`; `inputs` counts the node's inputs for
/// them. Fails the node where a tensor is not known before the node.
void readNamed(NodeContext &n, StringRef attribute, bool isRequired, unsigned &inputs,
               SmallVectorImpl<Value> &values, SmallVectorImpl<Value> &at) {
  const onnx::AttributeProto *names = n.findAttr(attribute);
  if (!names || names->type() != onnx::AttributeProto::STRINGS) {
    if (names || isRequired)
      n.failNode("needs a list of names as its attribute '" + attribute + "'");
    return;
  }
  for (const std::string &name : names->strings()) {
    Value value = n.importer().lookup(name);
    Value input = inputs < n.numInputs() ? n.input(inputs) : Value();
    ++inputs;
    if (n.failed())
      return;
    if (!value || !input)
      return n.failNode("has '" + Twine(name) + "' in its attribute '" + attribute + "', but " +
                        (value ? "too few inputs" : "no earlier node computes it"));
    if (value.getType() != input.getType())
      return n.failNode("has an input for '" + Twine(name) + "' of another type or shape");
    values.push_back(value);
    at.push_back(input);
  }
}

/// Gradient: the driver expands the op before anything else sees it.
void importGradient(NodeContext &n) {
  SmallVector<Value> variables, at;
  unsigned inputs = 0;
  readNamed(n, "xs", /*isRequired=*/true, inputs, variables, at);
  const size_t count = variables.size();
  readNamed(n, "zs", /*isRequired=*/false, inputs, variables, at);
  const onnx::AttributeProto *name = n.findAttr("y");
  if (n.failed())
    return;
  Value target = name ? n.importer().lookup(name->s()) : Value();
  if (!target)
    return n.failNode("needs the name of an earlier tensor as its attribute 'y'");
  SmallVector<Type> types;
  for (Value variable : ArrayRef(variables).take_front(count))
    types.push_back(variable.getType());
  if (!llvm::all_of(types, llvm::IsaPred<RankedTensorType>) ||
      !isa<RankedTensorType>(target.getType()))
    return n.failNode("needs tensors of known rank");
  auto op = graph::GradientOp::create(n.builder(), target.getLoc(), types, target, variables, at);
  for (unsigned i = 0; i < count; ++i)
    n.setOutput(i, op.getGradients()[i]);
}

} // namespace

ArrayRef<OpRow> trainingRows() {
  static const OpRow rows[] = {
      {"ai.onnx.preview.training.Adagrad", firstTableOpset, latestOpset, importAdagrad},
      {"ai.onnx.preview.training.Adam", firstTableOpset, latestOpset, importAdam},
      {"ai.onnx.preview.training.Gradient", firstTableOpset, latestOpset, importGradient},
      {"ai.onnx.preview.training.Momentum", firstTableOpset, latestOpset, importMomentum},
  };
  return rows;
}

} // namespace atc::onnx_import
