//===-- WinogradWeights.h - filters of cpu.float_winograd -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_PACK_WINOGRADWEIGHTS_H
#define OPENATC_PASSES_KERNEL_PACK_WINOGRADWEIGHTS_H

#include "dialects/cpu/Winograd.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace atc::cpu {

/// A 3x3 filter of cpu.conv2d, [OCB][ICB][3][3][16][16] of f32, of one group. The data are
/// borrowed.
struct DirectFilter {
  llvm::ArrayRef<float> data;
  int64_t outputBlocks, inputBlocks;

  /// Return the input and output channels, with those that fill the last block.
  int64_t channels() const { return inputBlocks * 16; }
  int64_t outputs() const { return outputBlocks * 16; }
  /// Returns the nine weights of an output and an input channel, row by row.
  std::array<double, 9> window(int64_t output, int64_t channel) const;
};

/// The sizes of a 3x3 convolution of stride 1, and what its forms cost in vector operations:
/// products, transforms, and weights that are read. As all CPU levels read the same weights, costs
/// do not depend on the level.
struct WinogradSizes {
  int64_t images, height, width, channels, outputs;

  /// The maximum part of the direct form's cost. Forms that are predicted to cost more have been
  /// measured as slower: F(2x2, 3x3) of 512 channels on 7 x 7 pixels, predicted 0.76, took 1.16.
  static constexpr double kMaxCost = 0.7;

  /// Return the cost of the direct form and of a Winograd form.
  double directCost() const;
  double cost(Winograd form) const;
};

/// Returns the bytes by which the weights of a model may grow whose weights have `bytes` bytes:
/// fully connected layers are most of a large model, and the process should not need much more
/// memory than these.
double maxWinogradGrowth(int64_t bytes);

/// Returns the filter of cpu.float_winograd, [OCB][P][ICB * 16][16] of f32, transformed in f64 and
/// rounded once.
mlir::ElementsAttr packFloatWinograd(const DirectFilter &filter, Winograd form,
                                     mlir::MLIRContext *context);

/// Returns an estimate of the maximum error of the outputs as a part of their range, compared with
/// f64: runs the convolution of a few tiles of random values in 0..1 for some of the output
/// channels with the weights as they are, in the order and the precision of the kernel.
double estimateWinogradError(const DirectFilter &filter, Winograd form);

} // namespace atc::cpu

#endif // OPENATC_PASSES_KERNEL_PACK_WINOGRADWEIGHTS_H
