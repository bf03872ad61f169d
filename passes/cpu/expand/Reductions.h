//===-- Reductions.h - parts of the reducing kernels ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_EXPAND_REDUCTIONS_H
#define OPENATC_PASSES_CPU_EXPAND_REDUCTIONS_H

#include "passes/cpu/tiles/LaneBuffer.h"
#include "passes/cpu/tiles/LoopNest.h"

namespace atc::cpu {

/// The dims of an input that a kernel reduces (or scans) and those it keeps.
/// Buffers of `kept` are the input and the output; of `reduced` as given.
struct ReductionSpaces {
  ReductionSpaces(mlir::Value input, mlir::Value output, llvm::ArrayRef<int64_t> axes);

  /// Vectors lie along the reduced dim, else along the kept one.
  bool alongReduced() const;

  Space kept, reduced;
};

/// How elements are put together: max, min, sum or product.
enum class Combiner { Sum, Prod, Max, Min };
mlir::Value combine(KernelBuilder &b, Combiner combiner, mlir::Value x, mlir::Value y,
                    bool isUnsigned = false);
/// The lanes of a vector put together.
mlir::Value combineLanes(KernelBuilder &b, Combiner combiner, mlir::Value vector,
                         bool isUnsigned = false);
/// The element that changes nothing.
mlir::Value neutral(KernelBuilder &b, Combiner combiner, mlir::Type element, int64_t width,
                    bool isUnsigned = false);

void expandArgReduce(ArgReduceOp op);
void expandSoftmax(SoftmaxOp op);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_EXPAND_REDUCTIONS_H
