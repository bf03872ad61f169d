//===-- VerifyOpcodes.cpp - memories and fields that an opcode can have ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memories of addresses and the element types of fields are those of Isa.def, for all opcodes
// alike. What follows are the rules that relate several parts of an instruction.

#include "npu/isa/SetText.h"
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
  DataType type(unsigned i) const { return DataType(in.fields[i]); }
  bool oneOf(unsigned i, std::initializer_list<DataType> types) const {
    return std::find(types.begin(), types.end(), type(i)) != types.end();
  }
  bool isByte(unsigned i) const { return oneOf(i, {DataType::U8, DataType::S8}); }
  void expect(bool good, const char *what) const { v.expect(good, what); }

  void run() const;

private:
  void memories() const;
  void types() const;
  void rules() const;
  void loadImage() const;
  void loadYuv() const;
  void img2Col() const;
  void moveL0C() const;
  void requantize() const;
  void vector() const;
  void flag() const;
  void gatherRows() const;
};

/// Checks the memories of the addresses that the instruction uses with these fields.
void OpcodeCheck::memories() const {
  const OpcodeInfo &info = infoOf(in.opcode);
  bool good = true;
  for (unsigned i = 0; i < checked.operandCount; ++i) {
    unsigned index = checked.operands[i].address;
    const AddressInfo &address = info.addresses[index];
    if (setOf(memory(index)) & address.memories)
      continue;
    good = false;
    v.error(std::string(address.name) + " is in " + nameOf(memory(index)) + ", it must be in " +
            textOf<M>(address.memories));
  }
  std::span<const MemoryPath> paths = pathsOf(in.opcode);
  if (!good || paths.empty())
    return;
  M to = memory(0), from = memory(1);
  if (std::find(paths.begin(), paths.end(), MemoryPath{from, to}) == paths.end())
    v.error(std::string("cannot go from ") + nameOf(from) + " to " + nameOf(to));
  if (from == M::L0C)
    expect(v.soc.split ? to != M::UB : to == M::UB,
           v.soc.split ? "split cores write results of l0c to gm or l1"
                       : "coupled cores write results of l0c to ub");
}

/// Checks the element types that the instruction has.
void OpcodeCheck::types() const {
  const OpcodeInfo &info = infoOf(in.opcode);
  for (unsigned i = 0; i < info.fieldCount; ++i) {
    const FieldInfo &field = info.fields[i];
    if (field.kind == FieldKind::Type && !(setOf(type(i)) & field.types))
      v.error(std::string(field.name) + " is " + nameOf(type(i)) + ", it must be " +
              textOf<DataType>(field.types));
  }
}

void OpcodeCheck::loadImage() const {
  using I = LoadImage;
  expect(f(I::channels).isWithin(1, f(I::c0)) && f(I::c0).isAtMost(16) && f(I::width).isAtLeast(1),
         "takes 1 to c0 <= 16 channels");
  expect(floatOf(in.fields[I::scale]) == 0 || oneOf(I::type, {DataType::F32, DataType::F16}),
         "quantizes f32 and f16 only");
}

void OpcodeCheck::loadYuv() const {
  using I = LoadYuv;
  expect(f(I::channels).isWithin(1, 3) && f(I::channels).isAtMost(f(I::c0)) &&
             f(I::c0).isAtMost(16),
         "makes 1 to 3 channels of at most c0 <= 16");
  expect(f(I::width).isAtLeast(2) && f(I::width).isMultipleOf(2) && f(I::chromaRows).isAtLeast(1),
         "has pairs of pixels");
  const CheckedInstruction::Range &rows = checked.ranges[I::rows];
  expect(rows.limited && rows.limit.isAtMost(f(I::chromaRows) * 2),
         "has rows below a limit, at most two for each row of chroma");
}

void OpcodeCheck::img2Col() const {
  using I = Img2Col;
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

void OpcodeCheck::moveL0C() const {
  using I = MoveL0C;
  bool isInteger = type(I::type) == DataType::S32;
  expect(isInteger ? oneOf(I::dstType, {DataType::S32, DataType::F16, DataType::S8})
                   : oneOf(I::dstType, {DataType::F32, DataType::F16, DataType::BF16}),
         "no such conversion");
}

void OpcodeCheck::requantize() const {
  using I = Requantize;
  expect(type(I::dstType) == type(I::stored) || type(I::dstType) == DataType::F32,
         "no such conversion");
  expect((memory(0) == M::UB) == (memory(2) == M::UB),
         "has its scales in ub where it writes to ub, in l1 where it writes to gm");
}

void OpcodeCheck::vector() const {
  using I = Vector;
  VectorOp op = VectorOp(in.fields[I::op]);
  bool moves = op == VectorOp::Copy || op == VectorOp::Fill || isCast(op);
  expect(!isByte(I::type) || moves, "bytes can only be copied, filled and cast");
  expect(type(I::type) != DataType::S64 || isCast(op) || op == VectorOp::Broadcast,
         "s64 can only be broadcast and cast");
}

void OpcodeCheck::flag() const {
  using I = SetFlag;
  expect((f(I::id) + Checked::max(1, f(I::slots))).isAtMost(kFlagIds), "flag ids are 0 .. 7");
  expect(!f(I::from).is(f(I::to)), "a queue needs no flag to itself");
  expect(f(I::depth).isAtMost(v.depth()), "counts more loops than are open");
}

void OpcodeCheck::gatherRows() const {
  using I = GatherRows;
  expect(f(I::tableRows).isWithin(1, INT32_MAX) && f(I::srcRow).isAtLeast(0),
         "takes tables of 1 to 2^31 - 1 rows with a stride that is not negative");
  expect(f(I::indexStep).is(4) || f(I::indexStep).is(8), "takes indices of 4 or 8 bytes");
}

void OpcodeCheck::rules() const {
  switch (in.opcode) {
  case Opcode::GatherRows:
    return gatherRows();
  case Opcode::LoadImage:
    return loadImage();
  case Opcode::LoadYuv:
    return loadYuv();
  case Opcode::Img2Col:
    return img2Col();
  case Opcode::MoveL0C:
    return moveL0C();
  case Opcode::Requantize:
    return requantize();
  case Opcode::Vector:
    return vector();
  case Opcode::SetFlag:
  case Opcode::WaitFlag:
    return flag();
  case Opcode::Signal:
    return expect(f(Signal::event).isBelow(kEvents), "events are 0 .. 15");
  case Opcode::Await:
    return expect(f(Await::event).isBelow(kEvents), "events are 0 .. 15");
  default:
    return;
  }
}

void OpcodeCheck::run() const {
  memories();
  types();
  rules();
}

} // namespace

void verifyOpcode(Verification &v, const Instruction &in, const CheckedInstruction &checked) {
  OpcodeCheck{v, in, checked}.run();
}

} // namespace atc::npu
