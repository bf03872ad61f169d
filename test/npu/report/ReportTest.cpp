//===-- ReportTest.cpp - figures, pages and timelines of runs -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/report/Report.h"
#include "npu/device/Device.h"
#include "npu/isa/ProgramBuilder.h"
#include "npu/report/ReportParts.h"
#include "npu/report/Trace.h"

#include <catch2/catch.hpp>

using namespace atc::npu;

namespace {

const SocTable &soc() { return *findSoc("Ascend310P3"); }

/// A move in, an mmad that does not wait for it, a vector operation that does.
Program program() {
  ProgramBuilder b({2, 1, 1});
  unsigned x = b.argument(1 << 20);
  Address ub = at(Memory::UB, int64_t(0));
  b.move(ub, gm(x), 65536);
  b.mmad(DataType::F16, at(Memory::L0C, 0), at(Memory::L0A, 0), at(Memory::L0B, 0), 32, 32, 32);
  b.setFlag(Queue::MTE2, Queue::V, 0);
  b.waitFlag(Queue::MTE2, Queue::V, 0);
  b.vector(VectorOp::Relu, DataType::F16, ub, ub, ub, 1280);
  return b.take();
}

/// Two launches after one that does not belong to the run.
struct Run {
  explicit Run(size_t maxSpans) : code(program()), device(soc(), options(maxSpans)) {
    for (const char *name : {"warm up", "conv <1>", "conv <1>"}) {
      DeviceLaunch launch;
      launch.program = &code;
      launch.name = name;
      launch.addresses = {0};
      launch.chained = true;
      std::string error;
      REQUIRE(device.run(launch, error));
    }
    input.title = "net & co";
    input.soc = &soc();
    input.simulator = &device.simulator();
    input.firstLaunch = 1;
    input.launches = {{"conv <1>", "p", 1000}, {"conv <1>", "p", 2000}};
    input.modelMacs = 6000;
    auto perMicrosecond = uint64_t(soc().ddrRate() * 8 * 1060); // DDR's rate
    input.weightBytes = 3 * perMicrosecond;
    input.residentWeightBytes = 2 * perMicrosecond;
    input.boundaryBytes = perMicrosecond / 2;
  }
  static DeviceOptions options(size_t maxSpans) {
    DeviceOptions options;
    options.functional = false;
    options.maxSpans = maxSpans;
    return options;
  }
  Program code;
  Device device;
  ReportInput input;
};

bool has(const std::string &text, const std::string &part) {
  INFO(part);
  CHECK(text.find(part) != text.npos);
  return text.find(part) != text.npos;
}

} // namespace

TEST_CASE("the lower bound is the slower of cube and DDR") {
  Run run(0);
  Roofline line = rooflineOf(run.input);
  // 3000 MACs of 4096 a cycle on 8 cores; a microsecond of weights that L2 does not hold
  // and half of one of inputs and outputs.
  CHECK(line.cube == Approx(3000.0 / 4096 / 8 / 1060));
  CHECK(line.ddr == Approx(1.5).epsilon(1e-4));
  CHECK(line.bound() == line.ddr);
  const auto &launches = run.device.simulator().launches();
  CHECK(line.time == Approx((launches[1].cycles + launches[2].cycles) / 1060));
  CHECK(line.times() == Approx(line.time / line.ddr));
}

TEST_CASE("launches are bound by their busiest resource") {
  Statistics statistics;
  statistics.cycles = statistics.activeCycles = 1000;
  statistics.coreCount = 2;
  CHECK(boundOf(soc(), statistics) == std::string("waits"));
  statistics.busy[unsigned(Queue::M)] = 1100;
  statistics.busy[unsigned(Queue::MTE2)] = 1900;
  CHECK(boundOf(soc(), statistics) == std::string("gm to L1, UB"));
  // MTE2 is busy because a channel is full: reads and writes share that of DDR.
  statistics.ddrRead = uint64_t(soc().ddrRate() * 8 * 500);
  CHECK(boundOf(soc(), statistics) == std::string("gm to L1, UB"));
  statistics.ddrWritten = uint64_t(soc().ddrRate() * 8 * 300);
  CHECK(boundOf(soc(), statistics) == std::string("DDR"));
  statistics.startCycles = 600;
  CHECK(boundOf(soc(), statistics) == std::string("start"));
  auto uses = usesOf(soc(), statistics);
  CHECK(uses[0].share == Approx(0.55));
  CHECK(uses[3].share == Approx(0.95));
  CHECK(uses[6].share == Approx(0.8).epsilon(1e-4));
}

TEST_CASE("figures for programs hold the run only") {
  Run run(0);
  std::string json = reportJson(run.input);
  double cycles = run.device.simulator().launches()[1].cycles * 2;
  has(json, "\"cycles\": " + std::to_string(int64_t(cycles)));
  has(json, "\"launches\": 2,");
  has(json, "\"macs_npu\": 3000");
  has(json, "\"macs_executed\": 131072"); // 2 launches, 2 cores, 32 x 32 x 32
  has(json, "\"macs_model\": 6000");
  has(json, "\"host\": {\"kernels\": 0, \"switches\": 0}");
  has(json, "\"bound_by\": \"DDR\"");
  has(json, "\"MTE2 -> V\": ");
  has(json, "\"gm -> ub\": 262144");
  has(json, "\"ub\": {\"bytes\": 262144, \"used\": 65536}");
  has(json, "the host's work is left out");
  CHECK(json.find("warm up") == json.npos);
  CHECK(std::count(json.begin(), json.end(), '{') == std::count(json.begin(), json.end(), '}'));
}

TEST_CASE("the page stands alone and says what it shows") {
  Run run(1000);
  run.input.hostLaunches = 7;
  run.input.host.switches = 4;
  std::string page = htmlReport(run.input);
  has(page, "<title>net &amp; co on Ascend310P3</title>");
  has(page, "the host&#39;s work is left out, also its 7 kernels of this model (4 switches between "
            "NPU and host in the run).");
  has(page, "conv &lt;1&gt;</td><td class=\"n\">2</td><td class=\"n\">2</td>");
  has(page, "[" + std::to_string(int64_t(run.device.simulator().launches()[1].cycles)));
  has(page, "\"conv \\u003c1>\"");
  // 64 KB of ub, a quarter of it.
  has(page, "\"memories\":[\"l1\",\"l0a\",\"l0b\",\"l0c\",\"ub\",\"L2 channel\",\"DDR channel\"]");
  has(page, ",25,");
  has(page, "V waits for MTE2");
  has(page, "weights</td>");
  has(page, "50.0 %</b><span>of the MACs");
  CHECK(page.find("http") == page.npos);
  CHECK(page.find("warm up") == page.npos);
  CHECK(page.find("Truncated") == page.npos);
  for (const char *mark : {"@TITLE@", "@DATA@", "@LOCAL@", "@TRUNCATED@"})
    CHECK(page.find(mark) == page.npos);
  CHECK(htmlReport(run.input) == page);
}

TEST_CASE("timelines that are cut short say so") {
  Run run(8);
  CHECK(run.device.simulator().spans.size() == 8);
  CHECK(run.device.simulator().droppedSpans == 3 * 8 - 8);
  has(htmlReport(run.input), "Truncated: the first 8 spans were kept, 16 after them were not.");
  has(chromeTrace(soc(), run.device.simulator(), run.device.launchNames()),
      "\"truncated\":\"16 spans after the first 8 are left out\"");
}

TEST_CASE("Chrome's timeline has layers, queues and what they wait for") {
  Run run(1000);
  // Per core: a move, an mmad, a wait and a vector operation.
  CHECK(run.device.simulator().spans.size() == 3 * 2 * 4);
  std::string trace = chromeTrace(soc(), run.device.simulator(), run.device.launchNames());
  has(trace, "\"name\":\"waits: flag of MTE2\"");
  has(trace, "\"layer\":\"conv \\u003c1>\"");
  has(trace, "\"name\":\"core 1\"");
  has(trace,
      "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":2,\"tid\":4,\"args\":{\"name\":\"MTE2\"}}");
  has(trace, "\"chained\":true");
  CHECK(trace.find("truncated") == trace.npos);
}

TEST_CASE("a million spans become a page of less than 5 MB") {
  Simulator simulator(soc());
  for (uint32_t i = 0; i < 1000000; ++i) {
    double start = double(i / 56) * 100 + double(i % 7);
    simulator.spans.push_back({0, i % 500, uint16_t(i % 8), Queue(i / 8 % 7), Opcode::Move,
                               i % 3 ? Stall::None : Stall::Flag, Queue::M, start, start + 40, 0});
  }
  ReportInput input;
  input.soc = &soc();
  input.simulator = &simulator;
  std::string page = htmlReport(input);
  CHECK(page.size() > 500000);
  CHECK(page.size() < 5000000);
}

TEST_CASE("neighbours are put together only when there are too many") {
  Simulator simulator(soc());
  for (uint32_t i = 0; i < 4; ++i)
    simulator.spans.push_back({0, i, 0, Queue::V, i == 1 ? Opcode::Transpose : Opcode::Vector,
                               Stall::None, Queue::V, i * 10.0, i * 10.0 + (i == 1 ? 2 : 4), 0});
  ReportInput input;
  input.soc = &soc();
  input.simulator = &simulator;
  Figures figures(input);
  const std::string v = std::to_string(int(Opcode::Vector)),
                    t = std::to_string(int(Opcode::Transpose));
  // Begin, length (of quarter cycles), kind, line, spans.
  has(timelineJson(input, figures, 10),
      "\"items\":[0,16," + v + ",0,1,40,8," + t + ",1,1,40,16," + v + ",2,1,40,16," + v + ",3,1]");
  // Two of each within 16 cycles: what takes longer gives the kind.
  has(timelineJson(input, figures, 2), "\"quantum\":16,\"unit\":2.00");
  has(timelineJson(input, figures, 2), "\"items\":[0,6," + v + ",0,2,10,7," + v + ",2,2]");
}
