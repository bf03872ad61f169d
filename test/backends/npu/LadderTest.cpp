//===-- LadderTest.cpp - simulated time against published time ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/backends/npu/Ladders.h"

#include <catch2/catch.hpp>

using namespace atc::npu;
using namespace atc::npu::test;

/// Checks that each step is within 25 % of its published time, and no slower than the step before
/// but for 3 %: some published steps gain less than that.
static void climb(const std::vector<Step> &ladder) {
  double before = 1e30, publishedBefore = 1e30;
  for (const Step &step : ladder) {
    INFO(step.name);
    Timed timed;
    std::string error;
    CHECK(timeOf(step, timed, error));
    CHECK(error == "");
    CHECK(timed.microseconds == Approx(step.published).epsilon(0.25));
    CHECK(timed.microseconds < before * 1.03);
    CHECK(step.published < publishedBefore);
    before = timed.microseconds;
    publishedBefore = step.published;
  }
}

TEST_CASE("matmul of 8192 x 8192 x 8192") {
  REQUIRE(matmulLadder().size() == 9);
  climb(matmulLadder());
}
TEST_CASE("the last step of the matmul is bound by what the published one is") {
  const Step &step = matmulLadder().back();
  Timed timed;
  std::string error;
  REQUIRE(timeOf(step, timed, error));
  const Statistics &s = timed.statistics;
  double perCore = timed.microseconds / (s.cycles * double(s.coreCount));
  CHECK(s.busy[unsigned(Queue::M)] * perCore == Approx(step.cube).epsilon(0.25));
  CHECK(s.busy[unsigned(Queue::MTE1)] * perCore == Approx(step.mte1).epsilon(0.25));
  CHECK(s.busy[unsigned(Queue::MTE2)] * perCore == Approx(step.mte2).epsilon(0.25));
  CHECK(s.busy[unsigned(Queue::FIX)] * perCore == Approx(step.fix).epsilon(0.25));
  CHECK(s.busy[unsigned(Queue::MTE2)] > s.busy[unsigned(Queue::M)]);
}
TEST_CASE("copies of 12288 x 12288") {
  for (const Step &step : copies()) {
    INFO(step.name);
    Timed timed;
    std::string error;
    CHECK(timeOf(step, timed, error));
    CHECK(timed.microseconds == Approx(step.published).epsilon(0.3));
  }
}
TEST_CASE("addition of 8192 x 8192") {
  REQUIRE(addLadder().size() == 6);
  climb(addLadder());
}
