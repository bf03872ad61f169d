//===-- HostLimitTest.cpp - ceilings of a session, and runs that are ended -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/runtime-lite/HostTestRun.h"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <sys/time.h>
#include <thread>

namespace {
constexpr uint64_t megabyte = 1 << 20;

om_session_options memoryOf(uint64_t bytes, uint32_t count = 1) {
  om_session_options options = threads(count);
  options.max_memory = bytes;
  return options;
}

/// while (true) body, which calls a kernel or is empty.
HostTestModel endlessModel(bool isEmpty) {
  HostTestModel test(image());
  const int32_t go = test.slot(), x = test.input("x", OM_F32, {-1});
  test.constant<uint8_t>(go, OM_BOOL, {}, {1});
  const int32_t body = isEmpty ? -1 : test.block();
  test.loop(go, body);
  if (!isEmpty) {
    test.current = static_cast<size_t>(body);
    test.call("host_add_one", {x}, {x});
  }
  test.output("x", x, OM_F32);
  return test;
}

double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
} // namespace

TEST_CASE("a result over the ceiling is refused with its node, its size and the ceiling") {
  HostTestModel test(image());
  const int32_t n = test.input("n", OM_I64, {});
  test.output("range", test.make("host_range", {n}));
  Ready ready(test, "limit-result.om", memoryOf(megabyte));
  for (int i = 0; i < 3; ++i) {
    CHECK(ready.run({number(1 << 20)}).empty());
    CHECK(ready.error.code() == OM_ERROR_LIMIT);
    CHECK(ready.says("the result of node 'node_host_range' (host_range) needs 8388672 bytes"));
    CHECK(ready.says("ceiling of 1048576 bytes"));
    CHECK(ready.good({number(100000)})[0].size() == 100000);
  }
  // Without a ceiling it is the system that refuses.
  Ready open(test, "limit-result.om", memoryOf(OM_NO_LIMIT));
  CHECK(open.run({number(int64_t(1) << 45)}).empty());
  CHECK(open.error.code() == OM_ERROR_MEMORY);
  CHECK(open.good({number(1 << 20)})[0].size() == 1 << 20);
  // The default is below the machine's memory, which a few results would be above.
  Ready usual(test, "limit-result.om");
  CHECK(usual.run({number(int64_t(1) << 42)}).empty());
  CHECK(usual.error.code() == OM_ERROR_LIMIT);
}

TEST_CASE("all values that are alive count, and are counted no longer when they are gone") {
  HostTestModel test = loopModel();
  Ready ready(test, "limit-alive.om", memoryOf(megabyte));
  const om::Value x = floats({8192}, std::vector<float>(8192));
  for (int i = 0; i < 20; ++i) {
    CHECK(ready.run({number(100), x}).empty()); // 50 items of 32 KB
    CHECK(ready.error.code() == OM_ERROR_LIMIT);
    CHECK(ready.says("host_add_one"));
    CHECK(ready.good({number(40), x})[2].size() == 20);
  }
}

TEST_CASE("inputs and outputs are the caller's") {
  HostTestModel test(image());
  const int32_t x = test.input("x", OM_F32, {-1});
  test.output("same", test.make("host_forward", {x}));
  test.output("more", test.make("host_add_one", {x}));
  Ready ready(test, "limit-callers.om", memoryOf(3 * megabyte));
  std::vector<Values> kept;
  om::Value given = floats({1 << 19}, std::vector<float>(1 << 19)); // 2 MB
  for (int i = 0; i < 20; ++i) {
    kept.push_back(ready.good({given}));
    given = kept.back()[1]; // made by a run, an input of the next one
  }
  CHECK(given.data<float>()[7] == 20);
  kept.clear();
  for (int i = 0; i < 20; ++i)
    given = ready.good({given})[1];
  CHECK(given.data<float>()[7] == 40);
}

TEST_CASE("scratch memory and strings count") {
  HostTestModel test(image());
  const int32_t n = test.input("n", OM_I64, {}), s = test.input("s", OM_STRING, {-1});
  test.call("host_scratch", {n}, {-1});
  test.output("twice", test.make("host_join", {s, s}));
  Ready ready(test, "limit-scratch.om", memoryOf(megabyte));
  CHECK(ready.run({number(megabyte), texts({"a"})}).empty());
  CHECK(ready.says("the scratch memory of node 'node_host_scratch'"));
  CHECK(ready.run({number(1000), texts({std::string(megabyte, 'x')})}).empty());
  CHECK(ready.error.code() == OM_ERROR_LIMIT);
  CHECK(ready.says("the strings of node 'node_host_join'"));
  // The caller's copy of a string is the last that needs memory.
  CHECK(ready.run({number(1000), texts({std::string(400000, 'x')})}).empty());
  CHECK(ready.says("copy of an output"));
  CHECK(ready.good({number(1000), texts({"ab"})})[0].string(0) == "abab");
}

TEST_CASE("a kernel does not go on when one of its tasks has failed") {
  HostTestModel test(image());
  const int32_t n = test.input("n", OM_I64, {});
  test.output("none", test.make("host_task_fails", {n}));
  for (uint32_t count : {1, 3}) {
    Ready ready(test, "limit-task.om", memoryOf(megabyte, count));
    for (int64_t tasks : {1, 2, 1000}) {
      CHECK(ready.run({number(tasks)}).empty());
      CHECK(ready.error.code() == OM_ERROR_LIMIT);
      CHECK(ready.says("node_host_task_fails"));
    }
  }
}

TEST_CASE("iterations of a run have a ceiling") {
  HostTestModel test = loopModel();
  om_session_options options = threads(1);
  options.max_iterations = 10;
  Ready ready(test, "limit-iterations.om", options);
  const om::Value x = floats({1}, {0});
  for (int i = 0; i < 3; ++i) {
    CHECK(ready.good({number(20), x})[2].size() == 10);
    CHECK(ready.run({number(21), x}).empty());
    CHECK(ready.error.code() == OM_ERROR_LIMIT);
    CHECK(ready.says("the loop around node 'node_host_step'"));
    CHECK(ready.says("10 iterations"));
  }
}

TEST_CASE("a run has an end where it is given a time") {
  om_session_options options = threads(1);
  options.max_run_us = 30000;
  for (bool isEmpty : {false, true}) {
    Ready ready(endlessModel(isEmpty), "limit-endless.om", options);
    for (int i = 0; i < 2; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      CHECK(ready.run({floats({1}, {0})}).empty());
      CHECK(ready.error.code() == OM_ERROR_LIMIT);
      CHECK(ready.says("30000 microseconds"));
      CHECK(secondsSince(begin) >= 0.03);
      CHECK(secondsSince(begin) < 20);
    }
  }
}

TEST_CASE("tasks of a kernel end when the time is over or the run is cancelled") {
  HostTestModel test(image());
  test.output("n", test.make("host_slow_tasks", {test.input("n", OM_I64, {})}));
  for (uint32_t count : {1, 3}) {
    om_session_options options = threads(count);
    options.max_run_us = 50000;
    Ready ready(test, "limit-tasks.om", options);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(ready.run({number(100000)}).empty()); // some 100 s
    CHECK(ready.error.code() == OM_ERROR_LIMIT);
    CHECK(ready.says("node 'node_host_slow_tasks'"));
    CHECK(secondsSince(begin) < 30);
    CHECK(*ready.good({number(3)})[0].data<int64_t>() == 3);
  }
  // Without a time the pieces are larger, and there are as many as threads have use for.
  Ready ready(test, "limit-tasks.om", threads(3));
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ready.session.cancel();
  });
  CHECK(ready.run({number(4000)}).empty());
  other.join();
  CHECK(ready.error.code() == OM_ERROR_CANCELLED);
  CHECK(*ready.good({number(3)})[0].data<int64_t>() == 3);
}

TEST_CASE("a run is cancelled by another thread, and the next one is not") {
  Ready ready(endlessModel(false), "limit-cancel.om", threads(2));
  for (int i = 0; i < 5; ++i) {
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ready.session.cancel();
    });
    CHECK(ready.run({floats({1}, {0})}).empty());
    other.join();
    CHECK(ready.error.code() == OM_ERROR_CANCELLED);
    CHECK(ready.says("node 'node_host_add_one'"));
  }
  Ready loop(loopModel(), "limit-cancel-loop.om", threads(1));
  const om::Value x = floats({1}, {0});
  loop.session.cancel(); // before the run
  CHECK(loop.run({number(4), x}).empty());
  CHECK(loop.error.code() == OM_ERROR_CANCELLED);
  CHECK(loop.good({number(4), x})[2].size() == 2);
}

static om_session *interrupted = nullptr;

TEST_CASE("a run is cancelled in a signal handler") {
  Ready ready(endlessModel(true), "limit-signal.om", threads(1));
  interrupted = ready.session.get();
  struct sigaction action = {}, before;
  action.sa_handler = [](int) { om_session_cancel(interrupted); };
  REQUIRE(sigaction(SIGALRM, &action, &before) == 0);
  const itimerval soon = {{0, 0}, {0, 20000}};
  REQUIRE(setitimer(ITIMER_REAL, &soon, nullptr) == 0);
  CHECK(ready.run({floats({1}, {0})}).empty());
  CHECK(ready.error.code() == OM_ERROR_CANCELLED);
  sigaction(SIGALRM, &before, nullptr);
}

TEST_CASE("models without a host program have the same ceilings") {
  om::Error error;
  const TestModel test(image());
  const om::Model model = om::Model::loadFile(writeModel(test.model, "limit-static.om"), error);
  REQUIRE(model);
  om_session_options options = threads(2);
  options.max_memory = test.model.arenaSize - 1;
  CHECK_FALSE(om::Session(model, error, options));
  CHECK(error.code() == OM_ERROR_LIMIT);
  // Arena, a page of scratch for each thread, and no room for the outputs.
  options.max_memory = test.model.arenaSize + 2 * 4096 + 100;
  om::Session tight(model, error, options);
  REQUIRE(tight);
  const om::Value x = floats({TestModel::rows, TestModel::columns},
                             std::vector<float>(TestModel::rows * TestModel::columns, 1));
  CHECK(tight.run({x}, error).empty());
  CHECK(error.code() == OM_ERROR_LIMIT);
  CHECK(std::string(error.message()).find("sums needs 256 bytes") != std::string::npos);

  options = threads(2);
  options.max_run_us = 1;
  const om::Model counting = om::Model::loadFile(
      writeModel(countingModel(image(), 1000, 50, 100000), "limit-counting.om"), error);
  REQUIRE(counting);
  om::Session late(counting, error, options);
  om::Buffer counts(1000 * 4);
  void *outputs[] = {counts.data()};
  CHECK_FALSE(late.run(nullptr, outputs, error));
  CHECK(error.code() == OM_ERROR_LIMIT);
  CHECK(std::string(error.message()).find("launch 'count") != std::string::npos);

  om::Session session(counting, error, threads(2));
  session.cancel();
  CHECK_FALSE(session.run(nullptr, outputs, error));
  CHECK(error.code() == OM_ERROR_CANCELLED);
  CHECK(std::string(error.message()).find("launch 'count0'") != std::string::npos);
  CHECK(session.run(nullptr, outputs, error));
}

TEST_CASE("options of an older program have the defaults") {
  om::Error error;
  HostTestModel test(image());
  test.output("range", test.make("host_range", {test.input("n", OM_I64, {})}));
  const om::Model model = om::Model::loadFile(writeModel(test.model, "limit-older.om"), error);
  REQUIRE(model);
  om_session_options options = threads(1);
  options.struct_size = offsetof(om_session_options, max_memory);
  options.max_memory = options.max_run_us = 1; // are not there
  om::Session session(model, error, options);
  REQUIRE(session);
  CHECK(session.run({number(1000)}, error).size() == 1);
}
