//===-- CommandLine.h - reports errors of a command line ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_COMMANDLINE_H
#define OPENATC_TOOLS_COMMON_COMMANDLINE_H

#include "support/ErrorCodes.h"
#include "support/OneLine.h"
#include "tools/common/Print.h"

#include <CLI/CLI.hpp>

namespace atc::tools {

/// Ends a tool whose command line was not accepted: prints help or version where requested, else
/// one line with an error code. Returns the exit code.
inline int finishParsing(const CLI::App &app, const CLI::ParseError &outcome) {
  if (outcome.get_exit_code() == 0)
    return app.exit(outcome);
  const auto kind = static_cast<CLI::ExitCodes>(outcome.get_exit_code());
  const ErrorCode code = kind == CLI::ExitCodes::RequiredError ? ErrorCode("E10007")
                         : kind == CLI::ExitCodes::ExtrasError ? ErrorCode("E10055")
                                                               : ErrorCode("E10001");
  print(stderr, "%s; --help lists all options.\n",
        codedLine(code, oneLine(outcome.what())).c_str());
  return 1;
}

} // namespace atc::tools

#endif
