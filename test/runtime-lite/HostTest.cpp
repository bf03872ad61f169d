//===-- HostTest.cpp - host programs: sizes, branches, loops, failures ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/runtime-lite/HostTestRun.h"

TEST_CASE("one program serves all sizes") {
  HostTestModel test(image());
  const int32_t x = test.input("x", OM_F32, {-1, 3});
  const int32_t y = test.make("host_add_one", {x});
  test.output("z", test.make("host_add_one", {y}), OM_F32);
  Ready ready(test, "host-sizes.om");
  om::Tensor in = ready.model.input(0);
  CHECK(in.name == "x");
  CHECK(in.dims == std::vector<int64_t>{-1, 3});
  CHECK(in.bytes == 0);
  CHECK(in.ranked);
  CHECK_FALSE(in.fixed());
  CHECK_FALSE(ready.model.output(0).ranked);
  CHECK(ready.model.info().schema_minor == 3);
  for (int64_t n : {1, 5, 0, 1000, 2}) {
    std::vector<float> data(static_cast<size_t>(n) * 3);
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<float>(i);
    Values out = ready.good({floats({n, 3}, data)});
    CHECK(out[0].dims() == std::vector<int64_t>{n, 3});
    for (float &value : data)
      value += 2;
    CHECK(listOf<float>(out[0]) == data);
    CHECK(reinterpret_cast<uintptr_t>(out[0].data()) % 64 == 0);
  }
}

TEST_CASE("an input that does not fit is named, with what was expected and given") {
  HostTestModel test(image());
  const int32_t x = test.input("picture", OM_F32, {-1, 3});
  test.output("y", test.make("host_add_one", {x}));
  Ready ready(test, "host-inputs.om");
  CHECK(ready.run({floats({2, 4}, std::vector<float>(8))}).empty());
  CHECK(ready.error.code() == OM_ERROR_ARGUMENT);
  CHECK(ready.says("input 0 ('picture') must be a tensor of f32 with dims [?, 3], but what was "
                   "given is a tensor of f32 with dims [2, 4]."));
  CHECK(ready.run({floats({3}, std::vector<float>(3))}).empty());
  CHECK(ready.run({number(3)}).empty());
  CHECK(ready.says("a tensor of i64 with dims []"));
  CHECK(ready.run({}).empty());
  CHECK(ready.says("no value"));
  om::Error error;
  CHECK(ready.run({om::Value::sequence(OM_F32, {}, error)}).empty());
  CHECK(ready.says("a sequence of f32"));
  const float *pointers[] = {nullptr};
  void *outputs[] = {nullptr};
  om_error plain;
  CHECK(om_session_run(ready.session.get(), reinterpret_cast<const void *const *>(pointers),
                       outputs, &plain) == OM_ERROR_ARGUMENT);
  CHECK(std::string(plain.message).find("use om_session_run_values") != std::string::npos);
}

TEST_CASE("a branch runs one of its blocks") {
  HostTestModel test(image());
  const int32_t a = test.input("a", OM_I64, {}), b = test.input("b", OM_I64, {});
  const int32_t less = test.make("host_less", {a, b}), result = test.slot();
  const int32_t then = test.block(), otherwise = test.block();
  test.branch(less, then, otherwise);
  test.current = static_cast<size_t>(then);
  test.call("host_range", {b}, {result});
  test.current = static_cast<size_t>(otherwise);
  test.move({a}, {result});
  test.output("result", result);
  Ready ready(test, "host-if.om");
  CHECK(listOf<int64_t>(ready.good({number(1), number(3)})[0]) == std::vector<int64_t>{0, 1, 2});
  CHECK(listOf<int64_t>(ready.good({number(7), number(3)})[0]) == std::vector<int64_t>{7});
}

TEST_CASE("a branch without a block does nothing") {
  HostTestModel test(image());
  const int32_t a = test.input("a", OM_I64, {}), b = test.input("b", OM_I64, {});
  const int32_t less = test.make("host_less", {a, b}), then = test.block();
  test.branch(less, then, -1);
  test.current = static_cast<size_t>(then);
  test.move({a, b}, {b, a});
  test.current = 0;
  test.output("smaller", b);
  test.output("larger", a);
  Ready ready(test, "host-swap.om");
  Values out = ready.good({number(1), number(3)});
  CHECK(*out[0].data<int64_t>() == 1);
  CHECK(*out[1].data<int64_t>() == 3);
  out = ready.good({number(4), number(2)});
  CHECK(*out[0].data<int64_t>() == 2);
  CHECK(*out[1].data<int64_t>() == 4);
}

TEST_CASE("a loop carries its values, and may not run at all") {
  HostTestModel test = loopModel();
  Ready ready(test, "host-loop.om");
  for (int64_t n : {5, 0, 40, 1}) {
    Values out = ready.good({number(n), floats({2}, {1, 10})});
    const int64_t rounds = (n + 1) / 2;
    CHECK(*out[0].data<int64_t>() == 2 * rounds);
    const float added = static_cast<float>(rounds);
    CHECK(listOf<float>(out[1]) == std::vector<float>{1 + added, 10 + added});
    CHECK(out[2].kind() == (n ? OM_KIND_SEQUENCE : OM_KIND_NONE));
    REQUIRE(out[2].size() == static_cast<uint64_t>(rounds));
    for (int64_t r = 0; r < rounds; ++r)
      CHECK(out[2].item(static_cast<uint64_t>(r)).data<float>()[0] == 2 + static_cast<float>(r));
    CHECK_FALSE(out[2].item(static_cast<uint64_t>(rounds)));
  }
}

TEST_CASE("each task runs once on all threads, and tasks may start others") {
  HostTestModel test(image());
  const int32_t n = test.input("n", OM_I64, {});
  test.output("counts", test.make("host_count_tasks", {n}), OM_U32);
  for (uint32_t count : {1, 2, 5})
    for (uint64_t serialCost : {0, 2, 30000, 1000000000}) {
      Ready ready(test, "host-tasks.om", threads(count, serialCost));
      for (int64_t tasks : {1, 2, 3, 64, 65, 1000}) {
        for (int i = 0; i < 20; ++i) {
          Values out = ready.good({number(tasks)});
          REQUIRE(listOf<uint32_t>(out[0]) ==
                  std::vector<uint32_t>(static_cast<size_t>(tasks) * 3, 1));
        }
      }
    }
}

TEST_CASE("tasks that took long are not measured alone in the next runs") {
  HostTestModel test(image());
  test.output("met", test.make("host_meet", {test.input("n", OM_I64, {})}));
  Ready ready(test, "host-meet.om", threads(2, /*serialCost=*/1000));
  const int64_t shortWait = 1000000, longWait = int64_t(1) << 34;
  CHECK(*ready.good({number(shortWait)})[0].data<int64_t>() == 1);
  for (int run = 0; run < 15; ++run)
    REQUIRE(*ready.good({number(longWait)})[0].data<int64_t>() == 2);
  // They may have become short.
  CHECK(*ready.good({number(shortWait)})[0].data<int64_t>() == 1);
}

TEST_CASE("what fails in a run is said with the node, and the session goes on") {
  HostTestModel test(image());
  const int32_t n = test.input("n", OM_I64, {}), x = test.input("x", OM_F32, {-1});
  test.output("range", test.make("host_range", {n}));
  test.output("parts", test.make("host_unstack", {x}), OM_F32, OM_KIND_SEQUENCE);
  Ready ready(test, "host-fail.om");
  const om::Value one = floats({1}, {1}), many = floats({65}, std::vector<float>(65));
  CHECK(ready.run({number(-5), one}).empty());
  CHECK(ready.error.code() == OM_ERROR_RUN);
  CHECK(ready.says("node 'node_host_range' (host_range) failed: the dims of its result"));
  CHECK(ready.run({number(INT64_MAX), one}).empty());
  CHECK(ready.error.code() == OM_ERROR_RUN);
  CHECK(ready.run({number(int64_t(1) << 45), one}).empty());
  CHECK(ready.error.code() == OM_ERROR_LIMIT);
  CHECK(ready.says("node_host_range"));
  CHECK(ready.run({number(2), many}).empty());
  CHECK(ready.error.code() == OM_ERROR_RUN);
  CHECK(ready.says("node 'node_host_unstack' (host_unstack) failed: 65 items are more than 64."));
  CHECK(ready.good({number(2), one})[0].size() == 2);
}

TEST_CASE("programs that go wrong do so cleanly") {
  SECTION("an output is not made") {
    HostTestModel test(image());
    test.output("y", test.make("host_silent", {}));
    Ready ready(test, "host-silent.om");
    CHECK(ready.run({}).empty());
    CHECK(ready.says("did not make its output 0"));
  }
  SECTION("an input is empty") {
    HostTestModel test(image());
    test.output("y", test.make("host_forward", {test.slot()}));
    Ready ready(test, "host-empty.om");
    CHECK(ready.run({}).empty());
    CHECK(ready.says("its input 0 has no value"));
  }
  SECTION("a condition is no bool") {
    HostTestModel test(image());
    test.loop(test.number(1), -1);
    Ready ready(test, "host-condition.om");
    CHECK(ready.run({}).empty());
    CHECK(ready.error.code() == OM_ERROR_RUN);
  }
  SECTION("an output is not of its kind") {
    HostTestModel test(image());
    test.output("ok", test.number(1));
    test.output("y", test.number(1), OM_I64, OM_KIND_SEQUENCE);
    Ready ready(test, "host-kind.om");
    CHECK(ready.run({}).empty());
    CHECK(ready.says("output 1 ('y') must be a sequence of i64"));
  }
  SECTION("sequences in sequences in a loop") {
    HostTestModel test(image());
    const int32_t s = test.make("host_unstack", {test.input("x", OM_F32, {-1})}), go = test.slot();
    test.constant<uint8_t>(go, OM_BOOL, {}, {1});
    const int32_t body = test.block();
    test.loop(go, body);
    test.current = static_cast<size_t>(body);
    test.call("host_wrap", {s}, {s});
    Ready ready(test, "host-deep.om");
    CHECK(ready.run({floats({1}, {1})}).empty());
    CHECK(ready.says("too deep"));
  }
}

TEST_CASE("random numbers differ from call to call, and not for a seed") {
  HostTestModel test(image());
  test.output("numbers", test.make("host_random", {}));
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  auto numbers = [&](uint64_t seed) {
    options.seed = seed;
    Ready ready(test, "host-random.om", options);
    auto all = listOf<int64_t>(ready.good({})[0]);
    auto more = listOf<int64_t>(ready.good({})[0]);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  CHECK(numbers(7) == numbers(7));
  CHECK(numbers(7) != numbers(8));
  const auto unseeded = numbers(0);
  CHECK(unseeded[0] != unseeded[1]);
  CHECK(unseeded[0] != unseeded[2]);
  CHECK(numbers(0) != unseeded);
}
