//===-- Passes.h - passes on the schedule ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_OM_PASSES_H
#define OPENATC_PASSES_OM_PASSES_H

#include "dialects/om/Om.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace atc::om {
#define GEN_PASS_DECL
#include "passes/om/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/om/Passes.h.inc"
} // namespace atc::om

#endif // OPENATC_PASSES_OM_PASSES_H
