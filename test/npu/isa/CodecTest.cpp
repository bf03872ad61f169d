//===-- CodecTest.cpp - bytes and proofs of programs ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include "npu/isa/Codec.h"
#include "npu/isa/ProgramBuilder.h"
#include "npu/isa/Verify.h"

#include <random>

using namespace atc::npu;

namespace {

Program randomProgram(std::mt19937_64 &random) {
  auto number = [&]() -> int64_t { return random() % 3 ? 0 : int64_t(random()) >> random() % 64; };
  auto affine = [&] {
    Affine value;
    value.base = number();
    for (int64_t &stride : value.strides)
      stride = number();
    return value;
  };
  Program program;
  program.vectorCore = random() % 2;
  for (uint32_t &size : program.grid)
    size = uint32_t(random() % 40);
  program.arguments = {random(), 0, random() % 1000};
  for (unsigned i = 0; i < 2 * kOpcodes; ++i) {
    Instruction in;
    in.opcode = Opcode(i % kOpcodes);
    in.line = i;
    in.guard.kind = Guard::Kind(random() % 5);
    in.guard.iv = in.guard.kind ? uint8_t(random() % kMaxIvs) : 0;
    const OpcodeInfo &info = infoOf(in.opcode);
    for (unsigned a = 0; a < info.addressCount; ++a) {
      in.addresses[a].memory = Memory(random() % kMemories);
      in.addresses[a].argument = uint8_t(random());
      if (random() % 2) {
        in.addresses[a].slots = uint8_t(random());
        in.addresses[a].slotBytes = number();
      }
      in.addresses[a].offset = affine();
    }
    for (unsigned r = 0; r < info.rangeCount; ++r)
      in.ranges[r] = range(affine(), number(), random() % 2 ? INT64_MAX : number());
    for (unsigned f = 0; f < info.fieldCount; ++f)
      in.fields[f] = number();
    program.code.push_back(in);
  }
  if (random() % 2) {
    for (uint32_t &size : program.vectorGrid)
      size = uint32_t(1 + random() % 40);
    program.vectorBegin = uint32_t(random() % program.code.size());
  }
  for (uint64_t count = random() % 3; count; --count)
    program.layers.push_back({uint32_t(random() % program.code.size()),
                              std::string(random() % 5, 'n'), "kernel", random()});
  return program;
}

bool same(const Affine &x, const Affine &y) {
  return x.base == y.base && std::equal(x.strides, x.strides + kMaxIvs, y.strides);
}

std::string only(const std::vector<std::string> &errorLines) {
  REQUIRE(errorLines.size() == 1);
  return errorLines.front();
}

const SocTable &soc() { return *findSoc("Ascend310P3"); }

} // namespace

TEST_CASE("programs come back from their bytes") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    Program program = randomProgram(random), back;
    std::string error;
    REQUIRE(decode(encode(program), back, error));
    REQUIRE(back.vectorCore == program.vectorCore);
    REQUIRE(std::equal(program.grid, program.grid + kGridDims, back.grid));
    REQUIRE(std::equal(program.vectorGrid, program.vectorGrid + kGridDims, back.vectorGrid));
    REQUIRE(back.vectorBegin == program.vectorBegin);
    REQUIRE(encode(program)[3] == (!program.layers.empty() ? 3 : program.isMixed() ? 2 : 1));
    REQUIRE(back.layers.size() == program.layers.size());
    for (size_t i = 0; i < program.layers.size(); ++i) {
      const Layer &x = program.layers[i], &y = back.layers[i];
      REQUIRE(std::tie(x.begin, x.name, x.kernel, x.macs) ==
              std::tie(y.begin, y.name, y.kernel, y.macs));
    }
    REQUIRE(back.arguments == program.arguments);
    REQUIRE(back.code.size() == program.code.size());
    for (size_t i = 0; i < program.code.size(); ++i) {
      const Instruction &x = program.code[i], &y = back.code[i];
      CAPTURE(infoOf(x.opcode).name);
      REQUIRE(x.opcode == y.opcode);
      REQUIRE(x.line == y.line);
      REQUIRE(x.guard.kind == y.guard.kind);
      REQUIRE(x.guard.iv == y.guard.iv);
      for (int a = 0; a < 4; ++a) {
        const Address &p = x.addresses[a], &q = y.addresses[a];
        REQUIRE(std::tie(p.memory, p.argument, p.slots, p.depth, p.slotBytes) ==
                std::tie(q.memory, q.argument, q.slots, q.depth, q.slotBytes));
        REQUIRE(same(p.offset, q.offset));
      }
      for (int r = 0; r < 3; ++r) {
        REQUIRE(same(x.ranges[r].start, y.ranges[r].start));
        REQUIRE(x.ranges[r].length == y.ranges[r].length);
        REQUIRE(x.ranges[r].limit == y.ranges[r].limit);
      }
      REQUIRE(std::equal(x.fields, x.fields + 18, y.fields));
    }
  }
}

TEST_CASE("broken bytes are refused or verified, never a crash") {
  std::mt19937_64 random(2);
  Program program;
  std::string error;
  std::vector<uint8_t> good = encode(randomProgram(random));
  const uint8_t version = good[3];
  for (size_t size = 0; size < good.size(); ++size)
    REQUIRE_FALSE(decode(good.data(), size, program, error));
  good[3] = 9;
  REQUIRE_FALSE(decode(good, program, error));
  CHECK(error == "NPU program of version 9, expected version 1 to 3");
  good[3] = version;
  // A program has no more layers than instructions, and no empty list of them.
  Program layered;
  layered.code.resize(1);
  layered.layers.resize(1);
  std::vector<uint8_t> bytes = encode(layered);
  CHECK(decode(bytes, program, error));
  layered.layers.resize(2);
  CHECK_FALSE(decode(encode(layered), program, error));
  CHECK(error.starts_with("no layers, or more than instructions,"));
  bytes.resize(bytes.size() - 4); // the layer and, in front of it, their number
  bytes.back() = 0;
  CHECK_FALSE(decode(bytes, program, error));
  // A name has at most kMaxNameBytes.
  layered.layers.resize(1);
  layered.layers[0].name.assign(kMaxNameBytes + 1, 'x');
  CHECK_FALSE(decode(encode(layered), program, error));
  CHECK(error.starts_with("broken layer"));
  unsigned accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<uint8_t> bytes = good;
    for (int i = 0; i < 3; ++i)
      bytes[random() % bytes.size()] = uint8_t(random());
    if (decode(bytes, program, error)) {
      ++accepted;
      CHECK_FALSE(verify(program, soc()).empty());
    }
  }
  CHECK(accepted > 0);
}

TEST_CASE("instructions are small") {
  ProgramBuilder builder;
  unsigned arg = builder.argument(1 << 20);
  size_t empty = encode(builder.get()).size();
  builder.loop(4, [&](Affine i) {
    builder.move(rotating(at(Memory::UB, 0), 2, 4096, 1), gm(arg, i * 4096), 4096);
    builder.vector(VectorOp::Add, DataType::F16, at(Memory::UB, 8192), at(Memory::UB, 0),
                   at(Memory::UB, 4096), 128);
    builder.mmad(DataType::F16, at(Memory::L0C, 0), at(Memory::L0A, 0), at(Memory::L0B, 0), 64, 64,
                 64);
  });
  CHECK((encode(builder.get()).size() - empty) / 5 <= 32);
  CHECK(verify(builder.get(), soc()).empty());
}

TEST_CASE("the verifier names each error") {
  auto check = [](auto write) {
    ProgramBuilder builder({8, 1, 1});
    builder.argument(8 * 4096);
    write(builder);
    return only(verify(builder.get(), soc()));
  };
  using B = ProgramBuilder;
  CHECK(check([](B &b) { b.move(at(Memory::UB, 262144 - 32), gm(0), 64); }) ==
        "instruction 0 (move): dst covers bytes 262112 to 262176 of ub, which has 262144");
  CHECK(check([](B &b) { b.move(at(Memory::UB, 0), gm(0, grid(0) * 4096), 4128); }) ==
        "instruction 0 (move): src covers bytes 28672 to 32800 of gm, which has 32768");
  CHECK(check([](B &b) { b.move(at(Memory::UB, 8), gm(0), 64); }) ==
        "instruction 0 (move): dst lies at byte 8 of ub, which must be a multiple of 32");
  CHECK(check([](B &b) { b.move(at(Memory::L0A, 0), gm(0), 64); }) ==
        "instruction 0 (move): dst is in l0a, it must be in gm or l1 or ub or bt");
  CHECK(check([](B &b) { b.move(gm(0), at(Memory::L1, 0), 64); }) ==
        "instruction 0 (move): cannot go from l1 to gm");
  CHECK(check([](B &b) { b.move(at(Memory::UB, 0), gm(3), 64); }) ==
        "instruction 0 (move): src is in argument 3 of 1");
  CHECK(check([](B &b) { b.move(at(Memory::UB, ivValue(3, 32)), gm(0), 64); }) ==
        "instruction 0 (move): dst uses iv 3 outside its loop");
  CHECK(check([](B &b) { b.setFlag(Queue::V, Queue::MTE3, 8); }) ==
        "instruction 0 (set_flag): flag ids are 0 .. 7");
  CHECK(check([](B &b) { b.add(Opcode::Signal, {}, {}, {0, 16}); }) ==
        "instruction 0 (signal): events are 0 .. 15");
  CHECK(check([](B &b) { b.add(Opcode::LoopEnd); }) == "instruction 0 (end_loop): ends no loop");
  CHECK(check([](B &b) { b.add(Opcode::LoopBegin, {}, {}, {3}); }) == "1 loops are not ended");
}

TEST_CASE("cut ranges and guards are proved") {
  ProgramBuilder builder;
  unsigned arg = builder.argument(100 * 32);
  builder.loop(4, [&](Affine i) {
    // Rows -1 + 30 i .. 32 of 100: cut in front and behind.
    builder.add(Opcode::Move, {at(Memory::UB, 0), gm(arg, i * 960 - 32)},
                {range(1), range(i * 30 - 1, 32, 100), range(32)}, {0, 32, 0, 32});
  });
  CHECK(verify(builder.get(), soc()).empty());
  Program wrong = builder.get();
  wrong.code[1].ranges[Move::inner].limit = 101;
  CHECK_FALSE(verify(wrong, soc()).empty());
  wrong.code[1].guard.kind = Guard::NotLast;
  wrong.code[1].guard.iv = kGridDims;
  CHECK(verify(wrong, soc()).empty());
}
