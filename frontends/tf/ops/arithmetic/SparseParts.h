//===-- SparseParts.h - positions of sparse tensors --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_OPS_ARITHMETIC_SPARSEPARTS_H
#define OPENATC_FRONTENDS_TF_OPS_ARITHMETIC_SPARSEPARTS_H

#include "frontends/tf/ops/arithmetic/TensorMath.h"

namespace atc::tf_import {

/// Sets an output and states its rank, which does not follow from shapes where the number of
/// elements depends on the data.
void setRanked(NodeContext &n, unsigned index, mlir::Value value, int64_t rank);

/// For each dim of a shape the elements that a step along it passes over.
mlir::Value stepsOf(TensorMath &m, mlir::Value shape);

/// The number [n] of each position [n, rank] when the elements of the shape are counted.
mlir::Value numbersOf(TensorMath &m, mlir::Value positions, mlir::Value shape);

/// The positions [n, rank] of elements [n, 1] that are counted.
mlir::Value indicesOf(TensorMath &m, mlir::Value numbers, mlir::Value shape);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_OPS_ARITHMETIC_SPARSEPARTS_H
