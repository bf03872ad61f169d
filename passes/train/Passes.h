//===-- Passes.h - passes that make training steps ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_TRAIN_PASSES_H
#define OPENATC_PASSES_TRAIN_PASSES_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace atc::train {

#define GEN_PASS_DECL
#include "passes/train/Passes.h.inc"

/// Unit attribute of the arguments that are trained.
inline constexpr llvm::StringLiteral kParameterAttr = "train.parameter";
/// Attribute of a parameter whose elements ranks share: its shape, as a dense i64 array. The
/// argument is a vector with this rank's elements, in row-major order, the last ones padded with
/// zeros.
inline constexpr llvm::StringLiteral kShardedAttr = "train.sharded";
/// Attribute of an argument that the model itself updates, as the running mean of a batch norm: the
/// name of the result with its next value.
inline constexpr llvm::StringLiteral kStatisticAttr = "train.statistic";
/// Attribute of the module: an array of [name of the argument, name of the result] per state.
inline constexpr llvm::StringLiteral kStatesAttr = "train.states";
/// The name of the argument with the learning rate, an f32 tensor of rank 0.
inline constexpr llvm::StringLiteral kLearningRate = "learning_rate";
/// The names of the arguments with the loss scale and the number of updates so far.
inline constexpr llvm::StringLiteral kLossScale = "train.loss_scale";
inline constexpr llvm::StringLiteral kStepCount = "train.step";
/// The name of the state behind dropouts: seed, rank and number of runs so far, f32 integers.
inline constexpr llvm::StringLiteral kRandom = "train.random";

/// Registers the passes by name.
void registerTrainPasses();

} // namespace atc::train

#endif // OPENATC_PASSES_TRAIN_PASSES_H
