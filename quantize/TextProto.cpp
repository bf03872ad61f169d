//===-- TextProto.cpp - reads the text form of protobuf -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/TextProto.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

namespace atc::quantize {

namespace {

using Json = nlohmann::json;

class Parser {
public:
  Parser(const std::string &text, std::string &errorText) : text(text), errorText(errorText) {}

  bool parse(Json &result) {
    result = Json::object();
    return parseFields(result, /*depth=*/0);
  }

private:
  bool fail(const std::string &what) {
    const size_t end = std::min(at, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + end, '\n');
    errorText = "line " + std::to_string(line) + ": " + what;
    return false;
  }

  void skipSpace() {
    while (at < text.size()) {
      if (text[at] == '#')
        while (at < text.size() && text[at] != '\n')
          ++at;
      else if (std::isspace(static_cast<unsigned char>(text[at])) || text[at] == ',' ||
               text[at] == ';')
        ++at;
      else
        return;
    }
  }
  char peek() {
    skipSpace();
    return at < text.size() ? text[at] : '\0';
  }
  std::string word() {
    const size_t begin = at;
    while (at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) || std::strchr("_.+-", text[at])))
      ++at;
    return text.substr(begin, at - begin);
  }

  static void add(Json &object, const std::string &name, Json value) {
    if (!object.contains(name)) {
      object[name] = std::move(value);
      return;
    }
    Json &known = object[name];
    if (!known.is_array())
      known = Json::array({known});
    if (value.is_array())
      known.insert(known.end(), value.begin(), value.end());
    else
      known.push_back(std::move(value));
  }

  bool parseFields(Json &object, int depth) {
    for (;;) {
      const char next = peek();
      if (next == '\0')
        return depth == 0 || fail("a '}' is missing");
      if (next == '}') {
        if (depth == 0)
          return fail("a '}' without its '{'");
        ++at;
        return true;
      }
      const std::string name = word();
      if (name.empty())
        return fail(std::string("the name of a field must stand in place of '") + next + "'");
      const bool hasColon = peek() == ':';
      at += hasColon;
      Json value;
      if (peek() == '{') {
        ++at;
        value = Json::object();
        if (depth > 16)
          return fail("too many levels of '{'");
        if (!parseFields(value, depth + 1))
          return false;
      } else if (!hasColon) {
        return fail("a ':' or '{' is missing behind '" + name + "'");
      } else if (!parseValue(value)) {
        return false;
      }
      add(object, name, std::move(value));
    }
  }

  bool parseValue(Json &value, bool inList = false) {
    const char next = peek();
    if (next == '[') {
      if (inList)
        return fail("a list cannot stand in a list");
      ++at;
      value = Json::array();
      while (peek() != ']') {
        Json item;
        if (!parseValue(item, /*inList=*/true))
          return false;
        value.push_back(std::move(item));
      }
      ++at;
      return true;
    }
    if (next == '"' || next == '\'')
      return parseString(next, value);
    const std::string text = word();
    if (text.empty())
      return fail("a value is missing");
    if (text == "true" || text == "false") {
      value = text == "true";
      return true;
    }
    int64_t integer;
    double number;
    const char *begin = text.data(), *end = begin + text.size();
    if (auto [stop, error] = std::from_chars(begin, end, integer);
        error == std::errc() && stop == end)
      value = integer;
    else if (auto [stop, error] = std::from_chars(begin, end, number);
             error == std::errc() && stop == end)
      value = number;
    else
      value = text; // a name of an enumeration
    return true;
  }

  bool parseString(char quote, Json &value) {
    std::string content;
    for (++at; at < text.size() && text[at] != quote; ++at) {
      if (text[at] == '\n')
        break;
      if (text[at] == '\\' && at + 1 < text.size())
        ++at;
      content += text[at];
    }
    if (at >= text.size() || text[at] != quote)
      return fail("a string does not end");
    ++at;
    value = content;
    return true;
  }

  const std::string &text;
  std::string &errorText;
  size_t at = 0;
};

} // namespace

bool parseTextProto(const std::string &text, nlohmann::json &result, std::string &errorText) {
  return Parser(text, errorText).parse(result);
}

} // namespace atc::quantize
