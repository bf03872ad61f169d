//===-- OpCosts.h - what ops of a graph cost --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_SHARD_OPCOSTS_H
#define OPENATC_PASSES_SHARD_OPCOSTS_H

#include "dialects/graph/GraphDialect.h"

namespace atc::shard {

/// Returns the bytes of a tensor; 0 where they are not known.
uint64_t bytesOf(mlir::Type type);

/// Returns the work of an op: multiply-accumulates of products and convolutions, elements of
/// others.
uint64_t workOf(mlir::Operation &op);

} // namespace atc::shard

#endif // OPENATC_PASSES_SHARD_OPCOSTS_H
