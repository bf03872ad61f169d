//===-- Utf8.cpp - characters of UTF-8 and their cases --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/text/Strings.h"

namespace atc::kernels {

namespace {
#include "kernels/text/CaseTable.inc"

template <int N> uint32_t mapped(const int32_t (&table)[N][4], uint32_t character) {
  const int32_t c = int32_t(character);
  for (const auto &row : table) {
    if (c < row[0])
      break; // rows begin in ascending order
    if (c <= row[1] && (c - row[0]) % row[2] == 0)
      return uint32_t(c + row[3]);
  }
  return character;
}

/// Above all of Unicode: a byte that belongs to no character.
constexpr uint32_t kStrayByte = 0x110000;
} // namespace

uint32_t decodeUtf8(String text, uint64_t &at) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(text.data);
  const uint8_t first = bytes[at++];
  if (first < 0x80)
    return first;
  const uint64_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc2 || first > 0xf4 || more > text.size - at)
    return kStrayByte + first;
  uint32_t character = first & (0x3f >> more);
  for (uint64_t i = 0; i < more; ++i) {
    if ((bytes[at + i] & 0xc0) != 0x80)
      return kStrayByte + first;
    character = character << 6 | (bytes[at + i] & 0x3f);
  }
  const bool tooLong = character < (more == 1 ? 0x80u : more == 2 ? 0x800u : 0x10000u);
  if (tooLong || character > 0x10ffff)
    return kStrayByte + first;
  at += more;
  return character;
}

int64_t encodeUtf8(char *to, uint32_t c) {
  if (c >= kStrayByte) {
    to[0] = char(c - kStrayByte);
    return 1;
  }
  if (c < 0x80) {
    to[0] = char(c);
    return 1;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  to[0] = char((more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0) | c >> (6 * more));
  for (int i = 1; i <= more; ++i)
    to[i] = char(0x80 | (c >> (6 * (more - i)) & 0x3f));
  return 1 + more;
}

uint32_t lowerCase(uint32_t character) { return mapped(kToLower, character); }
uint32_t upperCase(uint32_t character) { return mapped(kToUpper, character); }

int upperCases(uint32_t character, uint32_t (&to)[3]) {
  for (const auto &row : kToSeveral)
    if (uint32_t(row[0]) == character) {
      for (int i = 0; i < 3; ++i)
        to[i] = uint32_t(row[1 + i]);
      return to[2] ? 3 : 2;
    }
  to[0] = upperCase(character);
  return 1;
}

} // namespace atc::kernels
