//===-- JsonDepthTest.cpp -------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/JsonDepth.h"

#include <catch2/catch.hpp>

using namespace atc;

TEST_CASE("brackets are counted where they nest, and not in texts") {
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
