//===-- SettingsText.cpp - settings as JSON or text -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/SettingsText.h"

#include "frontends/TextMessage.h"
#include "support/InputJson.h"

namespace atc::quantize {

bool parseSettings(const std::string &text, const std::string &name, nlohmann::json &json,
                   Diagnostics &diagnostics) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') {
    const std::string reason = parseInputJson(text, json, /*withComments=*/true);
    if (!reason.empty())
      diagnostics.error("E10032", "the file \"" + name + "\" " + reason);
    return reason.empty();
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
