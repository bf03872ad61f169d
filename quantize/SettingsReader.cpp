//===-- SettingsReader.cpp - checks of the values of settings -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/SettingsReader.h"

#include <cstdio>

namespace atc::quantize {

using Json = nlohmann::json;

bool SettingsReader::addError(const std::string &path, const std::string &reason) {
  diagnostics.error("E10001", "the file \"" + name + "\": the value of \"" + path + "\" " + reason);
  return false;
}

void SettingsReader::addUnknown(const std::string &path) {
  diagnostics.error("E10001", "the file \"" + name + "\": \"" + path + "\" is not known");
}

bool SettingsReader::isObject(const Json &json, const std::string &path) {
  return json.is_object() || addError(path, "must be settings in { }");
}

bool SettingsReader::readText(const Json &json, const std::string &path, std::string &value) {
  if (!json.is_string())
    return addError(path, "must be text");
  value = json.get<std::string>();
  return true;
}

bool SettingsReader::readBool(const Json &json, const std::string &path, bool &value) {
  if (json.is_boolean())
    value = json.get<bool>();
  else if (json.is_number_integer() && (json == 0 || json == 1))
    value = json == 1;
  else
    return addError(path, "must be true or false");
  return true;
}

bool SettingsReader::readNumber(const Json &json, const std::string &path, double min, double max,
                                double &value) {
  if (!json.is_number() || !(json.get<double>() >= min && json.get<double>() <= max)) {
    char text[64];
    std::snprintf(text, sizeof text, "must be a number from %g to %g", min, max);
    return addError(path, text);
  }
  value = json.get<double>();
  return true;
}

void SettingsReader::readNames(const Json &json, const std::string &path,
                               std::set<std::string> &into) {
  for (const Json &item : json.is_array() ? json : Json::array({json})) {
    if (item.is_string())
      into.insert(item.get<std::string>());
    else
      addError(path, "must be a list of names");
  }
}

} // namespace atc::quantize
