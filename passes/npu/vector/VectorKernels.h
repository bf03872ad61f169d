//===-- VectorKernels.h - kernels that become programs of the vector queue ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each family returns the reason why it cannot expand an op (empty: it can), and expands what it
// accepts, without failure.

#ifndef OPENATC_PASSES_NPU_VECTOR_VECTORKERNELS_H
#define OPENATC_PASSES_NPU_VECTOR_VECTORKERNELS_H

#include "dialects/kernel/Kernel.h"
#include "passes/npu/program/ProgramWriter.h"

namespace atc::npu {

/// Serve one kind of kernel per pair. `whyUnsupported` returns why the vector queue of this SoC
/// cannot compute `op`, or an empty string; `expand` appends the program of an op that it can
/// compute to the body of `function`.
std::string whyUnsupportedMap(kernel::MapOp op, const SocTable &soc);
void expandMap(mlir::func::FuncOp function, kernel::MapOp op);
std::string whyUnsupportedCopy(mlir::Operation *op, const SocTable &soc);
void expandCopyLike(mlir::func::FuncOp function, mlir::Operation *op);
std::string whyUnsupportedPool(kernel::PoolOp op, const SocTable &soc);
void expandPool(mlir::func::FuncOp function, kernel::PoolOp op);
std::string whyUnsupportedReduce(kernel::ReduceOp op, const SocTable &soc);
void expandReduce(mlir::func::FuncOp function, kernel::ReduceOp op);
std::string whyUnsupportedSoftmax(kernel::SoftmaxOp op, const SocTable &soc);
void expandSoftmax(mlir::func::FuncOp function, kernel::SoftmaxOp op);
std::string whyUnsupportedLayerNorm(ir::LayerNormOp op, const SocTable &soc);
void expandLayerNorm(mlir::func::FuncOp function, ir::LayerNormOp op);
std::string whyUnsupportedResize(kernel::ResizeOp op, const SocTable &soc);
void expandResize(mlir::func::FuncOp function, kernel::ResizeOp op);

/// Expands the NPU kernel functions of a module that contain one of `Ops`.
template <typename... Ops, typename Expand>
void expandKernels(mlir::ModuleOp module, Expand expand) {
  for (auto function : llvm::make_early_inc_range(module.getOps<mlir::func::FuncOp>()))
    (
        [&] {
          // A function that was expanded no longer exists.
          if (function)
            if (auto op = kernelOpOf<Ops>(function)) {
              expand(function, op);
              function = {};
            }
        }(),
        ...);
}

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_VECTORKERNELS_H
