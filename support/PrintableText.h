//===-- PrintableText.h - text that is safe to print ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every text that a tool prints goes through one of these functions, because names of nodes,
// tensors and files may contain anything: escape sequences of the terminal, newlines, marks that
// reverse the order of characters. The runtime, which has no C++ library, has the rules in
// runtime-lite/src/PrintableText.h.

#ifndef OPENATC_SUPPORT_PRINTABLETEXT_H
#define OPENATC_SUPPORT_PRINTABLETEXT_H

#include "runtime-lite/src/PrintableText.h"

#include <string>
#include <string_view>

namespace atc {

/// Calls `add(step, text)` for every character of a text, with its bytes.
template <typename Add> void forEachStep(std::string_view text, Add add) {
  for (size_t at = 0; at < text.size();) {
    const rt::TextStep step = rt::firstStep(text.data() + at, text.size() - at);
    add(step, text.substr(at, step.bytes));
    at += step.bytes;
  }
}

namespace detail {

/// Appends a character in printable form.
inline void appendShown(std::string &to, const rt::TextStep &step, std::string_view text) {
  char shown[rt::shownBytes];
  to.append(shown, rt::showStep(step, text.data(), shown));
}

/// Appends a character as \u escapes of JSON: one, or two above U+FFFF.
inline void appendJsonEscape(std::string &to, uint32_t code) {
  auto unit = [&](uint32_t value) {
    to += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4)
      to += "0123456789abcdef"[value >> shift & 15];
  };
  if (code > 0xFFFF)
    unit(0xD7C0 + (code >> 10));
  unit(code > 0xFFFF ? 0xDC00 + (code & 0x3FF) : code);
}

} // namespace detail

/// Returns text for one line of a message or a cell of a table: unprintable characters
/// (rt::isPrintable) are escaped as "\n", "\x1B" or "\u202E", everything else is unchanged. The
/// function is idempotent.
inline std::string printable(std::string_view text) {
  std::string result;
  forEachStep(text, [&](const rt::TextStep &step, std::string_view bytes) {
    detail::appendShown(result, step, bytes);
  });
  return result;
}

/// Returns text of several lines as printable text, keeping the newlines. Names in it must have
/// gone through printable() before, or their newlines would be kept too.
inline std::string printableLines(std::string_view text) {
  std::string result;
  forEachStep(text, [&](const rt::TextStep &step, std::string_view bytes) {
    if (step.code == '\n')
      result += '\n';
    else
      detail::appendShown(result, step, bytes);
  });
  return result;
}

/// Returns a text as valid UTF-8 for JSON: U+FFFD replaces every byte that is not UTF-8.
inline std::string asUtf8(std::string_view text) {
  std::string result;
  forEachStep(text, [&](const rt::TextStep &step, std::string_view bytes) {
    result += step.valid ? bytes : "\xEF\xBF\xBD";
  });
  return result;
}

/// Returns an equivalent JSON document that is printable: between tokens only newlines are
/// unprintable, so that every other such character stands in a string, where it is escaped as \u.
/// Bytes that are not UTF-8 become U+FFFD.
inline std::string printableJson(std::string_view json) {
  std::string result;
  forEachStep(json, [&](const rt::TextStep &step, std::string_view bytes) {
    if (!step.valid)
      detail::appendJsonEscape(result, 0xFFFD);
    else if (step.code == '\n' || rt::isPrintable(step.code))
      result += bytes;
    else
      detail::appendJsonEscape(result, step.code);
  });
  return result;
}

/// Returns printable text as the content of an HTML element or attribute.
inline std::string htmlText(std::string_view text) {
  std::string result;
  for (char c : printable(text))
    result += c == '<'    ? "&lt;"
              : c == '>'  ? "&gt;"
              : c == '&'  ? "&amp;"
              : c == '"'  ? "&quot;"
              : c == '\'' ? "&#39;"
                          : std::string(1, c);
  return result;
}

/// Returns a text of at most `head + tail` bytes unchanged, else its first `head` and last `tail`
/// bytes with "..." between them, truncated between characters.
inline std::string shortened(std::string_view text, size_t head, size_t tail) {
  if (text.size() <= head + tail)
    return std::string(text);
  auto isInside = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  size_t end = text.size() - tail;
  while (head > 0 && isInside(head))
    --head;
  while (end < text.size() && isInside(end))
    ++end;
  return std::string(text.substr(0, head)).append("...").append(text.substr(end));
}

/// Returns the number of columns of a terminal that a printable text takes: one per character, two
/// for East Asian wide characters.
inline size_t columnsOf(std::string_view text) {
  auto isWide = [](uint32_t code) {
    return (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
           (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
           (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF01 && code <= 0xFF60) ||
           (code >= 0xFFE0 && code <= 0xFFE6) || (code >= 0x1F300 && code <= 0x1FAFF) ||
           (code >= 0x20000 && code <= 0x3FFFD);
  };
  size_t columns = 0;
  forEachStep(text, [&](const rt::TextStep &step, std::string_view) {
    columns += step.valid && isWide(step.code) ? 2 : 1;
  });
  return columns;
}

/// Returns a printable text padded with spaces to at least `columns` columns of a terminal.
inline std::string padded(std::string text, size_t columns) {
  const size_t used = columnsOf(text);
  return used < columns ? text.append(columns - used, ' ') : text;
}

} // namespace atc

#endif
