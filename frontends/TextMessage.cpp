//===-- TextMessage.cpp - messages in the text form of protobuf -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/TextMessage.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "llvm/ADT/Twine.h"

using Json = nlohmann::ordered_json;
using google::protobuf::io::Tokenizer;

namespace atc {

namespace {

constexpr unsigned maxDepth = 100;
/// The maximum number of different fields of a message. They are searched one by one, and no
/// message that tools know has a hundred.
constexpr size_t kMaxFields = 10000;

/// Keeps the first error.
class FirstError : public google::protobuf::io::ErrorCollector {
public:
  explicit FirstError(std::string &text) : text(text) { text.clear(); }
  void AddError(int line, int, const std::string &message) override {
    if (text.empty())
      text = "line " + std::to_string(line + 1) + ": " + message;
  }
  explicit operator bool() const { return !text.empty(); }

private:
  std::string &text;
};

class Parser {
public:
  Parser(llvm::StringRef text, FirstError &error)
      : input(text.data(), static_cast<int>(text.size())), tokens(&input, &error), error(error) {
    tokens.set_comment_style(Tokenizer::SH_COMMENT_STYLE);
    tokens.set_require_space_after_number(false);
    tokens.set_allow_f_after_float(true);
    tokens.Next();
  }

  Json parse() { return parseFields(/*depth=*/0); }

private:
  const Tokenizer::Token &next() { return tokens.current(); }
  bool isNext(Tokenizer::TokenType type) { return next().type == type; }
  bool consume(const char *symbol) {
    if (!isNext(Tokenizer::TYPE_SYMBOL) || next().text != symbol)
      return false;
    tokens.Next();
    return true;
  }
  void fail(const llvm::Twine &what) { error.AddError(next().line, 0, what.str()); }
  std::string described() {
    return isNext(Tokenizer::TYPE_END) ? "the end of the file" : "'" + next().text + "'";
  }

  Json parseFields(unsigned depth) {
    Json message = Json::object();
    if (depth > maxDepth)
      fail("messages stand more than " + llvm::Twine(maxDepth) + " deep inside each other");
    while (!error) {
      if (depth ? consume("}") : isNext(Tokenizer::TYPE_END))
        break;
      if (!isNext(Tokenizer::TYPE_IDENTIFIER)) {
        fail("expected the name of a field" + llvm::Twine(depth ? " or '}'" : "") + ", not " +
             described());
        break;
      }
      const std::string name = next().text;
      tokens.Next();
      const bool hasColon = consume(":");
      Json value;
      if (consume("{"))
        value = parseFields(depth + 1);
      else if (hasColon)
        value = consume("[") ? parseList(depth) : parseValue();
      else
        fail("expected ':' or '{' after '" + name + "', not " + described());
      if (!consume(","))
        consume(";");
      add(message, name, std::move(value));
      if (message.size() > kMaxFields)
        fail("a message has more than " + llvm::Twine(kMaxFields) + " different fields");
    }
    return message;
  }

  static void add(Json &message, const std::string &name, Json value) {
    auto known = message.find(name);
    if (known == message.end()) {
      message[name] = std::move(value);
      return;
    }
    if (!known->is_array())
      *known = Json::array({std::move(*known)});
    if (value.is_array())
      known->insert(known->end(), value.begin(), value.end());
    else
      known->push_back(std::move(value));
  }

  /// Parses the values of a list, whose '[' has been read.
  Json parseList(unsigned depth) {
    Json list = Json::array();
    while (!error && !consume("]")) {
      list.push_back(consume("{") ? parseFields(depth + 1) : parseValue());
      consume(",");
    }
    return list;
  }

  Json parseValue() {
    std::string text;
    while (isNext(Tokenizer::TYPE_STRING)) {
      Tokenizer::ParseStringAppend(next().text, &text);
      tokens.Next();
      if (!isNext(Tokenizer::TYPE_STRING))
        return text;
    }
    const bool isNegative = consume("-");
    text = next().text;
    Json value;
    uint64_t integer;
    if (isNext(Tokenizer::TYPE_INTEGER) &&
        Tokenizer::ParseInteger(text, std::numeric_limits<int64_t>::max(), &integer))
      value = isNegative ? -static_cast<int64_t>(integer) : static_cast<int64_t>(integer);
    else if (isNext(Tokenizer::TYPE_INTEGER) || isNext(Tokenizer::TYPE_FLOAT))
      value = (isNegative ? -1 : 1) * Tokenizer::ParseFloat(text);
    else if (isNext(Tokenizer::TYPE_IDENTIFIER) && (text == "true" || text == "false"))
      value = text == "true";
    else if (isNext(Tokenizer::TYPE_IDENTIFIER))
      value = isNegative ? "-" + text : text;
    else
      fail("expected a value, not " + described());
    tokens.Next();
    return value;
  }

  google::protobuf::io::ArrayInputStream input;
  Tokenizer tokens;
  FirstError &error;
};

} // namespace

std::optional<Json> parseTextMessage(llvm::StringRef text, std::string &errorText) {
  FirstError error(errorText);
  if (text.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    error.AddError(0, 0, "the text has more than 2 GB");
    return std::nullopt;
  }
  Json message = Parser(text, error).parse();
  return error ? std::nullopt : std::optional<Json>(std::move(message));
}

std::optional<LoneBrace> findLoneBrace(llvm::StringRef text) {
  std::vector<int> open; // their lines
  int line = 0;
  char quote = 0;
  bool isComment = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      quote = 0; // no string crosses a line
      isComment = false;
    } else if (isComment) {
      continue;
    } else if (quote) {
      if (c == '\\' && i + 1 < text.size() && text[i + 1] != '\n')
        ++i;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      isComment = true;
    } else if (c == '{') {
      open.push_back(line);
    } else if (c == '}') {
      if (open.empty())
        return LoneBrace{line, "this '}' closes nothing: there is no '{' for it"};
      open.pop_back();
    }
  }
  if (open.empty())
    return std::nullopt;
  return LoneBrace{open.back(), "this '{' is not closed: its '}' is missing"};
}

} // namespace atc
