//===-- ImportCells.cpp - single steps of recurrent networks --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"
#include "frontends/tflite/ops/LstmCell.h"

using llvm::Twine;

namespace atc::tflite {
namespace {

/// A state that an operator keeps between runs in one of its inputs.
class CellState {
public:
  CellState(OpContext &c, unsigned input) : c(c), input(input) {
    if (c.inputTensor(input).is_variable() && !c.failed())
      bind(c.inputTensor(input));
  }

  Value read() { return c.in(input); }

  void write(Value value) {
    if (name.empty() || c.failed())
      return;
    // A value that becomes an output gets another name.
    value = c.node("Identity", {c.stored(value, c.inputTensor(input))});
    c.model.variables[name].value = value.name;
  }

private:
  void bind(const fb::Tensor &tensor) {
    if (c.graph.subgraph != 0)
      return c.fail("has a state inside of a condition or a loop, which is not supported");
    const int32_t index = c.proto.inputs()->Get(input);
    name = nameOf(tensor).empty() ? "tensor_" + std::to_string(index) : nameOf(tensor).str();
    Variable &variable = c.model.variables[name];
    if (variable.stored && variable.stored != &tensor)
      return c.fail("has a state '" + Twine(name) + "', as another operator has");
    variable.stored = &tensor;
    variable.isWritten = true;
    if (variable.value.empty())
      variable.value = c.model.addState(name, variable);
    c.graph.names[index] = variable.value;
  }

  OpContext &c;
  const unsigned input;
  std::string name; ///< empty for an input that is no variable
};

void importRnn(OpContext &c) {
  const auto *p = c.options<fb::RNNOptions>();
  if (!p)
    return c.fail("has no parameters");
  CellState state(c, 4);
  Value product = c.node("MatMul", {c.in(0), c.filter(1, {1, 0})});
  Value other = c.node("MatMul", {state.read(), c.filter(2, {1, 0})});
  Value sum = c.node("Add", {c.node("Add", {product, other}), c.bias(3)});
  Value result = c.activate(sum, p->activation());
  state.write(result);
  c.setOutput(result);
}

/// Inputs: x, the last result, weights [4 * cells, inputs + cells] of the gates i c f o, biases,
/// the cells. Outputs: the result, the cells, what the weights are multiplied by, the sums.
void importBasicLstm(OpContext &c) {
  const Dims cells = c.knownDims(4, 1);
  if (!c.failed() && (cells.size() != 2 || c.numOutputs() != 4))
    c.fail("needs cells in 2 dims and 4 outputs");
  if (c.failed())
    return;
  CellState last(c, 1), cell(c, 4);
  Value joined = c.node("Concat", {c.in(0), last.read()}, {{"axis", int64_t(1)}});
  Value sums = c.node("Add", {c.node("MatMul", {joined, c.filter(2, {1, 0})}), c.bias(3)});
  auto part = [&](int64_t gate) {
    return c.slice(sums, 1, gate * cells[1], (gate + 1) * cells[1]);
  };
  auto isOpen = [&](int64_t gate) { return c.node("Sigmoid", {part(gate)}); };
  Value added = c.node("Mul", {isOpen(0), c.node("Tanh", {part(1)})});
  Value next = c.node("Add", {added, c.node("Mul", {isOpen(2), cell.read()})});
  Value result = c.node("Mul", {isOpen(3), c.node("Tanh", {next})});
  last.write(result);
  cell.write(next);
  const Value outputs[] = {result, next, joined, sums};
  for (unsigned i = 0; i < 4; ++i)
    c.setOutput(outputs[i], i);
}

void importLstm(OpContext &c) {
  const auto *p = c.options<fb::LSTMOptions>();
  if (!p)
    return c.fail("has no parameters");
  if (p->kernel() == fb::LstmKernel::BASIC)
    return importBasicLstm(c);
  LstmCell lstm(c, {p->activation(), p->cell_clip(), p->proj_clip()});
  if (c.failed())
    return;
  CellState hidden(c, 18), cell(c, 19);
  const LstmState next = lstm.step(c.in(0), {hidden.read(), cell.read()});
  hidden.write(next.hidden);
  cell.write(next.cell);
  c.setOutput(next.hidden);
}

/// Keeps the last products with the weights of features [filters, inputs], and multiplies them by
/// the weights of times [filters, times]. Each result is a sum over `rank` filters.
void importSvdf(OpContext &c) {
  const auto *p = c.options<fb::SVDFOptions>();
  const Dims times = c.knownDims(2);
  const int64_t rank = p ? p->rank() : 0;
  if (!c.failed() && (times.size() != 2 || rank < 1 || times[0] % rank != 0 || times[1] < 1))
    c.fail("needs weights of times in 2 dims, of a multiple of " + Twine(rank) + " filters");
  if (c.failed())
    return;
  CellState state(c, 4);
  Value older = c.slice(c.reshape(state.read(), {-1, times[0], times[1]}), 2, 1, times[1]);
  Value newest = c.unsqueeze(c.node("MatMul", {c.in(0), c.filter(1, {1, 0})}), {2});
  Value all = c.node("Concat", {older, newest}, {{"axis", int64_t(2)}});
  state.write(c.reshape(all, {-1, times[0] * times[1]}));
  auto sumLast = [&](Value value) {
    return c.node("ReduceSum", {value, c.ints({2})}, {{"keepdims", int64_t(0)}});
  };
  Value sums = sumLast(c.node("Mul", {all, c.in(2)}));
  if (rank > 1)
    sums = sumLast(c.reshape(sums, {-1, times[0] / rank, rank}));
  if (c.hasInput(3))
    sums = c.node("Add", {sums, c.bias(3)});
  c.setOutput(c.activate(sums, p->activation()));
}

} // namespace

llvm::ArrayRef<OpRow> cellOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{LSTM, importLstm}, {RNN, importRnn}, {SVDF, importSvdf}};
  return rows;
}

} // namespace atc::tflite
