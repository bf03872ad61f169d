//===-- Interpreter.h - reference interpreter of the graph dialect -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Simple rather than fast: it defines the semantics of graph operators, folds constants and checks
// the compiler's output.
//
//===----------------------------------------------------------------------===//

#ifndef OPENATC_DIALECTS_GRAPH_INTERPRETER_INTERPRETER_H
#define OPENATC_DIALECTS_GRAPH_INTERPRETER_INTERPRETER_H

#include "dialects/graph/interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace atc::graph {

/// Evaluates a graph operator. Dynamic dims of result types follow from the operands. A failure (an
/// index out of range, a division by zero, an operator of another dialect) is an error of `op`, or
/// is written to `error` where given.
mlir::LogicalResult evaluate(mlir::Operation *op, llvm::ArrayRef<const Tensor *> operands,
                             llvm::SmallVectorImpl<Tensor> &results, std::string *error = nullptr);

/// Is called with every value of a function as soon as it is computed: arguments, constants and
/// results of operators, also in the branches that are taken and in each iteration of a loop.
using ValueCallback = llvm::function_ref<void(mlir::Value, const Tensor &)>;

/// Evaluates a function of one block, with its host calls, branches and loops, and returns its
/// results. A tensor is freed after its last use. Fails with an error at the op that caused it;
/// values that are not tensors of numbers (strings, sequences) cause E10055.
mlir::FailureOr<llvm::SmallVector<Tensor>> evaluateFunction(mlir::func::FuncOp function,
                                                            llvm::ArrayRef<Tensor> inputs,
                                                            ValueCallback callback = nullptr);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_INTERPRETER_INTERPRETER_H
