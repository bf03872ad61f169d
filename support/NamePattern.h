//===-- NamePattern.h - names with a star ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_NAMEPATTERN_H
#define OPENATC_SUPPORT_NAMEPATTERN_H

#include <string_view>

namespace atc {

/// Returns whether a name is that of a pattern, in which the first '*' stands for any text.
inline bool matchesPattern(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos)
    return pattern == name;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return name.size() >= head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

} // namespace atc

#endif // OPENATC_SUPPORT_NAMEPATTERN_H
