//===-- CollectiveTest.cpp - collectives in dynamic schedules -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openatc/collectives.h"
#include "runtime-lite/schema/om_generated.h"
#include "runtime-lite/src/Hash.h"
#include "test/runtime-lite/GoldenFile.h"
#include "test/runtime-lite/HostTestRun.h"
#include "test/runtime-lite/RankTestModel.h"

#include <cstring>
#include <functional>

namespace {

using Kind = HostTestModel::Kind;

/// A connection that records what it is asked for. wait() fills outputs with the value 7.
struct Recorder {
  Recorder() { table = {sizeof(om_collectives), this, 1, 2, start, wait}; }
  static om_status start(void *user, const om_collective *op, void **request, om_error *error) {
    auto &own = *static_cast<Recorder *>(user);
    own.log += std::string(own.log.empty() ? "" : " ") + "start:" + op->name;
    if (own.refuses == op->name) {
      std::strcpy(error->message, "refused");
      return error->code = OM_ERROR_RUN;
    }
    own.begun.push_back(new om_collective(*op));
    *request = own.begun.back();
    return OM_OK;
  }
  static om_status wait(void *user, void *request, om_error *error) {
    auto &own = *static_cast<Recorder *>(user);
    std::unique_ptr<om_collective> op(static_cast<om_collective *>(request));
    own.log += std::string(" wait:") + op->name;
    ++own.waited;
    if (own.fails == op->name) {
      std::strcpy(error->message, "rank 0 is gone");
      return error->code = OM_ERROR_RUN;
    }
    for (uint64_t i = 0; i < op->output_bytes / 4; ++i)
      static_cast<float *>(op->output)[i] = 7;
    return OM_OK;
  }
  om_collectives table;
  std::string log, refuses, fails;
  std::vector<om_collective *> begun;
  size_t waited = 0;
};

} // namespace

TEST_CASE("collectives begin early, and steps wait for those that they read") {
  Ready ready(gatherModel(image()), "collectives.om");
  CHECK(ready.model.info().schema_minor == 6);
  uint32_t ranks = 0;
  CHECK(om_model_get_rank(ready.model.get(), &ranks) == 1);
  CHECK(ranks == 2);
  Recorder recorder;
  om_error error;
  REQUIRE(om_session_set_collectives(ready.session.get(), &recorder.table, &error) == OM_OK);
  const Values out = ready.good({floats({3}, {1, 2, 3})});
  CHECK(recorder.log == "start:gather start:reduce start:send wait:reduce wait:gather wait:send");
  CHECK(out[0].dims() == std::vector<int64_t>{6});
  CHECK(listOf<float>(out[0]) == std::vector<float>(6, 7));
  CHECK(listOf<float>(out[1]) == std::vector<float>(3, 8));
}

TEST_CASE("a session that is not connected, or to other ranks, says so") {
  Ready ready(gatherModel(image()), "collectives-alone.om");
  CHECK(ready.run({floats({3}, {1, 2, 3})}).empty());
  CHECK(ready.error.code() == OM_ERROR_NO_DEVICE);
  CHECK(ready.says("the program of rank 1 of 2"));
  Recorder recorder;
  recorder.table.rank = 0;
  om_error error;
  CHECK(om_session_set_collectives(ready.session.get(), &recorder.table, &error) ==
        OM_ERROR_ARGUMENT);
  CHECK(std::string(error.message) ==
        "the model is the program of rank 1 of 2, but this is rank 0 of 2.");
}

TEST_CASE("whatever fails, everything that has begun is waited for") {
  Ready ready(gatherModel(image()), "collectives-fail.om");
  Recorder recorder;
  om_error error;
  REQUIRE(om_session_set_collectives(ready.session.get(), &recorder.table, &error) == OM_OK);
  recorder.refuses = "send";
  CHECK(ready.run({floats({3}, {1, 2, 3})}).empty());
  CHECK(ready.says("refused"));
  CHECK(recorder.waited == recorder.begun.size());
  recorder.refuses = "";
  recorder.fails = "reduce";
  CHECK(ready.run({floats({3}, {1, 2, 3})}).empty());
  CHECK(ready.says("rank 0 is gone"));
  CHECK(recorder.waited == recorder.begun.size());
  // The session is as it was.
  recorder.fails = "";
  CHECK(ready.good({floats({3}, {1, 2, 3})}).size() == 2);
}

TEST_CASE("collectives that cannot be trusted are not written, nor loaded") {
  std::string error;
  auto refused = [&](const std::function<void(HostTestModel &)> &change) {
    HostTestModel test = gatherModel(image());
    change(test);
    return !atc::om::writeOm(test.model, scratchPath("collectives-refused.om"), error);
  };
  auto first = [](HostTestModel &test) -> HostTestModel::Step & {
    return test.host().blocks[0][0];
  };
  CHECK_FALSE(refused([](HostTestModel &) {}));
  CHECK(refused([&](HostTestModel &t) { first(t).dims = {5}; }));
  CHECK(refused([&](HostTestModel &t) { first(t).elements = 4; }));
  CHECK(refused([&](HostTestModel &t) { first(t).ranks.clear(); }));
  CHECK(refused([&](HostTestModel &t) { first(t).inputs = {99}; }));
  CHECK(refused([&](HostTestModel &t) { first(t).inputs = {-1}; }));
  CHECK(refused([&](HostTestModel &t) { first(t).outputs = {-1}; }));
  CHECK(refused([&](HostTestModel &t) { first(t).dtype = OM_STRING; }));
  CHECK(refused([&](HostTestModel &t) { first(t).dtype = OM_I4; }));
  CHECK(refused([&](HostTestModel &t) { first(t).collective = om_collective_kind(7); }));
  CHECK(refused([&](HostTestModel &t) { first(t).reduction = om_reduction(3); }));
  CHECK(refused([&](HostTestModel &t) { first(t).collective = OM_REDUCE_SCATTER; }));
  CHECK(refused([](HostTestModel &t) { t.host().blocks[0][3].outputs = {99}; }));
  CHECK(refused([](HostTestModel &t) { // in a branch
    const int32_t inner = t.block();
    t.branch(0, inner, -1);
    t.current = static_cast<size_t>(inner);
    collective(t, "inner", OM_ALL_REDUCE, 0, 1, 3, {3});
  }));
  CHECK(error.find("a collective is in a branch or loop") != std::string::npos);
}

TEST_CASE("the golden file of a rank still runs") {
  om::Error error;
  om::Session session(loadGolden(kFirstGoldenWithRank), error);
  REQUIRE(session);
  Recorder recorder;
  REQUIRE(om_session_set_collectives(session.get(), &recorder.table, &error.c) == OM_OK);
  const Values out = session.run({floats({3}, {1, 2, 3})}, error);
  REQUIRE(out.size() == 2);
  CHECK(listOf<float>(out[1]) == std::vector<float>(3, 8));
}

TEST_CASE("steps that wait cannot share their lists of slots") {
  HostTestModel test = gatherModel(image());
  for (int i = 0; i < 40; ++i)
    test.add(Kind::Wait).outputs = {0};
  AlignedBytes file(readBytes(writeModel(test.model, "host-shared-waits.om")));
  uint32_t prefix;
  std::memcpy(&prefix, file.data, 4);
  const size_t headerBytes = prefix + 4;
  // Each list goes to the end of the header.
  const auto &blocks = *atc::om::fb::GetSizePrefixedModel(file.data)->host()->blocks();
  for (const auto *step : *blocks.Get(0)->steps())
    if (const auto *wait = step->what_as_HostWait()) {
      const auto *first = reinterpret_cast<const char *>(wait->slots()->Data());
      const auto items = static_cast<uint32_t>((file.data + headerBytes - first) / 4);
      std::memcpy(const_cast<char *>(first) - 4, &items, 4);
    }
  const uint64_t hash = atc::rt::hash64(file.data, headerBytes);
  std::memcpy(file.data + headerBytes, &hash, 8);
  om::Error error;
  CHECK_FALSE(om::Model::loadMemory(file.data, file.size, error));
  CHECK(std::string(error.message()).find("used more than once") != std::string::npos);
}
