//===-- Int8Contractions.h - integer contractions on the cube ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SELECT_INT8CONTRACTIONS_H
#define OPENATC_PASSES_NPU_SELECT_INT8CONTRACTIONS_H

#include "dialects/graph/ops/QuantOps.h"
#include "passes/kernel/LowerGraph.h"
#include "passes/npu/contraction/PackNpuWeights.h"
#include "passes/npu/program/ProgramWriter.h"

namespace atc::npu {

/// The processing of accumulators: they are scaled, rounded and stored when they leave l0c, and may
/// be read again by `rest`, which is vector code.
struct SumEpilogue {
  Requantization first;
  std::optional<unsigned> scales; ///< index in the op's inputs; none: `scale`
  double scale = 1;
  std::optional<unsigned> residual; ///< index in the op's inputs
  /// The code (f32, i8 if there is a residual) -> i8; null: the stored value is the result.
  std::unique_ptr<mlir::Block> rest;
};

/// Where the body of an integer contraction has the accumulators as scaled real numbers.
struct ScaledSums {
  std::optional<unsigned> scales; ///< index in the op's inputs; none: `scale`
  double scale = 1;
  mlir::Value value; ///< the accumulator times its scale, in the body
};

/// Returns where a body scales the accumulators by constants; nothing if it does not begin so.
std::optional<ScaledSums> scaledSumsOf(mlir::Operation *op);

/// Replaces an integer contraction by one of f32, which npu-precision narrows to f16, of the stored
/// integers and of weights times the scales, and a map of the rest of its body. Returns whether
/// that is possible.
bool contractInHalves(mlir::Operation *op, llvm::StringRef why);

/// Why contractInHalves has made a contraction of f32.
constexpr llvm::StringLiteral kInHalvesAttr = "npu.in_halves";

/// Returns the processing in the body of an integer convolution or product; nothing where the
/// instructions do not support it.
std::optional<SumEpilogue> sumEpilogueOf(mlir::Operation *op);

/// Returns why sumEpilogueOf has no result for an integer contraction.
llvm::StringRef whyNoSums(mlir::Operation *op);

constexpr llvm::StringLiteral kGroupsDoNotSuit =
    "its groups share blocks of 32 channels, for which the cube would take more than twice the "
    "steps of f16";

/// Returns whether bytes suit the groups of a convolution. Blocks hold zeros where groups do not
/// meet: those of 32 bytes may take the cube up to twice the steps that blocks of 16 halves take,
/// because their results leave it without work of the vector unit. Few channels are always worth
/// it.
bool suitsBytes(ChannelGroups channels);

/// Returns the channels of a convolution in blocks of bytes.
ChannelGroups byteChannelsOf(graph::IntegerConvOp op);

/// Returns whether the accumulators of a convolution with few channels are small enough to be exact
/// in f32.
bool sumsAreExactInFloats(graph::IntegerConvOp op);

/// Lowers an integer contraction that the cube computes.
mlir::LogicalResult lowerCubeSums(kernel::GraphLowering &lowering, mlir::Operation *op);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SELECT_INT8CONTRACTIONS_H
