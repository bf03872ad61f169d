//===-- FoldConstants.cpp - evaluate constant ops -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/Passes.h"

namespace atc::graph {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

namespace {
struct FoldConstants : atc::graph::impl::FoldConstantsBase<FoldConstants> {
  using FoldConstantsBase::FoldConstantsBase;
  void runOnOperation() override {}
};
} // namespace
