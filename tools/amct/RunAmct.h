//===-- RunAmct.h - quantizes models, compares them --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_AMCT_RUNAMCT_H
#define OPENATC_TOOLS_AMCT_RUNAMCT_H

namespace atc::tools {

/// Runs the tool `amct` on its command line, of which the first word is its name. Prints to the
/// standard streams. Returns the exit code: 0, or 1 after an error.
int runAmct(int argc, char **argv);

} // namespace atc::tools

#endif // OPENATC_TOOLS_AMCT_RUNAMCT_H
