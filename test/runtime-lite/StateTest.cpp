//===-- StateTest.cpp - values that a session keeps from run to run -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/FindStates.h"
#include "backends/om/OmSink.h"
#include "test/runtime-lite/GoldenFile.h"
#include "test/runtime-lite/HostTestRun.h"
#include "test/runtime-lite/StateTestModel.h"

#include <chrono>

namespace {
om::Value positions(int64_t batch, int64_t count, float first) {
  std::vector<float> data(static_cast<size_t>(batch * count) * 2);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = first + static_cast<float>(i);
  return floats({batch, count, 2}, data);
}
} // namespace

TEST_CASE("a state grows from run to run and is no output") {
  Ready ready(cacheModel(image()), "state-cache.om");
  CHECK(ready.model.info().schema_minor == 5);
  const std::vector<om_state_info> states = ready.model.states();
  REQUIRE(states.size() == 1);
  CHECK(std::string(states[0].name) == "past");
  CHECK(states[0].input == 1);
  CHECK(states[0].output == 1);
  REQUIRE(ready.session.keepState(true, ready.error));
  CHECK(ready.session.readState(0, ready.error).kind() == OM_KIND_NONE);

  // Two batches: what is cached is not one range of memory.
  std::vector<float> cached[2];
  float sum = 0;
  for (int run = 0; run < 40; ++run) {
    const om::Value x = positions(2, run % 3 + 1, static_cast<float>(run));
    const std::vector<float> list = listOf<float>(x);
    for (size_t b = 0; b < 2; ++b)
      cached[b].insert(cached[b].end(), list.begin() + static_cast<long>(b * list.size() / 2),
                       list.begin() + static_cast<long>((b + 1) * list.size() / 2));
    for (float each : list)
      sum += each;
    const Values out = ready.good({x, {}});
    CHECK_FALSE(out[1]);
    CHECK(*out[0].data<float>() == sum);
    std::vector<float> expected = cached[0];
    expected.insert(expected.end(), cached[1].begin(), cached[1].end());
    const om::Value state = ready.session.readState(0, ready.error);
    CHECK(state.dims() == std::vector<int64_t>{2, static_cast<int64_t>(cached[0].size()) / 2, 2});
    CHECK(listOf<float>(state) == expected);
    for (float &each : expected)
      each += 1;
    CHECK(listOf<float>(out[2]) == expected);
  }
  ready.session.resetState();
  CHECK(*ready.good({positions(1, 1, 3), {}})[0].data<float>() == 7);
}

TEST_CASE("without the wish a state is an input and an output") {
  Ready ready(cacheModel(image()), "state-off.om");
  const Values out = ready.good({positions(1, 1, 1), positions(1, 2, 5)});
  CHECK(listOf<float>(out[1]) == std::vector<float>{5, 6, 7, 8, 1, 2});
  CHECK(ready.run({positions(1, 1, 1), {}}).empty());
  CHECK(ready.says("input 1 ('past') must be a tensor of f32"));
  CHECK_FALSE(ready.session.readState(0, ready.error));
  CHECK(ready.says("om_session_keep_state"));
}

TEST_CASE("a state is set, replaced by an input, and kept after a failed run") {
  Ready ready(cacheModel(image()), "state-set.om");
  REQUIRE(ready.session.keepState(true, ready.error));
  REQUIRE(ready.session.writeState(0, positions(1, 2, 1), ready.error));
  CHECK(*ready.good({positions(1, 1, 0), {}})[0].data<float>() == 11);
  CHECK(*ready.good({positions(1, 1, 0), positions(1, 1, 2)})[0].data<float>() == 6);

  CHECK_FALSE(ready.session.writeState(0, number(3), ready.error));
  CHECK(ready.says("input 1 ('past') must be a tensor of f32 with dims [?, ?, 2]"));
  CHECK_FALSE(ready.session.writeState(7, {}, ready.error));
  CHECK(ready.says("there is no state 7"));

  CHECK(ready.run({positions(2, 1, 0), {}}).empty());
  CHECK(ready.error.code() == OM_ERROR_ARGUMENT);
  CHECK(ready.says("the state 'past' holds a tensor with dims [1, 2, 2], but dim 0 of input 'x' is "
                   "2, not 1: reset the state"));
  CHECK(ready.run({number(1), {}}).empty());
  CHECK(*ready.good({positions(1, 1, 0), {}})[0].data<float>() == 7);
}

TEST_CASE("a state that no longer fits its input fails the run that made it") {
  HostTestModel test(image());
  const int32_t n = test.input("n", OM_I64, {}), state = test.input("state", OM_I64, {3});
  (void)state;
  test.output("next", test.make("host_range", {n}), OM_I64);
  test.model.states = {{1, 0, {}}};
  Ready ready(test, "state-misfit.om");
  REQUIRE(ready.session.keepState(true, ready.error));
  ready.good({number(3), {}});
  CHECK(listOf<int64_t>(ready.session.readState(0, ready.error)) == std::vector<int64_t>{0, 1, 2});
  CHECK(ready.run({number(4), {}}).empty());
  CHECK(ready.error.code() == OM_ERROR_RUN);
  CHECK(ready.says("('state') must be a tensor of i64 with dims [3], but what was made"));
  CHECK(listOf<int64_t>(ready.session.readState(0, ready.error)) == std::vector<int64_t>{0, 1, 2});
}

TEST_CASE("the bytes of the state count against the ceiling of the session") {
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.max_memory = 200000;
  Ready ready(cacheModel(image()), "state-limit.om", options);
  REQUIRE(ready.session.keepState(true, ready.error));
  const om::Value x = positions(1, 500, 0);
  int runs = 0;
  while (runs < 100 && !ready.run({x, {}}).empty())
    ++runs;
  CHECK(ready.error.code() == OM_ERROR_LIMIT);
  CHECK(runs > 2);
  CHECK(runs < 20);
  // What failed has not changed the state.
  CHECK(ready.session.readState(0, ready.error).dims()[1] == runs * 500);
}

TEST_CASE("the first value of a state counts against the ceiling, too") {
  // An input of few bytes asks for a state of many: the dim is taken from it.
  HostTestModel test(image());
  const int32_t x = test.input("x", OM_F32, {-1, 0}), past = test.input("past", OM_F32, {-1, 4096});
  (void)x;
  test.output("y", test.make("host_add_one", {past}), OM_F32);
  test.model.states = {{1, 0, {{0, 0, 0}}}};
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.max_memory = 4u << 20;
  Ready ready(test, "state-first.om", options);
  REQUIRE(ready.session.keepState(true, ready.error));
  CHECK(ready.run({floats({1 << 20, 0}, {}), {}}).empty());
  CHECK(ready.error.code() == OM_ERROR_LIMIT);
  CHECK(ready.says("past needs 17179869184 bytes"));
  CHECK_FALSE(ready.run({floats({2, 0}, {}), {}}).empty());
}

TEST_CASE("many states with many dims take no longer to check than to read") {
  // 10,000 states times 1,000,000 dims.
  HostTestModel test(image());
  const int32_t x = test.input("x", OM_F32, {-1});
  for (int i = 0; i < 10000; ++i) {
    test.input("s", OM_F32, {-1});
    test.output("y", x, OM_F32);
  }
  for (uint32_t i = 0; i < 10000; ++i)
    test.model.states.push_back({i + 1, i, {{0, 0, 0}}});
  test.model.states[0].dims.assign(1000000, {0, 0, 0});
  const std::string path = writeModel(test.model, "state-many.om");
  const auto begin = std::chrono::steady_clock::now();
  om::Error error;
  CHECK(om::Model::loadFile(path, error));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(4));
}

TEST_CASE("a state begins with the values that the file has, also after a reset") {
  const std::vector<atc::om::InitialState> values = {
      atc::om::InitialState::ofFloats("state", {5, 6, 7})};
  HostTestModel test = countingModel(image(), values);
  std::string error;
  for (const atc::om::InitialState &wrong :
       {atc::om::InitialState::ofFloats("state", {5, 6}),
        atc::om::InitialState::ofFloats("other", {5, 6, 7}),
        atc::om::InitialState{"state", OM_I32, 3, values[0].bytes}})
    CHECK_FALSE(atc::om::setInitialStates(test.model, {wrong}, error));
  Ready ready(test, "state-initial.om");
  CHECK(ready.model.info().schema_minor == 9);
  REQUIRE(ready.session.keepState(true, ready.error));
  auto next = [&] {
    ready.good({om::Value()});
    return listOf<float>(ready.session.readState(0, ready.error));
  };
  CHECK(next() == std::vector<float>{6, 7, 8});
  CHECK(next() == std::vector<float>{7, 8, 9});
  ready.session.resetState();
  CHECK(next() == std::vector<float>{6, 7, 8});

  // A tensor that there is not, and one of another size.
  test.model.states[0].initial = 9;
  atc::om::OmMemorySink sink;
  CHECK_FALSE(atc::om::writeOm(test.model, sink, error));
  CHECK(error.find("state") != std::string::npos);
  test.model.states[0].initial = 1;
  test.model.tensors[0].dims = {2};
  test.model.tensors[0].place.size = 8;
  Ready small(test, "state-initial-small.om");
  REQUIRE(small.session.keepState(true, small.error));
  CHECK(small.run({om::Value()}).empty());
  CHECK(small.says("needs a buffer of 8 bytes, not 12"));
}

TEST_CASE("a model without states keeps none") {
  HostTestModel test(image());
  test.output("y", test.make("host_add_one", {test.input("x", OM_F32, {-1})}));
  Ready ready(test, "state-none.om");
  CHECK(ready.model.states().empty());
  CHECK_FALSE(ready.session.keepState(true, ready.error));
  CHECK(ready.says("declares no state: compile it with --state"));
  om_state_info info = OM_STATE_INFO_INIT;
  CHECK(om_model_get_state(ready.model.get(), 0, &info) == OM_ERROR_ARGUMENT);
}

TEST_CASE("a file with a state that cannot be is refused") {
  const std::vector<std::vector<atc::om::OmState>> wrong = {
      {{9, 1, {}}},             // no such input
      {{1, 9, {}}},             // no such output
      {{1, 1, {}}, {1, 0, {}}}, // an input twice
      {{1, 1, {{7, 0, 0}}}},    // no such dim
      {{1, 1, {{2, 0, 0}}}},    // a dim that is static
      {{1, 1, {{0, 0, 5}}}},    // no such dim of the other input
      {{1, 1, {{0, 1, 0}}}},    // the dim of a state
  };
  for (const auto &states : wrong) {
    HostTestModel test = cacheModel(image());
    test.model.states = states;
    std::string error;
    atc::om::OmMemorySink sink;
    CHECK_FALSE(atc::om::writeOm(test.model, sink, error));
    CHECK(error.find("state") != std::string::npos);
  }
}

TEST_CASE("the golden file with a first value of its state still runs") {
  om::Error error;
  om::Session session(loadGolden(kFirstGoldenWithInitial), error);
  REQUIRE(session);
  REQUIRE(session.keepState(true, error));
  session.run({om::Value()}, error);
  CHECK(listOf<float>(session.readState(0, error)) == std::vector<float>{6, 7, 8});
}

TEST_CASE("the golden file with a state still runs") {
  om::Error error;
  om::Session session(loadGolden(kFirstGoldenWithState), error);
  REQUIRE(session);
  REQUIRE(session.keepState(true, error));
  CHECK(*session.run({positions(1, 2, 1), {}}, error)[0].data<float>() == 10);
  CHECK(*session.run({positions(1, 1, 5), {}}, error)[0].data<float>() == 21);
}
