//===-- Isa.cpp - names and facts of the instruction set ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/isa/Isa.h"

using namespace atc::npu;

namespace {

// Each table ends with an additional entry: C++ has no empty arrays.
#define NPU_INSTRUCTION(Name, mnemonic, doc, addressList, rangeList, fieldList)                    \
  const AddressInfo addresses##Name[] = {addressList{nullptr, Access::Read}};                      \
  const char *const ranges##Name[] = {rangeList nullptr};                                          \
  const FieldInfo fields##Name[] = {fieldList{nullptr, FieldKind::Count}};
#define R(name) {#name, Access::Read},
#define W(name) {#name, Access::Write},
#define U(name) {#name, Access::Update},
#define N(name) #name,
#define F(name, kind) {#name, FieldKind::kind},
#include "npu/isa/Isa.def"

const OpcodeInfo infos[] = {
#define NPU_INSTRUCTION(Name, mnemonic, doc, ...)                                                  \
  {#Name,                                                                                          \
   mnemonic,                                                                                       \
   doc,                                                                                            \
   addresses##Name,                                                                                \
   ranges##Name,                                                                                   \
   fields##Name,                                                                                   \
   Name::addressCount,                                                                             \
   Name::rangeCount,                                                                               \
   Name::fieldCount},
#define R(name)
#define W(name)
#define U(name)
#define N(name)
#define F(name, kind)
#include "npu/isa/Isa.def"
};

#define NPU_INSTRUCTION(Name, ...)                                                                 \
  static_assert(Name::addressCount <= 4 && Name::rangeCount <= 3 && Name::fieldCount <= 19);
#define R(name)
#define W(name)
#define U(name)
#define N(name)
#define F(name, kind)
#include "npu/isa/Isa.def"

Queue moveQueue(Memory source) {
  if (source == Memory::GM)
    return Queue::MTE2;
  return source == Memory::UB ? Queue::MTE3 : Queue::MTE1;
}

} // namespace

const OpcodeInfo &atc::npu::infoOf(Opcode opcode) { return infos[unsigned(opcode)]; }

const char *atc::npu::nameOf(Memory memory) {
  static const char *const names[] = {"gm", "l1", "l0a", "l0b", "l0c", "ub", "bt"};
  return unsigned(memory) < kMemories ? names[unsigned(memory)] : "?";
}

const char *atc::npu::nameOf(Queue queue) {
  static const char *const names[] = {"S", "M", "V", "MTE1", "MTE2", "MTE3", "FIX"};
  return unsigned(queue) < kQueues ? names[unsigned(queue)] : "?";
}

const char *atc::npu::nameOf(DataType type) {
  switch (type) {
  case DataType::F32:
    return "f32";
  case DataType::U8:
    return "u8";
  case DataType::S8:
    return "s8";
  case DataType::S32:
    return "s32";
  case DataType::F16:
    return "f16";
  case DataType::BF16:
    return "bf16";
  }
  return "?";
}

bool atc::npu::isType(int64_t number) {
  return number == 1 || number == 2 || number == 3 || number == 6 || number == 10 || number == 16;
}

Queue atc::npu::queueOf(const Instruction &instruction) {
  const int64_t *fields = instruction.fields;
  switch (instruction.opcode) {
  case Opcode::Move:
    return moveQueue(instruction.addresses[Move::src].memory);
  case Opcode::MoveNdToNz:
  case Opcode::LoadImage:
    return Queue::MTE2;
  case Opcode::Load2D:
  case Opcode::Img2Col:
    return Queue::MTE1;
  case Opcode::Mmad:
    return Queue::M;
  case Opcode::MoveL0C:
    return instruction.addresses[MoveL0C::dst].memory == Memory::UB ? Queue::V : Queue::FIX;
  case Opcode::Vector:
  case Opcode::Transpose:
  case Opcode::Requantize:
  case Opcode::RequantizeAdd:
    return Queue::V;
  case Opcode::SetFlag:
    return Queue(fields[SetFlag::from]);
  case Opcode::WaitFlag:
    return Queue(fields[WaitFlag::to]);
  case Opcode::PipeBarrier:
    return Queue(fields[PipeBarrier::queue]);
  case Opcode::Signal:
    return Queue(fields[Signal::queue]);
  case Opcode::Await:
    return Queue(fields[Await::queue]);
  case Opcode::LoopBegin:
  case Opcode::LoopEnd:
    return Queue::S;
  }
  return Queue::S;
}

unsigned atc::npu::flagOf(const Instruction &instruction, const Frame &frame) {
  static_assert(int(SetFlag::id) == int(WaitFlag::id) &&
                int(SetFlag::slots) == int(WaitFlag::slots) &&
                int(SetFlag::depth) == int(WaitFlag::depth));
  int64_t id = instruction.fields[SetFlag::id], slots = instruction.fields[SetFlag::slots];
  if (slots > 1) {
    unsigned depth = std::min<unsigned>(instruction.fields[SetFlag::depth], frame.depth);
    id += frame.linear(0, depth) % slots;
  }
  return unsigned(id);
}
