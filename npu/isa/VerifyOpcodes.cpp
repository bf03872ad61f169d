//===-- VerifyOpcodes.cpp - memories and fields that an opcode can have ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/isa/VerifyParts.h"

namespace atc::npu {

namespace {

using M = Memory;

/// Checks a single instruction.
struct OpcodeCheck {
  Verification &v;
  const Instruction &in;
  const CheckedInstruction &checked;

  M memory(unsigned i) const { return in.addresses[i].memory; }
  Checked f(unsigned i) const { return checked.fields[i]; }
  bool given(unsigned i) const { return in.fields[i] != 0; }
  DataType type(unsigned i) const { return DataType(in.fields[i]); }
  bool oneOf(unsigned i, std::initializer_list<DataType> types) const {
    return std::find(types.begin(), types.end(), type(i)) != types.end();
  }
  bool isByte(unsigned i) const { return oneOf(i, {DataType::U8, DataType::S8}); }
  void expect(bool good, const char *what) const { v.expect(good, what); }

  void run() const;

private:
  void move() const;
  void loadImage() const;
  void img2Col() const;
  void mmad() const;
  void moveL0C() const;
  void requantize() const;
  void requantizeAdd() const;
  void vector() const;
  void flag() const;
};

void OpcodeCheck::move() const {
  M s = memory(Move::src), d = memory(Move::dst);
  expect((s == M::GM && (d == M::L1 || d == M::UB)) || (s == M::UB && (d == M::GM || d == M::L1)) ||
             (s == M::L1 && (d == M::UB || d == M::BT)),
         "no such way between these memories");
}

void OpcodeCheck::loadImage() const {
  using I = LoadImage;
  expect(f(I::channels).isWithin(1, f(I::c0)) && f(I::c0).isAtMost(16) &&
             f(I::width).isAtLeast(1) &&
             oneOf(I::type, {DataType::F32, DataType::F16, DataType::U8, DataType::S8}),
         "takes 1 to c0 <= 16 channels of f32, f16, u8 or s8");
  expect(floatOf(in.fields[I::scale]) == 0 || oneOf(I::type, {DataType::F32, DataType::F16}),
         "quantizes f32 and f16 only");
}

void OpcodeCheck::img2Col() const {
  using I = Img2Col;
  expect(memory(1) == M::L1 && memory(0) == M::L0A, "goes from l1 to l0a only");
  bool whole = (f(I::elementBytes).is(1) || f(I::elementBytes).is(2) || f(I::elementBytes).is(4)) &&
               f(I::c0).isWithin(1, 32) && Checked(32).isMultipleOf(f(I::c0));
  for (unsigned i : {I::channels1, I::height, I::width, I::outHeight, I::outWidth, I::kernelH,
                     I::kernelW, I::strideH, I::strideW, I::dilationH, I::dilationW})
    whole &= f(i).isWithin(1, 65535);
  expect(whole, "sizes must be positive, elements of 1, 2 or 4 bytes and c0 a power of 2");
  const IvBox everywhere(v.frame, Guard());
  expect(checked.ranges[I::m].start.lowest(everywhere).isAtLeast(0) &&
             checked.ranges[I::k].start.lowest(everywhere).isAtLeast(0),
         "m and k must not start below 0");
}

void OpcodeCheck::mmad() const {
  using I = Mmad;
  expect(memory(I::dst) == M::L0C && memory(I::a) == M::L0A && memory(I::b) == M::L0B &&
             (!given(I::useBias) || memory(I::bias) == M::BT),
         "works on l0a, l0b, l0c and bt only");
  expect(oneOf(I::type, {DataType::F16, DataType::BF16, DataType::F32, DataType::S8, DataType::U8}),
         "type must be f16, bf16, f32, s8 or u8");
}

void OpcodeCheck::moveL0C() const {
  using I = MoveL0C;
  M d = memory(I::dst);
  expect(memory(I::src) == M::L0C, "source must be l0c");
  expect(v.soc.split ? d == M::GM || d == M::L1 : d == M::UB,
         v.soc.split ? "split cores write to gm or l1" : "coupled cores write to ub");
  expect((type(I::type) == DataType::F32 &&
          oneOf(I::dstType, {DataType::F32, DataType::F16, DataType::BF16})) ||
             (type(I::type) == DataType::S32 &&
              oneOf(I::dstType, {DataType::S32, DataType::F16, DataType::S8})),
         "no such conversion");
}

void OpcodeCheck::requantize() const {
  using I = Requantize;
  expect(memory(I::src) == M::L0C && memory(I::dst) == M::UB && memory(I::scales) == M::UB &&
             !v.soc.split,
         "goes from l0c to ub of coupled cores, with scales in ub");
  expect(oneOf(I::type, {DataType::F32, DataType::S32}) && isByte(I::stored) &&
             (type(I::dstType) == type(I::stored) || type(I::dstType) == DataType::F32),
         "no such conversion");
}

void OpcodeCheck::requantizeAdd() const {
  using I = RequantizeAdd;
  expect(memory(I::src) == M::L0C && memory(I::dst) == M::UB && memory(I::scales) == M::UB &&
             memory(I::addend) == M::UB && !v.soc.split,
         "goes from l0c to ub of coupled cores, with scales and addend in ub");
  expect(oneOf(I::type, {DataType::F32, DataType::S32}) && isByte(I::dstType) &&
             isByte(I::stored) && isByte(I::addendType),
         "stores and adds u8 and s8 only");
}

void OpcodeCheck::vector() const {
  using I = Vector;
  VectorOp op = VectorOp(in.fields[I::op]);
  VectorOperands has = operandsOf(op);
  expect(memory(I::dst) == M::UB && (!has.a || memory(I::a) == M::UB) &&
             (!has.b || memory(I::b) == M::UB) && (!has.mask || memory(I::mask) == M::UB),
         "works on ub only");
  bool moves = op == VectorOp::Copy || op == VectorOp::Fill || isCast(op);
  expect(!isByte(I::type) || moves, "bytes can only be copied, filled and cast");
  expect(!isCast(op) || isType(in.fields[I::dstType]), "casts to no type");
}

void OpcodeCheck::flag() const {
  using I = SetFlag;
  expect((f(I::id) + Checked::max(1, f(I::slots))).isAtMost(kFlagIds), "flag ids are 0 .. 7");
  expect(!f(I::from).is(f(I::to)), "a queue needs no flag to itself");
  expect(f(I::depth).isAtMost(v.depth()), "counts more loops than are open");
}

void OpcodeCheck::run() const {
  switch (in.opcode) {
  case Opcode::Move:
    return move();
  case Opcode::MoveNdToNz:
  case Opcode::LoadImage:
    expect(memory(0) == M::L1 && memory(1) == M::GM, "goes from gm to l1 only");
    if (in.opcode == Opcode::LoadImage)
      loadImage();
    return;
  case Opcode::Load2D:
    return expect(memory(1) == M::L1 && (memory(0) == M::L0A || memory(0) == M::L0B),
                  "goes from l1 to l0a or l0b only");
  case Opcode::Img2Col:
    return img2Col();
  case Opcode::Mmad:
    return mmad();
  case Opcode::MoveL0C:
    return moveL0C();
  case Opcode::Requantize:
    return requantize();
  case Opcode::RequantizeAdd:
    return requantizeAdd();
  case Opcode::Vector:
    return vector();
  case Opcode::Transpose:
    return expect(memory(0) == M::UB && memory(1) == M::UB, "works on ub only");
  case Opcode::SetFlag:
  case Opcode::WaitFlag:
    return flag();
  case Opcode::Signal:
    return expect(f(Signal::event).isBelow(kEvents), "events are 0 .. 15");
  case Opcode::Await:
    return expect(f(Await::event).isBelow(kEvents), "events are 0 .. 15");
  case Opcode::PipeBarrier:
  case Opcode::LoopBegin:
  case Opcode::LoopEnd:
    return;
  }
}

} // namespace

void verifyOpcode(Verification &v, const Instruction &in, const CheckedInstruction &checked) {
  OpcodeCheck{v, in, checked}.run();
}

} // namespace atc::npu
