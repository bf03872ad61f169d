//===-- PackSteps.h - weights of bytes as lists of steps ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_PACKSTEPS_H
#define OPENATC_PASSES_KERNEL_PACKSTEPS_H

#include "passes/kernel/PackIntegers.h"
#include <array>

namespace atc::kernel {

/// Four neighbouring bytes of the input and where each one's weight is.
struct Quad {
  int64_t offset;
  /// Index of the weight in an output's row for the input channels of group g is
  /// column[lane] - g * columns; anything outside the row has none.
  std::array<int64_t, 4> column;
};

/// Sums of the weights of an output, by how their steps see bytes; `inverted`: what
/// sums by magnitude have too much because inverted bytes are one too little.
struct ChannelSums {
  int64_t plain = 0, byMagnitude = 0, inverted = 0;
};

/// What cpu.integer_conv2d reads.
struct PackedSteps {
  mlir::ElementsAttr filter, steps, starts;
  /// Of each run.
  llvm::SmallVector<int64_t> groups;
  llvm::SmallVector<bool> byMagnitude;
  std::vector<ChannelSums> sums;
};

/// Makes the cheapest lists of steps for blocks of 16 outputs. Unless all levels
/// have an exact dot product, sums of two neighbouring products over a group of steps
/// then fit 16 bits, whatever the bytes.
/// A quad whose weights are too large for that becomes two, or its step is by
/// magnitude.
PackedSteps packSteps(const IntegerWeights &weights, llvm::ArrayRef<Quad> quads, int64_t groups,
                      bool exactDot, mlir::MLIRContext *context);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_PACKSTEPS_H
