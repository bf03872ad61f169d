//===-- StorageAssignment.h - assigns memory to tensors --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_STORAGEASSIGNMENT_H
#define OPENATC_PASSES_KERNEL_STORAGEASSIGNMENT_H

#include "dialects/graph/ops/ShapeOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/kernel/Storage.h"

namespace atc::kernel {

/// Assigns storage to every tensor of a function, so that data is not copied where a view suffices:
/// operands of a concat and results of the function are computed in place; slices, reshapes and
/// relayouts of the same memory are views of their operand.
class StorageAssignment {
public:
  /// `padsRows`: returns whether the rows of an op's operands and result may be padded.
  /// `joinsBytes`: the channels of bytes that dense convolutions read are stored side by side.
  StorageAssignment(mlir::func::FuncOp function,
                    llvm::function_ref<bool(mlir::Operation *)> padsRows, bool joinsBytes);

  /// Returns the storage of `value`; its `base` has memory of its own.
  Storage storageOf(mlir::Value value) const;

  /// Returns the elements that lie between the rows (the last dim) of a base that is plain. The
  /// rows of a matrix that a register tile reads together would be in few sets of the first cache,
  /// where they are a multiple of half a page apart, and would displace each other.
  int64_t rowPaddingOf(mlir::Value base) const { return padded.contains(base) ? kRowPadding : 0; }

  /// Returns whether a base in blocks is stored pixel by pixel, with all of its channels side by
  /// side: [N][H][W][CB][b].
  bool joinsChannels(mlir::Value base) const { return joined.contains(base); }

  /// Returns the index of the result whose buffer is the memory of `value`, a base.
  std::optional<unsigned> resultOf(mlir::Value value) const;

  /// Returns whether the operand is stored where its user needs it.
  bool isPlaced(mlir::OpOperand &operand) const;

  /// Returns whether the result of `op` is a view of its operand: then there is nothing to run.
  bool isView(mlir::Operation *op) const;

  /// Returns whether the result of `op` has no storage, because the transposition behind it reads
  /// the blocks itself.
  bool isSkipped(mlir::Operation *op) const { return skipped.contains(op); }

private:
  struct Home {
    enum Kind { Own, Result, OfOperand, InUser, AsUser } kind = Own;
    unsigned index = 0;
    mlir::Operation *user = nullptr;
  };

  static constexpr int64_t kRowPadding = 16; ///< one cache line of f32

  void padRows(mlir::Operation *op, llvm::function_ref<bool(mlir::Operation *)> padsRows);
  void placeInUsers(mlir::Operation *op);
  void placeInUser(mlir::Operation *user, unsigned operand);
  void placePatched(graph::ConcatOp concat);
  void skipUnpacking(graph::TransposeOp transpose);
  bool canBePlaced(mlir::Value value, const Storage &target) const;
  std::optional<Storage> inUser(mlir::Operation *user, unsigned operand) const;
  std::optional<Storage> ofOperand(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Value, Home> homes;
  /// The offsets of the operands of each concatenation, computed on first use: there may be
  /// 100,000.
  mutable llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> startsIn;
  llvm::DenseSet<mlir::Operation *> skipped;
  llvm::DenseSet<mlir::Value> padded, joined;
};

/// Returns whether the tensor is known at compile time: a constant, or a reshape or relayout of
/// one.
bool isKnown(mlir::Value value);

/// Returns whether the result of `op` can be a view of operand 0.
bool canBeView(mlir::Operation *op);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_STORAGEASSIGNMENT_H
