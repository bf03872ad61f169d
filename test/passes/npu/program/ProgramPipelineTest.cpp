//===-- ProgramPipelineTest.cpp - programs on all queues compute the same -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each program runs sequentially as it was written, and after the passes in the
// simulator and in many orders that its flags allow: the results are the same
// bits, no flag is raised twice and none stays up.

#include "test/passes/npu/ProgramRunner.h"
#include "test/passes/npu/Programs.h"

#include <catch2/catch.hpp>

using namespace atc::npu;
using namespace atc::npu::test;

namespace {

const SocTable &soc() { return *findSoc("Ascend310P3"); }

/// All options; `seeds` orders each.
void check(const std::string &text, uint32_t seeds = 24) {
  Program plain = compile(text, nullptr);
  Contents inputs = inputsOf(plain), expected = runSequentially(plain, soc(), inputs);
  REQUIRE(expected != inputs);
  for (unsigned bits = 0; bits < 16; ++bits) {
    Options options{bool(bits & 1), bool(bits & 2), bool(bits & 4), bool(bits & 8)};
    CAPTURE(options.doubleBuffering, options.reorder, options.minimise, options.allocate);
    Program program = compile(text, &options);
    for (bool timed : {true, false}) {
      std::string error;
      Contents found = runSimulated(program, soc(), inputs, timed, error);
      CHECK(error == "");
      CHECK(bool(found == expected));
    }
    for (uint32_t seed = 0; seed < seeds; ++seed) {
      CAPTURE(seed);
      std::string error;
      Contents found = runShuffled(program, soc(), inputs, seed, error);
      CHECK(error == "");
      CHECK(bool(found == expected));
    }
  }
}

struct Timed {
  Statistics statistics;
  SyncCounts counts;
  double cube() const { return double(statistics.macs) / 4096 / statistics.cycles; }
};

Timed timeOf(const std::string &text, const Options &options) {
  Timed timed;
  Program program = compile(text, &options, &timed.counts);
  std::string error;
  Simulator simulator(soc());
  Launch launch;
  launch.program = &program;
  uint64_t next = 0;
  for (uint64_t bytes : program.arguments) {
    launch.addresses.push_back(next);
    next += bytes;
  }
  INFO(error);
  REQUIRE(simulator.run(launch, error));
  timed.statistics = simulator.total();
  return timed;
}

} // namespace

TEST_CASE("a matmul") { check(matmul({64, 64, 128, 32, 32, 64, 16})); }
TEST_CASE("a matmul with edges") { check(matmul({50, 72, 90, 32, 32, 64, 32})); }
TEST_CASE("a matmul with a residual") { check(matmul({64, 96, 64, 32, 32, 32, 16, true})); }
TEST_CASE("an elementwise kernel with an uneven tail, on two cores") { check(elementwise(3000)); }
TEST_CASE("a convolution with a residual") { check(convolution()); }
TEST_CASE("two stages that share ub") { check(twoStages(), 6); }
TEST_CASE("sums over an inner loop") { check(accumulate()); }
TEST_CASE("rows in pieces") { check(pieces()); }
TEST_CASE("a load too early in the body") { check(earlyLoad()); }
TEST_CASE("in place in gm") { check(inPlace()); }
TEST_CASE("more flags than ids in a loop") {
  check(pingPong(3));
  check(pingPong(9));
  check(manyLoads(6));
  check(manyLoads(20));
}
TEST_CASE("more flags than ids without loops") { check(straight(20)); }

TEST_CASE("barriers only where merged flags do not suffice") {
  CHECK(timeOf(pingPong(3), {}).counts.barriers == 0);
  CHECK(timeOf(pingPong(9), {}).counts.barriers > 0);
  CHECK(timeOf(manyLoads(6), {}).counts.barriers == 0);
  CHECK(timeOf(manyLoads(20), {}).counts.barriers == 0);
  CHECK(timeOf(manyLoads(20), {true, true, false}).counts.barriers > 0);
  CHECK(timeOf(straight(20), {}).counts.barriers == 2);
}

TEST_CASE("a matmul of 1024 x 1024 x 1024 keeps the cube busy") {
  std::string text = matmul({1024, 1024, 1024, 128, 256, 256, 64});
  Timed all = timeOf(text, {}), single = timeOf(text, {false, true, true});
  Timed every = timeOf(text, {true, true, false});
  CHECK(all.cube() > 0.95);
  CHECK(single.cube() < 0.6);
  CHECK(all.counts.flags < every.counts.flags);
  CHECK(all.counts.barriers == 0);
}

TEST_CASE("a load that comes too early does not hold up one that is needed at once") {
  double written = timeOf(earlyLoad(), {false, false, true}).statistics.cycles;
  CHECK(timeOf(earlyLoad(), {false, true, true}).statistics.cycles < 0.9 * written);
}

// Prints what each option is worth; run it by its tag.
TEST_CASE("numbers", "[.numbers]") {
  for (const auto &[program, text] :
       {std::pair("matmul", matmul({1024, 1024, 1024, 128, 256, 256, 64})),
        {"matmul, long l1 tiles", matmul({1024, 1024, 1024, 128, 256, 512, 64})},
        {"matmul, short steps", matmul({1024, 1024, 2048, 256, 128, 512, 32})},
        {"matmul with residual", matmul({1024, 1024, 1024, 128, 128, 256, 64, true})},
        {"early load", earlyLoad()},
        {"elementwise", elementwise(1 << 18)},
        {"sums", accumulate()}})
    for (auto [name, options] : {std::pair("all passes", Options()),
                                 {"max-buffers=1", {false, true, true}},
                                 {"without reorder", {true, false, true}},
                                 {"both", {false, false, true}},
                                 {"minimise=false", {true, true, false}},
                                 {"allocate=false", {true, true, true, false}}}) {
      Timed timed = timeOf(text, options);
      printf("%-24s %-16s %10.0f cycles, cube %5.1f %%, %2u set flags, %u barriers\n", program,
             name, timed.statistics.cycles, 100 * timed.cube(), timed.counts.flags,
             timed.counts.barriers);
    }
}
