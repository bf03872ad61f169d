//===-- FatalErrors.h - the last words of a tool ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_FATALERRORS_H
#define OPENATC_TOOLS_COMMON_FATALERRORS_H

namespace atc::tools {

/// Makes sure that the process ends with one coded line and exit status 1, and not with an abort,
/// when memory is exhausted (E19001, also for malloc, calloc and realloc, which then do not return
/// null), the stack of the main thread is (E19002), or LLVM or an exception that nobody catches
/// ends it (E19999). The line goes to `descriptor` (1 or 2), behind `before`, which must live as
/// long as the process. Nothing is freed or flushed then: files in the making must be such that
/// they vanish with the process.
void installFatalErrorHandlers(int descriptor, const char *before = "");

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_FATALERRORS_H
