//===-- Calibration.h - quantizes while compiling -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_CALIBRATION_H
#define OPENATC_TOOLS_ATC_CALIBRATION_H

#include "tools/atc/Options.h"

#include "mlir/IR/BuiltinOps.h"

namespace atc::tools {

/// Runs the data that options.compressionConf names through an imported module and
/// makes integers of its layers. False after an error.
bool quantizeImported(mlir::ModuleOp module, const AtcOptions &options, Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_CALIBRATION_H
