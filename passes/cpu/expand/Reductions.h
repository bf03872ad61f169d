//===-- Reductions.h - shared by the reducing kernels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_EXPAND_REDUCTIONS_H
#define OPENATC_PASSES_CPU_EXPAND_REDUCTIONS_H

#include "dialects/kernel/Scatter.h"
#include "passes/cpu/tiles/LaneBuffer.h"
#include "passes/cpu/tiles/LoopNest.h"

namespace atc::cpu {

using kernel::CumulativeSumOp;

/// The dims of an input that a kernel reduces (or scans) and those that it keeps. The buffers of
/// `kept` are the input and the output, the only buffer of `reduced` is the input.
struct ReductionSpaces {
  ReductionSpaces(mlir::Value input, mlir::Value output, llvm::ArrayRef<int64_t> axes);

  /// Returns whether vectors lie along the reduced dim; otherwise they lie along the kept one.
  bool alongReduced() const;

  Space kept, reduced;
};

/// The operation of a reduction. The maximum of numbers and a NaN is NaN; Larger may lose it, in
/// fewer instructions, where the NaN shows in what follows.
enum class Combiner { Sum, Prod, Max, Min, Larger };
/// Combines two values elementwise.
mlir::Value combine(KernelBuilder &b, Combiner combiner, mlir::Value x, mlir::Value y,
                    bool isUnsigned = false);
/// Reduces the lanes of a vector to a scalar.
mlir::Value combineLanes(KernelBuilder &b, Combiner combiner, mlir::Value vector,
                         bool isUnsigned = false);
/// Returns the neutral element in all lanes.
mlir::Value neutral(KernelBuilder &b, Combiner combiner, mlir::Type element, int64_t width,
                    bool isUnsigned = false);

/// Returns the vector for elements `i` + `v` * lanes on, of which `count` are inside the row; the
/// other lanes are those of a neutral element.
using VectorAtFn = llvm::function_ref<mlir::Value(mlir::Value i, int64_t v, int64_t count)>;
/// Reduces a row of `size` elements to a scalar, with `steps.unroll` vectors at a time.
mlir::Value reduceRow(KernelBuilder &b, Combiner combiner, mlir::Type element, int64_t size,
                      Lanes steps, VectorAtFn vectorAt);

/// Each replaces a kernel op by loops.
void expandArgReduce(ArgReduceOp op);
void expandCumulativeSum(CumulativeSumOp op);
void expandSoftmax(SoftmaxOp op);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_EXPAND_REDUCTIONS_H
