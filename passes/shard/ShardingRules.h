//===-- ShardingRules.h - which shares of tensors ops can be computed on --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_SHARD_SHARDINGRULES_H
#define OPENATC_PASSES_SHARD_SHARDINGRULES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace atc::shard {

/// The dim (i64) along which a constant, an argument or the result of an op is divided in equal
/// shares, one per rank. Without it each rank has the whole tensor.
inline constexpr llvm::StringLiteral kDimAttr = "shard.dim";
/// Marks a product (unit attribute) whose results have to be added up over the ranks.
inline constexpr llvm::StringLiteral kPartialAttr = "shard.partial";

/// The dim of a tensor that every rank has as a whole.
inline constexpr int64_t kWhole = -1;

/// The division of one op over ranks.
struct OpSharding {
  llvm::SmallVector<int64_t> operands; ///< the dim that each operand is divided along, or kWhole
  int64_t result = kWhole;
  bool partial = false; ///< the results of the ranks have to be added up
};

/// Returns how `op` is computed best on `count` ranks where its operands are divided along `given`.
/// Where it cannot be computed in shares, all of its operands are whole.
OpSharding findSharding(mlir::Operation *op, llvm::ArrayRef<int64_t> given, int64_t count);

/// Returns the dim that the attribute of a value's op or argument states, or kWhole.
int64_t dimOf(mlir::Value value);
/// Sets that attribute; kWhole removes it.
void setDim(mlir::Value value, int64_t dim);

/// Returns the dims of the operands of `op`, as dimOf.
llvm::SmallVector<int64_t> dimsOfOperands(mlir::Operation *op);

/// Returns whether dim `dim` of a tensor of static shape can be divided among `count` ranks.
bool canDivide(mlir::Value value, int64_t dim, int64_t count);

/// Sets the attributes of the result of `op` by findSharding, and removes those of operands that it
/// needs as a whole. Returns whether it is computed in shares.
bool propagate(mlir::Operation *op, int64_t count);

} // namespace atc::shard

#endif // OPENATC_PASSES_SHARD_SHARDINGRULES_H
