//===-- OptionTable.h - the options of a tool as data ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every tool prints its options as JSON when `--help-json` is its only argument. Man pages and
// completions are made from it (scripts/make_man.py), so that they cannot differ from the tool.

#ifndef OPENATC_TOOLS_COMMON_OPTIONTABLE_H
#define OPENATC_TOOLS_COMMON_OPTIONTABLE_H

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace atc::tools {

/// One option, flag or positional argument.
struct ListedOption {
  std::vector<std::string> names; ///< with their dashes; a positional argument has one without
  std::string value;              ///< what stands for the value in the synopsis; empty: a flag
  std::string group;              ///< the heading under which --help lists it
  std::string help;
  std::vector<std::string> choices; ///< values to complete; empty: any value
  bool isFile = false;              ///< the value is a path
  bool isRequired = false;
  bool isList = false; ///< the value is a comma-separated list of choices
};

/// A tool, or one of its subcommands.
struct ListedCommand {
  std::string name, text, footer; ///< `footer` is what --help prints last
  std::vector<ListedOption> options;
  std::vector<ListedCommand> commands;
};

/// Returns whether `--help-json` is the only argument.
bool wantsOptionTable(int argc, const char *const *argv);

/// Returns the table of a tool whose command line CLI11 parses.
ListedCommand listOptions(const CLI::App &app);

/// Returns a table as JSON, several lines that end with a newline.
std::string optionTableJson(const ListedCommand &command);

/// Prints the table of `app` where it is wanted; returns whether it did.
bool printOptionTable(const CLI::App &app, const std::string &name, int argc,
                      const char *const *argv);

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_OPTIONTABLE_H
