//===-- Branches.h - what only a branch needs moves into it ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_BRANCHES_H
#define OPENATC_FRONTENDS_TF_BRANCHES_H

#include "mlir/IR/Block.h"

namespace atc::tf_import {

/// Joins the graph.if ops of `block`, and of the blocks inside it, that have one condition,
/// and moves into their branches the ops that nothing else reads: what is not taken is then
/// not computed.
void fillBranches(mlir::Block &block);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_BRANCHES_H
