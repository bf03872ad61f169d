//===-- NpuMutator.cpp - changes programs so that they stay programs ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most changed bytes make a program that cannot be decoded. This mutator changes
// its numbers: strides, trip counts, offsets, lengths, fields, sizes and the values
// of the SoC's table, a little or to where limits and 64 bits end.

#include "npu/isa/Codec.h"
#include "npu/soc/Limits.h"
#include "test/fuzz/NpuInput.h"

#include <random>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

using namespace atc::npu;

namespace {

/// Computes with numbers that may be anything.
int64_t sum(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
int64_t product(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }

class Mutator {
public:
  Mutator(Program &program, std::string &table, unsigned seed)
      : program(program), table(table), random(seed) {
    random.discard(2);
  }

  void mutateOnce() {
    if (program.code.empty())
      return addInstruction(Instruction());
    Instruction &in = program.code[below(program.code.size())];
    switch (below(16)) {
    case 0:
      return changeLoop();
    case 1:
      in.guard = {Guard::Kind(below(5)), uint8_t(below(kMaxIvs))};
      return;
    case 2:
      return changeHeader();
    case 3:
      return changeList(in);
    case 4:
      return changeTable();
    default:
      return changeNumber(in);
    }
  }

private:
  size_t below(size_t limit) { return random() % std::max<size_t>(limit, 1); }

  int64_t special() {
    static constexpr int64_t numbers[] = {0,
                                          1,
                                          -1,
                                          INT64_MAX,
                                          INT64_MIN,
                                          Limits::MaxNumber,
                                          -Limits::MaxNumber,
                                          Limits::MaxNumber + 1,
                                          Limits::MaxCount,
                                          Limits::MaxCount + 1};
    if (below(3) == 0)
      return numbers[below(std::size(numbers))];
    int64_t value = int64_t(uint64_t(1) << below(63)) + int64_t(below(3)) - 1;
    return below(2) ? value : -value;
  }

  void change(int64_t &value) {
    static constexpr int64_t units[] = {1, 2, 16, 32, 64, 512};
    switch (below(7)) {
    case 0:
      value = special();
      return;
    case 1:
      value = sum(~value, 1);
      return;
    case 2:
      value = product(value, 2);
      return;
    case 3:
      value /= 2;
      return;
    case 4:
      value = last; // what another number had: they belong together often
      return;
    default:
      last = value;
      value = sum(value, product(int64_t(below(9)) - 4, units[below(std::size(units))]));
      return;
    }
  }

  void change(Affine &value) {
    size_t which = below(kMaxIvs + 2);
    if (which >= kMaxIvs)
      return change(value.base);
    // Mostly a stride that is there.
    for (unsigned i = 0; i < kMaxIvs && !value.strides[which]; ++i)
      which = (which + 1) % kMaxIvs;
    change(value.strides[which]);
  }

  void change(Address &value) {
    switch (below(8)) {
    case 0:
      value.memory = Memory(below(kMemories));
      return;
    case 1:
      value.argument = uint8_t(below(4));
      return;
    case 2:
      value.slots = uint8_t(1 + below(below(4) ? 4 : 255));
      value.depth = uint8_t(below(kMaxLoops + 1));
      return change(value.slotBytes);
    case 3:
      return change(value.slotBytes);
    default:
      return change(value.offset);
    }
  }

  void changeNumber(Instruction &in) {
    const OpcodeInfo &info = infoOf(in.opcode);
    size_t all = info.addressCount + info.rangeCount + info.fieldCount;
    if (!all)
      return;
    size_t which = below(all);
    if (which < info.addressCount)
      return change(in.addresses[which]);
    which -= info.addressCount;
    if (which < info.rangeCount) {
      Range &range = in.ranges[which];
      size_t part = below(5);
      return part < 2    ? change(range.length)
             : part == 2 ? change(range.limit)
                         : change(range.start);
    }
    which -= info.rangeCount;
    FieldKind kind = info.fields[which].kind;
    static constexpr int64_t types[] = {1, 2, 3, 6, 10, 16};
    if (kind == FieldKind::Type)
      in.fields[which] = types[below(std::size(types))];
    else if (kind == FieldKind::Op)
      in.fields[which] = int64_t(below(kVectorOps));
    else if (kind == FieldKind::Flag)
      in.fields[which] ^= 1;
    else
      change(in.fields[which]);
  }

  void changeLoop() {
    for (size_t i = below(program.code.size()), n = 0; n < program.code.size(); ++n, ++i)
      if (Instruction &in = program.code[i % program.code.size()]; in.opcode == Opcode::LoopBegin)
        return change(in.fields[LoopBegin::trips]);
  }

  void changeHeader() {
    if (below(2) && !program.arguments.empty()) {
      int64_t bytes = int64_t(program.arguments[below(program.arguments.size())]);
      change(bytes);
      program.arguments[below(program.arguments.size())] = uint64_t(bytes);
    } else if (below(4) == 0) {
      // A mixed program, or none any more.
      program.vectorGrid[below(kGridDims)] = uint32_t(below(8) ? below(3) : random());
      program.vectorBegin = uint32_t(below(program.code.size() + 2));
    } else if (below(4) == 0) {
      program.vectorCore = !program.vectorCore;
    } else {
      program.grid[below(kGridDims)] = uint32_t(below(8) ? below(9) : random());
    }
  }

  void addInstruction(const Instruction &in) {
    if (program.code.size() < 256)
      program.code.insert(program.code.begin() + long(below(program.code.size() + 1)), in);
  }

  /// Instructions come, go, change places, or get a loop around them.
  void changeList(const Instruction &in) {
    switch (below(4)) {
    case 0:
      return addInstruction(in);
    case 1:
      program.code.erase(program.code.begin() + long(below(program.code.size())));
      return;
    case 2:
      return std::swap(program.code[below(program.code.size())],
                       program.code[below(program.code.size())]);
    default: {
      Instruction begin, end;
      begin.opcode = Opcode::LoopBegin;
      begin.fields[LoopBegin::trips] = int64_t(1 + below(below(2) ? 4 : 1 << 20));
      end.opcode = Opcode::LoopEnd;
      size_t first = below(program.code.size()), last = first + below(8);
      program.code.insert(program.code.begin() + long(first), begin);
      program.code.insert(program.code.begin() + long(std::min(last + 2, program.code.size())),
                          end);
    }
    }
  }

  void changeTable() {
    static constexpr const char *keys[] = {
#define SOC_PROPERTY(kind, key, ...) #key,
#include "npu/soc/Soc.def"
    };
    if (below(4) == 0 || table.size() > 2000)
      table.clear();
    if (table.empty())
      table = below(2) ? "base = Ascend310P3\n" : "base = Ascend910B1\n";
    static constexpr const char *values[] = {"0",    "1",          "2",    "33",   "512", "1000",
                                             "8192", "0.00000001", "1e17", "1e-9", "nan", "-1"};
    std::string value =
        below(3) ? std::to_string(uint64_t(1) << below(64)) : values[below(std::size(values))];
    table += std::string(keys[below(std::size(keys))]) + " = " + value + "\n";
  }

  Program &program;
  std::string &table;
  std::minstd_rand random;
  int64_t last = 0;
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  test::NpuInput input = test::splitInput(data, size);
  Program program;
  std::string error;
  if (seed % 32 == 0 || !decode(input.code, input.codeBytes, program, error))
    return LLVMFuzzerMutate(data, size, maxSize);
  Mutator mutator(program, input.table, seed);
  for (unsigned i = 0; i <= seed / 32 % 3; ++i)
    mutator.mutateOnce();
  std::vector<uint8_t> code = encode(program), result;
  if (!input.table.empty()) {
    result.assign({'S', 'O', 'C'});
    result.insert(result.end(), input.table.begin(), input.table.end());
    result.push_back(0);
  }
  result.insert(result.end(), code.begin(), code.end());
  if (result.size() > maxSize)
    return size;
  std::memcpy(data, result.data(), result.size());
  return result.size();
}
