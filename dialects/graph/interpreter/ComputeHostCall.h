//===-- ComputeHostCall.h - calls a host kernel on tensors ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_INTERPRETER_COMPUTEHOSTCALL_H
#define OPENATC_DIALECTS_GRAPH_INTERPRETER_COMPUTEHOSTCALL_H

#include "dialects/graph/HostCalls.h"
#include "dialects/graph/interpreter/Tensor.h"

#include "llvm/ADT/SmallVector.h"

#include <string>

namespace atc::graph {

/// Calls a host kernel in this process. `inputs` are by position, null where one is left
/// out. Returns a tensor per result, which owns its elements; one that `call.wanted` does
/// not name may be empty. Fails with the reason in `error` where the kernel refuses its
/// inputs, and where an input or a wanted result is no tensor of numbers.
mlir::FailureOr<llvm::SmallVector<Tensor>> computeHostCall(const HostCall &call,
                                                           llvm::ArrayRef<const Tensor *> inputs,
                                                           mlir::MLIRContext *context,
                                                           std::string &error);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_INTERPRETER_COMPUTEHOSTCALL_H
