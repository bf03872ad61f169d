//===-- SettingsText.h - settings as JSON or text -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_SETTINGSTEXT_H
#define OPENATC_QUANTIZE_SETTINGSTEXT_H

#include "support/Diagnostics.h"

#include <nlohmann/json.hpp>

namespace atc::quantize {

/// Parses settings, which are JSON or the text form of protobuf. `name` is that of the file, for
/// messages. Returns false after an error.
bool parseSettings(const std::string &text, const std::string &name, nlohmann::json &json,
                   Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_SETTINGSTEXT_H
