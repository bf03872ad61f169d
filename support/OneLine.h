//===-- OneLine.h - messages as one readable line -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_ONELINE_H
#define OPENATC_SUPPORT_ONELINE_H

#include <string>
#include <string_view>

namespace atc {

/// A message as it goes to the user: on one line, without control characters
/// and with the middle of endless words left out, whatever names a file has.
inline std::string oneLine(std::string_view text) {
  constexpr size_t longest = 600, kept = 200;
  auto isSpace = [](unsigned char c) { return c <= 0x20 || c == 0x7F; };
  std::string line;
  for (size_t at = 0; at < text.size();) {
    if (isSpace(text[at])) {
      line += ' ';
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && !isSpace(text[end]))
      ++end;
    const std::string_view word = text.substr(at, end - at);
    if (word.size() > longest)
      line.append(word.substr(0, kept)).append("...").append(word.substr(word.size() - kept));
    else
      line.append(word);
    at = end;
  }
  return line;
}

} // namespace atc

#endif
