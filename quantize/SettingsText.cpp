//===-- SettingsText.cpp - settings as JSON or text -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/SettingsText.h"

#include "frontends/TextMessage.h"

namespace atc::quantize {

bool parseSettings(const std::string &text, const std::string &name, nlohmann::json &json,
                   Diagnostics &diagnostics) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') {
    json =
        nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false, /*ignore_comments=*/true);
    if (!json.is_discarded())
      return true;
    diagnostics.error("E10032", "the file \"" + name + "\" is not valid JSON");
    return false;
  }
  std::string errorText;
  if (auto message = parseTextMessage(text, errorText)) {
    json = *message;
    return true;
  }
  diagnostics.error("E13018", "the file \"" + name + "\" cannot be read: " + errorText);
  return false;
}

} // namespace atc::quantize
