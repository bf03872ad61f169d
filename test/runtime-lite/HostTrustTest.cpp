//===-- HostTrustTest.cpp - host programs that cannot be trusted ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/OmSink.h"
#include "runtime-lite/src/Hash.h"
#include "test/runtime-lite/HostTestRun.h"

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

TEST_CASE("a file cannot ask for more slots than its header names") {
  const auto refused = [](uint32_t slots) {
    HostTestModel test = loopModel();
    test.host().slots = slots;
    std::string error;
    atc::om::OmMemorySink sink;
    const bool written = atc::om::writeOm(test.model, sink, error);
    return !written && error.find("of the header") != std::string::npos;
  };
  // The header has some thousands of bytes; a session needs eight for each slot.
  CHECK(refused(1u << 20));
  CHECK(refused(UINT32_MAX));
  CHECK_FALSE(refused(loopModel().host().slots));
}
