//===-- TransposeRegions.h - computes regions in permuted form ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_TRANSPOSE_REGIONS_H
#define OPENATC_PASSES_GRAPH_TRANSPOSE_REGIONS_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace atc::graph {

/// Returns true when only dims of size 1 change their order among the others.
bool movesOnlyUnitDims(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> permutation);

/// Returns the shape with leading dims of size 1 up to `rank`.
llvm::SmallVector<int64_t> extendShape(llvm::ArrayRef<int64_t> shape, size_t rank);

/// Returns whether an op computes the same on permuted operands when its attributes are permuted
/// too.
bool isPermutable(mlir::Operation *op);

/// Permutes the attributes that refer to dims.
void permuteAttributes(mlir::Operation *op, llvm::ArrayRef<int64_t> permutation);

/// Finds regions of permutable ops between transposes that move fewer elements when the whole
/// region is computed in permuted form, and rewrites them so. Also handles values that have several
/// readers, such as x * clip(x + 3), which moving one transpose over one op at a time does not.
/// Returns true when something changed. `visits` is the number of ops that may still be visited; it
/// is decremented, and at 0 nothing is found.
bool permuteRegions(mlir::func::FuncOp function, int64_t &visits);

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_TRANSPOSE_REGIONS_H
