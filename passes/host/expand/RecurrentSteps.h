//===-- RecurrentSteps.h - one step of an RNN, GRU or LSTM ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_EXPAND_RECURRENTSTEPS_H
#define OPENATC_PASSES_HOST_EXPAND_RECURRENTSTEPS_H

#include "dialects/graph/ops/HostOps.h"
#include "passes/graph/ConstantUtils.h"

namespace atc::host {

/// An activation function of a cell with its parameters.
struct CellFunction {
  /// Returns the function of that name, in any case, with the operator's default parameters;
  /// nothing for other names.
  static std::optional<CellFunction> named(llvm::StringRef name);
  /// Returns `x` with the function applied to its elements.
  mlir::Value apply(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x) const;

  enum Kind {
#define CELL_FUNCTION(Name, TakesAlpha, TakesBeta, Alpha, Beta) Name,
#include "kernels/core/CellFunctions.def"
  };
  Kind kind = Tanh;
  bool hasAlpha = false, hasBeta = false;
  double alpha = 0, beta = 0;
};

/// Attributes of an RNN, GRU or LSTM, and sizes and inputs of one of static shapes with constant
/// weights.
struct Recurrence {
  enum class Cell { Rnn, Gru, Lstm };

  /// Returns whether a host kernel is one of these operators.
  static bool isKernel(llvm::StringRef kernel);
  /// Reads what the attributes of a call say of its cell, whatever its shapes. Returns the reason
  /// why the cell is none; empty: it is one.
  std::string readCell(graph::HostCallOp call);
  /// Reads a call. Returns the reason why its steps cannot be graph ops; empty: they can be.
  /// `maxSteps` limits the steps of all directions together.
  std::string read(graph::HostCallOp call, int64_t maxSteps);

  Cell cell = Cell::Lstm;
  int64_t gates = 4, functionsPerDirection = 3;
  int64_t steps = 0, batch = 0, features = 0, hidden = 0, directions = 1;
  bool backwardOnly = false, batchFirst = false, inputForget = false, linearBeforeReset = false;
  double clip = 0;                               ///< of what functions are applied to; 0: none
  llvm::SmallVector<CellFunction> functions;     ///< those of the first direction first
  llvm::SmallVector<mlir::Value> inputs;         ///< by position; null where omitted
  mlir::Value lengths;                           ///< [batch]; null where no sequence ends early
  mlir::ElementsAttr inputWeights, stateWeights; ///< [directions, gates * hidden, depth]
  llvm::SmallVector<double> bias;                ///< [directions, 2 * gates * hidden], or empty
  llvm::SmallVector<double> peepholes;           ///< [directions, 3 * hidden], or empty

private:
  std::string readFunctions(graph::HostCallOp call);
  std::string readConstants();
};

/// Builds the steps of one direction at a point of the graph. States are [batch, hidden]; null
/// stands for zeros.
class StepBuilder {
public:
  /// Builds the product of all data with the input's weights, which all steps read.
  StepBuilder(mlir::OpBuilder &builder, mlir::Location loc, const Recurrence &recurrence,
              int64_t direction);

  /// Builds the step that reads the data of `time`. Returns the states after it; the second one is
  /// null for other cells than an LSTM.
  std::pair<mlir::Value, mlir::Value> advance(int64_t time, mlir::Value h, mlir::Value c);

  /// Returns whether both states of a step are parts of one tensor, which one kernel computes: it
  /// computes everything twice, which takes less time than the launch of a second kernel where the
  /// states are small. Only where no function and no state at the start can make one infinite.
  bool joinsStates() const;
  /// Returns the states of the last step [2, batch, hidden], h behind c; null unless they are
  /// joined.
  mlir::Value states() const { return joined; }

private:
  mlir::Value advanceRnn(mlir::Value data, mlir::Value h);
  mlir::Value advanceGru(mlir::Value data, mlir::Value h);
  std::pair<mlir::Value, mlir::Value> advanceLstm(mlir::Value data, mlir::Value h, mlir::Value c);

  /// Return the weights of gates [first, first + count) for the data or the state.
  mlir::Value weights(mlir::ElementsAttr all, int64_t first, int64_t count);
  /// Returns biases of `count` gates from `first` on, those of the data, of the state, or both
  /// added; null where there are none.
  mlir::Value biasOf(int64_t first, int64_t count, bool ofData, bool ofState);
  mlir::Value peephole(int64_t gate);
  /// Returns x times the transposed weights, plus the bias.
  mlir::Value product(mlir::Value x, mlir::Value filter, mlir::Value bias = {});
  /// Returns `count` gates of [batch, gates * hidden] from gate `first` on.
  mlir::Value gate(mlir::Value all, int64_t first, int64_t count = 1);
  mlir::Value activate(mlir::Value x, int64_t function);
  /// Applies the function without the bounds of `clip`, which hold for gates and not for states.
  mlir::Value apply(mlir::Value x, int64_t function);
  mlir::Value add(mlir::Value a, mlir::Value b); ///< null operands are zeros
  mlir::Value mul(mlir::Value a, mlir::Value b); ///< null if one of them is
  mlir::Value oneMinus(mlir::Value a);
  /// Returns a state as both rows of [2, batch, hidden].
  mlir::Value twice(mlir::Value state);
  /// Returns the first row of one tensor and the second one of another.
  mlir::Value join(mlir::Value first, mlir::Value second);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const Recurrence &r;
  int64_t direction;
  mlir::Type element;
  mlir::Value data;   ///< [steps * batch, gates * hidden]
  mlir::Value joined; ///< see states()
  /// Weights and bias of the state; those of a GRU's last gate apart where its reset gate scales
  /// the state.
  mlir::Value stateFilter, lastFilter, stateBias;
  llvm::SmallVector<mlir::Value, 3> peepholes; ///< [1, hidden] of input, output and forget gate
};

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_EXPAND_RECURRENTSTEPS_H
