//===-- BankOptions.h - tuned choices of a compilation ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_BANKOPTIONS_H
#define OPENATC_TOOLS_ATC_BANKOPTIONS_H

#include "driver/Compiler.h"
#include "tools/atc/Flags.h"

namespace atc::tools {

/// Reads the choices for the compilation's target from --mdl_bank_path, --op_bank_path and, for
/// flags that are not given, $TUNE_BANK_PATH, and behind them from the bank that comes with the
/// compiler; "none" in place of a path is for no bank at all. A bank that is damaged is an error;
/// one that is missing, as in scripts for other machines, is a warning.
void readBanks(const FlagValues &flags, driver::CompilerOptions &compiler,
               Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_BANKOPTIONS_H
