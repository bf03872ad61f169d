//===-- HostTest.cpp - host programs: values, branches, loops, parts ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define CATCH_CONFIG_MAIN
#include "openatc/npu.h"
#include "openatc/om.hpp"
#include "runtime-lite/src/Hash.h"
#include "test/runtime-lite/HostTestModel.h"
#include "test/runtime-lite/NpuTestModel.h"

#include <catch2/catch.hpp>

namespace {
using Values = std::vector<om::Value>;

const KernelImage &image() {
  static const KernelImage read = readKernelImage(OPENATC_TEST_KERNELS);
  return read;
}

/// A program written, loaded and ready to run.
struct Ready {
  Ready(const HostTestModel &test, const char *name,
        om_session_options options = OM_SESSION_OPTIONS_INIT)
      : model(om::Model::loadFile(writeModel(test.model, name), error)),
        session(model ? om::Session(model, error, options) : om::Session()) {
    INFO(error.message());
    REQUIRE(session);
  }
  Values run(const Values &inputs) { return session.run(inputs, error); }
  Values good(const Values &inputs) {
    Values outputs = run(inputs);
    INFO(error.message());
    REQUIRE_FALSE(error);
    return outputs;
  }
  bool says(const char *text) const {
    UNSCOPED_INFO(error.message());
    return std::string(error.message()).find(text) != std::string::npos;
  }

  om::Error error;
  om::Model model;
  om::Session session;
};

om::Value floats(std::vector<int64_t> dims, const std::vector<float> &data) {
  om::Error error;
  return om::Value::tensor(OM_F32, dims, data.data(), error);
}
om::Value number(int64_t value) {
  om::Error error;
  return om::Value::tensor(OM_I64, {}, &value, error);
}
om::Value texts(const std::vector<std::string> &list) {
  om::Error error;
  return om::Value::strings({static_cast<int64_t>(list.size())}, list, error);
}
template <typename T> std::vector<T> listOf(const om::Value &value) {
  return {value.data<T>(), value.data<T>() + value.size()};
}

om_session_options threads(uint32_t count, uint64_t serialCost = OM_DEFAULT_SERIAL_COST) {
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.threads = count;
  options.serial_cost = serialCost;
  return options;
}
} // namespace

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

/// i = 0; while (i < n) { i += step; x = x + 1; sequence += x }
static HostTestModel loopModel() {
  HostTestModel test(image());
  const int32_t n = test.input("n", OM_I64, {}), x = test.input("x", OM_F32, {-1});
  const int32_t i = test.make("host_forward", {test.number(0)});
  const int32_t sequence = test.make("host_none", {}), go = test.make("host_less", {i, n});
  const int32_t body = test.block();
  test.loop(go, body);
  test.current = static_cast<size_t>(body);
  const int32_t next = test.slot(), changed = test.slot(), longer = test.slot();
  atc::om::OmHostAttribute step{"step"};
  step.ints = {2};
  test.call("host_step", {i}, {next}).attributes = {step};
  test.call("host_add_one", {x}, {changed});
  test.call("host_append", {sequence, changed}, {longer});
  test.move({next, changed, longer}, {i, x, sequence});
  test.release({next, changed, longer});
  test.call("host_less", {i, n}, {go});
  test.current = 0;
  test.output("i", i, OM_I64);
  test.output("x", x, OM_F32);
  test.output("all", sequence, OM_F32, OM_KIND_SEQUENCE, /*optional=*/true);
  return test;
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

TEST_CASE("values outlive the session and the model") {
  Values out;
  {
    HostTestModel test = loopModel();
    const int32_t constant = test.slot();
    test.constant<float>(constant, OM_F32, {3}, {7, 8, 9});
    test.output("constant", constant);
    Ready ready(test, "host-outlive.om");
    out = ready.good({number(3), floats({1}, {1})});
  }
  CHECK(listOf<float>(out[1]) == std::vector<float>{3});
  CHECK(out[2].item(1).data<float>()[0] == 3);
  CHECK(listOf<float>(out[3]) == std::vector<float>{7, 8, 9});
}

TEST_CASE("sharing copies nothing, and borrowed elements never get out") {
  HostTestModel test(image());
  const int32_t x = test.input("x", OM_F32, {-1}), dims = test.input("dims", OM_I64, {-1});
  test.output("same", x);
  test.output("shaped", test.make("host_reshape", {x, dims}));
  Ready ready(test, "host-share.om");
  om::Error error;
  const int64_t shape[] = {2, 3};
  const om::Value wanted = om::Value::tensor(OM_I64, {2}, shape, error);
  const om::Value owned = floats({6}, {0, 1, 2, 3, 4, 5});
  Values out = ready.good({owned, wanted});
  CHECK(out[0].data() == owned.data());
  CHECK(out[1].data() == owned.data());
  CHECK(out[1].dims() == std::vector<int64_t>{2, 3});

  om::Buffer memory(6 * 4);
  memory.data<float>()[5] = 55;
  const om::Value borrowed = om::Value::borrow(OM_F32, {6}, memory.data(), error);
  CHECK(borrowed.data() == memory.data());
  out = ready.good({borrowed, wanted});
  CHECK(out[0].data() != memory.data());
  CHECK(out[1].data() != memory.data());
  CHECK(out[1].data<float>()[5] == 55);
  CHECK_FALSE(om::Value::borrow(OM_F32, {6}, memory.data<char>() + 4, error));
}

TEST_CASE("strings come in, are joined, and come out") {
  HostTestModel test(image());
  const int32_t a = test.input("a", OM_STRING, {-1});
  const int32_t constant = test.slot();
  test.host().constants.push_back(
      {constant, OM_STRING, {2}, {OM_WEIGHTS, 0, 0, 0}, {std::string("\0!", 2), "?"}});
  const int32_t joined = test.make("host_join", {a, constant});
  test.output("twice", test.make("host_join", {joined, joined}), OM_STRING);
  test.output("same", test.make("host_join", {a, -1}), OM_STRING);
  Values out, empty;
  {
    Ready ready(test, "host-strings.om");
    out = ready.good({texts({"hello", std::string(100000, 'x')})});
    for (int i = 0; i < 10; ++i)
      ready.good({texts({"", "y"})});
  }
  REQUIRE(out[0].size() == 2);
  CHECK(out[0].string(0) == std::string("hello\0!hello\0!", 14));
  CHECK(out[0].string(1).size() == 200002);
  CHECK(out[1].string(0) == "hello");
  const char *none = nullptr;
  CHECK(om_value_get_string(out[0].get(), 2, &none, nullptr) == OM_ERROR_ARGUMENT);
}

TEST_CASE("sequences and maps are made, taken apart and kept") {
  om::Error error;
  HostTestModel test(image());
  const int32_t x = test.input("x", OM_F32, {-1});
  const int32_t s = test.input("s", OM_F32, {}, OM_KIND_SEQUENCE);
  const int32_t m = test.input("m", OM_UNDEFINED, {}, OM_KIND_MAP);
  const int32_t parts = test.make("host_unstack", {x});
  test.output("parts", parts, OM_F32, OM_KIND_SEQUENCE);
  test.output("longer", test.make("host_append", {s, x}), OM_F32, OM_KIND_SEQUENCE);
  test.output("map", test.make("host_forward", {m}), OM_UNDEFINED, OM_KIND_MAP);
  test.output("wrapped", test.make("host_wrap", {parts}), OM_UNDEFINED, OM_KIND_SEQUENCE);
  test.output("maps", test.make("host_maps", {x, x}), OM_UNDEFINED, OM_KIND_SEQUENCE);
  Ready ready(test, "host-sequences.om");
  const om::Value map = om::Value::map(texts({"a", "b"}), floats({2}, {1, 2}), error);
  REQUIRE(map);
  const om::Value two = om::Value::sequence(OM_F32, {floats({1}, {5}), floats({2}, {6, 7})}, error);
  const om::Value three = floats({3}, {1, 2, 3});
  Values out = ready.good({three, two, map});
  CHECK(out[0].size() == 3);
  CHECK(*out[0].item(2).data<float>() == 3);
  CHECK(out[1].size() == 3);
  CHECK(out[1].item(1).data<float>()[1] == 7);
  CHECK(out[1].item(2).data() == three.data());
  CHECK(out[2].item(0).string(1) == "b");
  CHECK(out[2].item(1).data<float>()[1] == 2);
  CHECK(out[3].item(0).item(1).data<float>()[0] == 2);
  CHECK(out[4].item(0).kind() == OM_KIND_MAP);
  CHECK(out[4].item(0).item(1).data<float>()[2] == 3);
  CHECK_FALSE(om::Value::map(texts({"a"}), floats({2}, {1, 2}), error));
  CHECK_FALSE(om::Value::sequence(OM_I64, {three}, error));
  // Sequences in sequences have an end.
  om::Value deep = two;
  int depth = 0;
  while (om::Value next = om::Value::sequence(OM_F32, {deep}, error))
    deep = next, ++depth;
  CHECK(depth == 6);
}

TEST_CASE("attributes reach the kernel, and their tensors may be results") {
  HostTestModel test(image());
  using Attribute = atc::om::OmHostAttribute;
  const uint32_t constant = test.constant<int32_t>(-1, OM_I32, {2, 2}, {1, 2, 3, 4});
  Attribute tensors{"value", Attribute::Kind::Tensors}, strings{"words", Attribute::Kind::Strings},
      numbers{"numbers", Attribute::Kind::Floats}, nothing{"nothing", Attribute::Kind::Ints};
  tensors.tensors = {constant};
  strings.strings = {"one", "", "three"};
  numbers.floats = {0.5, 0.25, -1e300};
  const int32_t a = test.slot(), b = test.slot(), c = test.slot();
  test.call("host_attributes", {}, {a, b, c}).attributes = {nothing, tensors, strings, numbers};
  test.output("a", a);
  test.output("b", b);
  test.output("c", c);
  Ready ready(test, "host-attributes.om");
  Values out = ready.good({});
  CHECK(listOf<int32_t>(out[0]) == std::vector<int32_t>{1, 2, 3, 4});
  CHECK(out[0].dims() == std::vector<int64_t>{2, 2});
  CHECK(out[1].size() == 3);
  CHECK(out[1].string(2) == "three");
  CHECK(*out[2].data<double>() == -1e300);
}

TEST_CASE("a body and the outputs that are wanted are told to the kernel") {
  for (bool second : {false, true}) {
    HostTestModel test(image());
    const int32_t x = test.input("x", OM_F32, {-1}), y = test.slot(), wanted = test.slot();
    const int32_t body = static_cast<int32_t>(test.kernel("host_body_twice"));
    test.call("host_map", {x}, {y, second ? wanted : -1}).body = body;
    test.output("y", y);
    if (second)
      test.output("wanted", wanted, OM_BOOL);
    Ready ready(test, "host-body.om");
    Values out = ready.good({floats({3}, {1, 2, 3})});
    CHECK(listOf<float>(out[0]) == std::vector<float>{2, 4, 6});
    CHECK(out.size() == (second ? 2 : 1));
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
          REQUIRE(listOf<uint32_t>(out[0]) == std::vector<uint32_t>(static_cast<size_t>(tasks), 3));
        }
      }
    }
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
  CHECK(ready.error.code() == OM_ERROR_MEMORY);
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

TEST_CASE("static parts run between host kernels, in a loop too") {
  TestModel part(image());
  HostTestModel test(image());
  const int32_t x = test.input("x", OM_F32, {-1, -1}), n = test.input("n", OM_I64, {});
  const uint32_t index = test.part(part.model), again = test.part(part.model);
  const int32_t i = test.make("host_forward", {test.number(0)});
  const int32_t go = test.make("host_less", {i, n}), body = test.block();
  const int32_t sums = test.slot(), picks = test.slot();
  test.run(again, {x}, {sums, picks});
  test.loop(go, body);
  test.current = static_cast<size_t>(body);
  test.call("host_add_one", {x}, {x});
  test.run(index, {x}, {sums, -1});
  test.call("host_step", {i}, {i});
  test.call("host_less", {i, n}, {go});
  test.output("sums", sums, OM_F32);
  test.output("picks", picks, OM_F32);
  std::vector<float> data(64 * 48), wanted, wantedPicks, first;
  for (size_t k = 0; k < data.size(); ++k)
    data[k] = static_cast<float>(k % 17) - 8;
  part.expect(data.data(), first, wantedPicks);
  std::vector<float> shifted = data;
  for (float &value : shifted)
    value += 3;
  std::vector<float> unused;
  part.expect(shifted.data(), wanted, unused);
  for (uint32_t count : {1, 3}) {
    Ready ready(test, "host-part.om", threads(count));
    om_session_set_profile(ready.session.get(), 1);
    Values out = ready.good({floats({64, 48}, data), number(3)});
    CHECK(out[0].dims() == std::vector<int64_t>{64});
    for (int k = 0; k < 64; ++k)
      CHECK(out[0].data<float>()[k] == Approx(wanted[static_cast<size_t>(k)]));
    CHECK(listOf<float>(out[1]) == wantedPicks);
    CHECK(ready.run({floats({64, 47}, std::vector<float>(64 * 47)), number(3)}).empty());
    CHECK(ready.error.code() == OM_ERROR_RUN);
    CHECK(ready.says("[64, 48]"));
    // Launches first, then calls in the order of the program.
    const om_model_info info = ready.model.info();
    CHECK(info.launches == 8 + 5);
    CHECK(ready.model.launch(0).name == "scale");
    CHECK(ready.model.launch(8).kernel == "host_forward");
    CHECK(ready.model.launch(10).kernel == "host_add_one");
    CHECK(ready.model.launch(10).name == "node_host_add_one");
    CHECK(ready.model.launch(10).host);
    uint64_t time = 0, runs = 0;
    REQUIRE(om_session_get_profile(ready.session.get(), 12, &time, &runs) == OM_OK);
    CHECK(time > 0);
    CHECK(runs == 2);
    CHECK(om_session_get_profile(ready.session.get(), 13, &time, &runs) == OM_ERROR_ARGUMENT);
  }
}

TEST_CASE("plain memory serves a program whose sizes are known") {
  TestModel part(image());
  HostTestModel test(image());
  const int32_t x = test.input("x", OM_F32, {64, 48});
  const int32_t sums = test.slot(), picks = test.slot();
  const uint32_t index = test.part(part.model);
  const int32_t more = test.make("host_add_one", {x});
  test.run(index, {more}, {sums, picks});
  for (auto [name, at, size] : {std::tuple("sums", sums, 64), std::tuple("picks", picks, 60)})
    test.host().outputs.push_back(
        {name, OM_KIND_TENSOR, OM_F32, {size}, false, false, static_cast<uint32_t>(at)});
  test.host().outputs[1].dims = {1, 5, 3, 4};
  Ready ready(test, "host-plain.om");
  CHECK(ready.model.output(1).bytes == 240);
  CHECK(ready.model.output(1).fixed());
  om::Buffer in(64 * 48 * 4), s(64 * 4), p(60 * 4);
  const void *inputs[] = {in.data()};
  void *outputs[] = {s.data(), p.data()};
  std::vector<uint32_t> order;
  std::vector<float> read(64 * 48);
  auto observe = [&](uint32_t launch) {
    order.push_back(launch);
    if (launch == 0)
      CHECK(om_session_read_tensor(ready.session.get(), TestModel::X, read.data(), read.size() * 4,
                                   nullptr) == OM_OK);
  };
  REQUIRE(ready.session.run(inputs, outputs, observe, ready.error));
  CHECK(order == std::vector<uint32_t>{4, 0, 1, 2, 3});
  CHECK(read[100] == 1);
  std::vector<float> wantedSums, wantedPicks;
  part.expect(read.data(), wantedSums, wantedPicks);
  for (int k = 0; k < 64; ++k)
    CHECK(s.data<float>()[k] == Approx(wantedSums[static_cast<size_t>(k)]));
  CHECK(om_session_read_tensor(ready.session.get(), TestModel::X, read.data(), read.size() * 4,
                               nullptr) == OM_ERROR_ARGUMENT);
  int ended = 0;
  auto stop = [](void *user, uint32_t) -> int { return ++*static_cast<int *>(user) == 2; };
  CHECK(om_session_run_observed(ready.session.get(), inputs, outputs, stop, &ended, nullptr) ==
        OM_ERROR_ARGUMENT);
  CHECK(ended == 2);
  void *unaligned[] = {s.data<char>() + 4, p.data()};
  CHECK_FALSE(ready.session.run(inputs, unaligned, ready.error));
  CHECK(ready.says("output 0 ('sums') is not 64-byte aligned"));
}

TEST_CASE("a static model runs on values") {
  TestModel test(image());
  om::Error error;
  om::Model model = om::Model::loadFile(writeModel(test.model, "host-static.om"), error);
  REQUIRE(model);
  CHECK(model.info().schema_minor == 2);
  om::Session session(model, error);
  std::vector<float> data(64 * 48, 2), sums, picks;
  test.expect(data.data(), sums, picks);
  Values out = session.run({floats({64, 48}, data)}, error);
  REQUIRE(out.size() == 2);
  for (int k = 0; k < 64; ++k)
    CHECK(out[0].data<float>()[k] == Approx(sums[static_cast<size_t>(k)]));
  CHECK(out[1].dims() == std::vector<int64_t>{1, 5, 3, 4});
  CHECK(listOf<float>(out[1]) == picks);
  CHECK(session.run({floats({48, 64}, data)}, error).empty());
  CHECK(error.code() == OM_ERROR_ARGUMENT);
  CHECK(session.run({}, error).empty());
}

TEST_CASE("parts may have launches of an NPU") {
  NpuTestModel part(image());
  HostTestModel test(image());
  const int32_t x = test.input("x", OM_F32, {-1, -1});
  const uint32_t index = test.part(part.model);
  const int32_t sums = test.slot(), four = test.slot();
  const int32_t more = test.make("host_add_one", {x});
  test.run(index, {more}, {sums, -1, four});
  test.run(index, {x}, {sums, -1, -1});
  test.output("sums", sums);
  test.output("four", four);
  om_npu *npu = nullptr;
  REQUIRE(om_npu_simulator(nullptr, &npu, nullptr) == OM_OK);
  std::unique_ptr<om_npu, void (*)(om_npu *)> keep(npu, om_npu_free);
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.device = om_npu_device(npu);
  Ready ready(test, "host-npu.om", options);
  std::vector<float> data(64 * 48, 2), more2(64 * 48, 3), plain, moreSums, picks;
  part.expect(data.data(), plain, picks);
  part.expect(more2.data(), moreSums, picks);
  for (int i = 0; i < 3; ++i) {
    Values out = ready.good({floats({64, 48}, data)});
    for (int k = 0; k < 64; ++k) {
      CHECK(out[0].data<float>()[k] == Approx(plain[static_cast<size_t>(k)]));
      CHECK(out[1].data<float>()[k] == Approx(4 * moreSums[static_cast<size_t>(k)]));
    }
  }
}

TEST_CASE("a host program that cannot be trusted is not written, nor loaded") {
  std::string error;
  auto refused = [&](auto change) {
    HostTestModel test = loopModel();
    TestModel part(image());
    const uint32_t index = test.part(part.model);
    const int32_t x = test.input("p", OM_F32, {64, 48});
    test.run(index, {x}, {-1, -1});
    change(test);
    const bool written = atc::om::writeOm(test.model, scratchPath("host-refused.om"), error);
    return !written && error.rfind("E19999: ", 0) == 0;
  };
  using Test = HostTestModel;
  auto stepOf = [](Test &t, size_t block, Test::Kind kind) -> Test::Step & {
    for (Test::Step &step : t.host().blocks[block])
      if (step.kind == kind)
        return step;
    throw std::runtime_error("no such step");
  };
  using Kind = Test::Kind;
  CHECK_FALSE(refused([](Test &) {}));
  CHECK(refused([](Test &t) { t.host().slots = 2; }));
  CHECK(refused([](Test &t) { t.host().slots = 1u << 30; }));
  CHECK(refused([](Test &t) { t.host().main = 2; }));
  CHECK(refused([](Test &t) { t.host().inputs[0].slot = 100; }));
  CHECK(refused([](Test &t) { t.host().inputs[0].dims = {-2}; }));
  CHECK(refused([](Test &t) { t.host().outputs[0].dims = {1}; })); // it is unranked
  CHECK(refused([](Test &t) { t.host().inputs[0].dims.assign(17, 1); }));
  CHECK(refused([](Test &t) { t.host().inputs[0].dtype = om_dtype(27); }));
  CHECK(refused([](Test &t) { t.host().constants[0].slot = 1000; }));
  CHECK(refused([](Test &t) { t.host().constants[0].place.offset = 32; }));
  CHECK(refused([](Test &t) { t.host().constants[0].place.offset = 1 << 20; }));
  CHECK(refused([](Test &t) { t.host().constants[0].place.size = 4; }));
  CHECK(refused([](Test &t) { t.host().constants[0].place.space = OM_ARENA; }));
  CHECK(refused([](Test &t) { t.host().constants[0].dims = {INT64_MAX, INT64_MAX}; }));
  CHECK(refused([](Test &t) { t.host().constants[0].dims = {-1}; }));
  CHECK(refused([](Test &t) { t.host().constants[0].dtype = OM_STRING; }));
  CHECK(refused([&](Test &t) { stepOf(t, 0, Kind::Loop).block = 0; }));
  CHECK(refused([&](Test &t) { stepOf(t, 0, Kind::Loop).block = 2; }));
  CHECK(refused([&](Test &t) { stepOf(t, 0, Kind::Loop).condition = 1000; }));
  CHECK(refused([](Test &t) {
    t.current = 1;
    t.loop(0, 1);
  }));
  CHECK(refused([](Test &t) { t.branch(0, 1, -1); }));
  CHECK(refused([](Test &t) { t.branch(0, -2, -1); }));
  CHECK(refused([](Test &t) { // too deep
    for (int i = 0; i < 64; ++i) {
      const int32_t inner = t.block();
      t.branch(0, inner, -1);
      t.current = static_cast<size_t>(inner);
    }
  }));
  CHECK(refused([&](Test &t) { stepOf(t, 1, Kind::Move).outputs.pop_back(); }));
  CHECK(refused([&](Test &t) { stepOf(t, 1, Kind::Move).inputs[0] = -1; }));
  CHECK(refused([&](Test &t) { stepOf(t, 1, Kind::Release).inputs[0] = 99; }));
  CHECK(refused([&](Test &t) { stepOf(t, 1, Kind::Call).inputs[0] = -2; }));
  CHECK(refused([&](Test &t) { stepOf(t, 1, Kind::Call).outputs[0] = 99; }));
  CHECK(refused([&](Test &t) { stepOf(t, 1, Kind::Call).kernel = 99; }));
  CHECK(refused([&](Test &t) { stepOf(t, 1, Kind::Call).body = 99; }));
  // A kernel of launches, called; a host kernel, launched.
  CHECK(refused([&](Test &t) { stepOf(t, 1, Kind::Call).kernel = t.model.schedule[0].kernel; }));
  CHECK(refused([](Test &t) { t.model.schedule[0].kernel = 0; }));
  CHECK(refused([&](Test &t) {
    atc::om::OmHostAttribute attribute{"value", atc::om::OmHostAttribute::Kind::Tensors};
    attribute.tensors = {50};
    stepOf(t, 1, Kind::Call).attributes = {attribute};
  }));
  CHECK(refused([&](Test &t) { stepOf(t, 0, Kind::Run).part = 1; }));
  CHECK(refused([&](Test &t) { stepOf(t, 0, Kind::Run).inputs = {}; }));
  CHECK(refused([&](Test &t) { stepOf(t, 0, Kind::Run).inputs = {-1}; }));
  CHECK(refused([&](Test &t) { stepOf(t, 0, Kind::Run).outputs.push_back(0); }));
  CHECK(refused([](Test &t) { t.host().parts[0].launches = 5; }));
  CHECK(refused([](Test &t) { t.host().parts[0].inputs = 2; }));
  CHECK(refused([](Test &t) { t.host().parts[0].firstOutput = UINT32_MAX; }));
  CHECK(refused([](Test &t) { t.host().parts[0].inputs = 0; }));
  CHECK(refused([](Test &t) { t.host().parts.push_back(t.host().parts[0]); }));
  CHECK(refused([](Test &t) { t.model.host.reset(); }));
}

TEST_CASE("flipped bytes of a host program with a right hash do no harm") {
  HostTestModel test = loopModel();
  TestModel part(image());
  const uint32_t index = test.part(part.model);
  test.run(index, {test.input("p", OM_F32, {64, 48})}, {-1, -1});
  const std::vector<char> good = readBytes(writeModel(test.model, "host-flipped.om"));
  uint32_t prefix;
  std::memcpy(&prefix, good.data(), 4);
  const size_t headerBytes = prefix + 4;
  AlignedBytes file(good);
  size_t refused = 0;
  for (size_t i = 4; i < headerBytes; ++i)
    for (unsigned char flip : {0x01, 0x10, 0x80, 0xFF}) {
      file.data[i] = static_cast<char>(good[i] ^ flip);
      const uint64_t hash = atc::rt::hash64(file.data, headerBytes);
      std::memcpy(file.data + headerBytes, &hash, 8);
      om::Error error;
      om::Model model = om::Model::loadMemory(file.data, file.size, error);
      refused += !model;
      if (model) {
        model.inputs();
        model.outputs();
        for (uint32_t launch = 0; launch < model.info().launches; ++launch)
          model.launch(launch);
        om::Session session(model, error, threads(1));
      }
      file.data[i] = good[i];
    }
  CHECK(refused > headerBytes);
}

TEST_CASE("values that cannot be are refused") {
  om::Error error;
  const int64_t data[4] = {};
  CHECK_FALSE(om::Value::tensor(OM_UNDEFINED, {1}, data, error));
  CHECK(error.code() == OM_ERROR_ARGUMENT);
  CHECK_FALSE(om::Value::tensor(om_dtype(27), {1}, data, error));
  CHECK_FALSE(om::Value::tensor(OM_STRING, {1}, data, error));
  CHECK_FALSE(om::Value::tensor(OM_F32, {0, -1}, data, error));
  CHECK_FALSE(om::Value::tensor(OM_F32, {INT64_MAX, 4}, data, error));
  CHECK_FALSE(om::Value::tensor(OM_F32, std::vector<int64_t>(17, 1), data, error));
  CHECK(om_value_create_tensor(OM_F32, 1, nullptr, data, nullptr, nullptr) == OM_ERROR_ARGUMENT);
  const om::Value zeros = om::Value::tensor(OM_I2, {5}, nullptr, error);
  REQUIRE(zeros);
  CHECK(zeros.size() == 5);
  CHECK(zeros.data<char>()[1] == 0);
  const om::Value scalar = om::Value::tensor(OM_F64, {}, data, error);
  CHECK(scalar.size() == 1);
  CHECK(scalar.dims().empty());
  om_value *none = nullptr;
  REQUIRE(om_value_create_none(&none, nullptr) == OM_OK);
  CHECK(om_value_kind(none) == OM_KIND_NONE);
  CHECK(om_value_size(none) == 0);
  CHECK(om_value_item(none, 0) == nullptr);
  CHECK(om_value_get_tensor(none, nullptr, nullptr, nullptr, nullptr) == OM_ERROR_ARGUMENT);
  om_value_release(none);
  om_value_release(nullptr);
}
