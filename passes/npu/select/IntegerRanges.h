//===-- IntegerRanges.h - how large integers can be -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SELECT_INTEGERRANGES_H
#define OPENATC_PASSES_NPU_SELECT_INTEGERRANGES_H

#include "dialects/kernel/Kernel.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace atc::npu {

/// The least and the greatest value that an integer can have. Both are less than 2^31 away from 0.
struct IntegerRange {
  int64_t min = 0, max = 0;

  /// Returns the range of all values of both.
  IntegerRange joined(const IntegerRange &other) const {
    return {std::min(min, other.min), std::max(max, other.max)};
  }
  /// Returns the largest distance from 0.
  int64_t size() const { return std::max(std::abs(min), std::abs(max)); }
};

/// Ranges of the values in the body of a map; nothing for a value that may be any number.
using ValueRanges = llvm::DenseMap<mlir::Value, std::optional<IntegerRange>>;

/// Finds how large the integers in the buffers of @main can be. Kernels are noted in the order of
/// the schedule: what is said of a buffer is true for the kernels behind the last noted one.
class IntegerRanges {
public:
  /// Takes an op into account; it forgets what an op writes that is no kernel.
  void note(mlir::Operation *op);

  /// Returns the range of the elements of a buffer; nothing where they may be any numbers.
  std::optional<IntegerRange> ofBuffer(mlir::Value buffer);

  /// Returns the ranges of all integers in the body of a map.
  ValueRanges ofBody(kernel::MapOp map);

private:
  std::optional<IntegerRange> ofResult(kernel::KernelOpInterface op);

  llvm::DenseMap<mlir::Value, std::optional<IntegerRange>> known; ///< by the memory of buffers
};

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SELECT_INTEGERRANGES_H
