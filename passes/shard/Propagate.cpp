//===-- Propagate.cpp - how each tensor is divided ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/shard/Passes.h"
#include "passes/shard/ShardingRules.h"

using namespace mlir;

namespace atc::shard {
#define GEN_PASS_DEF_SHARDPROPAGATE
#include "passes/shard/Passes.h.inc"

namespace {
struct Propagate : impl::ShardPropagateBase<Propagate> {
  using ShardPropagateBase::ShardPropagateBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    for (Operation &op : getOperation().front().without_terminator())
      numShared += propagate(&op, count);
  }
};
} // namespace
} // namespace atc::shard
