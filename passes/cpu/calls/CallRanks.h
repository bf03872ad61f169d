//===-- CallRanks.h - ranks of values in dynamic schedules ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_CALLS_CALLRANKS_H
#define OPENATC_PASSES_CPU_CALLS_CALLRANKS_H

#include "dialects/graph/ops/HostOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/host/QuantizedCalls.h"

namespace atc::cpu {

using host::axisOf;

/// Finds ranks that types do not state, by the host calls that compute the values.
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
  /// Returns the ranks of all values; nothing where one is not known.
  std::optional<llvm::SmallVector<int64_t>> ranksOf(llvm::ArrayRef<mlir::Value> values);

  llvm::DenseMap<mlir::Value, std::optional<int64_t>> known;
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
