//===-- PhysicsTest.cpp - what cores share, and what no program beats ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/isa/ProgramBuilder.h"
#include "npu/simulator/Costs.h"
#include "npu/simulator/LineCache.h"
#include "npu/simulator/Simulator.h"

#include "test/npu/PlainSoc.h"

#include <list>
#include <random>
#include <set>

using namespace atc::npu;

namespace {

Address ub(int64_t offset = 0) { return at(Memory::UB, offset); }

Statistics run(Simulator &simulator, const Program &program, bool bypass = false) {
  Launch launch{&program, "test", {0, 1 << 24, 1 << 25}, std::vector<uint8_t>(3, bypass)};
  std::string error;
  INFO(error);
  REQUIRE(simulator.run(launch, error));
  return simulator.launches().back();
}

double dataCycles(const SocTable &soc, const Instruction &instruction) {
  Box boxes[4];
  Frame frame;
  unsigned count = boxesOf(instruction, frame, boxes);
  return costOf(soc, instruction, frame, boxes, count).data;
}

} // namespace

TEST_CASE("the cache agrees with a list per set") {
  // With one set: the order of uses alone decides.
  LineCache cache(1, 100);
  std::list<std::pair<uint64_t, bool>> reference; // most recent first
  std::mt19937_64 random(5);
  for (int step = 0; step < 20000; ++step) {
    uint64_t line = random() % 150 * 4096;
    bool write = random() % 3 == 0, evicts = false;
    auto found = std::find_if(reference.begin(), reference.end(),
                              [&](const auto &entry) { return entry.first == line; });
    bool hit = found != reference.end(), expectedEvicts = false, dirty = write;
    if (hit) {
      dirty |= found->second;
      reference.erase(found);
    } else if (reference.size() == 100) {
      expectedEvicts = reference.back().second;
      reference.pop_back();
    }
    reference.push_front({line, dirty});
    CHECK(cache.lookUp(line, write, evicts) == hit);
    CHECK(evicts == expectedEvicts);
    if (step % 1000 == 999) { // a range leaves, the rest becomes clean
      uint64_t first = random() % 150 * 4096, end = first + 10 * 4096;
      size_t dropped = 0;
      cache.forRange(first, end, false, [&](uint64_t, bool) { return ++dropped; });
      CHECK(dropped == reference.size() - (reference.remove_if([&](const auto &entry) {
                         return entry.first >= first && entry.first < end;
                       }),
                                           reference.size()));
      cache.forRange(0, UINT64_MAX, true, [](uint64_t, bool) { return false; });
      for (auto &entry : reference)
        entry.second = false;
    }
  }
  for (const auto &[line, dirty] : reference)
    CHECK(cache.holds(line));
}

TEST_CASE("strides of a power of two do not collide") {
  // As many lines as the cache has, 64 KB apart.
  LineCache cache(64, 256);
  bool evicts;
  for (uint64_t i = 0; i < 8192; ++i)
    cache.lookUp(i * 128, false, evicts);
  size_t held = 0;
  for (uint64_t i = 0; i < 8192; ++i)
    held += cache.holds(i * 128);
  CHECK(held > 8000);
}

TEST_CASE("reads and writes share the channel to DDR") {
  SocTable soc = plainSoc();
  ProgramBuilder reads({8, 1, 1}), both({8, 1, 1});
  for (ProgramBuilder *b : {&reads, &both}) {
    unsigned x = b->argument(1 << 24), y = b->argument(1 << 24);
    b->move(ub(), gm(x, grid(0) * 131072), 131072);
    if (b == &both)
      b->move(gm(y, grid(0) * 131072), ub(131072), 131072);
  }
  Simulator one(soc), two(soc);
  CHECK(run(one, reads.get(), true).cycles == Approx(131072 / 32. + 108).epsilon(0.02));
  CHECK(run(two, both.get(), true).cycles == Approx(2 * 131072 / 32. + 108).epsilon(0.03));
}

TEST_CASE("a run ends with its outputs in DDR and its inputs forgotten") {
  SocTable soc = plainSoc();
  ProgramBuilder b({8, 1, 1});
  unsigned x = b.argument(1 << 24), y = b.argument(1 << 24), w = b.argument(1 << 24);
  b.move(ub(), gm(x, grid(0) * 65536), 65536);
  b.move(ub(), gm(w, grid(0) * 65536), 65536);
  b.move(gm(y, grid(0) * 65536), ub(65536), 65536);
  Simulator simulator(soc);
  // Weights lie below the boundary.
  Launch launch{&b.get(), "test", {1 << 25, 1 << 26, 0}, {}};
  std::string error;
  REQUIRE(simulator.run(launch, error));
  Statistics first = simulator.launches().back();
  CHECK(first.ddrRead == 2 * 8 * 65536);
  CHECK(first.ddrWritten == 0);
  CHECK(simulator.residentBytes(0, 1 << 25) == 8 * 65536);
  simulator.endRun(1 << 25);
  Statistics ended = simulator.launches().back();
  CHECK(ended.ddrWritten == 8 * 65536);
  CHECK(ended.cycles == Approx(first.cycles + 8 * 65536 / 256.));
  CHECK(simulator.total().cycles == ended.cycles);
  simulator.endRun(1 << 25); // nothing is left to write
  CHECK(simulator.total().cycles == ended.cycles);
  REQUIRE(simulator.run(launch, error));
  CHECK(simulator.launches().back().ddrRead == 8 * 65536); // the weights are still there
}

TEST_CASE("a vector instruction waits for the result that it reads") {
  SocTable soc = plainSoc();
  for (bool dependent : {false, true}) {
    ProgramBuilder b;
    for (int i = 0; i < 10; ++i) {
      Address in = ub(dependent ? i * 256 : 0), out = ub((i + 1) * 256);
      b.vector(VectorOp::Relu, DataType::F16, out, in, in, 128);
    }
    Simulator simulator(soc);
    // 2 to start and 1 for 128 elements; results are there 10 later.
    CHECK(run(simulator, b.get()).cycles == (dependent ? 10 * 13 : 10 * 3 + 10));
    CHECK(simulator.total().barrierStall[unsigned(Queue::V)] == (dependent ? 9 * 10 : 0));
  }
}

TEST_CASE("bytes that a move reads again pass the ports again") {
  SocTable soc = plainSoc();
  ProgramBuilder b;
  unsigned x = b.argument(1 << 20);
  // 16 copies of 1024 bytes.
  b.add(Opcode::Move, {ub(), gm(x)}, {range(1), range(16), range(1024)}, {0, 1024, 0, 0});
  Simulator simulator(soc);
  Statistics statistics = run(simulator, b.get());
  CHECK(statistics.cycles == Approx(8 + 16 * 1024 / 64. + 100));
  CHECK(statistics.bytes[unsigned(Memory::GM)][unsigned(Memory::UB)] == 16 * 1024);
  CHECK(statistics.l2Hit + statistics.l2Missed == 16 * 1024);
  CHECK(statistics.ddrRead == 1024);
}

TEST_CASE("rows that begin at odd addresses are slow to become fractals") {
  const SocTable &soc = *findSoc("Ascend910B1");
  auto cycles = [&](int64_t pitch) {
    ProgramBuilder b;
    unsigned x = b.argument(1 << 24);
    return dataCycles(soc, b.add(Opcode::MoveNdToNz, {at(Memory::L1, int64_t(0)), gm(x)},
                                 {range(64), range(256)}, {int64_t(DataType::F16), pitch, 2048}));
  };
  CHECK(cycles(8192) == Approx(64 * 512 / soc.gmToL1));
  CHECK(cycles(8190) == Approx(64 * 512 / soc.ndToNzUnaligned));
}

TEST_CASE("gathering pays for the rows, not for the table") {
  auto read = [](int64_t rows, int64_t bytes) {
    ProgramBuilder b;
    unsigned table = b.argument(1 << 24);
    b.add(Opcode::GatherRows, {ub(), gm(table), ub(200000)}, {range(rows), range(bytes)},
          {(1 << 24) / 2048, 2048, 2048, 4});
    Simulator simulator(*findSoc("Ascend310P3"));
    std::string error;
    REQUIRE(simulator.run({&b.get(), "gather", {0}, {}}, error));
    return std::pair(simulator.total().ddrRead, simulator.total().cycles);
  };
  const uint64_t line = findSoc("Ascend310P3")->l2Line;
  CHECK(read(1, 2048).first == 2048);
  CHECK(read(64, 2048).first == 64 * 2048);
  CHECK(read(64, 32).first == 64 * line); // whole lines, one per row
  // Each row is a transfer of its own.
  const double start = double(findSoc("Ascend310P3")->gmStart);
  CHECK(read(64, 32).second >= read(1, 32).second + 62 * start);
}

TEST_CASE("what a SoC cannot prefetch is a miss") {
  for (bool can : {false, true}) {
    SocTable soc = plainSoc();
    soc.l2Prefetch = can;
    SharedMemory memory(soc);
    memory.prefetch({0, 4096});
    memory.advance(1000);
    CHECK(memory.prefetchedBytes() == (can ? 4096 : 0));
  }
}

TEST_CASE("no program is faster than its bound") {
  // Moves, vector operations and products in random order and number, without any flags; every
  // SoC's cores all run them. What must pass DDR and what the units must do take their time.
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    const SocTable &soc = allSocs()[random() % allSocs().size()];
    bool vectorCores = soc.split && random() % 2, cold = random() % 2;
    auto cores = uint32_t(1 + random() % soc.cores(vectorCores));
    ProgramBuilder b({cores, 1, 1}, vectorCores);
    unsigned x = b.argument(1 << 24), y = b.argument(1 << 24);
    std::set<uint64_t> read, written;
    double macs = 0;
    for (int i = 0, count = 1 + int(random() % 20); i < count; ++i) {
      int64_t bytes = 512 * (1 + int64_t(random() % 64));
      int64_t offset = 512 * int64_t(random() % 1024), share = random() % 2 ? bytes : 0;
      auto note = [&](std::set<uint64_t> &lines) {
        for (int64_t core = 0; core < int64_t(cores); ++core)
          for (int64_t at = 0; at < bytes; at += 512)
            lines.insert(uint64_t(offset + core * share + at) / 512);
      };
      Memory local = soc.split && !vectorCores ? Memory::L1 : Memory::UB;
      switch (random() % 4) {
      case 0:
        b.move(at(local, int64_t(0)), gm(x, grid(0) * share + offset), bytes);
        note(read);
        break;
      case 1:
        if (local == Memory::L1)
          break;
        b.move(gm(y, grid(0) * bytes + offset), ub(), bytes);
        share = bytes;
        note(written);
        break;
      case 2:
        if (vectorCores)
          break;
        b.mmad(DataType::F16, at(Memory::L0C, 0), at(Memory::L0A, 0), at(Memory::L0B, 0), 64, 64,
               64);
        macs += 64. * 64 * 64 * cores;
        break;
      default:
        if (local == Memory::UB)
          b.vector(VectorOp::Add, DataType::F16, ub(32768), ub(), ub(), 1024);
      }
    }
    Simulator simulator(soc);
    Launch launch{&b.get(), "random", {1 << 26, 1 << 27}, {}};
    std::string error;
    if (!cold) { // a run before it leaves nothing of inputs and outputs
      REQUIRE(simulator.run(launch, error));
      simulator.endRun(1 << 26);
    }
    double before = simulator.total().cycles;
    REQUIRE(simulator.run(launch, error));
    simulator.endRun(1 << 26);
    double cycles = simulator.total().cycles - before;
    INFO(soc.name << " round " << round);
    CHECK(cycles * soc.ddrRate() * double(soc.cubeCores) >=
          512. * double(read.size() + written.size()));
    CHECK(cycles * soc.macsPerCycle(DataType::F16) * double(soc.cubeCores) >= macs);
  }
}
