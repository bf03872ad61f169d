//===-- ModelTest.cpp - files with NPU programs, run on a device ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openatc/npu.h"
#include "openatc/om.hpp"
#include "runtime-lite/src/Hash.h"
#include "test/npu/device/NpuTestModel.h"

#include <catch2/catch.hpp>

namespace {

KernelImage image() { return readKernelImage(OPENATC_TEST_KERNELS); }

om::Model loadFile(const atc::om::OmModel &model, const char *name) {
  om::Error error;
  om::Model loaded = om::Model::loadFile(writeModel(model, name), error);
  INFO(error.message());
  REQUIRE(loaded);
  return loaded;
}

/// A simulated NPU that goes with its scope.
struct Npu {
  explicit Npu(om_npu_options options = OM_NPU_OPTIONS_INIT) {
    om::Error error;
    om_npu_simulator(&options, &npu, &error.c);
    INFO(error.message());
    REQUIRE(npu);
  }
  ~Npu() { om_npu_free(npu); }
  Npu(const Npu &) = delete;
  std::string text(om_npu_text_kind kind) const { return om_npu_text(npu, kind); }
  om_session_options options() const {
    om_session_options options = OM_SESSION_OPTIONS_INIT;
    options.device = om_npu_device(npu);
    return options;
  }
  om_npu *npu = nullptr;
};

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

struct Run {
  Run() : x(64 * 48 * 4), sums(64 * 4), picks(60 * 4), quadrupled(64 * 4) {
    for (int i = 0; i < 64 * 48; ++i)
      x.data<float>()[i] = static_cast<float>((i * 7) % 23) - 11;
  }
  bool operator()(om::Session &session, om::Error &error) { return session.run(in, out, error); }
  bool isRight() const {
    for (int i = 0; i < 64; ++i)
      if (quadrupled.data<float>()[i] != 4 * sums.data<float>()[i])
        return false;
    return sums.data<float>()[1] != 0;
  }
  om::Buffer x, sums, picks, quadrupled;
  const void *in[1] = {x.data()};
  void *out[3] = {sums.data(), picks.data(), quadrupled.data()};
};

/// Returns the error of creating a session with a simulated NPU.
om::Error sessionError(const atc::om::OmModel &model, const char *name,
                       std::string *errorLines = {}) {
  om::Model loaded = loadFile(model, name);
  Npu npu;
  om::Error error;
  om::Session session(loaded, error, npu.options());
  CHECK_FALSE(session);
  if (errorLines)
    *errorLines = npu.text(OM_NPU_FAULTS);
  return error;
}

} // namespace

TEST_CASE("CPU and NPU launches run in one schedule") {
  KernelImage code = image();
  NpuTestModel test(code);
  om::Model model = loadFile(test.model, "npu.om");
  CHECK(std::string(model.info().soc) == "Ascend310P3");
  CHECK(std::string(model.info().target) == "npu");
  CHECK(model.info().npu_launches == 2);
  CHECK(model.info().npu_bytes > 20);
  CHECK(model.info().launches == 6);
  om::Launch launch = model.launch(4);
  CHECK(launch.npu);
  CHECK(launch.kernel == "times_two");
  CHECK(launch.macs == 1000);
  CHECK(launch.cost == 2000);
  CHECK(launch.tasks == 1);
  CHECK_FALSE(model.launch(3).npu);

  Npu npu;
  om::Error error;
  om::Session session(model, error, npu.options());
  INFO(error.message());
  REQUIRE(session);
  Run run;
  for (int i = 0; i < 3; ++i) {
    std::memset(run.quadrupled.data(), 0, 64 * 4);
    REQUIRE(run(session, error));
    CHECK(run.isRight());
  }
  // The statistics are those of one run, whatever came before.
  std::string statistics = npu.text(OM_NPU_STATISTICS);
  INFO(statistics);
  CHECK(contains(statistics, "\"soc\": \"Ascend310P3\""));
  CHECK(contains(statistics, "\"launches\": 2"));
  CHECK(contains(statistics, "\"macs_npu\": 2000"));
  CHECK(contains(statistics, "\"macs_model\": 102060")); // half of what the CPU's cost
  CHECK(contains(statistics, "\"host\": {\"kernels\": 4, \"switches\": "));
  CHECK(contains(statistics, "\"name\": \"quadruple\""));
  CHECK(contains(npu.text(OM_NPU_TIMELINE), "traceEvents"));

  // Per-launch clocks and observers count both kinds.
  om_session_set_profile(session.get(), 1);
  unsigned seen = 0;
  REQUIRE(session.run(run.in, run.out, [&](uint32_t) { ++seen; }, error));
  CHECK(seen == 6);
}

TEST_CASE("times are the same in every first run, and options take parts away") {
  KernelImage code = image();
  NpuTestModel test(code);
  om::Model model = loadFile(test.model, "npu-options.om");
  auto statistics = [&](om_npu_options options, bool right) {
    Npu npu(options);
    om::Error error;
    om::Session session(model, error, npu.options());
    Run run;
    REQUIRE(run(session, error));
    CHECK(run.isRight() == right);
    return npu.text(OM_NPU_STATISTICS);
  };
  om_npu_options options = OM_NPU_OPTIONS_INIT;
  std::string first = statistics(options, true);
  CHECK(first == statistics(options, true));
  options.functional = 0;
  CHECK(first == statistics(options, false));
  options = OM_NPU_OPTIONS_INIT;
  options.timed = 0;
  CHECK(contains(statistics(options, true), "\"cycles\": 0.0,"));
}

TEST_CASE("many runs keep no more launches than one, unless a timeline was asked for") {
  KernelImage code = image();
  NpuTestModel test(code);
  om::Model model = loadFile(test.model, "npu-many.om");
  auto launchesIn = [&](uint64_t maxSpans, int runs) {
    om_npu_options options = OM_NPU_OPTIONS_INIT;
    options.max_spans = maxSpans;
    Npu npu(options);
    om::Error error;
    om::Session session(model, error, npu.options());
    REQUIRE(session);
    Run run;
    for (int i = 0; i < runs; ++i)
      REQUIRE(run(session, error));
    CHECK(contains(npu.text(OM_NPU_STATISTICS), "\"launches\": 2"));
    CHECK(contains(npu.text(OM_NPU_REPORT), "<html"));
    size_t launches = 0;
    const std::string timeline = npu.text(OM_NPU_TIMELINE);
    for (size_t at = 0; (at = timeline.find("\"chained\"", at)) != std::string::npos; ++at)
      ++launches;
    return launches;
  };
  CHECK(launchesIn(0, 1) == 2);
  CHECK(launchesIn(0, 300) == 2);
  CHECK(launchesIn(1 << 20, 30) == 60);
  // The first run fills the timeline; the last one is shown behind it.
  CHECK(launchesIn(1, 300) == 4);
}

TEST_CASE("without a device the session says what is missing") {
  KernelImage code = image();
  NpuTestModel test(code);
  om::Model model = loadFile(test.model, "npu-none.om");
  om::Error error;
  CHECK_FALSE(om::Session(model, error));
  CHECK(error.code() == OM_ERROR_NO_DEVICE);
  CHECK(contains(error.message(), "Ascend310P3"));
  CHECK(contains(error.message(), "om_session_options.device"));

  om_device hollow = {};
  hollow.struct_size = sizeof(hollow);
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.device = &hollow;
  CHECK_FALSE(om::Session(model, error, options));
  CHECK(error.code() == OM_ERROR_ARGUMENT);
}

TEST_CASE("one simulated NPU serves one session at a time") {
  KernelImage code = image();
  NpuTestModel test(code);
  om::Model model = loadFile(test.model, "npu-busy.om");
  Npu npu;
  om::Error error;
  {
    om::Session first(model, error, npu.options());
    REQUIRE(first);
    CHECK_FALSE(om::Session(model, error, npu.options()));
    CHECK(error.code() == OM_ERROR_ARGUMENT);
  }
  CHECK(om::Session(model, error, npu.options()));
}

TEST_CASE("an NPU that nobody knows, and tables in the file") {
  KernelImage code = image();
  NpuTestModel test(code, "Ascend9000");
  om::Error error = sessionError(test.model, "npu-unknown.om");
  CHECK(error.code() == OM_ERROR_UNSUPPORTED);
  CHECK(contains(error.message(), "Ascend9000"));
  CHECK(contains(error.message(), "Ascend910B1"));

  test.model.socTable = "base = Ascend310P3\nname = Ascend9000\nmhz = fast\nwheels = 4\n";
  error = sessionError(test.model, "npu-table.om");
  CHECK(error.code() == OM_ERROR_CORRUPT);
  CHECK(contains(error.message(), "soc_table:3"));
  CHECK(contains(error.message(), "soc_table:4"));

  test.model.socTable = "base = Ascend310P3\nname = Ascend9000\nmhz = 2000\n";
  om::Model model = loadFile(test.model, "npu-own.om");
  Npu npu;
  om::Session session(model, error, npu.options());
  REQUIRE(session);
  Run run;
  REQUIRE(run(session, error));
  CHECK(run.isRight());
  CHECK(contains(npu.text(OM_NPU_STATISTICS), "Ascend9000"));
}

TEST_CASE("programs that the device cannot run are refused, with all errors") {
  KernelImage code = image();
  NpuTestModel test(code);
  atc::npu::Program wrong = NpuTestModel::program();
  wrong.code[0].ranges[atc::npu::Move::bytes].length = 1 << 20;
  wrong.code[6].addresses[atc::npu::Move::dst].offset.base = 4096;
  test.setProgram(wrong);
  std::string errorLines;
  om::Error error = sessionError(test.model, "npu-refused.om", &errorLines);
  CHECK(error.code() == OM_ERROR_DEVICE);
  INFO(errorLines);
  CHECK(contains(error.message(), "times_two"));
  CHECK(contains(errorLines, "program 'times_two': instruction 0 (move)"));
  CHECK(contains(errorLines, "program 'times_two': instruction 6 (move)"));

  NpuTestModel cut(code);
  cut.model.npuPrograms[0].code.resize(10);
  CHECK(sessionError(cut.model, "npu-cut.om").code() == OM_ERROR_DEVICE);
  NpuTestModel other(code);
  other.model.npuPrograms[0].arguments[0] = 128;
  error = sessionError(other.model, "npu-other.om");
  CHECK(contains(error.message(), "its buffers are not those that the file states"));
}

TEST_CASE("wrong references to programs and weights are not written") {
  KernelImage code = image();
  std::string error, path = scratchPath("npu-wrong.om");
  auto refused = [&](const char *what, auto change) {
    NpuTestModel test(code);
    change(test.model);
    error.clear();
    bool written = atc::om::writeOm(test.model, path, error);
    INFO(error);
    CHECK(contains(error, what));
    return !written && error.rfind("E19999: ", 0) == 0;
  };
  using atc::om::OmModel;
  CHECK(refused("NPU program 1 of only 1", [](OmModel &m) { m.schedule[4].kernel = 1; }));
  CHECK(refused("has 1 arguments, but its program takes 2",
                [](OmModel &m) { m.schedule[4].args.pop_back(); }));
  CHECK(refused("has 252 bytes, but its program needs 256",
                [](OmModel &m) { m.schedule[4].args[0].size = 252; }));
  CHECK(refused("reaches outside its memory",
                [](OmModel &m) { m.schedule[4].args[1].offset += 64; }));
  CHECK(refused("is no range of weights",
                [](OmModel &m) { m.schedule[4].prefetch[0].space = OM_ARENA; }));
  CHECK(refused("is no range of weights",
                [](OmModel &m) { m.schedule[4].prefetch[0].size = 1 << 20; }));
  CHECK(refused("is no range of weights", [](OmModel &m) { m.schedule[4].prefetch[0].index = 1; }));
  CHECK(refused("is none of the NPU", [](OmModel &m) { m.schedule[4].chained = true; }));
  CHECK(refused("names tensor 99", [](OmModel &m) { m.schedule[4].reads = {99}; }));
  CHECK(refused("names no NPU", [](OmModel &m) { m.soc.clear(); }));
  CHECK(refused("its NPU table has", [](OmModel &m) { m.socTable.assign(1 << 20, ' '); }));
  CHECK(refused("its grid has", [](OmModel &m) { m.npuPrograms[0].grid = {4, 0, 1}; }));
  CHECK(refused("its grid has", [](OmModel &m) { m.npuPrograms[0].grid = {1, 1, 1, 1}; }));
  CHECK(refused("its grid has", [](OmModel &m) { m.npuPrograms[0].grid = {65536, 65536, 65536}; }));
  CHECK(refused("names no segment", [](OmModel &m) { m.npuPrograms[0].code.clear(); }));
  CHECK(refused("too large a buffer",
                [](OmModel &m) { m.npuPrograms[0].arguments[0] = UINT64_MAX; }));
}

TEST_CASE("damaged NPU programs are found by their hash") {
  KernelImage code = image();
  NpuTestModel test(code);
  std::vector<char> bytes = readBytes(writeModel(test.model, "npu-hash.om"));
  bytes[bytes.size() - 20] ^= 1;
  AlignedBytes memory(bytes);
  om::Error error;
  CHECK_FALSE(om::Model::loadMemory(memory.data, memory.size, error));
  CHECK(error.code() == OM_ERROR_CORRUPT);
  CHECK(contains(error.message(), "NPU programs"));
}

TEST_CASE("flipped bytes of header and programs do no harm with right hashes") {
  KernelImage code = image();
  NpuTestModel test(code);
  const std::vector<char> good = readBytes(writeModel(test.model, "npu-flip.om"));
  uint32_t prefix;
  std::memcpy(&prefix, good.data(), 4);
  const size_t headerBytes = prefix + 4;
  unsigned refused = 0;
  auto tryFile = [&](std::vector<char> file) {
    // The header's hash is made right again, as an attacker would.
    uint64_t hash = atc::rt::hash64(file.data(), headerBytes);
    std::memcpy(file.data() + headerBytes, &hash, 8);
    AlignedBytes memory(file);
    om::Error error;
    om::Model loaded = om::Model::loadMemory(memory.data, memory.size, error);
    Npu npu;
    if (loaded)
      om::Session(loaded, error, npu.options());
    refused += static_cast<bool>(error);
  };
  for (size_t i = 4; i < headerBytes; ++i) {
    std::vector<char> file = good;
    file[i] ^= i % 2 ? 0x01 : 0x80;
    tryFile(file);
  }
  CHECK(refused > headerBytes / 4);

  // Programs: any byte may be anything, and the device must find out.
  const std::vector<uint8_t> program = test.model.npuPrograms[0].code;
  for (size_t i = 0; i < program.size(); ++i)
    for (uint8_t flip : {0x01, 0x40, 0xFF}) {
      test.model.npuPrograms[0].code = program;
      test.model.npuPrograms[0].code[i] ^= flip;
      om::Model loaded = loadFile(test.model, "npu-flip.om");
      Npu npu;
      om::Error error;
      om::Session session(loaded, error, npu.options());
      Run run;
      if (session)
        run(session, error);
    }
}

TEST_CASE("a device sees addresses that are the same in every run") {
  KernelImage code = image();
  NpuTestModel test(code);
  om::Model model = loadFile(test.model, "npu-addresses.om");
  struct Recorder {
    std::vector<std::string> calls;
    std::vector<uint64_t> addresses;
    bool fail = false;
  } recorder;
  om_device device = {};
  device.struct_size = sizeof(device);
  device.user = &recorder;
  auto note = [](void *user, const std::string &text) {
    static_cast<Recorder *>(user)->calls.push_back(text);
  };
  static auto record = note;
  device.open = [](void *user, const char *soc, const char *table, void **opened, om_error *) {
    *opened = user;
    record(user, std::string("open ") + soc + table);
    return OM_OK;
  };
  device.load = [](void *opened, const om_device_model *model, om_error *) {
    record(opened, std::string("load ") + model->programs[0].name);
    return OM_OK;
  };
  device.begin = [](void *opened, om_error *) {
    record(opened, "begin");
    return OM_OK;
  };
  device.launch = [](void *opened, const om_device_launch *launch, om_error *error) {
    auto &self = *static_cast<Recorder *>(opened);
    self.calls.push_back(std::string("launch ") + launch->name + (launch->chained ? "+" : ""));
    for (uint32_t i = 0; i < launch->argument_count; ++i)
      self.addresses.push_back(launch->addresses[i]);
    for (uint32_t i = 0; i < launch->prefetch_count; ++i)
      self.addresses.push_back(launch->prefetch[i].address);
    if (self.fail)
      std::snprintf(error->message, sizeof(error->message), "smoke");
    return self.fail ? OM_ERROR_DEVICE : OM_OK;
  };
  device.host = [](void *opened, uint32_t index) {
    record(opened, "host " + std::to_string(index));
  };
  device.close = [](void *opened) { record(opened, "close"); };
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.device = &device;
  om::Error error;
  Run run;
  {
    om::Session session(model, error, options);
    REQUIRE(session);
    REQUIRE(run(session, error));
    recorder.fail = true;
    CHECK_FALSE(run(session, error));
    CHECK(error.code() == OM_ERROR_DEVICE);
    CHECK(std::string(error.message()) == "launch 4 ('double') failed: smoke");
  }
  CHECK(recorder.calls ==
        std::vector<std::string>{"open Ascend310P3", "load times_two", "begin", "host 0", "host 1",
                                 "host 2", "host 3", "launch double", "launch quadruple+", "begin",
                                 "host 0", "host 1", "host 2", "host 3", "launch double", "close"});
  // Weights (448 bytes), the arena, x, sums, picked, quadrupled.
  const uint64_t base = OM_DEVICE_BASE, arena = base + 512;
  auto next = [](uint64_t at, uint64_t bytes) { return (at + bytes + 511) / 512 * 512; };
  const uint64_t x = next(arena, test.model.arenaSize), sums = next(x, 64 * 48 * 4),
                 picks = next(sums, 256), quadrupled = next(picks, 240);
  const uint64_t doubled = arena + test.model.arenaSize - 256;
  recorder.addresses.resize(5);
  CHECK(recorder.addresses == std::vector<uint64_t>{sums, doubled, base, doubled, quadrupled});
}
