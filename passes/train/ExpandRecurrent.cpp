//===-- ExpandRecurrent.cpp - recurrent layers as their steps -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/train/GraphMath.h"
#include "passes/train/Passes.h"

#include "llvm/ADT/STLExtras.h"

namespace atc::train {
#define GEN_PASS_DEF_TRAINEXPANDRECURRENT
#include "passes/train/Passes.h.inc"
} // namespace atc::train

using namespace mlir;
using namespace atc;
using namespace atc::train;

namespace {

/// Steps are ops of their own: a longer sequence keeps its host kernel.
constexpr int64_t kMaxSteps = 512;

/// Describes a call of LSTM, GRU or RNN with static shapes: X [T, N, I], W [D, gates * H, I], R [D,
/// gates * H, H], B [D, 2 * gates * H], first states [D, N, H].
class Layer {
public:
  Layer(graph::HostCallOp call, OpBuilder &builder)
      : call(call), g(builder, call.getLoc()), inputs(call.inputsByPosition()),
        kernel(call.getKernel()), gates(kernel == "LSTM"  ? 4
                                        : kernel == "GRU" ? 3
                                                          : 1) {
    inputs.resize(8);
  }

  bool canExpand();
  void expand();

private:
  /// The values of a step.
  struct State {
    Value hidden, cell; ///< [N, H]; `cell` of LSTM only
  };

  int64_t number(StringRef name) const {
    auto attribute = call.getParameters().getAs<DenseI64ArrayAttr>(name);
    return attribute && attribute.size() == 1 ? attribute[0] : 0;
  }
  StringRef direction() const {
    auto attribute = call.getParameters().getAs<StringAttr>("direction");
    return attribute ? attribute.getValue() : "forward";
  }
  bool hasDefaultActivations() const;
  Value part(Value value, int64_t index) const {
    return g.slice(value, {0, index * hidden}, {batch, hidden}, {1, 1});
  }
  Value sigmoid(Value value) const { return g.make<graph::SigmoidOp>(value); }
  Value tanh(Value value) const { return g.make<graph::TanhOp>(value); }
  /// Returns the part of a direction of a tensor [D, ...], with the shape behind D.
  Value ofDirection(Value value, int64_t index) const;
  Value firstState(unsigned input, int64_t index) const;
  State step(const State &before, Value projected, Value weights, Value bias) const;
  void runDirection(int64_t index, bool backward);

  mutable graph::HostCallOp call; ///< its accessors are not const
  GraphMath g;
  SmallVector<Value> inputs;
  const StringRef kernel;
  const int64_t gates;
  int64_t steps = 0, batch = 0, hidden = 0, directions = 0;
  SmallVector<Value> outputs, lastHidden, lastCell; ///< per direction
};

/// Returns whether the functions of all gates are the ones that the operator has by default.
bool Layer::hasDefaultActivations() const {
  auto names = call.getParameters().getAs<ArrayAttr>("activations");
  static constexpr StringLiteral lstm[] = {"sigmoid", "tanh", "tanh"}, gru[] = {"sigmoid", "tanh"},
                                 rnn[] = {"tanh"};
  const ArrayRef<StringLiteral> wanted = kernel == "LSTM"  ? ArrayRef<StringLiteral>(lstm)
                                         : kernel == "GRU" ? ArrayRef<StringLiteral>(gru)
                                                           : ArrayRef<StringLiteral>(rnn);
  if (!names)
    return true;
  for (auto [index, name] : llvm::enumerate(names)) {
    auto text = dyn_cast<StringAttr>(name);
    if (!text || text.getValue().lower() != wanted[index % wanted.size()])
      return false;
  }
  return true;
}

bool Layer::canExpand() {
  for (Value input : inputs) {
    auto type = input ? dyn_cast<RankedTensorType>(input.getType()) : RankedTensorType();
    if (input && (!type || !type.hasStaticShape()))
      return false;
  }
  if (!inputs[0] || !inputs[1] || !inputs[2] || rankOf(inputs[0]) != 3 || rankOf(inputs[1]) != 3 ||
      rankOf(inputs[2]) != 3 || !isa<FloatType>(typeOf(inputs[0]).getElementType()))
    return false;
  steps = shapeOf(inputs[0])[0];
  batch = shapeOf(inputs[0])[1];
  directions = shapeOf(inputs[2])[0];
  hidden = shapeOf(inputs[2])[2];
  auto clip = call.getParameters().getAs<DenseF64ArrayAttr>("clip");
  // Lengths per sequence and peepholes stay with the kernel.
  return !inputs[4] && !inputs[7] && number("layout") == 0 && number("input_forget") == 0 &&
         (!clip || clip.empty() || clip[0] == 0) && hasDefaultActivations() && steps > 0 &&
         steps <= kMaxSteps;
}

Value Layer::ofDirection(Value value, int64_t index) const {
  SmallVector<int64_t> starts(rankOf(value), 0), sizes(shapeOf(value)), ones(rankOf(value), 1);
  starts[0] = index;
  sizes[0] = 1;
  return g.reshape(g.slice(value, starts, sizes, ones), shapeOf(value).drop_front());
}

Value Layer::firstState(unsigned input, int64_t index) const {
  if (inputs[input])
    return ofDirection(inputs[input], index);
  return g.splat(RankedTensorType::get({batch, hidden}, typeOf(inputs[0]).getElementType()), 0);
}

/// Returns the state behind a step. `projected` is the product of the step's input, `weights` [H,
/// gates * H] and `bias` belong to the state before.
Layer::State Layer::step(const State &before, Value projected, Value weights, Value bias) const {
  auto addBias = [&](Value value, Value own) { return own ? g.add(value, own) : value; };
  if (kernel == "GRU" && number("linear_before_reset") == 0) {
    // The candidate's product is that of the state behind the reset.
    Value gateWeights = g.slice(weights, {0, 0}, {hidden, 2 * hidden}, {1, 1});
    Value lastWeights = g.slice(weights, {0, 2 * hidden}, {hidden, hidden}, {1, 1});
    Value gateBias = bias ? g.slice(bias, {0}, {2 * hidden}, {1}) : bias;
    Value lastBias = bias ? g.slice(bias, {2 * hidden}, {hidden}, {1}) : bias;
    Value product = addBias(g.matmul(before.hidden, gateWeights), gateBias);
    Value update = sigmoid(g.add(part(projected, 0), part(product, 0)));
    Value reset = sigmoid(g.add(part(projected, 1), part(product, 1)));
    Value last = addBias(g.matmul(g.mul(reset, before.hidden), lastWeights), lastBias);
    Value candidate = tanh(g.add(part(projected, 2), last));
    return {g.add(candidate, g.mul(update, g.sub(before.hidden, candidate))), {}};
  }
  Value product = addBias(g.matmul(before.hidden, weights), bias);
  if (kernel == "GRU") {
    Value update = sigmoid(g.add(part(projected, 0), part(product, 0)));
    Value reset = sigmoid(g.add(part(projected, 1), part(product, 1)));
    Value candidate = tanh(g.add(part(projected, 2), g.mul(reset, part(product, 2))));
    return {g.add(candidate, g.mul(update, g.sub(before.hidden, candidate))), {}};
  }
  Value sum = g.add(projected, product);
  if (kernel == "RNN")
    return {tanh(sum), {}};
  // The gates are input, output, forget and cell.
  Value cell = g.add(g.mul(sigmoid(part(sum, 2)), before.cell),
                     g.mul(sigmoid(part(sum, 0)), tanh(part(sum, 3))));
  return {g.mul(sigmoid(part(sum, 1)), tanh(cell)), cell};
}

void Layer::runDirection(int64_t index, bool backward) {
  const int64_t rows = gates * hidden, features = shapeOf(inputs[0])[2];
  Value bias = inputs[3] ? ofDirection(inputs[3], index) : Value(), stateBias;
  // The inputs of all steps are multiplied at once.
  Value projected = g.matmul(g.reshape(inputs[0], {steps * batch, features}),
                             g.transposeMatrix(ofDirection(inputs[1], index)));
  if (bias) {
    projected = g.add(projected, g.slice(bias, {0}, {rows}, {1}));
    stateBias = g.slice(bias, {rows}, {rows}, {1});
  }
  Value weights = g.transposeMatrix(ofDirection(inputs[2], index));
  State state = {firstState(5, index), kernel == "LSTM" ? firstState(6, index) : Value()};
  SmallVector<Value> all(steps);
  for (int64_t count = 0; count < steps; ++count) {
    const int64_t at = backward ? steps - 1 - count : count;
    Value own = g.slice(projected, {at * batch, 0}, {batch, rows}, {1, 1});
    state = step(state, own, weights, stateBias);
    all[at] = g.reshape(state.hidden, {1, 1, batch, hidden});
  }
  outputs.push_back(g.concat(all, 0));
  lastHidden.push_back(g.reshape(state.hidden, {1, batch, hidden}));
  if (state.cell)
    lastCell.push_back(g.reshape(state.cell, {1, batch, hidden}));
}

void Layer::expand() {
  for (int64_t index = 0; index < directions; ++index)
    runDirection(index, index == 1 || direction() == "reverse");
  const Value results[] = {g.concat(outputs, 1), g.concat(lastHidden, 0),
                           lastCell.empty() ? Value() : g.concat(lastCell, 0)};
  for (auto [result, value] : llvm::zip(call.getResults(), results))
    result.replaceAllUsesWith(value);
  call.erase();
}

class ExpandRecurrent : public train::impl::TrainExpandRecurrentBase<ExpandRecurrent> {
public:
  void runOnOperation() override {
    SmallVector<graph::HostCallOp> calls;
    getOperation().walk([&](graph::HostCallOp call) {
      if (call.getKernel() == "LSTM" || call.getKernel() == "GRU" || call.getKernel() == "RNN")
        calls.push_back(call);
    });
    for (graph::HostCallOp call : calls) {
      OpBuilder builder(call);
      Layer layer(call, builder);
      if (!layer.canExpand())
        continue;
      layer.expand();
      ++numExpanded;
    }
  }
};

} // namespace
