//===-- ProgramBuilder.cpp - programs of the NPU by hand ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/isa/ProgramBuilder.h"

namespace atc::npu {

Affine ivValue(unsigned iv, int64_t stride) {
  Affine value;
  value.strides[iv] = stride;
  return value;
}

Affine constant(int64_t value) {
  Affine affine;
  affine.base = value;
  return affine;
}

Affine operator+(Affine a, const Affine &b) {
  a.base += b.base;
  for (unsigned i = 0; i < kMaxIvs; ++i)
    a.strides[i] += b.strides[i];
  return a;
}

Affine operator+(Affine a, int64_t b) {
  a.base += b;
  return a;
}

Affine operator-(Affine a, int64_t b) { return a + -b; }

Affine operator*(Affine a, int64_t factor) {
  a.base *= factor;
  for (int64_t &stride : a.strides)
    stride *= factor;
  return a;
}

Address at(Memory memory, Affine offset) {
  Address address;
  address.memory = memory;
  address.offset = offset;
  return address;
}

Address at(Memory memory, int64_t offset) { return at(memory, constant(offset)); }

Address gm(unsigned argument, Affine offset) {
  Address address = at(Memory::GM, offset);
  address.argument = uint8_t(argument);
  return address;
}

Address gm(unsigned argument, int64_t offset) { return gm(argument, constant(offset)); }

Address rotating(Address address, unsigned slots, int64_t bytes, unsigned depth) {
  address.slots = uint8_t(slots);
  address.slotBytes = bytes;
  address.depth = uint8_t(depth);
  return address;
}

Range range(int64_t length) { return range(Affine(), length); }

Range range(Affine start, int64_t length, int64_t limit) {
  Range result;
  result.start = start;
  result.length = length;
  result.limit = limit;
  return result;
}

ProgramBuilder::ProgramBuilder(std::initializer_list<uint32_t> grid, bool vectorCore) {
  program.vectorCore = vectorCore;
  std::copy_n(grid.begin(), std::min<size_t>(grid.size(), kGridDims), program.grid);
}

void ProgramBuilder::onVectorCores(std::initializer_list<uint32_t> grid) {
  std::fill(std::begin(program.vectorGrid), std::end(program.vectorGrid), 1);
  std::copy_n(grid.begin(), std::min<size_t>(grid.size(), kGridDims), program.vectorGrid);
  program.vectorBegin = uint32_t(program.code.size());
}

unsigned ProgramBuilder::argument(uint64_t bytes) {
  program.arguments.push_back(bytes);
  return unsigned(program.arguments.size() - 1);
}

Instruction &ProgramBuilder::add(Opcode opcode, std::initializer_list<Address> addresses,
                                 std::initializer_list<Range> ranges,
                                 std::initializer_list<int64_t> fields) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.line = uint32_t(program.code.size());
  std::copy(addresses.begin(), addresses.end(), instruction.addresses);
  std::copy(ranges.begin(), ranges.end(), instruction.ranges);
  std::copy(fields.begin(), fields.end(), instruction.fields);
  program.code.push_back(instruction);
  return program.code.back();
}

void ProgramBuilder::loop(int64_t trips, const std::function<void(Affine)> &body) {
  add(Opcode::LoopBegin, {}, {}, {trips});
  body(openLoops < kMaxLoops ? ivValue(kGridDims + openLoops++) : constant((++openLoops, 0)));
  --openLoops;
  add(Opcode::LoopEnd);
}

void ProgramBuilder::setFlag(Queue from, Queue to, unsigned id, unsigned slots, unsigned depth) {
  add(Opcode::SetFlag, {}, {}, {int64_t(from), int64_t(to), id, slots, depth});
}

void ProgramBuilder::waitFlag(Queue from, Queue to, unsigned id, unsigned slots, unsigned depth) {
  add(Opcode::WaitFlag, {}, {}, {int64_t(from), int64_t(to), id, slots, depth});
}

void ProgramBuilder::pipeBarrier(Queue queue) {
  add(Opcode::PipeBarrier, {}, {}, {int64_t(queue)});
}

Instruction &ProgramBuilder::move(Address dst, Address src, int64_t bytes) {
  return add(Opcode::Move, {dst, src}, {range(1), range(1), range(bytes)});
}

Instruction &ProgramBuilder::vector(VectorOp op, DataType type, Address dst, Address a, Address b,
                                    int64_t lanes, double scalar) {
  Instruction &instruction = add(Opcode::Vector, {dst, a, b, a}, {range(1), range(1), range(lanes)},
                                 {int64_t(op), int64_t(type), int64_t(type), floatBits(scalar)});
  for (unsigned field : {Vector::dstBlock, Vector::aBlock, Vector::bBlock})
    instruction.fields[field] = 32;
  return instruction;
}

Instruction &ProgramBuilder::cast(DataType from, DataType to, Address dst, Address a,
                                  int64_t lanes) {
  Instruction &instruction = vector(VectorOp::Cast, from, dst, a, a, lanes);
  instruction.fields[Vector::dstType] = int64_t(to);
  return instruction;
}

Instruction &ProgramBuilder::mmad(DataType type, Address dst, Address a, Address b, int64_t m,
                                  int64_t n, int64_t k, bool accumulate) {
  int64_t c0 = c0Of(type), kFractals = (k + c0 - 1) / c0, nFractals = (n + 15) / 16;
  return add(Opcode::Mmad, {dst, a, b, at(Memory::BT, 0)}, {range(m), range(n), range(k)},
             {int64_t(type), accumulate, false, 0, (m + 15) / 16 * 16 * 64,
              kFractals * int64_t(kFractalBytes), nFractals * int64_t(kFractalBytes)});
}

} // namespace atc::npu
