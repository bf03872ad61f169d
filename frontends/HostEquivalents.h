//===-- HostEquivalents.h - host calls with the meaning of graph ops ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_HOSTEQUIVALENTS_H
#define OPENATC_FRONTENDS_HOSTEQUIVALENTS_H

#include "frontends/HostCallBuilder.h"

namespace atc {

/// Makes calls of host kernels that compute the result of `op`, on operands of any shape
/// and of element types that generated code lacks. Only the attributes and operands of
/// `op` are read, not its result type, except by ops whose result type states what they
/// do (cast, reshape, expand, resize). Returns null where there is no such call; after an
/// error `calls` has the message.
mlir::Value makeHostEquivalent(mlir::Operation *op, HostCallBuilder &calls);

} // namespace atc

#endif // OPENATC_FRONTENDS_HOSTEQUIVALENTS_H
