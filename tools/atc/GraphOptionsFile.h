//===-- GraphOptionsFile.h - options of graph programs in a file ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_GRAPHOPTIONSFILE_H
#define OPENATC_TOOLS_ATC_GRAPHOPTIONSFILE_H

#include "tools/atc/Flags.h"

namespace atc::tools {

/// Adds what the file of --raw_ge_options sets, as the flags that its options stand for. Flags of
/// the command line stay as they are; of the file, "graph" takes precedence over "session", and
/// that over "global".
void addGraphOptions(FlagValues &flags, Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_GRAPHOPTIONSFILE_H
