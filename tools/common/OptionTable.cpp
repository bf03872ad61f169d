//===-- OptionTable.cpp - the options of a tool as data -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/OptionTable.h"

#include "openatc/om.h"
#include "tools/common/Print.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

using Json = nlohmann::ordered_json;

namespace atc::tools {

bool wantsOptionTable(int argc, const char *const *argv) {
  return argc == 2 && std::string_view(argv[1]) == "--help-json";
}

static ListedOption listOption(const CLI::Option &option) {
  ListedOption listed;
  for (const std::string &name : option.get_snames())
    listed.names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    listed.names.push_back("--" + name);
  if (option.get_positional())
    listed.names = {option.get_name(/*positional=*/true)};
  if (option.get_items_expected_max() > 0)
    listed.value = option.get_type_name();
  listed.group = option.get_group();
  listed.help = option.get_description();
  // The words by which the help of the tools denotes a path.
  for (const char *word : {"FILE", "DIR", "MODEL"})
    listed.isFile |= listed.value.find(word) != std::string::npos;
  listed.isFile |= option.get_positional();
  listed.isRequired = option.get_required();
  return listed;
}

ListedCommand listOptions(const CLI::App &app) {
  ListedCommand command{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option *option : app.get_options())
    command.options.push_back(listOption(*option));
  for (const CLI::App *part : app.get_subcommands([](const CLI::App *) { return true; }))
    command.commands.push_back(listOptions(*part));
  return command;
}

static Json toJson(const ListedCommand &command) {
  Json out = {{"name", command.name}, {"text", command.text}, {"footer", command.footer}};
  out["options"] = out["commands"] = Json::array();
  for (const ListedOption &option : command.options)
    out["options"].push_back({{"names", option.names},
                              {"value", option.value},
                              {"group", option.group},
                              {"help", option.help},
                              {"choices", option.choices},
                              {"file", option.isFile},
                              {"required", option.isRequired},
                              {"list", option.isList}});
  for (const ListedCommand &part : command.commands)
    out["commands"].push_back(toJson(part));
  return out;
}

std::string optionTableJson(const ListedCommand &command) {
  Json out = toJson(command);
  out["version"] = om_version();
  return out.dump(/*indent=*/1) + "\n";
}

bool printOptionTable(const CLI::App &app, const std::string &name, int argc,
                      const char *const *argv) {
  if (!wantsOptionTable(argc, argv))
    return false;
  ListedCommand command = listOptions(app);
  command.name = name;
  printLines(stdout, optionTableJson(command));
  return true;
}

} // namespace atc::tools
