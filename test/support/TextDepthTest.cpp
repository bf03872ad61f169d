//===-- TextDepthTest.cpp -------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/TextDepth.h"

#include <catch2/catch.hpp>

using namespace atc;

static std::string repeated(const std::string &text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i)
    all += text;
  return all;
}

TEST_CASE("brackets of JSON are counted where they nest, and not in strings") {
  const std::string deepest(kMaxJsonDepth, '[');
  CHECK_FALSE(isJsonTooDeep(""));
  CHECK_FALSE(isJsonTooDeep(deepest));
  CHECK(isJsonTooDeep(deepest + "["));
  CHECK(isJsonTooDeep(deepest + "{"));
  CHECK_FALSE(isJsonTooDeep(deepest + "]["));
  CHECK_FALSE(isJsonTooDeep("\"" + deepest + "[[\""));
  CHECK_FALSE(isJsonTooDeep("\"\\\"" + deepest + "[[\""));
  CHECK(isJsonTooDeep("\"\\\\\"" + deepest + "[[\""));
  CHECK_FALSE(isJsonTooDeep("\"\\"));
}

TEST_CASE("brackets and signs of MLIR are counted where they nest") {
  for (const char *opening : {"(", "[", "{", "tuple<"}) {
    CHECK_FALSE(isMlirTooDeep(repeated(opening, kMaxMlirDepth)));
    CHECK(isMlirTooDeep(repeated(opening, kMaxMlirDepth + 1)));
  }
  CHECK_FALSE(isMlirTooDeep(repeated("tensor<4xf32> -> tensor<4xf32>\n", 3000)));
  CHECK_FALSE(isMlirTooDeep(repeated("func.func @f(%a: index) { return }\n", 3000)));
  CHECK_FALSE(isMlirTooDeep("// " + repeated("[", 3000) + "\n\"" + repeated("[", 3000) + "\""));
  CHECK_FALSE(isMlirTooDeep("\"\\\"" + repeated("[", 3000) + "\""));
  // Where a string ends with its line the parser reports it, and reads on.
  CHECK(isMlirTooDeep("\"\n" + repeated("[", 3000)));
  CHECK_FALSE(isMlirTooDeep(repeated("d0 >= 0, d0 - -1, ", 3000)));
  CHECK(isMlirTooDeep("(d0) -> (" + repeated("- ", 3000) + "d0)"));
}

TEST_CASE("aliases of MLIR count as what they stand for") {
  auto chain = [](int length, const std::string &definition) {
    std::string text = "#a0 = [1]\n";
    for (int i = 1; i < length; ++i) {
      std::string line = definition;
      for (size_t at; (at = line.find('@')) != std::string::npos;)
        line.replace(at, 1, "#a" + std::to_string(i - 1));
      text += "#a" + std::to_string(i) + " = " + line + "\n";
    }
    return text + "module attributes {om.a = #a" + std::to_string(length - 1) + "} {}";
  };
  CHECK_FALSE(isMlirTooDeep(chain(400, "[@]")));
  CHECK(isMlirTooDeep(chain(600, "[@]")));
  CHECK(isMlirTooDeep(chain(600, "loc(callsite(@ at @))")));
  CHECK_FALSE(isMlirTooDeep(chain(20, "[@, @]")));
  CHECK(isMlirTooDeep(chain(30, "[@, @]")));
  // Most modules have an alias that many operations use.
  CHECK_FALSE(isMlirTooDeep("#a = [1]\n" + repeated("\"x.y\"() {b = #a} : () -> ()\n", 5000)));
}

TEST_CASE("names of one object are counted, and comments are not read") {
  CHECK(measureJson("{\"a\": {\"b\": 1, \"c:d\": 2}, \"e\": [{\"f\": 1}, {\"g\": 1}]}").names == 2);
  CHECK(measureJson("[" + repeated("{\"a\":1},", 1000) + "{}]").names == 1);
  CHECK(measureJson("{" + repeated("\"a\":1,", 1000) + "\"b\":1}").names == 1001);
  CHECK(measureJson("// \" [[[\n{\"a\": [1]} /* [[[ \" */", true).depth == 2);
  CHECK(measureJson("[/* " + repeated("[", 1000), true).depth == 1);
  CHECK(measureJson(repeated("[", 1000)).depth == kMaxJsonDepth + 1);
}
