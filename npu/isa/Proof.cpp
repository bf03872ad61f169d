//===-- Proof.cpp - bounds of what an instruction touches -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/isa/Proof.h"

namespace atc::npu {

namespace {

constexpr Wide kSafe = Wide(1) << 60; ///< products up to this cannot overflow sums

Wide floorDiv(Wide a, Wide b) {
  Wide quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
Wide magnitude(Wide value) { return value < 0 ? -value : value; }

} // namespace

IvBox::IvBox(const Frame &frame, const Guard &guard) {
  for (unsigned i = 0; i < kMaxIvs; ++i)
    high[i] = frame.trips[i] - 1;
  if (guard.kind == Guard::Always)
    return;
  int64_t &from = low[guard.iv], &to = high[guard.iv];
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
    --to;
    break;
  }
  empty = from > to;
}

Linear::Linear(const Affine &affine) : base(affine.base) {
  for (unsigned i = 0; i < kMaxIvs; ++i)
    strides[i] = affine.strides[i];
}

void Linear::add(const Linear &other, Wide factor) {
  base += other.base * factor;
  for (unsigned i = 0; i < kMaxIvs; ++i)
    strides[i] += other.strides[i] * factor;
}

Wide Linear::highest(const IvBox &box) const {
  Wide sum = base;
  for (unsigned i = 0; i < kMaxIvs; ++i)
    sum += strides[i] * (strides[i] > 0 ? box.high[i] : box.low[i]);
  return sum;
}

Wide Linear::lowest(const IvBox &box) const {
  Wide sum = base;
  for (unsigned i = 0; i < kMaxIvs; ++i)
    sum += strides[i] * (strides[i] > 0 ? box.low[i] : box.high[i]);
  return sum;
}

Proof::Proof(const Instruction &instruction, const Frame &frame)
    : in(instruction), frame(frame), box(frame, instruction.guard) {
  const OpcodeInfo &info = infoOf(in.opcode);
  for (unsigned i = 0; i < info.rangeCount; ++i) {
    const Range &range = in.ranges[i];
    Linear start(range.start);
    Wide low = start.lowest(box), high = start.highest(box);
    constant[i] = low == high;
    first[i] = std::max<Wide>(0, -high);
    last[i] = std::min<Wide>(range.length, range.limit - low) - 1;
    bool place = in.opcode == Opcode::Img2Col && i == Img2Col::row0;
    box.empty |= first[i] > last[i] && !place;
  }
}

/// How an operand moves along a term's range. Positions i are taken in groups,
/// and the number of groups is rounded up to `pad`.
IvSteps Proof::steps(const Term &term) const {
  IvSteps result;
  result.stride = term.stride;
  if (term.range < 0) {
    result.high = term.count - 1;
    return result;
  }
  const Range &range = in.ranges[term.range];
  result.low = first[term.range] / term.group;
  result.high = (last[term.range] / term.group + term.pad) / term.pad * term.pad - 1;
  if (constant[term.range])
    return result;
  result.tied = true;
  result.tie = Linear(range.start);
  result.group = term.group;
  result.tieLow = -(term.group - 1);
  result.above = range.limit != INT64_MAX;
  result.tieHigh = Wide(range.limit) - 1 + Wide(term.group) * (term.pad - 1);
  return result;
}

bool Proof::moves(const Term &term) const {
  IvSteps all = steps(term);
  return all.high > all.low;
}

/// The image that an img2col reads: output positions are split into image, row
/// and column, k into blocks of channels and taps. Where the parts of the starts
/// are whole rows, images or blocks, they move with the ivs; else all are taken.
void Proof::image(Linear &address, IvSteps (&all)[8], unsigned &count, bool &tooLarge) const {
  using I = Img2Col;
  const int64_t *f = in.fields;
  Wide row = Wide(f[I::width]) * f[I::c0] * f[I::elementBytes];
  auto split = [&](const Linear &from, Linear &whole, Linear &rest, Wide part) {
    whole.base = floorDiv(from.base, part);
    rest.base = from.base - whole.base * part;
    for (unsigned i = 0; i < kMaxIvs; ++i)
      if (from.strides[i] % part == 0)
        whole.strides[i] = from.strides[i] / part;
      else
        rest.strides[i] = from.strides[i];
  };
  auto add = [&](const Linear &tie, Wide low, Wide high, Wide stride, Wide limit) {
    address.add(tie, stride);
    IvSteps &one = all[count++];
    one = IvSteps();
    one.low = low;
    one.high = high;
    one.stride = stride;
    one.tied = one.above = true;
    one.tie = tie;
    one.tieHigh = limit - 1;
    Wide reach = std::max(
        {magnitude(tie.lowest(box)), magnitude(tie.highest(box)), magnitude(low), magnitude(high)});
    tooLarge |= reach * magnitude(stride) > kSafe;
  };
  // Output positions.
  Wide area = Wide(f[I::outHeight]) * f[I::outWidth], outWidth = f[I::outWidth];
  Linear start(in.ranges[I::m].start), images, inside, rows, rest;
  bool single = in.ranges[I::m].limit <= area;
  if (single)
    inside = start;
  else
    split(start, images, inside, area);
  split(inside, rows, rest, outWidth);
  Wide row0 = floorDiv(rest.lowest(box) + first[I::m], outWidth);
  Wide row1 = floorDiv(rest.highest(box) + last[I::m], outWidth);
  Linear none, y;
  Wide taps = Wide(f[I::kernelH] - 1) * f[I::dilationH];
  if (single || (rows.lowest(box) + row0 >= 0 && rows.highest(box) + row1 < f[I::outHeight])) {
    // Whole in one image.
    add(images, 0, 0, f[I::srcImage], Wide(1) << 50);
  } else {
    Wide low = floorDiv(inside.lowest(box) + first[I::m], area);
    Wide high = floorDiv(inside.highest(box) + last[I::m], area);
    add(images, low, high, f[I::srcImage], Wide(1) << 50);
    rows = none;
    row0 = 0;
    row1 = f[I::outHeight] - 1;
  }
  y.add(rows, f[I::strideH]);
  y.base -= f[I::padTop];
  add(y, row0 * f[I::strideH], row1 * f[I::strideH] + taps, row, f[I::height]);
  Linear place(in.ranges[I::row0].start);
  address.add(place, -row);
  tooLarge |= std::max(magnitude(place.lowest(box)), magnitude(place.highest(box))) * row > kSafe;
  // Blocks of channels.
  Linear flat, blocks, kRest;
  Wide columns = 32 / f[I::elementBytes], block = Wide(f[I::kernelH]) * f[I::kernelW] * f[I::c0];
  flat.add(Linear(in.ranges[I::k].start), columns);
  split(flat, blocks, kRest, block);
  add(blocks, floorDiv(kRest.lowest(box) + first[I::k] * columns, block),
      floorDiv(kRest.highest(box) + (last[I::k] + 1) * columns - 1, block), f[I::srcChannel],
      f[I::channels1]);
}

/// An upper bound of address + steps; the search ends at one up to `enough`.
Wide Proof::highest(Linear address, const IvSteps *all, unsigned count, Wide enough) const {
  constexpr Wide kLargestMultiplier = Wide(1) << 45;
  Wide multipliers[8] = {};
  // `address` is kept with the multiples of the ties taken off.
  auto part = [&](unsigned i, Wide multiplier) {
    const IvSteps &one = all[i];
    Wide slope = one.stride - multiplier * one.group;
    return slope * (slope > 0 ? one.high : one.low) +
           multiplier * (multiplier > 0 ? one.tieHigh : one.tieLow);
  };
  auto total = [&] {
    Wide sum = address.highest(box);
    for (unsigned i = 0; i < count; ++i)
      sum += part(i, multipliers[i]);
    return sum;
  };
  Wide best = total();
  for (bool better = true; better && best > enough;) {
    better = false;
    for (unsigned i = 0; i < count && best > enough; ++i) {
      const IvSteps &one = all[i];
      if (!one.tied)
        continue;
      auto attempt = [&](Wide multiplier) {
        if ((multiplier > 0 && !one.above) || magnitude(multiplier) > kLargestMultiplier ||
            multiplier == multipliers[i])
          return;
        Wide before = multipliers[i];
        address.add(one.tie, before - multiplier);
        multipliers[i] = multiplier;
        if (Wide sum = total(); sum < best) {
          best = sum;
          better = true;
          return;
        }
        address.add(one.tie, multiplier - before);
        multipliers[i] = before;
      };
      auto both = [&](Wide numerator, Wide denominator) {
        Wide quotient = floorDiv(numerator, denominator);
        attempt(quotient);
        if (quotient * denominator != numerator)
          attempt(quotient + 1);
      };
      both(one.stride, one.group);
      for (unsigned iv = 0; iv < kMaxIvs && best > enough; ++iv)
        if (Wide stride = one.tie.strides[iv])
          both(address.strides[iv] + multipliers[i] * stride, stride);
      attempt(0);
    }
  }
  return best;
}

Cover Proof::cover(const Operand &operand, Wide size) const {
  const Address &place = in.addresses[operand.address];
  Cover result;
  Linear address(place.offset);
  IvSteps all[8];
  unsigned count = 0;
  bool used[3] = {};
  Wide bytes = operand.bytes;
  if (in.opcode == Opcode::Img2Col && operand.address == Img2Col::src) {
    bytes =
        Wide(in.fields[Img2Col::width]) * in.fields[Img2Col::c0] * in.fields[Img2Col::elementBytes];
    image(address, all, count, result.tooLarge);
  }
  for (unsigned t = 0; t < operand.termCount; ++t) {
    const Term &term = operand.terms[t];
    all[count] = steps(term);
    if (term.range >= 0)
      used[term.range] = true;
    const IvSteps &one = all[count++];
    result.tooLarge |=
        std::max(magnitude(one.low), magnitude(one.high)) * magnitude(one.stride) > kSafe;
  }
  // A range that the operand does not move along still says when it runs.
  for (unsigned i = 0; i < infoOf(in.opcode).rangeCount; ++i)
    if (!used[i] && !constant[i] && !(in.opcode == Opcode::Img2Col && i == Img2Col::row0))
      all[count++] = steps({int(i), 1, 1, 1, 0});
  if (place.slots > 1) {
    Wide turns = 1;
    for (unsigned loop = 0; loop < place.depth; ++loop)
      turns *= frame.trips[kGridDims + loop];
    if (turns <= place.slots) {
      // Each iteration has its own: that is affine.
      for (unsigned loop = 0; loop < place.depth; ++loop) {
        turns /= frame.trips[kGridDims + loop];
        address.strides[kGridDims + loop] += turns * place.slotBytes;
      }
    } else {
      all[count] = IvSteps();
      all[count].high = place.slots - 1;
      all[count++].stride = place.slotBytes;
    }
  }
  if (result.tooLarge)
    return result;
  result.end = highest(address, all, count, size - bytes) + bytes;
  Linear negative;
  negative.add(address, -1);
  for (unsigned i = 0; i < count; ++i)
    all[i].stride = -all[i].stride;
  result.begin = -highest(negative, all, count, 0);
  return result;
}

} // namespace atc::npu
