//===-- CallRanks.h - ranks of values in dynamic schedules ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_CALLS_CALLRANKS_H
#define OPENATC_PASSES_CPU_CALLS_CALLRANKS_H

#include "dialects/graph/ops/HostOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/host/QuantizedCalls.h"

namespace atc::cpu {

using host::axisOf;

/// Finds ranks that types do not state, by the host calls that compute the values. The rank of what
/// a computed shape describes is the length of the shape, a vector whose length is found as well.
class CallRanks {
public:
  /// Infers the ranks of all results in `main`, in the order in which they are computed: a chain of
  /// any length takes no stack.
  explicit CallRanks(mlir::func::FuncOp main);

  /// Returns the rank of a tensor; nothing where it is not known.
  std::optional<int64_t> of(mlir::Value value);

private:
  /// Infers the rank of the first result of a call from those of its inputs, which are known.
  std::optional<int64_t> infer(graph::HostCallOp call);
  /// Returns the number of elements of a tensor of rank 0 or 1; nothing where it is not known.
  std::optional<int64_t> lengthOf(mlir::Value vector) const;
  /// Infers that number for the result of a call whose inputs have been seen.
  std::optional<int64_t> inferLength(graph::HostCallOp call);
  /// Returns the rank of the result of a kernel that moves or selects elements, whose first input
  /// has the rank `first`, by the lengths of vectors that describe dims; nothing for other kernels.
  std::optional<int64_t> rankOfMove(graph::HostCallOp call, llvm::ArrayRef<mlir::Value> inputs,
                                    std::optional<int64_t> first) const;
  /// Returns the rank of the result of a kernel that reduces an input of rank `first`; nothing for
  /// other kernels.
  std::optional<int64_t> rankOfReduction(graph::HostCallOp call, llvm::ArrayRef<mlir::Value> inputs,
                                         int64_t first) const;
  /// Returns the ranks of all values; nothing where one is not known.
  std::optional<llvm::SmallVector<int64_t>> ranksOf(llvm::ArrayRef<mlir::Value> values);

  llvm::DenseMap<mlir::Value, std::optional<int64_t>> known;
  llvm::DenseMap<mlir::Value, int64_t> lengths; ///< of vectors that calls compute
};

/// Returns the elements of a small constant of integers; nothing for other values.
std::optional<llvm::SmallVector<int64_t>> constantIntegers(mlir::Value value);

/// Returns the attribute `name` of a call, a list of integers; nothing where it is missing.
std::optional<llvm::SmallVector<int64_t>> integersOf(graph::HostCallOp call, llvm::StringRef name);

/// Returns whether a matrix or weights have a fixed size of which few rows or pixels make more than
/// `maxProducts`, so that code for fewer would be there in vain.
bool isLarge(mlir::Value weights, int64_t maxProducts);

/// Returns whether the text attribute `name` of a call, `otherwise` where it is missing, is
/// `wanted`.
bool hasText(graph::HostCallOp call, llvm::StringRef name, llvm::StringRef otherwise,
             llvm::StringRef wanted);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_CALLS_CALLRANKS_H
