//===-- VerifyWindows.h - checks of the windows of convolutions -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_CPU_VERIFYWINDOWS_H
#define OPENATC_DIALECTS_CPU_VERIFYWINDOWS_H

#include "dialects/kernel/VerifyBuffers.h"

namespace atc::cpu {
using namespace kernel;

/// Checks that the windows of `out` positions of a dim stay inside the `in` positions of the input,
/// which for convolutions is the padded view.
inline mlir::LogicalResult verifyWindow(mlir::Operation *op, int64_t in, int64_t out,
                                        int64_t kernel, int64_t stride, int64_t dilation,
                                        llvm::StringRef dim) {
  int64_t needed = (out - 1) * stride + (kernel - 1) * dilation + 1;
  if (needed <= in)
    return mlir::success();
  return op->emitOpError() << "reads " << needed << " positions along " << dim
                           << ", but the input has " << in;
}

/// Checks ranks and batches of a convolution's input and output, and its windows, with one error at
/// the op.
inline mlir::LogicalResult verifyWindows(mlir::Operation *op, mlir::Value input, mlir::Value output,
                                         llvm::ArrayRef<int64_t> kernel,
                                         llvm::ArrayRef<int64_t> strides,
                                         llvm::ArrayRef<int64_t> dilations) {
  if (mlir::failed(verifyRank(op, input, 5, "input")) ||
      mlir::failed(verifyRank(op, output, 5, "output")) ||
      failed(verifyLength(op, strides, 2, "strides")) ||
      failed(verifyLength(op, dilations, 2, "dilations")))
    return mlir::failure();
  llvm::ArrayRef<int64_t> in = typeOf(input).getShape(), out = typeOf(output).getShape();
  if (in[0] != out[0])
    return op->emitOpError() << "input has batch " << in[0] << ", output " << out[0];
  for (int d : {0, 1})
    if (mlir::failed(verifyWindow(op, in[2 + d], out[2 + d], kernel[d], strides[d], dilations[d],
                                  d ? "W" : "H")))
      return mlir::failure();
  return mlir::success();
}
} // namespace atc::cpu

#endif // OPENATC_DIALECTS_CPU_VERIFYWINDOWS_H
