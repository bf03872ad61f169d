//===-- Im2Col.h - windows as slices of an image --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_OPS_IM2COL_H
#define OPENATC_FRONTENDS_TF_OPS_IM2COL_H

#include "frontends/tf/ops/Window.h"

namespace atc::tf_import {

/// Returns, for every position in the kernel, row by row, the pixels of `image` [N, spatial..., C]
/// at that position of all windows: [N, outputs..., C]. Pads have the value `padding`.
llvm::SmallVector<mlir::Value> slicesOfWindow(NodeContext &n, mlir::Value image,
                                              const Window &window, double padding);

/// A convolution as a product of patches [N, outputs..., C] with a filter [spatial...,
/// C, M], for what the graph's convolution is not: of rank 5, of doubles, with a filter
/// that is known only when the model runs.
mlir::Value convByPatches(NodeContext &n, mlir::Value image, mlir::Value filter,
                          const Window &window);

/// Computes a depthwise convolution: the filter is [h, w, C, multiplier], and each channel is
/// convolved by itself.
mlir::Value depthwiseByPatches(NodeContext &n, mlir::Value image, mlir::Value filter,
                               const Window &window);

/// A matrix product; by multiplying and adding where the elements are no floats of 32
/// bits or less.
mlir::Value matrixProduct(NodeContext &n, mlir::Value lhs, mlir::Value rhs);

/// Returns the element type of a matrix product: that of the factors, unless BatchMatMulV3 states
/// another one.
mlir::Type typeOfSums(NodeContext &n);

/// Whether a product of matrices is one of integers of 8 bits with sums of 32.
bool isProductOfBytes(mlir::Value lhs, mlir::Value rhs, mlir::Type sums);

/// Whether a value follows from the inputs of the model.
bool dependsOnInputs(mlir::Value value);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_OPS_IM2COL_H
