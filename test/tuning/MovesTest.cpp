//===-- MovesTest.cpp - changes that a search makes -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/contraction/TileChoice.h"
#include "passes/npu/schedule/JoinChoice.h"
#include "tuning/CopyMoves.h"
#include "tuning/GroupMoves.h"
#include "tuning/JoinMoves.h"
#include "tuning/TileMoves.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

using namespace atc;
using namespace atc::tuning;

namespace {

std::string painted(const std::string &text, unsigned count, unsigned begin, unsigned end,
                    int64_t parts, bool isInterleaved = false) {
  auto groups = npu::parseGroups(text, count);
  REQUIRE(groups);
  return npu::textOf(paint(*groups, begin, end, parts, isInterleaved));
}

} // namespace

TEST_CASE("groups are read back as they are written") {
  auto groups = npu::parseGroups("2/4i 3/1 5/2", 10);
  REQUIRE(groups);
  REQUIRE(groups->size() == 5);
  CHECK((*groups)[1].begin == 2);
  CHECK((*groups)[1].end == 3);
  CHECK(groups->back().parts == 2);
  CHECK(groups->front().isInterleaved);
  CHECK(!groups->back().isInterleaved);
  CHECK(npu::textOf(*groups) == "2/4i 3/1 5/2");
}

TEST_CASE("what is no list of groups is refused") {
  for (const char *text :
       {"", "3", "3/", "/3", "0/2 3/1", "3/0", "3/-1", "4/1", "2/1", "2/1  1/1", "99999999999/1",
        "1/1 4294967295/1", "x/1", "3/1 ", "3/1i", "3/i", "3/2ii", "3/2 i"})
    CHECK(!npu::parseGroups(text, 3));
}

TEST_CASE("painting keeps the rest of the groups that it overlaps") {
  CHECK(painted("4/2 4/4", 8, 2, 6, 8) == "2/2 4/8 2/4");
  CHECK(painted("8/2", 8, 3, 5, 1) == "3/2 2/1 3/2");
  CHECK(painted("4/1 4/2", 8, 0, 8, 4) == "8/4");
  CHECK(painted("4/1 4/2", 8, 4, 8, 1) == "8/1");
  CHECK(painted("8/2", 8, 0, 1, 1) == "1/1 7/2");
  CHECK(painted("8/2i", 8, 3, 5, 4) == "3/2i 2/4 3/2i");
  CHECK(painted("8/2", 8, 3, 5, 4, true) == "3/2 2/4i 3/2");
}

TEST_CASE("a range of kernels is interleaved as the pattern is, and the rest stays") {
  auto ranged = [](const std::string &text, const std::string &pattern, unsigned begin,
                   unsigned end) {
    const auto groups = npu::parseGroups(text, 8), interleaved = npu::parseGroups(pattern, 8);
    REQUIRE((groups && interleaved));
    return npu::textOf(interleaveRange(*groups, *interleaved, begin, end));
  };
  CHECK(ranged("8/1", "8/2i", 0, 3) == "3/2i 5/1");
  CHECK(ranged("8/1", "2/1 3/2i 3/4i", 1, 6) == "2/1 3/2i 1/4i 2/1");
  CHECK(ranged("4/4 4/1", "8/2i", 2, 5) == "2/4 3/2i 3/1");
  CHECK(ranged("8/1", "4/1 4/2", 0, 8) == "8/1");
  CHECK(ranged("8/1", "8/2i", 3, 3) == "8/1");
}

TEST_CASE("every change of groups covers all kernels") {
  for (bool mayInterleave : {false, true}) {
    std::mt19937_64 random(7);
    const Draw draw = [&](size_t end) { return end ? random() % end : 0; };
    std::string text = "40/1";
    std::set<std::string> seen;
    size_t interleaved = 0;
    for (int i = 0; i < 20000; ++i) {
      auto groups = npu::parseGroups(text, 40);
      REQUIRE(groups);
      text = moveGroups(*groups, {2, 4, 8}, mayInterleave, draw);
      seen.insert(text);
      interleaved += text.find('i') != std::string::npos;
    }
    CHECK(npu::parseGroups(text, 40));
    CHECK(seen.size() > 1000);
    CHECK((interleaved > 1000) == mayInterleave);
    CHECK((interleaved == 0) == !mayInterleave);
  }
}

TEST_CASE("tiles are read back as they are written") {
  const std::string text = "64,48,32,128,96,64,4,2,rhs";
  auto tile = npu::parseTile(text);
  REQUIRE(tile);
  CHECK(tile->l1N == 96);
  CHECK(tile->coresN == 2);
  CHECK(tile->order == npu::Order::Rhs);
  CHECK(npu::textOf(*tile) == text);
  for (const char *bad : {"", "64,48", "64,48,32,128,96,64,4,2,up", "0,48,32,128,96,64,4,2,rhs",
                          "64,48,32,128,96,64,4,-2,rhs", "64,48,32,9999999,96,64,4,2,rhs",
                          "64,48,32,128,96,64,4,2,rhs,"})
    CHECK(!npu::parseTile(bad));
}

TEST_CASE("every change of a tile is a tile until a size leaves the range") {
  std::mt19937_64 random(3);
  const Draw draw = [&](size_t end) { return end ? random() % end : 0; };
  for (int i = 0; i < 2000; ++i)
    CHECK(npu::parseTile(moveTile("64,48,32,128,96,64,4,2,rhs", draw)));
  CHECK(moveTile("nonsense", draw).empty());
}

TEST_CASE("runs of launches are read back as they are written") {
  auto runs = npu::parseRuns("3 1 5", 9);
  REQUIRE(runs);
  CHECK(npu::textOfRuns(*runs) == "3 1 5");
  for (const char *text : {"", "8", "10", "3 1", "3 1 5 0", "0 9", "3  6", "-1 10", "x 9", "9 ",
                           "4294967297 8", "99999999999"})
    CHECK(!npu::parseRuns(text, 9));
}

TEST_CASE("every change of runs joins only what can be joined") {
  std::mt19937_64 random(7);
  const Draw draw = [&](size_t end) { return end ? random() % end : 0; };
  const std::string longest = "1 4 2 1 3";
  std::string text = longest;
  std::set<std::string> seen;
  for (int i = 0; i < 5000; ++i) {
    text = moveRuns(text, longest, draw);
    auto runs = npu::parseRuns(text, 11);
    REQUIRE(runs);
    // No run goes across an end of the longest ones.
    std::set<unsigned> ends;
    unsigned end = 0;
    for (unsigned length : *runs)
      ends.insert(end += length);
    for (unsigned wanted : {1u, 5u, 7u, 8u, 11u})
      CHECK(ends.count(wanted));
    seen.insert(text);
  }
  CHECK(seen.size() == 64); // six neighbours, joined or not
  CHECK(moveRuns("1 1", "1 1", draw).empty());
  CHECK(moveRuns("3", "2", draw).empty());
  CHECK(moveRuns("nonsense", "2", draw).empty());
}

TEST_CASE("every change of boxes is another percentage within limits") {
  std::mt19937_64 random(3);
  const Draw draw = [&](size_t end) { return end ? random() % end : 0; };
  std::string text = "100";
  int smallest = 100, largest = 100;
  for (int i = 0; i < 2000; ++i) {
    text = moveBox(text, draw);
    const int percent = std::stoi(text);
    REQUIRE(std::to_string(percent) == text);
    smallest = std::min(smallest, percent);
    largest = std::max(largest, percent);
  }
  CHECK(smallest >= 10);
  CHECK(smallest < 50);
  CHECK(largest <= 1600);
  CHECK(largest > 200);
  CHECK(moveBox("x", draw).empty());
}

TEST_CASE("copies of buffers are set for a range of layers, whose tiles are selected again") {
  const std::string a = "npu-select-buffers|S|npu.matmul|1xf16|0a",
                    b = "npu-select-buffers|S|kernel.map|1xf16|0b",
                    tile = "npu-select-tiles|S|npu.matmul|1xf16|0a";
  CHECK(withPass(a, "npu-select-tiles") == tile);
  TrialResult apart;
  apart.done = true;
  apart.launches = {{"x", 60, false, {}}, {"y", 40, false, {}}, {"z", 100, false, {}}};
  apart.decisions = {{b, "2", {}, {1}},
                     {a, "2", {}, {0, 2}},
                     {tile, "16", {}, {0, 2}},
                     {"npu-split-batch|S|main||0c", "3/1", {}, {}}};
  const Choices base = {{tile, "16"}, {"npu-split-batch|S|main||0c", "3/1"}};

  Choices all = base;
  REQUIRE(setCopies(all, apart, "4"));
  CHECK(all == Choices{{a, "4"}, {b, "4"}, {"npu-split-batch|S|main||0c", "3/1"}});
  // The second launch begins at 0.3 of the time.
  Choices some = base;
  REQUIRE(setCopies(some, apart, "3", 0.3, 0.5));
  CHECK(some == Choices{{b, "3"}, {tile, "16"}, {"npu-split-batch|S|main||0c", "3/1"}});
  CHECK(!setCopies(some, apart, "3", 0.5, 1));

  // The product gains with 4 copies, the map loses; a trial that failed does not count.
  auto trialOf = [&](const std::string &copies, double product, double map) {
    TrialResult trial = apart;
    trial.launches = {{"x", product, false, {}}, {"y", map, false, {}}, {"z", product, false, {}}};
    trial.decisions = {{b, copies, {}, {1}}, {a, copies, {}, {0, 2}}};
    return trial;
  };
  Choices three = base;
  setCopies(three, apart, "3");
  std::vector<TrialResult> trials = {trialOf("3", 79, 45), trialOf("4", 70, 41)};
  CHECK(fastestCopies(base, apart, {three, all}, trials) ==
        Choices{{a, "4"}, {"npu-split-batch|S|main||0c", "3/1"}});
  trials[1].done = false;
  CHECK(fastestCopies(base, apart, {three, all}, trials).at(a) == "3");
  CHECK(fastestCopies(base, apart, {}, {}) == base);
}
