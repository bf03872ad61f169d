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

/// Called with every value of a function as soon as it is known: arguments,
/// constants and results of operators, but not those inside branches and loops.
using ValueCallback = llvm::function_ref<void(mlir::Value, const Tensor &)>;

/// Evaluates a function of one block, with the host calls, branches and loops in it.
/// A tensor is freed after its last use. Returns what the function returns. Fails
/// with an error of the op concerned; values that are no tensors of numbers (strings,
/// sequences) are such an error, of E10055.
mlir::FailureOr<llvm::SmallVector<Tensor>> evaluateFunction(mlir::func::FuncOp function,
                                                            llvm::ArrayRef<Tensor> inputs,
                                                            ValueCallback callback = nullptr);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_INTERPRETER_INTERPRETER_H
