//===-- ImportRnn.cpp - fused recurrent cells -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/Im2Col.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// Part `index` of columns of `width` each.
Value columnsOf(NodeContext &n, Value value, int64_t index, int64_t width) {
  if (n.failed())
    return {};
  int64_t rows = n.shape(value)[0];
  return n.create<graph::SliceOp>(value, ArrayRef<int64_t>{0, index * width},
                                  ArrayRef<int64_t>{rows, width}, ArrayRef<int64_t>{1, 1});
}

Value joinColumns(NodeContext &n, Value lhs, Value rhs) {
  SmallVector<Value> parts{lhs, rhs};
  return n.create<graph::ConcatOp>(ValueRange(parts), 1);
}

Value sigmoid(NodeContext &n, Value value) { return n.create<graph::SigmoidOp>(value); }
Value tanh(NodeContext &n, Value value) { return n.create<graph::TanhOp>(value); }

/// All results of one step of the LSTM operators, in the order of their outputs.
struct LstmStep {
  Value inputGate, state, forgetGate, outputGate, input, squashed, hidden;
  SmallVector<Value> all() const {
    return {inputGate, state, forgetGate, outputGate, input, squashed, hidden};
  }
};

/// The parameters of an LSTM, whose inputs begin with the weights at `first`: weights
/// [inputs + hidden, 4 * hidden] (gates in the order input, new input, forget, output; of
/// BlockLSTMV2 input, forget, new input, output), three peepholes, bias.
struct Lstm {
  Lstm(NodeContext &n, unsigned first)
      : n(n), weights(n.input(first)),
        peepholes{n.input(first + 1), n.input(first + 2), n.input(first + 3)},
        bias(n.input(first + 4)), isSecond(n.op() == "BlockLSTMV2"),
        forgetBias(isSecond ? 0 : n.floatAttr("forget_bias", 1)),
        clip(n.floatAttr("cell_clip", isSecond ? 0 : 3)),
        usesPeepholes(n.boolAttr("use_peephole", false)) {}

  LstmStep step(Value input, Value state, Value hidden) {
    if (n.failed())
      return {};
    int64_t width = n.shape(state)[1];
    Value gates = n.add(matrixProduct(n, joinColumns(n, input, hidden), weights), bias);
    if (!n.failed() && (n.rank(gates) != 2 || n.shape(gates)[1] != 4 * width))
      n.failNode("its weights do not fit a state of " + Twine(width) + " elements");
    LstmStep out;
    Value in = columnsOf(n, gates, 0, width), forget = columnsOf(n, gates, isSecond ? 1 : 2, width);
    Value last = columnsOf(n, gates, 3, width);
    forget = n.add(forget, n.scalarLike(forgetBias, state));
    if (usesPeepholes) {
      in = n.add(in, n.mul(state, peepholes[0]));
      forget = n.add(forget, n.mul(state, peepholes[1]));
    }
    out.inputGate = sigmoid(n, in);
    out.forgetGate = sigmoid(n, forget);
    out.input = tanh(n, columnsOf(n, gates, isSecond ? 2 : 1, width));
    out.state = n.add(n.mul(out.input, out.inputGate), n.mul(state, out.forgetGate));
    if (clip > 0)
      out.state = n.create<graph::ClipOp>(out.state, llvm::APFloat(-clip), llvm::APFloat(clip));
    if (usesPeepholes)
      last = n.add(last, n.mul(out.state, peepholes[2]));
    out.outputGate = sigmoid(n, last);
    out.squashed = tanh(n, out.state);
    out.hidden = n.mul(out.squashed, out.outputGate);
    return out;
  }

  NodeContext &n;
  Value weights, peepholes[3], bias;
  bool isSecond;
  double forgetBias, clip;
  bool usesPeepholes;
};

void importLstmCell(NodeContext &n) {
  n.requireRank(0, 2, 2);
  n.requireRank(1, 2, 2);
  Lstm lstm(n, 3);
  LstmStep step = lstm.step(n.input(0), n.input(1), n.input(2));
  for (auto [index, value] : llvm::enumerate(step.all()))
    n.setOutput(index, value);
}

/// Inputs are the number of steps, which must be known, x [time, batch, inputs], state,
/// hidden, weights. What lies behind the steps is 0.
void importLstmBlock(NodeContext &n) {
  int64_t steps = n.constantInt(0);
  n.requireRank(1, 3, 3);
  n.requireRank(2, 2, 2);
  Value input = n.input(1), state = n.input(2), hidden = n.input(3);
  Lstm lstm(n, 4);
  if (n.failed())
    return;
  SmallVector<int64_t> shape(n.shape(input)), result{1, n.shape(state)[0], n.shape(state)[1]};
  if (steps < 0 || steps > shape[0] || shape[0] < 1 || shape[0] > (1 << 12))
    return n.failInput(0, "asks for " + Twine(steps) + " of " + Twine(shape[0]) +
                              " steps; up to 4096 are supported");
  SmallVector<SmallVector<Value>> outputs(7);
  for (int64_t time = 0; time < steps && !n.failed(); ++time) {
    Value now = n.create<graph::SliceOp>(input, ArrayRef<int64_t>{time, 0, 0},
                                         ArrayRef<int64_t>{1, shape[1], shape[2]},
                                         ArrayRef<int64_t>{1, 1, 1});
    LstmStep step = lstm.step(n.reshape(now, {shape[1], shape[2]}), state, hidden);
    state = step.state;
    hidden = step.hidden;
    for (auto [list, value] : llvm::zip(outputs, step.all()))
      list.push_back(n.reshape(value, result));
  }
  if (n.failed())
    return;
  for (auto [index, list] : llvm::enumerate(outputs)) {
    result[0] = shape[0] - steps;
    if (result[0] > 0)
      list.push_back(n.fill(result, n.scalarLike(0, input)));
    n.setOutput(index,
                list.size() == 1 ? list.front() : n.create<graph::ConcatOp>(ValueRange(list), 0));
  }
}

/// Inputs are x, hidden, weights of reset and update gate, weights of the candidate and
/// both biases; outputs r, u, c, h.
void importGruCell(NodeContext &n) {
  n.requireRank(0, 2, 2);
  n.requireRank(1, 2, 2);
  Value input = n.input(0), hidden = n.input(1);
  Value gateWeights = n.input(2), weights = n.input(3), gateBias = n.input(4), bias = n.input(5);
  if (n.failed())
    return;
  int64_t width = n.shape(hidden)[1];
  Value gates =
      sigmoid(n, n.add(matrixProduct(n, joinColumns(n, input, hidden), gateWeights), gateBias));
  if (!n.failed() && (n.rank(gates) != 2 || n.shape(gates)[1] != 2 * width))
    n.failNode("its weights do not fit a state of " + Twine(width) + " elements");
  Value reset = columnsOf(n, gates, 0, width), update = columnsOf(n, gates, 1, width);
  Value gated = joinColumns(n, input, n.mul(hidden, reset));
  Value candidate = tanh(n, n.add(matrixProduct(n, gated, weights), bias));
  if (n.failed())
    return;
  Value keep = n.sub(n.scalarLike(1, update), update);
  n.setOutput(0, reset);
  n.setOutput(1, update);
  n.setOutput(2, candidate);
  n.setOutput(3, n.add(n.mul(keep, candidate), n.mul(update, hidden)));
}

} // namespace

ArrayRef<OpRow> rnnRows() {
  static constexpr llvm::StringLiteral ofSteps = "the number of steps must be known; up to 4096";
  static const OpRow rows[] = {
      {"BlockLSTM", importLstmBlock, ofSteps},
      {"BlockLSTMV2", importLstmBlock, ofSteps},
      {"GRUBlockCell", importGruCell},
      {"LSTMBlockCell", importLstmCell},
  };
  return rows;
}

} // namespace atc::tf_import
