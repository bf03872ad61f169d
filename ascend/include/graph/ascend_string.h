/*===-- graph/ascend_string.h - text of the graph interface ---------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_GRAPH_ASCEND_STRING_H
#define OPENATC_GRAPH_ASCEND_STRING_H

#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ge {

/** Text that keeps its own copy. A null pointer is the empty text. It has the same layout in
 * programs that are compiled with -D_GLIBCXX_USE_CXX11_ABI=0, whose std::string is another one than
 * that of the library: what takes or returns a std::string here is inline, and gives the library
 * one of these. */
class AscendString {
public:
  AscendString() = default;
  AscendString(const char *text) : AscendString(text, text ? std::strlen(text) : 0) {}
  AscendString(const char *text, size_t length) {
    if (!text || length == 0)
      return;
    bytes.assign(text, text + length);
    bytes.push_back('\0');
  }

  const char *GetString() const { return bytes.empty() ? "" : bytes.data(); }
  size_t GetLength() const { return bytes.empty() ? 0 : bytes.size() - 1; }
  size_t Find(const AscendString &part) const { return whole().find(part.whole()); }
  size_t Hash() const { return std::hash<std::string>()(whole()); }

  bool operator<(const AscendString &other) const { return compare(other) < 0; }
  bool operator>(const AscendString &other) const { return compare(other) > 0; }
  bool operator<=(const AscendString &other) const { return compare(other) <= 0; }
  bool operator>=(const AscendString &other) const { return compare(other) >= 0; }
  bool operator==(const AscendString &other) const { return bytes == other.bytes; }
  bool operator!=(const AscendString &other) const { return bytes != other.bytes; }
  bool operator==(const char *other) const { return *this == AscendString(other); }
  bool operator!=(const char *other) const { return !(*this == other); }

private:
  std::string whole() const { return std::string(GetString(), GetLength()); }
  int compare(const AscendString &other) const { return whole().compare(other.whole()); }

  std::vector<char> bytes; /* with the 0 at the end, or none at all */
};

namespace detail {
inline AscendString ascendOf(const std::string &text) {
  return AscendString(text.data(), text.size());
}
inline std::map<AscendString, AscendString>
ascendOf(const std::map<std::string, std::string> &options) {
  std::map<AscendString, AscendString> result;
  for (const auto &option : options)
    result[ascendOf(option.first)] = ascendOf(option.second);
  return result;
}
inline std::vector<AscendString> ascendOf(const std::vector<std::string> &texts) {
  std::vector<AscendString> result;
  for (const std::string &text : texts)
    result.push_back(ascendOf(text));
  return result;
}
inline std::string textOf(const AscendString &text) {
  return std::string(text.GetString(), text.GetLength());
}
} // namespace detail

} // namespace ge

namespace std {
template <> struct hash<ge::AscendString> {
  size_t operator()(const ge::AscendString &text) const { return text.Hash(); }
};
} // namespace std

#endif
