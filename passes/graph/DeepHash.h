//===-- DeepHash.h - hashes of ops with their bodies ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_DEEPHASH_H
#define OPENATC_PASSES_GRAPH_DEEPHASH_H

#include "mlir/IR/Operation.h"

namespace atc::graph {

/// Computes a hash of an op and of all ops inside it, in which locations do not count.
/// `hashOutside` is asked for the hash of each value that comes from outside of `op`. Ops that are
/// equivalent by mlir::OperationEquivalence have equal hashes; its own hash does not look at
/// bodies, so that all maps that read the same values would have one.
llvm::hash_code deepHash(mlir::Operation *op,
                         llvm::function_ref<llvm::hash_code(mlir::Value)> hashOutside);

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_DEEPHASH_H
