//===-- GoldenFile.h - files as earlier releases wrote them ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_RUNTIME_GOLDENFILE_H
#define OPENATC_TEST_RUNTIME_GOLDENFILE_H

#include "openatc/om.hpp"
#include "test/runtime-lite/TestModel.h"

#include <catch2/catch.hpp>

/// Files since schema 1.2 have launches of an NPU, too.
constexpr uint32_t kFirstGoldenWithNpu = 2;
/// Files since schema 1.4 have gears, of which the one of 64 rows is run.
constexpr uint32_t kFirstGoldenWithGears = 4;

/// Files since schema 1.5 have a state (StateTestModel.h), and no gears and no NPU.
constexpr uint32_t kFirstGoldenWithState = 5;
/// Files since schema 1.6 are one of two ranks (RankTestModel.h), without a state.
constexpr uint32_t kFirstGoldenWithRank = 6;
/// Files since schema 1.7 have names of dims and metadata (FactsTestModel.h), and no ranks.
constexpr uint32_t kFirstGoldenWithFacts = 7;
/// Files since schema 1.8 also have weights that are hashed in parts.
constexpr uint32_t kFirstGoldenWithParts = 8;

/// Files since schema 1.9 have a state with a first value (StateTestModel.h), and nothing else.
constexpr uint32_t kFirstGoldenWithInitial = 9;

/// Loads golden/schema-1.<minor>.om and checks its version.
inline om::Model loadGolden(uint32_t minor) {
  om::Error error;
  om::Model model = om::Model::loadFile(
      OPENATC_TEST_SOURCE "/golden/schema-1." + std::to_string(minor) + ".om", error);
  INFO(error.message());
  REQUIRE(model);
  CHECK(model.info().schema_major == 1);
  CHECK(model.info().schema_minor == minor);
  return model;
}

/// Runs a golden file of schema 1.<minor> in a session with `options` and checks
/// every element of its outputs.
inline void runGolden(const om::Model &model, uint32_t minor,
                      const om_session_options &options = OM_SESSION_OPTIONS_INIT) {
  const KernelImage code = readKernelImage(OPENATC_TEST_KERNELS);
  TestModel test(code);
  om::Error error;
  om::Session session(model, error, options);
  INFO(error.message());
  REQUIRE(session);
  om::Buffer x(64 * 48 * 4), sums(64 * 4), picks(60 * 4), quadrupled(64 * 4);
  for (int i = 0; i < 64 * 48; ++i)
    x.data<float>()[i] = static_cast<float>(i % 17) - 8;
  om::Buffer gear(8);
  *gear.data<int64_t>() = 64;
  const void *inputs[] = {x.data(), gear.data()};
  REQUIRE(model.info().inputs == (minor < kFirstGoldenWithGears ? 1 : 2));
  void *outputs[] = {sums.data(), picks.data(), quadrupled.data()};
  REQUIRE(model.info().outputs == (minor < kFirstGoldenWithNpu ? 2 : 3));
  REQUIRE(session.run(inputs, outputs, error));
  std::vector<float> wantedSums, wantedPicks;
  test.expect(x.data<float>(), wantedSums, wantedPicks);
  for (int i = 0; i < 64; ++i)
    CHECK(sums.data<float>()[i] == Approx(wantedSums[i]));
  for (int i = 0; i < 60; ++i)
    CHECK(picks.data<float>()[i] == wantedPicks[i]);
  for (int i = 0; i < 64 && minor >= kFirstGoldenWithNpu; ++i)
    CHECK(quadrupled.data<float>()[i] == 4 * sums.data<float>()[i]);
}

#endif
