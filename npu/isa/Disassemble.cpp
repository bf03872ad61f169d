//===-- Disassemble.cpp - programs of the NPU as text ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/isa/Disassemble.h"

#include "npu/isa/Footprint.h"

#include <cstdio>

namespace atc::npu {

namespace {

std::string ivName(unsigned iv) {
  return iv < kGridDims ? "c" + std::to_string(iv) : "i" + std::to_string(iv - kGridDims);
}

std::string text(const Affine &affine) {
  std::string result;
  auto term = [&](int64_t value, const std::string &name) {
    // The negation wraps for the minimum, which yields the correct magnitude.
    uint64_t size = value < 0 ? -uint64_t(value) : uint64_t(value);
    result += result.empty() ? (value < 0 ? "-" : "") : value < 0 ? " - " : " + ";
    if (name.empty() || size != 1)
      result += std::to_string(size) + (name.empty() ? "" : " ");
    result += name;
  };
  if (affine.base)
    term(affine.base, "");
  for (unsigned i = 0; i < kMaxIvs; ++i)
    if (affine.strides[i])
      term(affine.strides[i], ivName(i));
  return result.empty() ? "0" : result;
}

/// The outermost loops, taken as one.
std::string loops(uint64_t depth) {
  std::string result;
  for (uint64_t i = 0; i < depth && i < kMaxLoops; ++i)
    result += (i ? " " : "") + ivName(kGridDims + unsigned(i));
  return result;
}

std::string text(const Address &address) {
  std::string result = nameOf(address.memory);
  if (address.memory == Memory::GM)
    result += std::to_string(address.argument);
  result += "[" + text(address.offset);
  if (address.slots != 1)
    result += " turns " + std::to_string(address.slots) + " x " +
              std::to_string(address.slotBytes) + " by " + loops(address.depth);
  return result + "]";
}

std::string text(const Range &range) {
  std::string result = std::to_string(range.length), start = text(range.start);
  if (start != "0")
    result += " from " + start;
  if (range.limit != INT64_MAX)
    result += " below " + std::to_string(range.limit);
  return result;
}

std::string queueName(int64_t number) { return nameOf(Queue(number)); }

std::string text(const FieldInfo &info, int64_t value) {
  std::string name = std::string(" ") + info.name;
  switch (info.kind) {
  case FieldKind::Flag:
    return name;
  case FieldKind::Float: {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.9g", floatOf(value));
    return name + "=" + digits;
  }
  case FieldKind::Type:
    return name + "=" + nameOf(DataType(value));
  case FieldKind::Op:
    return name + "=" + nameOf(VectorOp(value));
  case FieldKind::Unit:
    return name + "=" + queueName(value);
  case FieldKind::Mask: {
    std::string ivs;
    for (unsigned i = 0; i < kMaxIvs; ++i)
      if (value >> i & 1)
        ivs += (ivs.empty() ? "" : " ") + ivName(i);
    return name + "={" + ivs + "}";
  }
  default:
    return name + "=" + std::to_string(value);
  }
}

std::string flag(const Instruction &in) {
  const int64_t *f = in.fields;
  std::string result = " " + queueName(f[SetFlag::from]) + " -> " + queueName(f[SetFlag::to]) +
                       " id " + std::to_string(f[SetFlag::id]);
  if (f[SetFlag::slots] > 1)
    result +=
        " + (" + loops(uint64_t(f[SetFlag::depth])) + ") mod " + std::to_string(f[SetFlag::slots]);
  return result;
}

std::string operands(const Instruction &in) {
  const OpcodeInfo &info = infoOf(in.opcode);
  bool used[4] = {};
  CheckedOperand all[4]; // the program need not have been verified
  unsigned count = operandsOf(in, all);
  for (unsigned i = 0; i < count; ++i)
    used[all[i].address] = true;
  std::string result;
  for (unsigned i = 0; i < info.addressCount; ++i)
    if (used[i])
      result += std::string(" ") + info.addresses[i].name + "=" + text(in.addresses[i]);
  for (unsigned i = 0; i < info.rangeCount; ++i)
    if (std::string range = text(in.ranges[i]); range != "1")
      result += std::string(" ") + info.ranges[i] + "=" + range;
  bool vector = in.opcode == Opcode::Vector;
  bool cast = vector && isCast(VectorOp(in.fields[Vector::op]));
  for (unsigned i = 0; i < info.fieldCount; ++i) {
    if (vector && (i == Vector::op || (i == Vector::dstType && !cast)))
      continue;
    bool block = vector && i >= Vector::dstBlock;
    if (in.fields[i] != (block ? 32 : 0))
      result += text(info.fields[i], in.fields[i]);
  }
  return result;
}

} // namespace

std::string disassemble(const Instruction &in) {
  if (unsigned(in.opcode) >= kOpcodes)
    return "?";
  const int64_t *f = in.fields;
  std::string result = infoOf(in.opcode).mnemonic;
  switch (in.opcode) {
  case Opcode::SetFlag:
  case Opcode::WaitFlag:
    result += flag(in);
    break;
  case Opcode::PipeBarrier:
    result += " " + queueName(f[PipeBarrier::queue]);
    break;
  case Opcode::Signal:
    result += " " + queueName(f[Signal::queue]) + " event " + std::to_string(f[Signal::event]);
    break;
  case Opcode::Await:
    result += " " + queueName(f[Await::queue]) + " event " + std::to_string(f[Await::event]) +
              " until " + text(in.ranges[Await::value].start);
    break;
  case Opcode::LoopBegin:
    result += " of " + std::to_string(f[LoopBegin::trips]);
    break;
  case Opcode::LoopEnd:
    break;
  case Opcode::Vector:
    result += std::string(".") +
              (uint64_t(f[Vector::op]) < kVectorOps ? nameOf(VectorOp(f[Vector::op])) : "?");
    if (uint64_t(f[Vector::op]) < kVectorOps)
      result += operands(in);
    break;
  default:
    result += operands(in);
    break;
  }
  static const char *const guards[] = {"", "first", "not first", "last", "not last"};
  if (in.guard.kind != Guard::Always && in.guard.kind <= Guard::NotLast)
    result += std::string(" if ") + guards[in.guard.kind] + " " + ivName(in.guard.iv);
  return result;
}

/// Returns the number and the grid of a section's cores as text.
static std::string coresOf(const Section &section) {
  uint64_t cores = 1;
  std::string grid;
  for (uint32_t size : section.grid) {
    cores *= size;
    grid += (grid.empty() ? "" : " x ") + std::to_string(size);
  }
  return std::to_string(cores) + (section.vectorCore ? " vector" : "") + " cores (" + grid + ")";
}

std::string disassemble(const Program &program, std::string_view name) {
  const std::vector<Section> sections = program.sections();
  std::string result = "program" + (name.empty() ? "" : " `" + std::string(name) + "`") + ": " +
                       coresOf(sections.front());
  for (size_t i = 0; i < program.arguments.size(); ++i)
    result += ", gm" + std::to_string(i) + " " + std::to_string(program.arguments[i]);
  result += "\n";
  unsigned depth = 0;
  for (size_t i = 0; i < program.code.size(); ++i) {
    if (i && i == sections.back().begin)
      result += "at the same time on " + coresOf(sections.back()) + "\n";
    const Instruction &in = program.code[i];
    bool begin = in.opcode == Opcode::LoopBegin, end = in.opcode == Opcode::LoopEnd;
    if (end && depth)
      --depth;
    char head[40];
    std::snprintf(head, sizeof head, "%5zu  %-4s  ", i, begin || end ? "" : nameOf(queueOf(in)));
    result += head + std::string(2 * std::min(depth, kMaxLoops), ' ');
    std::string line = disassemble(in);
    // The loop names its induction variable.
    if (begin)
      line.insert(line.find(" of "), " i" + std::to_string(depth++));
    result += line + "\n";
  }
  return result;
}

} // namespace atc::npu
