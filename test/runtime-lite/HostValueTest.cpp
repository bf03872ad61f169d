//===-- HostValueTest.cpp - values that go through host programs ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/runtime-lite/HostTestRun.h"

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

TEST_CASE("a program makes no sequence or map of values that do not fit each other") {
  om::Error error;
  const om::Value x = floats({2}, {1, 2}), one = number(1), two = texts({"a", "b"});
  const om::Value sequence = om::Value::sequence(OM_F32, {x}, error),
                  numbers = om::Value::sequence(OM_I64, {one}, error),
                  map = om::Value::map(two, x, error), other = om::Value::map(x, x, error);
  om_value *made = nullptr;
  REQUIRE(om_value_create_none(&made, nullptr) == OM_OK);
  const om::Value none(made);
  auto refuses = [&](const std::vector<om::Value> &items, const char *text) {
    error = {};
    const bool refused = !om::Value::sequence(OM_F32, items, error);
    INFO(error.message());
    CHECK(refused);
    CHECK(error.code() == OM_ERROR_ARGUMENT);
    CHECK(std::string(error.message()).find(text) != std::string::npos);
  };
  refuses({x, one}, "item 1 of the sequence is of another type");
  refuses({two}, "item 0 of the sequence is of another type");
  refuses({x, sequence}, "item 1 of the sequence is of another kind");
  refuses({sequence, numbers}, "item 1 of the sequence is of another type");
  refuses({map, other}, "item 1 of the sequence has keys of another type");
  refuses({x, x, om::Value()}, "item 2 of the sequence has no value");
  refuses({none}, "item 0 of the sequence has no value");
  CHECK(om_value_create_sequence(OM_F32, 1, nullptr, &made, nullptr) == OM_ERROR_ARGUMENT);
  // What has no elements takes time where code goes through its other dims.
  for (const std::vector<int64_t> &dims :
       {std::vector<int64_t>{int64_t(1) << 32, 0}, {0, 1 << 16, 1 << 16}, {INT64_MAX, 2, 0}})
    CHECK(om_value_create_tensor(OM_F32, uint32_t(dims.size()), dims.data(), nullptr, &made,
                                 nullptr) == OM_ERROR_ARGUMENT);
  CHECK(om_value_create_sequence(om_dtype(257), 0, nullptr, &made, nullptr) == OM_ERROR_ARGUMENT);
  for (const auto &[keys, values] :
       {std::pair(one, one), std::pair(x, one), std::pair(x, sequence),
        std::pair(x, floats({1, 2}, {1, 2})), std::pair(x, floats({3}, {1, 2, 3})),
        std::pair(x, om::Value()), std::pair(om::Value(), x)}) {
    error = {};
    CHECK_FALSE(om::Value::map(keys, values, error));
    CHECK(error.code() == OM_ERROR_ARGUMENT);
  }
  // The type of a sequence of sequences is that of what is in them.
  HostTestModel test(image());
  test.output("y", test.make("host_forward", {test.input("s", OM_I64, {}, OM_KIND_SEQUENCE)}));
  Ready ready(test, "host-nested.om");
  CHECK(ready.run({om::Value::sequence(OM_F32, {numbers}, error)}).empty());
  CHECK(ready.says("output 0 ('y')")); // the input has fitted
  const char *strings[] = {"a", nullptr};
  const int64_t count = 2;
  om_error plain = {};
  CHECK(om_value_create_strings(1, &count, strings, nullptr, &made, &plain) == OM_ERROR_ARGUMENT);
  CHECK(std::string(plain.message).find("string 1") != std::string::npos);
}

TEST_CASE("a kernel makes no value that cannot be, nor an output that is not there") {
  HostTestModel test(image());
  const int32_t what = test.input("what", OM_I64, {}), x = test.input("x", OM_F32, {-1});
  const int32_t sequence = test.make("host_unstack", {x});
  test.output("y", test.make("host_break", {what, x, test.number(3), sequence}), OM_UNDEFINED,
              OM_KIND_SEQUENCE, /*optional=*/true);
  Ready ready(test, "host-break.om");
  const char *sentences[] = {"item 1 of the sequence is of another type",
                             "item 0 of the sequence is of another type",
                             "item 1 of the sequence has no value",
                             "item 1 of the sequence is of another kind",
                             "a map is made of",
                             "only sequences and maps have items",
                             "a map is made of",
                             "has no value",
                             "a map is made of",
                             "no tensor",
                             "more elements than the tensor it shares",
                             "an output that it does not have",
                             "an output that it does not have",
                             "an output that it does not have",
                             "an output that it does not have",
                             "an output that it does not have"};
  for (int64_t i = 0; i < 16; ++i) {
    INFO("case " << i);
    CHECK(ready.run({number(i), floats({2}, {1, 2})}).empty());
    CHECK(ready.error.code() == OM_ERROR_RUN);
    CHECK(ready.says("node 'node_host_break' (host_break) failed: "));
    CHECK(ready.says(sentences[i]));
  }
  HostTestModel shared(image());
  const int32_t y = shared.input("y", OM_F32, {-1}), dims = shared.input("dims", OM_I64, {-1});
  shared.output("z", shared.make("host_reshape", {y, dims}));
  Ready sharing(shared, "host-share.om");
  auto dimsOf = [](const std::vector<int64_t> &list) {
    om::Error error;
    return om::Value::tensor(OM_I64, {static_cast<int64_t>(list.size())}, list.data(), error);
  };
  const om::Value six = floats({6}, {0, 1, 2, 3, 4, 5});
  CHECK(sharing.good({six, dimsOf({2, 2})})[0].size() == 4);
  CHECK(sharing.run({six, dimsOf({7})}).empty());
  CHECK(sharing.says("more elements"));
  CHECK(sharing.run({six, dimsOf({int64_t(1) << 40, int64_t(1) << 40})}).empty());
  CHECK(sharing.says("too large"));
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
  CHECK(om_value_kind(nullptr) == OM_KIND_NONE);
  CHECK(om_value_size(none) == 0);
  CHECK(om_value_item(none, 0) == nullptr);
  CHECK(om_value_get_tensor(none, nullptr, nullptr, nullptr, nullptr) == OM_ERROR_ARGUMENT);
  om_value_release(none);
  om_value_release(nullptr);
}
