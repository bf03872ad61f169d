//===-- Recomputed.h - values that are computed again on purpose ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_RECOMPUTED_H
#define OPENATC_DIALECTS_GRAPH_RECOMPUTED_H

#include "llvm/ADT/StringRef.h"

namespace atc::graph {

/// Unit attribute of an op that computes a value again so that it need not be kept. It makes the op
/// differ from the first one for common subexpression elimination; fusion keeps it.
inline constexpr llvm::StringLiteral kRecomputedAttr = "train.recomputed";

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_RECOMPUTED_H
