//===-- Target.cpp - what a model is compiled for -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/targets/Target.h"

#include "passes/graph/Passes.h"

using namespace mlir;

namespace atc::driver {

PhasePipeline makeGraphPipeline(std::vector<std::string> disabled,
                                const GraphPassChoices &choices) {
  return {Phase::Graph, "graph passes", "2-graph.mlir",
          [disabled = std::move(disabled), choices](OpPassManager &pm) {
            graph::GraphPipelineOptions graph;
            graph.disable = disabled;
            graph.releaseConstants = true;
            graph.integers = choices.integers;
            graph.widenFloats = choices.widenFloats;
            graph.mergeProducts = choices.mergeProducts;
            graph.splitGroups = choices.splitGroups;
            graph.keepPreprocessing = choices.keepPreprocessing;
            graph.maxCode = choices.maxCode;
            graph::buildGraphPipeline(pm, graph);
          }};
}

} // namespace atc::driver
