//===-- DynamicForms.h - parts of operators on dynamic shapes -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_OPS_DYNAMICFORMS_H
#define OPENATC_FRONTENDS_TF_OPS_DYNAMICFORMS_H

#include "frontends/tf/NodeContext.h"

namespace atc::tf_import {

/// The dims of `value` as a vector of 64-bit integers.
mlir::Value shapeVector(NodeContext &n, mlir::Value value);

/// Takes the axis, a constant, out of the inputs of Concat (first) or ConcatV2 (last).
int64_t takeConcatAxis(NodeContext &n, llvm::SmallVectorImpl<mlir::Value> &inputs);

/// Integers as a vector of 64-bit ones, whatever their rank and type.
mlir::Value indexVector(NodeContext &n, mlir::Value value);

/// `value` with the rank that an operator on images of this rank states.
mlir::Value withRank(NodeContext &n, unsigned index, int64_t rank);

/// Narrows the type of `value`, the result of a host call: its dims from `first` on are those of
/// `dims` where these are known. Returns `value`; null where that is null.
mlir::Value withKnownDims(NodeContext &n, mlir::Value value, llvm::ArrayRef<int64_t> dims,
                          int64_t first);

/// Returns `value` gathered from `axis` at `indices`, with the dims that the two have.
mlir::Value gatherRows(NodeContext &n, mlir::Value value, mlir::Value indices, int64_t axis);

/// Returns the elements of `vector`, a shape that was put together by Pack or Concat, as far as
/// they are known, others as dynamic; empty where the number of elements is not known.
llvm::SmallVector<int64_t> knownElements(mlir::Value vector);

/// Returns the axes that Reverse (a bool for each) or ReverseV2 states.
llvm::SmallVector<int64_t> reversedAxes(NodeContext &n);

/// Imports DenseBincount: counts numbers below a size, per row of a matrix. The number of rows may
/// be dynamic.
void importDenseBincount(NodeContext &n);

/// `fill` (rank 0) in the shape of `like`.
mlir::Value filledLike(NodeContext &n, mlir::Value like, double fill);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_OPS_DYNAMICFORMS_H
