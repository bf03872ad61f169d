//===-- IndexBound.h - how large the indices in an argument are -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_INDEXBOUND_H
#define OPENATC_DIALECTS_GRAPH_INDEXBOUND_H

#include "llvm/ADT/StringRef.h"

namespace atc::graph {

/// An attribute of an argument whose elements are indices (integer): all are from 0 to below it.
inline constexpr llvm::StringLiteral kIndicesBelowAttr = "graph.indices_below";

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_INDEXBOUND_H
