//===-- FusionRules.h - a user's rewrite rules ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_RULES_FUSIONRULES_H
#define OPENATC_DRIVER_RULES_FUSIONRULES_H

#include "support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"

namespace atc::driver {

/// Applies the rewrite rules of a file to an imported module until none matches. The file holds
/// PDLL text (.pdll), which the program mlir-pdll translates, or PDL patterns as MLIR text or
/// bytecode (any other suffix). Rules may name registered ops only and state the result types of
/// the ops that they create; the native constraint HasOneUse(Value) is available.
///
/// Returns false after an error, which is in `diagnostics`: the module is then of no more use.
bool applyFusionRules(mlir::ModuleOp module, const std::string &path, Diagnostics &diagnostics);

} // namespace atc::driver

#endif // OPENATC_DRIVER_RULES_FUSIONRULES_H
