//===-- DeepHash.h - hashes of ops with their bodies ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_DEEPHASH_H
#define OPENATC_PASSES_GRAPH_DEEPHASH_H

#include "mlir/IR/Operation.h"

namespace atc::graph {

/// Returns a hash of an op and of all ops inside it, ignoring locations. `hashOutside` returns the
/// hash of each value that comes from outside of `op`. Ops that are equivalent by
/// mlir::OperationEquivalence have equal hashes; its own hash ignores bodies, so that all maps of
/// the same values would collide.
llvm::hash_code deepHash(mlir::Operation *op,
                         llvm::function_ref<llvm::hash_code(mlir::Value)> hashOutside);

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_DEEPHASH_H
