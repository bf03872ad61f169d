//===-- CallOps.h - graph ops in place of a host call ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_EXPAND_CALLOPS_H
#define OPENATC_PASSES_HOST_EXPAND_CALLOPS_H

#include "dialects/graph/ops/HostOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace atc::host {

/// Returns the type of a tensor of f32 or f16 with a static shape and elements; null for others.
mlir::RankedTensorType staticFloats(mlir::Value value);

/// Returns the text `name` of a call, or `fallback` without one.
llvm::StringRef textOf(graph::HostCallOp call, llvm::StringRef name, llvm::StringRef fallback);

/// Returns whether all given inputs and used results of a call have static shapes, and the floats
/// among them the element type of the first input, f32 or f16. Inputs other than the first may have
/// no elements where `emptyInputs` says so.
bool isStatic(graph::HostCallOp call, bool emptyInputs = false);

/// Replaces the calls of some kernels in a function, except for those that a user placed on the
/// CPU. `expand` returns the reason why a call stays, or nothing where graph ops have its results.
/// Emits remarks of the pass `pass`, of which `made` says what a call becomes. Returns how many
/// calls were replaced.
unsigned expandCalls(mlir::func::FuncOp function, llvm::StringRef pass,
                     llvm::ArrayRef<llvm::StringLiteral> kernels, llvm::StringRef made,
                     llvm::function_ref<llvm::StringRef(graph::HostCallOp)> expand,
                     bool emptyInputs = false);

/// Creates graph ops in front of a call. Binary ops broadcast; a number takes the element type of
/// what it is combined with.
class CallOps {
public:
  explicit CallOps(graph::HostCallOp call);

  /// Return the sum, the difference, the product, and the product of matrices.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, double b) { return b == 1 ? a : mul(a, number(b, a)); }
  mlir::Value product(mlir::Value a, mlir::Value b);
  /// Return the smaller and the larger number.
  mlir::Value smaller(mlir::Value a, mlir::Value b);
  mlir::Value larger(mlir::Value a, mlir::Value b);
  /// Return bools, and what they select from.
  mlir::Value isGreater(mlir::Value a, mlir::Value b);
  mlir::Value where(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// Return the mean, which stays as a dim of 1, and the softmax along the last dim.
  mlir::Value meanOfRows(mlir::Value x);
  mlir::Value softmax(mlir::Value x);
  /// Return a function of each element.
  mlir::Value tanh(mlir::Value x);
  mlir::Value sigmoid(mlir::Value x);
  mlir::Value relu(mlir::Value x);
  mlir::Value gelu(mlir::Value x, bool approximate);
  mlir::Value inverseRoot(mlir::Value x);

  /// Return the elements in another order or number; what changes nothing creates no op.
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value slice(mlir::Value x, int64_t dim, int64_t start, int64_t size);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> parts, int64_t dim);
  /// Returns the slices along the first dim that `indices` name.
  mlir::Value gather(mlir::Value x, mlir::Value indices);

  /// Returns a constant of rank 0 with the element type of `like`.
  mlir::Value number(double value, mlir::Value like);
  /// Returns a constant with the given elements of a type.
  mlir::Value constant(llvm::ArrayRef<int64_t> shape, mlir::Type element,
                       llvm::ArrayRef<double> values);

  /// Replaces a result, where there is one; `value` gets the location of the call.
  void replace(unsigned result, mlir::Value value);

private:
  graph::HostCallOp call;
  mlir::OpBuilder builder;
  mlir::Location loc;
};

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_EXPAND_CALLOPS_H
