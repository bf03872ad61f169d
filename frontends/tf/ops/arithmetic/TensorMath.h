//===-- TensorMath.h - operators as arithmetic on tensors of any shape ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_OPS_ARITHMETIC_TENSORMATH_H
#define OPENATC_FRONTENDS_TF_OPS_ARITHMETIC_TENSORMATH_H

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/tf/ops/DynamicForms.h"

namespace atc::tf_import {

/// Writes what an operator computes as arithmetic on whole tensors, whose dims may be known only
/// when the model runs. Indices and dims are 64-bit integers. Results are null after an error.
class TensorMath {
public:
  explicit TensorMath(NodeContext &n) : n(n) {}

  //--- Constants of rank 0.
  mlir::Value real(double value) { return n.scalar(value, n.builder().getF32Type()); }
  mlir::Value index(int64_t value) {
    return n.scalar(static_cast<double>(value), n.builder().getI64Type());
  }

  //--- Types.
  mlir::Value toReal(mlir::Value value) { return n.cast(value, n.builder().getF32Type()); }
  mlir::Value toIndex(mlir::Value value) { return n.cast(value, n.builder().getI64Type()); }

  //--- Shapes.
  /// Returns the size of an axis, of rank 0.
  mlir::Value dim(mlir::Value value, int64_t axis);
  /// Returns sizes, each of rank 0, as a vector.
  mlir::Value shapeOf(llvm::ArrayRef<mlir::Value> sizes);
  /// Returns dims [first, last) of a tensor as a vector.
  mlir::Value dims(mlir::Value value, int64_t first, int64_t last);
  mlir::Value reshape(mlir::Value value, mlir::Value shape);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value unsqueeze(mlir::Value value, llvm::ArrayRef<int64_t> axes);
  mlir::Value squeeze(mlir::Value value, llvm::ArrayRef<int64_t> axes);
  /// Returns element `number` of a vector, of rank 0.
  mlir::Value element(mlir::Value vector, int64_t number);

  //--- Movement.
  /// Returns 0, 1, ... below `limit`, of rank 0.
  mlir::Value count(mlir::Value limit);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> parts, int64_t axis);
  mlir::Value slice(mlir::Value value, int64_t first, int64_t last, int64_t axis);
  mlir::Value gather(mlir::Value value, mlir::Value indices, int64_t axis);
  /// Returns elements [0, count) of axis 0.
  mlir::Value firstOf(mlir::Value value, mlir::Value count);
  /// Returns column `number` of a matrix as a vector.
  mlir::Value column(mlir::Value matrix, int64_t number) {
    return squeeze(slice(matrix, number, number + 1, 1), {1});
  }
  mlir::Value expand(mlir::Value value, mlir::Value shape);

  //--- Arithmetic, with broadcasting.
  mlir::Value add(mlir::Value a, mlir::Value b) { return n.add(a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return n.sub(a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return n.mul(a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return n.div(a, b); }
  mlir::Value max(mlir::Value a, mlir::Value b) { return n.create<graph::MaxOp>(a, b); }
  mlir::Value min(mlir::Value a, mlir::Value b) { return n.create<graph::MinOp>(a, b); }
  mlir::Value abs(mlir::Value a) { return n.create<graph::AbsOp>(a); }
  mlir::Value floor(mlir::Value a) { return n.create<graph::FloorOp>(a); }
  mlir::Value ceil(mlir::Value a) { return n.create<graph::CeilOp>(a); }
  mlir::Value clamp(mlir::Value a, mlir::Value low, mlir::Value high) {
    return min(max(a, low), high);
  }
  mlir::Value less(mlir::Value a, mlir::Value b) {
    return n.compare(a, b, graph::ComparePredicate::Lt);
  }
  mlir::Value greater(mlir::Value a, mlir::Value b) {
    return n.compare(a, b, graph::ComparePredicate::Gt);
  }
  mlir::Value equal(mlir::Value a, mlir::Value b) {
    return n.compare(a, b, graph::ComparePredicate::Eq);
  }
  mlir::Value both(mlir::Value a, mlir::Value b) { return n.create<graph::AndOp>(a, b); }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return n.create<graph::WhereOp>(condition, a, b);
  }
  /// Returns the sum along an axis, which stays with size 1.
  mlir::Value sum(mlir::Value value, int64_t axis);
  /// Returns the product of the elements of a vector, of rank 0.
  mlir::Value product(mlir::Value vector);
  /// Returns the largest one of a vector of sizes of i64, of rank 0; 0 where there are none.
  mlir::Value largestSize(mlir::Value sizes);

  //--- Conditions.
  /// Returns `value`, whose run fails with `message` unless all elements of `condition` hold.
  mlir::Value required(mlir::Value value, mlir::Value condition, llvm::StringRef message);

  //--- Selection.
  /// Returns the indices [n] of the elements of a vector that hold.
  mlir::Value indicesWhere(mlir::Value condition);
  /// Returns the positions [n, rank] of the elements that hold.
  mlir::Value positionsWhere(mlir::Value condition);

  NodeContext &n;
};

/// Sums the rows [n, width] of the same id into [segments, width]; rows with ids that are negative
/// count nowhere.
mlir::Value sumOfRows(TensorMath &m, mlir::Value rows, mlir::Value ids, mlir::Value segments);

/// Returns for each value of a ragged tensor the number of its row, which begins at splits[row].
mlir::Value rowsOfSplits(TensorMath &m, mlir::Value splits);

/// Transposes by a permutation that is known only when the model runs: gathers each element of the
/// result from the elements of the input, whose rank is known and not 0, in one row.
void transposeByValue(NodeContext &n, mlir::Value input, mlir::Value permutation);

/// Imports ListDiff of elements that are known only when the model runs.
void importDifference(NodeContext &n);

/// Imports LRN, Dilation2D and ExtractImagePatches for images of any size.
void importDynamicLrn(NodeContext &n);
void importDynamicDilation(NodeContext &n);
void importDynamicPatches(NodeContext &n);

/// Imports resizing where height, width or the new size are known only when the model runs.
void importCubicOfAnySize(NodeContext &n);
void importAreaOfAnySize(NodeContext &n);

/// Imports ImageProjectiveTransformV2 and V3.
void importProjection(NodeContext &n);

/// Imports DenseBincount where the number of counts is known only when the model runs.
void importBincountOfAnySize(NodeContext &n);

/// Imports RaggedBincount: counts per row of a ragged tensor, whose rows input 0 divides.
void importRaggedBincount(NodeContext &n);

/// Imports SparseSegmentSum, SparseSegmentMean and SparseSegmentSqrtN: combines rows of input 0
/// that input 1 picks. Input 3, where there is one, is the number of segments.
void importPickedSegments(NodeContext &n);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_OPS_ARITHMETIC_TENSORMATH_H
