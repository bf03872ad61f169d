//===-- FoldLimits.h - what is too much work at compile time --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_FOLDLIMITS_H
#define OPENATC_DIALECTS_GRAPH_FOLDLIMITS_H

#include "mlir/Support/LLVM.h"

namespace atc::graph {

/// Returns the most elements that an input or result of a host call may have where it is computed
/// at compile time: `max`, or fewer for a kernel whose time grows with products of its sizes, such
/// as that of all windows. A file of a few bytes would keep the compiler busy for hours.
int64_t maxFoldedElements(llvm::StringRef kernel, int64_t max);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_FOLDLIMITS_H
