//===-- InputJson.h - JSON that users write ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of settings are read through this function: a file of brackets alone must not take the
// whole stack of whoever walks through the value, and one of names alone not hours.

#ifndef OPENATC_SUPPORT_INPUTJSON_H
#define OPENATC_SUPPORT_INPUTJSON_H

#include "support/TextDepth.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>

namespace atc {

/// The maximum number of names in an object that keeps their order, which it searches from the
/// front each time.
inline constexpr size_t kMaxOrderedNames = 10000;

/// Parses JSON, with comments where `withComments`. Returns "", or the reason why it cannot be
/// used; `at` is then the byte where that shows, or npos where it has no place.
template <typename Json>
std::string parseInputJson(std::string_view text, Json &json, bool withComments = false,
                           size_t *at = nullptr) {
  // Not by a callback of the parser: with one, arrays of objects take time that grows with the
  // square of their length.
  const JsonExtent extent = measureJson(text, withComments);
  if (at)
    *at = std::string::npos;
  if (extent.depth > kMaxJsonDepth)
    return depthReason(kMaxJsonDepth);
  if (std::is_same_v<Json, nlohmann::ordered_json> && extent.names > kMaxOrderedNames)
    return "has an object with more than " + std::to_string(kMaxOrderedNames) + " names";
  try {
    json = Json::parse(text, nullptr, /*allow_exceptions=*/true, withComments);
  } catch (const nlohmann::json::parse_error &error) {
    if (at)
      *at = std::min(error.byte, text.size());
    return std::string("is not valid JSON: ") + error.what();
  } catch (const nlohmann::json::exception &error) {
    // A number that no double holds; the text of the error may be as long as the file.
    constexpr size_t maxLength = 200;
    return "is not valid JSON: " + std::string(error.what()).substr(0, maxLength);
  }
  return "";
}

} // namespace atc

#endif // OPENATC_SUPPORT_INPUTJSON_H
