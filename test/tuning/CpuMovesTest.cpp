//===-- CpuMovesTest.cpp - changes of the CPU's tiles ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/CpuSearch.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

using namespace atc::tuning;

TEST_CASE("moves change a tile of the CPU and keep its form") {
  std::mt19937 random(3);
  std::set<std::string> seen;
  for (int i = 0; i < 2000; ++i) {
    const std::string moved =
        moveCpuTile("12,2,4,8,2,0", [&](size_t end) { return random() % end; });
    seen.insert(moved);
    int sizes[6], read = 0;
    REQUIRE(sscanf(moved.c_str(), "%d,%d,%d,%d,%d,%d%n", &sizes[0], &sizes[1], &sizes[2], &sizes[3],
                   &sizes[4], &sizes[5], &read) == 6);
    CHECK(size_t(read) == moved.size());
    for (int j = 0; j < 5; ++j)
      CHECK(sizes[j] >= 1);
    CHECK(sizes[3] % sizes[1] == 0); // tasks are whole register tiles
  }
  // Pixels, blocks (twice), rows (two ways each), groups and depth.
  CHECK(seen.size() >= 10);
  CHECK(seen.count("13,2,4,8,2,0"));
  CHECK(seen.count("6,4,4,8,2,0"));
  CHECK(seen.count("12,2,8,8,2,0"));
  CHECK(seen.count("12,2,4,16,2,0"));
  CHECK(seen.count("12,2,4,8,4,0"));
}

TEST_CASE("what is no tile of the CPU has no moves") {
  auto first = [](size_t) { return size_t(0); };
  for (const char *text : {"", "1", "1,2,3,4,5", "a,1,1,1,1,0", "1,1,1,1,1,0,0"})
    CHECK(moveCpuTile(text, first).empty());
}

TEST_CASE("times of runs have a median, and decisions the sum of their launches") {
  CpuTimes times;
  CHECK(times.median() == 0);
  times.runs = {5, 1, 9};
  times.launches = {1, 2, 4};
  CHECK(times.median() == 5);
  CHECK(times.of({"key", "choice", {0, 2}}) == 5);
}
