//===-- PackNpuWeights.h - packs constants for the cube -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_CONTRACTION_PACKNPUWEIGHTS_H
#define OPENATC_PASSES_NPU_CONTRACTION_PACKNPUWEIGHTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace atc::npu {

/// The rows, the columns and the depth of one step of the cube on f16.
inline constexpr int64_t kFractal = 16;

/// The channels of a convolution in blocks.
struct ChannelGroups {
  int64_t groups; ///< of the convolution
  int64_t inputs; ///< channels of all groups
  int64_t outputs;
  int64_t block = kFractal; ///< channels per block: 16 of f16, 32 of bytes

  /// Return the blocks of channels, the last one padded.
  int64_t inputBlocks() const;
  int64_t outputBlocks() const;
  /// Returns the maximum number of parts into which the blocks can be divided so that no output
  /// needs an input of another part.
  int64_t blockGroups() const;
};

/// All functions fail on data that cannot be read; weights are f16.

/// Packs [M][C / groups][KH][KW] to [G][K1][N1 / G][16 n][16 k], with K1 in the order (c1, kh, kw);
/// `blockGroups` is G.
mlir::FailureOr<mlir::ElementsAttr>
packConvFilter(mlir::ElementsAttr filter, const ChannelGroups &channels, int64_t blockGroups);

/// Packs [M][C][KH][KW], with C at most 4, to [1][K1][N1][16 n][16 k]; a row of k is (kh, kw, c)
/// with 4 channels. Channel i of the filter becomes channel order[i], i without an order.
mlir::FailureOr<mlir::ElementsAttr> packImageFilter(mlir::ElementsAttr filter,
                                                    llvm::ArrayRef<int64_t> order = {});

/// Packs a matrix [K][N], or [N][K] where `transposed`, to [K1][N1][16 n][16 k].
mlir::FailureOr<mlir::ElementsAttr> packCubeMatrix(mlir::ElementsAttr matrix, bool transposed);

/// Returns a vector of f16 or f32 converted to `element` (one of these) and padded with zeros to
/// `size`.
mlir::FailureOr<mlir::ElementsAttr> padChannels(mlir::ElementsAttr vector, int64_t size,
                                                mlir::Type element);

/// Returns the bits of the nearest f16; finite values stay finite.
uint16_t halfOf(float value);

/// Returns an f32 constant converted to f16. With `clip`, finite values stay finite.
mlir::FailureOr<mlir::ElementsAttr> narrow(mlir::ElementsAttr constant, bool clip);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_CONTRACTION_PACKNPUWEIGHTS_H
