//===-- TextDepth.h - how deep texts may be nested --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsers that call themselves for each bracket take the whole stack of their thread for a file of
// brackets alone: what they read is checked with these functions before.

#ifndef OPENATC_SUPPORT_TEXTDEPTH_H
#define OPENATC_SUPPORT_TEXTDEPTH_H

#include <algorithm>
#include <string>
#include <string_view>

namespace atc {

/// The maximum nesting of a file of settings.
inline constexpr int kMaxJsonDepth = 64;
/// The maximum nesting of MLIR: of regions, attributes and types together.
inline constexpr int kMaxMlirDepth = 1000;

/// Returns the sentence about a text that is nested deeper than `maxDepth`.
inline std::string depthReason(int maxDepth) {
  return "is nested deeper than " + std::to_string(maxDepth) + " levels";
}

/// Returns whether brackets outside of strings are nested deeper than kMaxJsonDepth. The text need
/// not be valid JSON.
inline bool isJsonTooDeep(std::string_view text) {
  int depth = 0;
  bool isString = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (isString && c == '\\')
      ++at;
    else if (c == '"')
      isString = !isString;
    else if (!isString && (c == '[' || c == '{') && ++depth > kMaxJsonDepth)
      return true;
    else if (!isString && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

/// Returns whether brackets outside of strings and comments, or signs in a row, are nested deeper
/// than kMaxMlirDepth. The text need not be valid MLIR.
inline bool isMlirTooDeep(std::string_view text) {
  int depth = 0, signs = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at], next = at + 1 < text.size() ? text[at + 1] : 0;
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
        at += text[at] == '\\';
    } else if (c == '/' && next == '/') {
      at = std::min(text.find('\n', at), text.size());
    } else if ((c == '-' || c == '=') && next == '>') {
      ++at; // an arrow or a relation
    } else if (c == '>' && next == '=') {
      ++at;
    } else if (c == '-') {
      if (++signs > kMaxMlirDepth)
        return true;
      continue;
    } else if (std::string_view("([{<").find(c) != std::string_view::npos) {
      if (++depth > kMaxMlirDepth)
        return true;
    } else if (std::string_view(")]}>").find(c) != std::string_view::npos) {
      depth -= depth > 0;
    }
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
      signs = 0;
  }
  return false;
}

} // namespace atc

#endif // OPENATC_SUPPORT_TEXTDEPTH_H
