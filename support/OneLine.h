//===-- OneLine.h - messages as one readable line -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_ONELINE_H
#define OPENATC_SUPPORT_ONELINE_H

#include "support/PrintableText.h"

#include <algorithm>

namespace atc {

/// Returns a message in the form in which users read it: on one line, with unprintable characters
/// escaped and the middle of very long words left out, and of a very long message (a list of
/// millions of numbers).
inline std::string oneLine(std::string_view message) {
  constexpr size_t longest = 600, kept = 200, head = 16000, tail = 4000;
  const std::string text = printable(message);
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = std::string_view(text).substr(at, end - at);
    if (word.size() > longest)
      line += shortened(word, kept, kept);
    else
      line += word;
    if (end < text.size())
      line += ' ';
    at = end + 1;
  }
  return shortened(line, head, tail);
}

} // namespace atc

#endif
