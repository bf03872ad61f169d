//===-- CommandLine.h - parses the command line of a tool -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_COMMANDLINE_H
#define OPENATC_TOOLS_COMMON_COMMANDLINE_H

#include "support/ErrorCodes.h"
#include "support/OneLine.h"
#include "tools/common/OptionTable.h"
#include "tools/common/Print.h"

#include <CLI/CLI.hpp>

#include <cmath>
#include <limits>
#include <optional>

namespace atc::tools {

/// Checks of numbers from command lines. CLI11's own take a NaN, with which every comparison fails:
/// no limit and no tolerance would hold.
inline CLI::Validator finiteNumber(double min = std::numeric_limits<double>::lowest(),
                                   bool isOpen = false) {
  return CLI::Validator(
      [min, isOpen](std::string &text) -> std::string {
        double number = 0;
        if (!CLI::detail::lexical_cast(text, number))
          return text + " is no number";
        if (std::isfinite(number) && (isOpen ? number > min : number >= min))
          return "";
        if (!std::isfinite(number) || min == std::numeric_limits<double>::lowest())
          return text + " is no finite number";
        return text + (isOpen ? " is not more than " : " is less than ") +
               std::to_string(int64_t(min));
      },
      "");
}
inline CLI::Validator positiveNumber() { return finiteNumber(0, /*isOpen=*/true); }
inline CLI::Validator nonNegativeNumber() { return finiteNumber(0); }

/// Ends a tool whose command line was not accepted: prints help or version where requested, else
/// one line with an error code. Returns the exit code.
int finishParsing(const CLI::App &app, const CLI::ParseError &outcome);

/// Parses the command line of the tool `name`, or prints its options where that is asked for
/// (OptionTable.h). Returns the exit code where the tool ends with that, else nothing.
inline std::optional<int> parseCommandLine(CLI::App &app, const std::string &name, int argc,
                                           char **argv) {
  if (printOptionTable(app, name, argc, argv))
    return finishOutput(0);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &outcome) {
    return finishParsing(app, outcome);
  }
  return std::nullopt;
}

} // namespace atc::tools

#endif
