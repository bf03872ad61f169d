//===-- HelpText.h - the text of --help -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_HELPTEXT_H
#define OPENATC_TOOLS_COMMON_HELPTEXT_H

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

namespace atc::tools {

/// Prints each option once: of names that differ only in '-' and '_' the first, without the values
/// that a flag sets and without what checks a value.
class HelpText : public CLI::Formatter {
public:
  std::string make_option_name(const CLI::Option *option, bool isPositional) const override {
    if (isPositional)
      return CLI::Formatter::make_option_name(option, isPositional);
    std::string text, taken = ",";
    auto add = [&](const std::string &dashes, const std::string &name) {
      std::string plain = name;
      std::replace(plain.begin(), plain.end(), '-', '_');
      if (taken.find("," + plain + ",") != std::string::npos)
        return;
      taken += plain + ",";
      text += (text.empty() ? "" : ",") + dashes + name;
    };
    for (const std::string &name : option->get_snames())
      add("-", name);
    for (const std::string &name : option->get_lnames())
      add("--", name);
    return text;
  }

  std::string make_option_opts(const CLI::Option *option) const override {
    if (option->get_items_expected_max() == 0)
      return "";
    const std::string type = option->get_type_name();
    return " " + type.substr(0, type.find(':')) + (option->get_required() ? " REQUIRED" : "");
  }
};

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_HELPTEXT_H
