//===-- LayoutRules.h - the layouts that operators support ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_LAYOUTRULES_H
#define OPENATC_PASSES_KERNEL_LAYOUTRULES_H

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "passes/kernel/Layouts.h"

namespace atc::kernel {

/// The layouts that an operator can produce, and the bytes that each choice moves in addition to
/// the minimum.
struct LayoutRule {
  enum Choice { Plain, Blocked, Either } choice = Plain;
  int64_t plainCost = 0, blockedCost = 0;
};
/// Returns the rule of an operator for blocks of `block` channels.
LayoutRule layoutRuleOf(mlir::Operation *op, int64_t block);

/// The layout that an operand must have.
enum class Wish {
  Any,      ///< plain or blocked
  Plain,    ///< plain
  Blocked,  ///< in blocks
  AsResult, ///< as the result is stored
  Broadcast ///< one channel for all of the result: plain, or blocks of one channel
};
/// Returns the required layout of an operand.
Wish wishOf(mlir::OpOperand &operand);

/// Returns whether `op` computes element by element: graph.map or an elementwise op.
bool isElementwise(mlir::Operation *op);

/// Returns whether `op` is a contraction of f16. The CPU has no kernels for these: they are the
/// NPU's, which pads images while it reads them and takes matrices with any row stride.
bool isCubeContraction(mlir::Operation *op);

/// Marks integer contractions that run on the NPU, which stores bytes in blocks of `kCubeByteBlock`
/// channels and pads while it reads: "image" if they read an unblocked image of few channels, else
/// "blocks".
inline constexpr llvm::StringLiteral kCubeSumsAttr = "npu.sums";
inline constexpr int64_t kCubeByteBlock = 32;

/// Returns whether a convolution of the NPU reads an unblocked image of few channels.
bool readsImage(graph::ConvOp conv);

/// Returns whether slicing a tensor in blocks of `block` yields a view of it: no negative steps,
/// and channels that start at a block boundary.
bool isSliceView(graph::SliceOp slice, int64_t block);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_LAYOUTRULES_H
