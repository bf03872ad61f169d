//===-- ConstantUtils.h - constants for passes ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_CONSTANT_UTILS_H
#define OPENATC_PASSES_GRAPH_CONSTANT_UTILS_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/QuantTypes.h"
#include "mlir/IR/Builders.h"

namespace atc::graph {

/// Returns the value of the graph.constant that defines `value`, or null.
mlir::ElementsAttr getConstant(mlir::Value value);

/// Returns the constant integers that `value` is made of by dequantize alone, and their parameters;
/// null integers where it is something else.
std::pair<mlir::ElementsAttr, QuantParams> getQuantizedConstant(mlir::Value value);

/// Returns the value that all elements of a numeric constant have; nothing where they differ.
std::optional<double> getScalarConstant(mlir::Value value);

/// Returns the elements of a floating-point constant. Meant for vectors of one value per channel,
/// not for weights.
std::optional<llvm::SmallVector<double>> getVectorConstant(mlir::Value value);

/// Returns one value per channel when `value` is a floating-point constant that, broadcast to
/// `type`, varies along `channelDim` only.
std::optional<llvm::SmallVector<double>>
getChannelConstant(mlir::Value value, mlir::RankedTensorType type, int64_t channelDim);

/// Creates a graph.constant with the given elements, rounded to the element type.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::RankedTensorType type, llvm::ArrayRef<double> values);

/// Returns the constant whose row i is row i of `source` times rowScales[i]; the leading dims
/// together are the rows; null where its data cannot be read. Floating-point only.
mlir::ElementsAttr scaleRows(mlir::ElementsAttr source, llvm::ArrayRef<double> rowScales);

/// Returns `source` with its dims permuted (result dim i is dim permutation[i]), or null where its
/// data cannot be read. With `later`, a large constant is deferred (DerivedConstants.h) by the
/// recipe "transpose" with the permutation; it must not be printed.
mlir::ElementsAttr transposeConstant(mlir::ElementsAttr source, llvm::ArrayRef<int64_t> permutation,
                                     bool later = false);

/// A box of elements to copy: element x of `sizes` is at the offset plus the sum of x[d] *
/// strides[d].
struct ElementCopy {
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<int64_t> sourceStrides;
  int64_t sourceOffset = 0;
  llvm::SmallVector<int64_t> targetStrides;
  int64_t targetOffset = 0;
};

/// Returns a constant of `type` that is zero except for the copies from `source`; null when the
/// data of `source` cannot be read.
mlir::ElementsAttr scatterElements(mlir::ElementsAttr source, mlir::RankedTensorType type,
                                   llvm::ArrayRef<ElementCopy> copies);

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_CONSTANT_UTILS_H
