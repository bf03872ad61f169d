//===-- LstmCell.cpp - one step of an LSTM --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/ops/LstmCell.h"

namespace atc::tflite {

LstmCell::LstmCell(OpContext &c, LstmForm form)
    : c(c), form(form), isCoupled(!c.hasInput(1) || !c.hasInput(5)) {
  if (!isCoupled)
    inputGate = readGate(0);
  forgetGate = readGate(1);
  cellGate = readGate(2);
  outputGate = readGate(3);
  if (c.hasInput(16))
    projection = c.filter(16, {1, 0});
  if (c.hasInput(17))
    projectionBias = c.bias(17);
}

LstmCell::Gate LstmCell::readGate(unsigned index) {
  Gate gate = {c.filter(1 + index, {1, 0}), c.filter(5 + index, {1, 0}), {}, {}, {}};
  // The gate of the cell has no peephole.
  const unsigned peephole = index == 3 ? 11 : 9 + index;
  if (index != 2 && c.hasInput(peephole))
    gate.peephole = c.in(peephole);
  if (c.hasInput(12 + index))
    gate.bias = c.bias(12 + index);
  if (c.hasInput(20 + index))
    gate.norm = c.in(20 + index);
  return gate;
}

Value LstmCell::sum(const Gate &gate, Value x, Value hidden, Value cell) {
  Value sum = c.node(
      "Add", {c.node("MatMul", {x, gate.input}), c.node("MatMul", {hidden, gate.recurrent})});
  if (!gate.peephole.name.empty())
    sum = c.node("Add", {sum, c.node("Mul", {cell, gate.peephole})});
  if (!gate.norm.name.empty()) {
    const Value axis = c.ints({-1});
    Value rest = c.node("Sub", {sum, c.node("ReduceMean", {sum, axis})});
    Value variance = c.node("ReduceMean", {c.node("Mul", {rest, rest}), axis});
    Value deviation = c.node("Sqrt", {c.node("Add", {variance, c.scalar(1e-8f)})});
    sum = c.node("Mul", {c.node("Div", {rest, deviation}), gate.norm});
  }
  return gate.bias.name.empty() ? sum : c.node("Add", {sum, gate.bias});
}

Value LstmCell::clip(Value value, float limit) {
  return limit > 0 ? c.node("Clip", {value, c.scalar(-limit), c.scalar(limit)}) : value;
}

LstmState LstmCell::step(Value x, LstmState before) {
  Value forget = c.node("Sigmoid", {sum(forgetGate, x, before.hidden, before.cell)});
  Value take = isCoupled ? c.node("Sub", {c.scalar(1), forget})
                         : c.node("Sigmoid", {sum(inputGate, x, before.hidden, before.cell)});
  Value added = c.activate(sum(cellGate, x, before.hidden, before.cell), form.activation);
  Value cell = c.node("Add", {c.node("Mul", {forget, before.cell}), c.node("Mul", {take, added})});
  cell = clip(cell, form.cellClip);
  Value open = c.node("Sigmoid", {sum(outputGate, x, before.hidden, cell)});
  Value hidden = c.node("Mul", {open, c.activate(cell, form.activation)});
  if (!projection.name.empty()) {
    hidden = c.node("MatMul", {hidden, projection});
    if (!projectionBias.name.empty())
      hidden = c.node("Add", {hidden, projectionBias});
    hidden = clip(hidden, form.projectionClip);
  }
  return {hidden, cell};
}

} // namespace atc::tflite
