//===-- GroupTimesTest.cpp - groups of several trials put together ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/GroupTimes.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <random>

using namespace atc;
using namespace atc::tuning;

namespace {

struct Trial {
  std::string groups;
  std::vector<double> cycles; ///< of each kernel
};

std::vector<npu::Group> groupsOf(const Trial &trial) {
  auto groups = npu::parseGroups(trial.groups, unsigned(trial.cycles.size()));
  REQUIRE(groups);
  return {groups->begin(), groups->end()};
}

std::string fastestOf(const std::vector<Trial> &trials, double surplus) {
  GroupTimes times;
  for (const Trial &trial : trials)
    times.note(groupsOf(trial), trial.cycles);
  return npu::textOf(times.fastest(surplus));
}

} // namespace

TEST_CASE("without a trial there are no groups") { CHECK(GroupTimes().fastest(0).empty()); }

TEST_CASE("one trial is what is fastest") {
  CHECK(fastestOf({{"2/2 3/1", {9, 8, 7, 6, 5}}}, 0) == "2/2 3/1");
}

TEST_CASE("the fast groups of two trials are put together") {
  const Trial head{"2/2 4/1", {1, 1, 9, 9, 9, 9}}, tail{"4/1 2/4", {9, 9, 9, 9, 1, 1}};
  CHECK(fastestOf({head, tail}, 0.1) == "2/2 2/1 2/4");
  // A change costs more than it gains.
  CHECK(fastestOf({head, tail}, 0.5) == "2/2 4/1");
}

TEST_CASE("trials change only where groups of both end") {
  // The second half of a group of four is no group.
  CHECK(fastestOf({{"4/2", {9, 9, 1, 1}}, {"2/4 2/1", {1, 1, 9, 9}}}, 0) == "4/2");
  CHECK(fastestOf({{"4/2", {9, 9, 1, 1}}, {"2/4 2/1", {1, 1, 8, 8}}}, 0) == "2/4 2/1");
}

TEST_CASE("interleaved groups stay so") {
  CHECK(fastestOf({{"2/2i 2/1", {1, 1, 5, 5}}, {"2/1 2/4", {5, 5, 1, 1}}}, 0) == "2/2i 2/4");
}

TEST_CASE("what is put together covers all kernels and is no slower than any trial") {
  std::mt19937_64 random(11);
  for (int run = 0; run < 200; ++run) {
    const unsigned count = 1 + unsigned(random() % 12);
    std::vector<Trial> trials;
    double min = 1e9;
    for (size_t number = 1 + random() % 5; number > 0; --number) {
      std::vector<npu::Group> groups;
      for (unsigned begin = 0; begin < count;) {
        const unsigned length = 1 + unsigned(random() % (count - begin));
        const int64_t parts = random() % 2 ? 2 : 1;
        groups.push_back({begin, begin + (parts == 1 ? 1 : length), parts});
        begin = groups.back().end;
      }
      Trial &trial = trials.emplace_back(Trial{npu::textOf(groups), {}});
      double sum = 0;
      for (unsigned kernel = 0; kernel < count; ++kernel) {
        trial.cycles.push_back(double(random() % 100));
        sum += trial.cycles.back();
      }
      min = std::min(min, sum);
    }
    GroupTimes times;
    for (const Trial &trial : trials)
      times.note(groupsOf(trial), trial.cycles);
    const std::vector<npu::Group> fastest = times.fastest(0);
    REQUIRE(npu::parseGroups(npu::textOf(fastest), count));
    // Each group is one of a trial: the sum of the least times of each is a bound.
    double sum = 0;
    for (const npu::Group &group : fastest) {
      double cycles = 1e9;
      for (const Trial &trial : trials)
        for (const npu::Group &other : groupsOf(trial))
          if (other.begin == group.begin && other.end == group.end && other.parts == group.parts)
            cycles = std::min(cycles, std::accumulate(trial.cycles.begin() + group.begin,
                                                      trial.cycles.begin() + group.end, 0.0));
      REQUIRE(cycles < 1e9);
      sum += cycles;
    }
    CHECK(sum <= min);
  }
}
