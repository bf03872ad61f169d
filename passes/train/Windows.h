//===-- Windows.h - sliding windows as slices -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_TRAIN_WINDOWS_H
#define OPENATC_PASSES_TRAIN_WINDOWS_H

#include "passes/train/GraphMath.h"

namespace atc::train {

/// The windows of a convolution or pool over the spatial dims of [N, spatial..., C]. Channels are
/// the last dim, so that slices of windows are views whose rows are dense, and products of windows
/// and weights need no transposed copies of activations.
class Windows {
public:
  /// `input` and `output` are the shapes of the spatial dims; `pads` holds all begins, of which
  /// alone the windows depend, then the ends.
  Windows(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output,
          llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> strides,
          llvm::ArrayRef<int64_t> pads, llvm::ArrayRef<int64_t> dilations);

  /// Returns the number of elements of a window.
  int64_t size() const { return kernelSize; }
  /// Returns the number of windows per channel.
  int64_t positions() const { return outputSize; }
  llvm::ArrayRef<int64_t> outputShape() const { return output; }
  llvm::ArrayRef<int64_t> kernelShape() const { return kernel; }
  /// Returns whether each input element is in exactly one window.
  bool partition() const;
  /// Returns whether a window is one element and the windows are the input.
  bool isIdentity() const;

  /// Returns the elements of all windows: element e of a window, in row-major order, of [N,
  /// input..., C] is the value e, of shape [N, output..., C]. Outside the input is `fill`.
  llvm::SmallVector<mlir::Value> gather(const GraphMath &g, mlir::Value value,
                                        double fill = 0) const;
  /// Computes the adjoint of gather: sums `values` (one per element of a window) into [N, input...,
  /// C].
  mlir::Value scatter(const GraphMath &g, llvm::ArrayRef<mlir::Value> values) const;
  /// Returns the windows as matrices, an element of the window behind the other in each row:
  /// [N, positions(), size() * C], or [N, groups, positions(), size() * C / groups].
  mlir::Value columns(const GraphMath &g, mlir::Value value, int64_t groups) const;

  /// Returns per output position how many elements of its window are inside the input, or inside
  /// the padded input, as a float tensor [output..., 1].
  mlir::Value counts(const GraphMath &g, mlir::Value like, bool withPads) const;

private:
  llvm::SmallVector<int64_t> offsetOf(int64_t element) const;

  const llvm::SmallVector<int64_t> input, output, kernel, strides, pads, dilations;
  int64_t kernelSize = 1, outputSize = 1;
};

/// Returns the windows of an op with the attributes of a convolution or pool; `kernel` is its
/// spatial shape. `input` and `output` are [N, C, spatial...].
template <typename OpTy>
Windows windowsOf(OpTy op, mlir::Value input, mlir::Value output, llvm::ArrayRef<int64_t> kernel) {
  return Windows(shapeOf(input).drop_front(2), shapeOf(output).drop_front(2), kernel,
                 op.getStrides(), op.getPads(), op.getDilations());
}

/// Transpose [N, C, spatial...] to [N, spatial..., C] and back.
mlir::Value channelsLast(const GraphMath &g, mlir::Value value);
mlir::Value channelsFirst(const GraphMath &g, mlir::Value value);

/// Returns the gradient of a convolution's filter [M, C / groups, kernel...], where `input` is
/// [N, spatial..., C] and `gradient` that of the result, [N, output..., M].
mlir::Value filterGradient(const GraphMath &g, const Windows &windows, mlir::Value input,
                           mlir::Value gradient, int64_t groups);

/// Splits bias, residual and activation off a convolution, transposed convolution or
/// fully_connected, which has none of them afterwards. Leaves other ops alone. Returns whether
/// there were any.
bool splitFusedParts(mlir::Operation *op);

/// Returns a vector [channels] in a shape that broadcasts over [N, channels, spatial...].
mlir::Value perChannel(const GraphMath &g, mlir::Value vector, int64_t rank);

} // namespace atc::train

#endif // OPENATC_PASSES_TRAIN_WINDOWS_H
