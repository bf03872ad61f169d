//===-- ImportRecurrent.cpp - recurrent networks --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"
#include "frontends/tflite/ops/LstmCell.h"

namespace atc::tflite {
namespace {

/// Joins weights of gates along their rows and adds the dim of directions.
Value joinGates(OpContext &c, const std::vector<unsigned> &inputs, bool isBias) {
  std::vector<Value> parts;
  for (unsigned input : inputs)
    parts.push_back(isBias ? c.bias(input) : c.in(input));
  Value joined = parts.size() == 1 ? parts[0] : c.node("Concat", parts, {{"axis", int64_t(0)}});
  return c.unsqueeze(joined, {0});
}

/// Returns a [batch, time, values] input with the time in front.
Value timeFirst(OpContext &c, bool isTimeMajor) {
  return isTimeMajor ? c.in(0) : c.transpose(c.in(0), {1, 0, 2});
}

/// Sets an output [time, direction, batch, values] of ONNX in the order of the model.
void setSequence(OpContext &c, Value sequence, bool isTimeMajor) {
  Value result = c.squeeze(sequence, {1});
  c.setOutput(isTimeMajor ? result : c.transpose(result, {1, 0, 2}));
}

/// Returns zeros for the biases that this format has not.
Value withRecurrentBias(OpContext &c, Value bias, int64_t count) {
  const std::vector<float> zeros(count, 0);
  Value other = c.constant(onnx::TensorProto::FLOAT, {1, count}, bytesOf(zeros));
  return c.node("Concat", {bias, other}, {{"axis", int64_t(1)}});
}

std::string directionName(bool isReverse) { return isReverse ? "reverse" : "forward"; }

/// Where one direction of an LSTM has its inputs: the weights i f c o, the recurrent ones, the
/// peepholes i f o, the biases i f c o, and two of the projection follow each other.
struct LstmInputs {
  unsigned first;
  bool isReverse;

  unsigned recurrent() const { return first + 4; }
  unsigned peepholes() const { return first + 8; }
  unsigned biases() const { return first + 11; }
  unsigned projection() const { return first + 15; }
};

/// Returns the sequence [time, 1, batch, hidden] that one direction makes of `x` [time, batch, n];
/// what follows an error is of no use.
Value lstmOf(OpContext &c, Value x, LstmInputs at) {
  const unsigned w = at.first, r = at.recurrent(), p = at.peepholes(), b = at.biases();
  if (!c.hasInput(w) || !c.hasInput(r) || !c.hasInput(b)) {
    c.fail("coupled input and forget gates are not supported");
    return {};
  }
  if (c.hasInput(at.projection()) || c.hasInput(at.projection() + 1)) {
    c.fail("a projection is not supported");
    return {};
  }
  const Dims recurrent = c.knownDims(r);
  if (!c.failed() && recurrent.size() != 2)
    c.fail("its recurrent weights must have 2 dims");
  if (c.failed())
    return {};
  const int64_t hidden = recurrent[1];
  // ONNX has the gates in the order i o f c.
  Value bias = withRecurrentBias(c, joinGates(c, {b, b + 3, b + 1, b + 2}, true), 4 * hidden);
  std::vector<Value> inputs = {x, joinGates(c, {w, w + 3, w + 1, w + 2}, false),
                               joinGates(c, {r, r + 3, r + 1, r + 2}, false), bias};
  if (c.hasInput(p) && c.hasInput(p + 1) && c.hasInput(p + 2)) {
    Value peepholes = joinGates(c, {p, p + 2, p + 1}, false);
    inputs.insert(inputs.end(), {Value{}, Value{}, Value{}, peepholes});
  }
  return c.node("LSTM", inputs,
                {{"hidden_size", hidden}, {"direction", directionName(at.isReverse)}});
}

/// Sets the outputs of two directions, each [time, 1, batch, values] of ONNX: one output with
/// both, or one per direction.
void setDirections(OpContext &c, Value forward, Value backward, bool isMerged, bool isTimeMajor) {
  auto set = [&](Value sequence, unsigned index) {
    Value result = c.squeeze(sequence, {1});
    c.setOutput(isTimeMajor ? result : c.transpose(result, {1, 0, 2}), index);
  };
  if (isMerged)
    return set(c.node("Concat", {forward, backward}, {{"axis", int64_t(3)}}), 0);
  set(forward, 0);
  set(backward, 1);
}

template <typename Options> bool checkLstm(OpContext &c, const Options *p) {
  if (!p || c.rank(0) != 3)
    c.fail("needs its parameters and an input of 3 dims");
  else if (p->activation() != fb::Activation::TANH)
    c.fail("its function must be TANH");
  else if (p->cell_clip() != 0)
    c.fail("a clipped cell is not supported");
  return !c.failed();
}

/// Reports whether ONNX has no operator for an LSTM.
bool hasOwnCell(OpContext &c, const fb::UnidirectionalSequenceLSTMOptions &p) {
  // Coupled gates, a projection, layer norms.
  for (unsigned i : {16, 17, 20, 21, 22, 23})
    if (c.hasInput(i))
      return true;
  return !c.hasInput(1) || !c.hasInput(5) || p.cell_clip() > 0 ||
         p.activation() != fb::Activation::TANH;
}

/// Makes the steps one by one.
void importSteps(OpContext &c, const fb::UnidirectionalSequenceLSTMOptions &p) {
  constexpr int64_t maxSteps = 256;
  const int64_t steps = c.rank(0) == 3 ? c.dims(0)[p.time_major() ? 0 : 1] : -1;
  if (!c.failed() && (steps < 1 || steps > maxSteps))
    c.fail("with coupled gates, a clipped cell, a projection, layer norms or another function than "
           "TANH it needs an input of 3 dims with 1 to " +
           llvm::Twine(maxSteps) + " steps");
  LstmCell cell(c, {p.activation(), p.cell_clip(), p.proj_clip()});
  if (c.failed())
    return;
  Value x = timeFirst(c, p.time_major());
  LstmState state = {c.in(18), c.in(19)};
  std::vector<Value> results;
  for (int64_t i = 0; i < steps; ++i) {
    state = cell.step(c.squeeze(c.slice(x, 0, i, i + 1), {0}), state);
    results.push_back(c.unsqueeze(state.hidden, {p.time_major() ? 0 : 1}));
  }
  c.setOutput(c.node("Concat", results, {{"axis", int64_t(p.time_major() ? 0 : 1)}}));
}

/// Inputs: x, those of the direction (1-17), states (18, 19), layer norms (20-23).
void importSequenceLstm(OpContext &c) {
  const auto *p = c.options<fb::UnidirectionalSequenceLSTMOptions>();
  if (p && hasOwnCell(c, *p))
    return importSteps(c, *p);
  if (!checkLstm(c, p))
    return;
  Value sequence = lstmOf(c, timeFirst(c, p->time_major()), {1, false});
  if (!c.failed())
    setSequence(c, sequence, p->time_major());
}

/// Inputs: x, those of both directions (1-17, 18-34), states (35-38), a second sequence and its
/// weights (39-47).
void importBidirectionalLstm(OpContext &c) {
  const auto *p = c.options<fb::BidirectionalSequenceLSTMOptions>();
  if (!checkLstm(c, p))
    return;
  if (c.hasInput(39))
    return c.fail("a second input sequence is not supported");
  Value x = timeFirst(c, p->time_major());
  Value forward = lstmOf(c, x, {1, false}), backward = lstmOf(c, x, {18, true});
  if (!c.failed())
    setDirections(c, forward, backward, p->merge_outputs(), p->time_major());
}

/// Returns ONNX's name of a function.
const char *functionName(OpContext &c, fb::Activation activation) {
  switch (activation) {
  case fb::Activation::TANH:
    return "Tanh";
  case fb::Activation::RELU:
    return "Relu";
  default:
    c.fail("its function must be TANH or RELU");
    return "Tanh";
  }
}

/// Returns the sequence [time, 1, batch, hidden] that one direction makes of `x` [time, batch, n];
/// weights, recurrent weights and bias are inputs from `first` on.
Value rnnOf(OpContext &c, Value x, unsigned first, bool isReverse, fb::Activation activation) {
  const Dims recurrent = c.knownDims(first + 1);
  if (!c.failed() && recurrent.size() != 2)
    c.fail("its recurrent weights must have 2 dims");
  if (c.failed())
    return {};
  const int64_t hidden = recurrent[1];
  const std::string function = functionName(c, activation);
  Value bias = withRecurrentBias(c, joinGates(c, {first + 2}, true), hidden);
  return c.node("RNN", {x, joinGates(c, {first}, false), joinGates(c, {first + 1}, false), bias},
                {{"hidden_size", hidden},
                 {"direction", directionName(isReverse)},
                 {"activations", std::vector<std::string>{function}}});
}

void importSequenceRnn(OpContext &c) {
  const auto *p = c.options<fb::SequenceRNNOptions>();
  if (!p || c.rank(0) != 3)
    return c.fail("needs its parameters and an input of 3 dims");
  Value sequence = rnnOf(c, timeFirst(c, p->time_major()), 1, false, p->activation());
  if (!c.failed())
    setSequence(c, sequence, p->time_major());
}

/// Inputs: x, weights, recurrent weights, bias and state of both directions (1-4, 5-8), a second
/// sequence and its weights (9-11).
void importBidirectionalRnn(OpContext &c) {
  const auto *p = c.options<fb::BidirectionalSequenceRNNOptions>();
  if (!p || c.rank(0) != 3)
    return c.fail("needs its parameters and an input of 3 dims");
  if (c.hasInput(9))
    return c.fail("a second input sequence is not supported");
  Value x = timeFirst(c, p->time_major());
  Value forward = rnnOf(c, x, 1, false, p->activation());
  Value backward = rnnOf(c, x, 5, true, p->activation());
  if (!c.failed())
    setDirections(c, forward, backward, p->merge_outputs(), p->time_major());
}

} // namespace

llvm::ArrayRef<OpRow> recurrentOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{BIDIRECTIONAL_SEQUENCE_LSTM, importBidirectionalLstm},
                               {BIDIRECTIONAL_SEQUENCE_RNN, importBidirectionalRnn},
                               {UNIDIRECTIONAL_SEQUENCE_LSTM, importSequenceLstm},
                               {UNIDIRECTIONAL_SEQUENCE_RNN, importSequenceRnn}};
  return rows;
}

} // namespace atc::tflite
