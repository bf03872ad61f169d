//===-- DiagnosticsTest.cpp - codes and messages --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/Diagnostics.h"

#include <catch2/catch.hpp>

using namespace atc;

TEST_CASE("codes are looked up in the table") {
  constexpr ErrorCode code = "E10410"; // one without a row would not build
  static_assert(code.str() == "E10410" && code.isError());
  CHECK(ErrorCode::find("W10055")->str() == "W10055");
  CHECK_FALSE(ErrorCode::find("W10055")->isError());
  CHECK_FALSE(ErrorCode::find("E99999"));
  CHECK_FALSE(ErrorCode::find("E1041"));
  CHECK(codedLine("E10410", "the file is gone") == "E10410: the file is gone");
}

TEST_CASE("lines are taken apart") {
  const std::optional<CodedLine> line = splitCodedLine("E13005: 'x' is damaged: E1");
  REQUIRE(line);
  CHECK(line->code.str() == "E13005");
  CHECK(line->text == "'x' is damaged: E1");
  for (const char *text :
       {"", "E13005", "E13005:", "E13005:x", "E99999: no row", " E13005: x", "the code E13005: x"})
    CHECK_FALSE(splitCodedLine(text));
  CHECK(splitCodedLine("E13005: ")->text.empty());
}

TEST_CASE("messages are kept in their order") {
  Diagnostics diagnostics;
  diagnostics.warning("W10055", "--x has no effect");
  CHECK_FALSE(diagnostics.hasErrors());
  diagnostics.error("E10001", "a is " + llvm::Twine(1));
  diagnostics.errorLine("E10014: the file is short");
  diagnostics.errorLine("something failed");
  diagnostics.errorLine("something failed", "E13005");
  CHECK(diagnostics.numErrors() == 4);
  std::string text;
  llvm::raw_string_ostream os(text);
  diagnostics.print(os);
  CHECK(text == "W10055: --x has no effect\nE10001: a is 1\nE10014: the file is short\n"
                "E19999: something failed\nE13005: something failed\n");
}

TEST_CASE("many messages, and long ones, take little memory") {
  Diagnostics diagnostics;
  const std::string list(140000, 'x');
  // Two gigabytes if each were kept.
  for (int i = 0; i < 15000; ++i)
    diagnostics.error("E10001", "item " + llvm::Twine(i) + " of \"" + list + "\" is no number");
  diagnostics.warning("W10055", "--x has no effect");
  CHECK(diagnostics.numErrors() == 15000);
  REQUIRE(diagnostics.all().size() == Diagnostics::kMaxKept + 2);
  size_t bytes = 0;
  for (const CodedMessage &message : diagnostics.all())
    bytes += message.text.size();
  CHECK(bytes < 21 * 1000 * 1000);
  // Its beginning and its end are kept.
  const std::string &first = diagnostics.all().front().text;
  CHECK(first.rfind("item 0 of \"xxx", 0) == 0);
  CHECK(first.substr(first.size() - 15) == "x\" is no number");
  const CodedMessage &rest = diagnostics.all()[Diagnostics::kMaxKept];
  CHECK(rest.line() == "E10001: 14000 more errors are not listed");
  CHECK(rest.isError);

  // Warnings are counted apart, and lists that are joined keep to the limits.
  Diagnostics joined;
  for (int i = 0; i < 3; ++i)
    for (const CodedMessage &message : diagnostics.all())
      joined.add(message);
  CHECK(joined.all().size() == Diagnostics::kMaxKept + 4);
  CHECK(joined.numErrors() == 45000);
  CHECK(joined.all()[Diagnostics::kMaxKept].line() == "E10001: 44000 more errors are not listed");
  CHECK(joined.all().back().line() == "W10055: --x has no effect");
}

TEST_CASE("the table is Markdown") {
  const std::string table = errorCodeTable();
  CHECK(table.rfind("| code | name | meaning | what to do |\n|---|---|---|---|\n| E10001 | ", 0) ==
        0);
  CHECK(table.back() == '\n');
  CHECK(std::count(table.begin(), table.end(), '\n') == std::ssize(errorCodeRows) + 2);
}
