//===-- PassPlugins.h - passes and rules of the user ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_PASSPLUGINS_H
#define OPENATC_TOOLS_ATC_PASSPLUGINS_H

#include "driver/Compiler.h"
#include "tools/atc/Flags.h"

namespace atc::tools {

/// Reads --fusion_rules, --load_pass_plugin and --extra_passes into `options`, and loads the
/// plug-ins into the process. Every error is in `diagnostics`.
void readUserChanges(const FlagValues &flags, driver::CompilerOptions &options,
                     Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_PASSPLUGINS_H
