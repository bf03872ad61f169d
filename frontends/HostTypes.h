//===-- HostTypes.h - types of host calls on dynamic shapes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_HOSTTYPES_H
#define OPENATC_FRONTENDS_HOSTTYPES_H

#include "dialects/graph/HostCalls.h"

namespace atc {

/// Returns the types of a call's results as graph::inferHostCall does, and more of them
/// where inputs have dynamic dims but known ranks: the kernel is asked for the shapes at
/// several sizes of the dynamic dims. Results keep the rank that all answers have, and the
/// dims that are equal in all of them. Fails, with `error`, only where no size of the
/// dynamic dims matters.
mlir::FailureOr<llvm::SmallVector<mlir::Type>>
probeHostCall(const graph::HostCall &call, mlir::MLIRContext *context, std::string &error);

} // namespace atc

#endif // OPENATC_FRONTENDS_HOSTTYPES_H
