//===-- LadderTest.cpp - simulated time against published time ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/backends/npu/Ladders.h"

#include <catch2/catch.hpp>

using namespace atc::npu::test;

static void climb(const std::vector<Step> &ladder) {
  double before = 1e30, publishedBefore = 1e30;
  for (const Step &step : ladder) {
    INFO(step.name);
    Timed timed;
    std::string error;
    CHECK(timeOf(step, timed, error));
    CHECK(error == "");
    CHECK(timed.microseconds == Approx(step.published).epsilon(0.25));
    CHECK(timed.microseconds < before);
    CHECK(step.published < publishedBefore);
    before = timed.microseconds;
    publishedBefore = step.published;
  }
}

TEST_CASE("matmul of 8192 x 8192 x 8192") {
  REQUIRE(matmulLadder().size() == 9);
  climb(matmulLadder());
}
TEST_CASE("addition of 8192 x 8192") {
  REQUIRE(addLadder().size() == 6);
  climb(addLadder());
}
