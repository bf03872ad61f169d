//===-- FatalErrors.h - reports fatal errors of a tool ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_FATALERRORS_H
#define OPENATC_TOOLS_COMMON_FATALERRORS_H

namespace atc::tools {

/// Makes the process print one line with an error code and exit with 1, instead of aborting, when
/// memory is exhausted (E19001; also for malloc, calloc and realloc, which then do not return
/// null), when the stack of the main thread is exhausted (E19002), or when LLVM or an uncaught
/// exception ends it (E19999). The line goes to `descriptor` (1 or 2), after `before`, which must
/// live as long as the process. Nothing is freed or flushed then (only removeUnusedFolders is
/// called): unfinished files must be such that they disappear with the process.
void installFatalErrorHandlers(int descriptor, const char *before = "");

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_FATALERRORS_H
