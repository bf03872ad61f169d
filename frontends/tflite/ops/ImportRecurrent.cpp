//===-- ImportRecurrent.cpp - recurrent networks --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"

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

void importLstm(OpContext &c) {
  const auto *p = c.options<fb::UnidirectionalSequenceLSTMOptions>();
  // Inputs: x, input weights i f c o (1-4), recurrent ones (5-8), peepholes i f o (9-11), biases
  // i f c o (12-15), projection (16, 17), states (18, 19), layer norms (20-23).
  if (!p || c.rank(0) != 3)
    return c.fail("needs its parameters and an input of 3 dims");
  if (p->activation() != fb::Activation::TANH)
    return c.fail("its function must be TANH");
  if (p->cell_clip() != 0)
    return c.fail("a clipped cell is not supported");
  if (!c.hasInput(1) || !c.hasInput(5) || !c.hasInput(12))
    return c.fail("coupled input and forget gates are not supported");
  if (c.hasInput(16) || c.hasInput(17))
    return c.fail("a projection is not supported");
  for (unsigned i = 20; i < 24; ++i)
    if (c.hasInput(i))
      return c.fail("layer normalization of its gates is not supported");
  const Dims recurrent = c.knownDims(5);
  if (!c.failed() && recurrent.size() != 2)
    c.fail("its recurrent weights must have 2 dims");
  if (c.failed())
    return;
  const int64_t hidden = recurrent[1];
  // ONNX has the gates in the order i o f c.
  Value bias = withRecurrentBias(c, joinGates(c, {12, 15, 13, 14}, true), 4 * hidden);
  std::vector<Value> inputs = {timeFirst(c, p->time_major()), joinGates(c, {1, 4, 2, 3}, false),
                               joinGates(c, {5, 8, 6, 7}, false), bias};
  if (c.hasInput(9) && c.hasInput(10) && c.hasInput(11)) {
    Value peepholes = joinGates(c, {9, 11, 10}, false);
    inputs.insert(inputs.end(), {Value{}, Value{}, Value{}, peepholes});
  }
  setSequence(c, c.node("LSTM", inputs, {{"hidden_size", hidden}}), p->time_major());
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

void importSequenceRnn(OpContext &c) {
  const auto *p = c.options<fb::SequenceRNNOptions>();
  if (!p || c.rank(0) != 3)
    return c.fail("needs its parameters and an input of 3 dims");
  const Dims recurrent = c.knownDims(2);
  if (!c.failed() && recurrent.size() != 2)
    c.fail("its recurrent weights must have 2 dims");
  if (c.failed())
    return;
  const int64_t hidden = recurrent[1];
  const std::string function = functionName(c, p->activation());
  Value bias = withRecurrentBias(c, joinGates(c, {3}, true), hidden);
  Value made = c.node(
      "RNN",
      {timeFirst(c, p->time_major()), joinGates(c, {1}, false), joinGates(c, {2}, false), bias},
      {{"hidden_size", hidden}, {"activations", std::vector<std::string>{function}}});
  setSequence(c, made, p->time_major());
}

/// Imports one step of a network without memory between runs: its state begins with zeros.
void importRnn(OpContext &c) {
  const auto *p = c.options<fb::RNNOptions>();
  if (!p)
    return c.fail("has no parameters");
  Value product = c.node("MatMul", {c.in(0), c.transpose(c.in(1), {1, 0})});
  Value state = c.node("MatMul", {c.in(4), c.transpose(c.in(2), {1, 0})});
  Value sum = c.node("Add", {c.node("Add", {product, state}), c.bias(3)});
  c.setOutput(c.activate(sum, p->activation()));
}

} // namespace

llvm::ArrayRef<OpRow> recurrentOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{RNN, importRnn},
                               {UNIDIRECTIONAL_SEQUENCE_LSTM, importLstm},
                               {UNIDIRECTIONAL_SEQUENCE_RNN, importSequenceRnn}};
  return rows;
}

} // namespace atc::tflite
