//===-- Ladders.cpp - programs with published times -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/runtime-lite/npu/Ladders.h"

#include "runtime-lite/npu/ProgramBuilder.h"

#include <cstdio>
#include <cstdlib>

using namespace atc::npu;
using namespace atc::npu::test;

namespace {

constexpr int64_t kSize = 8192, kF16 = int64_t(DataType::F16);

struct MatmulPlan {
  int64_t tileM = 128, tileN = 256, tileK = 64; ///< of one mmad
  int64_t packetK = 64;                         ///< of what is brought to l1 at once
  uint32_t gridM = 1, gridN = 1;
  bool serial = false;     ///< everything waits for everything
  unsigned packets = 1;    ///< buffers in l1
  int64_t blocks = 1;      ///< parts of the rows that are dealt to the cores one after the other
  bool scalarWork = true;  ///< a tile's sizes are worked out when l1 is free of the one before
  bool overlapFix = false; ///< l0c is emptied and filled again in two halves
  int64_t parts = 1;       ///< 1 / parts of each core's rows of tiles run
};

/// Rounds of the scalar unit's loop that stand for its work on a tile.
constexpr int64_t kScalarRounds = 16;

class Matmul {
public:
  explicit Matmul(const MatmulPlan &plan)
      : plan(plan), b({plan.gridM, plan.gridN, 1}), argA(b.argument(kSize * kSize * 2)),
        argB(b.argument(kSize * kSize * 2)), argC(b.argument(kSize * kSize * 2)) {}

  Program make() {
    int64_t blockRows = kSize / tM / plan.blocks;
    int64_t rowsEach = (blockRows + plan.gridM - 1) / plan.gridM;
    int64_t colsEach = (kSize / tN + plan.gridN - 1) / plan.gridN;
    unsigned halves = plan.overlapFix ? 2 : 1;
    if (!plan.serial) {
      for (unsigned i = 0; i < plan.packets; ++i)
        b.setFlag(Queue::MTE1, Queue::MTE2, i);
      for (unsigned i = 0; i < 2; ++i)
        b.setFlag(Queue::M, Queue::MTE1, i);
      for (unsigned i = 0; i < halves; ++i)
        b.setFlag(Queue::FIX, Queue::M, i);
    }
    Affine firstRow = grid(0) * rowsEach, firstCol = grid(1) * colsEach;
    b.loop(plan.blocks, [&](Affine block) {
      b.loop(rowsEach / plan.parts, [&](Affine i) {
        b.loop(colsEach, [&](Affine j) { tile(block * blockRows, firstRow + i, firstCol + j); });
      });
    });
    // Flags that are still up are taken down.
    if (!plan.serial) {
      for (unsigned i = 0; i < plan.packets; ++i)
        b.waitFlag(Queue::MTE1, Queue::MTE2, i);
      for (unsigned i = 0; i < 2; ++i)
        b.waitFlag(Queue::M, Queue::MTE1, i);
      for (unsigned i = 0; i < halves; ++i)
        b.waitFlag(Queue::FIX, Queue::M, i);
    }
    return b.take();
  }

private:
  void tile(Affine firstRow, Affine row, Affine col) {
    bool flags = !plan.serial;
    rows = row;
    column = col;
    place = (row + firstRow) * (tM * kSize * 2);
    if (flags && !plan.overlapFix)
      b.waitFlag(Queue::FIX, Queue::M, 0);
    if (flags && plan.scalarWork)
      b.loop(kScalarRounds, [](Affine) {});
    b.loop(kSize / pK, [&](Affine packet) {
      packetLoops = b.depth();
      bring(packet);
      if (plan.overlapFix)
        for (int64_t k = 0; k < pK / tK; ++k)
          step(constant(k), k);
      else
        b.loop(pK / tK, [&](Affine k) { step(k, -1); });
      if (flags)
        b.setFlag(Queue::MTE1, Queue::MTE2, 0, plan.packets, packetLoops);
    });
    if (flags && plan.scalarWork) {
      b.setFlag(Queue::MTE1, Queue::S, 0);
      b.waitFlag(Queue::MTE1, Queue::S, 0);
    }
    if (plan.overlapFix) {
      for (unsigned half = 0; half < 2; ++half) {
        b.waitFlag(Queue::M, Queue::FIX, half);
        result(half, tN / 2);
        b.setFlag(Queue::FIX, Queue::M, half);
      }
      return;
    }
    if (flags) {
      b.setFlag(Queue::M, Queue::FIX, 0);
      b.waitFlag(Queue::M, Queue::FIX, 0);
    }
    result(0, tN);
    sync();
    if (flags)
      b.setFlag(Queue::FIX, Queue::M, 0);
  }

  /// A packet of a and one of b from gm to l1.
  void bring(Affine packet) {
    if (!plan.serial)
      b.waitFlag(Queue::MTE1, Queue::MTE2, 0, plan.packets, packetLoops);
    b.add(Opcode::MoveNdToNz,
          {rotating(at(Memory::L1, int64_t(0)), plan.packets, aPacket, packetLoops),
           gm(argA, place + packet * (pK * 2))},
          {rowRange(tM), range(pK)}, {kF16, kSize * 2, tM * 32});
    b.add(Opcode::MoveNdToNz,
          {rotating(at(Memory::L1, bStart), plan.packets, bPacket, packetLoops),
           gm(argB, packet * (pK * kSize * 2) + column * (tN * 2))},
          {range(pK), range(column * tN, tN, kSize)}, {kF16, kSize * 2, pK * 32});
    sync();
    if (!plan.serial) {
      b.setFlag(Queue::MTE2, Queue::MTE1, 0, plan.packets, packetLoops);
      b.waitFlag(Queue::MTE2, Queue::MTE1, 0, plan.packets, packetLoops);
    }
  }

  /// One mmad and its loads; `number` is k where the loop is unrolled, else -1.
  void step(Affine k, int64_t number) {
    bool unrolled = number >= 0;
    unsigned kLoops = b.depth(), slots = plan.serial || unrolled ? 1 : 2;
    unsigned id = unrolled ? unsigned(number % 2) : 0, flagSlots = unrolled ? 1 : 2;
    if (!plan.serial)
      b.waitFlag(Queue::M, Queue::MTE1, id, flagSlots, kLoops);
    // a: nz in l1 [k1][m1] to zZ [m1][k1]; b: [n1][k1] to zN [k1][n1].
    Address left =
        rotating(at(Memory::L1, k * (tK / 16 * tM * 32)), plan.packets, aPacket, packetLoops);
    Address right =
        rotating(at(Memory::L1, k * (tK * 32) + bStart), plan.packets, bPacket, packetLoops);
    Address l0a = rotating(at(Memory::L0A, id * aTile), slots, aTile, kLoops);
    Address l0b = rotating(at(Memory::L0B, id * bTile), slots, bTile, kLoops);
    b.add(Opcode::Load2D, {l0a, left}, {rowRange(tM / 16), range(tK / 16)},
          {tK / 16 * 512, 512, 512, tM * 32, 0});
    b.add(Opcode::Load2D, {l0b, right},
          {range(tK / 16), range(column * (tN / 16), tN / 16, kSize / 16)},
          {tN / 16 * 512, 512, 512, pK * 32, 1});
    sync();
    if (!plan.serial) {
      b.setFlag(Queue::MTE1, Queue::M, id, flagSlots, kLoops);
      b.waitFlag(Queue::MTE1, Queue::M, id, flagSlots, kLoops);
    }
    uint8_t packetIv = uint8_t(kGridDims + packetLoops - 1);
    int64_t first = int64_t(1) << packetIv;
    if (!unrolled)
      first |= int64_t(1) << (kGridDims + kLoops - 1);
    auto mmad = [&](Guard::Kind guard, unsigned half, int64_t width) {
      Address dst = at(Memory::L0C, int64_t(half) * (tN / 32) * tM * 64), from = l0b;
      from.offset.base += int64_t(half) * (tN / 32) * 512;
      Instruction &instruction = b.add(
          Opcode::Mmad, {dst, l0a, from, at(Memory::BT, int64_t(0))},
          {rowRange(tM), range(column * tN, width, kSize), range(tK)},
          {kF16, number > 0, 0, number > 0 ? 0 : first, tM * 64, tK / 16 * 512, tN / 16 * 512});
      instruction.guard = {guard, packetIv};
    };
    auto flag = [&](Opcode opcode, Queue from, Queue to, unsigned half, Guard::Kind guard) {
      b.add(opcode, {}, {}, {int64_t(from), int64_t(to), half, 1, 0}).guard = {guard, packetIv};
    };
    // The first and the last mmad of a tile are cut in two: a half of l0c can be
    // filled again while the other is still on its way out.
    if (unrolled && (number == 0 || number == pK / tK - 1)) {
      Guard::Kind here = number == 0 ? Guard::First : Guard::Last;
      for (unsigned half = 0; half < 2; ++half) {
        if (number == 0)
          flag(Opcode::WaitFlag, Queue::FIX, Queue::M, half, here);
        mmad(here, half, tN / 2);
        if (number != 0)
          flag(Opcode::SetFlag, Queue::M, Queue::FIX, half, here);
      }
      mmad(number == 0 ? Guard::NotFirst : Guard::NotLast, 0, tN);
    } else {
      mmad(Guard::Always, 0, tN);
    }
    sync();
    if (!plan.serial)
      b.setFlag(Queue::M, Queue::MTE1, id, flagSlots, kLoops);
  }

  void result(unsigned half, int64_t width) {
    b.add(Opcode::MoveL0C,
          {gm(argC, place + column * (tN * 2) + int64_t(half) * tN),
           at(Memory::L0C, int64_t(half) * (tN / 32) * tM * 64)},
          {rowRange(tM), range(column * tN, width, kSize)},
          {int64_t(DataType::F32), kF16, 0, floatBits(1), tM * 64, kSize * 2, 32});
  }

  /// `each` positions a tile, none past the block's last row.
  Range rowRange(int64_t each) const {
    return range(rows * each, each, kSize / tM / plan.blocks * each);
  }
  void sync() {
    if (plan.serial)
      b.pipeBarrier(Queue::S);
  }

  const MatmulPlan plan;
  ProgramBuilder b;
  unsigned argA, argB, argC, packetLoops = 0;
  const int64_t tM = plan.tileM, tN = plan.tileN, tK = plan.tileK, pK = plan.packetK;
  const int64_t aPacket = tM * pK * 2, bPacket = pK * tN * 2, aTile = tM * tK * 2;
  const int64_t bTile = tK * tN * 2, bStart = aPacket * plan.packets;
  Affine rows, column, place;
};

} // namespace

std::vector<Step> atc::npu::test::matmulLadder() {
  std::vector<Step> steps;
  auto add = [&](const char *name, double published, MatmulPlan plan, double rounds = 1) {
    steps.push_back({name, published, Matmul(plan).make(), false, rounds});
  };
  MatmulPlan plan;
  plan.serial = true;
  plan.tileM = plan.tileN = 64;
  plan.parts = 128;
  add("one core, base tile 64x64x64", 759364, plan, 128);
  plan.tileM = 128;
  plan.tileN = 256;
  plan.parts = 32;
  add("one core, base tile 128x256x64", 249467, plan, 32);
  plan.parts = 4;
  plan.gridM = 2;
  plan.gridN = 12;
  add("24 cores, 2 x 12", 12541, plan, 4);
  plan.gridM = 4;
  plan.gridN = 6;
  add("24 cores, 4 x 6", 12284, plan, 4);
  plan.serial = false;
  plan.packetK = 256;
  add("large L1 packets", 5040, plan, 4);
  plan.packets = 2;
  plan.parts = 1;
  add("L1 reuse", 4157, plan);
  // Half of the rows at a time: what is read of a stays in L2, and both halves
  // are dealt evenly.
  plan.blocks = 2;
  plan.gridM = 3;
  plan.gridN = 8;
  add("L2 split", 4088, plan);
  plan.scalarWork = false;
  add("constant tiling", 4053, plan);
  plan.overlapFix = true;
  add("cube and fixpipe overlapped", 4012, plan);
  return steps;
}

std::vector<Step> atc::npu::test::addLadder() {
  std::vector<Step> steps;
  // Runs of `lanes` elements through ub; `depth` buffers used in turn. With one,
  // the cores of a round begin it together.
  auto make = [&](uint32_t cores, int64_t lanes, int64_t step, unsigned depth, int64_t gap,
                  int64_t parts) {
    bool meet = depth == 1 && cores > 1;
    ProgramBuilder b({cores, 1, 1}, true);
    unsigned bytes = kSize * kSize * 2;
    unsigned x = b.argument(bytes), y = b.argument(bytes), z = b.argument(bytes);
    int64_t total = kSize * kSize, rounds = (total / lanes + cores - 1) / cores;
    int64_t run = lanes * 2, slot = 2 * run + gap;
    for (unsigned i = 0; i < depth; ++i) {
      b.setFlag(Queue::V, Queue::MTE2, i);
      b.setFlag(Queue::MTE3, Queue::V, i);
    }
    b.loop(rounds / parts, [&](Affine i) {
      Affine start = i * (lanes * cores) + grid(0) * lanes;
      Address ubX = rotating(at(Memory::UB, int64_t(0)), depth, slot, 1);
      Address ubY = rotating(at(Memory::UB, run + gap), depth, slot, 1);
      Address ubZ = rotating(at(Memory::UB, slot * depth), depth, run, 1);
      b.waitFlag(Queue::V, Queue::MTE2, 0, depth, 1);
      if (meet)
        b.add(Opcode::Await, {}, {range(i * cores, 1)}, {int64_t(Queue::MTE2), 0});
      Range part = range(start * 2, run, total * 2);
      b.add(Opcode::Move, {ubX, gm(x, start * 2)}, {range(1), range(1), part}, {0, 0, 0, 0});
      b.add(Opcode::Move, {ubY, gm(y, start * 2)}, {range(1), range(1), part}, {0, 0, 0, 0});
      b.setFlag(Queue::MTE2, Queue::V, 0, depth, 1);
      b.waitFlag(Queue::MTE2, Queue::V, 0, depth, 1);
      b.waitFlag(Queue::MTE3, Queue::V, 0, depth, 1);
      if (step == lanes)
        b.vector(VectorOp::Add, DataType::F16, ubZ, ubX, ubY, lanes);
      else
        b.loop(lanes / step, [&](Affine j) {
          Address one = ubX, other = ubY, result = ubZ;
          for (Address *address : {&one, &other, &result})
            address->offset = address->offset + j * (step * 2);
          b.vector(VectorOp::Add, DataType::F16, result, one, other, step);
          b.pipeBarrier(Queue::V);
        });
      b.setFlag(Queue::V, Queue::MTE2, 0, depth, 1);
      b.setFlag(Queue::V, Queue::MTE3, 0, depth, 1);
      b.waitFlag(Queue::V, Queue::MTE3, 0, depth, 1);
      b.add(Opcode::Move, {gm(z, start * 2), ubZ}, {range(1), range(1), part}, {0, 0, 0, 0});
      b.setFlag(Queue::MTE3, Queue::V, 0, depth, 1);
      if (meet)
        b.add(Opcode::Signal, {}, {}, {int64_t(Queue::MTE3), 0});
      if (depth == 1)
        b.pipeBarrier(Queue::S);
    });
    for (unsigned i = 0; i < depth; ++i) {
      b.waitFlag(Queue::V, Queue::MTE2, i);
      b.waitFlag(Queue::MTE3, Queue::V, i);
    }
    return b.take();
  };
  steps.push_back({"scalar", 1239689, make(1, 8192, 1, 1, 0, 64), false, 64});
  steps.push_back({"one core, vector", 6910, make(1, 8192, 8192, 1, 0, 1)});
  steps.push_back({"all cores", 306.6, make(48, 8192, 8192, 1, 0, 1)});
  steps.push_back({"double buffer", 264.0, make(48, 8192, 8192, 2, 0, 1)});
  steps.push_back({"L2 bypass", 187.7, make(48, 8192, 8192, 2, 0, 1), true});
  steps.push_back({"no bank conflict", 184.5, make(48, 8192, 8192, 2, 256, 1), true});
  return steps;
}

Timed atc::npu::test::timeOf(const SocTable &soc, const Step &step) {
  Simulator simulator(soc);
  Launch launch;
  launch.program = &step.program;
  launch.name = step.name;
  uint64_t address = 0;
  for (uint64_t bytes : step.program.arguments) {
    launch.addresses.push_back(address);
    launch.bypassL2.push_back(step.bypassL2);
    address += bytes;
  }
  std::string error;
  if (!simulator.run(launch, error)) {
    std::fprintf(stderr, "%s", error.c_str());
    return {-1, {}};
  }
  return {soc.microseconds(simulator.total().cycles) * step.rounds, simulator.total()};
}
