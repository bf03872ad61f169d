//===-- FusionSwitches.h - passes that flags switch off -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_FUSIONSWITCHES_H
#define OPENATC_TOOLS_ATC_FUSIONSWITCHES_H

#include "driver/targets/Target.h"
#include "tools/atc/Flags.h"

namespace atc::tools {

/// Returns the passes that --disable_passes, --oo_level, --oo_constant_folding,
/// --oo_dead_code_elimination, --disable_reuse_memory, --fusion_switch_file and
/// --optimization_switch switch off, later ones of these over earlier ones. Names are those of
/// passes, or of the Ascend toolchain's fusions, which stand for the passes that do the same. A
/// fusion without such a pass is a warning, and so is a name that nobody knows.
std::vector<std::string> readDisabledPasses(const FlagValues &flags, const driver::Target &target,
                                            Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_FUSIONSWITCHES_H
