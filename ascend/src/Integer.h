//===-- Integer.h - integers in texts of callers ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_ASCEND_INTEGER_H
#define OPENATC_ASCEND_INTEGER_H

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace atc::ascend {

/// Returns the decimal integer that the whole text is, without a sign + or spaces; nothing where it
/// is none or does not fit.
template <typename Number> std::optional<Number> integerOf(std::string_view text) {
  Number number{};
  const char *end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end)
    return std::nullopt;
  return number;
}

/// Returns the integer that an environment variable is; nothing where it is not set or is none.
inline std::optional<int> environmentInteger(const char *name) {
  const char *text = std::getenv(name);
  return text ? integerOf<int>(text) : std::nullopt;
}

} // namespace atc::ascend

#endif // OPENATC_ASCEND_INTEGER_H
