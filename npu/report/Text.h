//===-- Text.h - strings and numbers in JSON --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_REPORT_TEXT_H
#define OPENATC_NPU_REPORT_TEXT_H

#include <charconv>
#include <cstdint>
#include <string>

namespace atc::npu {

/// As a JSON string. `<` is escaped too: the text may stand inside a page.
inline std::string quoted(const std::string &text) {
  static const char digits[] = "0123456789abcdef";
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (uint8_t(c) < 32 || c == '<')
      result.append("\\u00").append(1, digits[uint8_t(c) >> 4]).append(1, digits[c & 15]);
    else
      result += c;
  }
  return result + '"';
}

/// With so many digits behind the point; never in exponent form.
inline std::string fixed(double value, int digits) {
  char text[340];
  auto [end, fault] =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits);
  return fault == std::errc() ? std::string(text, end) : "0";
}

} // namespace atc::npu

#endif
