//===-- SingleOps.h - compiles the operators of a .json file --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_SINGLEOPS_H
#define OPENATC_TOOLS_ATC_SINGLEOPS_H

#include "tools/atc/Options.h"

namespace atc::tools {

/// Compiles each operator of --singleop into an .om in the folder of --output, which is made
/// where it is missing. The command line that an .om states has the operator as --singleop. After
/// an error there are no files of operators behind it.
void compileSingleOps(const AtcOptions &options, const FlagValues &flags, Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_SINGLEOPS_H
