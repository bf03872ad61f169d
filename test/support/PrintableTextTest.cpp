//===-- PrintableTextTest.cpp - nothing of a name reaches the terminal ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/PrintableText.h"
#include "support/Npy.h"
#include "support/OneLine.h"

#include <catch2/catch.hpp>
#include <random>

using namespace atc;

/// Returns a character in UTF-8, whatever the rules say of it.
static std::string encoded(uint32_t code) {
  if (code < 0x80)
    return {char(code)};
  if (code < 0x800)
    return {char(0xC0 | code >> 6), char(0x80 | (code & 0x3F))};
  if (code < 0x10000)
    return {char(0xE0 | code >> 12), char(0x80 | (code >> 6 & 0x3F)), char(0x80 | (code & 0x3F))};
  return {char(0xF0 | code >> 18), char(0x80 | (code >> 12 & 0x3F)),
          char(0x80 | (code >> 6 & 0x3F)), char(0x80 | (code & 0x3F))};
}

TEST_CASE("names that can be printed stay as they are") {
  for (const char *name :
       {"", "conv1/BatchNorm:0", "a b", "back\\slash\\u202E", "%s\"'<&>", "\u5377\u79ef\u5c42",
        "\u0421\u0432\u0451\u0440\u0442\u043a\u0430", "caf\u00e9 \u03b1\u03b2", "\U0001F600",
        "\u0645\u0631\u062d\u0628\u0627", "e\u0301", "\u00a0\u3000", "\uFFFD", "\uE000"})
    CHECK(printable(name) == name);
}

TEST_CASE("what a terminal obeys or does not show is escaped") {
  CHECK(printable("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(printable("\x1B[31mred\x07\x7F") == "\\x1B[31mred\\x07\\x7F");
  CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\u0085\u009B") == "\\u0085\\u009B");
  CHECK(printable("a\u202Eb\u2066\u200F\u061C") == "a\\u202Eb\\u2066\\u200F\\u061C");
  CHECK(printable("\u2028\u2029\u200B\u200D\uFEFF\u00AD") ==
        "\\u2028\\u2029\\u200B\\u200D\\uFEFF\\u00AD");
  CHECK(printable("\U000E0041\U0001D173") == "\\U000E0041\\U0001D173");
  CHECK(printable(encoded(0xFFFE) + encoded(0x10FFFF)) == "\\uFFFE\\U0010FFFF");
}

TEST_CASE("bytes that are no UTF-8 are shown one by one") {
  CHECK(printable("\xFF\xC0\x80") == "\\xFF\\xC0\\x80");
  CHECK(printable("\xE5\x8D") == "\\xE5\\x8D");                   // cut
  CHECK(printable("\xE5\x8Dx\x8D") == "\\xE5\\x8Dx\\x8D");        // interrupted
  CHECK(printable("\xE0\x80\xAF") == "\\xE0\\x80\\xAF");          // longer than needed
  CHECK(printable("\xED\xA0\x80") == "\\xED\\xA0\\x80");          // a surrogate
  CHECK(printable("\xF4\x90\x80\x80") == "\\xF4\\x90\\x80\\x80"); // above U+10FFFF
  CHECK(printable("\x9B"
                  "31m") == "\\x9B31m");
}

TEST_CASE("every character is shown as itself or as what nothing obeys") {
  for (uint32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF)
      continue;
    const std::string text = encoded(code), shown = printable(text);
    const rt::TextStep step = rt::firstStep(text.data(), text.size());
    const bool isRight = step.valid && step.code == code && step.bytes == text.size() &&
                         (shown == text) == rt::isPrintable(code) && printable(shown) == shown;
    if (!isRight)
      FAIL("U+" << std::hex << code << " is shown as '" << shown << "'");
  }
}

TEST_CASE("random bytes become printable in all forms") {
  std::mt19937 random(20);
  auto isClean = [](const std::string &text, bool lines) {
    bool clean = true;
    forEachStep(text, [&](const rt::TextStep &step, std::string_view) {
      clean = clean && step.valid && (rt::isPrintable(step.code) || (lines && step.code == '\n'));
    });
    return clean;
  };
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (size_t i = 0, size = random() % 40; i < size; ++i)
      text += round % 2 ? encoded(random() % 0x3000) : std::string(1, char(random()));
    CHECK(isClean(printable(text), false));
    CHECK(isClean(printableLines(text), true));
    CHECK(isClean(printableJson(text), true));
    CHECK(isClean(htmlText(text), false));
    CHECK(isClean(shortened(printable(text), 7, 5), false));
    // A copy with little room is the beginning of the whole.
    char copy[12];
    rt::copyPrintable(copy, sizeof(copy), text.data(), text.size());
    CHECK(printable(text).rfind(copy, 0) == 0);
    CHECK(isClean(copy, false));
  }
}

TEST_CASE("JSON keeps its meaning") {
  CHECK(asUtf8("a\xFF\xE5\x8D\u202E\u5377") == "a\uFFFD\uFFFD\uFFFD\u202E\u5377");
  CHECK(printableJson("{\n \"a\u202Eb\": \"\x7F\u0085\U000E0041\xFF\"\n}") ==
        "{\n \"a\\u202eb\": \"\\u007f\\u0085\\udb40\\udc41\\ufffd\"\n}");
  CHECK(printableJson("\"\u5377\"") == "\"\u5377\"");
}

TEST_CASE("HTML has neither marks nor tags of names") {
  CHECK(htmlText("<b>\u202E&'\"\n") == "&lt;b&gt;\\u202E&amp;&#39;&quot;\\n");
}

TEST_CASE("columns are counted as a terminal shows them") {
  CHECK(columnsOf("abc") == 3);
  CHECK(columnsOf("\u5377\u79ef") == 4);
  CHECK(padded("\u5377", 4) == "\u5377  ");
  CHECK(padded("abcde", 4) == "abcde");
}

TEST_CASE("a message of any length is one line that can be read") {
  std::string numbers = "the axes are [";
  for (int i = 0; i < 1000000; ++i)
    numbers += "0, ";
  const std::string line = oneLine(numbers + "0], expected 2 of them");
  CHECK(line.size() < 25000);
  CHECK(line.starts_with("the axes are [0, 0, "));
  CHECK(line.ends_with("0, 0], expected 2 of them"));
  // A list of all operators of a model is whole.
  std::string list;
  for (int i = 0; i < 500; ++i)
    list += "Operator" + std::to_string(i) + " x1, ";
  CHECK(oneLine(list) == list);
}

TEST_CASE("long names are cut between characters") {
  CHECK(shortened("abcdef", 3, 3) == "abcdef");
  CHECK(shortened("abcdefgh", 2, 3) == "ab...fgh");
  CHECK(shortened("\u5377\u5377\u5377\u5377", 4, 4) == "\u5377...\u5377");
}

TEST_CASE("names of files are legal, short and distinct") {
  CHECK(fileNameOf("a/b:0") == "a_b_0");
  CHECK(fileNameOf("..") == "_..");
  const std::string max(200, 'x');
  CHECK(fileNameOf(max) == max);
  // Converters name a fused layer by all that it is made of.
  const std::string first = fileNameOf(max + "/a"), second = fileNameOf(max + "/b");
  CHECK(first.substr(0, 201) == max + "~");
  CHECK(first.size() == second.size());
  CHECK(first.size() < 230);
  CHECK(first != second);
  CHECK(fileNameOf(max.substr(1) + "\u5377\u79ef").substr(0, 200) == max.substr(1) + "~");
}
