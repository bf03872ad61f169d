//===-- VerifyTest.cpp - what is proved of programs, and what it is worth -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include "npu/isa/Codec.h"
#include "npu/isa/ProgramBuilder.h"
#include "npu/isa/Proof.h"
#include "npu/isa/Verify.h"
#include "test/npu/AcceptedProgram.h"

#include <chrono>
#include <random>

using namespace atc::npu;
using namespace atc::npu::test;

namespace {

using B = ProgramBuilder;

const SocTable &coupled() { return *findSoc("Ascend310P3"); }
const SocTable &split() { return *findSoc("Ascend910B1"); }

Address ub(int64_t offset = 0) { return at(Memory::UB, offset); }

std::vector<std::string> errorLines(const std::function<void(B &)> &write,
                                    std::initializer_list<uint32_t> grid = {8, 1, 1}) {
  B b(grid);
  b.argument(100 * 64);
  write(b);
  return verify(b.get(), coupled());
}
std::string only(const std::function<void(B &)> &write,
                 std::initializer_list<uint32_t> grid = {8, 1, 1}) {
  std::vector<std::string> all = errorLines(write, grid);
  REQUIRE(all.size() == 1);
  return all.front();
}

} // namespace

TEST_CASE("programs that are right are accepted") {
  std::vector<Program> programs = goodPrograms();
  CHECK(outOfBounds(programs[0], coupled()) == 0);
  CHECK(outOfBounds(programs[1], coupled()) == 0);
  CHECK(outOfBounds(programs[2], split()) == 0);
  for (size_t i = 0; i < programs.size(); ++i)
    for (const std::string &errorText : verify(programs[i], i == 2 ? split() : coupled()))
      FAIL_CHECK(errorText);
}

TEST_CASE("no changed program is accepted that leaves its memory") {
  std::mt19937_64 random(3);
  std::vector<Program> programs = goodPrograms();
  unsigned accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    size_t which = random() % programs.size();
    std::vector<uint8_t> bytes = encode(programs[which]);
    for (uint64_t changes = 1 + random() % 3; changes--;)
      bytes[random() % bytes.size()] ^= uint8_t(1 << random() % 8);
    Program program;
    std::string error;
    if (!decode(bytes, program, error))
      continue;
    int outside = outOfBounds(program, which == 2 ? split() : coupled());
    if (outside > 0) {
      INFO("round " << round);
      REQUIRE(outside == 0);
    }
    accepted += outside == 0;
  }
  CHECK(accepted > 1000);
}

TEST_CASE("long loops are proved by bounds") {
  // 2 x 10^9 iterations, cut in front and behind, with buffers in turn.
  auto program = [](int64_t limit, int64_t border, unsigned slots) {
    return errorLines([=](B &b) {
      b.loop(2, [&](Affine) {
        b.loop(1000, [&](Affine) {
          b.loop(1000, [&](Affine i) {
            b.loop(1000, [&](Affine j) {
              b.add(Opcode::Move,
                    {rotating(ub(), slots, 32768, 4), gm(0, i * 640 + j * 64 + -64 * border)},
                    {range(1), range(i * 10 + j + -border, 512, limit), range(64)}, {0, 64, 0, 64});
            });
          });
        });
      });
    });
  };
  CHECK(program(100, 3, 8).empty());
  CHECK(program(100, 0, 8).empty());
  CHECK(program(101, 3, 8) ==
        std::vector<std::string>{"instruction 4 (move): src may cover bytes 0 to 6464 of gm, which "
                                 "has 6400; its many iterations were not looked at"});
  CHECK(program(100, 3, 9) ==
        std::vector<std::string>{"instruction 4 (move): dst may cover bytes 0 to 268736 of ub, "
                                 "which has 262144; its many iterations were not looked at"});
}

TEST_CASE("two cut ranges are proved together") {
  // A window of 12 x 12 around tiles of 10 x 10 of an image of 25 x 37 elements.
  auto program = [](int64_t rows, int64_t columns) {
    B b;
    unsigned x = b.argument(25 * 37 * 2);
    b.loop(4, [&](Affine i) {
      b.loop(5, [&](Affine j) {
        b.add(Opcode::Move, {ub(), gm(x, i * (10 * 37 * 2) + j * 20 + -76)},
              {range(1), range(i * 10 + -1, 12, rows), range(j * 20 + -2, 24, columns)},
              {0, 32, 0, 74});
      });
    });
    return verify(b.get(), coupled());
  };
  CHECK(program(25, 74).empty());
  CHECK_FALSE(program(26, 74).empty());
  CHECK_FALSE(program(25, 76).empty());
}

TEST_CASE("guards leave iterations out, and empty ranges whole instructions") {
  auto move = [](Guard::Kind kind) {
    return errorLines([=](B &b) {
      b.loop(5, [&](Affine i) { b.move(ub(), gm(0, i * 1600), 1600).guard = {kind, kGridDims}; });
    });
  };
  CHECK(move(Guard::NotLast).empty());
  CHECK(move(Guard::First).empty());
  CHECK(move(Guard::NotFirst) ==
        std::vector<std::string>{"instruction 1 (move): src covers bytes 6400 to 8000 of gm, which "
                                 "has 6400"});
  // More tiles than there are: the range is a condition.
  auto condition = [](int64_t limit) {
    return errorLines([=](B &b) {
      b.loop(1 << 20, [&](Affine i) {
        b.add(Opcode::Move, {ub(), gm(0, i * 1600)}, {range(i, 1, limit), range(1), range(1600)});
      });
    });
  };
  CHECK(condition(4).empty());
  CHECK_FALSE(condition(5).empty());
}

TEST_CASE("blocks of local memories must be aligned") {
  CHECK(only([](B &b) {
          b.add(Opcode::Move, {ub(), gm(0)}, {range(1), range(2), range(16)}, {0, 16, 0, 16});
        }) == "instruction 0 (move): dst has blocks at strides of bytes 16 of ub, which must be a "
              "multiple of 32");
  CHECK(only([](B &b) {
          b.loop(2, [&](Affine i) { b.move(at(Memory::UB, i * 8), gm(0), 16); });
        }) == "instruction 1 (move): dst moves by bytes 8 of ub, which must be a multiple of 32");
  CHECK(only([](B &b) {
          b.loop(2, [&](Affine) { b.move(rotating(ub(), 2, 8, 1), gm(0), 16); });
        }) == "instruction 1 (move): dst turns by bytes 8 of ub, which must be a multiple of 32");
  // With a single block, its stride has no effect.
  CHECK(errorLines([](B &b) {
          b.add(Opcode::Move, {ub(), gm(0)}, {range(1), range(1), range(16)}, {0, 16, 0, 16});
        }).empty());
}

TEST_CASE("residuals are bytes in ub, quantized images floats") {
  constexpr int64_t kS32 = int64_t(DataType::S32), kF32 = int64_t(DataType::F32);
  constexpr int64_t kU8 = int64_t(DataType::U8);
  Address l0c = at(Memory::L0C, int64_t(0)), l1 = at(Memory::L1, int64_t(0));
  auto added = [&](Address addend, int64_t type, int64_t columns = 32) {
    return errorLines([&](B &b) {
      b.add(Opcode::RequantizeAdd, {ub(), l0c, ub(), addend}, {range(16), range(columns)},
            {kS32, kU8, kU8, 0, 0, 0, type, 0, 0, 0, 0, 0, 1024, 32, 512});
    });
  };
  CHECK(added(ub(4096), kU8).empty());
  CHECK(added(l1, kU8) ==
        std::vector<std::string>{"instruction 0 (requantize_add): addend is in l1, it must be in "
                                 "ub"});
  CHECK(added(ub(), kF32) ==
        std::vector<std::string>{
            "instruction 0 (requantize_add): addendType is f32, it must be u8 or s8"});
  // Scales are where the unit that stores the result finds them.
  auto stored = [&](Address dst, Address scales) {
    return errorLines([&](B &b) {
      b.add(Opcode::Requantize, {dst, l0c, scales}, {range(16), range(32)},
            {kS32, kU8, kU8, 0, 0, 0, 1024, 32, 512});
    });
  };
  CHECK(stored(ub(4096), ub()).empty());
  CHECK(stored(ub(4096), l1) ==
        std::vector<std::string>{"instruction 0 (requantize): has its scales in ub where it writes "
                                 "to ub, in l1 where it writes to gm"});
  // The result's two blocks fit, those of the addend do not.
  int64_t end = int64_t(coupled().ubBytes) - 512;
  CHECK(added(ub(end), kU8).empty());
  CHECK(added(ub(end), kU8, 64) ==
        std::vector<std::string>{"instruction 0 (requantize_add): addend covers bytes " +
                                 std::to_string(end) + " to " + std::to_string(end + 1024) +
                                 " of ub, which has " + std::to_string(end + 512)});
  auto loaded = [&](DataType type) {
    return errorLines([&](B &b) {
      b.add(Opcode::LoadImage, {l1, gm(0)}, {range(2)},
            {int64_t(type), 3, 16, 4, 256, 64, 128, floatBits(0.5), 0, 0});
    });
  };
  CHECK(loaded(DataType::F32).empty());
  CHECK(loaded(DataType::U8) ==
        std::vector<std::string>{"instruction 0 (load_image): quantizes f32 and f16 only"});
  // Two rows of 16 interleaved pixels of 3 bytes end where the image does.
  auto interleaved = [&](int64_t row, int64_t pixel) {
    return errorLines([&](B &b) {
      b.add(Opcode::LoadImage, {l1, gm(0)}, {range(2)},
            {int64_t(DataType::U8), 3, 16, 4, 1, row, 128, 0, 0, 0, pixel});
    });
  };
  CHECK(interleaved(6352, 3).empty());
  CHECK(interleaved(6353, 3) ==
        std::vector<std::string>{"instruction 0 (load_image): src covers bytes 0 to 6401 of gm, "
                                 "which has 6400"});
  CHECK_FALSE(interleaved(6352, 4).empty());
  CHECK_FALSE(interleaved(6352, -3).empty());
  auto colours = [&](int64_t channels, int64_t width, int64_t chromaRows, int64_t limit) {
    return errorLines([&](B &b) {
      b.add(Opcode::LoadYuv, {l1, gm(0), gm(0)}, {range(constant(0), 4, limit)},
            {channels, width, 4, 64, chromaRows, 512, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    });
  };
  using Lines = std::vector<std::string>;
  CHECK(colours(3, 64, 100, 200).empty());
  CHECK(colours(4, 64, 100, 200) ==
        Lines{"instruction 0 (load_yuv): makes 1 to 3 channels of at most c0 <= 16"});
  CHECK(colours(3, 63, 2, 4) == Lines{"instruction 0 (load_yuv): has pairs of pixels"});
  CHECK(
      colours(3, 64, 2, 5) ==
      Lines{
          "instruction 0 (load_yuv): has rows below a limit, at most two for each row of chroma"});
  CHECK(colours(3, 64, 101, 200) ==
        Lines{"instruction 0 (load_yuv): chroma covers bytes 0 to 6464 of gm, which has 6400"});
}

TEST_CASE("tables of rows end in their memory, whatever the indices are") {
  auto gather = [](int64_t tableRows, int64_t srcRow, int64_t step) {
    return errorLines([=](B &b) {
      b.add(Opcode::GatherRows, {ub(), gm(0), ub(8192)}, {range(4), range(32)},
            {tableRows, srcRow, 32, step});
    });
  };
  CHECK(gather(100, 64, 4).empty());
  CHECK(gather(100, 64, 8).empty());
  CHECK(gather(101, 64, 4) ==
        std::vector<std::string>{"instruction 0 (gather_rows): src covers bytes 0 to 6432 of gm, "
                                 "which has 6400"});
  CHECK_FALSE(gather(0, 64, 4).empty());
  CHECK_FALSE(gather(int64_t(1) << 31, 0, 4).empty());
  CHECK_FALSE(gather(100, -64, 4).empty());
  CHECK_FALSE(gather(100, 64, 2).empty());
}

TEST_CASE("integers of 64 bits are only broadcast and cast") {
  auto vector = [](VectorOp op, DataType type, DataType dstType) {
    return errorLines([=](B &b) {
      b.add(
          Opcode::Vector, {ub(), ub(4096), ub(8192)}, {range(1), range(1), range(16)},
          {int64_t(op), int64_t(type), int64_t(dstType), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 32, 32});
    });
  };
  CHECK(vector(VectorOp::Cast, DataType::S64, DataType::F32).empty());
  CHECK(vector(VectorOp::Broadcast, DataType::S64, DataType::S64).empty());
  CHECK_FALSE(vector(VectorOp::Relu, DataType::S64, DataType::S64).empty());
  CHECK(vector(VectorOp::Cast, DataType::F32, DataType::S64).empty());
  CHECK_FALSE(vector(VectorOp::Add, DataType::S64, DataType::S64).empty());
}

TEST_CASE("flags of a pair of queues are counted on each core") {
  CHECK(only([](B &b) {
          b.setFlag(Queue::V, Queue::MTE3, 0);
          b.loop(5, [&](Affine) {
            b.waitFlag(Queue::V, Queue::MTE3, 0);
            b.setFlag(Queue::V, Queue::MTE3, 0);
          });
        }) == "core 0 raises 6 flags V -> MTE3 and waits for 5");
  CHECK(only([](B &b) {
          b.setFlag(Queue::V, Queue::MTE3, 0);
          b.add(Opcode::WaitFlag, {}, {}, {int64_t(Queue::V), int64_t(Queue::MTE3), 0, 1, 0})
              .guard = {Guard::NotLast, 0};
        }) == "core 7 raises 1 flags V -> MTE3 and waits for 0");
  CHECK(errorLines([](B &b) {
          b.loop(5, [&](Affine) {
            b.add(Opcode::SetFlag, {}, {}, {2, 5, 0, 1, 0}).guard = {Guard::NotLast, kGridDims};
            b.add(Opcode::WaitFlag, {}, {}, {2, 5, 0, 1, 0}).guard = {Guard::NotFirst, kGridDims};
          });
        }).empty());
}

TEST_CASE("a program cannot run for ever") {
  CHECK(only([](B &b) {
          b.loop(1 << 20, [&](Affine) {
            b.loop(1 << 20, [&](Affine) { b.loop(2, [&](Affine) { b.pipeBarrier(Queue::V); }); });
          });
        }) ==
        "instruction 1 (loop): runs more than 4294967296 instructions with the loops around it");
  CHECK(only([](B &b) {
          b.add(Opcode::Move, {ub(), gm(0)}, {range(1 << 20), range(1 << 20), range(64)});
        }) ==
        "instruction 0 (move): goes over 70368744177664 elements at once, more than 1073741824");
  CHECK(only([](B &b) {
          b.add(Opcode::Move, {ub(), gm(0)}, {range(1), range(int64_t(1) << 30), range(1)},
                {0, int64_t(1) << 38, 0, 1});
        }) == "instruction 0 (move): dst is too large");
}

TEST_CASE("bounds hold against every iteration of random programs") {
  std::mt19937_64 random(4);
  auto pick = [&](int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  };
  unsigned tight = 0, all = 0;
  for (int round = 0; round < 3000; ++round) {
    Instruction in;
    in.opcode = Opcode::Move;
    Frame frame;
    frame.depth = 2;
    for (unsigned i = 0; i < 2; ++i)
      frame.trips[kGridDims + i] = pick(1, 5);
    int64_t strides[2];
    for (unsigned r = 0; r < 2; ++r) {
      strides[r] = pick(-3, 8) * 4;
      Affine start = constant(pick(-6, 6)) + ivValue(kGridDims + r, pick(-3, 6));
      in.ranges[r] = range(start, pick(1, 8), random() % 3 ? pick(1, 12) : INT64_MAX);
    }
    in.ranges[2] = range(4);
    in.fields[Move::srcOuter] = strides[0];
    in.fields[Move::srcInner] = strides[1];
    // Mostly the address moves with the starts.
    for (unsigned r = 0; r < 2; ++r)
      in.addresses[1].offset =
          in.addresses[1].offset + in.ranges[r].start * (random() % 4 ? strides[r] : pick(-9, 9));
    if (random() % 3 == 0)
      in.guard = {Guard::Kind(pick(1, 4)), uint8_t(kGridDims + random() % 2)};
    CheckedInstruction checked(in, frame);
    IvBox box(frame, in.guard);
    Proof proof(checked, box);
    int64_t begin = INT64_MAX, end = INT64_MIN;
    for (frame.ivs[3] = 0; frame.ivs[3] < frame.trips[3]; ++frame.ivs[3])
      for (frame.ivs[4] = 0; frame.ivs[4] < frame.trips[4]; ++frame.ivs[4]) {
        Box boxes[4];
        if (!in.guard.admits(frame) || !boxesOf(in, frame, boxes))
          continue;
        begin = std::min(begin, boxes[1].begin());
        end = std::max(end, boxes[1].end());
      }
    if (proof.never())
      CHECK(begin > end);
    if (begin > end)
      continue;
    REQUIRE_FALSE(proof.never());
    // Nothing is enough: the search goes on as far as it can.
    Cover low = proof.cover(1, -Checked::power(60));
    REQUIRE(low.begin.isAtMost(Checked(begin)));
    REQUIRE(low.end.isAtLeast(Checked(end)));
    ++all;
    tight += low.end.is(Checked(end));
  }
  CHECK(tight * 10 > all * 8);
}

TEST_CASE("a network's programs are verified in a moment") {
  std::vector<Program> programs = goodPrograms();
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 60; ++i) {
    size_t which = size_t(i) % programs.size();
    REQUIRE(verify(programs[which], which == 2 ? split() : coupled()).empty());
  }
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  CHECK(taken.count() < 0.05);
}

TEST_CASE("mixed programs are for SoCs on which cores of both kinds signal each other") {
  ProgramBuilder b({24, 1, 1});
  unsigned x = b.argument(1 << 16);
  b.move(at(Memory::L1, int64_t(0)), gm(x, grid(0) * 512), 512);
  b.onVectorCores({48, 1, 1});
  b.loop(2, [&](Affine) { b.move(at(Memory::UB, int64_t(0)), gm(x, grid(0) * 512), 512); });
  CHECK(verify(b.get(), split()).empty());
  auto errorOf = [&](const SocTable &soc, auto &&change) {
    Program program = b.get();
    change(program);
    const std::vector<std::string> errors = verify(program, soc);
    return errors.empty() ? std::string() : errors.front();
  };
  auto same = [](Program &) {};
  CHECK(errorOf(*findSoc("Ascend310B1"), same) ==
        "runs on cube and vector cores at once, which Ascend310B1 cannot");
  CHECK(errorOf(coupled(), same) ==
        "runs on cube and vector cores at once, which Ascend310P3 cannot");
  CHECK(errorOf(split(), [](Program &p) { p.vectorCore = true; }) ==
        "is for vector cores, and has instructions for more of them");
  CHECK(errorOf(split(), [](Program &p) { p.vectorBegin = 5; }) ==
        "has 4 instructions, those for vector cores begin behind them");
  CHECK(errorOf(split(), [](Program &p) { p.vectorGrid[0] = 49; }) ==
        "grid of 49 cores, Ascend910B1 has 48");
  CHECK(errorOf(split(), [](Program &p) { p.grid[0] = 25; }) ==
        "grid of 25 cores, Ascend910B1 has 24");
  // A loop does not go on from one section to the other, and each has its own grid.
  CHECK(errorOf(split(), [](Program &p) { p.vectorBegin = 2; }) == "1 loops are not ended");
  CHECK(errorOf(split(), [](Program &p) {
          p.arguments[0] = 24 * 512;
        }).find("instruction 2 (move): ") == 0);
}
