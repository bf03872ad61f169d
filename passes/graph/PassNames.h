//===-- PassNames.h - the passes of the graph's pipeline ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_PASSNAMES_H
#define OPENATC_PASSES_GRAPH_PASSNAMES_H

#include <string>
#include <vector>

namespace atc::graph {

/// Returns the names of the passes that a pipeline may leave out, each once, sorted.
std::vector<std::string> listPassNames();

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_PASSNAMES_H
