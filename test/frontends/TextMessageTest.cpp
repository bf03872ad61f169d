//===-- TextMessageTest.cpp -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/TextMessage.h"

#include "catch2/catch.hpp"

using atc::parseTextMessage;

TEST_CASE("messages in text form become JSON, in their order") {
  const std::pair<const char *, const char *> cases[] = {
      {"", "{}"},
      {"# a comment\nb: 1 # another\na: -2", R"({"b":1,"a":-2})"},
      {"a { b: 1.5f } c: { } , d: [1, 2]; d: 3", R"({"a":{"b":1.5},"c":{},"d":[1,2,3]})"},
      {"x: 1 x: 2", R"({"x":[1,2]})"},
      {"x { i: 1 } x { i: 2 }", R"({"x":[{"i":1},{"i":2}]})"},
      {"x: [ { i: 1 }, { } ]", R"({"x":[{"i":1},{}]})"},
      {"s: 'a' \"b\\n\\101\"", R"({"s":"ab\nA"})"},
      {"t: true f: false e: DT_FLOAT n: -inf", R"({"t":true,"f":false,"e":"DT_FLOAT","n":"-inf"})"},
      {"i: 9223372036854775807 j: 0x10 k: -1e3", R"({"i":9223372036854775807,"j":16,"k":-1000.0})"},
      {"big: 9223372036854775808", R"({"big":9.223372036854776e+18})"}};
  for (const auto &[text, json] : cases) {
    INFO(text);
    std::string error;
    auto message = parseTextMessage(text, error);
    REQUIRE(message);
    CHECK(message->dump() == json);
    CHECK(error.empty());
  }
}

TEST_CASE("errors in messages in text form name the line") {
  const std::pair<const char *, const char *> cases[] = {
      {"a {\n  b: 1\n", "line 3: expected the name of a field or '}', not the end of the file"},
      {"a: 1\n}", "line 2: expected the name of a field, not '}'"},
      {"a 1", "line 1: expected ':' or '{' after 'a', not '1'"},
      {"a:", "line 1: expected a value, not the end of the file"},
      {"a: [[1]]", "line 1: expected a value, not '['"},
      {"\na: 'b\n'", "line 2: "},
      {"a: '\\q'", "line 1: "}};
  for (const auto &[text, words] : cases) {
    INFO(text);
    std::string error;
    CHECK(!parseTextMessage(text, error));
    CHECK_THAT(error, Catch::StartsWith(words));
  }
  std::string deep, error;
  for (int i = 0; i < 100000; ++i)
    deep += "a {";
  CHECK(!parseTextMessage(deep, error));
  CHECK_THAT(error, Catch::Contains("deep"));
}

TEST_CASE("braces without a partner are found") {
  const std::tuple<const char *, int, const char *> cases[] = {
      {"a {\n b {\n}", 0, "this '{' is not closed"},
      {"a {\n}\n}\n}", 2, "this '}' closes nothing"},
      {"a: '}\\'}' b { # }", 0, "this '{' is not closed"},
      {"a: \"{\nb {\n", 1, "this '{' is not closed"}};
  for (const auto &[text, line, words] : cases) {
    INFO(text);
    auto brace = atc::findLoneBrace(text);
    REQUIRE(brace);
    CHECK(brace->line == line);
    CHECK_THAT(brace->what, Catch::StartsWith(words));
  }
  for (const char *text : {"", "a { b { } } # }", "a: '{' b: \"}'\" c { }", "a: '\\"})
    CHECK(!atc::findLoneBrace(text));
}
