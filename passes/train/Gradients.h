//===-- Gradients.h - the gradient rule of each graph op ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rule is a function that builds the gradients of an op's operands from that of its result:
//
//   void gradient(graph::MulOp op, OpGradient &g) {
//     g.give(0, g.mul(g.result, op.getRhs()));
//     g.give(1, g.mul(g.result, op.getLhs()));
//   }
//
// Each family of ops has a file with its rules and one function that adds them to the table.

#ifndef OPENATC_PASSES_TRAIN_GRADIENTS_H
#define OPENATC_PASSES_TRAIN_GRADIENTS_H

#include "dialects/graph/ops/HostOps.h"
#include "passes/train/GraphMath.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace atc::train {

/// Builds the gradients of one op's operands.
class OpGradient : public GraphMath {
public:
  /// `wanted` has a bit per operand; `gradients` receives a value per operand.
  OpGradient(mlir::OpBuilder &builder, mlir::Location loc, mlir::Operation *op, mlir::Value result,
             llvm::ArrayRef<bool> wanted, llvm::MutableArrayRef<mlir::Value> gradients)
      : GraphMath(builder, loc), result(result), op(op), wanted(wanted), gradients(gradients) {}

  /// Returns whether the gradient of an operand is needed.
  bool wants(unsigned operand) const { return wanted[operand]; }

  /// Adds to the gradient of an operand. `value` has the result's shape or one that broadcasts to
  /// it, or the operand's: dims along which the operand was broadcast are summed. Ignored where it
  /// is not wanted.
  void give(unsigned operand, mlir::Value value);

  /// The gradient of the loss with respect to the op's result, with the result's type.
  const mlir::Value result;

private:
  mlir::Operation *op;
  llvm::ArrayRef<bool> wanted;
  llvm::MutableArrayRef<mlir::Value> gradients;
};

/// The rules of all ops.
class GradientRules {
public:
  /// Builds the gradients of an op. Returns null, or why the op has none in the form it has.
  using Rule = std::function<const char *(mlir::Operation *, OpGradient &)>;

  GradientRules();

  /// Returns the rule of an op; null where it has none.
  const Rule *find(mlir::Operation *op) const;

  /// Adds a rule for an op class: a function (OpTy, OpGradient &) that returns nothing or, as Rule
  /// does, a reason.
  template <typename OpTy, typename Function> void add(Function function) {
    rules[OpTy::getOperationName()] = [function](mlir::Operation *op,
                                                 OpGradient &g) -> const char * {
      auto typed = mlir::cast<OpTy>(op);
      if constexpr (std::is_void_v<decltype(function(typed, g))>) {
        function(typed, g);
        return nullptr;
      } else {
        return function(typed, g);
      }
    };
  }

  /// Adds ops whose results do not change with small changes of their operands, so that the
  /// gradient is 0.
  template <typename... OpTy> void addConstant() {
    (add<OpTy>([](OpTy, OpGradient &) {}), ...);
  }

  /// Adds a rule for calls of a host kernel with tensors of static shape, for which `holds` returns
  /// true.
  void addKernel(llvm::StringRef kernel, void (*function)(graph::HostCallOp, OpGradient &),
                 bool (*holds)(graph::HostCallOp) = nullptr);

private:
  struct KernelRule {
    Rule rule;
    bool (*holds)(graph::HostCallOp);
  };
  llvm::StringMap<Rule> rules;
  llvm::StringMap<KernelRule> kernels; ///< of host calls
};

// The rules of each family.
void addElementwiseGradients(GradientRules &rules);
void addActivationGradients(GradientRules &rules);
void addContractionGradients(GradientRules &rules);
void addPoolGradients(GradientRules &rules);
void addReduceGradients(GradientRules &rules);
void addMovementGradients(GradientRules &rules);
void addHostCallGradients(GradientRules &rules);
void addCollectiveGradients(GradientRules &rules);

} // namespace atc::train

#endif // OPENATC_PASSES_TRAIN_GRADIENTS_H
