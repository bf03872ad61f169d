//===-- HalfRange.h - numbers beyond the range of f16 -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SELECT_HALFRANGE_H
#define OPENATC_PASSES_NPU_SELECT_HALFRANGE_H

#include "dialects/graph/ops/StructureOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace atc::npu {

/// From here on f16 rounds scores that are added to a number.
inline constexpr double kFarFromZero = 2048;

/// Returns whether sums, products or choices make `value` of a finite constant whose absolute value
/// is above `min` and at most `max`.
bool isMadeOfNumber(mlir::Value value, double min, double max);

/// Calls `visit` with each mask that is added in front of a softmax, behind reshapes, and the ops
/// from the softmax back to the addition.
void forEachMask(
    mlir::func::FuncOp function,
    llvm::function_ref<void(mlir::Value mask, llvm::ArrayRef<mlir::Operation *> ops)> visit);

/// Returns how many finite elements of a constant f16 does not hold.
int64_t countTooLarge(graph::ConstantOp constant);

/// Returns `value` (f32), in front of a conversion to f16, such that what masks make is finite
/// there, too: a softmax of a row in which all is masked would be NaN.
mlir::Value keepFinite(mlir::OpBuilder &builder, mlir::Value value);

/// Returns the masks that are added in front of a softmax, behind reshapes: inputs, constants and
/// results of maps that may have finite numbers beyond f16.
llvm::SetVector<mlir::Value> findMasks(mlir::func::FuncOp function);

/// Returns the softmaxes, with the ops from the sums of scores and masks on, whose masks are
/// constants that mask all of a row by finite numbers. What such a row is depends on the type:
/// -1e9 in f32 hides the scores.
llvm::DenseSet<mlir::Operation *> findSoftmaxesOfMaskedRows(mlir::func::FuncOp function);

/// A mask whose rows that hide all keys are centred.
struct CentredMask {
  mlir::Value result;                   ///< what softmaxes read now
  llvm::SmallVector<mlir::Value> exact; ///< what it is computed of, up to the mask: f32
};

/// Centres masks that the model reads or computes: the largest number of a row is taken off the row
/// where it hides scores in f16, which rounds them, and keeps them in f32 (such as -1e4). A softmax
/// is the same then. Rows whose largest number hides scores in f32 too (such as -1e9) stay.
llvm::SmallVector<CentredMask> centreMasks(mlir::func::FuncOp function);

/// Returns `value` (f32), a number of a mask, such that its sum with a score is finite in f16, too:
/// not below -49152, which hides as much. What is infinite stays so, as models replace the NaN
/// that a softmax makes of a row in which all is masked.
mlir::Value clampMask(mlir::OpBuilder &builder, mlir::Value value);
mlir::ElementsAttr clampMask(graph::ConstantOp constant);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SELECT_HALFRANGE_H
