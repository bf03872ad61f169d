/*===-- graph/ascend_string.h - text of the graph interface ---------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_GRAPH_ASCEND_STRING_H
#define OPENATC_GRAPH_ASCEND_STRING_H

#include <cstddef>
#include <functional>
#include <string>

namespace ge {

/** Text that keeps its own copy. A null pointer is the empty text. */
class AscendString {
public:
  AscendString() = default;
  AscendString(const char *text) : text(text ? text : "") {}
  AscendString(const char *text, size_t length) : text(text ? std::string(text, length) : "") {}

  const char *GetString() const { return text.c_str(); }
  size_t GetLength() const { return text.size(); }
  size_t Find(const AscendString &part) const { return text.find(part.text); }
  size_t Hash() const { return std::hash<std::string>()(text); }

  bool operator<(const AscendString &other) const { return text < other.text; }
  bool operator>(const AscendString &other) const { return text > other.text; }
  bool operator<=(const AscendString &other) const { return text <= other.text; }
  bool operator>=(const AscendString &other) const { return text >= other.text; }
  bool operator==(const AscendString &other) const { return text == other.text; }
  bool operator!=(const AscendString &other) const { return text != other.text; }
  bool operator==(const char *other) const { return text == (other ? other : ""); }
  bool operator!=(const char *other) const { return !(*this == other); }

private:
  std::string text;
};

} // namespace ge

namespace std {
template <> struct hash<ge::AscendString> {
  size_t operator()(const ge::AscendString &text) const { return text.Hash(); }
};
} // namespace std

#endif
