//===-- LimitsTest.cpp - what a program of the NPU may ask for ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include "npu/device/Device.h"
#include "npu/isa/Codec.h"
#include "npu/isa/Disassemble.h"
#include "npu/isa/ProgramBuilder.h"
#include "npu/isa/Verify.h"
#include "npu/simulator/Hazards.h"
#include "test/npu/PlainSoc.h"

using namespace atc::npu;

namespace {

using B = ProgramBuilder;
using Errors = std::vector<std::string>;

const SocTable &coupled() { return *findSoc("Ascend310P3"); }

Errors table(const std::string &lines) {
  SocTable soc;
  return readSoc("base = Ascend310P3\n" + lines, "soc", soc);
}

Errors verified(const std::function<void(B &)> &write, const SocTable &soc = coupled()) {
  B b({8, 1, 1});
  b.argument(1 << 20);
  write(b);
  return verify(b.get(), soc);
}

Address ub(int64_t offset = 0) { return at(Memory::UB, offset); }

Instruction opcode(Opcode code) {
  Instruction in;
  in.opcode = code;
  return in;
}

} // namespace

TEST_CASE("every property of a table has its range") {
  unsigned count = 0;
  auto check = [&](SocKind kind, const std::string &key, auto property) {
    const SocKindInfo &info = infoOf(kind);
    INFO(key << ": " << info.expected());
    ++count;
    auto text = [&](double value) {
      return info.whole ? std::to_string(uint64_t(value)) : std::to_string(value);
    };
    std::string start = "soc:2: `", end = "` is no value for `" + key + "`: expected ";
    for (const std::string &value :
         {text(info.high * 2), std::string("18446744073709551615"), std::string("1e300"),
          std::string("-1"), std::string("nan"), std::string("inf"), std::string("0x10")})
      CHECK(table(key + " = " + value + "\n") == Errors{start + value + end + info.expected()});
    if (info.low > 0)
      for (const char *value : {"0", "0.00000001"})
        CHECK(table(key + " = " + value + "\n") == Errors{start + value + end + info.expected()});
    if (info.powerOfTwo)
      CHECK(table(key + " = 96\n").size() == 1);
    CHECK(info.allows(info.low));
    CHECK(info.allows(info.high));
    // Every built-in table is inside.
    for (const SocTable &soc : allSocs())
      CHECK(info.allows(double(soc.*property)));
  };
#define SOC_PROPERTY(kind, key, ...) check(SocKind::kind, #key, &SocTable::key);
#include "npu/soc/Soc.def"
  CHECK(count > 50);
  CHECK(infoOf(SocKind::Cores).expected() == "a whole number from 1 to 1024");
  CHECK(infoOf(SocKind::Alignment).expected() == "a power of two from 32 to 4096");
  CHECK(infoOf(SocKind::Rate).expected() == "a number from 0.0009765625 to 1048576");
}

TEST_CASE("values of a table are limited together") {
  CHECK(table("cubeCores = 1024\nl1Bytes = 1048576\n") ==
        Errors{"soc:4: cores x (l1Bytes + l0aBytes + l0bBytes + l0cBytes + ubBytes + btBytes) is "
               "1745879040, more than 1073741824"});
  CHECK(table("vectorCores = 1024\nl1Bytes = 262144\nqueueDepth = 33\n") ==
        Errors{"soc:5: cores x queueDepth is 33792, more than 32768"});
  CHECK(table("l2Bytes = 4294967296\n") ==
        Errors{"soc:3: l2Bytes / l2Line is 8388608, more than 4194304"});
  CHECK(table("l2Bytes = 4294967296\nl2Line = 1024\nl2Ways = 16384\n").empty());
  // An L2 that is too small for one set is none.
  SocTable soc;
  REQUIRE(readSoc("base = Ascend310P3\nl2Bytes = 100\nl2Ways = 16384\n", "soc", soc).empty());
  B b;
  b.move(ub(), gm(b.argument(4096)), 4096);
  Simulator simulator(soc);
  std::string error;
  CHECK(simulator.run({&b.get(), "k", {0}, {}}, error));
}

TEST_CASE("a table of nonsense is given up soon") {
  std::string lines;
  for (int i = 0; i < 20000; ++i)
    lines += "a" + std::to_string(i) + "\n";
  CHECK(table(lines).size() == 100);
  SocTable soc;
  CHECK(readSoc(std::string(1 << 16, '=') + "\n", "soc", soc).size() == 1);
}

TEST_CASE("programs with too many instructions or arguments are not decoded") {
  Program program;
  program.code.assign(size_t(Limits::MaxInstructions), opcode(Opcode::LoopEnd));
  std::string error;
  Program read;
  REQUIRE(decode(encode(program), read, error));
  program.code.push_back(opcode(Opcode::LoopEnd));
  CHECK_FALSE(decode(encode(program), read, error));
  CHECK(error == "has 65537 instructions, more than 65536");
  CHECK(read.code.empty());
  CHECK(verify(program, coupled()) == Errors{"65537 instructions, more than 65536"});
  program.code.clear();
  program.arguments.assign(257, 1);
  CHECK_FALSE(decode(encode(program), read, error));
  CHECK(error == "has 257 arguments, more than 256");
  CHECK(verify(program, coupled()) == Errors{"257 arguments, more than 256"});
}

TEST_CASE("programs of a model share a budget") {
  B b;
  unsigned x = b.argument(4096);
  for (int i = 0; i < 1000; ++i)
    b.move(ub(), gm(x), 16);
  VerifyBudget budget;
  budget.instructions = 2500;
  CHECK(verify(b.get(), coupled(), budget).empty());
  CHECK(verify(b.get(), coupled(), budget).empty());
  CHECK(budget.instructions == 500);
  CHECK(verify(b.get(), coupled(), budget) ==
        Errors{"all programs of a model together have more than 262144 instructions"});

  // Bounds prove nothing about 4 x 250 iterations of a multi-buffered address.
  B turns;
  x = turns.argument(64 * 1000);
  turns.loop(4, [&](Affine i) {
    turns.loop(250, [&](Affine j) {
      Address tile = rotating(at(Memory::UB, i * -64 + 192), 3, 64, 1);
      turns.move(tile, gm(x, i * 16000 + j * 64), 64);
    });
  });
  Program tight = turns.take();
  SocTable soc = coupled();
  soc.ubBytes = 256;
  budget = VerifyBudget();
  budget.points = 2500;
  CHECK(verify(tight, soc, budget).empty());
  CHECK(budget.points == 1500);
  CHECK(verify(tight, soc, budget).empty());
  Errors errors = verify(tight, soc, budget);
  REQUIRE(errors.size() == 1);
  CHECK(errors[0] == "instruction 2 (move): dst may cover bytes 0 to 384 of ub, which has 256; its "
                     "many iterations were not looked at");
}

TEST_CASE("what one program costs is limited") {
  // Strides of 0 repeat a small memory.
  CHECK(verified([](B &b) {
          b.add(Opcode::Vector, {ub(), ub(), ub(), ub()},
                {range(1 << 16), range(1 << 16), range(16)},
                {int64_t(VectorOp::Copy), 10, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 32, 32});
        }) == Errors{"instruction 0 (vector): goes over 68719476736 elements at once, more than "
                     "1073741824"});
  // ... and channels and the width of an image are no ranges.
  CHECK(verified([](B &b) {
          b.add(Opcode::LoadImage, {at(Memory::L1, 0), gm(0)}, {range(1 << 20)},
                {int64_t(DataType::U8), 1, 1024, 16, 0, 0, 0});
        }) ==
        Errors{"instruction 0 (load_image): goes over 17179869184 elements at once, more than "
               "1073741824"});
  // An l0a whose rows all lie at one position.
  CHECK(verified([](B &b) {
          b.add(Opcode::Mmad,
                {at(Memory::L0C, 0), at(Memory::L0A, 0), at(Memory::L0B, 0), at(Memory::BT, 0)},
                {range(4096), range(16), range(8192)}, {int64_t(DataType::F16), 0, 0, 0, 0, 0, 0});
        }) == Errors{"instruction 0 (mmad): has a left operand of 33816576 elements, more than "
                     "16777216"});
  CHECK(verified([](B &b) {
          b.loop(1 << 20, [&](Affine) { b.add(Opcode::Signal, {}, {}, {int64_t(Queue::V), 0}); });
        }) == Errors{"gives 8388608 signals on all cores, more than 1048576"});
  CHECK(verified([](B &b) {
          b.loop(1 << 20, [&](Affine) {
            b.loop(64, [&](Affine) {
              b.add(Opcode::Move, {ub(), gm(0)}, {range(1 << 11), range(1 << 10), range(512)});
            });
          });
        }) ==
        Errors{"works on 576460752303423488 elements on all cores, more than 281474976710656"});
  // Loops around nothing.
  Errors errors = verified([](B &b) {
    b.loop(1 << 20, [&](Affine) { b.loop(1 << 13, [&](Affine) { b.pipeBarrier(Queue::V); }); });
  });
  REQUIRE(errors.size() == 1);
  CHECK(errors[0] == "instruction 1 (loop): runs more than 4294967296 instructions with the loops "
                     "around it");
}

TEST_CASE("an image without channels is refused") {
  // Its boxes would have no rows: the simulator's sums of bytes became negative.
  CHECK(verified([](B &b) {
          b.add(Opcode::LoadImage, {at(Memory::L1, 0), gm(0)}, {range(2)},
                {int64_t(DataType::U8), 0, 16, 4, 256, 64, 128});
        }) == Errors{"instruction 0 (load_image): takes 1 to c0 <= 16 channels"});
}

TEST_CASE("errors beyond a hundred are counted") {
  Errors errors = verified([](B &b) {
    for (int i = 0; i < 1000; ++i)
      b.move(ub(), gm(7), 16);
  });
  REQUIRE(errors.size() == 101);
  CHECK(errors[99] == "instruction 99 (move): src is in argument 7 of 1");
  CHECK(errors[100] == "900 more errors");
}

TEST_CASE("a program that runs too long is ended, and the next one runs") {
  SocTable soc = plainSoc();
  B b;
  unsigned x = b.argument(64), y = b.argument(64);
  b.loop(10, [&](Affine) {
    b.move(ub(), gm(x), 64);
    b.setFlag(Queue::MTE2, Queue::MTE3, 0);
    b.waitFlag(Queue::MTE2, Queue::MTE3, 0);
    b.move(gm(y), ub(), 64);
    b.pipeBarrier(Queue::S);
  });
  REQUIRE(verify(b.get(), soc).empty());
  std::vector<uint8_t> from(64, 5), to(64, 0);
  DeviceLaunch launch;
  launch.program = &b.get();
  launch.name = "k";
  launch.data = {from.data(), to.data()};
  launch.addresses = {0, 4096};
  // The loop's begin, and in each round five instructions and its end.
  for (uint64_t allowed : {0u, 1u, 30u, 60u, 61u}) {
    Device device(soc, {});
    device.allowInstructions(allowed);
    std::string error;
    CHECK(device.run(launch, error) == (allowed == 61));
    if (allowed < 61)
      CHECK(error == "launch `k` was ended: no more instructions are allowed to run\n");
    std::fill(to.begin(), to.end(), uint8_t(0));
    device.allowInstructions(61);
    error.clear();
    CHECK(device.run(launch, error));
    CHECK(error.empty());
    CHECK(to == from);
    CHECK(device.simulator().launches().size() == 1u + (allowed == 61));
  }
}

TEST_CASE("the DMA's queue has an end") {
  SocTable soc = coupled();
  soc.l2Prefetch = 1;
  SharedMemory memory(soc);
  for (int i = 0; i < 5000; ++i)
    memory.prefetch({uint64_t(i) * 512, 512});
  CHECK(memory.waitingBytes() == 4096 * 512);
  SharedMemory wide(soc);
  wide.prefetch({0, uint64_t(1) << 46});
  CHECK(wide.waitingBytes() == 0);
  wide.prefetch({0, uint64_t(1) << 35});
  wide.prefetch({0, 512});
  CHECK(wide.waitingBytes() == uint64_t(1) << 35);
}

TEST_CASE("a check for hazards keeps no more than it may") {
  B b;
  unsigned x = b.argument(1 << 16);
  b.loop(1000, [&](Affine) {
    b.add(Opcode::Move, {ub(), gm(x)}, {range(1), range(1000), range(16)}, {0, 64, 0, 64});
  });
  HazardChecker checker(coupled());
  CHECK(checker.check({&b.get(), "k", {}, {}}).empty());
  checker.maxSteps = 10000; // a round touches 1000 runs
  auto text = [&] {
    std::vector<Hazard> found = checker.check({&b.get(), "k", {}, {}});
    return found.empty() ? std::string() : found.back().text;
  };
  CHECK(text() == "launch `k`: not looked at to its end: more than 10000 steps");
  checker.maxSteps = 1 << 28;
  checker.maxRecords = 500;
  CHECK(text() == "launch `k`: not looked at to its end: more than 500 records");
  checker.maxRecords = 1100; // the segments that they write over count once
  CHECK(text() == "");

  // Flags that are raised and never taken.
  B flags;
  flags.loop(100000, [&](Affine) { flags.setFlag(Queue::V, Queue::MTE3, 0); });
  CHECK(HazardChecker(coupled()).check({&flags.get(), "k", {}, {}}).front().kind ==
        Hazard::FlagRaisedTwice);
  checker.maxRecords = 1000;
  CHECK(checker.check({&flags.get(), "k", {}, {}}).back().kind == Hazard::TooLong);
}

TEST_CASE("the text of loops in loops is not quadratic") {
  Program program;
  program.code.assign(20000, opcode(Opcode::LoopBegin));
  CHECK(disassemble(program).size() < 20000 * 100);
  // Numbers of a program that nobody has verified.
  program.code.assign(1, opcode(Opcode::LoadImage));
  for (int64_t &field : program.code[0].fields)
    field = INT64_MAX;
  CHECK(disassemble(program).find("load_image") != std::string::npos);
}
