//===-- PlaceViews.h - which tensors share memory -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_PLACEVIEWS_H
#define OPENATC_PASSES_KERNEL_PLACEVIEWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/kernel/Storage.h"

namespace atc::kernel {

/// Decides for every tensor of a function where it lies, so that moving data
/// costs no copy where a view will do: parts of a concat and results of the
/// function are computed in place, slices, reshapes and relayouts of the same
/// memory are views of their operand.
class PlaceViews {
public:
  explicit PlaceViews(mlir::func::FuncOp function);

  /// Where `value` lies. `base` of the result has memory of its own.
  Storage storageOf(mlir::Value value) const;

  /// The result number whose buffer is the memory of `value`, a base.
  std::optional<unsigned> resultOf(mlir::Value value) const;

  /// The operand lies where its user wants it.
  bool isPlaced(mlir::OpOperand &operand) const;

  /// The result of `op` is a view of its operand: nothing to run.
  bool isView(mlir::Operation *op) const;

  /// The result of `op` has no place: the transposition behind it reads the
  /// blocks itself.
  bool isSkipped(mlir::Operation *op) const { return skipped.contains(op); }

private:
  struct Home {
    enum Kind { Own, Result, OfOperand, InUser, AsUser } kind = Own;
    unsigned index = 0;
    mlir::Operation *user = nullptr;
  };

  void placeInUsers(mlir::Operation *op);
  void placeInUser(mlir::Operation *user, unsigned operand);
  void placePatched(graph::ConcatOp concat);
  void skipUnpacking(graph::TransposeOp transpose);
  bool canBePlaced(mlir::Value value, const Storage &target) const;
  std::optional<Storage> inUser(mlir::Operation *user, unsigned operand) const;
  std::optional<Storage> ofOperand(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Value, Home> homes;
  llvm::DenseSet<mlir::Operation *> skipped;
};

/// Whether the tensor is known at compile time: a constant, or a reshape or
/// relayout of one.
bool isKnown(mlir::Value value);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_PLACEVIEWS_H
