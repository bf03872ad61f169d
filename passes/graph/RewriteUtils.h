//===-- RewriteUtils.h - small helpers of the graph passes ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_REWRITE_UTILS_H
#define OPENATC_PASSES_GRAPH_REWRITE_UTILS_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace atc::graph {

/// Returns a location for a value that exists only because of a rewrite: the name of the source
/// tensor with a suffix. The name itself stays with the one value that equals the source tensor.
mlir::Location derivedLoc(mlir::Location loc, llvm::StringRef suffix);

/// Returns the type of a ranked tensor.
inline mlir::RankedTensorType getTensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Rewrites everything inside `op` until no pattern applies, however deep a chain of rewrites is.
/// Where patterns undo each other for ever, it stops after a number of rounds that depends on the
/// size of the graph; what was rewritten until then is right as well.
void rewriteToFixpoint(mlir::Operation *op, const mlir::FrozenRewritePatternSet &patterns);

/// A pattern that counts its rewrites in a statistic of its pass.
template <typename OpTy> struct CountingPattern : mlir::OpRewritePattern<OpTy> {
  CountingPattern(mlir::MLIRContext *context, mlir::Pass::Statistic &count,
                  mlir::PatternBenefit benefit = 1)
      : mlir::OpRewritePattern<OpTy>(context, benefit), count(count) {}
  mlir::Pass::Statistic &count;
};

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_REWRITE_UTILS_H
