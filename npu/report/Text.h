//===-- Text.h - strings and numbers in JSON --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_REPORT_TEXT_H
#define OPENATC_NPU_REPORT_TEXT_H

#include "support/PrintableText.h"

#include <charconv>
#include <string>
#include <string_view>

namespace atc::npu {

// Used for the names in messages and pages, which come from the model.
using atc::htmlText;
using atc::printable;

/// Returns text as a JSON string. Unprintable characters are escaped, and so is `<`: the string may
/// stand inside a page.
inline std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (c == '<' || c == '\n')
      detail::appendJsonEscape(result, static_cast<unsigned char>(c));
    else
      result += c;
  }
  return printableJson(result + '"');
}

/// Returns a value with `digits` digits after the point; never in exponent form.
inline std::string fixed(double value, int digits) {
  char text[340];
  auto [end, errorText] =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits);
  return errorText == std::errc() ? std::string(text, end) : "0";
}

} // namespace atc::npu

#endif
