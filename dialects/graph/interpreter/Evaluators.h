//===-- Evaluators.h - one evaluator for each family of ops --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_INTERPRETER_EVALUATORS_H
#define OPENATC_DIALECTS_GRAPH_INTERPRETER_EVALUATORS_H

#include "dialects/graph/interpreter/Tensor.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/scatter/Scatter.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace atc::graph {
#define OPENATC_EVALUATED_OP(OP, EVALUATE) class OP;
#include "dialects/graph/interpreter/EvaluatedOps.def"
#undef OPENATC_EVALUATED_OP
} // namespace atc::graph

namespace atc::graph::interpreter {

/// An operator under evaluation: its operands, the type of its result (static, without a layout)
/// and the error.
struct Evaluation {
  mlir::Operation *op;
  llvm::ArrayRef<const Tensor *> operands;
  mlir::RankedTensorType type;
  std::string *error;

  /// Sets the error and returns failure.
  mlir::LogicalResult fail(const llvm::Twine &message) const;

  /// Returns the tensor of an operand given as a value of `op`; null for none.
  const Tensor *find(mlir::Value value) const {
    for (auto [candidate, tensor] : llvm::zip_equal(op->getOperands(), operands))
      if (value && candidate == value)
        return tensor;
    return nullptr;
  }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(type.getElementType()); }
};

using Result = mlir::FailureOr<Tensor>;

/// Evaluates elementwise operators by their formulas; fails for other operators.
Result evaluateElementwise(const Evaluation &evaluation);
/// Evaluates the body of a map, or of a similar operator, over `operands`.
Result evaluateBody(mlir::Block &body, llvm::ArrayRef<const Tensor *> operands,
                    const Evaluation &evaluation);

// The functions that evaluate one kind of op.
#define OPENATC_EVALUATED_OP(OP, EVALUATE) Result EVALUATE(OP op, const Evaluation &evaluation);
#include "dialects/graph/interpreter/EvaluatedOps.def"
#undef OPENATC_EVALUATED_OP

/// Calls the host kernel of `op` in this process. `operands` are those of the op; an unused result
/// may be an empty tensor. Fails with an error at `op`.
mlir::FailureOr<llvm::SmallVector<Tensor>>
evaluateHostCall(HostCallOp op, llvm::ArrayRef<const Tensor *> operands);

/// Returns an activation of `x`; `slope` is that of a prelu.
double activate(ActivationKind kind, double alpha, double beta, double x, double slope = 0.0);

} // namespace atc::graph::interpreter

#endif // OPENATC_DIALECTS_GRAPH_INTERPRETER_EVALUATORS_H
