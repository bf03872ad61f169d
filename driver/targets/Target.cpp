//===-- Target.cpp - what a model is compiled for -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/targets/Target.h"

#include "passes/graph/Passes.h"

using namespace mlir;

namespace atc::driver {

PhasePipeline makeGraphPipeline(std::vector<std::string> disabled, bool integers, bool widenFloats,
                                bool mergeProducts, bool splitGroups, bool keepPreprocessing,
                                unsigned maxCode) {
  return {Phase::Graph, "graph passes", "2-graph.mlir",
          [disabled = std::move(disabled), integers, widenFloats, mergeProducts, splitGroups,
           keepPreprocessing, maxCode](OpPassManager &pm) {
            graph::GraphPipelineOptions graph;
            graph.disable = disabled;
            graph.releaseConstants = true;
            graph.integers = integers;
            graph.widenFloats = widenFloats;
            graph.mergeProducts = mergeProducts;
            graph.splitGroups = splitGroups;
            graph.keepPreprocessing = keepPreprocessing;
            graph.maxCode = maxCode;
            graph::buildGraphPipeline(pm, graph);
          }};
}

} // namespace atc::driver
