//===-- SettingsFile.h - text files that flags name -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_SETTINGSFILE_H
#define OPENATC_TOOLS_ATC_SETTINGSFILE_H

#include "support/Diagnostics.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace atc::tools {

/// A line of a settings file, without the blanks around it.
struct SettingsLine {
  std::string text;
  std::string origin; ///< `--keep_dtype (keep.txt:3)`
};

/// The file that a flag names.
class SettingsFile {
public:
  /// Reads the whole file, at most 16 MB. Null after an error.
  static std::optional<SettingsFile> read(llvm::StringRef flag, const std::string &path,
                                          Diagnostics &diagnostics);

  /// Returns the lines that are neither empty nor a comment (# or ;).
  std::vector<SettingsLine> lines() const;
  /// Returns the file as JSON; nothing after an error with this code, which names the line.
  std::optional<nlohmann::ordered_json> json(Diagnostics &diagnostics,
                                             ErrorCode code = "E10032") const;
  /// Returns whether the first character that is no blank is a brace or a bracket.
  bool looksLikeJson() const;
  /// Returns `--keep_dtype (keep.txt)`, or with the number of a line.
  std::string origin(size_t line = 0) const;

private:
  std::string flag, path, text;
};

/// A line `name = value` of a file with the sections [ByOpType], which is the first one, and
/// [ByNodeName].
struct SettingsRule {
  std::string name, value; ///< what is behind the last equals sign is the value
  bool isType = true;      ///< in [ByOpType]
  SettingsLine line;
};

/// Calls `use` for each rule of a file; a section of another name is an error (E10001).
void forEachRule(const SettingsFile &file, Diagnostics &diagnostics,
                 llvm::function_ref<void(const SettingsRule &)> use);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_SETTINGSFILE_H
