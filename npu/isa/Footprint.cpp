//===-- Footprint.cpp - which bytes an instruction touches ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/isa/Footprint.h"

namespace atc::npu {

namespace {

bool isReduction(VectorOp op) {
  return op == VectorOp::ReduceSum || op == VectorOp::ReduceMax || op == VectorOp::ReduceMin;
}

/// Collects the operands of one instruction.
struct Collector {
  const Instruction &in;
  Operand (&out)[4];
  unsigned count = 0;

  Operand &add(unsigned address, int64_t bytes, std::initializer_list<Term> terms, bool read,
               bool written) {
    Operand &operand = out[count++];
    operand = Operand();
    operand.address = address;
    operand.bytes = bytes;
    operand.read = read;
    operand.written = written;
    for (const Term &term : terms)
      operand.terms[operand.termCount++] = term;
    return operand;
  }
  void reads(unsigned address, int64_t bytes, std::initializer_list<Term> terms) {
    add(address, bytes, terms, true, false);
  }
  void writes(unsigned address, int64_t bytes, std::initializer_list<Term> terms) {
    add(address, bytes, terms, false, true);
  }
  int64_t field(unsigned index) const { return in.fields[index]; }
  DataType type(unsigned index) const { return DataType(in.fields[index]); }
};

Term along(int range, int64_t stride, int64_t group = 1, int64_t pad = 1) {
  return {range, 1, group, pad, stride, false};
}
/// By a stride that a field gives.
Term by(int range, int64_t stride, int64_t group = 1) { return {range, 1, group, 1, stride, true}; }
Term times(int64_t count, int64_t stride) { return {-1, count, 1, 1, stride, true}; }

void vectorOperands(Collector &c) {
  using V = Vector;
  VectorOp op = VectorOp(c.field(V::op));
  VectorOperands has = operandsOf(op);
  int64_t bytes = bytesOf(c.type(V::type)), dstBytes = bytes;
  if (isCast(op))
    dstBytes = bytesOf(c.type(V::dstType));
  if (op == VectorOp::Broadcast) {
    c.writes(V::dst, 32, {by(V::outer, c.field(V::dstOuter)), by(V::inner, c.field(V::dstInner))});
    c.reads(V::a, bytes, {along(V::outer, c.field(V::aOuter)), along(V::inner, bytes)});
    return;
  }
  auto run = [&](unsigned address, int64_t outer, int64_t inner, int64_t block, int64_t element,
                 bool written) {
    // Runs without gaps are given by element, others by block.
    Term lanes = block == 32 ? along(V::lanes, element) : by(V::lanes, block, 32 / element);
    bool update = written && (op == VectorOp::Madd || op == VectorOp::Axpy);
    c.add(address, block == 32 ? element : 32, {by(V::outer, outer), by(V::inner, inner), lanes},
          !written || update, written);
  };
  if (isReduction(op))
    c.writes(V::dst, bytes, {along(V::outer, c.field(V::dstOuter)), along(V::inner, bytes)});
  else
    run(V::dst, c.field(V::dstOuter), c.field(V::dstInner), c.field(V::dstBlock), dstBytes, true);
  if (has.a)
    run(V::a, c.field(V::aOuter), c.field(V::aInner), c.field(V::aBlock), bytes, false);
  if (has.b)
    run(V::b, c.field(V::bOuter), c.field(V::bInner), c.field(V::bBlock), bytes, false);
  if (has.mask)
    run(V::mask, c.field(V::maskOuter), c.field(V::maskInner), 32, bytes, false);
}

/// Of move_l0c and the requantizing ones.
template <typename I> void resultOperands(Collector &c) {
  int64_t bytes = bytesOf(c.type(I::dstType)), block = bytes == 1 ? 32 : 16;
  int64_t dstCol = c.field(I::dstCol), dstRow = c.field(I::dstRow);
  auto inUb = [&](unsigned address, bool written) {
    // A run of columns without gaps is given by element, else by whole blocks.
    if (dstCol == block * bytes)
      c.add(address, bytes, {by(I::m, dstRow), along(I::n, bytes)}, !written, written);
    else
      c.add(address, block * bytes, {by(I::n, dstCol, block), by(I::m, dstRow)}, !written, written);
  };
  inUb(I::dst, true);
  if constexpr (std::is_same_v<I, RequantizeAdd>)
    inUb(I::addend, false);
  c.reads(I::src, 64, {by(I::n, c.field(I::srcCol), 16), along(I::m, 64)});
}

/// The image rows that an img2col reads.
bool imageBox(const Instruction &in, const Frame &frame, Box &box) {
  using I = Img2Col;
  const int64_t *f = in.fields;
  Range::Cut m = in.ranges[I::m].at(frame.ivs), k = in.ranges[I::k].at(frame.ivs);
  int64_t m0 = in.ranges[I::m].start.at(frame.ivs) + m.skip, m1 = m0 + m.count - 1;
  int64_t columns = 32 / f[I::elementBytes], taps = f[I::kernelH] * f[I::kernelW] * f[I::c0];
  int64_t k0 = in.ranges[I::k].start.at(frame.ivs) + k.skip, k1 = k0 + k.count;
  int64_t c0 = k0 * columns / taps, c1 = (k1 * columns - 1) / taps;
  c1 = std::min(c1, f[I::channels1] - 1);
  int64_t area = f[I::outHeight] * f[I::outWidth], image0 = m0 / area, image1 = m1 / area;
  int64_t y0 = 0, y1 = f[I::outHeight] - 1;
  if (image0 == image1) {
    y0 = m0 % area / f[I::outWidth];
    y1 = m1 % area / f[I::outWidth];
  }
  y0 = std::max<int64_t>(0, y0 * f[I::strideH] - f[I::padTop]);
  y1 = std::min(f[I::height] - 1,
                y1 * f[I::strideH] - f[I::padTop] + (f[I::kernelH] - 1) * f[I::dilationH]);
  if (c1 < c0 || y1 < y0)
    return false;
  int64_t row = f[I::width] * f[I::c0] * f[I::elementBytes];
  box.base += image0 * f[I::srcImage] + c0 * f[I::srcChannel] +
              (y0 - in.ranges[I::row0].start.at(frame.ivs)) * row;
  box.count[0] = image1 - image0 + 1;
  box.stride[0] = f[I::srcImage];
  box.count[1] = c1 - c0 + 1;
  box.stride[1] = f[I::srcChannel];
  box.bytes = (y1 - y0 + 1) * row;
  return true;
}

/// Does this mmad add to l0c here, or start afresh?
bool accumulates(const Instruction &in, const Frame &frame) {
  bool adds = in.fields[Mmad::accumulate];
  for (unsigned i = 0; i < kMaxIvs; ++i)
    adds |= (in.fields[Mmad::first] >> i & 1) && frame.ivs[i] != 0;
  return adds;
}

int64_t roundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

/// Takes up dimensions that have no gaps into `bytes`.
void simplify(Box &box) {
  for (int i = 2; i >= 0; --i) {
    if (box.count[i] == 1 || box.stride[i] == 0) {
      box.count[i] = 1;
      box.stride[i] = 0;
    } else if (box.stride[i] > 0 && box.stride[i] <= box.bytes) {
      box.bytes += box.stride[i] * (box.count[i] - 1);
      box.count[i] = 1;
      box.stride[i] = 0;
    }
  }
}

} // namespace

unsigned operandsOf(const Instruction &instruction, Operand (&operands)[4]) {
  Collector c{instruction, operands};
  auto f = [&](unsigned index) { return instruction.fields[index]; };
  switch (instruction.opcode) {
  case Opcode::Move:
    c.writes(Move::dst, 1,
             {by(Move::outer, f(Move::dstOuter)), by(Move::inner, f(Move::dstInner)),
              along(Move::bytes, 1)});
    c.reads(Move::src, 1,
            {by(Move::outer, f(Move::srcOuter)), by(Move::inner, f(Move::srcInner)),
             along(Move::bytes, 1)});
    break;
  case Opcode::MoveNdToNz: {
    using I = MoveNdToNz;
    int64_t bytes = bytesOf(c.type(I::type));
    c.writes(I::dst, 32, {by(I::cols, f(I::dstCol), 32 / bytes), along(I::rows, 32, 1, 16)});
    c.reads(I::src, bytes, {by(I::rows, f(I::srcRow)), along(I::cols, bytes)});
    break;
  }
  case Opcode::LoadImage: {
    using I = LoadImage;
    int64_t bytes = bytesOf(c.type(I::type));
    c.writes(I::dst, f(I::width) * f(I::c0) * 2, {along(I::rows, f(I::dstRow))});
    c.reads(I::src, f(I::width) * bytes,
            {times(f(I::channels), f(I::srcPlane)), by(I::rows, f(I::srcRow))});
    break;
  }
  case Opcode::Load2D:
    c.writes(Load2D::dst, kFractalBytes,
             {by(Load2D::outer, f(Load2D::dstOuter)), by(Load2D::inner, f(Load2D::dstInner))});
    c.reads(Load2D::src, kFractalBytes,
            {by(Load2D::outer, f(Load2D::srcOuter)), by(Load2D::inner, f(Load2D::srcInner))});
    break;
  case Opcode::Img2Col:
    c.writes(Img2Col::dst, kFractalBytes,
             {by(Img2Col::m, f(Img2Col::dstRow), 16), along(Img2Col::k, kFractalBytes)});
    c.reads(Img2Col::src, 0, {});
    break;
  case Opcode::Mmad: {
    using I = Mmad;
    int64_t c0 = c0Of(c.type(I::type)), fractal = kFractalBytes;
    // Where it starts afresh depends on the ivs; reading then is the safe side.
    c.add(I::dst, 64, {by(I::n, f(I::dstCol), 16), along(I::m, 64)},
          f(I::accumulate) || f(I::first), true);
    c.reads(I::a, fractal, {by(I::m, f(I::aRow), 16), along(I::k, fractal, c0)});
    c.reads(I::b, fractal, {by(I::k, f(I::bRow), c0), along(I::n, fractal, 16)});
    if (f(I::useBias))
      c.reads(I::bias, 64, {along(I::n, 64, 16)});
    break;
  }
  case Opcode::MoveL0C:
    resultOperands<MoveL0C>(c);
    break;
  case Opcode::Requantize:
    resultOperands<Requantize>(c);
    c.reads(Requantize::scales, 4, {along(Requantize::n, 4)});
    break;
  case Opcode::RequantizeAdd:
    resultOperands<RequantizeAdd>(c);
    c.reads(RequantizeAdd::scales, 4, {along(RequantizeAdd::n, 4)});
    break;
  case Opcode::Vector:
    vectorOperands(c);
    break;
  case Opcode::Transpose:
    c.writes(Transpose::dst, 32,
             {by(Transpose::outer, f(Transpose::dstOuter)),
              by(Transpose::inner, f(Transpose::dstInner)), times(16, f(Transpose::dstRow))});
    c.reads(Transpose::src, 32,
            {by(Transpose::outer, f(Transpose::srcOuter)),
             by(Transpose::inner, f(Transpose::srcInner)), times(16, f(Transpose::srcRow))});
    break;
  default:
    break;
  }
  return c.count;
}

unsigned boxesOf(const Instruction &instruction, const Frame &frame, Box (&boxes)[4]) {
  const OpcodeInfo &info = infoOf(instruction.opcode);
  if (!info.addressCount)
    return 0;
  Range::Cut cuts[3];
  for (unsigned i = 0; i < info.rangeCount; ++i) {
    cuts[i] = instruction.ranges[i].at(frame.ivs);
    bool place = instruction.opcode == Opcode::Img2Col && i == Img2Col::row0;
    if (cuts[i].count <= 0 && !place)
      return 0;
  }
  Operand operands[4];
  unsigned count = operandsOf(instruction, operands), kept = 0;
  for (unsigned i = 0; i < count; ++i) {
    const Operand &operand = operands[i];
    const Address &address = instruction.addresses[operand.address];
    Box &box = boxes[kept];
    box = Box();
    box.memory = address.memory;
    box.argument = address.argument;
    box.address = uint8_t(operand.address);
    box.read = operand.read;
    if (instruction.opcode == Opcode::Mmad && operand.address == Mmad::dst)
      box.read = accumulates(instruction, frame);
    box.written = operand.written;
    box.base = frame.offset(address);
    box.bytes = operand.bytes;
    if (instruction.opcode == Opcode::Img2Col && operand.address == Img2Col::src) {
      if (!imageBox(instruction, frame, box))
        continue;
    } else {
      for (unsigned t = 0; t < operand.termCount; ++t) {
        const Term &term = operand.terms[t];
        box.stride[t] = term.stride;
        box.count[t] = term.count;
        if (term.range < 0)
          continue;
        Range::Cut cut = cuts[term.range];
        int64_t first = cut.skip / term.group;
        int64_t last = (cut.skip + cut.count + term.group - 1) / term.group;
        box.base += first * term.stride;
        box.count[t] = roundUp(last, term.pad) - first;
      }
    }
    simplify(box);
    ++kept;
  }
  return kept;
}

void footprint(const Instruction &instruction, const Frame &frame,
               const std::function<void(const Interval &)> &callback) {
  Box boxes[4];
  unsigned count = boxesOf(instruction, frame, boxes);
  for (unsigned b = 0; b < count; ++b) {
    const Box &box = boxes[b];
    Interval interval{box.memory, box.argument, box.read, box.written, 0, 0};
    for (int64_t i = 0; i < box.count[0]; ++i)
      for (int64_t j = 0; j < box.count[1]; ++j)
        for (int64_t k = 0; k < box.count[2]; ++k) {
          interval.begin = box.base + i * box.stride[0] + j * box.stride[1] + k * box.stride[2];
          interval.end = interval.begin + box.bytes;
          callback(interval);
        }
  }
}

} // namespace atc::npu
