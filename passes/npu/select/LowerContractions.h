//===-- LowerContractions.h - the NPU's kernels for graph ops -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SELECT_LOWERCONTRACTIONS_H
#define OPENATC_PASSES_NPU_SELECT_LOWERCONTRACTIONS_H

#include "passes/kernel/LowerGraph.h"

namespace atc::npu {

/// The image that a convolution reads: [N][C][H][W], or [N][H][W][C] if it is interleaved.
struct ImageSource {
  mlir::Value value;
  bool isInterleaved = false;
};

/// The NPU's own kernels: convolutions and matrix products.
class NpuKernels : public kernel::TargetKernels {
public:
  explicit NpuKernels(mlir::ModuleOp module);
  llvm::StringRef name() const override { return "NPU"; }
  bool has(mlir::Operation *op) const override;
  mlir::LogicalResult lower(kernel::GraphLowering &lowering, mlir::Operation *op) const override;

private:
  /// The inputs of convolutions that read images, found beforehand: maps lose their bodies when
  /// they are lowered.
  llvm::DenseMap<mlir::Operation *, ImageSource> images;
};

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SELECT_LOWERCONTRACTIONS_H
