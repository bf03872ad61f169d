//===-- HazardsTest.cpp - accesses that nothing orders are found ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include "npu/isa/ProgramBuilder.h"
#include "npu/simulator/Hazards.h"

using namespace atc::npu;

namespace {

using B = ProgramBuilder;
using Q = Queue;

std::vector<Hazard> check(const Program &program, std::vector<uint64_t> addresses = {}) {
  Launch launch{&program, "k", addresses, {}};
  return HazardChecker(*findSoc("Ascend310P3")).check(launch);
}

std::string texts(const Program &program, std::vector<uint64_t> addresses = {}) {
  std::string all;
  for (const Hazard &hazard : check(program, addresses))
    all += hazard.text + "\n";
  return all;
}

Address ub(int64_t offset) { return at(Memory::UB, offset); }
void relu(B &b, Address to, Address from, int64_t lanes) {
  b.vector(VectorOp::Relu, DataType::F16, to, from, from, lanes);
}
void flag(B &b, Q from, Q to, unsigned id = 0) {
  b.setFlag(from, to, id);
  b.waitFlag(from, to, id);
}

/// x to ub, relu, to y; without the flag pair number `missing`.
std::string chain(unsigned missing) {
  B b;
  unsigned x = b.argument(4096), y = b.argument(4096);
  b.move(ub(0), gm(x), 512);
  if (missing != 0)
    flag(b, Q::MTE2, Q::V);
  relu(b, ub(0), ub(0), 256);
  if (missing != 1)
    flag(b, Q::V, Q::MTE3);
  b.move(gm(y), ub(0), 512);
  if (missing != 2)
    flag(b, Q::MTE3, Q::MTE2);
  b.move(ub(0), gm(x), 512);
  return texts(b.get());
}

/// Tiles through `buffers` buffers in turn, as many raises in front.
Program tiles(unsigned buffers, unsigned raised, int64_t count, uint32_t cores) {
  B b({cores, 1, 1});
  unsigned x = b.argument(1 << 24), y = b.argument(1 << 24);
  for (unsigned i = 0; i < raised; ++i)
    b.setFlag(Q::MTE3, Q::MTE2, i);
  b.loop(count, [&](Affine i) {
    Address tile = rotating(ub(0), buffers, 6400, 1);
    Affine position = i * 6400 + grid(0) * (6400 * count);
    b.waitFlag(Q::MTE3, Q::MTE2, 0, raised, 1);
    b.move(tile, gm(x, position), 6400);
    b.setFlag(Q::MTE2, Q::V, 0, raised, 1);
    b.waitFlag(Q::MTE2, Q::V, 0, raised, 1);
    relu(b, tile, tile, 3200);
    b.setFlag(Q::V, Q::MTE3, 0, raised, 1);
    b.waitFlag(Q::V, Q::MTE3, 0, raised, 1);
    b.move(gm(y, position), tile, 6400);
    b.setFlag(Q::MTE3, Q::MTE2, 0, raised, 1);
  });
  for (unsigned i = 0; i < raised; ++i)
    b.waitFlag(Q::MTE3, Q::MTE2, i);
  return b.take();
}

} // namespace

TEST_CASE("every missing flag of a chain is named") {
  CHECK(chain(9) == "");
  CHECK(chain(0) ==
        "launch `k`: nothing orders that vector (line 1, core 0 V) reads ub bytes 0 to 512 after "
        "move (line 0, core 0 MTE2) writes it\n"
        "launch `k`: nothing orders that vector (line 1, core 0 V) writes ub bytes 0 to 512 after "
        "move (line 0, core 0 MTE2) writes it\n");
  CHECK(chain(1) ==
        "launch `k`: nothing orders that move (line 4, core 0 MTE3) reads ub bytes 0 to 512 after "
        "vector (line 3, core 0 V) writes it\n"
        "launch `k`: nothing orders that move (line 7, core 0 MTE2) writes ub bytes 0 to 512 after "
        "vector (line 3, core 0 V) writes it\n");
  CHECK(chain(2) ==
        "launch `k`: nothing orders that move (line 7, core 0 MTE2) writes ub bytes 0 to 512 after "
        "vector (line 3, core 0 V) writes it\n"
        "launch `k`: nothing orders that move (line 7, core 0 MTE2) writes ub bytes 0 to 512 after "
        "move (line 6, core 0 MTE3) reads it\n");
}

TEST_CASE("buffers in turn are right with as many flags, wrong with more") {
  CHECK(texts(tiles(1, 1, 10, 8)) == "");
  CHECK(texts(tiles(2, 2, 10, 8)) == "");
  CHECK(texts(tiles(4, 4, 9, 1)) == "");
  std::string wrong = texts(tiles(2, 3, 10, 1));
  CHECK(wrong ==
        "launch `k`: nothing orders that move (line 5, core 0 MTE2, loops 2) writes ub bytes 0 to "
        "6400 after vector (line 8, core 0 V, loops 0) writes it; 8 times\n"
        "launch `k`: nothing orders that move (line 5, core 0 MTE2, loops 2) writes ub bytes 0 to "
        "6400 after move (line 11, core 0 MTE3, loops 0) reads it; 8 times\n");
}

TEST_CASE("the scalar unit and barriers order what is issued after them") {
  auto program = [](int how) {
    B b;
    unsigned x = b.argument(4096);
    b.move(ub(0), gm(x), 64);
    if (how == 0)
      b.pipeBarrier(Q::S);
    if (how == 1)
      flag(b, Q::MTE2, Q::S);
    if (how == 2)
      b.pipeBarrier(Q::MTE2);
    relu(b, ub(64), ub(0), 32);
    return texts(b.get());
  };
  CHECK(program(0) == "");
  CHECK(program(1) == "");
  CHECK(program(2) ==
        "launch `k`: nothing orders that vector (line 2, core 0 V) reads ub bytes 0 to 64 after "
        "move (line 0, core 0 MTE2) writes it\n");
}

TEST_CASE("a flag that is raised before its reason does not order it") {
  B b;
  unsigned x = b.argument(4096);
  b.setFlag(Q::MTE2, Q::V, 0);
  b.move(ub(0), gm(x), 64);
  b.waitFlag(Q::MTE2, Q::V, 0);
  relu(b, ub(64), ub(0), 32);
  CHECK(check(b.get()).size() == 1);
}

TEST_CASE("an await on the scalar unit does not order what waits in a queue already") {
  // The move is issued before S waits for V, but runs after its own flag.
  B b;
  unsigned x = b.argument(4096);
  b.waitFlag(Q::V, Q::MTE2, 0);
  b.move(ub(0), gm(x), 64); // waits in its queue
  relu(b, ub(0), ub(1024), 32);
  b.setFlag(Q::V, Q::S, 0);
  b.waitFlag(Q::V, Q::S, 0);
  b.setFlag(Q::MTE1, Q::MTE2, 0);
  b.setFlag(Q::V, Q::MTE2, 0);
  std::vector<Hazard> found = check(b.get());
  REQUIRE(found.size() == 2); // the operand of relu is not written, the flag of MTE1 left up
  CHECK(found[0].kind == Hazard::Uninitialised);
  CHECK(found[1].kind == Hazard::FlagLeftUp);
}

TEST_CASE("what nobody wrote, and flags that do not match") {
  B b;
  b.argument(4096);
  relu(b, ub(64), ub(0), 16);
  b.setFlag(Q::V, Q::MTE3, 1);
  b.setFlag(Q::V, Q::MTE3, 1);
  b.waitFlag(Q::V, Q::MTE3, 1);
  CHECK(texts(b.get()) ==
        "launch `k`: vector (line 0, core 0 V) reads ub bytes 0 to 32, which this launch has not "
        "written\n"
        "launch `k`: set_flag (line 2) raises flag V -> MTE3 id 1, which nothing makes sure is "
        "down\n"
        "launch `k`: set_flag (line 2) leaves flag V -> MTE3 id 1 up\n");
  B hangs({2, 1, 1});
  hangs.waitFlag(Q::V, Q::MTE3, 1);
  CHECK(texts(hangs.get()) ==
        "launch `k`: wait_flag (line 0) is never passed on core 0; 2 times\n");
}

TEST_CASE("the rest of a buffer whose edge is cut counts only if asked") {
  B b;
  unsigned x = b.argument(100);
  b.loop(4, [&](Affine i) {
    b.add(Opcode::Move, {ub(0), gm(x, i * 32)}, {range(1), range(1), range(i * 32, 32, 100)});
    b.pipeBarrier(Q::S);
    relu(b, at(Memory::UB, i * 64 + 512), ub(0), 16);
    relu(b, at(Memory::UB, i * 64 + 1024), ub(32), 16);
    b.pipeBarrier(Q::S);
  });
  std::string always = "launch `k`: vector (line 4, core 0 V, loops 0) reads ub bytes 32 to 64, "
                       "which this launch has not written; 4 times\n";
  CHECK(texts(b.get()) == always);
  b.loop(2, [&](Affine i) {
    relu(b, ub(2048), at(Memory::UB, i * 32 + 1136), 16);
    b.pipeBarrier(Q::V);
  });
  CHECK(texts(b.get()) == always);
  HazardChecker checker(*findSoc("Ascend310P3"));
  checker.partlyWritten = true;
  std::vector<Hazard> found = checker.check({&b.get(), "k", {}, {}});
  REQUIRE(found.size() == 2);
  CHECK(found[1].text == "launch `k`: vector (line 8, core 0 V, loops 0) reads ub bytes 1136 to "
                         "1152, which this launch has not written; 2 times");
}

TEST_CASE("dependent instructions of the vector queue need a barrier") {
  auto pair = [](Address to, Address from, bool hasBarrier) {
    B b;
    unsigned x = b.argument(512);
    b.move(ub(0), gm(x), 512);
    flag(b, Q::MTE2, Q::V);
    relu(b, ub(512), ub(0), 256);
    if (hasBarrier)
      b.pipeBarrier(Q::V);
    relu(b, to, from, 256);
    return texts(b.get());
  };
  const std::string end = ": the queue needs a pipe_barrier between them\n";
  CHECK(pair(ub(1024), ub(512), false) ==
        "launch `k`: nothing orders that vector (line 4, core 0 V) reads ub bytes 512 to 1024 "
        "after vector (line 3, core 0 V) writes it" +
            end);
  CHECK(pair(ub(512), ub(0), false).ends_with("writes it" + end));
  CHECK(pair(ub(0), ub(0), false).ends_with("reads it" + end));
  CHECK(pair(ub(1024), ub(0), false) == ""); // independent
  CHECK(pair(ub(1024), ub(512), true) == "");
  CHECK(pair(ub(512), ub(0), true) == "");
  CHECK(pair(ub(0), ub(0), true) == "");
}
TEST_CASE("rows are gathered by indices that have arrived") {
  auto gather = [](bool hasBarrier, int64_t indices) {
    B b;
    unsigned table = b.argument(4096), list = b.argument(64);
    b.move(ub(512), gm(list), 64);
    b.move(ub(1024), gm(list), 64);
    flag(b, Q::MTE2, Q::V);
    flag(b, Q::V, Q::MTE2);
    b.move(ub(512), gm(list), 64);
    if (hasBarrier)
      b.pipeBarrier(Q::MTE2);
    b.add(Opcode::GatherRows, {ub(0), gm(table), ub(indices)}, {range(8), range(32)},
          {100, 32, 32, 4});
    return texts(b.get());
  };
  CHECK(gather(false, 512) ==
        "launch `k`: nothing orders that gather_rows (line 7, core 0 MTE2) reads ub bytes 512 to "
        "544 after move (line 6, core 0 MTE2) writes it: the queue needs a pipe_barrier between "
        "them\n");
  CHECK(gather(true, 512) == "");
  CHECK(gather(false, 1024) == ""); // a flag to another queue and back
}

TEST_CASE("flags to another queue and back order the vector queue") {
  for (bool goesBack : {true, false}) {
    B b;
    unsigned x = b.argument(512), y = b.argument(512);
    b.move(ub(0), gm(x), 512);
    flag(b, Q::MTE2, Q::V);
    relu(b, ub(512), ub(0), 256);
    flag(b, Q::V, Q::MTE3);
    b.move(gm(y), ub(512), 512);
    if (goesBack)
      flag(b, Q::MTE3, Q::V);
    relu(b, ub(0), ub(512), 256);
    CHECK((texts(b.get()) == "") == goesBack);
  }
}

TEST_CASE("a flag raised again once the wait before is known") {
  // set, wait, set without anything going back: up twice if `to` is late.
  B b;
  flag(b, Q::V, Q::MTE3);
  flag(b, Q::V, Q::MTE3);
  CHECK(texts(b.get()) ==
        "launch `k`: set_flag (line 2) raises flag V -> MTE3 id 0, which nothing makes sure is "
        "down\n");
  B good;
  flag(good, Q::V, Q::MTE3);
  flag(good, Q::MTE3, Q::V);
  flag(good, Q::V, Q::MTE3);
  CHECK(texts(good.get()) == "");
}

TEST_CASE("cube and vector cores of a launch meet in gm only through signals") {
  auto program = [](int64_t awaited) {
    B b({4, 1, 1});
    unsigned x = b.argument(1 << 16), y = b.argument(1 << 16);
    b.move(ub(0), gm(x, grid(0) * 512), 512);
    flag(b, Q::MTE2, Q::MTE3);
    b.move(gm(y, grid(0) * 512), ub(0), 512);
    b.add(Opcode::Signal, {}, {}, {int64_t(Q::MTE3), 2});
    b.onVectorCores({2, 1, 1});
    if (awaited)
      b.add(Opcode::Await, {}, {range(constant(awaited), 1)}, {int64_t(Q::MTE2), 2});
    b.move(ub(512), gm(y), 2048);
    return b.take();
  };
  auto found = [&](int64_t awaited) {
    const Program mixed = program(awaited);
    Launch launch{&mixed, "k", {}, {}};
    return HazardChecker(*findSoc("Ascend910B1")).check(launch);
  };
  CHECK(found(4).empty());
  for (int64_t awaited : {0, 3}) {
    const std::vector<Hazard> hazards = found(awaited);
    REQUIRE(hazards.size() == 1);
    CHECK(hazards.front().kind == Hazard::ReadAfterWrite);
    CHECK(hazards.front().count == 8); // each of 2 readers after each of 4 writers
  }
  REQUIRE(found(5).size() == 1);
  CHECK(found(5).front().kind == Hazard::NeverSatisfied);
  CHECK(found(5).front().count == 2);
}

TEST_CASE("cores meet in gm only through signals") {
  auto program = [](int64_t step, int64_t awaited) {
    B b({4, 1, 1});
    unsigned x = b.argument(1 << 16), y = b.argument(1 << 16);
    b.move(ub(0), gm(x, grid(0) * 512), 512);
    flag(b, Q::MTE2, Q::MTE3);
    b.move(gm(y, grid(0) * step), ub(0), 512);
    if (awaited) {
      b.add(Opcode::Signal, {}, {}, {int64_t(Q::MTE3), 2});
      b.add(Opcode::Await, {}, {range(constant(awaited), 1)}, {int64_t(Q::MTE2), 2});
    }
    b.move(ub(512), gm(y), 2048);
    return b.take();
  };
  CHECK(texts(program(512, 4)) == "");
  CHECK(check(program(512, 3)).size() == 2);
  CHECK(texts(program(256, 4)) ==
        "launch `k`: nothing orders that move (line 3, core 1 MTE3) writes gm argument 1 bytes 256 "
        "to 512 after move (line 3, core 0 MTE3) writes it; 3 times\n");
  std::vector<Hazard> found = check(program(512, 0));
  REQUIRE(found.size() == 3); // on the same core, other cores after and before
  CHECK(found[0].text == "launch `k`: nothing orders that move (line 4, core 0 MTE2) reads gm "
                         "argument 1 bytes 0 to 512 after move (line 3, core 0 MTE3) writes it; "
                         "4 times");
  CHECK(found[1].text == "launch `k`: nothing orders that move (line 3, core 1 MTE3) writes gm "
                         "argument 1 bytes 512 to 1024 after move (line 4, core 0 MTE2) reads it; "
                         "6 times");
}

TEST_CASE("all cores wait for each other again and again") {
  auto program = [](int64_t behind) {
    B b({4, 1, 1});
    unsigned y = b.argument(1 << 16);
    b.vector(VectorOp::Fill, DataType::F16, ub(0), ub(0), ub(0), 256, 1);
    flag(b, Q::V, Q::MTE3);
    b.loop(5, [&](Affine i) {
      b.move(gm(y, grid(0) * 512), ub(0), 512);
      b.add(Opcode::Signal, {}, {}, {int64_t(Q::MTE3), 0});
      b.add(Opcode::Await, {}, {range(i * 4 + (4 - behind), 1)}, {int64_t(Q::MTE2), 0});
      b.move(ub(512), gm(y), 2048);
      b.add(Opcode::Signal, {}, {}, {int64_t(Q::MTE2), 1});
      b.add(Opcode::Await, {}, {range(i * 4 + 4, 1)}, {int64_t(Q::MTE3), 1});
    });
    return b.take();
  };
  CHECK(texts(program(0)) == "");
  CHECK_FALSE(check(program(1)).empty());
}

TEST_CASE("arguments that overlap on the device are one memory") {
  B b;
  unsigned x = b.argument(4096), y = b.argument(4096);
  b.move(ub(0), gm(x, 1024), 512);
  b.vector(VectorOp::Fill, DataType::F16, ub(512), ub(0), ub(0), 256, 1);
  flag(b, Q::V, Q::MTE3);
  b.move(gm(y), ub(512), 512);
  CHECK(texts(b.get()) == "");
  CHECK(texts(b.get(), {0, 4096}) == "");
  CHECK(texts(b.get(), {0, 1024}) ==
        "launch `k`: nothing orders that move (line 4, core 0 MTE3) writes gm argument 1 bytes 0 "
        "to 512 after move (line 0, core 0 MTE2) reads it\n");
}

TEST_CASE("an mmad that starts afresh reads no l0c") {
  auto program = [](bool accumulate) {
    B b;
    unsigned x = b.argument(4096);
    b.move(at(Memory::L1, int64_t(0)), gm(x), 2048);
    flag(b, Q::MTE2, Q::MTE1);
    for (Memory memory : {Memory::L0A, Memory::L0B})
      b.add(Opcode::Load2D, {at(memory, int64_t(0)), at(Memory::L1, int64_t(0))},
            {range(1), range(2)}, {0, 512, 0, 512});
    flag(b, Q::MTE1, Q::M);
    b.loop(2, [&](Affine) {
      b.mmad(DataType::F16, at(Memory::L0C, int64_t(0)), at(Memory::L0A, int64_t(0)),
             at(Memory::L0B, int64_t(0)), 16, 16, 16, accumulate)
          .fields[Mmad::first] = 1 << kGridDims;
    });
    return texts(b.get());
  };
  CHECK(program(false) == "");
  CHECK(program(true) == "launch `k`: mmad (line 8, core 0 M, loops 0) reads l0c bytes 0 to 1024, "
                         "which this launch has not written\n");
}

TEST_CASE("long launches are walked to a limit") {
  Program program = tiles(2, 2, 1000, 8);
  HazardChecker checker(*findSoc("Ascend310P3"));
  checker.maxSteps = 5000;
  std::vector<Hazard> found = checker.check({&program, "k", {}, {}});
  REQUIRE(found.size() == 1);
  CHECK(found[0].text == "launch `k`: not looked at to its end: more than 5000 steps");
}
