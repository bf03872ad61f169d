//===-- PrintableText.h - text that is safe to print ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names come from files that anybody may have written. Printed as they are, they can
// move the cursor, colour the terminal, begin a line that looks like another message,
// or turn the order of characters around. The rules are here, without the C++ library,
// so that the runtime has them; C++ programs use support/PrintableText.h.

#ifndef OPENATC_RUNTIME_PRINTABLETEXT_H
#define OPENATC_RUNTIME_PRINTABLETEXT_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace atc::rt {

/// A step through a text: a character in UTF-8, or a byte that is part of none.
struct TextStep {
  uint32_t code;  ///< the character; the byte's value where `valid` is false
  uint32_t bytes; ///< of the text, from 1 to 4
  bool valid;
};

/// Returns the first step of a text of `size` bytes; `size` is at least 1.
inline TextStep firstStep(const char *text, size_t size) {
  const auto byteAt = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const uint32_t first = byteAt(0);
  if (first < 0x80)
    return {first, 1, true};
  const uint32_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  const uint32_t smallest = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  if (first < 0xC2 || first > 0xF4 || length > size)
    return {first, 1, false};
  uint32_t code = first & (0x7Fu >> length);
  for (uint32_t i = 1; i < length; ++i) {
    if ((byteAt(i) & 0xC0) != 0x80)
      return {first, 1, false};
    code = code << 6 | (byteAt(i) & 0x3F);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < smallest || code > 0x10FFFF || surrogate)
    return {first, 1, false};
  return {code, length, true};
}

/// Returns whether a character is visible and leaves its neighbours alone. False for control and
/// format characters (Unicode categories Cc, Cf, Zl, Zp), for invisible ones
/// (Default_Ignorable_Code_Point) and for noncharacters. True for the few format characters that
/// are signs, such as U+06DD.
inline bool isPrintable(uint32_t code) {
  struct Range {
    uint32_t first, last;
  };
  static constexpr Range hidden[] = {
      {0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},
      {0x61C, 0x61C},     {0x70F, 0x70F},     {0x115F, 0x1160},   {0x17B4, 0x17B5},
      {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
      {0x3164, 0x3164},   {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
      {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3},
      {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
  };
  if (code >= 0x20 && code < 0x7F)
    return true;
  for (const Range &range : hidden)
    if (code >= range.first && code <= range.last)
      return false;
  return (code & 0xFFFE) != 0xFFFE;
}

/// The maximum number of bytes that showStep writes.
constexpr size_t shownBytes = 10;

/// Writes a step that begins at `text` in printable form: the character itself, or "\n", "\x1B"
/// (control characters of ASCII and bytes that are not UTF-8), "\u202E" or "\U000E0001". A
/// backslash stays as it is: the result is for reading, and converting it again does not change it.
/// Returns the number of bytes written, at most `shownBytes`.
inline size_t showStep(const TextStep &step, const char *text, char *to) {
  if (step.valid && isPrintable(step.code)) {
    std::memcpy(to, text, step.bytes);
    return step.bytes;
  }
  const char *letter = nullptr;
  if (step.valid && step.code && step.code < 0x20)
    letter = std::strchr("\tt\nn\rr", static_cast<int>(step.code));
  to[0] = '\\';
  if (letter) {
    to[1] = letter[1];
    return 2;
  }
  const bool isByte = !step.valid || step.code < 0x80;
  const size_t digits = isByte ? 2 : step.code > 0xFFFF ? 8 : 4;
  to[1] = isByte ? 'x' : digits == 8 ? 'U' : 'u';
  for (size_t i = 0; i < digits; ++i)
    to[2 + i] = "0123456789ABCDEF"[step.code >> 4 * (digits - 1 - i) & 15];
  return 2 + digits;
}

/// Copies `size` bytes of text to `to` in the form of showStep and terminates them. Truncates
/// between characters where they do not fit into `room` bytes, which is at least 1.
inline void copyPrintable(char *to, size_t room, const char *text, size_t size) {
  char shown[shownBytes];
  size_t used = 0;
  for (size_t at = 0; at < size;) {
    const TextStep step = firstStep(text + at, size - at);
    const size_t bytes = showStep(step, text + at, shown);
    if (used + bytes >= room)
      break;
    std::memcpy(to + used, shown, bytes);
    used += bytes;
    at += step.bytes;
  }
  to[used] = 0;
}

} // namespace atc::rt

#endif
