//===-- SimulatorTest.cpp - time, order and deadlocks of launches ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/simulator/Simulator.h"
#include "npu/isa/ProgramBuilder.h"
#include "npu/report/Trace.h"
#include "npu/simulator/Costs.h"

#include <catch2/catch.hpp>

#include "test/npu/PlainSoc.h"

#include <memory>

using namespace atc::npu;

namespace {

Statistics run(const SocTable &soc, const Program &program, bool bypass = true) {
  Simulator simulator(soc);
  Launch launch{&program, "test", {0, 1 << 24, 1 << 25}, std::vector<uint8_t>(3, bypass)};
  std::string error;
  INFO(error);
  REQUIRE(simulator.run(launch, error));
  return simulator.total();
}

/// `tiles` pieces of 6400 bytes: in, a vector operation of 25 cycles, out.
Program pipeline(unsigned buffers, int64_t tiles, uint32_t cores = 1) {
  ProgramBuilder b({cores, 1, 1});
  unsigned x = b.argument(1 << 24), y = b.argument(1 << 24);
  for (unsigned i = 0; i < buffers; ++i)
    b.setFlag(Queue::MTE3, Queue::MTE2, i);
  b.loop(tiles, [&](Affine i) {
    Address ub = rotating(at(Memory::UB, int64_t(0)), buffers, 6400, 1);
    Affine position = i * 6400 + grid(0) * (6400 * tiles);
    b.waitFlag(Queue::MTE3, Queue::MTE2, 0, buffers, 1);
    b.move(ub, gm(x, position), 6400);
    b.setFlag(Queue::MTE2, Queue::V, 0, buffers, 1);
    b.waitFlag(Queue::MTE2, Queue::V, 0, buffers, 1);
    b.vector(VectorOp::Relu, DataType::F16, ub, ub, ub, 3200);
    b.setFlag(Queue::V, Queue::MTE3, 0, buffers, 1);
    b.waitFlag(Queue::V, Queue::MTE3, 0, buffers, 1);
    b.move(gm(y, position), ub, 6400);
    b.setFlag(Queue::MTE3, Queue::MTE2, 0, buffers, 1);
  });
  for (unsigned i = 0; i < buffers; ++i)
    b.waitFlag(Queue::MTE3, Queue::MTE2, i);
  return b.take();
}

struct Order : Observer {
  std::vector<Opcode> seen;
  void execute(unsigned, const Instruction &instruction, const Frame &) override {
    seen.push_back(instruction.opcode);
  }
};

} // namespace

TEST_CASE("one buffer: every stage waits for the one before") {
  // In 8 + 100 + 100, vector 2 + 25 + 10, out 8 + 100 + 50.
  CHECK(run(plainSoc(), pipeline(1, 1)).cycles == Approx(208 + 37 + 158));
  CHECK(run(plainSoc(), pipeline(1, 10)).cycles == Approx(10 * (208 + 37 + 158)));
}

TEST_CASE("buffers in turn let the stages overlap") {
  // With enough buffers the slowest queue is always busy: 108 a tile.
  double one = 208 + 37 + 158;
  CHECK(run(plainSoc(), pipeline(4, 10)).cycles == Approx(9 * 108 + one));
  // With two, a pair of tiles takes as long as one goes through all stages.
  CHECK(run(plainSoc(), pipeline(2, 10)).cycles == Approx(4 * one + 108 + one));
}

TEST_CASE("cores share the bandwidth, one alone draws more than its share") {
  SocTable soc = plainSoc();
  ProgramBuilder one({1, 1, 1}), all({8, 1, 1});
  for (ProgramBuilder *b : {&one, &all}) {
    unsigned x = b->argument(1 << 24);
    b->move(at(Memory::UB, int64_t(0)), gm(x, grid(0) * 131072), 131072);
  }
  // 64 bytes a cycle alone; 8 x 32 for eight together.
  CHECK(run(soc, one.get()).cycles == Approx(8 + 131072 / 64.0 + 100));
  Statistics shared = run(soc, all.get());
  CHECK(shared.cycles == Approx(8 + 131072 / 32.0 + 100).epsilon(0.01));
  CHECK(shared.bandwidthStall == Approx(8 * 131072 / 64.0).epsilon(0.03));
  CHECK(shared.bypassed == 8 * 131072);
}

TEST_CASE("what lies in L2 comes at its rate, and stays over launches") {
  SocTable soc = plainSoc();
  ProgramBuilder b({8, 1, 1});
  unsigned x = b.argument(1 << 24);
  b.move(at(Memory::UB, int64_t(0)), gm(x, grid(0) * 131072), 131072);
  Simulator simulator(soc);
  Launch launch{&b.get(), "read", {0}, {}};
  std::string error;
  REQUIRE(simulator.run(launch, error));
  REQUIRE(simulator.run(launch, error));
  const auto &launches = simulator.launches();
  CHECK(launches[0].l2Missed == 8 * 131072);
  CHECK(launches[0].l2Hit == 0);
  CHECK(launches[1].l2Hit == 8 * 131072);
  CHECK(launches[1].l2Missed == 0);
  CHECK(launches[0].cycles > 1.9 * launches[1].cycles);
}

TEST_CASE("short runs take up to five times as long") {
  SocTable soc = plainSoc();
  auto cycles = [&](int64_t bytes) {
    ProgramBuilder b;
    unsigned x = b.argument(1 << 24);
    b.add(Opcode::Move, {at(Memory::UB, int64_t(0)), gm(x)},
          {range(1), range(65536 / bytes), range(bytes)}, {0, bytes, 0, 4096});
    return run(soc, b.get()).cycles - 108;
  };
  CHECK(cycles(512) == Approx(1024));
  CHECK(cycles(256) == Approx(1024 / (0.2 + 0.8 / 2)));
  CHECK(cycles(64) == Approx(1024 / (0.2 + 0.8 / 8)));
  CHECK(cycles(8) == Approx(1024 / (0.2 + 0.8 / 64)));
}

TEST_CASE("a residual costs what adding f32 does, a quantized image what dividing does") {
  const SocTable &soc = *findSoc("Ascend310P3");
  auto costs = [&](const Instruction &instruction) {
    Box boxes[4];
    Frame frame;
    unsigned count = boxesOf(instruction, frame, boxes);
    return costOf(soc, instruction, frame, boxes, count).data;
  };
  constexpr int64_t kS32 = int64_t(DataType::S32), kU8 = int64_t(DataType::U8);
  ProgramBuilder b;
  unsigned image = b.argument(1 << 20);
  Address ub = at(Memory::UB, int64_t(0)), l0c = at(Memory::L0C, int64_t(0));
  auto plain = b.add(Opcode::Requantize, {ub, l0c, ub}, {range(64), range(30)},
                     {kS32, kU8, kU8, 0, 0, 0, 4096, 32, 2048});
  auto added = b.add(Opcode::RequantizeAdd, {ub, l0c, ub, ub}, {range(64), range(30)},
                     {kS32, kU8, kU8, 0, 0, 0, kU8, 0, 0, 0, 0, 0, 4096, 32, 2048});
  auto sum = b.vector(VectorOp::Add, DataType::F32, ub, ub, ub, 64 * 32);
  CHECK(costs(plain) == Approx(64 * 32 * 4 / soc.l0cToUb));
  CHECK(costs(added) == Approx(costs(plain) + costs(sum)));
  // FIX of split cores stores bytes as fast as halves, and reads its scales before.
  const SocTable &split = *findSoc("Ascend910B1");
  unsigned bytesInGm = b.argument(1 << 20);
  auto fixed = b.add(Opcode::Requantize, {gm(bytesInGm), l0c, at(Memory::L1, int64_t(0))},
                     {range(64), range(32)}, {kS32, kU8, kU8, 0, 0, 0, 4096, 32, 2048});
  Box boxes[4];
  Frame frame;
  unsigned count = boxesOf(fixed, frame, boxes);
  CHECK(queueOf(fixed) == Queue::FIX);
  CHECK(costOf(split, fixed, frame, boxes, count).data ==
        Approx(64 * 32 / split.fixElements + 32 * 4 / split.l1ToUb));
  auto loaded = b.add(Opcode::LoadImage, {at(Memory::L1, int64_t(0)), gm(image)}, {range(16)},
                      {int64_t(DataType::F32), 3, 64, 4, 65536, 256, 512});
  auto quantized = loaded;
  quantized.fields[LoadImage::scale] = floatBits(0.5);
  auto quotient = b.vector(VectorOp::Div, DataType::F32, ub, ub, ub, 3 * 16 * 64);
  CHECK(costs(loaded) < costs(quotient));
  CHECK(costs(quantized) == Approx(costs(quotient)));
  // A difference and a product of each element take as long, whichever channels have them.
  auto bytes = b.add(Opcode::LoadImage, {at(Memory::L1, int64_t(0)), gm(image)}, {range(16)},
                     {int64_t(DataType::U8), 3, 64, 4, 1, 192, 512, 0, 0, 0, 3});
  auto normalized = bytes;
  normalized.fields[LoadImage::factor1] = floatBits(0.5);
  CHECK(costs(bytes) < costs(normalized));
  CHECK(costs(normalized) == Approx(costs(quotient)));
  normalized.fields[LoadImage::scale] = floatBits(0.5);
  CHECK(costs(normalized) > costs(quotient));
}

TEST_CASE("queues are 32 deep: the scalar unit waits for room") {
  SocTable soc = plainSoc();
  ProgramBuilder b;
  b.loop(100, [&](Affine) {
    Address in = at(Memory::UB, int64_t(4096));
    b.vector(VectorOp::Relu, DataType::F16, at(Memory::UB, int64_t(0)), in, in, 128);
  });
  Statistics statistics = run(soc, b.get());
  CHECK(statistics.cycles == Approx(100 * 3 + 10));
  // The last one finds room when the one 32 before it has left, at 67 * 3.
  CHECK(statistics.queueFull[unsigned(Queue::V)] == Approx(67 * 3));
  CHECK(statistics.busy[unsigned(Queue::V)] == Approx(300));
}

TEST_CASE("order without time is that of the flags") {
  Program program = pipeline(2, 3);
  Simulator simulator(plainSoc());
  Order order;
  simulator.observer = &order;
  simulator.timed = false;
  Launch launch{&program, "order", {0, 1 << 24}, {}};
  std::string error;
  REQUIRE(simulator.run(launch, error));
  CHECK(simulator.total().cycles == 0);
  std::vector<Opcode> work;
  for (Opcode opcode : order.seen)
    if (opcode == Opcode::Move || opcode == Opcode::Vector)
      work.push_back(opcode);
  REQUIRE(work.size() == 9);
  CHECK(std::count(work.begin(), work.end(), Opcode::Vector) == 3);
  CHECK(work.front() == Opcode::Move);
  CHECK(work.back() == Opcode::Move);
}

TEST_CASE("signals hold a core back") {
  SocTable soc = plainSoc();
  ProgramBuilder b({2, 1, 1});
  unsigned x = b.argument(1 << 24);
  b.loop(2, [&](Affine) {
    b.move(at(Memory::UB, int64_t(0)), gm(x), 6400);
    b.add(Opcode::Signal, {}, {}, {int64_t(Queue::MTE2), 3});
    b.add(Opcode::Await, {}, {range(constant(2), 1)}, {int64_t(Queue::MTE2), 3});
  });
  Statistics statistics = run(soc, b.get());
  CHECK(statistics.cycles > 208 + 241);
  CHECK(statistics.signalStall[unsigned(Queue::MTE2)] > 2 * 241);
}

TEST_CASE("cube and vector cores run at once, and signals between them take longer") {
  SocTable soc = *findSoc("Ascend910B1");
  // Each core of a section moves `tiles` blocks; vector cores begin when cube cores have signalled.
  auto program = [](int64_t cubeTiles, int64_t vectorTiles, bool waits) {
    ProgramBuilder b({2, 1, 1});
    unsigned x = b.argument(1 << 24);
    b.loop(cubeTiles, [&](Affine) { b.move(at(Memory::L1, int64_t(0)), gm(x), 8192); });
    if (waits)
      b.add(Opcode::Signal, {}, {}, {int64_t(Queue::MTE2), 0});
    b.onVectorCores({3, 1, 1});
    if (waits)
      b.add(Opcode::Await, {}, {range(constant(2), 1)}, {int64_t(Queue::MTE2), 0});
    b.loop(vectorTiles, [&](Affine) { b.move(at(Memory::UB, int64_t(0)), gm(x), 8192); });
    return b.take();
  };
  const double start = double(soc.launchCycles);
  auto time = [&](int64_t cubeTiles, int64_t vectorTiles, bool waits) {
    return run(soc, program(cubeTiles, vectorTiles, waits)).cycles - start;
  };
  const double cube = time(100, 1, false), vector = time(1, 100, false);
  CHECK(time(100, 100, false) < 1.2 * std::max(cube, vector));
  CHECK(time(100, 100, true) > 0.95 * (cube + vector) + double(soc.crossLatency));
  const double before = time(100, 100, true);
  soc.crossLatency += 1000;
  CHECK(time(100, 100, true) == Approx(before + 1000));
  soc.signalLatency += 1000; // of cores of one kind
  CHECK(time(100, 100, true) == Approx(before + 1000));

  Simulator simulator(soc);
  simulator.maxSpans = 1 << 16;
  const Program mixed = program(100, 100, true);
  Launch launch{&mixed, "mixed", {0}, {}};
  std::string error;
  REQUIRE(simulator.run(launch, error));
  const Statistics &statistics = simulator.total();
  CHECK(statistics.coreCount == 5);
  CHECK(statistics.cubeCores == 2);
  CHECK(statistics.vectorCores == 3);
  REQUIRE(simulator.cores().size() == soc.cubeCores + 3);
  CHECK(simulator.cores()[1].busy[unsigned(Queue::MTE2)] > 0);
  CHECK(simulator.cores()[2].instructions == 0);
  CHECK(simulator.cores()[soc.cubeCores + 2].busy[unsigned(Queue::MTE2)] > 0);
  const std::string trace = chromeTrace(soc, simulator, {"mixed"});
  CHECK(trace.find("\"core 1\"") != trace.npos);
  CHECK(trace.find("\"core 2\"") == trace.npos);
  CHECK(trace.find("\"vector core 2\"") != trace.npos);
  // Layers that run at the same time share it; each has been active all that time.
  Program layered = program(100, 100, false);
  const double whole = run(soc, layered).cycles;
  layered.layers = {{layered.vectorBegin, "vector", "v", 0}, {0, "cube", "c", 0}};
  Simulator shared(soc);
  REQUIRE(shared.run({&layered, "mixed", {0}, {}}, error));
  REQUIRE(shared.launches().size() == 2);
  const Statistics &onVector = shared.launches()[0], &onCube = shared.launches()[1];
  CHECK((onVector.vectorCores == 3 && onVector.cubeCores == 0));
  CHECK((onCube.vectorCores == 0 && onCube.cubeCores == 2));
  CHECK(onVector.cycles + onCube.cycles == Approx(whole));
  CHECK(onCube.cycles == Approx(onCube.activeCycles / 2));
  CHECK(onCube.activeCycles > 0.2 * (whole - start));
  CHECK(onVector.activeCycles > 0.9 * (whole - start));
}

TEST_CASE("layers of a launch divide its time, bytes and instructions") {
  // Core by core the pieces of the second layer begin when those of the first one are done.
  ProgramBuilder b({8, 1, 1});
  unsigned x = b.argument(1 << 24);
  for (int64_t bytes : {131072, 65536}) {
    b.move(at(Memory::UB, int64_t(0)), gm(x, grid(0) * 131072), bytes);
    b.pipeBarrier(Queue::S);
  }
  Program whole = b.take();
  const Statistics once = run(plainSoc(), whole);
  Program program = whole;
  program.layers = {{0, "first", "a", 7}, {2, "second", "b", 0}};
  Simulator simulator(plainSoc());
  std::string error;
  REQUIRE(simulator.run({&program, "test", {0}, {1}}, error));
  REQUIRE(simulator.launches().size() == 2);
  const Statistics &first = simulator.launches()[0], &second = simulator.launches()[1];
  CHECK(simulator.total().cycles == Approx(once.cycles));
  CHECK(first.cycles + second.cycles == Approx(once.cycles));
  CHECK(first.cycles == Approx(2 * second.cycles).epsilon(0.1));
  CHECK(first.bypassed == 8 * 131072);
  CHECK(second.bypassed == 8 * 65536);
  CHECK((first.instructions == 16 && second.instructions == 16));
  CHECK((!first.joined && second.joined));
  CHECK((first.coreCount == 8 && second.coreCount == 8));
  CHECK(first.startCycles == once.startCycles);
  CHECK(second.startCycles == 0);
  CHECK(first.busy[unsigned(Queue::MTE2)] + second.busy[unsigned(Queue::MTE2)] ==
        Approx(once.busy[unsigned(Queue::MTE2)]));
  // As many launches are kept as there is room for.
  Simulator small(plainSoc());
  small.maxLaunches = 1;
  REQUIRE(small.run({&program, "test", {0}, {1}}, error));
  REQUIRE(small.launches().size() == 1);
  CHECK(small.launches()[0].cycles == Approx(once.cycles));
}

TEST_CASE("what the scalar unit waits for holds up what follows") {
  ProgramBuilder b;
  unsigned x = b.argument(1 << 24);
  Address ub = at(Memory::UB, int64_t(0));
  b.move(ub, gm(x), 6400);
  b.pipeBarrier(Queue::S);
  b.vector(VectorOp::Relu, DataType::F16, ub, ub, ub, 3200);
  for (bool timed : {true, false}) {
    Simulator simulator(plainSoc());
    Order order;
    simulator.observer = &order;
    simulator.timed = timed;
    Launch launch{&b.get(), "order", {0}, {1}};
    std::string error;
    REQUIRE(simulator.run(launch, error));
    CHECK(order.seen == std::vector<Opcode>{Opcode::Move, Opcode::PipeBarrier, Opcode::Vector});
    CHECK(simulator.total().cycles == (timed ? 208 + 37 : 0));
  }
}

TEST_CASE("a deadlock names cores, queues and instructions") {
  ProgramBuilder b;
  b.waitFlag(Queue::M, Queue::V, 5);
  b.add(Opcode::Await, {}, {range(constant(7), 1)}, {int64_t(Queue::MTE2), 2});
  Simulator simulator(plainSoc());
  Launch launch{&b.get(), "stuck", {}, {}};
  std::string error;
  CHECK_FALSE(simulator.run(launch, error));
  INFO(error);
  CHECK(error.find("launch `stuck` cannot go on") != error.npos);
  CHECK(error.find("core 0 queue V") != error.npos);
  CHECK(error.find("M -> V id 5") != error.npos);
  CHECK(error.find("7 signals of which 0 came") != error.npos);
}

TEST_CASE("a launch on more cores than there are is refused") {
  ProgramBuilder b({9, 1, 1});
  Simulator simulator(plainSoc());
  Launch launch{&b.get(), "wide", {}, {}};
  std::string error;
  CHECK_FALSE(simulator.run(launch, error));
  CHECK(error.find("runs on 9 cores, Ascend310P3 has 8") != error.npos);
}

TEST_CASE("a limit of bytes counts what moves touch, and whole lines for short runs") {
  const SocTable soc = plainSoc();
  auto ends = [&](int64_t runBytes, uint64_t bytesLeft) {
    ProgramBuilder b;
    unsigned x = b.argument(1 << 24); // much larger than the 65536 bytes that are read
    b.add(Opcode::Move, {at(Memory::UB, int64_t(0)), gm(x)},
          {range(1), range(65536 / runBytes), range(runBytes)}, {0, runBytes, 0, 4096});
    Simulator simulator(soc);
    simulator.bytesLeft = bytesLeft;
    std::string error;
    const bool done = simulator.run({&b.get(), "read", {0}, {}}, error);
    CHECK(error == (done ? "" : "launch `read` was ended: no more bytes are allowed to move\n"));
    return done;
  };
  CHECK(ends(4096, 65536 + 1));
  CHECK_FALSE(ends(4096, 65536));
  CHECK_FALSE(ends(64, 65536 + 1));
  CHECK(ends(64, 1024 * soc.l2Line + 1));
}

TEST_CASE("two runs are equal, and timelines show them") {
  SocTable soc = plainSoc();
  Program program = pipeline(2, 20, 8);
  std::string traces[2];
  for (std::string &trace : traces) {
    Simulator simulator(soc);
    simulator.maxSpans = 10000;
    Launch launch{&program, "a \"name\"", {0, 1 << 24}, {}};
    std::string error;
    REQUIRE(simulator.run(launch, error));
    CHECK(std::count_if(simulator.spans.begin(), simulator.spans.end(), [](const TimeSpan &span) {
            return span.stall == Stall::None;
          }) == 8 * 20 * 3);
    CHECK(simulator.droppedSpans == 0);
    trace = chromeTrace(soc, simulator, {launch.name});
  }
  CHECK(traces[0] == traces[1]);
  CHECK(traces[0].find("\"a \\\"name\\\"\"") != std::string::npos);
}

TEST_CASE("every built-in table survives its file") {
  REQUIRE(allSocs().size() >= 8);
  for (const SocTable &soc : allSocs()) {
    SocTable read;
    CHECK(readSoc(writeSoc(soc), "file", read).empty());
    CHECK(writeSoc(read) == writeSoc(soc));
    CHECK(findSoc(soc.name) == &soc);
  }
  CHECK(findSoc("Ascend999") == nullptr);
  // 16 x 16 x 16 a cycle: 69.5 T on 310P3, 364 T on 910B1.
  const SocTable &p3 = *findSoc("Ascend310P3");
  CHECK(p3.macsPerCycle(DataType::F16) * 2 * double(p3.cubeCores * p3.mhz) / 1e6 ==
        Approx(69.5).epsilon(0.01));
  CHECK(p3.memoryBytes(Memory::L1) == 1048576);
}

TEST_CASE("all errors of a table file are listed with their lines") {
  SocTable soc;
  auto errorLines = readSoc("base = Ascend310P3\nmhz = fast\n# remark\nwarp = 9\nl1Bytes\nmhz = 1\n"
                            "l0aBytes = 0\n",
                            "my.soc", soc);
  REQUIRE(errorLines.size() == 5);
  CHECK(errorLines[0].find("my.soc:2: `fast` is no value for `mhz`") == 0);
  CHECK(errorLines[1] == "my.soc:4: unknown key `warp`");
  CHECK(errorLines[2].find("my.soc:5: expected `key = value`") == 0);
  CHECK(errorLines[3] == "my.soc:6: `mhz` is given twice");
  CHECK(errorLines[4].find("my.soc:7: ") == 0);
  CHECK(readSoc("base = Ascend310P3\nname = mine\nmhz = 2000\n", "f", soc).empty());
  CHECK(soc.mhz == 2000);
  CHECK(soc.cubeCores == 8);
  CHECK(!readSoc("name = empty\n", "f", *std::make_unique<SocTable>()).empty());
}
