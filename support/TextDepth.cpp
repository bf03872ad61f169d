//===-- TextDepth.cpp - how deep texts may be nested ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/TextDepth.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

namespace atc {

namespace {

/// Walks through the text of a module.
class MlirDepth {
public:
  explicit MlirDepth(std::string_view text) : text(text) {}

  bool isTooDeep() {
    for (; at < text.size() && !tooDeep; ++at)
      step(text[at], at + 1 < text.size() ? text[at + 1] : '\0');
    return tooDeep;
  }

private:
  /// The text that an alias stands for: its nesting, and the references to others in it, written
  /// out.
  struct Alias {
    int depth = 0;
    double references = 0;
  };

  void step(char c, char next) {
    if (c == '-' && next != '>') {
      tooDeep |= ++signs > kMaxMlirDepth;
      return;
    }
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
      signs = 0;
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
        at += text[at] == '\\';
    } else if (c == '/' && next == '/') {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if ((c == '-' || c == '=') && next == '>') {
      ++at; // an arrow
    } else if (c == '>' && next == '=') {
      ++at; // a relation
    } else if (std::string_view("([{<").find(c) != std::string_view::npos) {
      nest(++depth);
    } else if (std::string_view(")]}>").find(c) != std::string_view::npos) {
      depth -= depth > 0;
    } else if (c == '#' || c == '!') {
      readName();
    } else if (c == '\n' && depth == 0) {
      defined = nullptr;
    }
  }

  /// Reads "#name", which defines an alias in front of "=" and is a reference elsewhere.
  void readName() {
    size_t end = at + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) ||
                                 std::string_view("_$.").find(text[end]) != std::string_view::npos))
      ++end;
    Alias &alias = aliases[text.substr(at, end - at)];
    at = end - 1;
    const size_t behind = text.find_first_not_of(" \t", end);
    if (depth == 0 && behind != std::string_view::npos && text[behind] == '=') {
      alias = {};
      defined = &alias;
      return;
    }
    const Alias used = alias;
    nest(depth + used.depth + 1);
    if (defined)
      defined->references += used.references + 1;
    else
      references += used.references + 1;
    tooDeep |= std::max(references, defined ? defined->references : 0) > kMaxMlirReferences;
  }

  void nest(int now) {
    tooDeep |= now > kMaxMlirDepth;
    if (defined)
      defined->depth = std::max(defined->depth, now);
  }

  const std::string_view text;
  size_t at = 0;
  int depth = 0, signs = 0;
  double references = 0;
  bool tooDeep = false;
  Alias *defined = nullptr; ///< the alias whose definition is being read
  std::unordered_map<std::string_view, Alias> aliases;
};

} // namespace

JsonExtent measureJson(std::string_view text, bool withComments) {
  JsonExtent extent;
  std::array<size_t, kMaxJsonDepth + 1> names = {}; // of the open objects, by their depth
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at], next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at)
        at += text[at] == '\\';
    } else if (withComments && c == '/' && (next == '/' || next == '*')) {
      const std::string_view end = next == '/' ? "\n" : "*/";
      const size_t found = text.find(end, at + 2);
      if (found == std::string_view::npos)
        break;
      at = found + end.size() - 1;
    } else if (c == '[' || c == '{') {
      extent.depth = std::max(extent.depth, ++depth);
      if (depth > kMaxJsonDepth)
        break;
      names[static_cast<size_t>(depth)] = 0;
    } else if (c == ']' || c == '}') {
      depth -= depth > 0;
    } else if (c == ':') {
      extent.names = std::max(extent.names, ++names[static_cast<size_t>(depth)]);
    }
  }
  return extent;
}

bool isMlirTooDeep(std::string_view text) { return MlirDepth(text).isTooDeep(); }

} // namespace atc
