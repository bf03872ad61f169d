//===-- FoldChains.h - folds chains of one op -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_FOLDCHAINS_H
#define OPENATC_DIALECTS_GRAPH_FOLDCHAINS_H

#include "mlir/IR/OpDefinition.h"

namespace atc::graph {

/// Folds an op that is fully described by its result type: only the last op of a chain matters, and
/// an op that changes nothing is its input.
template <typename OpT> mlir::OpFoldResult foldChain(OpT op) {
  if (op.getInput().getType() == op.getType())
    return op.getInput();
  auto inner = op.getInput().template getDefiningOp<OpT>();
  if (!inner)
    return {};
  if (inner.getInput().getType() == op.getType())
    return inner.getInput();
  op.getInputMutable().assign(inner.getInput());
  return op.getResult();
}

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_FOLDCHAINS_H
