//===-- LinearOps.h - common view of conv, conv_transpose, fully_connected ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_LINEAR_OPS_H
#define OPENATC_PASSES_GRAPH_LINEAR_OPS_H

#include "dialects/graph/ops/ConvOps.h"
#include "mlir/IR/PatternMatch.h"

namespace atc::graph {

/// The common interface of conv, conv_transpose and fully_connected: every result channel is linear
/// in weights that serve this channel alone, plus a bias.
class LinearOp {
public:
  /// Wraps `op`; converts to false when it is none of them (or null).
  explicit LinearOp(mlir::Operation *op);
  static LinearOp definedBy(mlir::Value value) { return LinearOp(value.getDefiningOp()); }
  explicit operator bool() const { return op; }
  mlir::Operation *operator->() const { return op; }

  mlir::Operation *getOperation() const { return op; }
  /// Returns the type of the result.
  mlir::RankedTensorType getType() const;
  /// Returns the weights.
  mlir::Value getFilter() const { return op->getOperand(1); }
  /// Returns the bias, one value per output channel; null where there is none.
  mlir::Value getBias() const;
  /// Returns the operand of the bias, to assign it; empty where there is none.
  mlir::MutableOperandRange getBiasMutable() const;
  /// Returns the result dim that counts the channels: 1, or the last one for fully_connected.
  int64_t getChannelDim() const;
  int64_t getNumChannels() const { return getType().getDimSize(getChannelDim()); }

  /// Returns the activation that follows the contraction; null when there is none.
  ActivationAttr getActivation() const;
  bool hasResidual() const;
  /// Returns true when nothing is fused behind the bias.
  bool isBare() const { return !getActivation() && !hasResidual(); }

private:
  mlir::Operation *op = nullptr;
};

/// The function scale * x + shift with one value of each per channel.
struct ChannelAffine {
  llvm::SmallVector<double> scale, shift;
};

/// Returns the function that a batch_norm with constant parameters computes; nothing for others.
std::optional<ChannelAffine> getBatchNormAffine(BatchNormOp op);
/// Returns the function for the parameters of a normalization, wherever they come from.
std::optional<ChannelAffine> getBatchNormAffine(mlir::Value scale, mlir::Value shift,
                                                mlir::Value mean, mlir::Value variance,
                                                double epsilon);

/// Sets weights and bias of `linear` to those of scale * result + shift (one value per channel; an
/// empty scale is 1, an empty shift 0). Fails, without a change, when weights or bias that must
/// change are not constant, or a factor is not finite.
llvm::LogicalResult applyAffine(mlir::OpBuilder &builder, LinearOp linear,
                                llvm::ArrayRef<double> scale, llvm::ArrayRef<double> shift);

/// Replaces `user`, which must be scale * result + shift of the bare `linear` op (one value per
/// channel; an empty scale is 1, an empty shift 0), by that op with other weights and bias. Fails
/// when weights or bias that must change are not constant, the result has other users, or a factor
/// is not finite.
llvm::LogicalResult foldAffine(mlir::PatternRewriter &rewriter, LinearOp linear,
                               mlir::Operation *user, llvm::ArrayRef<double> scale,
                               llvm::ArrayRef<double> shift);

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_LINEAR_OPS_H
