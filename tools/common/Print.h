//===-- Print.h - prints text to a terminal -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tools print with these functions and not with printf or streams, so that no name from a file
// reaches a terminal unescaped.

#ifndef OPENATC_TOOLS_COMMON_PRINT_H
#define OPENATC_TOOLS_COMMON_PRINT_H

#include "support/PrintableText.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <type_traits>

namespace atc::tools {

namespace detail {

/// Returns an argument of print(); texts are made printable.
template <typename T> auto shown(const T &value) {
  if constexpr (std::is_convertible_v<const T &, std::string_view>)
    return printable(value);
  else
    return value;
}

/// Return a value as printf takes it.
inline const char *passed(const std::string &text) { return text.c_str(); }
template <typename T> T passed(T value) {
  static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>, "a text is given with c_str()");
  return value;
}

} // namespace detail

#ifdef __clang__ // which checks the arguments of templates too, and says that others do not
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
#define OPENATC_PRINT_FORMAT __attribute__((format(printf, 2, 3)))
#else
#define OPENATC_PRINT_FORMAT
#endif

/// Prints like std::fprintf; in every text argument unprintable characters, including newlines, are
/// escaped.
template <typename... Args>
OPENATC_PRINT_FORMAT void print(std::FILE *to, const char *format, const Args &...args) {
  if constexpr (sizeof...(args) == 0)
    std::fputs(format, to);
  else
    std::fprintf(to, format, detail::passed(detail::shown(args))...);
}

#ifdef __clang__
#pragma clang diagnostic pop
#endif

/// Prints text of several lines, in which names have been made printable.
inline void printLines(std::FILE *to, std::string_view text) {
  const std::string shown = printableLines(text);
  std::fwrite(shown.data(), 1, shown.size(), to);
}

/// Ends a tool: returns `code`, or 1 after printing one line with an error code where its output
/// could not be written, as on a full disk.
inline int finishOutput(int code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return code;
  print(stderr, "E13004: cannot write to the standard output: %s.\n", std::strerror(errno));
  return 1;
}

} // namespace atc::tools

#endif
