//===-- CommandLine.cpp - what is wrong with a command line ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/CommandLine.h"

#include "support/NearestName.h"

#include <algorithm>

namespace atc::tools {

/// Returns the options that a command knows, as they are written.
static std::vector<std::string> optionsOf(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

/// Returns the commands of a tool by their names.
static std::vector<std::string> commandsOf(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// Returns a line for the option or command that does not exist, or for the command that is
/// missing; nothing where the command line has neither. CLI11 says only that a required option is
/// missing where its name has a typing error.
static std::string unknownWord(const CLI::App &app) {
  const CLI::App *command = &app;
  if (!app.get_subcommands().empty())
    command = app.get_subcommands().front();
  std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  const auto option = std::find_if(unknown.begin(), unknown.end(), [](const std::string &word) {
    return word.size() > 1 && word[0] == '-' && word != "--";
  });
  const std::vector<std::string> commands = commandsOf(app);
  const bool needsCommand = command == &app && app.get_require_subcommand_min() > 0;
  if (needsCommand && (unknown.empty() || option != unknown.begin())) {
    std::string list;
    for (const std::string &name : commands)
      list += (list.empty() ? "" : ", ") + name;
    if (unknown.empty())
      return codedLine(ErrorCode("E10007"), "a command is required: " + list);
    return codedLine(ErrorCode("E10055"), "\"" + oneLine(unknown.front()) +
                                              "\" is no command; the commands are " + list +
                                              didYouMean(unknown.front(), commands));
  }
  if (option == unknown.end())
    return {};
  const std::string name = option->substr(0, option->find('='));
  return codedLine(ErrorCode("E10055"), "the option \"" + oneLine(name) + "\" is not known" +
                                            didYouMean(name, optionsOf(*command)));
}

int finishParsing(const CLI::App &app, const CLI::ParseError &outcome) {
  if (outcome.get_exit_code() == 0)
    return app.exit(outcome);
  const auto kind = static_cast<CLI::ExitCodes>(outcome.get_exit_code());
  std::string line;
  if (kind == CLI::ExitCodes::RequiredError || kind == CLI::ExitCodes::ExtrasError)
    line = unknownWord(app);
  if (line.empty())
    line = codedLine(kind == CLI::ExitCodes::RequiredError ? ErrorCode("E10007")
                     : kind == CLI::ExitCodes::ExtrasError ? ErrorCode("E10055")
                                                           : ErrorCode("E10001"),
                     oneLine(outcome.what()));
  print(stderr, "%s%s --help lists all options.\n", line.c_str(), line.back() == '?' ? "" : ";");
  return 1;
}

} // namespace atc::tools
