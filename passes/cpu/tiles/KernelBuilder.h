//===-- KernelBuilder.h - the base of all expand passes -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_KERNELBUILDER_H
#define OPENATC_PASSES_CPU_TILES_KERNELBUILDER_H

#include "dialects/cpu/Cpu.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace atc::cpu {

/// The number of tasks of a kernel function (i64), set by the pass that expands it.
inline constexpr llvm::StringLiteral kTasksAttr = "cpu.tasks";
/// Marks a kernel function, whose arguments are: buffers..., %begin: index, %end: index.
inline constexpr llvm::StringLiteral kKernelAttr = "cpu.kernel";
/// The module attribute with the #cpu.level to compile for.
inline constexpr llvm::StringLiteral kLevelAttr = "cpu.level";

/// Returns the level that the enclosing module is compiled for; that of x86-64-v3 where the module
/// has none.
LevelAttr levelOf(mlir::Operation *op);

/// Builds the loops of one kernel function. All addressing is linear: a buffer is viewed as a
/// one-dimensional memref of its span, and indices are sums of multiples of its strides, which the
/// code generator folds into addressing modes.
class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// Starts at `op`, which must be in a kernel function.
  explicit KernelBuilder(mlir::Operation *op);

  LevelAttr level() const { return levelAttr; }

  /// Opens the loop over the tasks [%begin, %end) of a task space with the given sizes (the last
  /// one is the fastest), moves into its body and returns the task's index in every dim.
  llvm::SmallVector<mlir::Value> beginTasks(llvm::ArrayRef<int64_t> sizes);

  /// Index arithmetic; operations on constants are folded.
  mlir::Value index(int64_t value);
  /// Returns a zero that passes cannot fold. Loads at addresses with different such zeros are not
  /// merged, so that each instruction can take its operand from memory.
  mlir::Value unknownZero();
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b);
  mlir::Value mul(mlir::Value a, int64_t b);
  /// Returns a * factor + b.
  mlir::Value mulAdd(mlir::Value a, int64_t factor, mlir::Value b);

  /// Builds `for (i = 0; i < trip; ++i)`; a trip of 1 makes no loop. `body` receives the index and
  /// the carried values and returns the next ones.
  llvm::SmallVector<mlir::Value>
  loop(int64_t trip, mlir::ValueRange carried,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  /// Builds a loop from `begin` to `end` with carried values.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value begin, mlir::Value end, int64_t step, mlir::ValueRange carried,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  /// Build a loop without carried values.
  void loop(int64_t trip, llvm::function_ref<void(mlir::Value)> body);
  void loop(mlir::Value begin, mlir::Value end, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);

  /// Returns a one-dimensional view of the whole span of `buffer`.
  mlir::Value flat(mlir::Value buffer);

  /// Returns `a * b + c`, fused where the level has FMA.
  mlir::Value madd(mlir::Value a, mlir::Value b, mlir::Value c);

private:
  mlir::func::FuncOp kernel;
  LevelAttr levelAttr;
};

/// Returns the element strides of a static memref.
llvm::SmallVector<int64_t> stridesOf(mlir::Value buffer);
llvm::ArrayRef<int64_t> shapeOf(mlir::Value buffer);
mlir::Type elementOf(mlir::Value buffer);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_KERNELBUILDER_H
