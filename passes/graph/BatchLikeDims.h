//===-- BatchLikeDims.h - dims along which nothing is mixed ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dim of the inputs is batch-like when every element of every result is computed from
// elements of one position of that dim alone: a run on fewer positions then is a run on more
// of them, padded with anything, of whose results the rest is left out. followDim proves
// this for a graph of static shapes, op by op; what it has no rule for is refused. That
// nothing else depends on the dim's size (a constant that the importer has made of a shape,
// say) no single graph can tell: haveEqualMeaning compares two of different sizes.

#ifndef OPENATC_PASSES_GRAPH_BATCHLIKEDIMS_H
#define OPENATC_PASSES_GRAPH_BATCHLIKEDIMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <string>

namespace atc::graph {

/// The location of a followed dim in a tensor: the element at index i of dim `dim` belongs to index
/// i / inner of the followed dim.
struct FollowedDim {
  int64_t dim = 0;
  int64_t inner = 1;
  bool operator==(const FollowedDim &) const = default;
};

/// The followed dim in each value that has it.
using FollowedDims = llvm::DenseMap<mlir::Value, FollowedDim>;

/// Follows dims of the arguments of `main` (at most one per argument, all of `size` elements,
/// more than one) to its results. On success every result that depends on them has the dim
/// with an `inner` of 1. Otherwise returns nothing, and `reason` names the node that mixes
/// positions or has no rule.
std::optional<FollowedDims> followDim(mlir::func::FuncOp main,
                                      llvm::ArrayRef<std::pair<unsigned, int64_t>> arguments,
                                      int64_t size, std::string &reason);

/// Proves that two graphs of one model, imported with different sizes of the dims that were
/// followed in each, compute the same but for these sizes: the same ops with equal attributes
/// and constants. `left` and `right` have the dims of all values that were followed. Otherwise
/// returns false, and `reason` names the node that differs.
bool haveEqualMeaning(mlir::func::FuncOp leftMain, llvm::ArrayRef<FollowedDims> left,
                      mlir::func::FuncOp rightMain, llvm::ArrayRef<FollowedDims> right,
                      std::string &reason);

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_BATCHLIKEDIMS_H
