//===-- ConstantUtils.h - constants as the passes see them ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_CONSTANT_UTILS_H
#define OPENATC_PASSES_GRAPH_CONSTANT_UTILS_H

#include "dialects/graph/Graph.h"
#include "mlir/IR/Builders.h"

namespace atc::graph {

/// The value of the graph.constant that defines `value`, or null.
mlir::ElementsAttr getConstant(mlir::Value value);

/// The one value that all elements of a numeric constant have.
std::optional<double> getScalarConstant(mlir::Value value);

/// The elements of a floating point constant. Meant for vectors of one value a
/// channel, not for weights.
std::optional<llvm::SmallVector<double>> getVectorConstant(mlir::Value value);

/// The value of each channel when `value` is a floating point constant that,
/// broadcast to `type`, differs along `channelDim` only.
std::optional<llvm::SmallVector<double>>
getChannelConstant(mlir::Value value, mlir::RankedTensorType type, int64_t channelDim);

/// A graph.constant with the given elements, rounded to the element type.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::RankedTensorType type, llvm::ArrayRef<double> values);

/// The constant whose row i is row i of `source` times rowScales[i]; the first
/// dims together are the rows. Floating point only.
mlir::ElementsAttr scaleRows(mlir::ElementsAttr source, llvm::ArrayRef<double> rowScales);

/// `source` with its dims permuted (result dim i is dim permutation[i]), or null.
mlir::ElementsAttr transposeConstant(mlir::ElementsAttr source,
                                     llvm::ArrayRef<int64_t> permutation);

/// A box of elements to copy: element x of `sizes` lies at the offset plus the sum
/// of x[d] * strides[d].
struct ElementCopy {
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<int64_t> sourceStrides;
  int64_t sourceOffset = 0;
  llvm::SmallVector<int64_t> targetStrides;
  int64_t targetOffset = 0;
};

/// A constant of `type`, zero but for the copies from `source`; null when the
/// data of `source` cannot be read.
mlir::ElementsAttr scatterElements(mlir::ElementsAttr source, mlir::RankedTensorType type,
                                   llvm::ArrayRef<ElementCopy> copies);

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_CONSTANT_UTILS_H
