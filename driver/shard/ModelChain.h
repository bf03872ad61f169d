//===-- ModelChain.h - a model for the planner ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_SHARD_MODELCHAIN_H
#define OPENATC_DRIVER_SHARD_MODELCHAIN_H

#include "cluster/Planner.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace atc::driver {

/// Returns a model as a chain of at most 128 runs of ops with about equal shares of the work and of
/// the weights. A sample is one of the batch, which is dim 0 of the first input.
cluster::Chain chainOf(mlir::func::FuncOp main);

} // namespace atc::driver

#endif // OPENATC_DRIVER_SHARD_MODELCHAIN_H
