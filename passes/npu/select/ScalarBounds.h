//===-- ScalarBounds.h - bounds of what formulas compute --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SELECT_SCALARBOUNDS_H
#define OPENATC_PASSES_NPU_SELECT_SCALARBOUNDS_H

#include "passes/npu/select/ElementBounds.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace atc::npu {

/// Returns the smallest interval with both, with the sums, and with the products of their numbers.
Interval join(Interval a, Interval b);
Interval addition(Interval a, Interval b);
Interval product(Interval a, Interval b);
/// Returns an interval with the squares, and with the absolute values.
Interval square(Interval a);
Interval magnitude(Interval a);

/// Returns the bounds of what `function` computes of one element of each operand. It must return
/// an interval with all its values for operands in the given intervals.
ElementBounds combine(llvm::ArrayRef<ElementBounds> operands,
                      llvm::function_ref<Interval(llvm::ArrayRef<Interval>)> function);
ElementBounds combine(const ElementBounds &operand, Interval (*function)(Interval));

/// Returns the range of the integers of a type; no bounds for floats and for integers of more than
/// 8 bits.
ElementBounds boundsOfType(mlir::Type type, bool isUnsigned);

/// Returns the bounds of `number`, which `body` computes of its arguments, with the given bounds.
/// Ops in front of it in the body are all that it may depend on.
ElementBounds boundsOfScalar(mlir::Block &body, llvm::ArrayRef<ElementBounds> arguments,
                             mlir::Value number);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SELECT_SCALARBOUNDS_H
