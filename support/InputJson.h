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
#include <vector>

namespace atc {

/// The maximum number of names in an object that keeps their order, which it searches from the
/// front each time.
inline constexpr size_t kMaxOrderedNames = 10000;

/// Parses JSON, with comments where `withComments`. Returns "", or the reason why it cannot be
/// used; `at` is then the byte where that shows, or npos where it has no place.
template <typename Json>
std::string parseInputJson(std::string_view text, Json &json, bool withComments = false,
                           size_t *at = nullptr) {
  constexpr bool isOrdered = std::is_same_v<Json, nlohmann::ordered_json>;
  bool isTooDeep = false, isTooWide = false;
  std::vector<size_t> names(kMaxJsonDepth + 2); // of the open objects, by their depth
  auto watch = [&](int depth, typename Json::parse_event_t event, Json &) {
    isTooDeep |= depth > kMaxJsonDepth;
    const size_t level = std::min(depth, kMaxJsonDepth + 1);
    if (event == Json::parse_event_t::object_start)
      names[std::min(level + 1, names.size() - 1)] = 0;
    if (isOrdered && event == Json::parse_event_t::key)
      isTooWide |= ++names[level] > kMaxOrderedNames;
    // What is left out takes neither memory nor time.
    return !isTooDeep && !isTooWide;
  };
  std::string reason;
  if (at)
    *at = std::string::npos;
  try {
    json = Json::parse(text, watch, /*allow_exceptions=*/true, withComments);
  } catch (const nlohmann::json::parse_error &error) {
    if (at)
      *at = std::min(error.byte, text.size());
    reason = std::string("is not valid JSON: ") + error.what();
  } catch (const nlohmann::json::exception &error) {
    // A number that no double holds; the text of the error may be as long as the file.
    constexpr size_t maxLength = 200;
    reason = "is not valid JSON: " + std::string(error.what()).substr(0, maxLength);
  }
  // What ends too early may have been too deep before.
  if (at && (isTooDeep || isTooWide))
    *at = std::string::npos;
  if (isTooDeep)
    return depthReason(kMaxJsonDepth);
  if (isTooWide)
    return "has an object with more than " + std::to_string(kMaxOrderedNames) + " names";
  return reason;
}

} // namespace atc

#endif // OPENATC_SUPPORT_INPUTJSON_H
