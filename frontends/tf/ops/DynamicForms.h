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

/// `fill` (rank 0) in the shape of `like`.
mlir::Value filledLike(NodeContext &n, mlir::Value like, double fill);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_OPS_DYNAMICFORMS_H
