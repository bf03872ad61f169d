//===-- LayoutRules.h - which storage an operator can work on -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_LAYOUTRULES_H
#define OPENATC_PASSES_KERNEL_LAYOUTRULES_H

#include "passes/kernel/Layouts.h"

namespace atc::kernel {

/// What an operator can make, and what each choice costs it in bytes moved
/// besides the least that it moves anyway.
struct LayoutRule {
  enum Choice { Plain, Blocked, Either } choice = Plain;
  int64_t plainCost = 0, blockedCost = 0;
};
LayoutRule layoutRuleOf(mlir::Operation *op, int64_t block);

/// How an operand must be stored.
enum class Wish {
  Any,      ///< plain or blocked
  Plain,    ///< plain
  Blocked,  ///< in blocks
  AsResult, ///< as the result is stored
  Broadcast ///< one channel for all of the result: plain, or blocks of one channel
};
Wish wishOf(mlir::OpOperand &operand);

/// Whether `op` computes element by element: graph.map or an elementwise op.
bool isElementwise(mlir::Operation *op);

/// Whether `op` is a contraction of f16. The CPU has no kernels for these: they
/// are the NPU's, which pads images while it reads them and takes matrices of
/// any row strides.
bool isCubeContraction(mlir::Operation *op);

/// On integer sums that are the NPU's, which stores bytes in blocks of
/// `kCubeByteBlock` channels and pads while it reads: "image" if they read a plain
/// image of few channels, else "blocks".
inline constexpr llvm::StringLiteral kCubeSumsAttr = "npu.sums";
inline constexpr int64_t kCubeByteBlock = 32;

/// Whether a convolution of the NPU reads a plain image of few channels.
bool readsImage(graph::ConvOp conv);

/// Whether slicing a tensor in blocks of `block` gives a view of it: no steps
/// back, channels from the start of a block on.
bool isSliceView(graph::SliceOp slice, int64_t block);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_LAYOUTRULES_H
