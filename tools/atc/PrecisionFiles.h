//===-- PrecisionFiles.h - flags that say how single nodes compute --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_PRECISIONFILES_H
#define OPENATC_TOOLS_ATC_PRECISIONFILES_H

#include "driver/rules/PrecisionRules.h"
#include "tools/atc/Flags.h"

namespace atc::tools {

/// Reads --op_select_implmode with --optypelist_for_implmode, and the files of --modify_mixlist,
/// --op_precision_mode, --keep_dtype and --customize_dtypes, into rules, those that outweigh
/// others behind them. A file that is missing or a line that cannot be read is an error with the
/// line's number.
std::vector<driver::PrecisionRule> readPrecisionRules(const FlagValues &flags,
                                                      Diagnostics &diagnostics);

/// Returns the mode that --precision_mode or --precision_mode_v2 asks for, in the words of the
/// former; nothing where neither is given.
std::optional<std::string> precisionModeOf(const FlagValues &flags);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_PRECISIONFILES_H
