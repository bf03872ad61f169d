//===-- HostPartTest.cpp - static parts of host programs ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/runtime-lite/HostTestRun.h"

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
