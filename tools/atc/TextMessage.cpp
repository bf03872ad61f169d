//===-- TextMessage.cpp - messages in text form as JSON -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/GraphJson.h"
#include "tools/atc/SettingsFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using Json = nlohmann::ordered_json;

namespace atc::tools {

namespace {

/// Reads `name: value`, `name { ... }` and comments; no schema says which names there are.
class TextReader {
public:
  TextReader(StringRef text, const std::string &path, Diagnostics &diagnostics)
      : text(text), rest(text), path(path), diagnostics(diagnostics) {}

  Json run() {
    Json message = readFields(/*end=*/0, /*depth=*/0);
    return failed ? Json(nullptr) : message;
  }

private:
  void fail(const Twine &what) {
    if (!failed)
      diagnostics.error("E13018", "the file \"" + path + "\" of --om, line " +
                                      Twine(1 + text.drop_back(rest.size()).count('\n')) + ": " +
                                      what);
    failed = true;
  }

  void skipBlanks() {
    while (true) {
      rest = rest.ltrim();
      if (!rest.starts_with("#"))
        return;
      rest = rest.drop_until([](char c) { return c == '\n'; });
    }
  }

  /// Returns whether a field may repeat, so that tools expect a list.
  static bool isRepeated(StringRef name) {
    return is_contained({"graph", "op", "node", "attr", "input", "input_desc", "output_desc",
                         "output", "dim", "dst_name", "dst_index", "src_name", "src_index",
                         "input_name", "output_name", "is_input_const", "layer"},
                        name);
  }

  Json readFields(char end, unsigned depth) {
    constexpr unsigned maxDepth = 200;
    Json message = Json::object();
    if (depth > maxDepth)
      fail("messages stand more than " + Twine(maxDepth) + " deep inside each other");
    while (!failed) {
      skipBlanks();
      if (end ? rest.consume_front(StringRef(&end, 1)) : rest.empty())
        break;
      StringRef name = rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
      if (name.empty()) {
        fail(rest.empty()
                 ? Twine("the end of a message is missing: }")
                 : Twine("expected the name of a field, not '") + rest.take_front(1) + "'");
        break;
      }
      rest = rest.drop_front(name.size());
      Json value = readValue(depth);
      rest = rest.ltrim();
      if (!rest.consume_front(","))
        rest.consume_front(";");
      add(message, name, std::move(value));
    }
    return message;
  }

  static void add(Json &message, StringRef name, Json value) {
    auto known = message.find(name.str());
    if (known == message.end())
      message[name.str()] = isRepeated(name) ? Json::array({std::move(value)}) : std::move(value);
    else if (known->is_array())
      known->push_back(std::move(value));
    else
      *known = Json::array({std::move(*known), std::move(value)});
  }

  Json readValue(unsigned depth) {
    skipBlanks();
    const bool hasColon = rest.consume_front(":");
    skipBlanks();
    if (rest.consume_front("{"))
      return readFields('}', depth + 1);
    if (!hasColon) {
      fail("expected ':' or '{'");
      return nullptr;
    }
    if (rest.starts_with("\"") || rest.starts_with("'"))
      return readString();
    StringRef word =
        rest.take_while([](char c) { return isAlnum(c) || StringRef("_.+-").contains(c); });
    rest = rest.drop_front(word.size());
    if (word.empty())
      fail("expected a value");
    return valueOf(word);
  }

  static Json valueOf(StringRef word) {
    if (word == "true" || word == "false")
      return word == "true";
    if (int64_t integer; !word.getAsInteger(10, integer))
      return integer;
    if (double number; !word.getAsDouble(number))
      return number;
    return word.str();
  }

  Json readString() {
    std::string value;
    while (rest.starts_with("\"") || rest.starts_with("'")) {
      const char quote = rest.front();
      rest = rest.drop_front();
      while (!rest.empty() && rest.front() != quote && rest.front() != '\n') {
        if (rest.consume_front("\\"))
          value += readEscape();
        else {
          value += rest.front();
          rest = rest.drop_front();
        }
      }
      if (!rest.consume_front(StringRef(&quote, 1)))
        fail("the end of a string is missing");
      skipBlanks();
    }
    return value;
  }

  char readEscape() {
    StringRef octal = rest.take_front(3).take_while([](char c) { return c >= '0' && c <= '7'; });
    if (unsigned code; !octal.empty() && !octal.getAsInteger(8, code)) {
      rest = rest.drop_front(octal.size());
      return char(code);
    }
    if (rest.empty())
      return '\\';
    const char c = rest.front();
    rest = rest.drop_front();
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
  }

  StringRef text, rest;
  const std::string &path;
  Diagnostics &diagnostics;
  bool failed = false;
};

} // namespace

Json describeTextMessage(const std::string &path, Diagnostics &diagnostics) {
  // Devices and pipes may have no end.
  const bool isFile = sys::fs::is_regular_file(path);
  auto buffer = isFile ? MemoryBuffer::getFile(path) : std::errc::invalid_argument;
  if (!buffer) {
    diagnostics.error("E13001", "the file \"" + path + "\" of --om cannot be opened");
    return nullptr;
  }
  return TextReader((*buffer)->getBuffer(), path, diagnostics).run();
}

} // namespace atc::tools
