//===-- JsonDepth.h - how deep JSON may be nested ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsers that call themselves for each bracket take the whole stack of their thread for a file of
// brackets alone: what they read is checked with this function before.

#ifndef OPENATC_SUPPORT_JSONDEPTH_H
#define OPENATC_SUPPORT_JSONDEPTH_H

#include <string>
#include <string_view>

namespace atc {

/// The maximum nesting of a file of settings.
inline constexpr int kMaxJsonDepth = 64;

/// Returns the sentence about JSON that is nested deeper than kMaxJsonDepth.
inline std::string jsonDepthReason() {
  return "is nested deeper than " + std::to_string(kMaxJsonDepth) + " levels";
}

/// Returns whether brackets outside of texts are nested deeper than kMaxJsonDepth. The text need
/// not be valid JSON.
inline bool isJsonTooDeep(std::string_view text) {
  int depth = 0;
  bool isText = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (isText && c == '\\')
      ++at;
    else if (c == '"')
      isText = !isText;
    else if (!isText && (c == '[' || c == '{') && ++depth > kMaxJsonDepth)
      return true;
    else if (!isText && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

} // namespace atc

#endif // OPENATC_SUPPORT_JSONDEPTH_H
