//===-- RankExchange.h - the reference interpreter on several ranks -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_INTERPRETER_RANKEXCHANGE_H
#define OPENATC_DIALECTS_GRAPH_INTERPRETER_RANKEXCHANGE_H

#include "dialects/graph/interpreter/Interpreter.h"

namespace atc::graph {

/// Connects the interpreter of one rank to those of the others.
class RankExchange {
public:
  virtual ~RankExchange() = default;
  /// Evaluates a collective: waits until the other ranks of its group have come to theirs. Fails
  /// with an error at `op` where they never will.
  virtual mlir::FailureOr<llvm::SmallVector<Tensor>>
  evaluate(mlir::Operation *op, llvm::ArrayRef<const Tensor *> operands) = 0;
};

/// Evaluates a function as evaluateFunction does; its collectives go through `exchange`.
mlir::FailureOr<llvm::SmallVector<Tensor>> evaluateRank(mlir::func::FuncOp function,
                                                        llvm::ArrayRef<Tensor> inputs,
                                                        RankExchange *exchange,
                                                        ValueCallback callback = nullptr);

/// Evaluates function i as rank i on inputs[i], all ranks at once, each in a thread of its own, and
/// returns the results of each. Fails with an error where a rank fails, and where ranks wait for
/// each other forever.
mlir::FailureOr<std::vector<llvm::SmallVector<Tensor>>>
evaluateRanks(llvm::ArrayRef<mlir::func::FuncOp> functions,
              llvm::ArrayRef<llvm::SmallVector<Tensor>> inputs);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_INTERPRETER_RANKEXCHANGE_H
