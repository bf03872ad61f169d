//===-- HostCalls.h - applies host kernels to types and constants --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_HOSTCALLS_H
#define OPENATC_DIALECTS_GRAPH_HOSTCALLS_H

#include "dialects/graph/GraphDialect.h"

namespace atc::graph {

/// Returns the value of ONNX and of .om files for an element type; 0 for none.
uint8_t dtypeOf(mlir::Type element);
/// Returns the element type of a DType; null where MLIR has no type for it.
mlir::Type elementTypeOf(uint8_t dtype, mlir::MLIRContext *context);

/// Returns whether `type` is a static dense tensor whose element type generated code supports. All
/// other types belong to the dynamic schedule.
bool isPlainTensor(mlir::Type type);
inline bool isPlainTensor(mlir::Value value) { return isPlainTensor(value.getType()); }

/// A call for which no op exists yet.
struct HostCall {
  llvm::StringRef kernel;
  /// Inputs by position; null where an optional input is omitted.
  llvm::SmallVector<mlir::Value> inputs;
  mlir::DictionaryAttr parameters;
  unsigned results = 1;
  uint32_t wanted = ~0u; ///< bit i: result i is used
};

/// Returns the types of a call's results, as far as they are known: where all inputs have static
/// shapes, the kernel itself infers them and may reject the inputs (then `error` is set). Otherwise
/// the results are unranked. The kernel may take `maxBytes` of memory, which those that make items
/// of sequences fill, and no more than any call may.
mlir::FailureOr<llvm::SmallVector<mlir::Type>> inferHostCall(const HostCall &call,
                                                             mlir::MLIRContext *context,
                                                             std::string &error,
                                                             uint64_t maxBytes = UINT64_MAX);

/// Infers the types by the kernel's rules alone, without ranks: for a call that fails only when it
/// runs. Fails and sets `error` where not even the rules hold.
mlir::FailureOr<llvm::SmallVector<mlir::Type>>
inferHostCallByRules(const HostCall &call, mlir::MLIRContext *context, std::string &error);

/// The memory that calls may take which are folded for their results alone.
inline constexpr uint64_t kMaxFoldBytes = uint64_t(256) << 20;

/// Returns the results of a call whose inputs are constants; fails where they are not, or the work
/// or the results would be large (more than `max` elements, `maxBytes` of memory).
mlir::FailureOr<llvm::SmallVector<mlir::ElementsAttr>>
foldHostCall(const HostCall &call, mlir::MLIRContext *context, int64_t max = 1 << 16,
             uint64_t maxBytes = kMaxFoldBytes);

/// Returns whether a kernel draws random values, so that its calls cannot be folded or merged.
bool isRandomKernel(llvm::StringRef kernel);

/// Returns the type that holds for a value of either type; null where there is none: a tensor is no
/// sequence, and kernels cannot distinguish elements of two types.
mlir::Type joinTypes(mlir::Type a, mlir::Type b);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_HOSTCALLS_H
