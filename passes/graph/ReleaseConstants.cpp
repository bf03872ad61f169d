//===-- ReleaseConstants.cpp - free unused constants ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "passes/graph/Passes.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHRELEASECONSTANTS
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

namespace {

struct ReleaseConstants : atc::graph::impl::GraphReleaseConstantsBase<ReleaseConstants> {
  void runOnOperation() override {
    atc::graph::releaseUnusedConstants(getOperation());
    markAllAnalysesPreserved();
  }
};

} // namespace
