//===-- Proof.cpp - bounds of what an instruction touches -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/isa/Proof.h"

#include <cassert>

namespace atc::npu {

namespace {

/// Seven products up to this and an offset fit into 64 bits.
constexpr Checked kSafe = Checked::power(60);
/// Multipliers beyond this are not tried: strides are up to 2^40.
constexpr Checked kMaxMultiplier = Checked::power(45);
/// The maximum number of rounds of the search. Each yields a bound; four suffice for programs of
/// the compiler.
constexpr unsigned kMaxSearchRounds = 32;

bool isSafe(Checked steps, Checked stride) {
  return (steps.magnitude() * stride.magnitude()).isAtMost(kSafe);
}

} // namespace

IvBox::IvBox(const Frame &frame, const Guard &guard) {
  for (unsigned i = 0; i < kMaxIvs; ++i)
    high[i] = Checked(frame.trips[i]) - 1;
  if (guard.kind == Guard::Always)
    return;
  Checked &from = low[guard.iv], &to = high[guard.iv];
  switch (guard.kind) {
  case Guard::First:
    to = 0;
    break;
  case Guard::NotFirst:
    from = 1;
    break;
  case Guard::Last:
    from = to;
    break;
  default:
    to -= 1;
    break;
  }
  empty = from.isAbove(to);
}

IvBox::IvBox(const int64_t *ivs) {
  for (unsigned i = 0; i < kMaxIvs; ++i)
    low[i] = high[i] = Checked(ivs[i]);
}

Linear::Linear(const Affine &affine) : base(affine.base) {
  for (unsigned i = 0; i < kMaxIvs; ++i)
    strides[i] = Checked(affine.strides[i]);
}

void Linear::add(const Linear &other, Checked factor) {
  base += other.base * factor;
  for (unsigned i = 0; i < kMaxIvs; ++i)
    if (!other.strides[i].is(0)) // usually true
      strides[i] += other.strides[i] * factor;
}

Checked Linear::highest(const IvBox &box) const {
  Checked sum = base;
  for (unsigned i = 0; i < kMaxIvs; ++i)
    if (!strides[i].is(0))
      sum += strides[i] * (strides[i].isAbove(0) ? box.high[i] : box.low[i]);
  return sum;
}

Checked Linear::lowest(const IvBox &box) const {
  Checked sum = base;
  for (unsigned i = 0; i < kMaxIvs; ++i)
    if (!strides[i].is(0))
      sum += strides[i] * (strides[i].isAbove(0) ? box.low[i] : box.high[i]);
  return sum;
}

CheckedInstruction::CheckedInstruction(const Instruction &in, const Frame &frame)
    : opcode(in.opcode) {
  const OpcodeInfo &info = infoOf(in.opcode);
  rangeCount = info.rangeCount;
  for (unsigned i = 0; i < rangeCount; ++i) {
    ranges[i] = {Linear(in.ranges[i].start), Checked(in.ranges[i].length),
                 Checked(in.ranges[i].limit), in.ranges[i].limit != INT64_MAX,
                 in.opcode != Opcode::Img2Col || i != Img2Col::row0};
  }
  for (unsigned i = 0; i < info.addressCount; ++i)
    addresses[i] = {Linear(in.addresses[i].offset), Checked(in.addresses[i].slotBytes),
                    in.addresses[i].slots, in.addresses[i].depth};
  for (unsigned i = 0; i < info.fieldCount; ++i)
    fields[i] = Checked(in.fields[i]);
  for (unsigned i = 0; i < kMaxIvs; ++i)
    trips[i] = Checked(frame.trips[i]);
  operandCount = operandsOf(in, operands);
}

Proof::Proof(const CheckedInstruction &instruction, const IvBox &box)
    : in(instruction), box(box), nothing(box.empty) {
  for (unsigned i = 0; i < in.rangeCount; ++i) {
    const CheckedInstruction::Range &range = in.ranges[i];
    Checked low = range.start.lowest(box), high = range.start.highest(box);
    constant[i] = low.is(high);
    first[i] = Checked::max(0, -high);
    last[i] = Checked::min(range.length, range.limit - low) - 1;
    nothing |= range.counts && first[i].isAbove(last[i]);
  }
}

/// Returns the steps of an operand along a term's range. Positions i are divided into groups, and
/// the number of groups is rounded up to `pad`.
IvSteps Proof::steps(const TermOf<Checked> &term) const {
  IvSteps result;
  result.stride = term.stride;
  if (term.range < 0) {
    result.high = term.count - 1;
    return result;
  }
  const CheckedInstruction::Range &range = in.ranges[term.range];
  result.low = first[term.range].dividedBy(term.group);
  result.high =
      (last[term.range].dividedBy(term.group) + term.pad).dividedBy(term.pad) * term.pad - 1;
  if (constant[term.range])
    return result;
  result.tied = true;
  result.tie = range.start;
  result.group = term.group;
  result.tieLow = 1 - term.group;
  result.above = range.limited;
  result.tieHigh = range.limit - 1 + Checked(term.group) * (term.pad - 1);
  return result;
}

/// Adds the steps of the image that an img2col reads: output positions are split into image, row
/// and column, k into blocks of channels and taps. Where the parts of the starts are whole rows,
/// images or blocks, they move with the ivs; otherwise all are included.
void Proof::image(Linear &address, StepList &list, bool &tooLarge) const {
  using I = Img2Col;
  const Checked *f = in.fields;
  Checked row = f[I::width] * f[I::c0] * f[I::elementBytes];
  auto split = [&](const Linear &from, Linear &whole, Linear &rest, Checked part) {
    whole.base = from.base.dividedBy(part);
    rest.base = from.base - whole.base * part;
    for (unsigned i = 0; i < kMaxIvs; ++i)
      if (from.strides[i].isMultipleOf(part))
        whole.strides[i] = from.strides[i].dividedBy(part);
      else
        rest.strides[i] = from.strides[i];
  };
  auto add = [&](const Linear &tie, Checked low, Checked high, Checked stride, Checked limit) {
    address.add(tie, stride);
    IvSteps &one = list.add();
    one.low = low;
    one.high = high;
    one.stride = stride;
    one.tied = one.above = true;
    one.tie = tie;
    one.tieHigh = limit - 1;
    for (Checked reach : {tie.lowest(box), tie.highest(box), low, high})
      tooLarge |= !isSafe(reach, stride);
  };
  // Output positions.
  Checked area = f[I::outHeight] * f[I::outWidth], outWidth = f[I::outWidth];
  Linear start = in.ranges[I::m].start, images, inside, rows, rest;
  bool single = in.ranges[I::m].limit.isAtMost(area);
  if (single)
    inside = start;
  else
    split(start, images, inside, area);
  split(inside, rows, rest, outWidth);
  Checked row0 = (rest.lowest(box) + first[I::m]).dividedBy(outWidth);
  Checked row1 = (rest.highest(box) + last[I::m]).dividedBy(outWidth);
  Linear none, y;
  Checked taps = (f[I::kernelH] - 1) * f[I::dilationH];
  const Checked anyImage = Checked::power(50);
  if (single || ((rows.lowest(box) + row0).isAtLeast(0) &&
                 (rows.highest(box) + row1).isBelow(f[I::outHeight]))) {
    // Whole in one image.
    add(images, 0, 0, f[I::srcImage], anyImage);
  } else {
    Checked low = (inside.lowest(box) + first[I::m]).dividedBy(area);
    Checked high = (inside.highest(box) + last[I::m]).dividedBy(area);
    add(images, low, high, f[I::srcImage], anyImage);
    rows = none;
    row0 = 0;
    row1 = f[I::outHeight] - 1;
  }
  y.add(rows, f[I::strideH]);
  y.base -= f[I::padTop];
  add(y, row0 * f[I::strideH], row1 * f[I::strideH] + taps, row, f[I::height]);
  const Linear &standsFirst = in.ranges[I::row0].start;
  address.add(standsFirst, -row);
  tooLarge |= !isSafe(standsFirst.lowest(box), row) || !isSafe(standsFirst.highest(box), row);
  // Blocks of channels.
  Linear flat, blocks, kRest;
  Checked columns = Checked(32).dividedBy(f[I::elementBytes]);
  Checked block = f[I::kernelH] * f[I::kernelW] * f[I::c0];
  flat.add(in.ranges[I::k].start, columns);
  split(flat, blocks, kRest, block);
  add(blocks, (kRest.lowest(box) + first[I::k] * columns).dividedBy(block),
      (kRest.highest(box) + (last[I::k] + 1) * columns - 1).dividedBy(block), f[I::srcChannel],
      f[I::channels1]);
}

/// Adds multi-buffering: one slot where the counted loops have one iteration, slots that move with
/// the loops where each iteration has its own, otherwise all slots.
void Proof::slots(const CheckedInstruction::Address &address, Linear &offset,
                  StepList &list) const {
  if (address.slots <= 1)
    return;
  Checked turns = 1, linear;
  bool still = true;
  for (unsigned iv = kGridDims; iv < kGridDims + address.depth; ++iv) {
    turns *= in.trips[iv];
    linear = linear * in.trips[iv] + box.low[iv];
    still &= box.low[iv].is(box.high[iv]);
  }
  if (still && linear.known()) {
    Checked slots(address.slots);
    offset.base += (linear - linear.dividedBy(slots) * slots) * address.slotBytes;
    return;
  }
  if (turns.isAtMost(address.slots)) {
    for (unsigned iv = kGridDims; iv < kGridDims + address.depth; ++iv) {
      turns = turns.dividedBy(in.trips[iv]);
      offset.strides[iv] += turns * address.slotBytes;
    }
    return;
  }
  IvSteps &turn = list.add();
  turn.high = Checked(address.slots) - 1;
  turn.stride = address.slotBytes;
}

/// Returns an upper bound of address + steps, or a lost value; the search ends at a bound up to
/// `enough`.
Checked Proof::highest(Linear address, const StepList &list, Checked enough) const {
  Checked multipliers[StepList::kMax];
  // `address` is kept with the multiples of the ties taken off.
  auto part = [&](unsigned i, Checked multiplier) {
    const IvSteps &one = list.all[i];
    Checked slope = one.stride - multiplier * one.group;
    return slope * (slope.isAbove(0) ? one.high : one.low) +
           multiplier * (multiplier.isAbove(0) ? one.tieHigh : one.tieLow);
  };
  auto total = [&] {
    Checked sum = address.highest(box);
    for (unsigned i = 0; i < list.count; ++i)
      sum += part(i, multipliers[i]);
    return sum;
  };
  Checked best = total();
  bool better = true;
  for (unsigned round = 0; better && round < kMaxSearchRounds; ++round) {
    better = false;
    for (unsigned i = 0; i < list.count && !best.isAtMost(enough); ++i) {
      const IvSteps &one = list.all[i];
      if (!one.tied)
        continue;
      auto attempt = [&](Checked multiplier) {
        if ((multiplier.isAbove(0) && !one.above) ||
            !multiplier.magnitude().isAtMost(kMaxMultiplier) || multiplier.is(multipliers[i]))
          return;
        Checked before = multipliers[i];
        Linear unchanged = address;
        address.add(one.tie, before - multiplier);
        multipliers[i] = multiplier;
        if (Checked sum = total(); sum.isBelow(best) || (sum.known() && !best.known())) {
          best = sum;
          better = true;
          return;
        }
        address = unchanged;
        multipliers[i] = before;
      };
      auto both = [&](Checked numerator, Checked denominator) {
        Checked quotient = numerator.dividedBy(denominator);
        attempt(quotient);
        if (!numerator.isMultipleOf(denominator))
          attempt(quotient + 1);
      };
      both(one.stride, one.group);
      for (unsigned iv = 0; iv < kMaxIvs && !best.isAtMost(enough); ++iv)
        if (Checked stride = one.tie.strides[iv]; !stride.is(0))
          both(address.strides[iv] + multipliers[i] * stride, stride);
      attempt(0);
    }
  }
  return best;
}

Cover Proof::cover(unsigned number, Checked size) const {
  const CheckedOperand &operand = in.operands[number];
  const CheckedInstruction::Address &address = in.addresses[operand.address];
  Cover result;
  Linear offset = address.offset;
  StepList list;
  bool used[3] = {};
  Checked bytes = operand.bytes;
  if (in.opcode == Opcode::Img2Col && operand.address == Img2Col::src) {
    const Checked *f = in.fields;
    bytes = f[Img2Col::width] * f[Img2Col::c0] * f[Img2Col::elementBytes];
    image(offset, list, result.tooLarge);
  }
  for (unsigned t = 0; t < operand.termCount; ++t) {
    const TermOf<Checked> &term = operand.terms[t];
    const IvSteps &one = list.add() = steps(term);
    if (term.range >= 0)
      used[term.range] = true;
    result.tooLarge |= !isSafe(one.low, one.stride) || !isSafe(one.high, one.stride);
  }
  // A range along which the operand does not move still restricts when it runs.
  for (unsigned i = 0; i < in.rangeCount; ++i)
    if (!used[i] && !constant[i] && in.ranges[i].counts) {
      TermOf<Checked> still;
      still.range = int(i);
      list.add() = steps(still);
    }
  slots(address, offset, list);
  assert(list.count <= StepList::kMax);
  if (result.tooLarge)
    return result;
  result.end = highest(offset, list, size - bytes) + bytes;
  Linear negative;
  negative.add(offset, -1);
  for (unsigned i = 0; i < list.count; ++i)
    list.all[i].stride = -list.all[i].stride;
  result.begin = -highest(negative, list, 0);
  return result;
}

} // namespace atc::npu
