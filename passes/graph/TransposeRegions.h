//===-- TransposeRegions.h - computing a region in permuted form ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_TRANSPOSE_REGIONS_H
#define OPENATC_PASSES_GRAPH_TRANSPOSE_REGIONS_H

#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace atc::graph {

/// True when only dims of size 1 change their order among the others.
bool movesOnlyUnitDims(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> permutation);

/// The shape with leading dims of size 1 up to `rank`.
llvm::SmallVector<int64_t> extendShape(llvm::ArrayRef<int64_t> shape, size_t rank);

/// Ops that compute the same on permuted operands when their attributes are
/// permuted too.
bool isPermutable(mlir::Operation *op);

/// Permutes the attributes that name dims.
void permuteAttributes(mlir::Operation *op, llvm::ArrayRef<int64_t> permutation);

/// Looks for regions of permutable ops between transposes that move fewer
/// elements when the whole region is computed in permuted form, and computes them
/// so. Sees what moving one transpose over one op at a time does not: values that
/// have several readers, such as x * clip(x + 3). True when something changed. `visits` is how
/// many ops may be looked at; it becomes less by those that were, and at 0 nothing is found.
bool permuteRegions(mlir::func::FuncOp function, int64_t &visits);

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_TRANSPOSE_REGIONS_H
