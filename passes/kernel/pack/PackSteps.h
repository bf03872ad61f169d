//===-- PackSteps.h - packs 8-bit weights as lists of steps ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_PACK_PACKSTEPS_H
#define OPENATC_PASSES_KERNEL_PACK_PACKSTEPS_H

#include "passes/kernel/pack/PackIntegers.h"
#include <array>

namespace atc::kernel {

/// Four adjacent bytes of the input and the columns of their weights.
struct Quad {
  int64_t offset;
  /// The column of the weight in an output's row for the input channels of group g is column[lane]
  /// - g * columns; a value outside the row means no weight.
  std::array<int64_t, 4> column;
};

/// Sums of the weights of an output, by how their steps read bytes; `inverted`: the excess of
/// accumulators by magnitude, because inverted bytes are one too small.
struct ChannelSums {
  int64_t plain = 0, byMagnitude = 0, inverted = 0;
};

/// The operands of cpu.integer_conv2d.
struct PackedSteps {
  mlir::ElementsAttr filter, steps, starts;
  /// The entries are per run.
  llvm::SmallVector<int64_t> groups;
  llvm::SmallVector<bool> byMagnitude;
  std::vector<ChannelSums> sums;
  /// Whether `steps` are those of each block, not of all blocks one after the other.
  bool sharesList = false;
  /// The size of chunks of the list, if all blocks have one list of single steps: the largest
  /// divisor up to 16 for which the steps of a chunk have adjacent bytes. 0 otherwise.
  int64_t adjacent = 0;
};

/// Computes the cheapest lists of steps for blocks of 16 outputs. Unless all levels have an exact
/// dot product, in which case blocks of one group share a list, sums of two adjacent products over
/// a group of steps then fit 16 bits for all input bytes: a quad whose weights are too large for
/// that is split in two, or its step is by magnitude.
PackedSteps packSteps(const IntegerWeights &weights, llvm::ArrayRef<Quad> quads, int64_t groups,
                      bool exactDot, mlir::MLIRContext *context);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_PACK_PACKSTEPS_H
