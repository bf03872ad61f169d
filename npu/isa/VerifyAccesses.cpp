//===-- VerifyAccesses.cpp - proves that accesses stay in their memory ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Uses bounds over all iterations and, where these prove nothing, the same bounds for each
// iteration, which are exact.

#include "npu/isa/VerifyParts.h"

namespace atc::npu {

namespace {

class AccessCheck {
public:
  AccessCheck(Verification &v, const Instruction &in, const CheckedInstruction &checked)
      : v(v), in(in), checked(checked), box(v.frame, in.guard), proof(checked, box) {}

  void run();
  Checked elements() const;

private:
  bool costs();
  bool aligned(const CheckedOperand &operand);
  bool points();
  bool point(const Frame &at);
  Checked sizeOf(const CheckedOperand &operand) const {
    const Address &address = in.addresses[operand.address];
    return Checked(address.memory == Memory::GM ? v.program.arguments[address.argument]
                                                : v.soc.memoryBytes(address.memory));
  }
  std::string nameOf(const CheckedOperand &operand) const {
    return infoOf(in.opcode).addresses[operand.address].name;
  }
  std::string where(const CheckedOperand &operand, const Cover &cover) const {
    return cover.begin.text() + " to " + cover.end.text() + " of " +
           npu::nameOf(in.addresses[operand.address].memory) + ", which has " +
           sizeOf(operand).text();
  }

  Verification &v;
  const Instruction &in;
  const CheckedInstruction &checked;
  const IvBox box;
  const Proof proof;
};

void AccessCheck::run() {
  if (proof.never())
    return;
  if (!costs())
    return;
  for (unsigned i = 0; i < checked.operandCount; ++i)
    if (!aligned(checked.operands[i]))
      return;
  std::string open; // what the bounds over all iterations do not prove
  for (unsigned i = 0; i < checked.operandCount; ++i) {
    const CheckedOperand &operand = checked.operands[i];
    Cover cover = proof.cover(i, sizeOf(operand));
    // Checked for all operands before any iteration: execution relies on it.
    if (cover.tooLarge)
      return v.error(nameOf(operand) + " is too large");
    if (open.empty() && !cover.isInside(sizeOf(operand)))
      open = nameOf(operand) + " may cover bytes " + where(operand, cover);
  }
  if (!open.empty() && !points())
    v.error(open + "; its many iterations were not looked at");
}

/// Checks the cost of executing the instruction once.
bool AccessCheck::costs() {
  Checked count = elements();
  if (!count.isAtMost(Checked(Limits::MaxElements))) {
    v.error("goes over " + count.text() + " elements at once, more than " +
            std::to_string(Limits::MaxElements));
    return false;
  }
  if (in.opcode != Opcode::Mmad)
    return true;
  Checked left = proof.positions(Mmad::m) * (proof.positions(Mmad::k) + 64);
  if (left.isAtMost(Checked(Limits::MaxOperandElements)))
    return true;
  v.error("has a left operand of " + left.text() + " elements, more than " +
          std::to_string(Limits::MaxOperandElements));
  return false;
}

/// Checks the alignment of addresses and strides between blocks in local memories.
bool AccessCheck::aligned(const CheckedOperand &operand) {
  const CheckedInstruction::Address &address = checked.addresses[operand.address];
  Memory memory = in.addresses[operand.address].memory;
  Checked step(v.soc.alignment(memory));
  auto must = [&](Checked value, const char *what) {
    if (value.isMultipleOf(step))
      return true;
    v.error(nameOf(operand) + what + value.text() + " of " + npu::nameOf(memory) +
            ", which must be a multiple of " + step.text());
    return false;
  };
  Checked lowest = address.offset.base;
  for (unsigned i = 0; i < kMaxIvs; ++i)
    lowest += address.offset.strides[i] * box.low[i];
  if (!must(lowest, " lies at byte "))
    return false;
  for (unsigned i = 0; i < kMaxIvs; ++i)
    if (!box.high[i].is(box.low[i]) && !must(address.offset.strides[i], " moves by bytes "))
      return false;
  if (address.slots > 1 && !must(address.slotBytes, " turns by bytes "))
    return false;
  for (unsigned t = 0; t < operand.termCount; ++t)
    if (operand.terms[t].given && proof.moves(operand.terms[t]) &&
        !must(operand.terms[t].stride, " has blocks at strides of bytes "))
      return false;
  return true;
}

/// Checks every iteration; ivs that no part of the instruction uses stay 0. Returns false if there
/// are too many.
bool AccessCheck::points() {
  bool used[kMaxIvs] = {};
  auto mark = [&](const Linear &value) {
    for (unsigned i = 0; i < kMaxIvs; ++i)
      used[i] |= !value.strides[i].is(0);
  };
  for (unsigned i = 0; i < checked.rangeCount; ++i)
    mark(checked.ranges[i].start);
  for (const CheckedInstruction::Address &address : checked.addresses) {
    mark(address.offset);
    if (address.slots > 1)
      for (unsigned loop = 0; loop < address.depth; ++loop)
        used[kGridDims + loop] = true;
  }
  if (in.guard.kind != Guard::Always)
    used[in.guard.iv] = true;
  Checked count = 1;
  for (unsigned i = 0; i < kMaxIvs; ++i)
    if (used[i])
      count *= checked.trips[i];
  if (!count.isAtMost(Checked(std::min(Limits::MaxPoints, v.budget.points))))
    return false;
  Frame at = v.frame;
  for (;;) {
    --v.budget.points;
    if (in.guard.admits(at) && !point(at))
      return true;
    unsigned i = 0;
    for (; i < kMaxIvs; ++i) {
      if (!used[i])
        continue;
      if (++at.ivs[i] < at.trips[i])
        break;
      at.ivs[i] = 0;
    }
    if (i == kMaxIvs)
      return true;
  }
}

/// Looks at a single iteration; returns false after an error.
bool AccessCheck::point(const Frame &at) {
  const IvBox here(at.ivs);
  const Proof once(checked, here);
  if (once.never())
    return true;
  for (unsigned i = 0; i < checked.operandCount; ++i) {
    const CheckedOperand &operand = checked.operands[i];
    Cover cover = once.cover(i, sizeOf(operand));
    if (cover.isInside(sizeOf(operand)))
      continue;
    v.error(nameOf(operand) + " covers bytes " + where(operand, cover));
    return false;
  }
  return true;
}

/// Returns the maximum number of elements or products per iteration.
Checked AccessCheck::elements() const {
  Checked product = 1;
  for (unsigned i = 0; i < checked.rangeCount; ++i)
    if (checked.ranges[i].counts)
      product *= Checked::max(1, proof.positions(i));
  switch (in.opcode) {
  case Opcode::LoadImage: // a pixel of c0 channels is written whole
    return product * checked.fields[LoadImage::width] *
           Checked::max(1, checked.fields[LoadImage::c0]);
  case Opcode::LoadYuv:
    return product * checked.fields[LoadYuv::width] * Checked::max(1, checked.fields[LoadYuv::c0]);
  case Opcode::Load2D:
  case Opcode::Transpose: // blocks of 16 x 16
    return product * 256;
  case Opcode::Img2Col: // one row of a fractal
    return product * 32;
  case Opcode::Vector: // a broadcast fills a block of 32 bytes from each element
    return checked.fields[Vector::op].is(int(VectorOp::Broadcast)) ? product * 32 : product;
  default:
    return product;
  }
}

} // namespace

Checked verifyAccesses(Verification &v, const Instruction &in, const CheckedInstruction &checked) {
  AccessCheck check(v, in, checked);
  check.run();
  return check.elements();
}

} // namespace atc::npu
