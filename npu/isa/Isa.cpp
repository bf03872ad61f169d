//===-- Isa.cpp - names and facts of the instruction set ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/isa/Isa.h"

using namespace atc::npu;

namespace {

using namespace sets;

// Each table ends with an additional entry: C++ has no empty arrays.
#define NPU_INSTRUCTION(Name, mnemonic, queue, summary, doc, time, addressList, rangeList,         \
                        fieldList, ...)                                                            \
  const AddressInfo addresses##Name[] = {addressList{nullptr, Access::Read, 0}};                   \
  const char *const ranges##Name[] = {rangeList nullptr};                                          \
  const FieldInfo fields##Name[] = {fieldList{nullptr, FieldKind::Count}};
#define R(name, memories) {#name, Access::Read, memories},
#define W(name, memories) {#name, Access::Write, memories},
#define U(name, memories) {#name, Access::Update, memories},
#define O(name, memories) {#name, Access::Read, memories, true},
#define N(name) #name,
#define F(name, kind) {#name, FieldKind::kind},
#define D(name, kind, value) {#name, FieldKind::kind, AnyType, value, true},
#define T(name, types) {#name, FieldKind::Type, types},
#define P(name, address) {#name, FieldKind::Flag},
#include "npu/isa/Isa.def"

const OpcodeInfo infos[] = {
#define NPU_INSTRUCTION(Name, mnemonic, queue, summary, doc, time, ...)                            \
  {#Name,                                                                                          \
   mnemonic,                                                                                       \
   doc,                                                                                            \
   time,                                                                                           \
   addresses##Name,                                                                                \
   ranges##Name,                                                                                   \
   fields##Name,                                                                                   \
   Name::addressCount,                                                                             \
   Name::rangeCount,                                                                               \
   Name::fieldCount},
#include "npu/isa/Isa.def"
};

#define NPU_INSTRUCTION(Name, ...)                                                                 \
  static_assert(Name::addressCount <= 4 && Name::rangeCount <= 3,                                  \
                #Name " has more parts than Instruction");
#include "npu/isa/Isa.def"

/// Returns the queue of a `move`, which follows from its source.
Queue queueOfMove(const Instruction &in) {
  Memory source = in.addresses[Move::src].memory;
  if (source == Memory::GM)
    return Queue::MTE2;
  return source == Memory::UB ? Queue::MTE3 : Queue::MTE1;
}

/// Returns the queue of a `move_l0c`: V in coupled cores, which write to ub, FIX in split ones.
Queue queueOfMoveL0C(const Instruction &in) {
  return in.addresses[MoveL0C::dst].memory == Memory::UB ? Queue::V : Queue::FIX;
}

/// Returns the paths of all opcodes: those of `move` are rows of their own, others lead from any
/// memory of `src` to any of `dst`.
std::vector<std::vector<MemoryPath>> makePaths() {
  std::vector<std::vector<MemoryPath>> paths(kOpcodes);
#define NPU_MOVE_PATH(From, To) paths[unsigned(Opcode::Move)].push_back({Memory::From, Memory::To});
#include "npu/isa/Isa.def"
  for (unsigned i = 0; i < kOpcodes; ++i) {
    const OpcodeInfo &info = infos[i];
    if (!paths[i].empty() || info.addressCount < 2 ||
        info.addresses[0].name != std::string_view("dst") ||
        info.addresses[1].name != std::string_view("src"))
      continue;
    for (unsigned from = 0; from < kMemories; ++from)
      for (unsigned to = 0; to < kMemories; ++to)
        if ((info.addresses[1].memories >> from & 1) && (info.addresses[0].memories >> to & 1))
          paths[i].push_back({Memory(from), Memory(to)});
  }
  return paths;
}

} // namespace

const OpcodeInfo &atc::npu::infoOf(Opcode opcode) { return infos[unsigned(opcode)]; }

std::span<const MemoryPath> atc::npu::pathsOf(Opcode opcode) {
  static const std::vector<std::vector<MemoryPath>> paths = makePaths();
  return paths[unsigned(opcode)];
}

Queue atc::npu::queueOf(const Instruction &in) {
  switch (in.opcode) {
#define NPU_INSTRUCTION(Name, mnemonic, queue, ...)                                                \
  case Opcode::Name:                                                                               \
    return queue;
#include "npu/isa/Isa.def"
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

std::vector<uint32_t> atc::npu::Program::layerOfInstructions() const {
  if (layers.empty())
    return {};
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> layerOf(code.size(), kNone);
  for (uint32_t i = 0; i < layers.size(); ++i)
    if (layers[i].begin < code.size())
      layerOf[layers[i].begin] = i;
  uint32_t last = 0;
  for (uint32_t &layer : layerOf)
    layer = last = layer == kNone ? last : layer;
  return layerOf;
}
