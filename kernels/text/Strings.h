//===-- Strings.h - converts numbers to text, and UTF-8 -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_TEXT_STRINGS_H
#define OPENATC_KERNELS_TEXT_STRINGS_H

#include "kernels/core/Numbers.h"

namespace atc::kernels {

/// The maximum number of characters that printNumber writes.
inline constexpr int64_t kNumberText = 32;

/// A floating-point format: bits of the significand and the exponent of the smallest subnormal
/// number.
struct RealFormat {
  int bits, minExponent;
};
inline constexpr RealFormat kDouble = {53, -1074}, kFloat = {24, -149}, kHalf = {11, -24},
                            kBFloat = {8, -133};

/// Writes the shortest decimals that read back as the same value of `format`: "0.1", "1.0",
/// "1e-05", "NaN", "INF", "-INF". Returns the number of characters, at most kNumberText.
int64_t printReal(char *to, double value, RealFormat format);
/// The maximum number of digits behind the point that printFixed writes, and of characters.
inline constexpr int kMaxDigits = 60;
inline constexpr int64_t kFixedText = 320 + kMaxDigits;
/// Writes the exact value rounded to `digits` behind the point, ties to even: "0.50", "-inf",
/// "nan". Returns the number of characters.
int64_t printFixed(char *to, double value, int digits);
/// Ways to write a real number, as %f, %e and %g of printf.
enum class Notation { Fixed, Scientific, Shortest };
/// Writes the exact value rounded to `digits` in a notation, ties to even: "5.00e-01", "0.5". With
/// `keepsPoint` there is a point also in front of no digits, and zeros at the end stay. Returns the
/// number of characters, at most kFixedText.
int64_t printReal(char *to, double value, Notation notation, int digits, bool keepsPoint);
/// Parses plain and scientific notation, "INF" and "NaN" in any case, surrounded by white space,
/// rounded once to `format`. Returns false for anything else.
bool parseReal(String text, double &value, RealFormat format);

/// Write a value as text and return the number of characters, at most kNumberText.
int64_t printNumber(char *to, int64_t value);
int64_t printNumber(char *to, uint64_t value);
inline int64_t printNumber(char *to, double value) { return printReal(to, value, kDouble); }
inline int64_t printNumber(char *to, float value) { return printReal(to, value, kFloat); }
inline int64_t printNumber(char *to, Half value) { return printReal(to, float(value), kHalf); }
inline int64_t printNumber(char *to, BFloat value) { return printReal(to, float(value), kBFloat); }

/// Reads a number from the whole text, correctly rounded; returns false when it is none.
inline bool parseNumber(String text, double &value) { return parseReal(text, value, kDouble); }
inline bool parseNumber(String text, float &value) {
  double wide;
  if (!parseReal(text, wide, kFloat))
    return false;
  value = float(wide);
  return true;
}
/// Parse integers exactly; the fraction of other numbers ("100.5", "1e3") is truncated. Return
/// false for other text.
bool parseNumber(String text, int64_t &value);
bool parseNumber(String text, uint64_t &value);

//===----------------------------------------------------------------------===//
// UTF-8
//===----------------------------------------------------------------------===//

/// Returns the character at byte `at` and advances `at` behind it. A byte that does not start a
/// character is decoded as a character above all of Unicode, so that nothing is lost.
uint32_t decodeUtf8(String text, uint64_t &at);
/// Writes a character to `to` (room for 4 bytes) and returns the number of bytes.
int64_t encodeUtf8(char *to, uint32_t character);
/// Return the simple case mapping of a character.
uint32_t lowerCase(uint32_t character);
uint32_t upperCase(uint32_t character);
/// Writes the characters that are the upper case of one, "SS" of a sharp s, and returns how many.
int upperCases(uint32_t character, uint32_t (&to)[3]);
/// Above the last character of Unicode nothing is decoded but bytes that are no UTF-8.
inline constexpr uint32_t kLastCharacter = 0x10ffff;

/// Is it white space, a digit, or a letter of ASCII?
inline bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool isDigit(char c) { return c >= '0' && c <= '9'; }
inline bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
/// Returns the part of a text between the white space around it.
inline String trimmed(String text) {
  while (text.size && isSpace(text.data[0]))
    ++text.data, --text.size;
  while (text.size && isSpace(text.data[text.size - 1]))
    --text.size;
  return text;
}

/// Compares bytes; returns a value below 0, 0, or above 0.
inline int compare(String a, String b) {
  const int order = __builtin_memcmp(a.data, b.data, minimum(a.size, b.size));
  return order ? order : a.size < b.size ? -1 : a.size > b.size;
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_TEXT_STRINGS_H
