//===-- PackWeights.h - constants in the form kernels read ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_PACKWEIGHTS_H
#define OPENATC_PASSES_KERNEL_PACKWEIGHTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace atc::kernel {

/// How the filter of a grouped convolution is stored: neighbouring groups are
/// merged until their channels fill blocks, with zeros between them.
struct FilterPacking {
  int64_t groups;       ///< of the convolution
  int64_t mergedGroups; ///< of the kernel; divides `groups`
  int64_t inputBlock;   ///< channels of a block of the input
  int64_t outputBlock;
};

/// All functions take data of f32 unless they say otherwise, and fail on data
/// that cannot be read.

/// [M][C / groups][KH][KW] to [OCB][ICB][KH][KW][c][b].
mlir::FailureOr<mlir::ElementsAttr> packFilter(mlir::ElementsAttr filter,
                                               const FilterPacking &packing);

/// [C][1][KH][KW] to [CB][KH][KW][b].
mlir::FailureOr<mlir::ElementsAttr> packDepthwiseFilter(mlir::ElementsAttr filter, int64_t block);

/// A matrix [K][N], or [N][K] that is `transposed`, to [NB][K][b].
mlir::FailureOr<mlir::ElementsAttr> packMatrix(mlir::ElementsAttr matrix, bool transposed,
                                               int64_t block);

/// A vector with zeros up to `size`.
mlir::FailureOr<mlir::ElementsAttr> padVector(mlir::ElementsAttr vector, int64_t size);

/// A rank-4 tensor of any element type in the layout of `type`, halo included.
mlir::FailureOr<mlir::ElementsAttr> packTensor(mlir::ElementsAttr tensor,
                                               mlir::RankedTensorType type);

/// The same bytes as a tensor of signless elements and another shape.
mlir::FailureOr<mlir::ElementsAttr> reinterpret(mlir::ElementsAttr tensor,
                                                llvm::ArrayRef<int64_t> shape);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_PACKWEIGHTS_H
