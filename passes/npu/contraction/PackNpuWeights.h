//===-- PackNpuWeights.h - constants in the form the cube reads -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_CONTRACTION_PACKNPUWEIGHTS_H
#define OPENATC_PASSES_NPU_CONTRACTION_PACKNPUWEIGHTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace atc::npu {

/// Rows, columns and elements of the sum of one step of the cube on f16.
inline constexpr int64_t kFractal = 16;

/// A convolution's channels in blocks of 16.
struct ChannelGroups {
  int64_t groups; ///< of the convolution
  int64_t inputs; ///< channels of all groups
  int64_t outputs;

  int64_t inputBlocks() const;
  int64_t outputBlocks() const;
  /// The most parts that the blocks can be divided in so that no output needs
  /// an input of another part.
  int64_t blockGroups() const;
};

/// All functions fail on data that cannot be read; weights are f16.

/// [M][C / groups][KH][KW] to [G][K1][N1 / G][16 n][16 k], K1 in the order
/// (c1, kh, kw); `blockGroups` is G.
mlir::FailureOr<mlir::ElementsAttr>
packConvFilter(mlir::ElementsAttr filter, const ChannelGroups &channels, int64_t blockGroups);

/// [M][C][KH][KW], C at most 4, to [1][K1][N1][16 n][16 k], a row of k being
/// (kh, kw, c) with 4 channels.
mlir::FailureOr<mlir::ElementsAttr> packImageFilter(mlir::ElementsAttr filter);

/// A matrix [K][N], or [N][K] that is `transposed`, to [K1][N1][16 n][16 k].
mlir::FailureOr<mlir::ElementsAttr> packCubeMatrix(mlir::ElementsAttr matrix, bool transposed);

/// A vector of f16 or f32 as `element` (one of these), with zeros up to `size`.
mlir::FailureOr<mlir::ElementsAttr> padChannels(mlir::ElementsAttr vector, int64_t size,
                                                mlir::Type element);

/// f32 to the nearest f16; what is finite stays so.
uint16_t halfOf(float value);
float floatOf(uint16_t half);

/// An f32 constant as f16; what is finite stays so.
mlir::FailureOr<mlir::ElementsAttr> narrow(mlir::ElementsAttr constant);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_CONTRACTION_PACKNPUWEIGHTS_H
