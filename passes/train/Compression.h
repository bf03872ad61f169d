//===-- Compression.h - fewer bytes for gradients between ranks -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_TRAIN_COMPRESSION_H
#define OPENATC_PASSES_TRAIN_COMPRESSION_H

#include "passes/train/GraphMath.h"

namespace atc::train {

/// A sum over ranks to which each rank contributes what its message can express, and the rest of
/// its own vector, which its next message can contain. After an overflow nothing of it is left.
struct CompressedSum {
  mlir::Value sum, left;
};

/// Returns the sum of a float vector over `ranks` ranks, which send 8-bit integers and a scale.
CompressedSum sumInBytes(const GraphMath &g, mlir::Value own, int64_t ranks);

/// Returns the sum of a float vector over `ranks` ranks, which send the `count` elements of largest
/// magnitude with their positions. Elements that are not finite are among the largest.
CompressedSum sumOfLargest(const GraphMath &g, mlir::Value own, int64_t ranks, int64_t count);

} // namespace atc::train

#endif // OPENATC_PASSES_TRAIN_COMPRESSION_H
