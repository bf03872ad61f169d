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
  bool serial = false;  ///< everything waits for everything
  unsigned packets = 1; ///< buffers in l1
  bool nFirst = false;  ///< walks down a column of tiles, so that b stays in l2
  int64_t parts = 1;    ///< 1 / parts of each core's rows of tiles run
};

Program matmul(const MatmulPlan &plan) {
  ProgramBuilder b({plan.gridM, plan.gridN, 1});
  unsigned bytes = kSize * kSize * 2;
  unsigned argA = b.argument(bytes), argB = b.argument(bytes), argC = b.argument(bytes);
  int64_t tM = plan.tileM, tN = plan.tileN, tK = plan.tileK, pK = plan.packetK;
  int64_t rowsEach = (kSize / tM + plan.gridM - 1) / plan.gridM;
  int64_t colsEach = (kSize / tN + plan.gridN - 1) / plan.gridN;
  int64_t aPacket = tM * pK * 2, bPacket = pK * tN * 2, aTile = tM * tK * 2, bTile = tK * tN * 2;
  int64_t bStart = aPacket * plan.packets;
  if (!plan.serial) {
    for (unsigned i = 0; i < plan.packets; ++i)
      b.setFlag(Queue::MTE1, Queue::MTE2, i);
    for (unsigned i = 0; i < 2; ++i)
      b.setFlag(Queue::M, Queue::MTE1, i);
    b.setFlag(Queue::FIX, Queue::M, 0);
  }
  auto sync = [&] {
    if (plan.serial)
      b.pipeBarrier(Queue::S);
  };
  auto tile = [&](Affine row, Affine col) {
    if (!plan.serial)
      b.waitFlag(Queue::FIX, Queue::M, 0);
    b.loop(kSize / pK, [&](Affine packet) {
      unsigned packetLoops = b.depth();
      if (!plan.serial)
        b.waitFlag(Queue::MTE1, Queue::MTE2, 0, plan.packets, packetLoops);
      b.add(Opcode::MoveNdToNz,
            {rotating(at(Memory::L1, int64_t(0)), plan.packets, aPacket, packetLoops),
             gm(argA, row * (tM * kSize * 2) + packet * (pK * 2))},
            {range(tM), range(pK)}, {kF16, kSize * 2, tM * 32});
      b.add(Opcode::MoveNdToNz,
            {rotating(at(Memory::L1, bStart), plan.packets, bPacket, packetLoops),
             gm(argB, packet * (pK * kSize * 2) + col * (tN * 2))},
            {range(pK), range(col * tN, tN, kSize)}, {kF16, kSize * 2, pK * 32});
      sync();
      if (!plan.serial) {
        b.setFlag(Queue::MTE2, Queue::MTE1, 0, plan.packets, packetLoops);
        b.waitFlag(Queue::MTE2, Queue::MTE1, 0, plan.packets, packetLoops);
      }
      b.loop(pK / tK, [&](Affine k) {
        unsigned kLoops = b.depth(), buffers = plan.serial ? 1 : 2;
        if (!plan.serial)
          b.waitFlag(Queue::M, Queue::MTE1, 0, 2, kLoops);
        // a: nz in l1 [k1][m1] to zZ [m1][k1]; b: [n1][k1] to zN [k1][n1].
        Address a =
            rotating(at(Memory::L1, k * (tK / 16 * tM * 32)), plan.packets, aPacket, packetLoops);
        Address bb =
            rotating(at(Memory::L1, k * (tK * 32) + bStart), plan.packets, bPacket, packetLoops);
        b.add(Opcode::Load2D, {rotating(at(Memory::L0A, int64_t(0)), buffers, aTile, kLoops), a},
              {range(tM / 16), range(tK / 16)}, {tK / 16 * 512, 512, 512, tM * 32, 0});
        b.add(Opcode::Load2D, {rotating(at(Memory::L0B, int64_t(0)), buffers, bTile, kLoops), bb},
              {range(tK / 16), range(col * (tN / 16), tN / 16, kSize / 16)},
              {tN / 16 * 512, 512, 512, pK * 32, 1});
        sync();
        if (!plan.serial) {
          b.setFlag(Queue::MTE1, Queue::M, 0, 2, kLoops);
          b.waitFlag(Queue::MTE1, Queue::M, 0, 2, kLoops);
        }
        b.add(Opcode::Mmad,
              {at(Memory::L0C, int64_t(0)),
               rotating(at(Memory::L0A, int64_t(0)), buffers, aTile, kLoops),
               rotating(at(Memory::L0B, int64_t(0)), buffers, bTile, kLoops),
               at(Memory::BT, int64_t(0))},
              {range(tM), range(col * tN, tN, kSize), range(tK)},
              {kF16, 0, 0, (1 << (kGridDims + packetLoops - 1)) | (1 << (kGridDims + kLoops - 1)),
               tM * 64, tK / 16 * 512, tN / 16 * 512});
        sync();
        if (!plan.serial)
          b.setFlag(Queue::M, Queue::MTE1, 0, 2, kLoops);
      });
      if (!plan.serial)
        b.setFlag(Queue::MTE1, Queue::MTE2, 0, plan.packets, packetLoops);
    });
    if (!plan.serial) {
      b.setFlag(Queue::M, Queue::FIX, 0);
      b.waitFlag(Queue::M, Queue::FIX, 0);
    }
    b.add(Opcode::MoveL0C,
          {gm(argC, row * (tM * kSize * 2) + col * (tN * 2)), at(Memory::L0C, int64_t(0))},
          {range(tM), range(col * tN, tN, kSize)},
          {int64_t(DataType::F32), kF16, 0, floatBits(1), tM * 64, kSize * 2, 32});
    sync();
    if (!plan.serial)
      b.setFlag(Queue::FIX, Queue::M, 0);
  };
  Affine firstRow = grid(0) * rowsEach, firstCol = grid(1) * colsEach;
  if (plan.nFirst)
    b.loop(colsEach, [&](Affine j) {
      b.loop(rowsEach / plan.parts, [&](Affine i) { tile(firstRow + i, firstCol + j); });
    });
  else
    b.loop(rowsEach / plan.parts, [&](Affine i) {
      b.loop(colsEach, [&](Affine j) { tile(firstRow + i, firstCol + j); });
    });
  // Flags that are still up are taken down.
  if (!plan.serial) {
    for (unsigned i = 0; i < plan.packets; ++i)
      b.waitFlag(Queue::MTE1, Queue::MTE2, i);
    for (unsigned i = 0; i < 2; ++i)
      b.waitFlag(Queue::M, Queue::MTE1, i);
    b.waitFlag(Queue::FIX, Queue::M, 0);
  }
  return b.take();
}

} // namespace

std::vector<Step> atc::npu::test::matmulLadder() {
  std::vector<Step> steps;
  auto add = [&](const char *name, double published, MatmulPlan plan, double rounds = 1) {
    steps.push_back({name, published, matmul(plan), false, rounds});
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
  plan.nFirst = true;
  add("L2 split", 4088, plan);
  return steps;
}

std::vector<Step> atc::npu::test::addLadder() {
  std::vector<Step> steps;
  // Runs of `lanes` elements through ub; `depth` buffers used in turn.
  auto make = [&](uint32_t cores, int64_t lanes, int64_t step, unsigned depth, int64_t gap,
                  int64_t parts) {
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
      if (depth == 1) {
        b.pipeBarrier(Queue::S);
      }
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
