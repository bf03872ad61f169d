//===-- SettingsReader.h - checks of the values of settings ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_SETTINGSREADER_H
#define OPENATC_QUANTIZE_SETTINGSREADER_H

#include "support/Diagnostics.h"

#include <nlohmann/json.hpp>

#include <set>
#include <string>

namespace atc::quantize {

/// The base of all readers of configurations. Each function checks the value of one key and reports
/// an error as E10001, with the file and the path of the key (`common_config.num_bits`). Invalid
/// values are not stored, so reading continues and one run reports all errors of a file.
class SettingsReader {
public:
  /// `name` is that of the file, for messages; both must live as long as the reader.
  SettingsReader(const std::string &name, Diagnostics &diagnostics)
      : name(name), diagnostics(diagnostics) {}

  /// Reports that the value of `path` is wrong: `reason` continues the sentence ("must be text").
  /// Returns false, so that a check can return what this returns.
  bool addError(const std::string &path, const std::string &reason);
  /// Reports a key that is not among the settings.
  void addUnknown(const std::string &path);

  /// Returns whether `json` is an object of settings.
  bool isObject(const nlohmann::json &json, const std::string &path);
  /// The values: each returns whether `json` was right and `value` is set.
  bool readText(const nlohmann::json &json, const std::string &path, std::string &value);
  /// Also accepts 0 and 1, which the vendor's files use for bools.
  bool readBool(const nlohmann::json &json, const std::string &path, bool &value);
  bool readNumber(const nlohmann::json &json, const std::string &path, double min, double max,
                  double &value);
  /// Adds one name or a list of names to `into`.
  void readNames(const nlohmann::json &json, const std::string &path, std::set<std::string> &into);

protected:
  const std::string &name;
  Diagnostics &diagnostics;
};

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_SETTINGSREADER_H
