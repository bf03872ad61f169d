//===-- GraphOptionsFile.cpp - options of graph programs in a file --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/GraphOptionsFile.h"

#include "support/GraphOptions.h"
#include "tools/atc/SettingsFile.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace atc::tools {

namespace {

class OptionsReader {
public:
  OptionsReader(const SettingsFile &file, FlagValues &flags, Diagnostics &diagnostics)
      : file(file), flags(flags), diagnostics(diagnostics) {}

  void run() {
    const auto json = file.json(diagnostics);
    if (!json)
      return;
    const auto options = json->is_object() ? json->find("compile options") : json->end();
    if (!json->is_object() || options == json->end() || !options->is_object()) {
      diagnostics.error("E10032", file.origin() + " must be {\"compile options\": {\"global\": "
                                                  "{...}, \"session\": {...}, \"graph\": {...}}}");
      return;
    }
    // What a program sets for its runs does not concern the compiler.
    for (const auto &[key, ignored] : json->items())
      if (key != "compile options" && key != "execute options")
        diagnostics.error("E10032", file.origin() + ": \"" + key +
                                        "\" is not known; options stand in \"compile options\"");
    for (const auto &[level, values] : options->items())
      if (!is_contained(levels, level) || !values.is_object())
        diagnostics.error("E10032", file.origin() + ": \"" + level +
                                        "\" of \"compile options\" must be \"global\", "
                                        "\"session\" or \"graph\", with an object of options");
    for (StringRef level : levels)
      if (auto values = options->find(level.str()); values != options->end() && values->is_object())
        for (const auto &[name, value] : values->items())
          add(name, value);
  }

private:
  static std::string twinOf(StringRef flag) {
    if (flag == "precision_mode")
      return "precision_mode_v2";
    return flag == "precision_mode_v2" ? "precision_mode" : "";
  }

  void add(const std::string &name, const nlohmann::ordered_json &value) {
    if (!value.is_string()) {
      diagnostics.error("E10032",
                        file.origin() + ": the value of \"" + name + "\" must be a string");
      return;
    }
    const std::optional<std::string> flag = flagOfGraphOption(name);
    if (!flag) {
      const std::string text = file.origin() + ": the option \"" + name + "\" is not known";
      if (flags.getBool("raw_ge_options_ignore_unsupported"))
        diagnostics.warning("W10055", text + ", and has no effect");
      else
        diagnostics.error("E10055", text + ": leave it out, or give "
                                           "--raw_ge_options_ignore_unsupported=true");
      return;
    }
    const std::string text = value.get<std::string>();
    // Two flags may state one thing: that which was given, or comes later, replaces the other one.
    const std::string twin = twinOf(*flag);
    auto isGiven = [&](const std::string &name) {
      return flags.has(name) && !is_contained(added, name);
    };
    if (flag->empty() || text.empty() || isGiven(*flag) || isGiven(twin))
      return;
    flags.given.erase(twin);
    if (*flag == "soc_version") {
      diagnostics.error("E10001", file.origin() + ": \"" + name +
                                      "\" cannot be an option of the file: give --soc_version");
      return;
    }
    const std::string argument = "--" + *flag + "=" + text;
    const FlagValues one = parseFlags({argument.c_str()}, diagnostics);
    flags.given.insert_or_assign(*flag, one.get(*flag));
    added.push_back(*flag);
  }

  static constexpr StringRef levels[] = {"global", "session", "graph"};
  const SettingsFile &file;
  FlagValues &flags;
  Diagnostics &diagnostics;
  std::vector<std::string> added; ///< flags that the file has set
};

} // namespace

void addGraphOptions(FlagValues &flags, Diagnostics &diagnostics) {
  // An empty name is told with the other flags.
  if (!flags.has("raw_ge_options") || flags.get("raw_ge_options").empty())
    return;
  if (auto file = SettingsFile::read("raw_ge_options", flags.get("raw_ge_options"), diagnostics))
    OptionsReader(*file, flags, diagnostics).run();
}

} // namespace atc::tools
