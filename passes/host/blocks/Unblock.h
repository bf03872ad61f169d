//===-- Unblock.h - what reads blocks of channels in another order --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_BLOCKS_UNBLOCK_H
#define OPENATC_PASSES_HOST_BLOCKS_UNBLOCK_H

#include "mlir/IR/Builders.h"

namespace atc::host {

/// The images that a convolution can read as one; Images::kMax of
/// kernels/conv/ChannelBlocks.h.
inline constexpr size_t maxImages = 8;

/// A value whose form in blocks of channels has been computed.
struct Blocked {
  mlir::Value value;
  int64_t channels = 0;
};

/// Creates a call that stores a blocked form in planes, or with channels behind
/// the pixels where `isLast`. `shape`: that of a Reshape in front of that
/// order, or null.
mlir::Value unblock(mlir::OpBuilder &builder, const Blocked &source, mlir::Location loc,
                    mlir::Type type, mlir::Value shape, bool isLast);

/// Computes a use of a blocked form of f32 with channels behind the pixels, if
/// it is one: a transpose of the image, or of a Reshape that divides its
/// channels into groups and that nothing else reads.
bool unblockLast(mlir::OpBuilder &builder, const Blocked &source, mlir::Operation *user);

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_BLOCKS_UNBLOCK_H
