//===-- PackWeights.h - packs constants for the kernels -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_PACK_PACKWEIGHTS_H
#define OPENATC_PASSES_KERNEL_PACK_PACKWEIGHTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace atc::kernel {

/// The packing of a grouped convolution's filter: adjacent groups are merged until their channels
/// fill blocks, with zeros between them.
struct FilterPacking {
  int64_t groups;       ///< of the convolution
  int64_t mergedGroups; ///< of the kernel; divides `groups`
  int64_t inputBlock;   ///< channels per block of the input
  int64_t outputBlock;
};

/// All functions take f32 data unless stated otherwise, and fail on data that cannot be read.

/// Packs [M][C / groups][KH][KW] to [OCB][ICB][KH][KW][c][b].
mlir::FailureOr<mlir::ElementsAttr> packFilter(mlir::ElementsAttr filter,
                                               const FilterPacking &packing);

/// Packs [C][1][KH][KW] to [CB][KH][KW][b].
mlir::FailureOr<mlir::ElementsAttr> packDepthwiseFilter(mlir::ElementsAttr filter, int64_t block);

/// Packs a matrix [K][N], or [N][K] where `transposed`, to [NB][K][b].
mlir::FailureOr<mlir::ElementsAttr> packMatrix(mlir::ElementsAttr matrix, bool transposed,
                                               int64_t block);

/// Returns a vector padded with zeros to `size`.
mlir::FailureOr<mlir::ElementsAttr> padVector(mlir::ElementsAttr vector, int64_t size);

/// Packs a rank-4 tensor of any element type to the layout of `type`, including its halo.
mlir::FailureOr<mlir::ElementsAttr> packTensor(mlir::ElementsAttr tensor,
                                               mlir::RankedTensorType type);

/// Returns the bytes of a tensor as signless elements of another shape.
mlir::FailureOr<mlir::ElementsAttr> reinterpret(mlir::ElementsAttr tensor,
                                                llvm::ArrayRef<int64_t> shape);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_PACK_PACKWEIGHTS_H
