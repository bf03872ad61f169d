//===-- LinearOps.h - conv, conv_transpose, fully_connected as one --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_LINEAR_OPS_H
#define OPENATC_PASSES_GRAPH_LINEAR_OPS_H

#include "dialects/graph/Graph.h"
#include "mlir/IR/PatternMatch.h"

namespace atc::graph {

/// What conv, conv_transpose and fully_connected have in common: every result
/// channel is linear in weights that serve this channel alone, plus a bias.
class LinearOp {
public:
  /// Null when `op` is none of them (or null).
  explicit LinearOp(mlir::Operation *op);
  static LinearOp definedBy(mlir::Value value) { return LinearOp(value.getDefiningOp()); }
  explicit operator bool() const { return op; }
  mlir::Operation *operator->() const { return op; }

  mlir::Operation *getOperation() const { return op; }
  mlir::RankedTensorType getType() const;
  mlir::Value getFilter() const { return op->getOperand(1); }
  mlir::Value getBias() const;
  mlir::MutableOperandRange getBiasMutable() const;
  /// The result dim that counts the channels: 1, or the last of fully_connected.
  int64_t getChannelDim() const;
  int64_t getNumChannels() const { return getType().getDimSize(getChannelDim()); }

  /// The activation that follows the sum; null when there is none.
  ActivationAttr getActivation() const;
  bool hasResidual() const;
  /// True when nothing is fused behind the bias.
  bool isBare() const { return !getActivation() && !hasResidual(); }

private:
  mlir::Operation *op = nullptr;
};

/// scale * x + shift, one value of each a channel.
struct ChannelAffine {
  llvm::SmallVector<double> scale, shift;
};

/// What a batch_norm with constant parameters computes.
std::optional<ChannelAffine> getBatchNormAffine(BatchNormOp op);
/// The same of its numbers, wherever they come from.
std::optional<ChannelAffine> getBatchNormAffine(mlir::Value scale, mlir::Value shift,
                                                mlir::Value mean, mlir::Value variance,
                                                double epsilon);

/// Replaces `user`, which must be scale * result + shift of the bare `linear` op
/// (one value a channel; an empty scale is 1, an empty shift 0), by that op with
/// other weights and bias. Fails when weights or bias that must change are not
/// constant, the result has other users, or a factor is not finite.
llvm::LogicalResult foldAffine(mlir::PatternRewriter &rewriter, LinearOp linear,
                               mlir::Operation *user, llvm::ArrayRef<double> scale,
                               llvm::ArrayRef<double> shift);

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_LINEAR_OPS_H
