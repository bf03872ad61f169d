//===-- FoldChains.h - folding chains of one op ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_FOLDCHAINS_H
#define OPENATC_DIALECTS_GRAPH_FOLDCHAINS_H

#include "mlir/IR/OpDefinition.h"

namespace atc::graph {

/// Folds an op whose result type alone says what it does: of a chain only the last
/// one matters, and one that changes nothing is its input.
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
