//===-- DeviceTest.cpp - launches on a device: results, tasks, prefetch ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/device/Device.h"
#include "npu/isa/ProgramBuilder.h"
#include "npu/isa/Verify.h"

#include <catch2/catch.hpp>

#include "test/npu/PlainSoc.h"

using namespace atc::npu;

namespace {

constexpr const char *launches = "runCycles = 0\nlaunchCycles = 2000\nchainCycles = 482\n";

constexpr uint64_t kMega = 1 << 20;

/// y = relu(x) of 3200 f16 a tile, two buffers in turn.
Program relu(int64_t tiles, uint32_t cores) {
  ProgramBuilder b({cores, 1, 1});
  uint64_t bytes = uint64_t(tiles) * cores * 6400;
  unsigned x = b.argument(bytes), y = b.argument(bytes);
  for (unsigned i = 0; i < 2; ++i)
    b.setFlag(Queue::MTE3, Queue::MTE2, i);
  b.loop(tiles, [&](Affine i) {
    Address ub = rotating(at(Memory::UB, int64_t(0)), 2, 6400, 1);
    Affine position = i * 6400 + grid(0) * (6400 * tiles);
    b.waitFlag(Queue::MTE3, Queue::MTE2, 0, 2, 1);
    b.move(ub, gm(x, position), 6400);
    b.setFlag(Queue::MTE2, Queue::V, 0, 2, 1);
    b.waitFlag(Queue::MTE2, Queue::V, 0, 2, 1);
    b.vector(VectorOp::Relu, DataType::F16, ub, ub, ub, 3200);
    b.setFlag(Queue::V, Queue::MTE3, 0, 2, 1);
    b.waitFlag(Queue::V, Queue::MTE3, 0, 2, 1);
    b.move(gm(y, position), ub, 6400);
    b.setFlag(Queue::MTE3, Queue::MTE2, 0, 2, 1);
  });
  for (unsigned i = 0; i < 2; ++i)
    b.waitFlag(Queue::MTE3, Queue::MTE2, i);
  return b.take();
}

/// Only reads: `bytes` of each core, in moves of 131072.
Program reading(uint64_t bytes, uint32_t cores = 8) {
  ProgramBuilder b({cores, 1, 1});
  unsigned x = b.argument(bytes * cores);
  b.loop(int64_t(bytes / 131072), [&](Affine i) {
    b.move(at(Memory::UB, int64_t(0)), gm(x, grid(0) * int64_t(bytes) + i * 131072), 131072);
  });
  return b.take();
}

/// Only computes: 102 cycles a round.
Program computing(int64_t rounds) {
  ProgramBuilder b({8, 1, 1});
  Address ub = at(Memory::UB, int64_t(0));
  b.loop(rounds, [&](Affine) { b.vector(VectorOp::Relu, DataType::F16, ub, ub, ub, 12800); });
  return b.take();
}

DeviceLaunch launchOf(const Program &program, std::vector<uint64_t> addresses,
                      std::vector<Prefetch> prefetch = {}, bool chained = true) {
  DeviceLaunch launch;
  launch.program = &program;
  launch.name = "launch";
  launch.addresses = std::move(addresses);
  launch.data.resize(launch.addresses.size());
  launch.chained = chained;
  launch.prefetch = std::move(prefetch);
  return launch;
}

void run(Device &device, const DeviceLaunch &launch) {
  std::string error;
  bool ran = device.run(launch, error);
  INFO(error);
  REQUIRE(ran);
}

DeviceOptions timeOnly() {
  DeviceOptions options;
  options.functional = false;
  return options;
}

} // namespace

TEST_CASE("results are those of the program, with and without time, on any number of threads") {
  SocTable soc = plainSoc(launches);
  Program program = relu(7, 8);
  REQUIRE(verify(program, soc).empty());
  size_t count = 7 * 8 * 3200;
  std::vector<_Float16> x(count), expected(count);
  for (size_t i = 0; i < count; ++i) {
    x[i] = _Float16(float(int(i * 7919 % 4001) - 2000) / 64.f);
    expected[i] = x[i] > 0 ? x[i] : _Float16(0);
  }
  double cycles = 0;
  for (bool timed : {false, true})
    for (unsigned threads : {1, 2, 5}) {
      std::vector<_Float16> y(count, _Float16(-1));
      DeviceOptions options;
      options.timed = timed;
      options.threads = threads;
      Device device(soc, options);
      DeviceLaunch launch = launchOf(program, {0, kMega});
      launch.data = {reinterpret_cast<uint8_t *>(x.data()), reinterpret_cast<uint8_t *>(y.data())};
      for (int i = 0; i < 2; ++i)
        run(device, launch);
      CHECK(y == expected);
      CHECK((device.microseconds() > 0) == timed);
      if (timed && cycles != 0)
        CHECK(device.simulator().total().cycles == cycles);
      if (timed)
        cycles = device.simulator().total().cycles;
      CHECK(device.launchNames() == std::vector<std::string>{"launch", "launch"});
    }
  // Time alone is the same without results.
  Device device(soc, timeOnly());
  for (int i = 0; i < 2; ++i)
    run(device, launchOf(program, {0, kMega}));
  CHECK(device.simulator().total().cycles == cycles);
}

TEST_CASE("launches beyond those that are kept are added to the last one") {
  SocTable soc = plainSoc(launches);
  Program program = computing(10);
  Device device(soc, timeOnly());
  device.forgetLaunches(0, 2);
  for (int i = 0; i < 5; ++i)
    run(device, launchOf(program, {}));
  REQUIRE(device.simulator().launches().size() == 2);
  CHECK(device.launchNames() == std::vector<std::string>{"launch", kOtherLaunches});
  const double sum = device.simulator().total().cycles;
  CHECK(device.simulator().launches()[0].cycles + device.simulator().launches()[1].cycles == sum);
  device.forgetLaunches(1, 1);
  CHECK(device.launchNames() == std::vector<std::string>{"launch"});
  run(device, launchOf(program, {}));
  CHECK(device.launchNames() == std::vector<std::string>{"launch", "launch"});
  CHECK(device.simulator().total().cycles > sum);
}

TEST_CASE("cores that wait for each other see each other's results") {
  // Core c waits for c signals, so that each adds one to what the one before left.
  ProgramBuilder b({8, 1, 1});
  unsigned x = b.argument(64);
  Address ub = at(Memory::UB, int64_t(0));
  b.add(Opcode::Await, {}, {range(grid(0), 1)}, {int64_t(Queue::MTE2), 0});
  b.move(ub, gm(x), 64);
  b.pipeBarrier(Queue::S);
  b.vector(VectorOp::AddScalar, DataType::F32, ub, ub, ub, 16, 1);
  b.pipeBarrier(Queue::S);
  b.move(gm(x), ub, 64);
  b.add(Opcode::Signal, {}, {}, {int64_t(Queue::MTE3), 0});
  SocTable soc = plainSoc(launches);
  REQUIRE(verify(b.get(), soc).empty());
  for (bool timed : {false, true}) {
    std::vector<float> values(16, 3.f);
    DeviceOptions options;
    options.timed = timed;
    options.threads = 2;
    Device device(soc, options);
    DeviceLaunch launch = launchOf(b.get(), {0});
    launch.data = {reinterpret_cast<uint8_t *>(values.data())};
    run(device, launch);
    CHECK(values == std::vector<float>(16, 11.f));
  }
}

TEST_CASE("a chained launch pays for a meeting of the cores, not for a task") {
  SocTable soc = plainSoc(launches);
  Program program = computing(10);
  Device device(soc, timeOnly());
  for (bool chained : {true, true, false, true})
    run(device, launchOf(program, {}, {}, chained));
  device.endTask();
  run(device, launchOf(program, {}, {}, true));
  const auto &launches = device.simulator().launches();
  double work = 10 * (2 + 100 + 10);
  // The first has no task to continue, and none is left after the host's work.
  std::vector<double> starts{2000, 482, 2000, 482, 2000};
  REQUIRE(launches.size() == 5);
  for (size_t i = 0; i < 5; ++i) {
    CHECK(launches[i].cycles == starts[i] + work);
    CHECK(launches[i].startCycles == starts[i]);
  }
  CHECK(device.microseconds() == Approx((6964 + 5 * work) / 1060));
  device.reset();
  CHECK(device.simulator().launches().empty());
}

TEST_CASE("cores that a grid leaves out cost nothing and wait for the others") {
  SocTable soc = plainSoc(launches);
  Program one = reading(kMega, 1), all = computing(10);
  Device device(soc, timeOnly());
  run(device, launchOf(one, {0}));
  run(device, launchOf(all, {}));
  const auto &launches = device.simulator().launches();
  CHECK(launches[0].coreCount == 1);
  CHECK(launches[0].tailStall == 0);
  CHECK(launches[0].cycles == Approx(2000 + 8 * 8 + kMega / 64.0 + 100));
  // The next one begins on all cores when that one is done.
  CHECK(launches[1].coreCount == 8);
  CHECK(launches[1].cycles == 482 + 10 * (2 + 100 + 10));
}

TEST_CASE("weights prefetched while another launch computes are hits") {
  SocTable soc = plainSoc(launches);
  Program compute = computing(400), read = reading(kMega);
  constexpr uint64_t weights = 0x10000000;
  double cycles[2];
  for (bool prefetch : {false, true}) {
    DeviceOptions options = timeOnly();
    options.prefetch = prefetch;
    Device device(soc, options);
    run(device, launchOf(compute, {}, {{weights, 8 * kMega}}));
    run(device, launchOf(read, {weights}));
    const Statistics &first = device.simulator().launches()[0];
    const Statistics &second = device.simulator().launches()[1];
    // 8 MB at 8 x 32 bytes a cycle take 32768; there are 46800, because each result is waited for.
    CHECK(first.cycles == 2000 + 400 * (2 + 100 + 10));
    CHECK(first.prefetched == (prefetch ? 8 * kMega : 0));
    CHECK(first.ddrRead == (prefetch ? 8 * kMega : 0));
    CHECK(second.l2Hit == (prefetch ? 8 * kMega : 0));
    CHECK(second.l2Missed == (prefetch ? 0 : 8 * kMega));
    CHECK(second.ddrRead == (prefetch ? 0 : 8 * kMega));
    cycles[prefetch] = second.cycles;
  }
  CHECK(cycles[0] == Approx(482 + 8 * kMega / 256.0 + 108).epsilon(0.01));
  CHECK(cycles[1] == Approx(482 + 8 * kMega / 512.0 + 108).epsilon(0.01));
}

TEST_CASE("a prefetch goes on over the ends of launches") {
  SocTable soc = plainSoc(launches);
  Program compute = computing(100), read = reading(kMega);
  constexpr uint64_t weights = 0x10000000;
  Device device(soc, timeOnly());
  run(device, launchOf(compute, {}, {{weights, 2 * kMega}, {weights + 2 * kMega, 6 * kMega}}));
  for (int i = 0; i < 3; ++i)
    run(device, launchOf(compute, {}));
  run(device, launchOf(read, {weights}));
  const auto &launches = device.simulator().launches();
  // A line takes 2 cycles; one that has begun is counted to its launch.
  uint64_t brought = 0;
  for (size_t i = 0; i < 3; ++i) {
    uint64_t expected = uint64_t(std::llround(launches[i].cycles / 2)) * 512;
    if (i < 2)
      CHECK(launches[i].prefetched == expected);
    brought += launches[i].prefetched;
  }
  CHECK(brought + launches[3].prefetched == 8 * kMega);
  CHECK(launches[4].l2Hit == 8 * kMega);
  CHECK(launches[4].l2Missed == 0);
}

TEST_CASE("what a core reads before its prefetch is a miss and leaves the DMA's queue") {
  SocTable soc = plainSoc(launches);
  constexpr uint64_t weights = 0x10000000;
  Program last = reading(kMega / 8), compute = computing(400), all = reading(kMega);
  Device device(soc, timeOnly());
  // The last megabyte is read at once, the DMA begins with the first.
  run(device, launchOf(last, {weights + 7 * kMega}, {{weights, 8 * kMega}}));
  run(device, launchOf(compute, {}));
  run(device, launchOf(all, {weights}));
  const auto &launches = device.simulator().launches();
  CHECK(launches[0].l2Missed == kMega);
  CHECK(launches[0].ddrRead + launches[1].ddrRead == 8 * kMega);
  CHECK(launches[2].l2Hit == 8 * kMega);
}

TEST_CASE("a line that the DMA is just bringing is waited for") {
  SocTable soc = plainSoc(launches);
  soc.l2Ways = 16;
  soc.l2Line = 4096; // of a DDR of 256 bytes a cycle: 16 cycles a line
  soc.launchCycles = 0;
  ProgramBuilder b;
  b.argument(4096);
  b.move(at(Memory::UB, int64_t(0)), gm(0), 64);
  double cycles[2];
  for (bool prefetch : {false, true}) {
    Device device(soc, timeOnly());
    run(device, launchOf(b.get(), {4096}, {{4096, prefetch ? 4096u : 0u}}));
    cycles[prefetch] = device.simulator().total().cycles;
    CHECK(device.simulator().total().ddrRead == 4096);
    CHECK(device.simulator().total().l2Missed == (prefetch ? 0 : 4096));
  }
  // Asked for at 8: by the core itself there at 24, by the DMA (since 0) at 16.
  CHECK(cycles[0] == 24 + 100);
  CHECK(cycles[1] == 16 + 100);
}

TEST_CASE("cores go before the DMA") {
  SocTable soc = plainSoc(launches);
  Program read = reading(kMega);
  double cycles[2];
  for (bool prefetch : {false, true}) {
    DeviceOptions options = timeOnly();
    options.prefetch = prefetch;
    Device device(soc, options);
    run(device, launchOf(read, {0}, {{64 * kMega, 8 * kMega}}));
    cycles[prefetch] = device.simulator().total().cycles;
  }
  // The reads fill DDR: what little the DMA gets costs less than a percent.
  CHECK(cycles[1] >= cycles[0]);
  CHECK(cycles[1] < 1.01 * cycles[0]);
}

TEST_CASE("a network that is bound by its weights takes as long as DDR needs for them") {
  SocTable soc = plainSoc(launches);
  // 16 layers of 2 MB: each names the weights of the next but one; reading from
  // L2 and computing take less than DDR needs.
  constexpr unsigned layers = 16;
  Program read = reading(2 * kMega / 8);
  for (bool prefetch : {false, true}) {
    DeviceOptions options = timeOnly();
    options.prefetch = prefetch;
    Device device(soc, options);
    for (unsigned i = 0; i < layers; ++i) {
      uint64_t weights = 0x10000000 + i * 2 * kMega;
      std::vector<Prefetch> list;
      if (!i)
        list = {{weights, 4 * kMega}};
      if (i + 2 < layers)
        list.push_back({weights + 4 * kMega, 2 * kMega});
      run(device, launchOf(read, {weights}, list));
    }
    const Statistics &total = device.simulator().total();
    double bound = layers * 2 * kMega / 256.0;
    CHECK(total.ddrRead == layers * 2 * kMega);
    CHECK(total.cycles >= bound);
    if (prefetch)
      CHECK(total.cycles < 1.02 * bound);
    else
      CHECK(total.cycles == Approx(bound + 2000 + 15 * 482 + 16 * 100).epsilon(0.01));
  }
}

TEST_CASE("accesses that nothing orders are listed once a program") {
  SocTable soc = plainSoc(launches);
  ProgramBuilder b;
  unsigned x = b.argument(6400);
  Address ub = at(Memory::UB, int64_t(0));
  b.move(ub, gm(x), 6400);
  b.vector(VectorOp::Relu, DataType::F16, ub, ub, ub, 3200);
  DeviceOptions options = timeOnly();
  options.hazards = true;
  Device device(soc, options);
  Program ordered = relu(2, 1);
  size_t found = 0;
  for (int i = 0; i < 2; ++i) {
    run(device, launchOf(ordered, {0, kMega}));
    CHECK(device.hazards().size() == found);
    run(device, launchOf(b.get(), {0}));
    REQUIRE(!device.hazards().empty());
    CHECK(device.hazards()[0].find("launch `launch`: ") == 0);
    found = device.hazards().size();
  }
}

TEST_CASE("a launch that does not fit is refused and the device goes on") {
  SocTable soc = plainSoc(launches);
  Program wide = computing(1), read = reading(kMega);
  wide.grid[0] = 9;
  Device device(soc, DeviceOptions());
  std::string error;
  CHECK_FALSE(device.run(launchOf(wide, {}), error));
  CHECK(error.find("runs on 9 cores, Ascend310P3 has 8") != error.npos);
  error.clear();
  CHECK_FALSE(device.run(launchOf(read, {}), error));
  CHECK(error == "launch `launch` is given 0 buffers, its program takes 1\n");
  Program fits = computing(1);
  run(device, launchOf(fits, {}));
  CHECK(device.simulator().launches().size() == 1);
}
