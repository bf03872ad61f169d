//===-- ExpandPreprocessing.h - pixels of cameras as maps -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_EXPANDPREPROCESSING_H
#define OPENATC_PASSES_GRAPH_EXPANDPREPROCESSING_H

#include "dialects/graph/ops/ImageOps.h"

namespace atc::graph {

/// Replaces `op` by slices, one graph.map per channel, so that no pass rounds its arithmetic in
/// another way, and a concat; erases it.
void expandPreprocessing(PreprocessOp op);

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_EXPANDPREPROCESSING_H
