//===-- HostCalls.h - host kernels on types and constants ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_HOSTCALLS_H
#define OPENATC_DIALECTS_GRAPH_HOSTCALLS_H

#include "dialects/graph/Graph.h"

namespace atc::graph {

/// The number that ONNX and .om files have for an element type; 0 for none.
uint8_t dtypeOf(mlir::Type element);
/// Null for numbers without a type here.
mlir::Type elementTypeOf(uint8_t dtype, mlir::MLIRContext *context);

/// A tensor of fixed shape whose elements generated code can work with. Everything
/// else is the host program's.
bool isPlainTensor(mlir::Type type);
inline bool isPlainTensor(mlir::Value value) { return isPlainTensor(value.getType()); }

/// A call before there is an op for it.
struct HostCall {
  llvm::StringRef kernel;
  /// By position; null where an optional input is left out.
  llvm::SmallVector<mlir::Value> inputs;
  mlir::DictionaryAttr parameters;
  unsigned results = 1;
  uint32_t wanted = ~0u; ///< bit i: result i is used
};

/// The types of a call's results, as much of them as is known: where all inputs
/// have fixed shapes the kernel itself is asked, which may find the inputs at fault
/// (`error`, and failure). Where they have not the results have no rank.
mlir::FailureOr<llvm::SmallVector<mlir::Type>>
inferHostCall(const HostCall &call, mlir::MLIRContext *context, std::string &error);

/// The types by the kernel's rules alone, without ranks: for a call that only fails when it
/// runs. Fails, with `error`, where not even the rules hold.
mlir::FailureOr<llvm::SmallVector<mlir::Type>>
inferHostCallByRules(const HostCall &call, mlir::MLIRContext *context, std::string &error);

/// The results of a call whose inputs are constants; failure where they are not, or
/// the work or the results would be large (more than `most` elements).
mlir::FailureOr<llvm::SmallVector<mlir::ElementsAttr>>
foldHostCall(const HostCall &call, mlir::MLIRContext *context, int64_t most = 1 << 16);

/// Whether a kernel draws random numbers: every call of it gives others.
bool isRandomKernel(llvm::StringRef kernel);

/// Returns the type that holds for a value of either type; null where there is none: a
/// tensor is no sequence, and kernels cannot tell elements of two types apart.
mlir::Type joinTypes(mlir::Type a, mlir::Type b);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_HOSTCALLS_H
