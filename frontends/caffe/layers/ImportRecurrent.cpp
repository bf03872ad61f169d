//===-- ImportRecurrent.cpp - recurrent layers ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/caffe/LayerTable.h"

using llvm::Twine;

namespace atc::caffe {
namespace {

/// Makes the steps of a recurrent layer one by one: what one of them says of the sequences that
/// go on (bottom 1) decides whether the next one begins with zeros, which no operator of ONNX
/// expresses. Bottoms are x [time, batch, ...], cont [time, batch], an x of all steps
/// [batch, ...] where there is one, and with expose_hidden the first states, `numStates` of
/// [1, batch, outputs]. Weights are those of x and a bias, of the x of all steps, of the state, and
/// what the kind of layer adds.
class Unroller {
public:
  Unroller(LayerContext &c, int64_t numGates, int64_t numStates) : c(c) {
    constexpr int64_t maxSteps = 256;
    const pb::RecurrentParameter &p = c.layer().recurrent_param();
    outputs = p.num_output();
    isExposed = p.expose_hidden();
    if (outputs == 0)
      c.fail("num_output is missing");
    const int64_t others = int64_t(c.numBottoms()) - 2 - (isExposed ? numStates : 0);
    if (others != 0 && others != 1)
      c.fail("has " + Twine(c.numBottoms()) +
             " bottoms, expected x, cont, perhaps an x of all steps" +
             (isExposed ? ", and the first states" : ""));
    if (const int64_t tops = c.layer().top_size(); tops != 1 + (isExposed ? numStates : 0))
      c.fail("has " + Twine(tops) + " tops, expected " + Twine(1 + (isExposed ? numStates : 0)));
    c.requireRank(1, 2);
    if (!c.failed() && c.bottom().rank() < 3)
      c.fail("x has " + Twine(c.bottom().rank()) + " dims, expected time, batch and values");
    if (c.failed())
      return;
    steps = c.knownDim(0, 0, "the steps");
    batch = c.knownDim(0, 1, "the states");
    if (!c.failed() && (steps < 1 || steps > maxSteps))
      c.fail("has " + Twine(steps) + " steps, expected 1 to " + Twine(maxSteps));
    if (!c.failed() && c.bottom(1).dims != Dims{steps, batch})
      c.fail("cont has the shape " + printShape(c.bottom(1).dims) + ", expected " +
             printShape({steps, batch}));
    width = numGates * outputs;
    projected = project(0, 2, {steps, batch, width});
    projected = c.add(projected, c.weights(nextBlob++, {width}));
    if (others)
      projected = c.add(projected, project(2, 1, {1, batch, width}));
    recurrent = c.weights(nextBlob++, {width, outputs});
    for (int64_t i = 0; i < numStates && !c.failed(); ++i)
      states.push_back(firstState(i, 2 + others));
    rows = c.reshape(c.bottom(1), {steps, batch, 1});
  }

  /// Returns matrix x transposed weights.
  Tensor multiply(const Tensor &matrix, const Tensor &weights) {
    const int64_t columns = c.failed() ? 0 : weights.dims[0];
    return c.node("Gemm", {matrix, weights}, {batch, columns}, {{"transB", int64_t(1)}});
  }

  Tensor weights(const Dims &dims) { return c.weights(nextBlob++, dims); }

  /// Returns columns from `begin` up to `end` of a matrix.
  Tensor columns(const Tensor &value, int64_t begin, int64_t end) {
    return c.node("Slice", {value, c.ints({begin}), c.ints({end}), c.ints({1})},
                  {batch, end - begin});
  }

  Tensor apply(const char *op, const Tensor &value) { return c.node(op, {value}, value.dims); }

  /// Calls `step` for each step with the sum of both projections and whether its sequences go on,
  /// [batch, 1]; it changes `states` and returns the step's result. Sets the tops.
  template <typename Step> void run(Step step) {
    std::vector<Tensor> results;
    for (int64_t i = 0; i < steps && !c.failed(); ++i) {
      Tensor goesOn = at(rows, i, {batch, 1});
      Tensor sum = multiply(c.mul(states[0], goesOn), recurrent);
      Tensor result = step(c.add(at(projected, i, {batch, width}), sum), goesOn);
      results.push_back(c.reshape(result, {1, batch, outputs}));
    }
    if (c.failed())
      return;
    std::vector<Tensor> tops = {
        c.node("Concat", results, {steps, batch, outputs}, {{"axis", int64_t(0)}})};
    if (isExposed)
      for (const Tensor &state : states)
        tops.push_back(c.reshape(state, {1, batch, outputs}));
    c.setTops(tops);
  }

  std::vector<Tensor> states; ///< hidden, then what else the kind of layer keeps
  int64_t outputs = 0;

private:
  /// Returns bottom `index`, whose dims from `axis` on are one row, times the next weights.
  Tensor project(unsigned index, int64_t axis, const Dims &dims) {
    const Dims all = c.knownDims(index, "the weights");
    if (c.failed())
      return {};
    const int64_t depth = product(all, axis, all.size()), count = product(all, 0, axis);
    if (count != dims[0] * dims[1]) {
      c.fail("bottom '" + Twine(c.layer().bottom(index)) + "' has the shape " + printShape(all) +
             ", expected a batch of " + Twine(batch));
      return {};
    }
    Tensor matrix = c.reshape(c.bottom(index), {count, depth});
    Tensor result = c.node("Gemm", {matrix, c.weights(nextBlob++, {width, depth})}, {count, width},
                           {{"transB", int64_t(1)}});
    return c.reshape(result, dims);
  }

  Tensor firstState(unsigned index, unsigned firstBottom) {
    if (!isExposed)
      return c.constant({1, outputs}, std::vector<float>(outputs, 0)); // for the whole batch
    const Dims expected = {1, batch, outputs};
    if (c.bottom(firstBottom + index).dims != expected)
      c.fail("bottom '" + Twine(c.layer().bottom(firstBottom + index)) + "' has the shape " +
             printShape(c.bottom(firstBottom + index).dims) + ", expected " + printShape(expected));
    return c.reshape(c.bottom(firstBottom + index), {batch, outputs});
  }

  /// Returns one step of a tensor.
  Tensor at(const Tensor &value, int64_t step, const Dims &dims) {
    return c.reshape(c.node("Slice", {value, c.ints({step}), c.ints({step + 1}), c.ints({0})},
                            {1, dims[0], dims[1]}),
                     dims);
  }

  LayerContext &c;
  int64_t steps = 0, batch = 0, width = 0;
  unsigned nextBlob = 0;
  bool isExposed = false;
  Tensor projected, recurrent, rows;
};

/// Gates are i f o g.
void importLstm(LayerContext &c) {
  Unroller unroller(c, 4, 2);
  const int64_t n = unroller.outputs;
  if (c.failed())
    return;
  unroller.run([&](const Tensor &gates, const Tensor &goesOn) {
    auto gate = [&](const char *function, int64_t index) {
      return unroller.apply(function, unroller.columns(gates, index * n, (index + 1) * n));
    };
    Tensor &hidden = unroller.states[0], &cell = unroller.states[1];
    Tensor kept = c.mul(c.mul(gate("Sigmoid", 1), goesOn), cell);
    cell = c.add(kept, c.mul(gate("Sigmoid", 0), gate("Tanh", 3)));
    hidden = c.mul(gate("Sigmoid", 2), unroller.apply("Tanh", cell));
    return hidden;
  });
}

/// The result is a product of the state, to which both have tanh as their function.
void importRnn(LayerContext &c) {
  Unroller unroller(c, 1, 1);
  if (c.failed())
    return;
  const int64_t n = unroller.outputs;
  Tensor weights = unroller.weights({n, n}), bias = unroller.weights({n});
  unroller.run([&](const Tensor &sum, const Tensor &) {
    unroller.states[0] = unroller.apply("Tanh", sum);
    return unroller.apply("Tanh", c.add(unroller.multiply(unroller.states[0], weights), bias));
  });
}

} // namespace

llvm::ArrayRef<LayerRow> recurrentLayers() {
  static const LayerRow rows[] = {{"LSTM", importLstm}, {"RNN", importRnn}};
  return rows;
}

} // namespace atc::caffe
