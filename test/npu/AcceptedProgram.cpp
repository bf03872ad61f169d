//===-- AcceptedProgram.cpp - runs what the verifier let pass -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/npu/AcceptedProgram.h"

#include "npu/isa/Footprint.h"
#include "npu/isa/ProgramBuilder.h"
#include "npu/isa/Verify.h"
#include "npu/simulator/Execute.h"
#include "npu/simulator/Simulator.h"
#include "test/npu/GuardedMemory.h"

#include <memory>
#include <random>

using namespace atc::npu;
using test::GuardedMemory;

namespace {

constexpr int64_t kF16 = int64_t(DataType::F16), kF32 = int64_t(DataType::F32),
                  kU8 = int64_t(DataType::U8);
// Limits on what is executed of one program: bytes per instance and in total, instances of the
// timed machine, bytes for which L2 may keep lines.
constexpr int64_t kMaxInstanceBytes = 1 << 16, kMaxBytes = 1 << 19;
constexpr uint64_t kMaxSteps = 2000, kMaxL2Bytes = 64 << 20;

Address local(Memory memory, int64_t offset = 0) { return at(memory, offset); }

void pair(ProgramBuilder &b, Queue from, Queue to) {
  b.setFlag(from, to, 0);
  b.waitFlag(from, to, 0);
}

/// Tiles of rows with a border, through two buffers in turn.
Program vectors() {
  ProgramBuilder b({8, 1, 1});
  unsigned x = b.argument(100 * 64), y = b.argument(100 * 64);
  b.loop(4, [&](Affine i) {
    Range rows = range(i * 30 + grid(0) * 3 + -1, 32, 100);
    Address tile = rotating(local(Memory::UB), 2, 4096, 1);
    b.add(Opcode::Move, {tile, gm(x, i * 1920 + grid(0) * 192 + -64)}, {range(1), rows, range(64)},
          {0, 64, 0, 64});
    pair(b, Queue::MTE2, Queue::V);
    b.add(Opcode::Vector, {local(Memory::UB, 8192), tile, tile, tile}, {range(1), rows, range(32)},
          {int64_t(VectorOp::Add), kF16, kF16, 0, 0, 64, 0, 64, 0, 64, 0, 0, 32, 32, 32})
        .guard = {Guard::NotLast, kGridDims};
    b.vector(VectorOp::ReduceSum, DataType::F32, local(Memory::UB, 16384), tile, tile, 8);
    b.vector(VectorOp::Broadcast, DataType::F32, local(Memory::UB, 20480), tile, tile, 1);
    b.add(Opcode::Vector,
          {local(Memory::UB, 24576), tile, local(Memory::UB), local(Memory::UB, 4096)},
          {range(1), range(2), range(16)},
          {int64_t(VectorOp::Select), kF16, kF16, 0, 0, 64, 0, 64, 0, 64, 0, 0, 0, 32, 32, 32});
    b.add(Opcode::Transpose, {local(Memory::UB, 32768), local(Memory::UB)}, {range(1), range(2)},
          {0, 512, 32, 0, 32, 64});
    b.cast(DataType::F16, DataType::S8, local(Memory::UB, 40960), tile, 32);
    pair(b, Queue::V, Queue::MTE3);
    b.add(Opcode::Move, {gm(y, i * 1920 + grid(0) * 192 + -64), local(Memory::UB, 8192)},
          {range(1), rows, range(64)}, {0, 64, 0, 64});
    pair(b, Queue::MTE3, Queue::S);
  });
  b.add(Opcode::Signal, {}, {}, {int64_t(Queue::MTE3), 1});
  b.add(Opcode::Await, {}, {range(constant(8), 1)}, {int64_t(Queue::MTE2), 1});
  b.pipeBarrier(Queue::S);
  return b.take();
}

/// A convolution of 3 x 3 on images of 16 x 16 pixels and its matmul.
Program cube(bool split) {
  ProgramBuilder b({split ? 2u : 4u, 1, 1});
  unsigned x = b.argument(3 * 18 * 16 * 4), w = b.argument(64 * 200 * 2), z = b.argument(1 << 17);
  b.loop(2, [&](Affine tile) {
    // 8 rows of output, 10 of input, the first of which may not exist.
    b.add(Opcode::LoadImage, {local(Memory::L1), gm(x, tile * 512 + -64)},
          {range(tile * 8 + -1, 10, 16)}, {kF32, 3, 16, 4, 18 * 16 * 4, 64, 128});
    b.add(Opcode::MoveNdToNz, {local(Memory::L1, 65536), gm(w)}, {range(64), range(100)},
          {kF16, 400, 2048});
    b.move(local(Memory::L1, 262144), gm(w), 256);
    // Pixels of cameras: interleaved channels, and luma with chroma for 2 x 2 pixels.
    b.add(Opcode::LoadImage, {local(Memory::L1, 327680), gm(w, constant(3))}, {range(4)},
          {kU8, 3, 16, 4, 1, 60, 128, 0, 0, 0, 3, floatBits(123), 0, 0, 0, floatBits(0.5)});
    b.add(Opcode::LoadYuv,
          {local(Memory::L1, 393216), gm(w, tile * 128 + -16), gm(w, constant(512))},
          {range(tile * 8 + -1, 10, 16)},
          {3,
           16,
           4,
           16,
           8,
           128,
           floatBits(256),
           0,
           floatBits(359),
           floatBits(256),
           floatBits(-88),
           floatBits(-183),
           floatBits(256),
           floatBits(454),
           0,
           floatBits(-45952),
           floatBits(34688),
           floatBits(-58112),
           0,
           0,
           0,
           floatBits(0.5)});
    pair(b, Queue::MTE2, Queue::MTE1);
    b.add(Opcode::Move, {local(Memory::BT), local(Memory::L1, 262144)},
          {range(1), range(1), range(256)});
    b.add(Opcode::Img2Col, {local(Memory::L0A), local(Memory::L1)},
          {range(tile * 128, 128, 256), range(3), range(tile * 8 + -1, 1)},
          {4, 2, 1, 16, 16, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1, 2048, 2048, 1536});
    b.add(Opcode::Load2D, {local(Memory::L0B), local(Memory::L1, 65536)}, {range(3), range(4)},
          {2048, 512, 2048, 512, 1});
    pair(b, Queue::MTE1, Queue::M);
    b.add(Opcode::Mmad,
          {local(Memory::L0C), local(Memory::L0A), local(Memory::L0B), local(Memory::BT)},
          {range(tile * 128, 128, 250), range(64), range(36)}, {kF16, 0, 1, 0, 8192, 1536, 2048});
    if (split) {
      pair(b, Queue::M, Queue::FIX);
      b.add(Opcode::MoveL0C, {gm(z, tile * 16384 + grid(0) * 32768), local(Memory::L0C)},
            {range(tile * 128, 128, 250), range(64)}, {kF32, kF16, 1, floatBits(1), 8192, 128, 32});
      // Bytes in blocks of 32 columns, by scales that are in l1 (the weights, as any bytes).
      b.add(Opcode::Requantize,
            {gm(z, tile * 16384 + grid(0) * 32768), local(Memory::L0C), local(Memory::L1, 65536)},
            {range(tile * 128, 128, 250), range(64)}, {kF32, kU8, kU8, 0, 0, 0, 8192, 32, 4096});
      pair(b, Queue::FIX, Queue::S);
    } else {
      pair(b, Queue::M, Queue::V);
      b.add(Opcode::MoveL0C, {local(Memory::UB), local(Memory::L0C)},
            {range(tile * 128, 128, 250), range(64)},
            {kF32, kF16, 1, floatBits(1), 8192, 32, 4096});
      // Bytes in blocks of 32 columns, once more with those before added.
      b.move(local(Memory::UB, 65536), gm(w), 256);
      pair(b, Queue::MTE2, Queue::V);
      // Rows of a table that any bytes name.
      b.pipeBarrier(Queue::MTE2);
      b.add(Opcode::GatherRows,
            {local(Memory::UB, 131072), gm(w, tile * 64), local(Memory::UB, 65536)},
            {range(tile * 16 + -1, 16, 30), range(48)}, {100, 200, 64, 8});
      b.add(Opcode::Requantize,
            {local(Memory::UB, 69632), local(Memory::L0C), local(Memory::UB, 65536)},
            {range(tile * 128, 128, 250), range(64)}, {kF32, kU8, kU8, 0, 0, 0, 8192, 32, 4096});
      b.add(Opcode::RequantizeAdd,
            {local(Memory::UB, 77824), local(Memory::L0C), local(Memory::UB, 65536),
             local(Memory::UB, 69632)},
            {range(tile * 128, 128, 250), range(64)},
            {kF32, kU8, kU8, 0, 0, floatBits(1), kU8, 0, floatBits(1), 1, floatBits(1), 0, 8192, 32,
             4096});
      pair(b, Queue::V, Queue::MTE3);
      b.add(Opcode::Move, {gm(z, tile * 16384 + grid(0) * 32768), local(Memory::UB)},
            {range(4), range(tile * 128, 128, 250), range(32)}, {32, 128, 4096, 32});
      pair(b, Queue::MTE3, Queue::S);
    }
  });
  return b.take();
}

/// An iteration: -1 of `which` gives the first of all loops, -2 the last.
Frame iteration(Frame frame, int which, std::mt19937_64 &random) {
  for (unsigned i = 0; i < kMaxIvs; ++i) {
    uint64_t choice = which < 0 ? uint64_t(which + 2) : random() % 4;
    frame.ivs[i] = choice == 1   ? 0
                   : choice == 0 ? frame.trips[i] - 1
                                 : int64_t(random() % uint64_t(frame.trips[i]));
  }
  return frame;
}

/// Bytes that an instance reads and writes, and products of the cube.
int64_t workOf(const Instruction &in, const Frame &at, const Box *boxes, unsigned count) {
  int64_t work = 0;
  for (unsigned i = 0; i < count; ++i)
    work += boxes[i].count[0] * boxes[i].count[1] * boxes[i].count[2] * boxes[i].bytes;
  int64_t products = 1; // runs with strides of 0 have few bytes
  for (unsigned i = 0; i < infoOf(in.opcode).rangeCount; ++i)
    products *= std::max<int64_t>(1, in.ranges[i].at(at.ivs).count);
  return std::max(work, products);
}

/// One core's memories and the arguments of a launch, between guards.
class Machine : public Observer {
public:
  Machine(const Program &program, const SocTable &soc) {
    static GuardedMemory memory;
    guarded = &memory;
    std::array<uint8_t *, kMemories> local = {};
    for (unsigned i = 0; i < kMemories; ++i)
      if (Memory(i) != Memory::GM)
        local[i] = take(i, soc.memoryBytes(Memory(i)), 64);
    core = std::make_unique<CoreMemory>(local);
    for (size_t i = 0; i < program.arguments.size(); ++i)
      core->arguments.push_back(take(kMemories + i, program.arguments[i], 1));
  }

  /// False where a memory is too large to have it here.
  bool runs() const { return fits; }
  bool untouched() const { return guarded->untouched(); }

  void execute(unsigned, const Instruction &in, const Frame &at) override {
    Box boxes[4];
    unsigned count = boxesOf(in, at, boxes);
    int64_t work = workOf(in, at, boxes, count);
    if (count && work <= kMaxInstanceBytes && (done += work) < kMaxBytes)
      atc::npu::execute(in, at, *core);
  }

private:
  uint8_t *take(size_t number, uint64_t bytes, size_t alignment) {
    fits = fits && bytes <= GuardedMemory::kCapacity;
    return fits ? guarded->buffer(number, size_t(bytes), alignment) : nullptr;
  }

  GuardedMemory *guarded;
  std::unique_ptr<CoreMemory> core;
  bool fits = true;
  int64_t done = 0;
};

/// Each instruction in some iterations; returns what its boxes have outside.
int runSome(const Program &program, const SocTable &soc, Machine &machine) {
  std::mt19937_64 random(1);
  Frame frame;
  for (unsigned i = 0; i < kGridDims; ++i)
    frame.trips[i] = program.grid[i];
  int outside = 0;
  for (const Instruction &in : program.code) {
    if (in.opcode == Opcode::LoopBegin) {
      frame.trips[kGridDims + frame.depth++] = in.fields[LoopBegin::trips];
      continue;
    }
    if (in.opcode == Opcode::LoopEnd) {
      frame.trips[kGridDims + --frame.depth] = 1;
      continue;
    }
    if (!infoOf(in.opcode).addressCount)
      continue;
    for (int which = -2; which < 10; ++which) {
      Frame at = iteration(frame, which, random);
      if (!in.guard.admits(at))
        continue;
      Box boxes[4];
      unsigned count = boxesOf(in, at, boxes);
      for (unsigned i = 0; i < count; ++i) {
        const Address &address = in.addresses[boxes[i].address];
        uint64_t size = address.memory == Memory::GM ? program.arguments[address.argument]
                                                     : soc.memoryBytes(address.memory);
        outside += boxes[i].begin() < 0 || uint64_t(boxes[i].end()) > size;
      }
      if (machine.runs())
        machine.execute(0, in, at);
    }
  }
  return outside;
}

} // namespace

std::vector<Program> atc::npu::test::goodPrograms() { return {vectors(), cube(false), cube(true)}; }

int atc::npu::test::outOfBounds(const Program &program, const SocTable &soc) {
  if (!verify(program, soc).empty())
    return -1;
  Machine machine(program, soc);
  int outside = runSome(program, soc, machine);
  if (machine.runs() && soc.l2Bytes <= kMaxL2Bytes) {
    Simulator simulator(soc);
    simulator.observer = &machine;
    simulator.stepsLeft = kMaxSteps;
    std::string error; // a program may wait for what never comes, or be too long
    simulator.run({&program, "accepted", {}, {}}, error);
  }
  return outside + !machine.untouched();
}
