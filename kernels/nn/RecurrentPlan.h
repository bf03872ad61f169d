//===-- RecurrentPlan.h - the parameters of a recurrent operator ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_RECURRENTPLAN_H
#define OPENATC_KERNELS_NN_RECURRENTPLAN_H

#include "kernels/nn/CellActivations.h"
#include "kernels/nn/gates/ByteGates.h"
#include "kernels/nn/gates/IntegerGates.h"

namespace atc::kernels {

enum class Cell : uint8_t { Rnn, Gru, Lstm };

/// Holds what attributes and shapes say of an RNN, GRU or LSTM.
struct RecurrentPlan {
  Cell cell;
  int64_t gates = 1, functions = 1; ///< of a direction
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  bool backwardOnly = false, batchFirst = false, inputForget = false, linearBeforeReset = false;
  bool packed = false;                            ///< W and R are in the order of CellLayout
  GateStorage storage = GateStorage::Floats;      ///< of R
  GateStorage inputStorage = GateStorage::Floats; ///< of W
  double clip = 0;                                ///< 0: none
  Activation activations[6];

  /// Return the layouts of the weights of the data and of the state, per direction.
  CellLayout inputLayout() const { return {gates, hidden, inputs, inputStorage}; }
  CellLayout stateLayout() const { return {gates, hidden, hidden, storage}; }

  /// Reads attributes and shapes. Fails the call and returns false where they do not fit.
  bool find(Context &c, Cell kind) {
    cell = kind;
    gates = cell == Cell::Rnn ? 1 : cell == Cell::Gru ? 3 : 4;
    functions = cell == Cell::Rnn ? 1 : cell == Cell::Gru ? 2 : 3;
    const Tensor x = c.in(0), w = c.in(1), r = c.in(2);
    if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3)
      return c.fail("X, W and R have ranks %, % and %, not 3", x.rank(), w.rank(), r.rank()), false;
    batchFirst = c.integer("layout", 0);
    steps = x.dim(batchFirst);
    batch = x.dim(!batchFirst);
    inputs = x.dim(2);
    hidden = r.dim(2);
    const bool both = c.is("direction", "forward", "bidirectional");
    backwardOnly = c.is("direction", "forward", "reverse");
    directions = both ? 2 : 1;
    inputForget = c.integer("input_forget", 0);
    linearBeforeReset = c.integer("linear_before_reset", 0);
    const int64_t order = c.integer("packed", 0);
    packed = order != 0;
    if (order < 0 || order > kPackedAllBytes)
      return c.fail("no weights are packed as number %", order), false;
    if (order == kPackedAllBytes)
      storage = inputStorage = GateStorage::Bytes;
    else if (packed)
      storage = GateStorage(order);
    if (storage != GateStorage::Floats &&
        (x.dtype() != F32 || w.dtype() != F32 || r.dtype() != F32))
      return c.fail("weights in fewer bits are of f32"), false;
    if (storage == GateStorage::Integers && !IntegerGates::areFor(hidden))
      return c.fail("no weights of % units have 16 bits", hidden), false;
    if (storage == GateStorage::Bytes && !ByteGates::areFor(hidden))
      return c.fail("no weights of % units have 8 bits", hidden), false;
    if (inputStorage == GateStorage::Bytes && !ByteGates::areFor(inputs))
      return c.fail("no weights of % inputs have 8 bits", inputs), false;
    clip = c.number("clip", 0);
    auto fits = [&](uint32_t index, Dims dims) {
      if (!c.in(index) || c.in(index).dims() == dims)
        return true;
      c.fail("input % does not fit % directions, % hidden, % inputs, % sequences", index,
             directions, hidden, inputs, batch);
      return false;
    };
    const Dims state =
        batchFirst ? Dims(batch, directions, hidden) : Dims(directions, batch, hidden);
    const Dims data = inputStorage == GateStorage::Bytes ? Dims(directions, 1, inputLayout().size())
                                                         : Dims(directions, gates * hidden, inputs);
    if (!fits(1, data) || !fits(2, Dims(directions, stateLayout().columns(), hidden)) ||
        !fits(3, Dims(directions, 2 * gates * hidden)) || !fits(4, Dims(batch)) || !fits(5, state))
      return false;
    if (cell == Cell::Lstm && (!fits(6, state) || !fits(7, Dims(directions, 3 * hidden))))
      return false;
    return readActivations(c);
  }

  /// Returns whether the functions of a direction are those that the operator has by default,
  /// applied to gates as they are.
  bool hasDefaultFunctions(int64_t direction) const {
    bool isDefault = clip <= 0;
    for (int64_t i = 0; i < functions; ++i)
      isDefault &= activations[direction * functions + i].function == defaultFunction(i);
    return isDefault;
  }

private:
  Activation::Function defaultFunction(int64_t i) const {
    return i == 0 && cell != Cell::Rnn ? Activation::Sigmoid : Activation::Tanh;
  }

  bool readActivations(Context &c) {
    const List<String> names = c.strings("activations");
    const List<double> alphas = c.numbers("activation_alpha"), betas = c.numbers("activation_beta");
    if (names.size && names.size != functions * directions)
      return c.fail("% activations for % functions", names.size, functions * directions), false;
    int64_t alpha = 0, beta = 0;
    for (int64_t i = 0; i < functions * directions; ++i) {
      Activation &a = activations[i];
      if (names.size)
        a = Activation::named(names[i]);
      else
        a.function = defaultFunction(i % functions);
      if (a.function == Activation::Unknown)
        return c.fail("activation number % is not known", i), false;
      if (a.hasAlpha && alpha < alphas.size)
        a.alpha = alphas[alpha++];
      if (a.hasBeta && beta < betas.size)
        a.beta = betas[beta++];
    }
    return true;
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_RECURRENTPLAN_H
