//===-- Passes.h - passes that divide a graph among ranks -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_SHARD_PASSES_H
#define OPENATC_PASSES_SHARD_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace atc::shard {

#define GEN_PASS_DECL
#include "passes/shard/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/shard/Passes.h.inc"

} // namespace atc::shard

#endif // OPENATC_PASSES_SHARD_PASSES_H
