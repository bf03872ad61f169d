//===-- Strings.h - parts of operators on strings -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_OPS_STRINGS_H
#define OPENATC_FRONTENDS_TF_OPS_STRINGS_H

#include "frontends/tf/NodeContext.h"

namespace atc::tf_import {

/// Returns `result`, that of a host call, with the shape of `like`.
mlir::Value withShapeOf(mlir::Value result, mlir::Value like);

/// Fails the node unless the input holds strings.
void requireStrings(NodeContext &n, unsigned index);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_OPS_STRINGS_H
